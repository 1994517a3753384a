"""The recorded contexts under other settings, without sampling noise.

Acceptance at a position is a figure of its two rows; no uniform and no drafted token enters it.
Lengths need the rows along a path, and only those of the recorded draft tokens are at hand: they
are expected lengths given these tokens, over the accept uniforms alone. Under block verification
that is the expected length of its coins along the same path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdist.model.capture import Step
from specdist.model.figure import Figure
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Counterfactual, CounterfactualPosition
from specdist.verify.plan import Plans
from specdist.verify.position import Checked
from specdist.verify.position_check import PositionCheck
from specdist.verify.replay.recorded_rows import has_whole_rows, recorded_step
from specdist.verify.step import verify_step
from specdist.verify.summary import Mean

CONDITION = (
    "rows along the recorded path only: every position is a recorded context, and lengths are "
    "those expected for the recorded draft tokens, which other settings would draft otherwise"
)

_ZERO, _ONE = Fraction(0), Fraction(1)


def counterfactual(
    trace: Trace, settings: CheckSettings, other: CheckSettings, label: str
) -> Counterfactual:
    """Acceptance and lengths along the recorded contexts under ``settings`` and under ``other``.

    Every proposed token with both rows is a position, whether or not it was reached. Raises
    SpecdistError for rows and settings that do not fit.
    """
    sides = _Side(settings), _Side(other)
    rates, lengths = (Mean(), Mean()), (Mean(), Mean())
    positions: list[CounterfactualPosition] = []
    steps = without_rows = impossible = 0
    for recorded in trace.steps():
        if not has_whole_rows(recorded):
            without_rows += 1
            continue
        steps += 1
        step = recorded_step(recorded, trace.options)
        mine, theirs = (side.walk(step) for side in sides)
        positions += _positions(step, mine, theirs)
        for mean, walk in zip(rates, (mine, theirs), strict=True):
            for rate in walk.rates:
                mean.add(rate)
        if mine.length is None or theirs.length is None:
            impossible += 1
            continue
        lengths[0].add(mine.length)
        lengths[1].add(theirs.length)
    return Counterfactual(
        label=label,
        positions=tuple(positions),
        steps=steps,
        without_rows=without_rows,
        impossible=impossible,
        declared_rate=rates[0].figure(),
        other_rate=rates[1].figure(),
        declared_length=lengths[0].figure(),
        other_length=lengths[1].figure(),
        condition=CONDITION,
    )


@dataclass(frozen=True, slots=True)
class _Walk:
    """One step under one of the settings; ``length`` None: a token is never drafted there."""

    rates: Sequence[Figure]
    chances: Sequence[Figure | None]
    length: Figure | None


class _Side:
    """One of the two settings."""

    def __init__(self, settings: CheckSettings) -> None:
        self._settings = settings
        self._plans = Plans(settings)

    def walk(self, step: Step) -> _Walk:
        """Every position of a step in turn."""
        plan = self._plans.of(step)
        if plan.joint is not None:
            return self._block(step)
        rates, chances = [], []
        for position in step.positions:
            checked = PositionCheck(step, position, plan, self._settings, False).run().checked
            rates.append(checked.result.acceptance_rate)
            chances.append(_chance(checked, position.draft_token))
        return _Walk(rates, chances, _length(chances))

    def _block(self, step: Step) -> _Walk:
        """Block verification along the path. Raises SettingsError for other rules over
        proposals."""
        result = verify_step(step, self._settings, self._plans)
        rates = [position.acceptance_rate for position in result.positions]
        length = None
        if result.path is not None:
            length = _plus_one(result.path.expected_accepted_block)
        return _Walk(rates, [None] * len(rates), length)


def _positions(step: Step, mine: _Walk, theirs: _Walk) -> list[CounterfactualPosition]:
    walks = zip(mine.rates, theirs.rates, mine.chances, theirs.chances, strict=True)
    return [
        CounterfactualPosition(step.id, position.index, position.draft_token or 0, *figures)
        for position, figures in zip(step.positions, walks, strict=True)
    ]


def _chance(checked: Checked, token: int | None) -> Figure | None:
    """``accepted(x) / D(x)`` of the recorded token; None where D(x) = 0."""
    if token is None:
        return None
    drafted, accepted = checked.laws[Role.DRAFTED_FROM], checked.outcomes.accepted
    mass = drafted.value(token)
    if not mass:
        return None
    error = (drafted.error + accepted.error) / mass
    return Figure.of(min(accepted.value(token) / mass, _ONE), min(error, _ONE) or None)


def _length(chances: Sequence[Figure | None]) -> Figure | None:
    """``1 + sum_i prod_{j <= i} a_j``."""
    reached, total = _ONE, _ONE
    doubt, error = _ZERO, _ZERO
    for chance in chances:
        if chance is None or chance.exact is None:
            return None
        reached *= chance.exact
        doubt = min(doubt + (chance.bound or _ZERO), _ONE)
        total += reached
        error += doubt
    return Figure.of(total, error or None)


def _plus_one(figure: Figure) -> Figure | None:
    return None if figure.exact is None else Figure.of(1 + figure.exact, figure.bound)
