"""An upper bound of what any lossless rule accepts of a tree of draft tokens.

P is the target's conditional law. Let A(z) be the probability that the output begins with z and
that all of z was accepted from the tree. For every set H of tokens

    sum over y in H of A(zy)  <=  cover(z, H) = Pr(the tree holds a path zy with y in H),
    A(zy) <= A(z) P(y|z)

the first because these events exclude each other and each needs its path, the second because after
an accepted z the next token of the output has the law P(.|z). So with B(()) = 1 and
``B(zy) = min(cover(z, {y}), B(z) P(y|z))``, A(z) <= B(z) by induction, and for every H

    sum over y of A(zy)  <=  B(z) (1 - P(H|z)) + cover(z, H)

The sum over z of the least of these is the bound. Tried are the sets of the tokens of smallest
ratio to P(y|z), of the draft's probability for i.i.d. siblings and of cover(z, {y}) for others, and
the sum of the B(zy), which is less wherever it is less. On a chain this is the optimum, and at one
position with i.i.d. drafts as well; in between it is a bound: it knows nothing of sets of prefixes
that have different parents. For K i.i.d. paths the cover is ``1 - (1 - Q(z) Q(H|z))^K``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

from specdist.model.conditional import Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.role import Role
from specdist.rules.joint.optima.coverage import Coverage
from specdist.rules.joint.outcomes import Law, PrefixLaws

_ZERO, _ONE = Fraction(0), Fraction(1)


def path_bound(tree: DraftTree, laws: PrefixLaws) -> Fraction:
    """The bound for the expected number of accepted draft tokens a step.

    Raises CaptureError for a prefix without a row that target and draft can both reach, and what
    `child_draws` raises.
    """
    coverage = Coverage(tree, laws)
    bound = _ZERO
    level: list[tuple[Prefix, Fraction]] = [((), _ONE)]
    for _ in range(tree.depth):
        following: list[tuple[Prefix, Fraction]] = []
        for prefix, most in level:
            if not coverage.goes_on(prefix):
                continue
            row = laws.law(Role.REFERENCE, prefix)
            order = _ordered(tree, laws, coverage, prefix, row)
            single, first = coverage.along(prefix, order)
            each = [min(cover, most * row[y]) for y, cover in zip(order, single, strict=True)]
            outside = accumulate((row[y] for y in order), initial=_ZERO)
            sets = (
                most * (1 - inside) + cover
                for inside, cover in zip(outside, (_ZERO, *first), strict=True)
            )
            bound += min(sum(each, _ZERO), *sets)
            following += [((*prefix, y), mass) for y, mass in zip(order, each, strict=True) if mass]
        level = following
    return bound


def _ordered(
    tree: DraftTree, laws: PrefixLaws, coverage: Coverage, prefix: Prefix, row: Law
) -> list[int]:
    """The tokens that the target allows, by rising ratio of the draft to the target."""
    allowed = [token for token, mass in enumerate(row) if mass]
    if tree.siblings == "iid":
        drafted = dict(enumerate(laws.law(Role.DRAFTED_FROM, prefix)))
    else:
        single, _ = coverage.along(prefix, allowed)
        drafted = dict(zip(allowed, single, strict=True))
    return sorted(allowed, key=lambda token: drafted[token] / row[token])


def prefix_count(tree: DraftTree, size: int) -> int:
    """The prefixes that the bound, or the optimum of a chain, looks at: of every length up to the
    depth, over ``size`` tokens."""
    return sum(_powers(size, tree.depth))


def _powers(size: int, depth: int) -> Iterator[int]:
    power = 1
    for _ in range(depth):
        power *= size
        yield power
