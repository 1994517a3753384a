"""The working row of a capture that lists only part of the vocabulary, or with rounding.

Every operation maps the set of complete rows that agree with what is known to a set that holds all
their images: listed values change as those of complete rows do, the sum of all weights is carried
along as an interval, and a filter keeps what stays for sure, drops what goes for sure, and says of
the rest that it may be impossible. Once every possible token is listed and sharp, the row is an
ordinary one (`finished`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NoReturn

from specdist.errors import RowError, SettingsError
from specdist.exact.law import Law
from specdist.exact.partial_law import PartialLaw
from specdist.model.row import Kind, NumberFormat, PointMass, Row
from specdist.processing import partial_changes, partial_cuts, partial_vocabulary
from specdist.processing.boxes import Group
from specdist.processing.listing import Listing
from specdist.processing.logit import ONE, ZERO
from specdist.processing.rational_row import RationalRow
from specdist.processing.row_sum import Sums
from specdist.processing.spans import Span, product, smaller
from specdist.processing.unlisted import Unlisted
from specdist.processing.working_row import Remade, Remark, Shares, WorkingRow


@dataclass(frozen=True, eq=False)
class PartialRow:
    """See the module and `WorkingRow`. ``total_of`` gives the sum of all weights, of listed and
    ``unlisted`` tokens, in units of the anchor (see `listing`); it is asked only where a step needs
    it. ``lift`` is how far the logits of a probability row may all be off, by the rounding of its
    sum. ``made`` is the ordinary row that a step led to."""

    captured: Row
    listing: Listing
    unlisted: Unlisted
    total_of: Callable[[], Span]
    remarks: tuple[Remark, ...] = ()
    lift: Fraction = ZERO
    made: WorkingRow | None = None

    @property
    def size(self) -> int:
        return self.unlisted.size

    @property
    def place(self) -> str:
        return self.captured.place

    @cached_property
    def total(self) -> Span:
        return self.total_of()

    def with_total(self, total: Span) -> PartialRow:
        """The same row with another sum."""
        return replace(self, total_of=lambda: total)

    @cached_property
    def rest(self) -> Span:
        """The weight of all unlisted tokens."""
        if self.unlisted.count == 0:
            return Span.of(ZERO)
        sharp, low, high = self.listing.sums()
        listed = sharp.plus(Span(low, high))
        return self.total.less(listed).within(ZERO, product(self.unlisted.count, self.listing.cap))

    @property
    def cap(self) -> Fraction | None:
        """The most that one unlisted token can have."""
        return smaller(self.listing.cap, self.rest.most)

    @property
    def group(self) -> Group | None:
        """The unlisted tokens for a `Field`, which fills in their key and their cap."""
        if self.unlisted.count == 0:
            return None
        return Group(self.unlisted.count, None, None, self.unlisted.first, self.unlisted.last)

    @property
    def finished(self) -> WorkingRow | None:
        """The ordinary row, where every possible token is listed and sharp, or only one is left."""
        if self.made is not None:
            return self.made
        if self.unlisted.count != 0:
            return None
        if self.listing.count() == 1 and not self.listing.sharp:
            return self.point(min(self.listing.tokens()))
        return self.ordinary() if self.listing.sharp else None

    def ordinary(self) -> WorkingRow:
        """The listed tokens alone, which have to be sharp, as a complete row."""
        row: RationalRow = self.listing.whole(self.size)  # type: ignore[assignment]
        return replace(row, place=self.place, remarks=self._settled())

    def _settled(self) -> tuple[Remark, ...]:
        """The remarks without those about what was open and is not any more."""
        gone = ("truncated-row", "undecided-precision")
        return tuple(remark for remark in self.remarks if remark.ident not in gone)

    def point(self, token: int) -> WorkingRow:
        """All mass on one token."""
        point = replace(self.captured, values=PointMass(token, self.size), kind=Kind.PROBABILITIES)
        if isinstance(self.listing.carrier, RationalRow):
            return replace(RationalRow.of(point, Sums.STRICT), remarks=self._settled())
        from specdist.processing.float_row import FloatRow

        return replace(FloatRow.of(point, Sums.STRICT), remarks=self._settled())

    def add(self, changes: Mapping[int, Fraction]) -> PartialRow:
        return partial_changes.add(self, changes)

    def penalise(self, tokens: Collection[int], factor: Fraction) -> PartialRow:
        return partial_changes.penalise(self, tokens, factor)

    def keep(self, tokens: Collection[int]) -> PartialRow:
        return partial_changes.keep(self, tokens)

    def drop(self, tokens: Collection[int]) -> PartialRow:
        return partial_changes.drop(self, tokens)

    def divide(self, temperature: Fraction) -> PartialRow:
        return partial_changes.divide(self, temperature)

    def argmax(self, ties: str = "lowest-id") -> PartialRow:
        return partial_cuts.argmax(self, ties)

    def keep_top(self, count: int, ties: str) -> PartialRow:
        return partial_cuts.keep_top(self, count, ties)

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> PartialRow:
        return partial_cuts.keep_prefix(self, mass, boundary, ties)

    def keep_relative(self, fraction: Fraction, strict: bool) -> PartialRow:
        return partial_cuts.keep_relative(self, fraction, strict)

    def keep_within_deviations(self, count: Fraction) -> PartialRow:
        self._refuse("top-n-sigma", "the deviation of all logits")

    def keep_typical(self, mass: Fraction, boundary: str) -> PartialRow:
        self._refuse("typical-p", "the entropy of the row")

    def keep_at_least(self, probability: Fraction) -> PartialRow:
        return partial_cuts.keep_at_least(self, probability)

    def keep_eta(self, epsilon: Fraction) -> PartialRow:
        self._refuse("eta", "the entropy of the row")

    def mapped(self, targets: Sequence[int], size: int) -> PartialRow:
        return partial_vocabulary.mapped(self, targets, size)

    def resized(self, size: int) -> PartialRow:
        return partial_vocabulary.resized(self, size)

    def rounded_logits(self, numbers: NumberFormat) -> PartialRow:
        self._refuse("cast", "every logit")

    def rounded_probabilities(self, numbers: NumberFormat) -> PartialRow:
        self._refuse("cast", "every probability")

    def drawn_on_grid(self, points: int) -> PartialRow:
        self._refuse("inverse-cdf", "the cumulative probability of every token")

    def raced_on_grid(self, points: int) -> PartialRow:
        self._refuse("gumbel-race", "the probability of every token")

    def shares(self) -> Shares:
        self._refuse("retokenise", "the probability of every token")

    def remade(self, made: Remade) -> PartialRow:
        self._refuse("retokenise", "the probability of every token")

    def mixed(self, other: PartialRow, tokens: Collection[int]) -> PartialRow:
        self._refuse("lazy-allowed", "the probability of every token")

    def law(self) -> Law:
        raise TypeError("a row that is known in part has no law of its own")

    def partial_law(self) -> PartialLaw:
        """The weights that are known, with the scale that makes the sum of all of them one."""
        total = self.sum_within_boxes()
        if not total.least:  # every listed token may be impossible
            ids = tuple(sorted(self.listing.tokens()))
            nothing, everything = (ZERO,) * len(ids), (ONE,) * len(ids)
            return PartialLaw(ids, nothing, everything, self.unlisted.count, ONE)
        scale = Span.of(ONE).over(total)
        return self.listing.law(self.unlisted.count, scale, self._impossible())

    def _impossible(self) -> list[int]:
        """Tokens that are known to be impossible, where the others are not all listed."""
        known = self.unlisted
        if known.count == 0 or known.inside is not None:
            return []
        if len(known.outside) + len(known.apart) == self.listing.count():
            return []
        gone = {int(x) for x in known.outside} | known.apart
        return sorted(gone - self.listing.tokens())

    def sum_within_boxes(self) -> Span:
        """The sum of all weights, as far as the single tokens bound it too."""
        sharp, low, high = self.listing.sums()
        most = None if sharp.most is None else sharp.most + high
        unlisted = product(self.unlisted.count, self.listing.cap)
        if most is not None:
            most = None if unlisted is None else most + unlisted
        found = self.total.within(sharp.least + low, most)
        if found.most is not None and found.least > found.most:
            self.refuse_sum()
        return found

    def refuse_sum(self) -> NoReturn:
        """Raises RowError: no complete row agrees with what is known."""
        raise RowError(
            "the listed tokens, the cap and the number of the others allow no sum of 1",
            place=self.place,
            expected="values that belong to one distribution",
            advice="find out what wrote the row: a cap below an unlisted token, or values of "
            "another stage than the sum",
        )

    def _refuse(self, step: str, needed: str) -> NoReturn:
        count = self.unlisted.count
        listed = self.listing.count()
        if count == 0:
            why = "the values are known up to their rounding only"
        else:
            why = f"{listed} tokens are listed, and {count if count else 'an unknown number'} not"
        raise SettingsError(
            f"{step} needs {needed}: {why}",
            place=self.place,
            expected="a row that lists every possible token exactly at this step",
            advice="capture all tokens (as many logprobs as the vocabulary has), or capture the "
            "row after this step (--stage processed) with every token that is left",
        )
