"""The most that a lossless verifier can accept, and cost models: naive, with Fraction.

Independent on purpose: nothing here imports specdist. Optima come twice, from the formula of the
theory and from a linear programme solved exactly by the simplex method (Bland's rule).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product

from tests.oracle_joint import (
    ONE,
    ZERO,
    Models,
    Prefix,
    Row,
    path_probability,
    total,
)
from tests.oracle_trees import draws

# ---- one position, n drafts ------------------------------------------------------------------


def subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))


def best_acceptance(p: Row, mode: str, laws: Sequence[Row]) -> Fraction:
    """1 - max over token sets H of Pr(all drafts in H) - p(H), every subset tried."""
    tuples = list(draws(mode, laws))
    worst = ZERO
    for inside in subsets(range(len(p))):
        held = total(mass for tokens, mass in tuples if set(tokens) <= set(inside))
        worst = max(worst, held - total(p[y] for y in inside))
    return 1 - worst


def best_acceptance_by_programme(p: Row, mode: str, laws: Sequence[Row]) -> Fraction:
    """Maximise the mass that is moved from tuples of drafts to tokens they contain."""
    tuples = list(draws(mode, laws))
    moves = [(i, y) for i, (tokens, _) in enumerate(tuples) for y in sorted(set(tokens))]
    rows: list[list[Fraction]] = []
    limits: list[Fraction] = []
    for i, (_, mass) in enumerate(tuples):
        rows.append([Fraction(int(move[0] == i)) for move in moves])
        limits.append(mass)
    for y, mass in enumerate(p):
        rows.append([Fraction(int(move[1] == y)) for move in moves])
        limits.append(mass)
    return maximum([ONE] * len(moves), rows, limits)


# ---- blocks and paths ------------------------------------------------------------------------


def block_optimum(models: Models, length: int) -> Fraction:
    """sum over z of A(z), A(zy) = min(D(zy), A(z) P(y|z))."""

    def below(z: Prefix, drafted: Fraction, kept: Fraction) -> Fraction:
        if len(z) == length:
            return ZERO
        found = ZERO
        for y in range(models.size):
            d = drafted * models.D(z)[y]
            a = min(d, kept * models.target[z][y])
            found += a + (below((*z, y), d, a) if a else ZERO)
        return found

    return below((), ONE, ONE)


def multi_path_bound(models: Models, paths: int, length: int) -> Fraction:
    """sum over z of A(z), A(zy) = min(A(z) P(y|z), 1 - (1 - Q(zy))^K)."""

    def below(z: Prefix, kept: Fraction) -> Fraction:
        if len(z) == length:
            return ZERO
        found = ZERO
        for y in range(models.size):
            covered = 1 - (1 - path_probability(models.drafts[0], (*z, y))) ** paths
            a = min(kept * models.target[z][y], covered)
            found += a + below((*z, y), a)
        return found

    return below((), ONE)


def multi_path_optimum(models: Models, paths: int, length: int) -> Fraction:
    """Maximise sum A(z) with A(zy) <= A(z) P(y|z) and, for every antichain S of nodes,
    sum over S of A <= 1 - (1 - Q(S))^K."""
    size = models.size
    nodes = [z for i in range(1, length + 1) for z in product(range(size), repeat=i)]
    rows: list[list[Fraction]] = []
    limits: list[Fraction] = []
    for z in nodes:
        share = models.target[z[:-1]][z[-1]]
        parent = z[:-1]
        rows.append([Fraction(int(v == z)) - (share if v == parent else ZERO) for v in nodes])
        limits.append(ZERO if parent else share)
    for some in antichains((), size, length):
        if some:
            drafted = total(path_probability(models.drafts[0], z) for z in some)
            rows.append([Fraction(int(v in some)) for v in nodes])
            limits.append(1 - (1 - drafted) ** paths)
    return maximum([ONE] * len(nodes), rows, limits)


def antichains(z: Prefix, size: int, length: int) -> list[frozenset[Prefix]]:
    """Sets of prefixes below z none of which continues another."""
    if len(z) == length:
        return [frozenset()]
    found: list[frozenset[Prefix]] = [frozenset()]
    for y in range(size):
        child = (*z, y)
        here = [frozenset({child}), *antichains(child, size, length)]
        found = [left | right for left in found for right in here]
    return found


def any_verifier(models: Models, length: int) -> Fraction:
    """The most drafted tokens that a lossless verifier of one path keeps: a programme over keep(x,
    i), the mass that draws the draft x and keeps i of its tokens.

    Kept i and drafted x: the next token is the drafted one (i + 1 is kept) or another. With A(z) =
    mass that keeps z, losslessness leaves A(zy) <= A(z) P(y|z).
    """
    size = models.size
    drafted = [
        (x, path_probability(models.drafts[0], x)) for x in product(range(size), repeat=length)
    ]
    variables = [(x, i) for x, mass in drafted if mass for i in range(1, length + 1)]
    rows: list[list[Fraction]] = []
    limits: list[Fraction] = []
    for x, mass in drafted:
        if mass:
            rows.append([Fraction(int(v[0] == x)) for v in variables])
            limits.append(mass)
    for i in range(1, length + 1):
        for z in product(range(size), repeat=i):
            share = models.target[z[:-1]][z[-1]]
            rows.append([
                Fraction(int(x[:i] == z and n >= i))
                - (share * int(x[: i - 1] == z[:-1] and n >= i - 1) if i > 1 else ZERO)
                for x, n in variables
            ])  # fmt: skip
            limits.append(ZERO if i > 1 else share)
    return maximum([Fraction(n) for _, n in variables], rows, limits)


def maximum(
    gain: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], limits: Sequence[Fraction]
) -> Fraction:
    """max gain x with rows x <= limits, x >= 0, limits >= 0: simplex with Bland's rule."""
    count, slack = len(gain), len(rows)
    table = [
        [*row, *(Fraction(int(i == j)) for j in range(slack)), limit]
        for i, (row, limit) in enumerate(zip(rows, limits, strict=True))
    ]
    cost = [-value for value in gain] + [ZERO] * (slack + 1)
    basis = list(range(count, count + slack))
    while True:
        entering = next((j for j in range(count + slack) if cost[j] < 0), None)
        if entering is None:
            return cost[-1]
        found = [
            (line[-1] / line[entering], basis[i], i)
            for i, line in enumerate(table)
            if line[entering] > 0
        ]
        _, _, leaving = min(found)
        pivot = table[leaving][entering]
        table[leaving] = [value / pivot for value in table[leaving]]
        for line in [*table[:leaving], *table[leaving + 1 :], cost]:
            factor = line[entering]
            if factor:
                for j, value in enumerate(table[leaving]):
                    if value:
                        line[j] -= factor * value
        basis[leaving] = entering


# ---- trees of a node budget ------------------------------------------------------------------


def sequoia(child_accept: Sequence[Fraction], nodes: int) -> Fraction:
    """c(n) = 1 + max over n_1 + .. = n - 1 of sum a_i c(n_i); the root counts one token."""

    def best(count: int) -> Fraction:
        return ONE + spread(count - 1, 0) if count else ZERO

    def spread(left: int, i: int) -> Fraction:
        if not left or i == len(child_accept):
            return ZERO
        return max(child_accept[i] * best(n) + spread(left - n, i + 1) for n in range(left + 1))

    return best(nodes)


# ---- cost models -----------------------------------------------------------------------------


def expected_tokens(alpha: Fraction, length: int) -> Fraction:
    return total(alpha**i for i in range(length + 1))


def expected_tokens_of(alphas: Sequence[Fraction]) -> Fraction:
    """1 + sum over i of prod a_j, j <= i."""
    found, reached = ONE, ONE
    for alpha in alphas:
        reached *= alpha
        found += reached
    return found


def walltime_factor(alpha: Fraction, length: int, cost: Fraction) -> Fraction:
    return expected_tokens(alpha, length) / (length * cost + 1)


def operations_factor(alpha: Fraction, length: int, cost: Fraction) -> Fraction:
    return (length * cost + length + 1) / expected_tokens(alpha, length)


def best_length(alpha: Fraction, cost: Fraction) -> int:
    """The smallest draft length of the largest walltime factor, by scanning."""
    scan = [walltime_factor(alpha, length, cost) for length in range(200)]
    return scan.index(max(scan))


def rounds(token_law: Mapping[int, Fraction], tokens: int) -> Fraction:
    """R(n) = 1 + sum over k of Pr(k tokens a round) R(n - k), R(n) = 0 for n <= 0."""
    found = [ZERO]
    for n in range(1, tokens + 1):
        found.append(ONE + total(mass * found[max(n - k, 0)] for k, mass in token_law.items()))
    return found[tokens]


def geometric_tokens(alpha: Fraction, length: int) -> dict[int, Fraction]:
    """Law of the tokens of a round: k - 1 acceptances and a rejection, or all of them."""
    law = {k: alpha ** (k - 1) * (1 - alpha) for k in range(1, length + 1)}
    return {**law, length + 1: alpha**length}
