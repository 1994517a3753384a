"""The two streams: the report goes to stdout, everything else to stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TextIO

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


def paint_for(choice: str, stream: TextIO) -> Paint:
    """The colours for one stream."""
    return Paint(wants_colour(choice, stream, os.environ))


def prepare_streams() -> None:
    """Token texts hold any character: what the encoding cannot write is escaped, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def out(text: str) -> None:
    """Writes to stdout."""
    sys.stdout.write(text)


def err(text: str) -> None:
    """Writes to stderr."""
    sys.stderr.write(text)


def silence_stdout() -> None:
    """After a closed pipe (``| head``): nothing more is written, also not at shutdown."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError, io.UnsupportedOperation):
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
