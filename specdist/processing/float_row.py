"""The working row of dumped numbers: float64 scores of the kept tokens.

Scores are logits or, for a probability row that no step has turned into logits yet, weights. A
float16 or bfloat16 row stays as codes with a table of scores until a step drops a token. Order
comes from the scores, which are exact; mass comes from the weights (`float_weights`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError
from specdist.exact.law import FloatLaw
from specdist.model.row import NumberFormat, Row
from specdist.processing import float_changes, float_cuts, float_grids, float_remakes
from specdist.processing.float_casts import rounded_logits, rounded_probabilities
from specdist.processing.float_deviation import keep_within_deviations
from specdist.processing.float_entropy import keep_eta, keep_typical
from specdist.processing.float_law import law_of
from specdist.processing.float_levels import Levels
from specdist.processing.float_reading import Coded, read_row
from specdist.processing.float_weights import FloatArray, softmax_weights
from specdist.processing.row_sum import Sums
from specdist.processing.working_row import Remade, Remark, Shares

_ONE = Fraction(1)
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class FloatRow:
    """See the module and `WorkingRow`. ``ids``: kept tokens, rising; None while all are kept.

    ``score_error`` bounds the absolute error of the scores as logits, ``weight_error`` the
    relative error of scores that are weights. A weight w is the probability ``w / unit``.
    ``logarithms`` marks logits that are logarithms of weights, and ``order``, where nothing has
    changed them since, holds those weights, whose order is exact. ``origin`` says, exactly, which
    numbers went through which formula: rows of equal origin stand for the same real-valued
    weights. ``mass`` is the sum that the row brings to a test.
    """

    size: int
    place: str
    ids: NDArray[np.intp] | None
    dense: NDArray[np.floating[Any]] | None
    coded: Coded | None
    logits: bool
    origin: Hashable
    remarks: tuple[Remark, ...] = ()
    temperature: Fraction = _ONE
    score_error: Fraction = _ZERO
    weight_error: Fraction = _ZERO
    order: FloatArray | None = None
    logarithms: bool = False
    unit: Fraction = _ONE
    mass: Fraction = _ONE

    @classmethod
    def of(cls, row: Row, sums: Sums) -> FloatRow:
        """The row as captured. Raises RowError for a row that holds no distribution."""
        reading = read_row(row, sums)
        return cls(
            size=row.size,
            place=row.place,
            ids=reading.ids,
            dense=reading.scores,
            coded=reading.coded,
            logits=reading.logits,
            origin=reading.origin,
            remarks=reading.remarks,
            unit=reading.total,
            mass=reading.mass,
        )

    def scores(self) -> FloatArray:
        """Score of each kept token, in the order of the ids."""
        if self.dense is not None:
            return self.dense.astype(np.float64, copy=False)
        if self.coded is None:
            raise ValueError("a float row needs dense scores, or codes with their table")
        return self.coded.table.take(self.coded.codes)

    def ranks(self) -> FloatArray:
        """What orders the kept tokens: the scores, or what they were before a rounded logarithm."""
        return self.scores() if self.order is None else self.order

    def tokens(self) -> NDArray[np.intp]:
        """Ids of the kept tokens, rising."""
        return np.arange(self.size) if self.ids is None else self.ids

    def weighed(self, scores: NDArray[np.floating[Any]]) -> tuple[FloatArray, Fraction]:
        """Weights of some scores of this row (the largest among them), and their bound."""
        if not self.logits:
            return scores.astype(np.float64, copy=False), self.weight_error
        return softmax_weights(scores, float(scores.max()), self.temperature, self.score_error)

    def levels(self) -> tuple[Levels, Fraction]:
        """The levels of a 16-bit row, and the bound of their weights."""
        if self.coded is None:
            raise ValueError("only a 16-bit row has its levels at hand")
        scores = self.coded.table[self.coded.present]
        order = np.argsort(-scores)
        weights, bound = self.weighed(scores[order])
        return Levels(scores[order], weights, self.coded.counts[order]), bound

    def add(self, changes: Mapping[int, Fraction]) -> FloatRow:
        return float_changes.add(self, changes)

    def penalise(self, tokens: Collection[int], factor: Fraction) -> FloatRow:
        return float_changes.penalise(self, tokens, factor)

    def divide(self, temperature: Fraction) -> FloatRow:
        return float_changes.divide(self, temperature)

    def as_logits(self) -> FloatRow:
        return float_changes.as_logits(self)

    def keep(self, tokens: Collection[int]) -> FloatRow:
        wanted = np.isin(self.tokens(), np.array(sorted(tokens), dtype=np.intp))
        return self.chosen(np.flatnonzero(wanted), "allows none of the tokens that are left")

    def drop(self, tokens: Collection[int]) -> FloatRow:
        unwanted = np.isin(self.tokens(), np.array(sorted(tokens), dtype=np.intp))
        return self.chosen(np.flatnonzero(~unwanted), "drops every token that is left")

    def argmax(self, ties: str = "lowest-id") -> FloatRow:
        return float_cuts.argmax(self, ties)

    def keep_top(self, count: int, ties: str) -> FloatRow:
        return float_cuts.keep_top(self, count, ties)

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> FloatRow:
        return float_cuts.keep_prefix(self, mass, boundary, ties)

    def keep_relative(self, fraction: Fraction, strict: bool) -> FloatRow:
        return float_cuts.keep_relative(self, fraction, strict)

    def keep_within_deviations(self, count: Fraction) -> FloatRow:
        return keep_within_deviations(self, count)

    def keep_typical(self, mass: Fraction, boundary: str) -> FloatRow:
        return keep_typical(self, mass, boundary)

    def keep_at_least(self, probability: Fraction) -> FloatRow:
        return float_cuts.keep_at_least(self, probability)

    def keep_eta(self, epsilon: Fraction) -> FloatRow:
        return keep_eta(self, epsilon)

    def mapped(self, targets: Sequence[int], size: int) -> FloatRow:
        return float_remakes.mapped(self, targets, size)

    def resized(self, size: int) -> FloatRow:
        return float_remakes.resized(self, size)

    def rounded_logits(self, numbers: NumberFormat) -> FloatRow:
        return rounded_logits(self, numbers)

    def rounded_probabilities(self, numbers: NumberFormat) -> FloatRow:
        return rounded_probabilities(self, numbers)

    def drawn_on_grid(self, points: int) -> FloatRow:
        return float_grids.drawn_on_grid(self, points)

    def raced_on_grid(self, points: int) -> FloatRow:
        return float_grids.raced_on_grid(self, points)

    def shares(self) -> Shares:
        return float_remakes.shares(self)

    def remade(self, made: Remade) -> FloatRow:
        return float_remakes.remade(self, made)

    def mixed(self, other: FloatRow, tokens: Collection[int]) -> FloatRow:
        return float_remakes.mixed(self, other, tokens)

    def chosen(
        self, entries: NDArray[np.intp], empty: str, remarks: tuple[Remark, ...] = ()
    ) -> FloatRow:
        """The row with only these entries (rising); RowError saying ``empty`` if there are none."""
        if not len(entries):
            raise RowError(f"a step {empty}: the row would be empty", place=self.place)
        kept = replace(self, remarks=self.remarks + remarks)
        if len(entries) == (self.size if self.ids is None else len(self.ids)):
            return kept
        return replace(
            kept,
            ids=self.tokens()[entries],
            dense=self.scores()[entries],
            coded=None,
            order=None if self.order is None else self.order[entries],
            mass=_ONE,
        )

    def law(self) -> FloatLaw:
        return law_of(self)

    def identity(self) -> Hashable:
        """What the row stands for, temperature and kept tokens included."""
        return (self.origin, self.temperature, None if self.ids is None else self.ids.tobytes())

    def entry(self, token: int) -> int | None:
        """Index of a token among the kept ones."""
        if self.ids is None:
            return token
        entry = int(np.searchsorted(self.ids, token))
        return entry if entry < len(self.ids) and self.ids[entry] == token else None
