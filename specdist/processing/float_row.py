"""The working row of dumped numbers: float64 scores of the kept tokens.

Scores are logits or, for a probability row that no step has turned into logits yet, weights. A
float16 or bfloat16 row stays as codes with a table of scores until a step drops a token. Order
comes from the scores, which are exact; mass comes from the weights (`float_weights`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specdist.errors import RowError
from specdist.exact.law import FloatLaw
from specdist.model.row import Row
from specdist.processing import float_cuts
from specdist.processing.cut_remarks import tie_remark
from specdist.processing.float_deviation import keep_within_deviations
from specdist.processing.float_law import law_of
from specdist.processing.float_levels import Levels
from specdist.processing.float_reading import Coded, read_row
from specdist.processing.float_weights import UNIT, FloatArray, exact_powers, softmax_weights
from specdist.processing.working_row import Remark

_ONE = Fraction(1)
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class FloatRow:
    """See the module and `WorkingRow`. ``ids``: kept tokens, rising; None while all are kept.

    ``order``, where logarithms were taken, holds the weights before, whose order is exact.
    ``score_error`` bounds the absolute error of the scores as logits, ``weight_error`` the
    relative error of scores that are weights. ``origin`` says, exactly, which numbers went through
    which formula: rows of equal origin stand for the same real-valued weights.
    """

    size: int
    place: str
    ids: NDArray[np.intp] | None
    dense: NDArray[np.floating[Any]] | None
    coded: Coded | None
    logits: bool
    temperature: Fraction
    score_error: Fraction
    weight_error: Fraction
    origin: Hashable
    remarks: tuple[Remark, ...]
    order: FloatArray | None = None

    @classmethod
    def of(cls, row: Row, normalise: bool) -> FloatRow:
        """The row as captured. Raises RowError for a row that holds no distribution."""
        reading = read_row(row, normalise)
        return cls(
            size=row.size,
            place=row.place,
            ids=reading.ids,
            dense=reading.scores,
            coded=reading.coded,
            logits=reading.logits,
            temperature=_ONE,
            score_error=_ZERO,
            weight_error=_ZERO,
            origin=reading.origin,
            remarks=reading.remarks,
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
        row = self.as_logits()
        return row._changed(
            changes,
            lambda score, token: score + changes[token] * row.temperature,
            _ONE,
            ("add", tuple(sorted((x, c * row.temperature) for x, c in changes.items()))),
        )

    def penalise(self, tokens: Collection[int], factor: Fraction) -> FloatRow:
        return self.as_logits()._changed(
            set(tokens),
            lambda score, token: score / factor if score > 0 else score * factor,
            max(factor, 1 / factor),
            ("penalise", tuple(sorted(set(tokens))), factor),
        )

    def _changed(
        self,
        tokens: Collection[int],
        change: Callable[[Fraction, int], Fraction],
        stretch: Fraction,
        step: Hashable,
    ) -> FloatRow:
        """The row with some logits changed and rounded; ``stretch`` scales the errors so far."""
        scores = self.scores().copy()
        error = self.score_error
        for token in tokens:
            entry = self._entry(token)
            if entry is not None:
                wanted = change(Fraction(float(scores[entry])), token)
                scores[entry] = float(wanted)
                rounded = abs(Fraction(float(scores[entry])) - wanted)
                error = max(error, self.score_error * stretch + rounded)
        return self._rescored(scores, error, step)

    def divide(self, temperature: Fraction) -> FloatRow:
        if not self.logits and temperature.numerator == 1:
            powers = exact_powers(self.scores(), temperature.denominator)
            if powers is not None:
                return self._rescored(powers, _ZERO, ("divide", temperature))
        row = self.as_logits()
        total = row.temperature * temperature
        return replace(row, temperature=total)

    def as_logits(self) -> FloatRow:
        """Scores as natural logarithms; `numpy.log` is trusted to 4 units in the last place."""
        if self.logits:
            return self
        scores = np.log(self.scores())
        error = 8 * UNIT * Fraction(float(np.abs(scores).max())) + self.weight_error + UNIT**10
        return replace(
            self,
            dense=scores,
            coded=None,
            logits=True,
            score_error=error,
            weight_error=_ZERO,
            order=self.scores(),
        )

    def _rescored(self, scores: FloatArray, error: Fraction, step: Hashable) -> FloatRow:
        origin = (self.origin, step)
        return replace(self, dense=scores, coded=None, score_error=error, origin=origin, order=None)

    def keep(self, tokens: Collection[int]) -> FloatRow:
        wanted = np.isin(self.tokens(), np.array(sorted(tokens), dtype=np.intp))
        return self.chosen(np.flatnonzero(wanted), "allows none of the tokens that are left")

    def drop(self, tokens: Collection[int]) -> FloatRow:
        unwanted = np.isin(self.tokens(), np.array(sorted(tokens), dtype=np.intp))
        return self.chosen(np.flatnonzero(~unwanted), "drops every token that is left")

    def argmax(self) -> FloatRow:
        scores = self.ranks()
        tied = self.tokens()[scores == scores.max()]
        blurred = float_cuts.order_remarks(self, scores, float(scores.max()), "temperature 0")
        return replace(
            self,
            ids=tied[:1],
            dense=np.array([1.0]),
            coded=None,
            logits=False,
            temperature=_ONE,
            score_error=_ZERO,
            weight_error=_ZERO,
            origin=("point", int(tied[0])),
            order=None,
            remarks=self.remarks + blurred + tie_remark([int(token) for token in tied]),
        )

    def keep_top(self, count: int, ties: str) -> FloatRow:
        return float_cuts.keep_top(self, count, ties)

    def keep_prefix(self, mass: Fraction, boundary: str, ties: str) -> FloatRow:
        return float_cuts.keep_prefix(self, mass, boundary, ties)

    def keep_relative(self, fraction: Fraction, strict: bool) -> FloatRow:
        return float_cuts.keep_relative(self, fraction, strict)

    def keep_within_deviations(self, count: Fraction) -> FloatRow:
        return keep_within_deviations(self, count)

    def keep_typical(self, mass: Fraction, boundary: str) -> FloatRow:
        return float_cuts.keep_typical(self, mass, boundary)

    def keep_at_least(self, probability: Fraction) -> FloatRow:
        return float_cuts.keep_at_least(self, probability)

    def keep_eta(self, epsilon: Fraction) -> FloatRow:
        return float_cuts.keep_eta(self, epsilon)

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
        )

    def law(self) -> FloatLaw:
        return law_of(self)

    def _entry(self, token: int) -> int | None:
        """Index of a token among the kept ones."""
        if self.ids is None:
            return token
        entry = int(np.searchsorted(self.ids, token))
        return entry if entry < len(self.ids) and self.ids[entry] == token else None
