"""``specdist.toml`` or ``[tool.specdist]`` of the working directory, checked key by key."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from specdist.cli.option_values import nearest
from specdist.cli.options import Option
from specdist.errors import SettingsError

_FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("specdist.toml", ()),
    ("pyproject.toml", ("tool", "specdist")),
)
_LONGEST_NUMBER = 10_000
"""Bits of a whole number that Python writes in decimal without complaint."""
LOOKED_FOR = """\
looked for in the working directory: specdist.toml, then [tool.specdist] in
pyproject.toml; in the environment: SPECDIST_ENGINE, SPECDIST_FORMAT,
SPECDIST_COLOR"""


def read_config(folder: Path, options: Iterable[Option]) -> tuple[str, dict[str, Any]]:
    """Origin and values of the config file; ``("", {})`` when there is none.

    ``specdist.toml`` wins over ``pyproject.toml`` as a whole. Values come back in the form that
    the command line gives: texts, lists of texts, or True. Raises `SettingsError`.
    """
    for name, table in _FILES:
        path = folder / name
        if not path.is_file() and not _is_broken(path, table):
            continue
        content: Any = _parse(path)
        for key in table:
            content = content.get(key) if isinstance(content, dict) else None
        if content is None:
            continue
        origin = f"{name} [{'.'.join(table)}]" if table else name
        return origin, _checked(content, origin, [o for o in options if o.in_config])
    return "", {}


def _is_broken(path: Path, table: tuple[str, ...]) -> bool:
    """Refuses a ``specdist.toml`` that is there and is no file: it must not be overlooked."""
    if not table and os.path.lexists(path):
        raise SettingsError(
            "this is not a file that can be read", place=path.name, expected="TOML in UTF-8"
        )
    return False


def _parse(path: Path) -> dict[str, Any]:
    import tomllib

    reason = ""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = f"the file is not valid TOML: {error}"
    except ValueError:
        reason = f"the file holds a number of more than {sys.get_int_max_str_digits()} digits"
    except RecursionError:
        reason = "the file is nested too deeply"
    except OSError as error:
        reason = f"the file cannot be read: {(error.strerror or 'input/output error').lower()}"
    raise SettingsError(reason, place=path.name, expected="TOML in UTF-8")


def _checked(content: Any, origin: str, options: list[Option]) -> dict[str, Any]:
    by_name = {option.name: option for option in options}
    if not isinstance(content, dict):
        raise SettingsError("not a table", place=origin, expected="keys with values")
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in by_name:
            raise SettingsError(f"unknown key {key!r}", place=origin, advice=nearest(key, by_name))
        values[key] = _value(by_name[key], value, origin)
    return {key: value for key, value in values.items() if value is not False}


def _value(option: Option, value: Any, origin: str) -> Any:
    """The value as the command line would have given it."""
    if option.form == "flag":
        if isinstance(value, bool):
            return value
        raise _wrong_type(option, value, origin, "true or false")
    if option.form == "list":
        items = _items(value)
        if items is not None:
            return items
        raise _wrong_type(option, value, origin, "a text, a list of texts or a table")
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:#x}" if value.bit_length() > _LONGEST_NUMBER else str(value)
    raise _wrong_type(option, value, origin, "a text or a number")


def _items(value: Any) -> list[str] | None:
    if isinstance(value, Mapping):
        value = [f"{key}={item}" for key, item in value.items() if isinstance(item, str)]
    items = [value] if isinstance(value, str) else value
    if isinstance(items, list) and all(isinstance(item, str) for item in items):
        return items
    return None


def _wrong_type(option: Option, value: Any, origin: str, expected: str) -> SettingsError:
    return SettingsError(
        f"{option.name}={_shown(value)} has the wrong type", place=origin, expected=expected
    )


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # whole numbers of thousands of digits are not written out
        return "..."
    return text if len(text) <= 40 else f"{text[:37]}..."
