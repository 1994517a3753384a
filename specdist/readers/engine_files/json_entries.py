"""Numbers, ids, texts and arrays of a parsed answer, each with its place in the file.

Engines print float32 and float64 numbers in full, so the float64 nearest to a decimal is the
number that was printed; one that was rounded to a few decimals stays what it says.
"""

from __future__ import annotations

from math import inf, isinf
from typing import Any

from specdist.errors import RowError
from specdist.readers.json_numbers import MINUS_INFINITY, NumberError, number, type_name
from specdist.readers.strict_json import Literal


def array_at(value: Any, place: str) -> list[Any]:
    """A JSON array. Raises RowError."""
    if not isinstance(value, list):
        raise RowError(f"{type_name(value)} stands here", place=place, expected="an array")
    return value


def object_at(value: Any, place: str) -> dict[str, Any]:
    """A JSON object. Raises RowError."""
    if not isinstance(value, dict):
        raise RowError(f"{type_name(value)} stands here", place=place, expected="an object")
    return value


def id_at(value: Any, place: str) -> int:
    """A token id. Raises RowError."""
    if type(value) is not int or value < 0:
        what = value if type(value) is int else type_name(value)
        raise RowError(f"{what} as the id of a token", place=place, expected="ids from 0 on")
    return value


def float_at(value: Any, place: str, zero: float | None = None) -> float:
    """The float64 nearest to a JSON number; -inf for -Infinity and for ``zero``, which stands for
    the logarithm of 0. Numeric texts count. Raises RowError, also for null."""
    if isinstance(value, str) and value in MINUS_INFINITY:
        return -inf
    try:
        found = float(value) if isinstance(value, Literal) else _nearest(value)
    except NumberError as error:
        raise RowError(str(error), place=place, expected="a finite number, or -inf") from None
    except OverflowError:
        found = inf
    if isinf(found):
        raise RowError("a number beyond float64", place=place, expected="a finite number")
    return -inf if found == zero else found


def _nearest(value: Any) -> float:
    exact = number(Literal(value) if type(value) is str else value)
    return -inf if exact is None else float(exact)


def label_at(entry: dict[str, Any], place: str) -> bytes | str:
    """What stands for a token without an id: its bytes where the answer has them, else its text.
    Raises RowError."""
    found = entry.get("bytes")
    if isinstance(found, list):
        if not all(type(byte) is int and 0 <= byte < 256 for byte in found):
            raise RowError("these are not bytes", place=f"{place}.bytes", expected="0 to 255")
        return bytes(found)
    text = entry.get("token")
    if type(text) is not str:
        raise RowError(f"the token is {type_name(text)}", place=f"{place}.token", expected="a text")
    return text
