"""Loads the rule that ``--rule FILE.py:CLASS`` names, and nothing else of the file's folder."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from specdist.cli.option_values import near
from specdist.errors import SettingsError
from specdist.model.user_rule import UserRule

_EXPLAIN = "specdist explain user-rules"
_Result = TypeVar("_Result")


def typed_user_rule(given: Mapping[str, Any]) -> UserRule | None:
    """The rule of the command line where it is one from a Python file, loaded; else None.

    Raises SettingsError with file, line and what was wrong.
    """
    from specdist.rules.any_rule import file_and_class

    text = given.get("rule")
    named = file_and_class(text) if isinstance(text, str) else None
    if text is None or named is None:
        return None
    return load_user_rule(text.strip(), *named)


def load_user_rule(text: str, file: str, name: str) -> UserRule:
    """The class ``name`` of a Python file, made and looked at. Raises SettingsError."""
    module = _executed(text, file)
    kind = vars(module).get(name)
    if not isinstance(kind, type):
        raise _no_class(file, name, module)
    return _loading(text, file, lambda: _made(kind, text, file, name))


def _made(kind: type, text: str, file: str, name: str) -> UserRule:
    """The user's object with what it says of itself; all of that may be code of the user's."""
    made = kind()
    _check_method(made, text, file)
    title = _attribute(made, "title", str, text, file) or _first_line(kind) or "a rule of your own"
    own_name = _attribute(made, "name", str, text, file) or name
    claims = _attribute(made, "lossless", bool, text, file)
    return UserRule(text, file, made, own_name, title, claims is not False)


def _executed(text: str, file: str) -> ModuleType:
    """The module of a file, executed under a name of its own. Neither the search path nor the
    folder of the file is touched."""
    try:
        source = Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such file"
        raise SettingsError(
            f"the rule file cannot be read: {reason.lower()}",
            place=file,
            expected="a Python file, as --rule my_rule.py:MyRule",
        ) from None
    code = _compiled(source, file)
    module = ModuleType(f"specdist_user_rule_{abs(hash(file))}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        _loading(text, file, lambda: exec(code, vars(module)))
    except SettingsError:
        sys.modules.pop(module.__name__, None)
        raise
    return module


def _compiled(source: bytes, file: str) -> CodeType:
    try:
        return compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise SettingsError(
            f"the rule file is not Python: {reason}", place=f"{file}{line}", advice=_EXPLAIN
        ) from error


def _loading(text: str, file: str, call: Callable[[], _Result]) -> _Result:
    """What ``call`` gives, which runs code of the user's. Raises SettingsError."""
    from specdist.rules.joint.user_code import run_users

    return run_users(UserRule(text, file, None, "", ""), " while it was loaded", call)


def _no_class(file: str, name: str, module: ModuleType) -> SettingsError:
    own = [
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    if not name:
        message = "the class of the rule is missing"
    elif name in vars(module):
        message = f"{name[:60]} is {type(vars(module)[name]).__name__}, not a class"
    else:
        message = f"there is no class {name[:60]!r}"
    listed = f"classes there: {', '.join(own[:12])}" if own else "there is no class at all"
    return SettingsError(
        message,
        place=file,
        expected="FILE.py:CLASS, as --rule my_rule.py:MyRule",
        advice=near(name, own) or listed,
    )


def _check_method(made: object, text: str, file: str) -> None:
    method = getattr(made, "outcomes", None)
    expected = "a method outcomes(self, proposal, models)"
    if not callable(method):
        raise SettingsError(
            f"rule {text} has no method outcomes", place=file, expected=expected, advice=_EXPLAIN
        )
    try:
        inspect.signature(method).bind(None, None)
    except (TypeError, ValueError):
        raise SettingsError(
            f"rule {text}: outcomes does not take a proposal and models",
            place=file,
            expected=expected,
            advice=_EXPLAIN,
        ) from None


def _attribute(made: object, name: str, kind: type, text: str, file: str) -> Any:
    value = getattr(made, name, None)
    if value is None or type(value) is kind:
        return value
    expected = "True or False" if kind is bool else "a text"
    raise SettingsError(
        f"rule {text}: {name} is {type(value).__name__}", place=file, expected=expected
    )


def _first_line(kind: type) -> str:
    text = kind.__doc__
    lines = text.strip().splitlines() if isinstance(text, str) else []
    return lines[0].rstrip(".") if lines else ""
