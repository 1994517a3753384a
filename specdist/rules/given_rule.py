"""The rule that a capture gives: acceptance probabilities and the law of the recovered token.

Law. ``a(x)`` and ``r(y)`` as captured ("accept" and "recovery" of a position):

    accepted(x) = D(x) a(x),    recovered(y) = (1 - sum D a) r(y).

It claims nothing: it is what an engine did. Raises SettingsError where the capture lacks either row
or a row cannot be what it should be.
"""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recovered_from
from specdist.rules.rule import Rule

_EXPECTED = '"accept": one probability a token, "recovery": a distribution'


def given_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted and recovered mass of every token as captured (module docstring)."""
    accept, recovery = _row(laws, "accept"), _row(laws, "recovery")
    _check(accept, recovery)
    accepted = laws.reaching(laws[Role.DRAFTED_FROM].product(accept))
    return recovered_from(laws, accepted, recovery)


def _row(laws: RoleLaws, name: str) -> ExactVector:
    if laws.captured is None or name not in laws.captured:
        raise SettingsError(
            f'rule given finds no row "{name}" at this position',
            expected=_EXPECTED,
            advice="on the command line: --accept ROW and --recovery ROW",
        )
    return laws.captured[name]


def _check(accept: ExactVector, recovery: ExactVector) -> None:
    top = accept.value(accept.largest(1)[0])
    if top > 1:
        raise SettingsError(
            f"rule given: an acceptance probability is {float(top):.6g}", expected=_EXPECTED
        )
    mass = recovery.total()
    if mass not in (0, 1):
        raise SettingsError(
            f"rule given: the recovery row sums to {float(mass):.9g}", expected=_EXPECTED
        )


GIVEN = Rule(
    "given",
    "acceptance and recovery as captured",
    "observed",
    given_outcomes,
    divides=False,
)
