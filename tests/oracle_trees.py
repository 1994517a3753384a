"""Trees of draft tokens by naive enumeration with Fraction: every proposal, every coin.

Independent on purpose: nothing here imports specdist. A tree is the tuple of the parents of its
nodes, -1 for the root, a parent before its children; siblings are ordered by their number.

Rules at one node (top-down): Miao et al. 2305.09781 and Yang et al. 2401.10774 (recursive
rejection), Sun et al. 2310.15141 (k-seq), Li et al. 2406.16858 (target-only siblings), Sun et al.
2411.05289 (SpecHub). Leaf to root: Weng et al. 2505.12398 (traversal).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tests.oracle_joint import (
    ONE,
    ZERO,
    Models,
    NoAnswerError,
    Outcome,
    Prefix,
    Row,
    normalise,
    over,
    overlap,
    point,
    ratio,
    total,
    without,
)

Tree = tuple[int, ...]
ROOT = -1


def levels(*children: int) -> Tree:
    """``children[d]`` children for every node of depth d."""
    parents: list[int] = []
    level = [ROOT]
    for count in children:
        start = len(parents)
        parents += [parent for parent in level for _ in range(count)]
        level = list(range(start, len(parents)))
    return tuple(parents)


def chain(length: int) -> Tree:
    return tuple(range(-1, length - 1))


def paths(count: int, length: int) -> Tree:
    """``count`` paths that meet in the root only."""
    return levels(count, *([1] * (length - 1)))


def children(tree: Tree, node: int) -> list[int]:
    return [child for child, parent in enumerate(tree) if parent == node]


def rank(tree: Tree, node: int) -> int:
    return children(tree, tree[node]).index(node)


def depth(tree: Tree) -> int:
    return max((len(ancestry(tree, node)) for node in range(len(tree))), default=0)


def ancestry(tree: Tree, node: int) -> list[int]:
    """The nodes from the root to ``node``, the root left out, its own included."""
    found = []
    while node != ROOT:
        found.append(node)
        node = tree[node]
    return found[::-1]


def prefix(tree: Tree, tokens: Mapping[int, int], node: int) -> Prefix:
    return tuple(tokens[ancestor] for ancestor in ancestry(tree, node))


# ---- how siblings are drawn ------------------------------------------------------------------


def ordered(law: Row) -> list[int]:
    """Token ids by falling probability, ties by rising id."""
    return sorted(range(len(law)), key=lambda y: (-law[y], y))


def draws(mode: str, laws: Sequence[Row]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """The tokens of n siblings; ``laws`` holds the drafter's law of each of them."""
    n = len(laws)
    if mode == "iid":
        for tokens in product(*(range(len(law)) for law in laws)):
            mass = ONE
            for law, x in zip(laws, tokens, strict=True):
                mass *= law[x]
            if mass:
                yield tokens, mass
    elif mode == "without-replacement":
        yield from _without_replacement(laws, ())
    elif mode == "top":
        yield most_probable(laws), ONE
    elif mode == "top-then-sampled":
        top = most_probable(laws[:-1])
        for x, share in enumerate(without(laws[-1], top)):
            if share:
                yield (*top, x), share
    else:
        assert mode == "hub"
        assert n == 2
        hub = ordered(laws[0])[0]
        for x, share in enumerate(laws[0]):
            if x != hub and share:
                yield (x, hub), share
        if laws[0][hub]:
            for y, share in enumerate(without(laws[0], [hub])):
                if share:
                    yield (hub, y), laws[0][hub] * share


def most_probable(laws: Sequence[Row]) -> tuple[int, ...]:
    """For each law its most probable token that is not among those before."""
    found: list[int] = []
    for law in laws:
        found.append(next(y for y in ordered(law) if y not in found))
    return tuple(found)


def _without_replacement(
    laws: Sequence[Row], seen: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    if len(seen) == len(laws):
        yield seen, ONE
        return
    for x, share in enumerate(without(laws[len(seen)], seen)):
        if share:
            for tokens, rest in _without_replacement(laws, (*seen, x)):
                yield tokens, share * rest


def proposals(
    models: Models, tree: Tree, mode: str, given: Sequence[int] | None = None
) -> Iterator[tuple[dict[int, int], Fraction]]:
    """Every choice of tokens for all nodes, and its probability."""
    if mode == "given":
        assert given is not None
        yield dict(enumerate(given)), ONE
        return
    yield from _grown(models, tree, mode, {}, [ROOT])


def _grown(
    models: Models, tree: Tree, mode: str, tokens: dict[int, int], open_nodes: list[int]
) -> Iterator[tuple[dict[int, int], Fraction]]:
    if not open_nodes:
        yield tokens, ONE
        return
    node, *later = open_nodes
    below = children(tree, node)
    if not below:
        yield from _grown(models, tree, mode, tokens, later)
        return
    z = prefix(tree, tokens, node)
    for drawn, share in draws(mode, [models.D(z, i) for i in range(len(below))]):
        more = {**tokens, **dict(zip(below, drawn, strict=True))}
        for whole, rest in _grown(models, tree, mode, more, [*below, *later]):
            yield whole, share * rest


# ---- one node: which child is accepted, or what is emitted in place of all of them -----------

Verdict = tuple[Fraction, int | None, Row | None]
"""A mass, the index of the accepted child, or the law of the recovered token."""


@dataclass(frozen=True)
class Node:
    """The children after the prefix z: their tokens, and of each the rank among its siblings."""

    z: Prefix
    xs: Sequence[int]
    ranks: Sequence[int]
    mode: str

    def earlier(self, i: int) -> Sequence[int]:
        """The siblings that were drawn before child i."""
        return self.xs[i - self.ranks[i] : i]


NodeRule = Callable[[Models, Node], Iterator[Verdict]]


def rrs(tested: str = "drawn") -> NodeRule:
    """Children are tested in order against what the earlier rejections left of the target:
    p <- norm [p - q]_+. ``drawn``: q without the earlier siblings, where it was drawn so."""

    def rule(models: Models, node: Node) -> Iterator[Verdict]:
        z = node.z
        accept, left, reached = models.P(z), models.S(z), ONE
        for i, x in enumerate(node.xs):
            q, u = models.Q(z, x, node.ranks[i]), models.U(z, x, node.ranks[i])
            if node.mode == "without-replacement" and tested == "drawn":
                q, u = without(q, node.earlier(i)), without(u, node.earlier(i))
            a = min(ONE, ratio(accept[x], q[x]))
            if a:
                yield reached * a, i, None
            reached *= 1 - a
            if not reached:
                return
            accept, left = normalise(over(accept, q)), normalise(over(left, u))
        yield reached, None, left

    return rule


def k_seq(rho: Fraction) -> NodeRule:
    """Each of k drafts is accepted with min(1, p / (rho q)) if none before it was; m = min(q,
    p / rho), b = sum m. The residual is p minus the mass so accepted, with one drafter
    norm(p - m (1 - (1-b)^k) / b), which must not be negative."""

    def rule(models: Models, node: Node) -> Iterator[Verdict]:
        p, left, reached = models.P(node.z), list(models.S(node.z)), ONE
        for i, x in enumerate(node.xs):
            u = models.U(node.z, x, node.ranks[i])
            m = [min(b, a / rho) for a, b in zip(models.S(node.z), u, strict=True)]
            left = [a - reached * b for a, b in zip(left, m, strict=True)]
            reached *= 1 - total(m)
        if min(left) < 0:
            raise NoAnswerError("rho is too small: the residual is negative")
        reached = ONE
        for i, x in enumerate(node.xs):
            a = min(ONE, ratio(p[x], rho * models.Q(node.z, x, node.ranks[i])[x]))
            if reached * a:
                yield reached * a, i, None
            reached *= 1 - a
        if reached:
            yield reached, None, normalise(left)

    return rule


def sample_and_compare(samples: str = "shared") -> NodeRule:
    """A target token; a child of the same token is accepted. ``own``: every child is compared with
    a sample of its own, the first that agrees wins, and without one the first sample is emitted."""

    def rule(models: Models, node: Node) -> Iterator[Verdict]:
        p, xs = models.P(node.z), node.xs
        if samples == "shared":
            for y, share in enumerate(p):
                if share:
                    yield (share, xs.index(y), None) if y in xs else (share, None, _point(p, y))
            return
        for ys in product(range(len(p)), repeat=len(xs)):
            mass = ONE
            for y in ys:
                mass *= p[y]
            agree = [i for i, (x, y) in enumerate(zip(xs, ys, strict=True)) if x == y]
            if mass:
                yield (mass, agree[0], None) if agree else (mass, None, _point(p, ys[0]))

    return rule


def _point(p: Row, y: int) -> Row:
    return point(y, len(p))


def target_only(acc: Fraction = ONE, single: Fraction = ONE) -> NodeRule:
    """The first child i with u <= (p(c_1) + .. + p(c_i)) / acc or p(c_i) >= single, else p without
    the children. A repeated token counts once."""

    def rule(models: Models, node: Node) -> Iterator[Verdict]:
        p, held, passed = models.P(node.z), ZERO, ZERO
        for i, x in enumerate(node.xs):
            held += p[x] if x not in node.xs[:i] else ZERO
            level = ONE if p[x] >= single else max(passed, min(ONE, held / acc))
            if level > passed:
                yield level - passed, i, None
            passed = level
        if passed < 1:
            yield 1 - passed, None, without(models.S(node.z), node.xs)

    return rule


def greedy_drafts(models: Models, node: Node) -> Iterator[Verdict]:
    """The last child was drawn, the others are fixed."""
    yield from _sampled_first(models, node, len(node.xs) - 1)


def spechub(models: Models, node: Node) -> Iterator[Verdict]:
    """The child that is not the most probable token of the draft carries the draw."""
    hub = ordered(models.D(node.z))[0]
    (drawn,) = (i for i, x in enumerate(node.xs) if x != hub)
    yield from _sampled_first(models, node, drawn)


def _sampled_first(models: Models, node: Node, drawn: int) -> Iterator[Verdict]:
    """The drawn x is tested with min(1, p / q'), q' the draft row without the other children; what
    that leaves of p, norm [p - q']_+, accepts the others whole."""
    x, others = node.xs[drawn], [y for i, y in enumerate(node.xs) if i != drawn]
    assert x not in others
    q = without(models.Q(node.z, x, node.ranks[drawn]), others)
    u = without(models.U(node.z, x, node.ranks[drawn]), others)
    a = min(ONE, ratio(models.P(node.z)[x], q[x]))
    if a:
        yield a, drawn, None
    if a < 1:
        left = normalise(over(models.S(node.z), u))
        for i, y in enumerate(node.xs):
            if i != drawn and left[y]:
                yield (1 - a) * left[y], i, None
        missed = 1 - total(left[y] for y in others)
        if missed:
            yield (1 - a) * missed, None, without(left, others)


# ---- whole trees -----------------------------------------------------------------------------


def top_down(
    models: Models,
    tree: Tree,
    rule: NodeRule,
    mode: str = "iid",
    *,
    merged: bool = False,
    given: Sequence[int] | None = None,
) -> list[Outcome]:
    """The rule at the root, then at the accepted child, until all children of a node fail or a leaf
    is accepted. ``merged``: siblings with the same token go on with the children of all of them."""

    def walk(tokens: Mapping[int, int], nodes: list[int], z: Prefix) -> Iterator[Outcome]:
        below = [child for node in nodes for child in children(tree, node)]
        if not below:
            yield Outcome(ONE, z, models.B(z), True)
            return
        xs = [tokens[child] for child in below]
        ranks = [rank(tree, child) for child in below]
        for mass, i, then in rule(models, Node(z, xs, ranks, mode)):
            if i is None:
                yield Outcome(mass, z, then)
                continue
            same = [child for child, x in zip(below, xs, strict=True) if x == xs[i]]
            follow = same if merged else [below[i]]
            for share, accepted, more, bonus in walk(tokens, follow, (*z, xs[i])):
                yield Outcome(mass * share, accepted, more, bonus)

    return [
        Outcome(share * mass, accepted, then, bonus)
        for tokens, share in proposals(models, tree, mode, given)
        for mass, accepted, then, bonus in walk(tokens, [ROOT], ())
    ]


def traversal(
    models: Models,
    tree: Tree,
    mode: str = "iid",
    *,
    renormalise: bool = True,
    merged: bool = False,
    given: Sequence[int] | None = None,
) -> list[Outcome]:
    """Leaf to root, depth first, first child first.

    A node has a weight w and a current p (for tests) and s (for the token that follows). A child
    starts with min(1, w p(c) / q(c)). After a rejected child R = [w s - u]_+,
    w <- sum R / (sum R + 1 - w), s <- norm R, p <- norm [w p - q]_+; where siblings are drawn
    without replacement q and u are without the earlier ones. A node without untried children
    accepts its path with w and then emits from s. ``merged``: the first of several siblings with
    one token has the children of all of them, the others are not tried.
    """

    def visit(
        tokens: Mapping[int, int], nodes: list[int], z: Prefix, weight: Fraction
    ) -> tuple[list[Outcome], Fraction]:
        """The outcomes below the nodes, and how often all of it is rejected."""
        below = [child for node in nodes for child in children(tree, node)]
        if not below:
            return [Outcome(weight, z, models.B(z), True)], 1 - weight
        found: list[Outcome] = []
        reached, p, s = ONE, models.P(z), models.S(z)
        xs = [tokens[child] for child in below]
        for i, child in enumerate(below):
            x, r = xs[i], rank(tree, child)
            q, u = models.Q(z, x, r), models.U(z, x, r)
            if mode == "without-replacement":
                drop = without if renormalise else _dropped
                q, u = drop(q, xs[i - r : i]), drop(u, xs[i - r : i])
            follow = [child]
            if merged:
                follow = [c for c, y in zip(below, xs, strict=True) if y == x]
            if follow[0] == child and weight:
                start = min(ONE, ratio(weight * p[x], q[x]))
                inner, rejected = visit(tokens, follow, (*z, x), start)
                found += [o._replace(mass=reached * o.mass) for o in inner]
                reached *= rejected
                if not reached:
                    return found, ZERO
            left, tested = over(s, u, weight), over(p, q, weight)
            p = normalise(tested) if any(tested) else tested
            s = normalise(left) if any(left) else left
            rest = total(left)
            weight = rest / (rest + 1 - weight) if rest + 1 - weight else ONE
        if weight:
            found.append(Outcome(reached * weight, z, normalise(s)))
        return found, reached * (1 - weight)

    whole = []
    for tokens, share in proposals(models, tree, mode, given):
        outcomes, rejected = visit(tokens, [ROOT], (), ONE)
        assert not rejected, "the root is accepted"
        whole += [o._replace(mass=share * o.mass) for o in outcomes]
    return whole


def _dropped(q: Row, gone: Sequence[int]) -> Row:
    return tuple(ZERO if y in gone else value for y, value in enumerate(q))


# ---- acceptance at one node, by itself -------------------------------------------------------


def acceptance(models: Models, rule: NodeRule, n: int, mode: str = "iid") -> Fraction:
    """Chance that some of n children of the root is accepted."""
    outcomes = top_down(models, levels(n), rule, mode)
    return total(o.mass for o in outcomes if o.accepted)


def rrs_stages(p: Row, q: Row, n: int) -> list[Fraction]:
    """The chances beta_i of acceptance at every stage, i.i.d. drafts."""
    found = []
    for _ in range(n):
        found.append(overlap(p, q))
        p = normalise(over(p, q)) if found[-1] < 1 else p
    return found
