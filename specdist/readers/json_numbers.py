"""Numbers of a JSON capture as rationals; none of them passes through a float.

``numbers`` other than decimal says that a literal stands for the nearest value of that format
(ties to even), which is then taken exactly.
"""

from __future__ import annotations

import re
from fractions import Fraction

from specdist.model.row import NumberFormat
from specdist.readers.strict_json import NUMBER_LENGTH, Literal

EXPONENT_LIMIT = 2000
"""Largest power of ten: float64 needs 324."""

_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_FRACTION = re.compile(r"([+-]?[0-9]+)/([0-9]+)")

_FORMATS = {
    NumberFormat.FLOAT16: (11, -14, 15),
    NumberFormat.BFLOAT16: (8, -126, 127),
    NumberFormat.FLOAT32: (24, -126, 127),
    NumberFormat.FLOAT64: (53, -1022, 1023),
}
"""Significand bits, smallest and largest exponent of a normal value."""

MINUS_INFINITY = ("-inf", "-Inf", "-infinity", "-Infinity")


class NumberError(ValueError):
    """Why a text is not a number that a row can hold."""


def number(value: object) -> Fraction | None:
    """The rational of a JSON number or number text; None for minus infinity.

    Raises NumberError with the reason in lower case.
    """
    if type(value) is int:
        return Fraction(value)
    if isinstance(value, Literal):
        return None if value in MINUS_INFINITY else _decimal(value)
    if type(value) is str:
        return _text(value)
    raise NumberError(f"expected a number, not {type_name(value)}")


def type_name(value: object) -> str:
    """What a JSON value is, in JSON's own words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Literal):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "an array" if isinstance(value, list) else "an object"


def _text(text: str) -> Fraction | None:
    if text in MINUS_INFINITY:
        return None
    if len(text) > NUMBER_LENGTH:
        raise NumberError(f"a number of {len(text)} characters")
    match = _FRACTION.fullmatch(text)
    if match is None:
        return _decimal(text)
    if int(match[2]) == 0:
        raise NumberError(f"{text[:40]} divides by zero")
    return Fraction(int(match[1]), int(match[2]))


def _decimal(text: str) -> Fraction:
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise NumberError(_not_a_number(text))
    sign, whole, part, power = match.groups()
    part = part or ""
    if power and (len(power) > 8 or abs(int(power)) > EXPONENT_LIMIT):
        raise NumberError(f"the exponent of {text[:40]} is beyond {EXPONENT_LIMIT}")
    digits = int(whole + part)
    exponent = int(power or 0) - len(part)
    value = Fraction(digits * 10**exponent) if exponent >= 0 else Fraction(digits, 10**-exponent)
    return -value if sign == "-" else value


def _not_a_number(text: str) -> str:
    if text.lower().lstrip("+") in ("inf", "infinity"):
        return "+inf is not a finite number"
    if text.lower().lstrip("+-") == "nan":
        return "NaN is not a number"
    return f"{text[:40]!r} is not a number"


def to_format(value: Fraction, numbers: NumberFormat) -> Fraction:
    """The value of ``numbers`` nearest to ``value``, ties to even. Raises NumberError when it
    is beyond the largest finite one."""
    if numbers is NumberFormat.DECIMAL or value == 0:
        return value
    precision, smallest, largest = _FORMATS[numbers]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < _power_of_two(exponent):
        exponent -= 1
    quantum = _power_of_two(max(exponent, smallest) - precision + 1)
    rounded = round(size / quantum) * quantum
    if rounded >= _power_of_two(largest + 1):
        raise NumberError(f"beyond the largest finite {numbers.value}")
    return rounded if value > 0 else -rounded


def rounding_of(numbers: NumberFormat) -> Fraction:
    """Half a unit in the last place of a number just below one (decimal: 0)."""
    if numbers is NumberFormat.DECIMAL:
        return Fraction(0)
    return _power_of_two(-_FORMATS[numbers][0] - 1)


def logprob_slack(numbers: NumberFormat) -> Fraction:
    """How far rounding may lift a log-probability above 0: half an ulp at 32 (decimal: 0)."""
    if numbers is NumberFormat.DECIMAL:
        return Fraction(0)
    return 32 * _power_of_two(-_FORMATS[numbers][0])


def _power_of_two(exponent: int) -> Fraction:
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)
