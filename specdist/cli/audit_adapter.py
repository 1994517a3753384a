"""Finds the function that ``specdist audit`` names: ``FILE.py:NAME`` or ``MODULE:NAME``.

The code that is audited runs because the command line names it; no config file and no capture can.
A file is executed under a module name of its own. Modules beside it are found after installed ones,
so that an adapter may have the name of the package that it audits.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from specdist.audit.refusals import AdapterError
from specdist.cli.audit_module import executed, forget, functions_in, imported, run_users
from specdist.cli.option_values import near

FORM = "FILE.py:NAME or MODULE:NAME"
_EXPLAIN = "specdist explain audit"


@dataclass(frozen=True, slots=True)
class Named:
    """What was typed: a file, or the dotted name of a module, and a name in it."""

    text: str
    origin: str
    name: str
    is_file: bool


@dataclass(frozen=True, slots=True)
class Loaded:
    """The function or class, under what was typed; ``line`` is where it begins, 0 where nobody
    knows."""

    call: Callable[[], Any]
    source: str
    line: int


def read_name(text: str) -> Named:
    """The parts of ``FILE.py:NAME``. Raises AdapterError with the names that there are."""
    origin, colon, name = text.rpartition(":")
    if not colon:
        origin, name = text, ""
    if not origin or "\0" in text:
        raise AdapterError(f"{text[:60]!r} names no function", expected=FORM, advice=_EXPLAIN)
    is_file = _is_file(origin)
    if not all(part.isidentifier() for part in name.split(".")):
        message = f"{name[:60]!r} is no name of a function" if name else "no function is named"
        raise AdapterError(
            message, place=text, expected=FORM, advice=_there(origin, is_file) or _EXPLAIN
        )
    return Named(text, origin, name, is_file)


def read_reference(text: str, adapter: Named) -> Named:
    """What ``--reference`` names: alone a name is one of the adapter's own file."""
    if text.isidentifier():
        return read_name(f"{adapter.origin}:{text}")
    return read_name(text)


def _is_file(origin: str) -> bool:
    dotted = all(part.isidentifier() for part in origin.split("."))
    return origin.endswith(".py") or not dotted or os.path.isfile(origin)


def _there(origin: str, is_file: bool) -> str:
    names = functions_in(origin) if is_file else []
    return f"functions there: {', '.join(names[:12])}" if names else ""


@contextmanager
def findable(*named: Named) -> Iterator[None]:
    """Modules beside the files, and those of the working directory where a module is named, can
    be imported until the block ends; the adapters are forgotten then."""
    kept = list(sys.path)
    folders = [os.path.dirname(os.path.abspath(each.origin)) for each in named if each.is_file]
    folders += [os.getcwd() for each in named if not each.is_file]
    sys.path[:] = [*kept, *(folder for folder in folders if folder not in kept)]
    try:
        yield
    finally:
        sys.path[:] = kept
        forget()


def load(named: Named) -> Loaded:
    """The function itself; its module is executed once. Raises AdapterError."""
    module = executed(named.origin) if named.is_file else imported(named.origin)
    file = named.origin if named.is_file else ""
    return run_users(named.text, file, " when it was looked up", lambda: _found(named, module))


def check_apart(adapter: Loaded, reference: Loaded) -> None:
    """Raises AdapterError for a reference that is the adapter itself: nothing would be checked."""
    if adapter.call is reference.call or _written(adapter.call) == _written(reference.call):
        raise AdapterError(
            f"--reference {reference.source} is the adapter itself: it equals itself, whatever it "
            "does",
            place=adapter.source,
            expected="plain decoding of the same engine, another function",
            advice="leave --reference out to hold the law against the target's",
        )


def _written(call: Any) -> tuple[object, ...]:
    """The place of a function in its file; of what has no such place, itself."""
    code = getattr(call, "__code__", None)
    if code is None or getattr(call, "__closure__", None) or call.__name__ == "<lambda>":
        return (id(call),)
    return (os.path.realpath(code.co_filename), code.co_firstlineno, code.co_qualname)


def _found(named: Named, module: ModuleType) -> Loaded:
    """What the name leads to; attributes and signatures may be code of the user's."""
    found: Any = module
    for part in named.name.split("."):
        if not hasattr(found, part):
            raise _no_such(named, part, found, module)
        found = getattr(found, part)
    _check(found, named)
    return Loaded(found, named.text, _line_of(found))


def _no_such(named: Named, part: str, inside: Any, module: ModuleType) -> AdapterError:
    own = [
        key
        for key, value in getattr(inside, "__dict__", {}).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    listed = f"functions there: {', '.join(own[:12])}" if own else "there is no function at all"
    return AdapterError(
        f"there is no function {part[:60]!r}",
        place=named.origin,
        expected=FORM,
        advice=near(part, own) or listed,
    )


def _check(found: Any, named: Named) -> None:
    """Raises AdapterError for what cannot be called without arguments, step after step."""
    what = named.name[:60]
    expected = "a function without arguments, or a class whose instances are called"
    is_class = inspect.isclass(found)
    steps = any("__call__" in vars(base) for base in found.__mro__) if is_class else callable(found)
    if not steps:
        kind = "a class without __call__" if is_class else type(found).__name__
        raise _unfit(f"{what} is {kind}, and cannot be called for a step", found, named, expected)
    if inspect.iscoroutinefunction(found):
        raise _unfit(f"{what} is a coroutine function", found, named, "a plain function")
    needed = _needed(found)
    if needed:
        message = f"{what} takes arguments: {', '.join(needed)}"
        raise _unfit(message, found, named, expected)


def _unfit(message: str, found: Any, named: Named, expected: str) -> AdapterError:
    line = _line_of(found)
    place = f"{named.origin}, line {line}" if line else named.origin
    return AdapterError(message, place=place, expected=expected, advice=_EXPLAIN)


def _needed(found: Any) -> list[str]:
    """The parameters that a call without arguments leaves open; none where nobody knows."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty and parameter.kind not in kinds
    ]


def _line_of(found: Any) -> int:
    """Where a function or a class begins, decorators included; 0 where it is not written in
    Python."""
    code = getattr(inspect.unwrap(found) if callable(found) else found, "__code__", None)
    if code is not None:
        return int(code.co_firstlineno)
    if not inspect.isclass(found):
        return 0
    try:
        return inspect.getsourcelines(found)[1]
    except (OSError, TypeError):
        return 0
