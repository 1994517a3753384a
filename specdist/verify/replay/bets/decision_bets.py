"""Bets on accept decisions whose uniform is not at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from specdist.model.role import Role
from specdist.model.trace import Conventions
from specdist.model.trace_evidence import TraceFact
from specdist.verify.replay.bets.bettors import near_recipes
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.decisions import Decisions
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.modelled_step import decisions_of
from specdist.verify.replay.recorded_rows import RecordedRows
from specdist.verify.replay.recovered_bounds import engine_slack

_ZERO, _ONE = Fraction(0), Fraction(1)
_SHAPES = ("always", "never", "more often", "less often", "target alone", "upside down")


class AcceptDecisions(Statement):
    """A drafted token is accepted with probability min(1, target / tested)."""

    def __init__(self, declared: EngineModel, conventions: Conventions) -> None:
        self._declared = declared
        self._conventions = conventions
        self._models = {model.name: model for model in _other_tests(declared)}
        super().__init__(
            "decisions",
            "rule-mismatch",
            "drafted tokens are accepted with probability min(1, target / tested)",
            (*_SHAPES, *self._models),
        )

    def add(self, rows: RecordedRows) -> None:
        """The decisions of one step that have no uniform. Rows and drafted tokens are fixed before
        the first test."""
        step = rows.step
        uniforms = step.u_accept or ()
        slack = engine_slack(self._conventions, rows.rows("target")[0].size)
        decisions = Decisions(rows, self._conventions, slack)
        for index, accepted in enumerate(decisions_of(step)):
            if index >= len(uniforms):
                self._add(rows, decisions, index, accepted, 3 * slack)

    def _add(
        self,
        rows: RecordedRows,
        decisions: Decisions,
        index: int,
        accepted: bool,
        slack: Fraction,
    ) -> None:
        target, tested, error, blurred = decisions.pair(self._declared, index)
        if blurred or not tested:
            return
        chance = min(target / tested, _ONE)
        if decisions.holds(self._declared, index, accepted) is False:
            step, word = rows.step, "accepted" if accepted else "rejected"
            text = f"token {step.drafted[index]} {word} with probability 0"
            self.ident = "wrong-decision"
            self.disprove(TraceFact(step.id, step.source, "decision", index, False, text))
            return
        if chance in (0, 1):
            return  # nothing is open, so that there is nothing to bet on
        null = chance if accepted else 1 - chance
        off = (error + slack) * chance
        if null <= 4 * off:
            return
        others = dict(zip(_SHAPES, _shapes(chance, target, tested), strict=True))
        for name, model in self._models.items():
            above, below, _, _ = decisions.pair(model, index)
            others[name] = min(above / below, _ONE) if below else _ONE
        chances = {name: a if accepted else 1 - a for name, a in others.items()}
        self.bet(null, off / null, chances)


def _shapes(chance: Fraction, target: Fraction, tested: Fraction) -> tuple[Fraction, ...]:
    """Acceptance probabilities of the bettors of `_SHAPES`."""
    turned = min(tested / target, _ONE) if target else _ONE
    return _ONE, _ZERO, (1 + chance) / 2, chance / 2, min(target, _ONE), turned


def _other_tests(declared: EngineModel) -> Iterator[EngineModel]:
    """The declared engine with another recipe, or the row before or after, on one side of the
    test."""
    sides = {Role.ACCEPT_TARGET: Role.ACCEPT_DRAFT, Role.ACCEPT_DRAFT: Role.ACCEPT_TARGET}
    for role, other in sides.items():
        if role in declared.one_hot:
            continue
        source = declared.sources[role]
        for text, recipe in near_recipes(source.recipe, declared.sources[other].recipe):
            changed = replace(declared, name=f"{source.side} {text}")
            yield changed.with_sources({role: replace(source, recipe=recipe)})
        for shift, where in ((-1, "before"), (1, "after")):
            changed = replace(declared, name=f"{source.side} row {where}")
            yield changed.with_sources({role: replace(source, shift=shift)})
