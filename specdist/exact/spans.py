"""Intervals of many numbers at once, one a token: the operations that `output_bounds` is made of.

Two implementations: fractions here, exact; float64 arrays in `float_spans`, rounded outwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self

from specdist.exact.interval import Interval
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import SMALL, Totals, share, totals_of

_ZERO, _ONE = Fraction(0), Fraction(1)


class Spans(Protocol):
    """One interval a token."""

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def times(self, other: Self) -> Self:
        """Products, whatever the signs."""

    def smaller(self, other: Self) -> Self:
        """``min(x, y)``."""

    def positive(self) -> Self:
        """``max(x, 0)``."""

    def capped_quotient(self, other: Self) -> Self:
        """``min(1, x / y)`` of numbers that are not negative; from 0 to 1 where y may be 0."""

    def scaled(self, factor: Interval) -> Self:
        """``f x`` for every f of an interval."""

    def at_most(self, limit: Fraction) -> Self:
        """``min(x, limit)``."""

    def up_to(self, limit: Fraction) -> Self:
        """From the least x to ``limit``, for numbers that are not above it."""

    def meet(self, other: Self) -> Self:
        """What both allow, for numbers that both hold."""

    def complement(self) -> Self:
        """``1 - x``."""

    def total(self) -> Interval:
        """The interval of the sum."""

    def losses(self) -> Interval:
        """The interval of ``sum max(-x, 0)``."""

    def at(self, place: int) -> Interval: ...


@dataclass(frozen=True, eq=False)
class RationalSpans:
    """See `Spans`."""

    least: tuple[Fraction, ...]
    most: tuple[Fraction, ...]

    @classmethod
    def of(cls, law: PartialLaw, whole: Totals, tokens: Sequence[int]) -> RationalSpans:
        """The probabilities of some tokens. ``whole``: the law as a whole."""
        places = {int(token): i for i, token in enumerate(law.ids)}
        spans = [share(law, whole, places.get(token)) for token in tokens]
        return cls(tuple(span.least for span in spans), tuple(span.most for span in spans))

    def __add__(self, other: RationalSpans) -> RationalSpans:
        return RationalSpans(
            _zipped(lambda x, y: x + y, self.least, other.least),
            _zipped(lambda x, y: x + y, self.most, other.most),
        )

    def __sub__(self, other: RationalSpans) -> RationalSpans:
        return RationalSpans(
            _zipped(lambda x, y: x - y, self.least, other.most),
            _zipped(lambda x, y: x - y, self.most, other.least),
        )

    def times(self, other: RationalSpans) -> RationalSpans:
        rows = zip(self.least, self.most, other.least, other.most, strict=True)
        products = [(a * c, a * d, b * c, b * d) for a, b, c, d in rows]
        return RationalSpans(tuple(map(min, products)), tuple(map(max, products)))

    def smaller(self, other: RationalSpans) -> RationalSpans:
        return RationalSpans(
            _zipped(min, self.least, other.least), _zipped(min, self.most, other.most)
        )

    def positive(self) -> RationalSpans:
        return RationalSpans(
            tuple(max(x, _ZERO) for x in self.least), tuple(max(x, _ZERO) for x in self.most)
        )

    def capped_quotient(self, other: RationalSpans) -> RationalSpans:
        rows = zip(self.least, self.most, other.least, other.most, strict=True)
        spans = [
            (min(a / d, _ONE), min(b / c, _ONE)) if c else (_ZERO, _ONE) for a, b, c, d in rows
        ]
        return RationalSpans(tuple(x for x, _ in spans), tuple(y for _, y in spans))

    def scaled(self, factor: Interval) -> RationalSpans:
        count = len(self.least)
        return self.times(RationalSpans((factor.least,) * count, (factor.most,) * count))

    def at_most(self, limit: Fraction) -> RationalSpans:
        return RationalSpans(
            tuple(min(x, limit) for x in self.least), tuple(min(x, limit) for x in self.most)
        )

    def up_to(self, limit: Fraction) -> RationalSpans:
        return RationalSpans(self.at_most(limit).least, (limit,) * len(self.least))

    def meet(self, other: RationalSpans) -> RationalSpans:
        return RationalSpans(
            _zipped(max, self.least, other.least), _zipped(min, self.most, other.most)
        )

    def complement(self) -> RationalSpans:
        return RationalSpans(tuple(1 - x for x in self.most), tuple(1 - x for x in self.least))

    def total(self) -> Interval:
        return Interval(sum(self.least, _ZERO), sum(self.most, _ZERO))

    def losses(self) -> Interval:
        least = sum((max(-x, _ZERO) for x in self.most), _ZERO)
        return Interval(least, sum((max(-x, _ZERO) for x in self.least), _ZERO))

    def at(self, place: int) -> Interval:
        return Interval(self.least[place], self.most[place])


def spans_of(laws: Sequence[PartialLaw], tokens: Sequence[int]) -> tuple[list[int], list[Spans]]:
    """The probabilities of all tokens that some law lists and of the given ones, under each law;
    and the places of the given ones. Laws that are one object share the result."""
    single = {id(law): law for law in laws}
    wholes = {key: totals_of(law) for key, law in single.items()}
    found: dict[int, Spans] = {}
    if sum(len(law.ids) for law in single.values()) > SMALL:
        from specdist.exact.float_spans import FloatSpans, union

        ids, places = union(list(single.values()), tokens)
        for key, law in single.items():
            found[key] = FloatSpans.of(law, wholes[key], ids)
    else:
        every = sorted({*tokens, *(int(token) for law in single.values() for token in law.ids)})
        places = [every.index(token) for token in tokens]
        for key, law in single.items():
            found[key] = RationalSpans.of(law, wholes[key], every)
    return places, [found[id(law)] for law in laws]


def _zipped(
    operation: Callable[[Fraction, Fraction], Fraction],
    first: Sequence[Fraction],
    second: Sequence[Fraction],
) -> tuple[Fraction, ...]:
    return tuple(map(operation, first, second))
