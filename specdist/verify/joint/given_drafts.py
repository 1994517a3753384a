"""One request once its draft tokens are known: what is verified of them, what is emitted.

For a rule that tests position after position, the outcomes of the drafted token x after z are those
of the position for the share of the draft that x is: accepted and recovered mass of ``D(x)``,
divided by ``D(x)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.model.conditional import Prefix
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Drafted, Law, Outcome
from specdist.rules.keep_rules import captured_share
from specdist.verify.joint.gathering import refuse_lost_mass
from specdist.verify.joint.joint_setup import JointSetup

_ZERO, _ONE = Fraction(0), Fraction(1)


def outcomes_of(setup: JointSetup, verified: Prefix) -> Iterator[Outcome]:
    """The outcomes of a chain of which exactly the tokens ``verified`` were drafted and are tested,
    of total mass 1. Raises `SettingsError` where options leave an outcome open."""
    if setup.joint is not None:
        drafted = Drafted(setup.tree.cut(len(verified)), verified)
        for outcome in setup.joint.outcomes(drafted, setup.laws, setup.use):
            if outcome.unnamed and outcome.mass:
                raise _unassigned(outcome.accepted, f"option empty of rule {setup.joint.name}")
            yield outcome
        return
    chain, reached = setup.chain(), _ONE
    for index, token in enumerate(verified):
        prefix = verified[:index]
        position = chain.setup_at(prefix)
        laws = position.role_laws(fractions=True)
        drawn = _entries(laws[Role.DRAFTED_FROM])[token]
        only = captured_share({token: _ONE}, _ZERO)
        found = setup.rule.outcomes(replace(laws, tried=only), setup.use)
        if found.unassigned:
            raise _unassigned(prefix, "--empty-residual")
        accepted = _entries(found.accepted)[token] / drawn
        recovered = tuple(value / drawn for value in _entries(found.recovered))
        error = (found.accepted.error + found.recovered.error) / drawn
        refuse_lost_mass([accepted, *recovered], error)
        if accepted < 1:
            yield Outcome(reached * (1 - accepted), prefix, _normal(recovered))
        reached *= accepted
        if not reached:
            return
    yield Outcome(reached, verified, setup.laws.law(Role.BONUS_FROM, verified), bonus=True)


def require_sure_tests(setup: JointSetup) -> None:
    """Raises `SettingsError` where a token may be drafted whose tested probability is 0, and no
    option says what target/0 is."""
    asks = setup.joint is None and setup.numerics.zero_draft == "error"
    if asks and setup.chain().drafts_outside_test():
        raise SettingsError(
            "a token is drafted whose tested probability is 0",
            expected="accept_draft above 0 wherever drafted_from is",
            advice="engines differ in target/0: --zero-draft accept or --zero-draft reject",
        )


def _unassigned(prefix: Prefix, option: str) -> SettingsError:
    return SettingsError(
        f"after {len(prefix)} draft tokens a rejection meets an empty residual",
        expected=f"{option}, which says what the engine emits there",
    )


def _normal(masses: Law) -> Law:
    total = sum(masses, _ZERO)
    return tuple(value / total for value in masses)


def _entries(vector: ExactVector) -> tuple[Fraction, ...]:
    if not isinstance(vector, RationalVector):
        raise TypeError("a batch is enumerated in fractions")
    return vector.entries
