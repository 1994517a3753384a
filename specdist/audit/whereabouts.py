"""Which line of the audited code is running."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

_OURS = str(Path(__file__).parent)
_PYTHON = str(Path(os.__file__).parent)
_LIBRARIES = ("torch", "numpy")
_PROGRAM = str(Path(__file__).parent / "program.py")
_IMPORT = "<frozen importlib._bootstrap>"


def whereabouts() -> str:
    """``FILE, line N`` of the innermost frame outside of this package and of the libraries that
    only pass a draw on; empty when there is none."""
    frame = sys._getframe(1)
    found = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if not passed_on(file):
            return f"{file}, line {frame.f_lineno}"
        if not found and not file.startswith(_OURS):
            found = f"{file}, line {frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return found


def passed_on(file: str) -> bool:
    """Whether a file is part of the audit, of Python, or of a library that passes draws on."""
    parts = Path(file).parts
    packaged = "site-packages" in parts
    library = any(part in _LIBRARIES for part in parts[:-1])
    if library and (packaged or not Path(file).is_absolute()):
        return True
    return file.startswith((_OURS, "<")) or (file.startswith(_PYTHON) and not packaged)


def at_import() -> bool:
    """Whether a module is being imported by the run that is going on: what is drawn at the top of a
    module is drawn once in a process, and is no draw of the run."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != _PROGRAM:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
