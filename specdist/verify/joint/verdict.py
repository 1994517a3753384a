"""A step over conditional models, enumerated and judged."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from specdist.exact.rational_vector import relative_to_absolute
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.joint.gathering import Gathered
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.output import JointLaw, joint_law


@dataclass(frozen=True, slots=True)
class JointChecked:
    """An enumerated step with what its findings are made from. ``other`` is the law with target/0
    read as 0, where a token may be drafted whose tested probability is 0 and no option says."""

    setup: JointSetup
    gathered: Gathered
    law: JointLaw
    verdict: Verdict
    bound: Fraction
    other: JointLaw | None = None


def checked_setup(setup: JointSetup, horizon: int, settings: CheckSettings) -> JointChecked:
    """Enumerates a setup and compares its law with the reference's."""
    setup.refuse_large()
    other = None
    asks = setup.joint is None and setup.numerics.zero_draft == "error"
    if asks and setup.chain().drafts_outside_test():
        other = joint_law(setup.gathered("reject"), setup.laws, horizon)
    gathered = setup.gathered("accept" if other is not None else None)
    law = joint_law(gathered, setup.laws, horizon)
    bound = rounding_bound(setup, gathered, horizon)
    verdict = _judged(law, bound, settings)
    if verdict is Verdict.EQUAL and not proven(setup, gathered):
        verdict = Verdict.UNDECIDED
    if other is not None and verdict is not _judged(other, bound, settings):
        verdict = Verdict.UNDECIDED
    if setup.laws.met.open and not setup.as_specified:
        verdict = Verdict.UNDECIDED
    return JointChecked(setup, gathered, law, verdict, bound, other)


def proven(setup: JointSetup, gathered: Gathered) -> bool:
    """Whether equal represented laws are equal real-valued ones: nothing was rounded or left open,
    or the roles prove it."""
    met = setup.laws.met
    return not (met.bound or met.open or gathered.error) or setup.as_specified


def rounding_bound(setup: JointSetup, gathered: Gathered, horizon: int) -> Fraction:
    """How far the total variation of the real-valued rows may be from that of the represented.

    Hybrid bound: laws of K tokens whose conditional laws are off by at most e are off by K e; so
    the reference, by which short outputs are completed too, adds 2 K e.
    """
    row = relative_to_absolute(setup.laws.met.bound)
    return min(gathered.error + 2 * horizon * row, Fraction(1))


def _judged(law: JointLaw, bound: Fraction, settings: CheckSettings) -> Verdict:
    variation = law.total_variation
    if law.unnamed:
        return Verdict.DIFFERENT if variation > bound else Verdict.UNDECIDED
    if not variation:
        return Verdict.EQUAL
    if variation <= bound:
        return Verdict.UNDECIDED
    if settings.max_tv is not None and variation + bound <= settings.max_tv:
        return Verdict.WITHIN_TOLERANCE
    return Verdict.DIFFERENT
