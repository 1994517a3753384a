"""``times`` of a step of a JSON capture: what one such step took, as it was measured."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from specdist.errors import CaptureError
from specdist.model.cost import CONDITIONS, StepTimes
from specdist.readers.json_numbers import NumberError, number, type_name
from specdist.readers.json_settings import object_at, unknown_key
from specdist.readers.naming import nearest
from specdist.readers.strict_json import Literal, join

TIMES_KEY = "times"
_TIMES = ("target", "draft", "verify")
_UNITS = ("s", "ms", "us", "ns")
_LARGEST = Fraction(10) ** 30
_LONGEST = 200
_EXAMPLES = {
    "target_model": "70B, bfloat16",
    "draft_model": "1B, bfloat16",
    "sampling": "temperature 0.8, top-p 0.95, draft length 4",
    "load": "16 requests at once, 1,000 tokens in, 200 out",
    "hardware": "one H100",
}


def times_of(step: dict[str, Any], path: str, file: str) -> StepTimes | None:
    """``{"target": "0.020", "draft": "0.001", "verify": "0.024", "unit": "s"}``.

    Numbers above 0, and 0 for ``draft`` where drafting takes no time; beside them the conditions
    they were measured under, in words. Raises CaptureError.
    """
    value = step.get(TIMES_KEY)
    if value is None:
        return None
    where = join(path, TIMES_KEY)
    members = object_at(value, where, file)
    for key in members:
        if key not in (*_TIMES, "unit", *CONDITIONS):
            raise unknown_key(key, where, file, (*_TIMES, "unit", *CONDITIONS))
    missing = [key for key in (*_TIMES, "unit") if key not in members]
    if missing:
        raise CaptureError(
            f"times without {' and '.join(missing)}",
            place=f"{file}, {where}",
            expected="target: one target step of one token; draft: drafting a whole step; "
            f"verify: its verification; unit: {' or '.join(_UNITS)}",
        )
    target, draft, verify = (_time(key, members[key], where, file) for key in _TIMES)
    conditions = {
        key: _condition(key, members[key], where, file)
        for key in CONDITIONS
        if members.get(key) is not None
    }
    return StepTimes(target, draft, verify, _unit(members["unit"], where, file), conditions)


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


def _condition(key: str, value: Any, where: str, file: str) -> str:
    """The words of a condition, its blank space made single."""
    words = " ".join(value.split()) if isinstance(value, str) else ""
    if not words or isinstance(value, Literal) or len(value) > _LONGEST:
        raise CaptureError(
            f"the condition {key} is no text of 1 to {_LONGEST} characters",
            place=f"{file}, {join(where, key)}",
            expected=f"{CONDITIONS[key]} in words, as {_EXAMPLES[key]!r}",
        )
    return words


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
