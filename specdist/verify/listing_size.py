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
    if step.models is None:
        return None
    from specdist.verify.joint.step import joint_setup

    try:
        setup = joint_setup(step, Plans(settings).of(step), settings)
        size = setup.size()
    except SpecdistError:
        return None
    if not WORTH_SAYING <= size <= setup.limit:
        return None
    how = "prefix by prefix" if setup.route == "prefixes" else "proposal by proposal"
    return (
        f"{step.source}, step {step.id}: listing up to {size:,} outcomes {how}; "
        f"--max-outcomes allows {setup.limit:,}"
    )
