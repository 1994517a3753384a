"""k-seq: k drafted tokens in order, each against the target divided by one constant.

Law. With rho = RHO, ``m_i(x) = min(U_i(x), S(x) / rho)``, ``b_i = sum m_i`` and
``w_i = (1 - b_1) .. (1 - b_(i-1))``, for the children x_1 .. x_k of a node

    accept x_i with probability   min(1, A(x_i) / (rho T_i(x_i)))     if none before it was,
    recovered if none is          norm (S - sum_i w_i m_i)

where A = `accept_target`, S = `residual_target`, T_i = `accept_draft`, U_i = `residual_draft` of
child i. With one drafter the sum is ``m (1 - (1 - b)^k) / b``, and the acceptance rate is
``1 - (1 - b)^k``.

Valid where no entry of ``S - sum w_i m_i`` is negative, at every node that is reached; any
rho >= k is, where k counts the children of all copies if duplicates are merged. The best one solves
``1 - (1 - b)^k = rho b``, between 1 and k. Lossless where every child is drawn independently from
its T_i = U_i, and for any children where both are one-hot.
Source: SpecTr 2310.15141, algorithm 2 (K-SEQ) and its theorem 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.bounded import least, plain
from specdist.model.conditional import written_prefix
from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import Interval, number_within
from specdist.rules.joint.node_rule import Child, Node
from specdist.rules.joint.outcomes import Law
from specdist.rules.joint.recovered import EMPTY
from specdist.rules.joint.sequential import Left, Sequential, Trial
from specdist.rules.joint.tree_rule import tree_rule

_ZERO, _ONE = Fraction(0), Fraction(1)
_STEPS = 1000


def _start(node: Node, use: RecipeStep) -> Left:
    """``A / rho`` and ``S - sum w_i m_i``. Raises SettingsError where rho is too small for these
    laws: it names the prefix and a rho that is large enough."""
    rho, subtracted = use.number(), [node.subtracted(child) for child in node.children]
    left = _left(node.left_target, subtracted, rho)
    if any(mass < 0 for mass in left):
        raise _too_small(node, subtracted, use)
    return Left(tuple(mass / rho for mass in node.tested_target), left)


def _test(node: Node, child: Child, left: Left, use: RecipeStep) -> Trial:
    return Trial(left.target, node.tested(child), lambda: left)


def _left(target: Law, drafts: Sequence[Law], rho: Fraction) -> Law:
    """``S - sum w_i m_i``, whatever its signs."""
    left, reached = list(target), _ONE
    for draft in drafts:
        accepted = [least(below, above / rho) for below, above in zip(draft, target, strict=True)]
        left = [mass - reached * share for mass, share in zip(left, accepted, strict=True)]
        reached *= 1 - sum(accepted, _ZERO)
    return tuple(left)


def _too_small(node: Node, drafts: Sequence[Law], use: RecipeStep) -> SettingsError:
    smallest = smallest_rho(node.left_target, drafts)
    return SettingsError(
        f"{use.text}: rho is too small after the prefix {written_prefix(node.prefix)}: more of a "
        "token is accepted than the target has, and the residual is negative",
        expected="residual_target - accepted mass at least 0 for every token",
        advice=f"rho={smallest} is valid there, to three decimals the smallest one; with "
        f"{len(drafts)} children any rho of at least {len(drafts)} is",
    )


def smallest_rho(target: Law, drafts: Sequence[Law]) -> Fraction:
    """The smallest multiple of 1/1000 that is valid for these laws as represented: from some rho
    on all are."""
    target, drafts = _plain(target), [_plain(draft) for draft in drafts]
    low, high = _STEPS - 1, len(drafts) * _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        if min(_left(target, drafts, Fraction(middle, _STEPS))) < 0:
            low = middle
        else:
            high = middle
    return Fraction(high, _STEPS)


def _plain(law: Law) -> Law:
    return tuple(map(plain, law))


K_SEQ = tree_rule(
    "k-seq",
    "k-sequential selection",
    "lossless",
    Sequential(_start, _test),
    ("iid",),
    metavar="RHO",
    value=number_within(Interval(low=_ONE)),
    options=(EMPTY,),
    aliases=("spectr",),
)
