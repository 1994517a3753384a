"""Recursive rejection: every child is tested against what the rejections before it left.

Law. For the children x_1, x_2, ... of a node, with ``A_0 = accept_target``,
``S_0 = residual_target``, T_i and U_i the rows `accept_draft` and `residual_draft` of child i,

    accept x_i with probability   min(1, A_(i-1)(x_i) / T_i(x_i)),
    after its rejection           A_i = norm [A_(i-1) - T_i]_+,   S_i = norm [S_(i-1) - U_i]_+,

and if all n children fail the token is drawn from S_n. T_i and U_i are the rows themselves, or,
where siblings are drawn without replacement, the rows without the tokens of earlier siblings,
renormalised; ``tested=raw`` takes the rows themselves there too, which is a mistake.

Lossless where every child is drawn from its T_i = U_i given the earlier ones, and for any distinct
children where both are one-hot. The acceptance rate with one drafter and independent draws is
``1 - prod (1 - b_i)``, ``b_i = sum min(A_(i-1), T)``. Sources: SpecInfer 2305.09781, algorithm 2
(with replacement); multi-candidate 2401.06706, RSD 2402.14160 and Sequoia 2402.12374 (without).
"""

from __future__ import annotations

from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.joint.node_rule import Child, Node, conditioned, excess
from specdist.rules.joint.outcomes import Law
from specdist.rules.joint.recovered import EMPTY
from specdist.rules.joint.sequential import Left, Sequential, Trial
from specdist.rules.joint.tree_rule import tree_rule


def _start(node: Node, use: RecipeStep) -> Left:
    return Left(node.tested_target, node.left_target)


def _test(node: Node, child: Child, left: Left, use: RecipeStep) -> Trial:
    tested, subtracted = _rows(node, child, use)

    def rejected() -> Left:
        rest = excess(left.recovered, subtracted)
        if left.target is left.recovered and tested is subtracted:
            return Left(rest, rest)
        return Left(excess(left.target, tested), rest)

    return Trial(left.target, tested, rejected)


def _rows(node: Node, child: Child, use: RecipeStep) -> tuple[Law, Law]:
    """T_i and U_i, one object where they are one row."""
    tested, subtracted = node.tested(child), node.subtracted(child)
    subtracted = tested if subtracted == tested else subtracted
    if node.siblings != "without-replacement" or use.word("tested") == "raw" or not child.earlier:
        return tested, subtracted
    drawn = conditioned(tested, child.earlier)
    return drawn, drawn if subtracted is tested else conditioned(subtracted, child.earlier)


RRS = tree_rule(
    "rrs",
    "recursive rejection",
    "lossless",
    Sequential(_start, _test),
    ("iid", "without-replacement"),
    options=(
        Option(
            "tested",
            one_of("drawn", "raw"),
            "drawn",
            "the row of a later sibling without replacement. drawn: without the earlier ones, "
            "renormalised; raw: as it is",
        ),
        EMPTY,
    ),
    aliases=("recursive-rejection", "specinfer"),
    mistaken=lambda use: use.word("tested") == "raw",
)
