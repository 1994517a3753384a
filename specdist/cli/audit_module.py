"""The module of an adapter, executed or imported; what goes wrong says file, line and what to do.

What it prints goes to stderr, and an exit code of this program is never one of the adapter's.
"""

from __future__ import annotations

import ast
import os
import sys
import traceback
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from types import CodeType, ModuleType
from typing import TypeVar

from specdist.audit.refusals import AdapterError
from specdist.cli.option_values import near

_Result = TypeVar("_Result")
_AS = "as audit.py:step"
_PREFIX = "specdist_adapter_"


def executed(file: str) -> ModuleType:
    """The module of a file, executed once under a name of its own. Raises AdapterError."""
    path = os.path.abspath(file)
    name = f"{_PREFIX}{sha256(path.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"
    known = sys.modules.get(name)
    if known is not None:
        return known
    code = _compiled(_read(file), file)
    loader = SourceFileLoader(name, path)
    spec = spec_from_file_location(name, path, loader=loader) or ModuleSpec(name, loader)
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up
    try:
        run_users(file, file, " while it was loaded", lambda: exec(code, vars(module)))
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def forget() -> None:
    """The modules of files: the next time each is executed anew."""
    for name in [name for name in sys.modules if name.startswith(_PREFIX)]:
        del sys.modules[name]


def imported(name: str) -> ModuleType:
    """The module of that dotted name. Raises AdapterError."""
    return run_users(name, "", " while it was imported", lambda: import_module(name))


def functions_in(file: str) -> list[str]:
    """The functions and classes of a file, which is read and not run; none of what is no Python."""
    try:
        tree = ast.parse(_read(file))
    except (AdapterError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in tree.body if isinstance(node, kinds)]


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "no such file").lower()
        raise AdapterError(
            f"the adapter's file cannot be read: {reason}",
            place=file,
            expected=f"a Python file, {_AS}",
            advice=_beside(file),
        ) from None


def _beside(file: str) -> str:
    """The files of that folder whose names are near."""
    folder, name = os.path.split(file)
    try:
        known = [entry for entry in sorted(os.listdir(folder or ".")) if entry.endswith(".py")]
    except (OSError, ValueError):
        return ""
    return near(name, known)


def _compiled(source: bytes, file: str) -> CodeType:
    try:
        return compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        found = error.lineno if isinstance(error, SyntaxError) else None
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise AdapterError(
            f"the adapter's file is not Python: {reason or type(error).__name__}",
            place=f"{file}, line {found}" if found else file,
            expected=f"a Python file, {_AS}",
        ) from error


def run_users(what: str, file: str, where: str, call: Callable[[], _Result]) -> _Result:
    """What ``call`` gives, which runs code of the user's. Raises AdapterError for whatever it
    raises, exits included, and passes an interruption and errors of an audit on. ``where`` ends
    the sentence that names the exception; the place is the innermost line in ``file``."""
    from specdist.errors import SpecdistError
    from specdist.rules.joint.user_code import said_by

    try:
        return call()
    except SpecdistError as error:
        error.at(_place(error, file))
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        text = said_by(error)
        raise AdapterError(
            f"{what} raised {type(error).__name__}{where}{f': {text}' if text else ''}",
            place=_place(error, file),
            advice=_advice(error),
        ) from error


def _place(error: BaseException, file: str) -> str:
    """The innermost line in the file; without one the innermost line of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    if own:
        return f"{file}, line {own[-1].lineno}"
    theirs = [f for f in frames if f.filename != __file__ and not f.filename.startswith("<")]
    inner = [f for f in theirs if f"importlib{os.sep}__init__" not in f.filename]
    return f"{inner[-1].filename}, line {inner[-1].lineno}" if inner and not file else file


def _advice(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name.partition(".")[0]
        if missing in sys.modules:
            return f"there is {missing}, without this part; -v shows the traceback"
        return (
            f"install {missing} in the environment that runs specdist, or put it beside the "
            "adapter; -v shows the traceback"
        )
    return "-v shows the traceback"
