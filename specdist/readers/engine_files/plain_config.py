"""A file of ``key: value`` lines, as tools write their settings: the flat part of YAML.

Read here because nothing more is needed: a key with a text, with ``[a, b]``, or with ``- item``
lines below it. Everything else stays the text that it is; nothing is executed or looked up.
"""

from __future__ import annotations

from pathlib import Path

from specdist.errors import CaptureError

_LARGEST = 2**16

Config = dict[str, str | list[str]]


def read_config(path: Path, name: str) -> Config:
    """The keys of a file. Raises CaptureError for one that is no such file."""
    try:
        if path.stat().st_size > _LARGEST:
            raise CaptureError("this is too long for a file of settings", place=name)
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CaptureError("these settings are not UTF-8", place=name) from None
    except OSError as error:
        reason = (error.strerror or "input/output error").lower()
        raise CaptureError(f"the settings cannot be read: {reason}", place=name) from None
    return parse_config(text, name)


def parse_config(text: str, name: str) -> Config:
    """The keys of ``key: value`` lines. Raises CaptureError for a key twice and a line of neither
    kind."""
    found: Config = {}
    last = ""
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.split(" #")[0].rstrip()
        if not plain or plain.startswith(("#", "---", "%")):
            continue
        item = plain.lstrip()
        if item.startswith("-") or plain[0].isspace():
            _nested(found, last, item)
            continue
        key, colon, value = plain.partition(":")
        if not colon or key in found:
            raise CaptureError(
                f"the key {key[:40]!r} occurs twice" if colon else "this is no key and value",
                place=f"{name}, line {number}",
                expected="key: value",
            )
        last = key.strip()
        found[last] = _value(value.strip())
    return found


def _nested(found: Config, key: str, item: str) -> None:
    """An item below a key; lines of a mapping inside an item belong to that item."""
    there = found.get(key)
    items = there if isinstance(there, list) else []
    if item.startswith("-"):
        items.append(_plain(item[1:].strip()))
    if key:
        found[key] = items


def _value(text: str) -> str | list[str]:
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1].strip()
        return [_plain(part.strip()) for part in inner.split(",")] if inner else []
    return _plain(text)


def _plain(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
