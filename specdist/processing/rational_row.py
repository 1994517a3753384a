"""The exact row: logits in closed form, so that nothing is rounded before weights are needed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from specdist.errors import RowError
from specdist.exact.law import RationalLaw
from specdist.model.row import NumberFormat, Row
from specdist.processing import entropy_cuts, rational_cuts, rational_remakes
from specdist.processing.cut_remarks import blurred_remark, lost_mass_remark, tie_remark
from specdist.processing.deviation_cut import within_deviations
from specdist.processing.logit import ONE, ZERO, Logit, exact_sum, of_probability, ranked, sign
from specdist.processing.logit_weights import Weights, weights
from specdist.processing.row_checks import checked_logits
from specdist.processing.row_sum import Sums
from specdist.processing.working_row import Remade, Remark, Shares


@dataclass(frozen=True, slots=True)
class RationalRow:
    """A `WorkingRow` over fractions. ``logits`` holds the kept tokens in rising order of id.

    Order and ties are decided on the exact logits; masses on the weights, which are exact for
    probabilities at temperature 1/n, and otherwise float64 with a bound (`logit_weights.weights`).
    A row that a step made anew from rounded masses carries their bound, ``weight_error``, and in
    ``origin`` what it stands for. ``mass`` is the sum that the row brings to a test.
    """

    size: int
    logits: Mapping[int, Logit]
    place: str = ""
    remarks: tuple[Remark, ...] = ()
    weight_error: Fraction = ZERO
    origin: Hashable = None
    mass: Fraction = ONE

    @classmethod
    def of(cls, row: Row, sums: Sums) -> RationalRow:
        """The row before any step. Raises `RowError` where it holds no distribution."""
        logits, remarks, mass = checked_logits(row, sums)
        return cls(row.size, logits, row.place, remarks, mass=mass)

    def add(self, changes: Mapping[int, Fraction]) -> RationalRow:
        changed = {x: self.logits[x].plus(change) for x, change in changes.items() if x in self}
        return replace(self, logits={**self.logits, **changed}, mass=ONE)

    def penalise(self, tokens: Collection[int], factor: Fraction) -> RationalRow:
        changed = {
            x: self.logits[x].times(1 / factor if sign(self.logits[x]) > 0 else factor)
            for x in set(tokens)
            if x in self
        }
        return self._rescaled({**self.logits, **changed}, max(factor, 1 / factor))

    def divide(self, temperature: Fraction) -> RationalRow:
        factor = 1 / temperature
        return self._rescaled({x: z.times(factor) for x, z in self.logits.items()}, factor)

    def _rescaled(self, logits: Mapping[int, Logit], factor: Fraction) -> RationalRow:
        error = rational_remakes.power_error(self.weight_error, factor)
        return replace(self, logits=logits, weight_error=error, mass=ONE)

    def keep(self, tokens: Collection[int]) -> RationalRow:
        return self.kept(set(tokens))

    def drop(self, tokens: Collection[int]) -> RationalRow:
        return self.kept(self.logits.keys() - set(tokens))

    def argmax(self, ties: str = "lowest-id") -> RationalRow:
        tied = ranked(self.logits)[0]
        blurred = self.order_remarks("temperature 0", tied[0])
        if ties == "all":
            even = Remade(dict.fromkeys(tied, ONE), self.size, ZERO, "argmax", remarks=blurred)
            return self.remade(even)
        point = self.kept({tied[0]}, blurred + tie_remark(tied))
        return replace(point, weight_error=ZERO)

    def keep_top(self, count: int, ties: str) -> RationalRow:
        return rational_cuts.keep_top(self, count, ties)

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> RationalRow:
        return rational_cuts.keep_prefix(self, mass, boundary, ties)

    def keep_relative(self, fraction: Fraction, strict: bool) -> RationalRow:
        return rational_cuts.keep_relative(self, fraction, strict)

    def keep_within_deviations(self, count: Fraction) -> RationalRow:
        kept, remarks = within_deviations(self.logits, count)
        if self.weight_error:
            remarks += (blurred_remark("top-n-sigma", "the deviation"),)
        return self.kept(kept, remarks)

    def keep_typical(self, mass: Fraction, boundary: str) -> RationalRow:
        masses, bound = self.shares()
        return self.kept(*entropy_cuts.typical(masses, bound, mass, boundary))

    def keep_at_least(self, probability: Fraction) -> RationalRow:
        return rational_cuts.keep_at_least(self, probability)

    def keep_eta(self, epsilon: Fraction) -> RationalRow:
        masses, bound = self.shares()
        return self.kept(*entropy_cuts.eta(masses, bound, epsilon))

    def mapped(self, targets: Sequence[int], size: int) -> RationalRow:
        lost = rational_remakes.mass_outside(self, lambda x: targets[x] >= 0)
        inside = self.kept(
            {x for x in self.logits if targets[x] >= 0},
            lost_mass_remark("vocab-map", lost, "on tokens without a target id"),
        )
        logits = {targets[x]: z for x, z in inside.logits.items()}
        origin = (inside.origin, tuple(targets)) if inside.origin is not None else None
        return replace(inside, size=size, logits=dict(sorted(logits.items())), origin=origin)

    def resized(self, size: int) -> RationalRow:
        lost = rational_remakes.mass_outside(self, lambda x: x < size)
        inside = self.kept(
            {x for x in self.logits if x < size},
            lost_mass_remark("vocab-size", lost, f"on ids from {size} on"),
        )
        return replace(inside, size=size)

    def rounded_logits(self, numbers: NumberFormat) -> RationalRow:
        return rational_remakes.rounded_logits(self, numbers)

    def rounded_probabilities(self, numbers: NumberFormat) -> RationalRow:
        return rational_remakes.rounded_probabilities(self, numbers)

    def drawn_on_grid(self, points: int) -> RationalRow:
        return rational_remakes.drawn_on_grid(self, points)

    def raced_on_grid(self, points: int) -> RationalRow:
        return rational_remakes.raced_on_grid(self, points)

    def mixed(self, other: RationalRow, tokens: Collection[int]) -> RationalRow:
        return rational_remakes.mixed(self, other, tokens)

    def remade(self, made: Remade) -> RationalRow:
        total = exact_sum(made.by_token.values())
        logits = {x: of_probability(made.by_token[x] / total) for x in sorted(made.by_token)}
        return replace(
            self,
            size=made.size,
            logits=logits,
            remarks=self.remarks + made.remarks,
            weight_error=made.bound,
            origin=(self.identity(), made.step) if made.bound else None,
            mass=made.mass,
        )

    def law(self) -> RationalLaw:
        masses, bound = self.shares()
        values = tuple(masses.get(x, ZERO) for x in range(self.size))
        exponents = None
        if all(not logit.power for logit in self.logits.values()):
            kept = self.logits
            exponents = tuple(kept[x].shift if x in kept else None for x in range(self.size))
        origin = self.identity() if bound else None
        return RationalLaw(values, bound, exponents, origin, self.mass)

    def identity(self) -> Hashable:
        """The closed form of the kept logits, relative to the largest, and what they stand for:
        equal for equal laws."""
        largest = max(logit.shift for logit in self.logits.values())
        form = tuple((x, logit.plus(-largest)) for x, logit in self.logits.items())
        return form if self.origin is None else (self.origin, form)

    def __contains__(self, token: int) -> bool:
        return token in self.logits

    def weights(self) -> Weights:
        """The weight of every kept token, and their bound."""
        weighed = weights(self.logits)
        if not self.weight_error:
            return weighed
        return weighed._replace(bound=(1 + weighed.bound) * (1 + self.weight_error) - 1)

    def shares(self) -> Shares:
        weighed = self.weights()
        total = weighed.total
        return Shares({x: w / total for x, w in weighed.by_token.items()}, weighed.bound)

    def order_remarks(self, step: str, last: int) -> tuple[Remark, ...]:
        """A remark where rounded masses leave the order around a token open."""
        if not self.weight_error:
            return ()
        by_token = self.weights().by_token
        reach = 4 * self.weight_error * by_token[last]
        if sum(abs(weight - by_token[last]) <= reach for weight in by_token.values()) < 2:
            return ()
        return (blurred_remark(step, "the order of two tokens at the cut"),)

    def kept(self, tokens: Collection[int], remarks: tuple[Remark, ...] = ()) -> RationalRow:
        """The row with only these tokens; RowError if there are none."""
        logits = {x: logit for x, logit in self.logits.items() if x in tokens}
        if not logits:
            raise RowError(
                "no token is left",
                place=self.place,
                expected="a step that keeps at least one token",
                advice="check the ids and limits of the step; nothing is repaired silently",
            )
        mass = self.mass if len(logits) == len(self.logits) else ONE
        return replace(self, logits=logits, remarks=self.remarks + remarks, mass=mass)
