"""What is said of a position beside its verdict: other targets, forbidden tokens, optima, keeps."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.figure import Figure
from specdist.model.report import LossyFigures, ProposalFigures, UsedTarget
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.verify.comparison import Comparison, compare, probability
from specdist.verify.setup import Setup

_ZERO = Fraction(0)


def forbidden_mass(comparison: Comparison, laws: RoleLaws) -> Figure:
    """The output's mass on tokens to which the reference gives 0."""
    share = comparison.output.positive_where_zero(laws[Role.REFERENCE])
    return probability(_ZERO if share is None else share.mass, _ZERO)


def used_target(setup: Setup, laws: RoleLaws, outcomes: Outcomes) -> UsedTarget | None:
    """The output against `accept_target`, where test and residual share a target that is not the
    reference. None where there is no such target."""
    if not setup.same(Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET):
        return None
    if setup.same(Role.REFERENCE, Role.ACCEPT_TARGET):
        return None
    target = laws[Role.ACCEPT_TARGET]
    proven = setup.with_reference(Role.ACCEPT_TARGET).lossless_by_roles
    compared = compare(outcomes, target, proven)
    variation = probability(compared.total_variation, compared.bound)
    return UsedTarget(compared.verdict, variation)


def lossy_figures(
    setup: Setup, laws: RoleLaws, outcomes: Outcomes, comparison: Comparison
) -> LossyFigures | None:
    """How far a lossy rule is from the least total variation at its rejected mass.

    For acceptance b(x) the least total variation over recovery laws is ``sum [b q - p]_+``; for a
    rejected mass R over all rules it is ``max(0, TV(p, q) - R)`` with p the target and q the law
    drafted from (Yin et al. 2411.00841: the front is a line).
    """
    if not setup.rule.lossy(setup.use):
        return None
    target, drafted = laws[Role.REFERENCE], laws[Role.DRAFTED_FROM]
    distance = (target - drafted).positive_part()
    rejected = max(outcomes.rejected, _ZERO)
    least = max(_ZERO, distance.total() - rejected)
    error = distance.error + outcomes.accepted.error
    targeted = comparison.output.minimum(drafted)
    return LossyFigures(
        probability(least, error),
        probability(max(comparison.total_variation - least, _ZERO), error + comparison.bound),
        probability(targeted.total(), targeted.error),
    )


def proposal_figures(setup: Setup, laws: RoleLaws, outcomes: Outcomes) -> ProposalFigures | None:
    """What reaches the test under a keep rule, and the token that shows that k is not constant."""
    if setup.proposal is None:
        return None
    drafted = laws[Role.DRAFTED_FROM]
    kept = setup.share(laws)(drafted)
    mass = kept.total()
    # A token that is drawn again, or dropped after its test, leaves none untested.
    every = setup.proposal.after_test or setup.proposal.dropped == "redraw"
    tested = Fraction(1) if every else mass
    accepted = outcomes.accepted.total() / tested if tested else None
    deviation = kept - drafted.scaled(mass)
    witness = None if deviation.is_zero() else deviation.largest(1)[0]
    return ProposalFigures(
        reaching_mass=probability(mass, kept.error),
        accepted_of_reaching=None if accepted is None else Figure.of(accepted),
        witness=witness,
        witness_keep=None if witness is None else _keep_at(kept, drafted, witness),
    )


def _keep_at(kept: ExactVector, drafted: ExactVector, token: int) -> Figure:
    return Figure.of(kept.value(token) / drafted.value(token))
