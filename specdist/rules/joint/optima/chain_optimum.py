"""The optimum of one drafted path, and the overlap of whole blocks.

P and Q are the target's and the draft's conditional laws, P(z) and Q(z) their products along z. Let
A(z) be the probability that a lossless rule drafts z and keeps it. What is kept was drafted, and
after a kept z the next token of the output has the law P(.|z), whether it was drafted or not:

    A(()) = 1,   A(zy) <= Q(zy),   A(zy) <= A(z) P(y|z)

Block verification (Sun et al. 2403.10444) has equality with the smaller bound everywhere, so it is
largest in every A at once, and the expected number of accepted draft tokens, the sum of A(z) over
all z but the start, is the optimum.

Without "the output goes on as the target" the best coupling of whole blocks has the common prefix z
with probability min(P(z), Q(z)); that sum is a bound which in general no rule attains.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from specdist.exact.rational_vector import exact_total
from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.role import Role
from specdist.rules.joint.draws import child_draws
from specdist.rules.joint.outcomes import PrefixLaws

_ONE = Fraction(1)


class ChainOptimum(NamedTuple):
    """Expected accepted draft tokens: the optimum of all lossless rules, and the overlap."""

    block: Fraction
    overlap: Fraction


def chain_optimum(tree: DraftTree, laws: PrefixLaws) -> ChainOptimum:
    """Both sums for a chain, by recursion over the prefixes that target and draft can reach.

    Raises CaptureError where such a prefix has no row.
    """
    block, overlap = [], []
    level: list[tuple[Prefix, Fraction, Fraction, Fraction]] = [((), _ONE, _ONE, _ONE)]
    for depth in range(tree.depth):
        following = []
        for prefix, target, drafted, kept in level:
            row = laws.law(Role.REFERENCE, prefix)
            for (token,), share in child_draws(tree, depth - 1, prefix, laws):
                if row[token]:
                    mass, goal = drafted * share, target * row[token]
                    most = min(mass, kept * row[token])
                    block.append(most)
                    overlap.append(min(mass, goal))
                    following.append(((*prefix, token), goal, mass, most))
        level = following
    return ChainOptimum(exact_total(block), exact_total(overlap))
