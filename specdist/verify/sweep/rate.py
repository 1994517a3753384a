"""The acceptance rate of rows under one setting, and nothing else: no table, no diagnosis."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.model.capture import Step
from specdist.model.figure import Figure
from specdist.model.settings import CheckSettings
from specdist.verify.partial.detection import has_unknown_stage, is_known_in_part
from specdist.verify.plan import Plan, Plans
from specdist.verify.position_check import PositionCheck
from specdist.verify.several_drafts import check_shape
from specdist.verify.step import verify_step
from specdist.verify.summary import Tally


def acceptance(steps: Iterable[Step], settings: CheckSettings) -> Interval:
    """The plain mean of the acceptance rates over positions, as `Summary` has it, with its
    rounding bound; one number where nothing was rounded.

    A cut that falls within the rounding of a row's weights may fall on either side, which widens
    the interval: a verdict need not depend on it, and a rate does. Raises SpecdistError for rows
    and settings that do not fit, ValueError where no draft token is there.
    """
    tally = Tally(settings.exact, frozenset())
    known = Plans(settings)
    for step in steps:
        plan = known.of(step)
        if is_plain(step, plan):
            _add_positions(tally, step, plan, settings)
        else:
            tally.add(verify_step(step, settings, known))
    return _mean(tally)


def is_plain(step: Step, plan: Plan) -> bool:
    """Whether the step is one of whole rows, whose positions are verified one by one."""
    if step.requests or step.models is not None or plan.joint is not None:
        return False
    return not (has_unknown_stage(step) or is_known_in_part(step))


def _add_positions(tally: Tally, step: Step, plan: Plan, settings: CheckSettings) -> None:
    check_shape(step, settings)
    for position in step.positions:
        rate = PositionCheck(step, position, plan, settings).acceptance()
        if isinstance(rate, Figure):
            tally.acceptance.add(rate)
        else:
            tally.bounds.add(rate)


def _mean(tally: Tally) -> Interval:
    mean = tally.bounds.mean_with(tally.acceptance)
    if mean is not None:
        return mean
    if not tally.acceptance.count:
        raise ValueError("no draft token was checked")
    return tally.acceptance.interval().within(Fraction(0), Fraction(1))
