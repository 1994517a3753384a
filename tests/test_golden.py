"""Golden folders: a command line with its exact stdout, stderr and exit code.

``tests/golden/CASE/command`` holds what follows ``specdist``; files it names lie beside it or in
the project. `UPDATE_GOLDEN=1 pytest tests/test_golden.py` writes the other files anew: read the
difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli import ROOT, run_here, run_process

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/command"))
PROCESSES = {
    "draft-top-p-untested", "float32-capture", "inspect-json", "joint-compare", "missing-file",
    "partial-listed", "replay-fault", "selected-nothing", "stdin", "three-tokens-jsonl",
    "unknown-option", "what-if-symbolic",
}  # fmt: skip
"""Cases that run as a process of their own: every command and exit code, stdin, float rows."""
_VERSION = re.compile(r'("specdist": )"[^"]+"')


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str) -> None:
    folder = GOLDEN / case
    arguments = shlex.split((folder / "command").read_text(encoding="utf-8"), comments=True)
    stdin = folder / "stdin"
    run = run_process if case in PROCESSES else run_here
    result = run(
        *arguments, cwd=ROOT, stdin=stdin.read_text(encoding="utf-8") if stdin.exists() else ""
    )
    seen = {
        "stdout": _VERSION.sub(r'\1"VERSION"', result.stdout),
        "stderr": result.stderr,
        "exit": f"{result.code}\n",
    }
    if os.environ.get("UPDATE_GOLDEN"):
        for name, text in seen.items():
            (folder / name).write_text(text, encoding="utf-8")
    for name, text in seen.items():
        assert text == (folder / name).read_text(encoding="utf-8"), name
    for line in (*seen["stderr"].splitlines(), *_prose(seen["stdout"])):
        assert len(line) <= 80 or "--quiet" in arguments or "-q" in arguments, line


def _prose(stdout: str) -> list[str]:
    """The lines of a text report; JSON is for programs and has no width."""
    return [] if stdout.startswith("{") else stdout.splitlines()


def test_there_are_cases_of_every_exit_code() -> None:
    for cases in (CASES, PROCESSES):
        codes = {(GOLDEN / case / "exit").read_text(encoding="utf-8").strip() for case in cases}
        assert {"0", "1", "2", "3", "4"} <= codes


def test_no_golden_file_names_this_machine() -> None:
    for path in GOLDEN.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert str(ROOT) not in text
            assert "Traceback" not in text
