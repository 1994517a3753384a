"""Bets on recovered and bonus tokens whose random numbers are not at hand."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.model.role import Role
from specdist.model.trace import Conventions, TraceStep
from specdist.model.trace_evidence import TraceFact
from specdist.verify.replay.bets.bettors import SHAPES, Bets, near_recipes, shape_chances
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.modelled_step import StepFacts, final_place
from specdist.verify.replay.recorded_rows import RecordedRows

if TYPE_CHECKING:
    from specdist.exact.law_bounds import LawBounds

_TARGET, _DRAFT, _BEFORE = "the target", "the draft", "the target row before"


class FinalTokens(Statement):
    """Recovered tokens are drawn from the residual, bonus tokens from the target. Who bets on the
    ones does not bet on the others: a fault has one place."""

    def __init__(self, declared: EngineModel, conventions: Conventions) -> None:
        self._declared = declared
        self._conventions = conventions
        self._target = declared.sources[Role.REFERENCE].recipe
        self._draft = declared.sources[Role.DRAFTED_FROM].recipe
        self._recipes = dict(near_recipes(self._target, self._draft))
        super().__init__(
            "finals",
            "residual-mismatch",
            "recovered tokens are drawn from the residual, bonus tokens from the target",
            (
                *(f"recovered, {name}" for name in (*SHAPES, _TARGET, _DRAFT, _BEFORE)),
                *(f"bonus, {name}" for name in (*SHAPES, _BEFORE, *self._recipes)),
            ),
        )

    def add(self, rows: RecordedRows) -> None:
        """The final token of one step, unless its random numbers are recorded."""
        step = rows.step
        replayed = self._conventions.inverse_cdf and step.u_final is not None
        place = final_place(step)
        if replayed or step.final_noise is not None or place is None or step.final_token is None:
            return
        index, recovered = place
        facts = StepFacts(rows, self._conventions)
        bounds, blurred = facts.final_bounds(self._declared, index, recovered)
        if bounds is not None and not blurred:
            self._add(rows, index, step.final_token, bounds, recovered)

    def _add(
        self, rows: RecordedRows, index: int, token: int, bounds: LawBounds, recovered: bool
    ) -> None:
        known = bounds.as_probabilities()
        chance = known.probability(token)
        if not chance.most:
            if self.proof is None:
                self.ident = "recovered-outside-residual" if recovered else "bonus-mismatch"
            self.disprove(_impossible(rows.step, index, token, recovered))
            return
        weights = (known.low + known.high) / 2
        bets = Bets(known.ids[weights > 0.0], token)
        bets.chances |= shape_chances(known.ids, weights, token)
        if recovered:
            bets.on(_TARGET, rows.law("target", index, self._target))
            bets.on(_DRAFT, rows.law("draft", index, self._draft))
        else:
            for name, recipe in self._recipes.items():
                bets.on(name, rows.law("target", index, recipe))
        if index:
            bets.on(_BEFORE, rows.law("target", index - 1, self._target))
        word = "recovered" if recovered else "bonus"
        chances = {f"{word}, {name}": value for name, value in bets.chances.items()}
        self.bet(chance.most, Fraction(0), chances)


def _impossible(step: TraceStep, index: int, token: int, recovered: bool) -> TraceFact:
    law = "residual" if recovered else "target"
    text = f"final token {token} has probability 0 in the {law}"
    return TraceFact(step.id, step.source, "final", index, False, text)
