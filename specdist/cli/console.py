"""The two streams: the report goes to stdout, everything else to stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TextIO

from specdist.reports.page import WIDTH
from specdist.reports.style import Paint

COLOURS = ("auto", "always", "never")


def wants_colour(choice: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """``--color`` decides; ``auto`` means a terminal, unless NO_COLOR is set or TERM is dumb."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def typed_colour(arguments: Sequence[str]) -> str:
    """The colour choice for an error, found without a full reading of the command line."""
    words = [word for argument in arguments for word in argument.split("=", 1)]
    typed = [value for name, value in pairwise(words) if name == "--color"]
    choice = typed[-1] if typed else os.environ.get("SPECDIST_COLOR", "auto")
    return choice if choice in COLOURS else "auto"


def page_width(stream: TextIO, environ: Mapping[str, str]) -> int:
    """The columns of a terminal: what COLUMNS says, else what it says itself; 80 for files and
    pipes, and where nobody knows."""
    try:
        if not stream.isatty():
            return WIDTH
        stated = environ.get("COLUMNS", "")
        if stated.isascii() and stated.isdigit() and int(stated[:9]):
            return int(stated[:9])
        return os.get_terminal_size(stream.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH


def room() -> tuple[int, bool]:
    """How many columns a picture of characters may take, 60 to 200, and whether stdout can show
    block characters. Files and pipes have 80 columns."""
    import shutil

    columns = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    return min(max(columns, 60), 200), encoding.startswith("utf")


def paint_for(choice: str, stream: TextIO) -> Paint:
    """The colours for one stream."""
    return Paint(wants_colour(choice, stream, os.environ))


def prepare_streams() -> None:
    """Token texts hold any character: what the encoding cannot write is escaped, not an error.

    A stream that was closed (``2>&-``) becomes one that swallows everything, and its number is
    taken, so that no capture is opened under it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _take(number)
            if name != "stdin":
                setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _take(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)


def out(text: str) -> None:
    """Writes to stdout. Raises OSError, which `__main__` turns into a message."""
    sys.stdout.write(text)


def err(text: str) -> None:
    """Writes to stderr; when that is impossible, nobody can be told."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def silence_stdout() -> None:
    """After a closed pipe (``| head``): nothing more is written, also not at shutdown."""
    _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, descriptor)
    os.close(devnull)


def flush_quietly() -> None:
    """Writes out what is buffered; a reader that has gone away is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
