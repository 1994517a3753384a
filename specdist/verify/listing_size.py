"""How many outcomes a step over conditional models will list, known before it is enumerated."""

from __future__ import annotations

from specdist.errors import SpecdistError
from specdist.model.capture import Step
from specdist.model.settings import CheckSettings
from specdist.verify.plan import Plans

WORTH_SAYING = 100_000
"""From so many outcomes on the size is said before the enumeration starts."""


def large_listing(step: Step, settings: CheckSettings) -> str | None:
    """What is about to be enumerated, as a sentence; None for what takes no time, and for a step
    that cannot be enumerated, which says so itself."""
    try:
        found = _listing(step, settings)
    except SpecdistError:
        return None
    if found is None or not WORTH_SAYING <= found[0] <= settings.max_outcomes:
        return None
    return (
        f"{step.source}, step {step.id}: listing up to {found[0]:,} outcomes {found[1]}; "
        f"--max-outcomes allows {settings.max_outcomes:,}"
    )


def _listing(step: Step, settings: CheckSettings) -> tuple[int, str] | None:
    """How many outcomes, and in which order."""
    if step.requests:
        from specdist.verify.joint.batch_setup import batch_of

        return batch_of(step, settings).size(settings.horizon), "request with request"
    if step.models is None:
        return None
    from specdist.verify.joint.step import joint_setup

    setup = joint_setup(step, Plans(settings).of(step), settings)
    how = "prefix by prefix" if setup.route == "prefixes" else "proposal by proposal"
    return setup.size(), how
