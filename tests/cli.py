"""Runs the command line: in this process (fast), or as a subprocess in a scrubbed environment."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import Any
from unittest.mock import patch

import typer.main
from typer import rich_utils

# The command tree is the same for every call; building it anew would be most of the time. So is
# the text of pyproject.toml, which every run without a file of settings looks into.
_command_tree = lru_cache(typer.main.get_command)
_read_toml = lru_cache(maxsize=64)(tomllib.loads)

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_inputs"


@dataclass
class Result:
    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """The report on stdout; on an empty stdout the message on stderr is shown instead."""
        assert self.stdout, f"exit {self.code}, nothing on stdout; stderr: {self.stderr}"
        return json.loads(self.stdout)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(*arguments: object, stream: type[io.StringIO] = io.StringIO) -> Result:
    """``specdist ARGUMENTS`` in this process."""
    from specdist.__main__ import main

    out, err = stream(), stream()
    argv = ["specdist", *map(str, arguments)]
    with (
        patch.object(sys, "argv", argv),
        patch.object(typer.main, "get_command", _command_tree),
        patch.object(tomllib, "loads", _read_toml),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        handlers = [(number, signal.getsignal(number)) for number in (SIGINT, SIGTERM)]
        try:
            code = main()
        except SystemExit as stop:
            code = stop.code
        finally:
            for number, handler in handlers:
                signal.signal(number, handler)
    return Result(int(code or 0), out.getvalue(), err.getvalue())


def run_here(
    *arguments: object,
    cwd: Path = ROOT,
    env: dict[str, str] | None = None,
    stdin: str = "",
    stream: type[io.StringIO] = io.StringIO,
) -> Result:
    """What `run_process` gives, in this process: for what is printed and the exit code. What
    concerns a process (signals, pipes, closed streams, what is loaded) needs one."""
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with (
        patch.dict(os.environ, {**scrubbed(), **(env or {})}, clear=True),
        patch.object(rich_utils, "FORCE_TERMINAL", None),  # read when typer was loaded
        patch.object(sys, "stdin", given),
        chdir(cwd),
    ):
        return run(*arguments, stream=stream)


@lru_cache
def help_of(*command: str) -> str:
    """What ``specdist COMMAND --help`` prints."""
    result = run_here(*command, "--help")
    assert (result.code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def run_process(
    *arguments: object, cwd: Path = ROOT, env: dict[str, str] | None = None, stdin: str = ""
) -> Result:
    """``specdist ARGUMENTS`` as a process of its own, 80 columns, no colour, no user settings."""
    done = subprocess.run(
        [sys.executable, "-m", "specdist", *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env={**scrubbed(), **(env or {})},
        input=stdin.encode(),
        timeout=120,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def scrubbed() -> dict[str, str]:
    """The environment without what could colour, localise or configure the output."""
    kept = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")
    return {
        **{key: os.environ[key] for key in kept if key in os.environ},
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
    }


def exact(number: dict[str, Any] | None) -> Fraction | None:
    """The exact value of a number of the report; the float beside it must be its rounding."""
    if number is None:
        return None
    value = Fraction(number["exact"])
    assert number["approx"] == float(value)
    return value


def column(position: dict[str, Any], name: str) -> list[Fraction | None]:
    """One column of the token table, by id."""
    tokens = sorted(position["tokens"], key=lambda token: token["id"])
    assert [token["id"] for token in tokens] == list(range(position["vocab_size"]))
    return [exact(token[name]) for token in tokens]


def only_position(report: dict[str, Any]) -> dict[str, Any]:
    (step,) = report["steps"]
    (position,) = step["positions"]
    return position  # type: ignore[no-any-return]


def spell(row: Any) -> str:
    """A row as it is typed on the command line."""
    return ",".join(str(value) for value in row)
