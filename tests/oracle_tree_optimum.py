"""The most that a lossless rule can accept of a tree: a programme over explicit verifiers.

Independent on purpose: nothing here imports specdist. The variables are keep(T, z): the mass with
which the set T of drafted prefixes is drawn and z, one of them, is all that is kept. With A(z) the
mass that keeps z and perhaps more, "the output goes on as the target" leaves A(zy) <= A(z) P(y|z):
what is kept at z and not continued then emits y with A(z) P(y|z) - A(zy), and these sums telescope
to the target's law.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from tests.oracle_joint import ONE, ZERO, Models, Prefix, prefixes
from tests.oracle_optima import maximum
from tests.oracle_trees import Tree, depth, prefix, proposals

Held = frozenset[Prefix]


def held_prefixes(models: Models, tree: Tree, mode: str) -> dict[Held, Fraction]:
    """The law of the set of prefixes that the drafted tree holds, the start left out."""
    found: dict[Held, Fraction] = {}
    for tokens, mass in proposals(models, tree, mode):
        held = frozenset(prefix(tree, tokens, node) for node in range(len(tree)))
        found[held] = found.get(held, ZERO) + mass
    return found


def tree_optimum(models: Models, tree: Tree, mode: str) -> Fraction:
    """The largest expected number of accepted draft tokens."""
    drawn = held_prefixes(models, tree, mode)
    variables = [(held, z) for held in drawn for z in sorted(held)]
    rows = [[Fraction(int(v[0] == held)) for v in variables] for held in drawn]
    limits = list(drawn.values())
    for z in prefixes(models.size, depth(tree)):
        if not z:
            continue
        share = models.target[z[:-1]][z[-1]]
        above = z[:-1]
        rows.append([
            Fraction(int(kept[: len(z)] == z))
            - (share if above and kept[: len(above)] == above else ZERO)
            for _, kept in variables
        ])  # fmt: skip
        limits.append(ZERO if above else share)
    return maximum([Fraction(len(z)) for _, z in variables], rows, limits)


def singleton_bound(models: Models, tree: Tree, mode: str) -> Fraction:
    """sum of B(zy) = min(Pr(the tree holds zy), B(z) P(y|z))."""
    drawn = held_prefixes(models, tree, mode)
    bound = {(): ONE}
    for z in prefixes(models.size, depth(tree)):
        if z:
            cover = sum((mass for held, mass in drawn.items() if z in held), ZERO)
            bound[z] = min(cover, bound[z[:-1]] * models.target[z[:-1]][z[-1]])
    return sum(bound.values(), ZERO) - 1


def covers(models: Models, tree: Tree, mode: str) -> dict[tuple[Prefix, Held], Fraction]:
    """Pr(the tree holds zy with y in H) for every z and every set H of next tokens."""
    drawn = held_prefixes(models, tree, mode)
    found = {}
    for z in prefixes(models.size, depth(tree) - 1):
        for chosen in product((False, True), repeat=models.size):
            ends = frozenset((*z, y) for y, taken in enumerate(chosen) if taken)
            found[z, ends] = sum((m for held, m in drawn.items() if held & ends), ZERO)
    return found
