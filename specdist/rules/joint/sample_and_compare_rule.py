"""Sample and compare among several drafts: the target draws, and a child with its token is kept.

Law. Draw y from P (`accept_target`) after the prefix of a node. If a child has the token y, the
first one is accepted; otherwise y itself is emitted. What is emitted is y in any case, so the rule
is lossless for any children. The acceptance rate is ``P(tokens of the children)``; for n
independent draws from Q that is ``sum P(x) (1 - (1 - Q(x))^n)`` on the mean.

``samples=own``: every child i has a sample y_i of its own; the first child with ``y_i = x_i`` is
accepted, and without one y_1 is emitted, which then follows P without x_1. That accepts x_i with
``(1 - P(x_1)) .. (1 - P(x_(i-1))) P(x_i)`` and is a mistake: candidates are favoured as often as
they are repeated. Sources: SpecInfer 2305.09781 (naive sampling); the mistake,
foundation-model-stack/fms-extras issue 12.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.draft_tree import SIBLINGS
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import one_of
from specdist.rules.joint.node_rule import Node, Verdict, outside
from specdist.rules.joint.recovered import normalised
from specdist.rules.joint.tree_rule import tree_rule

_ZERO, _ONE = Fraction(0), Fraction(1)


def sample_and_compare_verdict(node: Node, use: RecipeStep) -> Verdict:
    """The chances of the children under sample and compare (module docstring)."""
    target, tokens = node.tested_target, node.tokens
    if use.word("samples") == "shared":
        chances = [
            target[token] if token not in tokens[:index] else _ZERO
            for index, token in enumerate(tokens)
        ]
        return Verdict(tuple(chances), normalised(outside(target, tokens)))
    accepted: list[Fraction] = []
    reached = _ONE
    for token in tokens:
        accepted.append(reached * target[token])
        reached *= 1 - target[token]
    return Verdict(tuple(accepted), normalised(outside(target, tokens[:1])))


SAMPLE_AND_COMPARE = tree_rule(
    "sample-and-compare",
    "sample and compare among drafts",
    "lossless",
    sample_and_compare_verdict,
    SIBLINGS,
    options=(
        Option(
            "samples",
            one_of("shared", "own"),
            "shared",
            "shared: one target sample for all children of a node; own: one for every child",
        ),
    ),
    aliases=("nss",),
    mistaken=lambda use: use.word("samples") == "own",
)
