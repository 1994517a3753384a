"""Streams that are closed, full or broken: the exit code still says what happened."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import SAMPLES, scrubbed

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
CAPTURE = SAMPLES / "three_tokens.json"


def shell(command: str, cwd: Path | None = None) -> tuple[int, str, str]:
    """``$SD`` is specdist, ``$C`` a capture whose verdict is equal."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={**scrubbed(), "SD": f"{sys.executable} -m specdist", "C": str(CAPTURE)},
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("$SD check $C >/dev/null 2>&-", 0),
        ("$SD check $C 2>/dev/full >/dev/null", 0),
        ("$SD check no-such-file 2>&-", 2),
        ("$SD check no-such-file 2>/dev/full", 2),
        ("$SD check $C >&-", 0),
        ("$SD check $C --role drafted_from=top-k:1 >&-", 1),
        ("$SD check $C --format json >&-", 0),
        ("$SD check $C --format jsonl >&-", 0),
        ("$SD --help >&-", 0),
        ("$SD --version >&-", 0),
        ("$SD check $C <&- >&- 2>&-", 0),
    ],
)
def test_a_closed_stream_is_quiet_and_leaves_the_code(command: str, code: int) -> None:
    found, _, err = shell(command)
    assert (found, err) == (code, "")


@pytest.mark.parametrize(
    "arguments",
    [
        "check $C",
        "check $C --format jsonl",
        "check $C --format json",
        "inspect $C",
        "--help",
        "check --help",
        "--version",
        "explain",
    ],
)
def test_an_output_that_cannot_be_written_is_one_line_and_exit_2(arguments: str) -> None:
    code, _, err = shell(f"$SD {arguments} >/dev/full")
    assert code == 2
    assert err.startswith("error[output]: standard output cannot be written: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        "--help | true",
        "explain | true",
        "check --help | head -1",
        "inspect $C | true",
        "explain top-p | true",
        "check $C | true",
    ],
)
def test_a_reader_that_goes_away_is_no_error(command: str) -> None:
    code, _, err = shell(f"$SD {command}")
    assert (code, err) == (0, "")


def test_a_closed_standard_input_is_named() -> None:
    code, out, err = shell("$SD check - <&-")
    assert (code, out) == (2, "")
    assert "standard input is closed" in err


def test_a_working_directory_that_is_gone_is_no_bug(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    assert shell('rmdir "$PWD"; $SD check $C', gone)[0] == 0
    gone.mkdir()
    assert shell('rmdir "$PWD"; $SD check capture.json', gone)[0] == 2
    assert not os.path.exists(gone)
