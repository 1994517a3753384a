"""Everything is accepted.

Law. ``a(x) = 1``: the output law is D (`drafted_from`), at total variation TV(D, reference) from
the target. Token verification with a lenience of 0, or a verification step that is skipped.
"""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.rules.recovery import recover
from specdist.rules.rule import Rule


def always_outcomes(laws: RoleLaws, use: RecipeStep) -> Outcomes:
    """Accepted mass of every token where everything is accepted (module docstring)."""
    return accept_everything(laws)


def accept_everything(laws: RoleLaws) -> Outcomes:
    """Accepted mass ``D(x)``; only draft tokens dropped as rejected are recovered, from the
    residual."""
    return recover(laws, laws.reaching(laws[Role.DRAFTED_FROM]), "residual")


ALWAYS = Rule("always", "everything is accepted", "lossy", always_outcomes, divides=False)
