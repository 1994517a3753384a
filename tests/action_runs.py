"""Runs the scripts of ``action.yml`` as a runner does, offline: inputs through the environment, one
bash a step, the files that a step writes outputs and its summary to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cli import ROOT, scrubbed

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ (inputs|github)\.([a-z_-]+) \}\}")

_PYTHON = """#!/bin/sh
if [ "$1" = -m ] && [ "$2" = pip ]; then
  shift 2
  for word in "$@"; do printf '%s\\n' "$word" >> "$PIP_LOG"; done
  exit 0
fi
exec "{python}" "$@"
"""
_SPECDIST = """#!/bin/sh
exec "{python}" -m specdist "$@"
"""


@dataclass(frozen=True)
class Done:
    """What a step did."""

    code: int
    stdout: str
    stderr: str
    outputs: dict[str, str]
    summary: str
    installed: list[str]


def environment_of(step: dict[str, Any], inputs: dict[str, str]) -> dict[str, str]:
    """The variables of a step: every value is one expression, filled in as text."""
    unknown = set(inputs) - set(ACTION["inputs"])
    assert not unknown, unknown
    values = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
    values |= inputs
    filled = {}
    for variable, text in step.get("env", {}).items():
        match = EXPRESSION.fullmatch(text)
        assert match, f"{variable}: {text}"
        filled[variable] = values[match[2]] if match[1] == "inputs" else str(ROOT)
    return filled


def run_step(name: str, folder: Path, inputs: dict[str, str] | None = None) -> Done:
    """Runs one step of the action in ``folder``, with specdist as it is here."""
    step = STEPS[name]
    outside = folder.parent / f"{folder.name}-runner"
    (outside / "bin").mkdir(parents=True, exist_ok=True)
    for command, text in (("python", _PYTHON), ("specdist", _SPECDIST)):
        path = outside / "bin" / command
        path.write_text(text.format(python=sys.executable), encoding="utf-8")
        path.chmod(0o755)
    files = {key: outside / key for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "PIP_LOG")}
    for path in files.values():
        path.write_text("", encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            **scrubbed(),
            **environment_of(step, inputs or {}),
            **{key: str(path) for key, path in files.items()},
            "PATH": f"{outside / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(outside),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    output, summary, log = (path.read_text(encoding="utf-8") for path in files.values())
    lines = output.splitlines()
    found = dict(line.split("=", 1) for line in lines)
    assert len(found) == len(lines), f"an output is written twice: {output}"
    return Done(done.returncode, done.stdout, done.stderr, found, summary, log.splitlines())
