"""Runs adapters of Triton kernels in processes of their own: Triton is imported once, as an
interpreter or as a compiler."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.cli import ROOT, SAMPLES

ADAPTERS = SAMPLES / "audit"
VLLM = os.environ.get("SPECDIST_VLLM", "")
NO_TRITON = find_spec("triton") is None
WITHOUT_TRITON = "triton is not installed: pip install triton"
NO_VLLM = not VLLM or not Path(VLLM, "vllm").is_dir()
WITHOUT_VLLM = "SPECDIST_VLLM names no unpacked wheel or source tree of vLLM 0.33.0"


def process(*arguments: object, vllm: str | Path = VLLM) -> subprocess.CompletedProcess[str]:
    """``python -m ARGUMENTS``, with the environment of this process and a tree of vLLM."""
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "SPECDIST_VLLM": str(vllm), "OMP_NUM_THREADS": "1"},
    )


def probed(
    adapter: str,
    gamma: int,
    *tables: str,
    folder: Path = ADAPTERS,
    vllm: str | Path = VLLM,
) -> list[dict[str, Any]]:
    """What `tests.probe_a_table` finds of an adapter, for every table."""
    done = process("tests.probe_a_table", folder, adapter, gamma, *tables, vllm=vllm)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def changed(source: Path, to: Path, changes: Sequence[tuple[str, str]]) -> None:
    """A file with texts of it replaced, each of which it has."""
    text = source.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text, f"{source} has no {before!r}"
        text = text.replace(before, after)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text, encoding="utf-8")


def vllm_with(root: Path, file: str, changes: Sequence[tuple[str, str]]) -> Path:
    """A tree of vLLM's files that the adapters load, one of them changed."""
    for name in (*_loaded(), "vllm._version"):
        path = f"{name.replace('.', '/')}.py"
        root.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(VLLM, path), root / path)
    changed(Path(VLLM, file), root / file, changes)
    return root


def _loaded() -> tuple[str, ...]:
    """The modules of vLLM that are no stand-ins."""
    tree = ast.parse(ADAPTERS.joinpath("vllm_shims.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REAL":
            return tuple(ast.literal_eval(node.value))
    raise AssertionError("vllm_shims.py names no REAL modules")
