"""Which values of a swept option lose a floor, in sentences and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from specdist.exact.interval import Interval
from specdist.model.figure import Figure
from specdist.model.sweep_crossing import Crossing, Direction, FloorAnswer, Place
from specdist.reports import interval_text, layout
from specdist.reports.figure_text import Numerals
from specdist.reports.json_numbers import Object, number

_DECIMALS = 12
_VISIBLE = Fraction(1, 10**6)
_NARROW = 1000
_PLAIN = Numerals()


def floor_lines(
    answer: FloorAnswer, axis: str, numerals: Numerals = _PLAIN, width: int | None = None
) -> list[str]:
    """Lines of at most ``width``: the counts, one sentence a crossing, what is left open."""
    lines = layout.wrap(_counts(answer, axis, numerals), rest="  ", width=width)
    for sentence in _sentences(answer, axis, numerals):
        lines += layout.wrap(sentence, "  ", "    ", width)
    return lines


def _counts(answer: FloorAnswer, axis: str, numerals: Numerals) -> str:
    values = f"{answer.grid} value{'s' if answer.grid != 1 else ''} of {axis}"
    floor = f"floor {value_text(answer.floor, numerals)}"
    if answer.reaching == answer.grid:
        return f"{floor}: reached at all {values}"
    reaching = answer.reaching or "none"
    text = f"{floor}: reached at {reaching} of {values}"
    if answer.open_at:
        text += f", {answer.below} below, {len(answer.open_at)} undecided"
    return text


def _sentences(answer: FloorAnswer, axis: str, numerals: Numerals) -> Iterator[str]:
    for crossing in answer.crossings:
        yield _crossing(crossing, numerals)
    own = {crossing.low for crossing in answer.crossings if crossing.place is Place.EQUAL}
    equal = [value for value in answer.equal_at if value not in own]
    if equal and not answer.complete:
        yield f"the rate equals the floor exactly at {_values(equal, numerals)}"
    if answer.open_at:
        at = _values(answer.open_at, numerals)
        yield f"undecided at {at}: the floor lies within the bounds of the rate"
    yield _how_complete(answer, axis)


def _values(values: list[Fraction] | tuple[Fraction, ...], numerals: Numerals) -> str:
    texts = [value_text(value, numerals) for value in values[:5]]
    return ", ".join(texts) + (f" and {len(values) - 5} more" if len(values) > 5 else "")


def _how_complete(answer: FloorAnswer, axis: str) -> str:
    if answer.complete and answer.whole:
        return f"no crossing is missed: all {answer.places} whole numbers were checked"
    if answer.complete:
        places = f"{answer.places} value{'s' if answer.places != 1 else ''}"
        return (
            f"no crossing is missed: the rate can change at {places} of {axis} only, and was "
            "worked out at and between all of them"
        )
    return (
        "between neighbouring values the rate may also cross the floor and come back: "
        f"{answer.grid} values were checked"
    )


def _crossing(crossing: Crossing, numerals: Numerals) -> str:
    text = f"lost {_region(crossing, numerals)}"
    if _is_visible(crossing):
        before, after = (_rate(rate, numerals) for rate in (crossing.before, crossing.after))
        text += f"; the rate goes from {before} to {after} there"
    if crossing.rounding:
        text += "; in between, the floor lies within the bounds of the rate"
    return text


def _region(crossing: Crossing, numerals: Numerals) -> str:
    """Where the floor is lost, on this side of the next crossing."""
    falls = crossing.direction is Direction.FALLS
    low, high = (value_text(value, numerals) for value in (crossing.low, crossing.high))
    beside = "above" if falls else "below"
    if crossing.place is Place.EQUAL:
        return f"{beside} {low} (exact; at {low} the rate equals the floor)"
    if crossing.place is Place.JUMP and crossing.value_reaches:
        return f"{beside} {low} (exact; {low} itself reaches it)"
    if crossing.place is Place.JUMP:
        return f"{f'from {low} on' if falls else f'up to {low}'} (exact; {low} itself is below)"
    if crossing.place is Place.WHOLE:
        return f"from {high} on ({low} reaches it)" if falls else f"up to {low} ({high} reaches it)"
    low, high = _of_one_length(low, high)
    return f"{beside} a value between {low} and {high}"


def _of_one_length(low: str, high: str) -> tuple[str, str]:
    """Two decimals with as many digits behind the point."""
    if not all(text.replace(".", "", 1).isdigit() for text in (low, high)):
        return low, high
    digits = max(len(text.partition(".")[2]) for text in (low, high))
    if not digits:
        return low, high
    first, second = (
        f"{text.partition('.')[0]}.{text.partition('.')[2]:0<{digits}}" for text in (low, high)
    )
    return first, second


def _is_visible(crossing: Crossing) -> bool:
    """Whether the rates on both sides differ in the digits that are shown."""
    return abs(crossing.after.least - crossing.before.least) > _VISIBLE


def _rate(rate: Interval, numerals: Numerals) -> str:
    middle = (rate.least + rate.most) / 2
    if rate.width * _NARROW > middle:
        return interval_text.interval(rate, numerals)
    return numerals.rate(Figure.of(middle, rate.width / 2))


def value_text(value: Fraction, numerals: Numerals = _PLAIN) -> str:
    """``0.8``, ``1/3 = 0.3333``, or six digits of a longer fraction."""
    for digits in range(_DECIMALS + 1):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            whole, rest = divmod(abs(scaled.numerator), 10**digits)
            sign = "-" if value < 0 else ""
            return f"{sign}{whole}" + (f".{rest:0{digits}}" if digits else "")
    return numerals.rate(Figure.of(value))


def to_json(answer: FloorAnswer, exact: bool) -> Object:
    """The answer as JSON values."""

    def plain(value: Fraction) -> Object:
        return number(Figure.of(value), exact)

    return {
        "floor": plain(answer.floor),
        "values": answer.grid,
        "reaching": answer.reaching,
        "below": answer.below,
        "undecided_at": [plain(value) for value in answer.open_at],
        "equal_at": [plain(value) for value in answer.equal_at],
        "complete": answer.complete,
        "places": answer.places,
        "crossings": [_crossing_json(crossing, exact) for crossing in answer.crossings],
    }


def _crossing_json(crossing: Crossing, exact: bool) -> dict[str, Any]:
    ends = {"low": crossing.low, "high": crossing.high}
    rates = {"rate_before": crossing.before, "rate_after": crossing.after}
    return {
        "direction": crossing.direction.value,
        "place": crossing.place.value,
        **{name: number(Figure.of(value), exact) for name, value in ends.items()},
        **{
            name: {
                "least": number(Figure.of(rate.least), exact),
                "most": number(Figure.of(rate.most), exact),
            }
            for name, rate in rates.items()
        },
        "value_reaches": crossing.value_reaches,
        "limited_by_rounding": crossing.rounding,
    }
