"""Listed tokens as fractions: the carrier is an exact row (`Listing`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

from specdist.exact.partial_law import PartialLaw
from specdist.processing.box_powers import Range, power_sum
from specdist.processing.boxes import Box, Field, Group, tokens_of
from specdist.processing.listing import ANCHOR, BASE, CAP, Sums, SumsOf, upper
from specdist.processing.logit import ONE, ZERO, Logit, exact_sum, largest, of_probability, ranked
from specdist.processing.rational_row import RationalRow
from specdist.processing.spans import Span, interval_of, logarithm_above, most_of
from specdist.processing.working_row import WorkingRow

_TINY = Fraction(1, 2**1021)
"""Rounded weights below this may be off by any factor."""


@dataclass(frozen=True)
class RationalListing:
    """See `Listing`."""

    carrier: RationalRow

    @cached_property
    def _weights(self) -> dict[int, Span]:
        """Every entry's weight, rounded outwards, in units of the anchor's."""
        by_token, bound = self.carrier.weights()
        anchor = _rounded(by_token[ANCHOR], bound)
        if not bound:
            return {x: Span.of(w / anchor.least) for x, w in by_token.items()}
        return {x: _rounded(w, bound).over(anchor).short() for x, w in by_token.items()}

    @cached_property
    def _ids(self) -> tuple[int, ...]:
        entries = self.carrier.logits
        return tuple(sorted({x % BASE for x in entries if x < CAP}))

    @property
    def sharp(self) -> bool:
        return not any(BASE <= x < CAP for x in self.carrier.logits)

    @property
    def lost(self) -> bool:
        by_token, bound = self.carrier.weights()
        return not _rounded(by_token[ANCHOR], bound).least

    def anchored(self) -> RationalListing:
        return self._with({ANCHOR: largest(self.carrier.logits)})

    @property
    def cap(self) -> Fraction | None:
        return self._weights[CAP].most if CAP in self.carrier.logits else None

    def count(self) -> int:
        return len(self._ids)

    def tokens(self) -> set[int]:
        return set(self._ids)

    def holds(self, token: int) -> bool:
        return token in self.carrier.logits or upper(token) in self.carrier.logits

    def is_sharp(self, token: int) -> bool:
        return upper(token) not in self.carrier.logits

    def box(self, token: int) -> tuple[Span, Span]:
        low = self._weights.get(token, Span.of(ZERO))
        return low, self._weights.get(upper(token), low)

    def sums(self) -> Sums:
        sharp = [self._weights[x] for x in self._ids if self.is_sharp(x)]
        boxes = [self.box(x) for x in self._ids if not self.is_sharp(x)]
        return Sums(
            Span(exact_sum(w.least for w in sharp), exact_sum(most_of(w) for w in sharp)),
            exact_sum(low.least for low, _ in boxes),
            exact_sum(most_of(high) for _, high in boxes),
        )

    def changed(self, carrier: WorkingRow) -> RationalListing:
        if not isinstance(carrier, RationalRow):
            raise TypeError("a rational carrier is needed")
        return RationalListing(carrier)

    def powers(
        self,
        after: RationalListing,
        group: tuple[int | None, Fraction] | None,
        total: Span,
        exponent: Fraction,
    ) -> Span:
        boxes = [self.box(x) for x in self._ids if not self.is_sharp(x)]
        ranges = [Range(low.least, most_of(high)) for low, high in boxes]
        if group is not None:
            ranges.append(Range(ZERO, group[1], group[0]))
        left = total.less(self.sums().sharp)
        return after.sums().sharp.plus(power_sum(ranges, left, exponent))

    def with_upper(self, tokens: Iterable[int]) -> RationalListing:
        cap = self.carrier.logits[CAP]
        return self._with({upper(x): cap for x in tokens})

    def doubled(self, tokens: Iterable[int]) -> RationalListing:
        return self._with({upper(x): self.carrier.logits[x] for x in tokens})

    def with_cap(self, most: Fraction) -> RationalListing:
        anchor = self.carrier.logits[ANCHOR]
        return self._with({CAP: _scaled(anchor, most)})

    def _with(self, entries: Mapping[int, Logit]) -> RationalListing:
        logits = {**self.carrier.logits, **entries}
        return RationalListing(replace(self.carrier, logits=dict(sorted(logits.items()))))

    def only(self, kept: Collection[int], undecided: Collection[int], cap: bool) -> RationalListing:
        logits: dict[int, Logit] = {}
        for x, logit in self.carrier.logits.items():
            if x >= CAP:
                if x == ANCHOR or cap:
                    logits[x] = logit
            elif x % BASE in kept:
                logits[x] = logit
            elif x % BASE in undecided:  # an upper entry comes after the lower one
                logits[upper(x % BASE)] = logit
        return RationalListing(replace(self.carrier, logits=dict(sorted(logits.items()))))

    def without(self, tokens: Collection[int]) -> RationalListing:
        gone = set(tokens)
        return self.only([x for x in self._ids if x not in gone], (), cap=True)

    def renamed(self, targets: Mapping[int, int]) -> RationalListing:
        logits = {
            x if x >= CAP else targets[x % BASE] + x - x % BASE: logit
            for x, logit in self.carrier.logits.items()
        }
        return RationalListing(replace(self.carrier, logits=dict(sorted(logits.items()))))

    def floor(self, count: int) -> Fraction:
        return ZERO  # short rows have no need to leave tokens out

    def floor_of_mass(self, mass: Fraction) -> Fraction:
        return ZERO

    def field(self, group: Group | None, sums: SumsOf, floor: Fraction) -> Field:
        groups = ranked(self.carrier.logits)
        keys = {x: float(-place) for place, tied in enumerate(groups) for x in tied}
        ends = {x: self.box(x) for x in self._ids}
        numbers = [n for low, high in ends.values() for n in (low.least, most_of(high))]
        unit = lcm(*{n.denominator for n in numbers}) if numbers else 1
        boxes = [
            Box(
                x,
                keys.get(x),
                keys.get(upper(x), keys.get(x, 0.0)),
                int(low.least * unit),
                int(most_of(high) * unit),
            )
            for x, (low, high) in ends.items()
        ]
        if group is not None:
            group = group._replace(key=keys.get(CAP), cap=self.cap)
        tokens = tokens_of(len(boxes), group)
        return Field(boxes, group, sums, Fraction(1, unit), tokens)

    @property
    def field_unit(self) -> Span:
        return Span.of(ONE)

    def even(self, tokens: Collection[int], cap: bool) -> RationalListing:
        entries = [*map(upper, sorted(tokens)), *([CAP] if cap else []), ANCHOR]
        logits = dict.fromkeys(entries, of_probability(ONE))
        return RationalListing(replace(self.carrier, logits=logits))

    def whole(self, size: int) -> RationalRow:
        logits = {x: self.carrier.logits[x] for x in self._ids}
        return replace(self.carrier, size=size, logits=logits)

    def law(self, others: int | None, scale: Span, impossible: Sequence[int]) -> PartialLaw:
        by_token, bound = self.carrier.weights()
        spans = {x: _rounded(w, bound) for x, w in by_token.items()}
        own = scale.over(spans[ANCHOR]).short()
        none = Span.of(ZERO)
        ids = tuple(sorted({*self._ids, *impossible}))
        return PartialLaw(
            ids,
            tuple(spans.get(x, none).least for x in ids),
            tuple(most_of(spans.get(upper(x), spans.get(x, none))) for x in ids),
            others,
            None if others == 0 or CAP not in spans else spans[CAP].most,
            interval_of(own),
        )


def _rounded(weight: Fraction, bound: Fraction) -> Span:
    if not bound:
        return Span.of(weight)
    if weight < _TINY:
        return Span(ZERO, 2 * _TINY)
    return Span(weight * (1 - bound), weight * (1 + bound))


def _scaled(anchor: Logit, factor: Fraction) -> Logit:
    """The logit of ``factor`` times the anchor's weight: exact where the anchor is a probability,
    else rounded upwards, so that it stays in one form with logits."""
    if anchor.power == ONE and not anchor.shift:
        return of_probability(anchor.base * factor)
    if not anchor.power:
        return anchor.plus(logarithm_above(factor))
    raise ValueError("a cap is set before any step")
