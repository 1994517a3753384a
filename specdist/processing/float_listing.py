"""Listed tokens as float64 arrays: the carrier is a `FloatRow` (`Listing`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import exact_sum
from specdist.exact.partial_law import PartialLaw
from specdist.processing.box_powers import Range, power_sum
from specdist.processing.boxes import Box, Field, Group, tokens_of
from specdist.processing.float_box_powers import Ranges, array_power_sum
from specdist.processing.float_ends import UNIT, Ends, ends_of, scaled
from specdist.processing.float_remakes import of_weights
from specdist.processing.float_row import FloatRow
from specdist.processing.listing import ANCHOR, BASE, CAP, Sums, SumsOf, upper
from specdist.processing.logit import ZERO
from specdist.processing.spans import Span, interval_of, most_of
from specdist.processing.working_row import WorkingRow

_FEW = 16
"""Up to this many ranges are arranged exactly."""


@dataclass(frozen=True, eq=False)
class FloatListing:
    """See `Listing`."""

    carrier: FloatRow

    @cached_property
    def _ends(self) -> Ends:
        return ends_of(self.carrier)

    @property
    def sharp(self) -> bool:
        return not self._ends.wide_count

    @property
    def lost(self) -> bool:
        return not self._ends.anchor.least

    def anchored(self) -> FloatListing:
        row = self.carrier
        places = np.arange(len(row.tokens()))
        places[row.entry(ANCHOR)] = int(row.ranks().argmax())
        return self._taken(row.tokens(), places)

    @property
    def cap(self) -> Fraction | None:
        cap = self._ends.cap
        return None if cap is None else cap.over(self._ends.anchor).most

    def count(self) -> int:
        return len(self._ends.ids)

    def tokens(self) -> set[int]:
        return set(self._ends.ids.tolist())

    def holds(self, token: int) -> bool:
        return self.carrier.entry(token) is not None or not self.is_sharp(token)

    def is_sharp(self, token: int) -> bool:
        return self.carrier.entry(upper(token)) is None

    def box(self, token: int) -> tuple[Span, Span]:
        low = self._span(token) or Span.of(ZERO)
        return low, self._span(upper(token)) or low

    def _span(self, entry: int) -> Span | None:
        place = self.carrier.entry(entry)
        if place is None:
            return None
        return self._ends.entry(place).over(self._ends.anchor).short()

    @cached_property
    def _sums(self) -> Sums:
        ends = self._ends
        (sharp_low, low), (sharp_high, high) = ends.parts(ends.low), ends.parts(ends.high)
        sharp = Span(exact_sum(sharp_low), exact_sum(sharp_high))
        wide = Span(exact_sum(low), exact_sum(high)).over(ends.anchor).short()
        return Sums(sharp.over(ends.anchor).short(), wide.least, most_of(wide))

    def sums(self) -> Sums:
        return self._sums

    def changed(self, carrier: WorkingRow) -> FloatListing:
        if not isinstance(carrier, FloatRow):
            raise TypeError("a float carrier is needed")
        return FloatListing(carrier)

    def powers(
        self,
        after: FloatListing,
        group: tuple[int | None, Fraction] | None,
        total: Span,
        exponent: Fraction,
    ) -> Span:
        left = total.less(self.sums().sharp)
        shared = None if group is None else Range(ZERO, group[1], group[0])
        if self._ends.wide_count <= _FEW:
            boxes = [self.box(x) for x in self._ends.ids[self._ends.wide].tolist()]
            ranges = [Range(low.least, most_of(high)) for low, high in boxes]
            ranges += [] if shared is None else [shared]
            moved = power_sum(ranges, left, exponent)
        else:
            moved = array_power_sum(self._ranges(after), shared, left, exponent)
        return after.sums().sharp.plus(moved)

    def _ranges(self, after: FloatListing) -> Ranges:
        """The wide tokens in units of the anchor's weight, before and after."""
        old, new = self._ends, after._ends
        units = float(old.anchor.least), float(new.anchor.least)
        return Ranges(
            old.parts(old.low)[1] / units[0],
            old.parts(old.high)[1] / units[0],
            new.parts(new.low)[1] / units[1],
            new.parts(new.high)[1] / units[1],
            2 * (old.bound + new.bound),
        )

    def with_upper(self, tokens: Iterable[int]) -> FloatListing:
        place = self.carrier.entry(CAP)
        new = sorted(upper(x) for x in tokens)
        return self._with(new, [place] * len(new))

    def doubled(self, tokens: Iterable[int]) -> FloatListing:
        pairs = sorted((upper(x), self.carrier.entry(x)) for x in tokens)
        return self._with([entry for entry, _ in pairs], [place for _, place in pairs])

    def _with(self, entries: list[int], places: list[int | None]) -> FloatListing:
        """More entries, with the scores of entries that are there."""
        own = self.carrier.tokens()
        ids = np.concatenate((own, np.array(entries, dtype=np.intp)))
        taken = np.concatenate((np.arange(len(own)), np.array(places, dtype=np.intp)))
        order = np.argsort(ids, kind="stable")
        return self._taken(ids[order], taken[order])

    def _taken(self, ids: NDArray[np.intp], places: NDArray[np.intp]) -> FloatListing:
        """These entries with the scores at these places."""
        row = self.carrier
        order = None if row.order is None else row.order[places]
        return FloatListing(replace(row, ids=ids, dense=row.scores()[places], order=order))

    def with_cap(self, most: Fraction) -> FloatListing:
        place = self.carrier.entry(CAP)
        anchor = self.carrier.entry(ANCHOR)
        made = self if place is not None else self._with([CAP], [anchor])
        row = made.carrier
        scores = row.scores().copy()
        scores[row.entry(CAP)] = made._ends.score_above(most)
        return FloatListing(replace(row, dense=scores))

    def only(self, kept: Collection[int], undecided: Collection[int], cap: bool) -> FloatListing:
        sure, unsure = (np.array(sorted(ids), dtype=np.intp) for ids in (kept, undecided))
        ends = np.array([CAP, ANCHOR] if cap else [ANCHOR], dtype=np.intp)
        places, _ = self._find(np.concatenate((sure, sure + BASE, ends)))
        ids = self.carrier.tokens()[places]
        upper_places, found = self._find(unsure + BASE)
        lower_places, _ = self._find(unsure[~found])
        renamed = np.concatenate((unsure[found], unsure[~found])) + BASE
        places = np.concatenate((places, upper_places, lower_places))
        ids = np.concatenate((ids, renamed))
        order = np.argsort(ids, kind="stable")
        return self._taken(ids[order], places[order])

    def _find(self, entries: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The places of those entries that there are, and which these are."""
        own = self.carrier.tokens()
        places = np.searchsorted(own, entries)
        there = places < len(own)
        there[there] = own[places[there]] == entries[there]
        return places[there], there

    def without(self, tokens: Collection[int]) -> FloatListing:
        own = self.carrier.tokens()
        gone = np.array(sorted(tokens), dtype=np.intp)
        leaves = np.zeros(len(own), dtype=np.bool_)
        leaves[self._find(np.concatenate((gone, gone + BASE)))[0]] = True
        places = np.flatnonzero(~leaves)
        return self._taken(own[places], places)

    def renamed(self, targets: Mapping[int, int]) -> FloatListing:
        own = self.carrier.tokens()
        ids = np.array(
            [x if x >= CAP else targets[x % BASE] + x - x % BASE for x in own.tolist()],
            dtype=np.intp,
        )
        order = np.argsort(ids, kind="stable")
        return self._taken(ids[order], order)

    def floor(self, count: int) -> Fraction:
        low = self._ends.low
        if count > len(low):
            return ZERO
        place = len(low) - count
        return Fraction(float(np.partition(low, place)[place])) / most_of(self._ends.anchor)

    def floor_of_mass(self, mass: Fraction) -> Fraction:
        found = self._ends.floor_of_mass(mass * most_of(self._ends.anchor))
        return Fraction(found) / most_of(self._ends.anchor)

    def field(self, group: Group | None, sums: SumsOf, floor: Fraction) -> Field:
        ends, anchor = self._ends, self._ends.anchor
        reach = ends.high >= float(floor * anchor.least) * (1 - 2.0**-50)
        chosen = np.flatnonzero(reach)
        boxes = [
            Box(token, key_low, key_high, scaled(low), scaled(high))
            for token, key_low, key_high, low, high in ends.rows(chosen)
        ]
        if group is not None:
            group = group._replace(
                key=ends.cap_key, cap=None if ends.cap is None else ends.cap.most
            )
        left_out = exact_sum(ends.low[~reach]) if len(chosen) < len(reach) else ZERO
        tokens = tokens_of(self.count(), group)
        return Field(boxes, group, lambda: _times(sums(), anchor), UNIT, tokens, left_out)

    @property
    def field_unit(self) -> Span:
        return self._ends.anchor

    def even(self, tokens: Collection[int], cap: bool) -> FloatListing:
        entries = [*map(upper, sorted(tokens)), *([CAP] if cap else []), ANCHOR]
        ids = np.array(entries, dtype=np.intp)
        row = of_weights(
            self.carrier, ids, np.ones(len(ids)), ZERO, Fraction(1), ("even", ids.tobytes())
        )
        return FloatListing(row)

    def whole(self, size: int) -> FloatRow:
        own = self.carrier.tokens()
        row = self._taken(own[own < BASE], np.flatnonzero(own < BASE)).carrier
        return replace(row, size=size, ids=None if len(row.tokens()) == size else row.ids)

    def law(self, others: int | None, scale: Span, impossible: Sequence[int]) -> PartialLaw:
        ends = self._ends
        own = scale.over(ends.anchor).short()
        cap = None if others == 0 or ends.cap is None else ends.cap.most
        return PartialLaw(*ends.with_zeros(impossible), others, cap, interval_of(own))


def _times(sums: tuple[Span, Span], unit: Span) -> tuple[Span, Span]:
    return sums[0].times(unit), sums[1].times(unit)
