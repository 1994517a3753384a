"""The files behind a name: the file itself, or everything inside a folder in sorted order."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specdist.model.capture import Unreadable

_LOOKED_AT = 1 << 20
"""Bytes of a first line that are looked at."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file to open. ``named``: the user wrote its name, so it must be a capture. ``trace``: it
    is a folder of recorded steps, which is one capture."""

    name: str
    named: bool
    problem: Unreadable | None = None
    trace: bool = False


def entries(source: str) -> Iterator[Entry]:
    """The files of a source. Hidden files and folders are skipped, links are followed once."""
    try:
        folder = stat.S_ISDIR(os.stat(source).st_mode)
    except (OSError, ValueError):
        folder = False
    if not folder:
        yield Entry(source, named=True)
        return
    if is_trace_folder(source):
        yield Entry(source, named=True, trace=True)
        return
    yield from _inside(source, frozenset())


def is_trace_folder(name: str) -> bool:
    """Whether a folder holds recorded steps with their settings: config.json, and steps.jsonl whose
    first line says what was drafted and emitted."""
    steps = os.path.join(name, "steps.jsonl")
    if not (os.path.isfile(steps) and os.path.isfile(os.path.join(name, "config.json"))):
        return False
    try:
        with open(steps, "rb") as lines:
            head = lines.read(_LOOKED_AT).partition(b"\n")[0]
    except OSError:
        return False
    return all(f'"{key}"'.encode() in head for key in ("drafted", "emitted"))


def _inside(folder: str, above: frozenset[tuple[int, int]]) -> Iterator[Entry]:
    """Depth first; ``above`` holds the folders we are in, so that a link cannot lead back."""
    try:
        status = os.stat(folder)
        identity = (status.st_dev, status.st_ino)
        if identity in above:
            return
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        reason = (error.strerror or "input/output error").lower()
        yield Entry(folder, False, Unreadable(folder, f"cannot be read: {reason}", folder))
        return
    for name in names:
        path = str(Path(folder) / name)
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            reason = (error.strerror or "input/output error").lower()
            yield Entry(path, False, Unreadable(path, f"cannot be read: {reason}", path))
            continue
        if stat.S_ISDIR(mode) and is_trace_folder(path):
            yield Entry(path, named=False, trace=True)
        elif stat.S_ISDIR(mode):
            yield from _inside(path, above | {identity})
        elif stat.S_ISREG(mode):
            yield Entry(path, named=False)
        else:
            problem = Unreadable(path, "this is not a regular file", path, counts=False)
            yield Entry(path, False, problem)
