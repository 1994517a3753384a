"""``--sweep AXIS=VALUES``: which options can be swept, and their values as exact numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from specdist.cli.model_options import NUMERICS, PROPOSAL
from specdist.cli.option import Option
from specdist.cli.option_values import nearest, rational
from specdist.cli.options import CHECKING, ENGINE
from specdist.cli.processing_options import PROCESSING
from specdist.errors import SettingsError
from specdist.model.sweep import Axis

_SWEEPS = "Sweeps"
_SWEEP = (
    "Check under every value of an option, as temperature=0:2:0.1, top-p=0.8,0.9 or "
    "rule=token,block; repeatable: a grid."
)
_PLOT = "Draw it: .png or .svg (extra plot), .html, or - for the terminal."

SWEEP: tuple[Option, ...] = (
    Option("sweep", _SWEEPS, _SWEEP, "AXIS=VALUES", form="list", in_config=False),
    Option("plot", _SWEEPS, _PLOT, "FILE", in_config=False),
)
WORKERS: tuple[Option, ...] = tuple(option for option in CHECKING if option.name == "workers")

DRAFT_LENGTH = "draft-length"
_NAMED = ("engine", "rule", "length")
SWEPT: dict[str, Option] = {
    option.name: option
    for option in (*PROCESSING, *ENGINE, *NUMERICS, *PROPOSAL)
    if option in (*PROCESSING, *NUMERICS, *PROPOSAL) or option.name in (*_NAMED, DRAFT_LENGTH)
    if option.form == "value"
}
"""The options that a sweep takes, by name."""

MOST_SETTINGS = 100_000
_VALUES = "START:STOP:STEP, as 0:2:0.1, or values as 0.5,0.8,1"
_DIGITS = 12


def read_sweeps(texts: Sequence[str], values: Mapping[str, Any]) -> tuple[Axis, ...]:
    """The axes in the order in which they are written. ``values`` are the other options.

    Raises SettingsError for an option that cannot be swept or is given twice, and for values that
    make no axis or too many settings.
    """
    axes: list[Axis] = []
    for text in texts:
        axis = _axis(text)
        if any(other.name == axis.name for other in axes):
            raise SettingsError(f"sweep: {axis.name} is swept twice", expected="one axis an option")
        if values.get(SWEPT[axis.name].parameter) is not None:
            raise SettingsError(
                f"{axis.name} is swept and given as an option",
                expected=f"one of --{axis.name} and --sweep {axis.name}=VALUES",
            )
        axes.append(axis)
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_SETTINGS:
        raise _too_many(f"{count:,} settings")
    return tuple(axes)


def spelled(number: Fraction) -> str:
    """The number as a decimal where that is short, else as a fraction."""
    for digits in range(_DIGITS + 1):
        scaled = number * 10**digits
        if scaled.denominator == 1:
            whole, rest = divmod(abs(scaled.numerator), 10**digits)
            sign = "-" if number < 0 else ""
            return f"{sign}{whole}" + (f".{rest:0{digits}}" if digits else "")
    return str(number)


def _axis(text: str) -> Axis:
    name, equals, written = text.partition("=")
    name = name.strip().removeprefix("--").replace("_", "-")
    if not equals:
        raise SettingsError(
            f"sweep={text[:60]} is not AXIS=VALUES",
            expected="an option, then = and its values, as temperature=0:2:0.1",
        )
    if name not in SWEPT:
        raise SettingsError(
            f"sweep: {name[:60]!r} is no option that can be swept",
            expected="an option with a value that changes the law, as temperature",
            advice=nearest(name, SWEPT),
        )
    parts = [part.strip() for part in written.split(",")]
    if not all(parts):
        raise SettingsError(f"sweep: {name}={written[:40]} has an empty value", expected=_VALUES)
    if name not in _NAMED and len(parts) == 1 and _is_range(parts[0]):
        return _counted(name, parts[0])
    return _listed(name, parts)


def _is_range(text: str) -> bool:
    """Whether a text with a colon is a range, and not a value with options or ids."""
    return ":" in text and "=" not in text and bool(re.match(r"[-+.\d/e:\s]*(:|$)", text))


def _counted(name: str, text: str) -> Axis:
    """``START:STOP[:STEP]``, both ends included where the steps meet them."""
    ends = text.split(":")
    if not 2 <= len(ends) <= 3:
        raise SettingsError(f"sweep: {name}={text[:40]} is no range", expected=_VALUES)
    start, stop, *steps = (rational(f"sweep: {name}", end, _VALUES) for end in ends)
    step = steps[0] if steps else Fraction(1)
    if step <= 0:
        raise SettingsError(
            f"sweep: {name}={text[:40]} has the step {spelled(step)}",
            expected="a step above 0; the values rise",
        )
    if start > stop:
        raise SettingsError(
            f"sweep: {name}={text[:40]} ends before it starts",
            expected="START not above STOP",
            advice=f"--sweep {name}={spelled(stop)}:{spelled(start)}:{spelled(step)}",
        )
    count = (stop - start) // step + 1
    if count > MOST_SETTINGS:
        raise _too_many(f"{name} has {count:,} values")
    numbers = tuple(start + i * step for i in range(count))
    return Axis(name, tuple(map(spelled, numbers)), numbers)


def _listed(name: str, parts: Sequence[str]) -> Axis:
    numbers: list[Fraction] = []
    if name not in _NAMED:
        for part in parts:
            try:
                numbers.append(rational(name, part, _VALUES))
            except SettingsError:
                break
    if len(numbers) < len(parts):
        _check_distinct(name, parts)
        return Axis(name, tuple(parts))
    texts = [spelled(number) for number in numbers]
    _check_distinct(name, texts)
    return Axis(name, tuple(texts), tuple(numbers))


def _check_distinct(name: str, texts: Sequence[str]) -> None:
    for index, text in enumerate(texts):
        if text in texts[:index]:
            raise SettingsError(
                f"sweep: {name} has the value {text[:40]} twice", expected="distinct values"
            )


def _too_many(what: str) -> SettingsError:
    return SettingsError(
        f"sweep: {what}",
        expected=f"at most {MOST_SETTINGS:,} settings",
        advice="a larger STEP, or fewer axes",
    )
