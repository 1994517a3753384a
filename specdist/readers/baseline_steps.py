"""One step of an accepted report, and its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NoReturn

from specdist.errors import SettingsError
from specdist.exact.interval import Interval
from specdist.model.baseline import Measure, StepRecord, What, divided
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict
from specdist.readers.naming import shorten
from specdist.readers.strict_json import NUMBER_LENGTH, Literal

_FRACTION = re.compile(r"-?\d+(/0*[1-9]\d*)?", re.ASCII)
_VERDICTS = ("equal", "within-tolerance", "different", "undecided")
_LOUD = ("error", "warning")


def record(step: Any, place: str) -> StepRecord:
    """The step as far as it is compared. Raises SettingsError naming the member that is wrong."""
    step = table(step, place)
    found: dict[str, bool] = {}
    for index, item in enumerate(listed(member(step, "findings", place), f"{place}.findings")):
        inner = f"{place}.findings[{index}]"
        ident = text(member(item, "ident", inner), f"{inner}.ident")
        severity = text(member(item, "severity", inner), f"{inner}.severity")
        found[ident] = found.get(ident, False) or severity in _LOUD
    return StepRecord(
        text(member(step, "id", place), f"{place}.id"),
        text(member(step, "source", place), f"{place}.source"),
        _verdict(member(step, "verdict", place), f"{place}.verdict"),
        tuple(_measures(step, place)),
        frozenset(found),
        frozenset(ident for ident, loud in found.items() if loud),
        tuple(_conditions(step, place)),
    )


def _verdict(value: Any, place: str) -> Verdict:
    if value not in _VERDICTS:
        _wrong(value, place, " or ".join(_VERDICTS))
    return Verdict(value)


def _measures(step: Any, place: str) -> Iterator[Measure]:
    for group in ("positions", "bounded"):
        for index, part in enumerate(listed(step.get(group, []), f"{place}.{group}")):
            inner = f"{place}.{group}[{index}]"
            at = _count(member(table(part, inner), "index", inner), f"{inner}.index")
            yield Measure(What.VARIATION, at, _share(part, "total_variation", inner))
            yield Measure(What.ACCEPTANCE, at, _share(part, "acceptance_rate", inner))
    for name in ("bonus", "bounded_bonus"):
        if step.get(name) is not None:
            bonus = table(step[name], f"{place}.{name}")
            value = _share(bonus, "total_variation", f"{place}.{name}")
            yield Measure(What.VARIATION, -1, value)
    if step.get("joint") is not None:
        yield from _joint(table(step["joint"], f"{place}.joint"), f"{place}.joint")


def _joint(joint: dict[str, Any], place: str) -> Iterator[Measure]:
    yield Measure(What.VARIATION, None, _share(joint, "total_variation", place))
    depth = _count(member(joint, "depth", place), f"{place}.depth")
    if depth:
        inner = f"{place}.expected_accepted"
        accepted = _figure(member(joint, "expected_accepted", place), inner)
        yield Measure(What.ACCEPTANCE, None, _in_range(divided(accepted, depth), inner))


def _conditions(step: Any, place: str) -> Iterator[tuple[str, str]]:
    yield "rule", text(member(step, "rule", place), f"{place}.rule")
    options = table(step.get("options", {}), f"{place}.options")
    yield from sorted((name, str(value)) for name, value in options.items())
    parts = [*listed(step.get("positions", []), place), *listed(step.get("bounded", []), place)]
    holder = parts[0] if parts else step.get("joint") or {}
    for index, use in enumerate(listed(holder.get("roles", []), f"{place}, roles")):
        inner = f"{place}, roles[{index}]"
        use = table(use, inner)
        words = [text(member(use, name, inner), inner) for name in ("role", "side", "recipe")]
        yield f"role {words[0]}", f"{words[1]} {words[2]}"


def _share(holder: dict[str, Any], name: str, place: str) -> Figure | Interval:
    """A number from 0 to 1, or the interval it lies in."""
    inner = f"{place}.{name}"
    value = table(member(holder, name, place), inner)
    if "least" not in value:
        return _in_range(_figure(value, inner), inner)
    ends = [
        _in_range(_figure(member(value, end, inner), inner), inner) for end in ("least", "most")
    ]
    least, most = (_represented(end) for end in ends)
    if least > most:
        _wrong(f"{float(least)} to {float(most)}", inner, "the least number first")
    return Interval(least, most)


def _in_range(figure: Figure, place: str) -> Figure:
    if not 0 <= _represented(figure) <= 1:
        _wrong(figure.approx, place, "a number from 0 to 1")
    return figure


def _represented(figure: Figure) -> Fraction:
    return Fraction(figure.approx) if figure.exact is None else figure.exact


def _figure(value: Any, place: str) -> Figure:
    """``{"exact": "7/10", "approx": 0.7}``: the two must agree, or the report was changed."""
    value = table(value, place)
    approx = _float(member(value, "approx", place), f"{place}.approx")
    bound = value.get("bound")
    half = None if bound is None else abs(Fraction(_float(bound, f"{place}.bound")))
    exact = member(value, "exact", place)
    if exact is None or len(text(exact, f"{place}.exact")) > NUMBER_LENGTH:
        return Figure(approx, None, half)
    if not _FRACTION.fullmatch(exact):
        _wrong(exact, f"{place}.exact", "a fraction as a text, as 7/10")
    fraction = Fraction(exact)
    known = Figure.of(fraction, half) if abs(fraction) < 2**64 else None
    if known is None or known.approx != approx:
        _wrong(f"{exact} beside {approx}", place, "exact and approx to be one number")
    return known


def _float(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Literal):
        _wrong(value, place, "a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        _wrong(value, place, "a number")
    return number


def _count(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        _wrong(value, place, "a whole number, 0 or more")
    return value


def member(holder: Any, name: str, place: str) -> Any:
    """A member that must be there."""
    if name not in table(holder, place):
        raise SettingsError(f"the baseline lacks {name!r}", place=place, expected=_WHOLE)
    return holder[name]


def table(value: Any, place: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        _wrong(value, place, "an object")
    return value


def listed(value: Any, place: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        _wrong(value, place, "a list")
    return value


def text(value: Any, place: str) -> str:
    """A text."""
    if not isinstance(value, str) or isinstance(value, Literal):
        _wrong(value, place, "a text")
    return value


_WHOLE = "the whole report as specdist check wrote it"


def _wrong(value: Any, place: str, expected: str) -> NoReturn:
    shown = (
        "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else None
    )
    try:
        shown = shown or shorten(str(value), 40)
    except ValueError:  # whole numbers of thousands of digits are not written out
        shown = "a number of thousands of digits"
    raise SettingsError(f"the baseline has {shown} here", place=place, expected=expected)
