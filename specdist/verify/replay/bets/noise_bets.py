"""Bets that the noise of a final race has drawn the rejected token before."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.role import Role
from specdist.model.trace import Conventions
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.modelled_step import StepFacts
from specdist.verify.replay.recorded_rows import RecordedRows
from specdist.verify.replay.recovered_bounds import engine_slack

_SAME = "the same noise"


class FreshNoise(Statement):
    """The noise of a recovered token is drawn afresh.

    A race of fresh noise over the draft law is won by the rejected token x with probability q(x).
    Who bets that it is the noise of the draft says that x wins for certain.
    """

    def __init__(self, declared: EngineModel, conventions: Conventions) -> None:
        text = "the noise of a recovered token is not that of its draft"
        super().__init__("noise", "reused-randomness", text, (_SAME,))
        self._declared, self._conventions = declared, conventions

    def add(self, rows: RecordedRows) -> None:
        """One step with a rejection and the noise of its final token."""
        step, index = rows.step, rows.step.n_accepted
        wins = StepFacts(rows, self._conventions).drafted_by_final_noise(self._declared)
        if wins is None:
            return
        source = self._declared.sources[Role.DRAFTED_FROM]
        law = rows.law(source.side, index, source.recipe)
        chance = law.probability(step.drafted[index])
        if 0 < chance < 1 and not law.blurred:
            slack = engine_slack(self._conventions, law.law.size) + law.relative_error
            null = chance if wins else Fraction(1)
            self.bet(null, slack, {_SAME: Fraction(int(wins))})
