"""JSON read exactly: no float, no repeated key, no NaN, no unbounded number, no deep nesting.

Numbers without a fraction or exponent become ``int``; all others stay texts (``Literal``) until
a row turns them into rationals, and so does ``-Infinity``, Python's word for a masked token.
Every error names line and column, or the JSON path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.naming import first_repeated, shorten

NUMBER_LENGTH = 4000
"""Characters of one number: a float64 written out in full needs 1,077."""
_MINUS_INFINITY = "-Infinity"
_DEPTH = 100
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')


class Literal(str):
    """A JSON number with a fraction or an exponent, exactly as it is written."""

    __slots__ = ()


class _NonFinite:
    """Stands for a NaN or Infinity literal until its path is known."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class _Repeated(dict[str, Any]):
    """An object in which ``key`` occurs twice."""

    key: str = ""


def decode(data: bytes, name: str) -> str:
    """UTF-8 text; a leading byte order mark is dropped (RFC 8259 lets a parser do so)."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CaptureError("this text is UTF-16", place=name, expected="JSON in UTF-8")
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaptureError(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            place=f"{name}, line {line}, byte {error.start}",
            expected="JSON in UTF-8",
        ) from None


def parse(text: str, name: str, first_line: int = 1, forget: Collection[str] = ()) -> Any:
    """The JSON value in ``text``. Raises CaptureError; ``first_line`` shifts line numbers.

    Members whose keys are in ``forget`` become null as soon as they are read, to save memory.
    """
    if not text.strip():
        raise CaptureError("the file is empty", place=name, expected="a JSON capture")
    oddities: list[object] = []
    decoder = _decoder(oddities, forget)
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(error, text, name, first_line) from None
    except RecursionError:
        raise CaptureError(
            "the JSON text is nested too deeply",
            place=_place(text, _deep(text), name, first_line),
            expected=f"at most {_DEPTH} brackets inside each other",
        ) from None
    except _LongNumberError as error:
        raise CaptureError(
            f"a number of {len(error.text)} characters",
            place=_place(text, text.find(error.text), name, first_line),
            expected=f"at most {NUMBER_LENGTH}",
        ) from None
    if oddities:
        raise _oddity(value, name, oddities[0])
    return value


class _LongNumberError(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(len(text))
        self.text = text


def _place(text: str, position: int, name: str, first_line: int) -> str:
    line = text.count("\n", 0, position) + first_line
    return f"{name}, line {line}, column {position - text.rfind(chr(10), 0, position)}"


def _deep(text: str) -> int:
    """Where the text is nested more than ``_DEPTH`` deep for the first time."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > _DEPTH:
            return match.start()
    return 0


def _decoder(oddities: list[object], forget: Collection[str]) -> json.JSONDecoder:
    def integer(text: str) -> int:
        if len(text) > NUMBER_LENGTH:
            raise _LongNumberError(text)
        return int(text)

    def literal(text: str) -> Literal:
        if len(text) > NUMBER_LENGTH:
            raise _LongNumberError(text)
        return Literal(text)

    def constant(name: str) -> _NonFinite | Literal:
        if name == _MINUS_INFINITY:
            return Literal(name)
        found = _NonFinite(name)
        oddities.append(found)
        return found

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        for key in forget:
            if key in result:
                result[key] = None
        if len(result) == len(items):
            return result
        repeated = _Repeated(result)
        repeated.key = first_repeated(key for key, _ in items)
        oddities.append(repeated)
        return repeated

    return json.JSONDecoder(
        parse_int=integer, parse_float=literal, parse_constant=constant, object_pairs_hook=pairs
    )


def _syntax_error(
    error: json.JSONDecodeError, text: str, name: str, first_line: int
) -> CaptureError:
    place = f"{name}, line {error.lineno + first_line - 1}, column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return CaptureError("the JSON text ends too early", place=place)
    reason = error.msg[:1].lower() + error.msg[1:]
    return CaptureError(f"this is not valid JSON: {reason}", place=place)


def _oddity(value: Any, name: str, fallback: object) -> CaptureError:
    for path, item in _walk(value):
        if isinstance(item, _NonFinite):
            return CaptureError(
                f"the literal {item.name} is not JSON",
                place=f"{name}, {path or 'top level'}",
                expected='finite numbers, or the text "-inf" for a masked token',
            )
        if isinstance(item, _Repeated):
            return CaptureError(
                f"the key {shorten(item.key)!r} occurs twice in one object",
                place=f"{name}, {path or 'top level'}",
                advice="keep one of them; which one was meant cannot be guessed",
            )
    # A later value of a repeated key hid the odd part of an earlier one.
    what = fallback.name if isinstance(fallback, _NonFinite) else "a repeated key"
    return CaptureError(f"{what} is not accepted in a capture", place=name)


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, item = stack.pop()
        yield path, item
        if isinstance(item, dict):
            stack.extend((join(path, key), child) for key, child in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((f"{path}[{i}]", item[i]) for i in range(len(item) - 1, -1, -1))


def join(path: str, key: str) -> str:
    """The JSON path of a member: ``settings.top_p``."""
    shown = shorten(key, 40)
    return f"{path}.{shown}" if path else shown
