"""Bets on drafted ids whose uniform is not at hand, and on which of them are dropped."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.role import Role
from specdist.model.trace import Conventions, TraceStep
from specdist.model.trace_evidence import TraceFact
from specdist.verify.replay.bets.bettors import SHAPES, Bets, Urns, near_recipes, shape_chances
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.recorded_rows import RecordedRows, proposed
from specdist.verify.replay.recovered_bounds import engine_slack

_TARGET, _BEFORE = "the target", "the row before"


class DraftTokens(Statement):
    """Drafted ids are drawn from the declared draft law."""

    def __init__(self, declared: EngineModel, conventions: Conventions) -> None:
        self._source = declared.sources[Role.DRAFTED_FROM]
        self._target = declared.sources[Role.REFERENCE]
        self._replayed = conventions.inverse_cdf
        self._conventions = conventions
        self._recipes = dict(near_recipes(self._source.recipe, self._target.recipe))
        self._urns = Urns()
        super().__init__(
            "drafts",
            "drafted-mismatch",
            "drafted ids are drawn from the declared draft law",
            (*SHAPES, _TARGET, _BEFORE, Urns.NAME, *self._recipes),
        )

    def add(self, rows: RecordedRows) -> None:
        """The proposed ids of one step, in order. A row reads the tokens before it only, so that
        the rows of a position are fixed before its token is drawn."""
        step = rows.step
        uniforms = step.u_draft or ()
        for index, token in enumerate(proposed(step)):
            at_hand = index < len(rows.rows("draft"))
            if at_hand and not (self._replayed and index < len(uniforms)):
                self._add(rows, index, token)

    def _add(self, rows: RecordedRows, index: int, token: int) -> None:
        step = rows.step
        law = rows.law("draft", index, self._source.recipe)
        if law.blurred:
            return
        null = law.probability(token)
        if not null:
            text = f"proposed token {token} has draft probability 0"
            self.disprove(TraceFact(step.id, step.source, "draft", index, False, text))
            return
        ids, shares = law.floats()
        possible = ids[shares > 0.0]
        bets = Bets(possible, token)
        bets.chances |= shape_chances(ids, shares, token)
        if index < len(step.target_rows):
            bets.on(_TARGET, rows.law("target", index, self._target.recipe))
        if index:
            bets.on(_BEFORE, rows.law("draft", index - 1, self._source.recipe))
        for name, recipe in self._recipes.items():
            bets.on(name, rows.law("draft", index, recipe))
        context = context_key(step, index)
        if context is not None:
            bets.chances[Urns.NAME] = self._urns.chance(context, token, null)
        slack = engine_slack(self._conventions, law.law.size) + law.relative_error
        self.bet(null, slack, bets.chances)


def context_key(step: TraceStep, index: int) -> int | None:
    """A hash of the tokens before a position; None where they are not recorded."""
    if step.context is None:
        return None
    return hash((step.context, proposed(step)[:index]))


_THRESHOLDS = {
    f"below {text}": Fraction(text)
    for text in ("0.01", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7",
                 "0.75", "0.8", "0.9")
}  # fmt: skip
"""Thresholds as they are usually set."""


class DroppedTokens(Statement):
    """Whether a proposed token is dropped does not depend on the token, given the tokens before it.

    Given that, a dropped token follows the draft law as a kept one does. The bettor with threshold
    T says that a dropped one is among the tokens S of probability below T, and a kept one is not:
    its capital is divided by the draft law's mass of S, or of the others, or is lost.
    """

    def __init__(self, declared: EngineModel) -> None:
        self._declared = declared
        super().__init__(
            "dropped",
            "anticipating-length-rule",
            "which proposed tokens are dropped does not depend on the tokens themselves",
            _THRESHOLDS,
        )

    def add(self, rows: RecordedRows) -> None:
        """The proposed ids of one step, up to the first that was dropped."""
        step = rows.step
        if step.proposed is None:
            return
        submitted = len(step.drafted)
        for index, token in enumerate(step.proposed[: submitted + 1]):
            if index < len(rows.rows("draft")):
                self._add(rows, index, token, index < submitted)

    def _add(self, rows: RecordedRows, index: int, token: int, kept: bool) -> None:
        source = self._declared.confidence
        drafted = self._declared.sources[Role.DRAFTED_FROM]
        law = rows.law("draft", index, drafted.recipe)
        looked_at = rows.law("draft", index, source.recipe)
        if law.blurred or looked_at.blurred or not law.probability(token):
            return
        ids, shares = law.floats()
        measured = shares if looked_at is law else looked_at.dense()[ids]
        entry = int(ids.searchsorted(token))
        chances = {}
        for name, threshold in _THRESHOLDS.items():
            above = measured >= float(threshold)
            among = above if kept else ~above
            mass = float(shares[among].sum()) * (1.0 + 2.0**-30)
            if mass > 0.0:
                chances[name] = int(among[entry]) / Fraction(mass)
        self.bet(Fraction(1), Fraction(0), chances)
