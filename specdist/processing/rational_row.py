"""The exact row: logits in closed form, so that nothing is rounded before weights are needed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from specdist.errors import RowError
from specdist.exact.law import RationalLaw
from specdist.model.row import Row
from specdist.processing import entropy_cuts
from specdist.processing.cut_remarks import cut_remarks, prefix_remarks, share_slack, tie_remark
from specdist.processing.deviation_cut import within_deviations
from specdist.processing.exact_signs import decided, exact_signs, prefix_length
from specdist.processing.logit import ZERO, Logit, ranked, sign
from specdist.processing.logit_weights import Weights, weights
from specdist.processing.row_checks import checked_logits
from specdist.processing.working_row import Remark


@dataclass(frozen=True, slots=True)
class RationalRow:
    """A `WorkingRow` over fractions. ``logits`` holds the kept tokens in rising order of id.

    Order and ties are decided on the exact logits; masses on the weights, which are exact for
    probabilities at temperature 1/n, and otherwise float64 with a bound (`logit_weights.weights`).
    """

    size: int
    logits: Mapping[int, Logit]
    place: str = ""
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def of(cls, row: Row, normalise: bool) -> RationalRow:
        """The row before any step. Raises `RowError` where it holds no distribution."""
        logits, remarks = checked_logits(row, normalise)
        return cls(row.size, logits, row.place, remarks)

    def add(self, changes: Mapping[int, Fraction]) -> RationalRow:
        changed = {x: self.logits[x].plus(change) for x, change in changes.items() if x in self}
        return replace(self, logits={**self.logits, **changed})

    def penalise(self, tokens: Collection[int], factor: Fraction) -> RationalRow:
        changed = {
            x: self.logits[x].times(1 / factor if sign(self.logits[x]) > 0 else factor)
            for x in set(tokens)
            if x in self
        }
        return replace(self, logits={**self.logits, **changed})

    def keep(self, tokens: Collection[int]) -> RationalRow:
        return self._kept(set(tokens))

    def drop(self, tokens: Collection[int]) -> RationalRow:
        return self._kept(self.logits.keys() - set(tokens))

    def divide(self, temperature: Fraction) -> RationalRow:
        factor = 1 / temperature
        return replace(self, logits={x: logit.times(factor) for x, logit in self.logits.items()})

    def argmax(self) -> RationalRow:
        tied = ranked(self.logits)[0]
        return self._kept({tied[0]}, tie_remark(tied))

    def keep_top(self, count: int, ties: str) -> RationalRow:
        kept: list[int] = []
        for group in ranked(self.logits):
            if len(kept) >= count:
                break
            kept += group
        return self._kept(set(kept if ties == "all" else kept[:count]))

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> RationalRow:
        weighed = self._weights()
        total = weighed.total
        wanted = mass * total
        units = list(_units(ranked(self.logits), ties))
        kept: list[int] = []
        before = reached = ZERO
        length = 0
        for unit in units:
            kept += unit
            length += 1
            before, reached = reached, reached + sum(weighed.by_token[x] for x in unit)
            if reached > wanted or (reached == wanted and boundary == "reach"):
                break
        share = reached / total if len(kept) < len(self.logits) else None
        remarks = prefix_remarks("top-p", mass, before / total, share, weighed.bound)
        signs = exact_signs(self.logits, remarks)
        if signs is not None:
            length = prefix_length(signs, units, length, mass, boundary == "reach")
            kept = [token for unit in units[:length] for token in unit]
            remarks = decided(remarks)
        return self._kept(set(kept), remarks)

    def keep_relative(self, fraction: Fraction, strict: bool) -> RationalRow:
        weighed = self._weights()
        best = set(ranked(self.logits)[0])
        largest = max(weighed.by_token.values())
        ratios = {x: weight / largest for x, weight in weighed.by_token.items() if x not in best}
        kept = best if fraction < 1 or (fraction == 1 and not strict) else set()
        if fraction < 1:  # a ratio of 1 is told by the order, whatever is rounded
            kept = kept | {x for x, ratio in ratios.items() if ratio > fraction}
            kept |= set() if strict else {x for x, ratio in ratios.items() if ratio == fraction}
        remarks: tuple[Remark, ...] = ()
        if ratios:
            nearest = min(ratios.values(), key=lambda ratio: abs(ratio - fraction))
            slack = share_slack(nearest, weighed.bound) if fraction < 1 else ZERO
            remarks = cut_remarks("min-p", "relative probability", fraction, nearest, slack)
        signs = exact_signs(self.logits, remarks)
        if signs is not None:
            top, least = min(best), 1 if strict else 0
            kept = best | {x for x in ratios if signs.ratio_minus(x, top, fraction) >= least}
            remarks = decided(remarks)
        return self._kept(kept, remarks)

    def keep_within_deviations(self, count: Fraction) -> RationalRow:
        kept, remarks = within_deviations(self.logits, count)
        return self._kept(kept, remarks)

    def keep_typical(self, mass: Fraction, boundary: str) -> RationalRow:
        masses, bound = self._masses()
        return self._kept(*entropy_cuts.typical(masses, bound, mass, boundary))

    def keep_at_least(self, probability: Fraction) -> RationalRow:
        masses, bound = self._masses()
        best = set(ranked(self.logits)[0])
        others = {x: share for x, share in masses.items() if x not in best}
        remarks: tuple[Remark, ...] = ()
        if others:
            nearest = min(others.values(), key=lambda share: abs(share - probability))
            slack = share_slack(nearest, bound)
            remarks = cut_remarks("epsilon", "probability", probability, nearest, slack)
        kept = {x for x in others if others[x] >= probability}
        signs = exact_signs(self.logits, remarks)
        if signs is not None:
            kept = {x for x in others if signs.mass_minus([x], probability) >= 0}
            remarks = decided(remarks)
        return self._kept(kept | best, remarks)

    def keep_eta(self, epsilon: Fraction) -> RationalRow:
        masses, bound = self._masses()
        return self._kept(*entropy_cuts.eta(masses, bound, epsilon))

    def law(self) -> RationalLaw:
        masses, bound = self._masses()
        values = tuple(masses.get(x, ZERO) for x in range(self.size))
        exponents = None
        if all(not logit.power for logit in self.logits.values()):
            kept = self.logits
            exponents = tuple(kept[x].shift if x in kept else None for x in range(self.size))
        return RationalLaw(values, bound, exponents, self._origin() if bound else None)

    def _origin(self) -> Hashable:
        """The closed form of the kept logits, relative to the largest: equal for equal laws."""
        largest = max(logit.shift for logit in self.logits.values())
        return tuple((x, logit.plus(-largest)) for x, logit in self.logits.items())

    def __contains__(self, token: int) -> bool:
        return token in self.logits

    def _weights(self) -> Weights:
        return weights(self.logits)

    def _masses(self) -> tuple[dict[int, Fraction], Fraction]:
        """The probability of every kept token, and the relative bound of their weights."""
        weighed = self._weights()
        total = weighed.total
        return {x: weight / total for x, weight in weighed.by_token.items()}, weighed.bound

    def _kept(self, tokens: Collection[int], remarks: tuple[Remark, ...] = ()) -> RationalRow:
        logits = {x: logit for x, logit in self.logits.items() if x in tokens}
        if not logits:
            raise RowError(
                "no token is left",
                place=self.place,
                expected="a step that keeps at least one token",
                advice="check the ids and limits of the step; nothing is repaired silently",
            )
        return replace(self, logits=logits, remarks=self.remarks + remarks)


def _units(groups: list[list[int]], ties: str) -> list[list[int]]:
    """What a prefix grows by: whole groups of tied tokens, or tokens in the order of the rule."""
    if ties == "all":
        return groups
    return [[x] for group in groups for x in (group if ties == "lowest-id" else reversed(group))]
