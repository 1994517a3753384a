"""Target-only siblings: one coin scans the children of a node, without any draft probability.

Law. Children c_1 .. c_k after a prefix, u uniform, ``P_i = P(c_1) + .. + P(c_i)`` without repeated
tokens, P = `accept_target`. The first child with ``u <= P_i`` is accepted:

    Pr(c_i) = P(c_i),   none with 1 - P_k: then S = `residual_target` without the children, norm.

That is the same as accepting c_i, if none before it was, with ``P(c_i) / (1 - P_(i-1))``. Lossless
for any way of choosing the children that does not look at u. The draft roles play no part.

``accumulated=ACC`` and ``single=ONE`` are the thresholds of SGLang: child i is accepted first where

    u <= P_i / ACC      or      P(c_i) >= ONE,

lossy by design below 1. Both are at most 1 and at least 1e-9. Sources: Medusa 2401.10774 and
EAGLE-2 2406.16858 (tested with a draft probability of 1, which is the same law); SGLang 0.5.23,
`tree_speculative_sampling_target_only`.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.bounded import least, surplus
from specdist.model.draft_tree import SIBLINGS
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within
from specdist.rules.joint.node_rule import Node, Verdict, outside
from specdist.rules.joint.recovered import EMPTY
from specdist.rules.joint.tree_rule import tree_rule

_ZERO, _ONE = Fraction(0), Fraction(1)
_THRESHOLD = number_within(Interval(low=Fraction(1, 10**9), high=_ONE))


def target_only_verdict(node: Node, use: RecipeStep) -> Verdict:
    """The chances of the children under one coin (module docstring)."""
    single, acc = use.number("single"), use.number("accumulated")
    target, tokens = node.tested_target, node.tokens
    passed = gathered = _ZERO
    accepted: list[Fraction] = []
    for index, token in enumerate(tokens):
        if token not in tokens[:index]:
            gathered += target[token]
        reaches = _ONE if target[token] >= single else least(_ONE, gathered / acc)
        accepted.append(surplus(reaches, passed))
        passed += accepted[-1]
    return node.verdict(accepted, outside(node.left_target, tokens), use)


def _thresholds_at_one(use: RecipeStep) -> bool:
    return use.number("single") == 1 and use.number("accumulated") == 1


TARGET_ONLY = tree_rule(
    "target-only",
    "target-only siblings",
    "lossy",
    target_only_verdict,
    SIBLINGS,
    options=(
        Option("accumulated", _THRESHOLD, _ONE, "the accumulated probability that accepts surely"),
        Option("single", _THRESHOLD, _ONE, "the probability of a child that accepts surely"),
        EMPTY,
    ),
    aliases=("siblings",),
    neutral=_thresholds_at_one,
)
