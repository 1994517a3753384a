"""The report on terminals from 60 to 200 columns, in pipes, with and without colour.

Pseudo terminals show what a user sees; the recorded command lines of ``tests/golden`` are run in
this process at narrow widths, so that every kind of table is met.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from specdist.cli import console
from specdist.reports import layout, page
from tests.cli import ROOT, Result, run, run_process, scrubbed

GOLDEN = ROOT / "tests" / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/command"))
FAILING = ("check", "sample_inputs/draft_top_p_untested.json")
PASSING = ("check", "sample_inputs/draft_top_p.json")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(
    columns: int, *arguments: str, env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Exit code and output of ``specdist ARGUMENTS`` on a pseudo terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    base = {key: value for key, value in scrubbed().items() if key not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "specdist", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**base, "TERM": "xterm-256color", **(env or {})},
    )
    os.close(slave)
    read = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        read.append(piece)
    os.close(master)
    text = b"".join(read).decode("utf-8").replace("\r\n", "\n")
    return process.wait(timeout=60), text


@cache
def piped(*arguments: str) -> Result:
    """The same in a pipe."""
    return run_process(*arguments)


def widest(text: str) -> int:
    """The display width of the longest line, colours left aside."""
    return max(layout.width_of(line) for line in _COLOUR.sub("", text).splitlines())


@pytest.mark.parametrize("columns", [60, 70])
def test_a_narrow_terminal_is_not_overflown(columns: int) -> None:
    for command in (FAILING, PASSING):
        code, text = on_terminal(columns, *command, "--no-progress", "--color", "never")
        assert code == (1 if command is FAILING else 0)
        assert widest(text) <= columns, text
        assert widest(text) > columns - 12


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_wide_terminals_show_what_pipes_show(columns: int) -> None:
    code, text = on_terminal(columns, *FAILING, "--no-progress", "--color", "never")
    same = piped(*FAILING)
    assert (code, text) == (same.code, same.stdout)
    assert widest(text) <= 80


def test_colour_says_nothing_that_words_do_not() -> None:
    plain = piped(*FAILING).stdout
    for environ, coloured in (
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ):
        _, text = on_terminal(100, *FAILING, "--no-progress", env=environ)
        assert ("\x1b[" in text) is coloured, environ
        assert _COLOUR.sub("", text) == plain
    always = run_process(*FAILING, "--color", "always").stdout
    assert always != plain
    assert _COLOUR.sub("", always) == plain


def test_columns_in_the_environment_win_over_the_terminal() -> None:
    _, text = on_terminal(200, *PASSING, "--no-progress", "--color", "never", env={"COLUMNS": "60"})
    assert widest(text) <= 60
    narrow = run_process(*PASSING, env={"COLUMNS": "60"})
    assert narrow.stdout == piped(*PASSING).stdout


def test_a_dumb_terminal_gets_a_report_and_no_control_sequence() -> None:
    code, text = on_terminal(80, *PASSING, env={"TERM": "dumb"})
    assert code == 0
    assert "\x1b" not in text.replace("\x1b[?25h", "").replace("\x1b[?25l", "")
    assert "1 step checked: 1 equal, 0 different, 0 undecided\n" in text


@pytest.mark.parametrize("command", ["", "check", "what-if", "replay"])
def test_help_on_a_narrow_terminal(command: str) -> None:
    arguments = [word for word in (command, "--help") if word]
    code, text = on_terminal(60, *arguments)
    assert code == 0
    assert widest(text) <= 60, text
    assert "Usage: specdist" in _COLOUR.sub("", text)


# ------------------------------------------------------------------ every kind of table


def narrowly(case: str, columns: int, monkeypatch: pytest.MonkeyPatch, *more: str) -> Result:
    """The golden command line on a page of that width, in this process."""
    folder = GOLDEN / case
    arguments = shlex.split((folder / "command").read_text(encoding="utf-8"), comments=True)
    given = folder / "stdin"
    data = given.read_bytes() if given.exists() else b""
    monkeypatch.setattr(console, "page_width", lambda stream, environ: columns)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    monkeypatch.chdir(ROOT)
    return run(*arguments, *more)


def prose(case: str) -> bool:
    """Whether the case prints a wrapped report: machine forms and lines have no width."""
    command = (GOLDEN / case / "command").read_text(encoding="utf-8")
    return not re.search(r"--format|--quiet|-q\b|--export", command)


WRAPPED = [case for case in CASES if prose(case)]


@pytest.mark.parametrize(
    ("case", "columns"), [(case, 60) for case in WRAPPED] + [(case, 70) for case in WRAPPED[::6]]
)
def test_every_report_fits_a_narrow_page(
    case: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = narrowly(case, columns, monkeypatch)
    assert result.code == int((GOLDEN / case / "exit").read_text(encoding="utf-8"))
    for line in (result.stdout + result.stderr).splitlines():
        # One word, such as a path or a number to paste, cannot be broken.
        word = max(map(len, line.split()), default=0)
        assert layout.width_of(line) <= columns or word > columns - 30, line


def test_a_narrow_page_says_which_columns_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = narrowly("draft-top-p", 60, monkeypatch).stdout
    header = next(line for line in text.splitlines() if line.startswith("  token"))
    assert header.split() == ["token", "reference", "drafted", "output", "difference"]
    said = " ".join(text.split())
    assert "columns left out at this width: recovered, accepted (shown from 80 columns on)" in said
    wide = narrowly("draft-top-p", 80, monkeypatch).stdout
    assert "left out" not in wide
    assert wide == (GOLDEN / "draft-top-p" / "stdout").read_text(encoding="utf-8")


def test_a_narrow_replay_still_shows_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    text = narrowly("replay-fault", 60, monkeypatch).stdout
    header = next(line for line in text.splitlines() if line.startswith("checked"))
    assert header.split()[:3] == ["checked", "agree", "differ"]


@pytest.mark.parametrize("columns", [1, 59, 80, 81, 10_000])
def test_a_page_is_60_to_80_columns_wide(columns: int) -> None:
    with page.at(columns):
        assert page.columns() == min(max(columns, 60), 80)
        assert len(max(layout.wrap("word " * 60), key=len)) <= page.columns()
    assert page.columns() == 80


def test_files_are_80_columns_wide_whatever_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.txt"
    narrowly("draft-top-p", 60, monkeypatch, "--export", f"text={path}")
    expected = (GOLDEN / "draft-top-p" / "stdout").read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("stated", "width"), [("", 80), ("0", 80), ("abc", 80), ("72", 72), ("9" * 50, 999_999_999)]
)
def test_the_width_of_a_stream(stated: str, width: int) -> None:
    terminal = SimpleNamespace(isatty=lambda: True, fileno=io.StringIO().fileno)
    assert console.page_width(terminal, {"COLUMNS": stated}) == width  # type: ignore[arg-type]
    assert console.page_width(io.StringIO(), {"COLUMNS": "60"}) == 80
