"""``times`` of a step of a JSON capture: what one such step took, as it was measured."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError
from specdist.model.cost import StepTimes
from specdist.readers.json_numbers import NumberError, number, type_name
from specdist.readers.json_settings import object_at, unknown_key
from specdist.readers.naming import nearest
from specdist.readers.strict_json import join

TIMES_KEY = "times"
_TIMES = ("target", "draft", "verify")
_UNITS = ("s", "ms", "us", "ns")
_LARGEST = Fraction(10) ** 30


def times_of(step: dict[str, Any], path: str, file: str) -> StepTimes | None:
    """``{"target": "0.020", "draft": "0.001", "verify": "0.024", "unit": "s"}``.

    Numbers above 0, and 0 for ``draft`` where drafting takes no time. Raises CaptureError.
    """
    value = step.get(TIMES_KEY)
    if value is None:
        return None
    where = join(path, TIMES_KEY)
    members = object_at(value, where, file)
    for key in members:
        if key not in (*_TIMES, "unit"):
            raise unknown_key(key, where, file, (*_TIMES, "unit"))
    missing = [key for key in (*_TIMES, "unit") if key not in members]
    if missing:
        raise CaptureError(
            f"times without {' and '.join(missing)}",
            place=f"{file}, {where}",
            expected="target: one target step of one token; draft: drafting a whole step; "
            f"verify: its verification; unit: {' or '.join(_UNITS)}",
        )
    target, draft, verify = (_time(key, members[key], where, file) for key in _TIMES)
    return StepTimes(target, draft, verify, _unit(members["unit"], where, file))


def _time(key: str, value: Any, where: str, file: str) -> Fraction:
    low = "0, or " if key == "draft" else ""
    expected = f"{low}a number from 1e-30 to 1e30, as 0.02 or the text 1/50"
    place = f"{file}, {join(where, key)}"
    try:
        time = None if isinstance(value, bool) else number(value)
    except NumberError as error:
        raise CaptureError(str(error), place=place, expected=expected) from None
    if time is None or not (1 / _LARGEST <= time <= _LARGEST or (key == "draft" and time == 0)):
        raise CaptureError(f"the time {key} is out of range", place=place, expected=expected)
    return time


def _unit(value: Any, where: str, file: str) -> str:
    if isinstance(value, str) and value in _UNITS:
        return value
    raise CaptureError(
        f"a unit cannot be {value[:20]!r}"
        if isinstance(value, str)
        else f"a unit cannot be {type_name(value)}",
        place=f"{file}, {join(where, 'unit')}",
        expected=" or ".join(_UNITS),
        advice=nearest(value, _UNITS) if isinstance(value, str) else "",
    )
