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
    """Each of k drafts is accepted with min(1, p / (rho q)); b = sum min(q, p/rho); the residual is
    norm(p - min(q, p/rho) (1 - (1-b)^k) / b), which must not be negative."""

    def rule(models: Models, node: Node) -> Iterator[Verdict]:
        z, xs = node.z, node.xs
        p, q = models.P(z), models.Q(z, xs[0])
        accepted = [min(b, a / rho) for a, b in zip(p, q, strict=True)]
        b = total(accepted)
        rate = 1 - (1 - b) ** len(xs)
        scale = rate / b if b else ZERO
        left = [a - scale * m for a, m in zip(models.S(z), accepted, strict=True)]
        if min(left) < 0:
            raise NoAnswerError("rho is too small: the residual is negative")
        reached = ONE
        for i, x in enumerate(xs):
            a = min(ONE, ratio(p[x], rho * q[x]))
            if a:
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


def target_only(models: Models, node: Node) -> Iterator[Verdict]:
    """Distinct children: the first i with u <= p(c_1) + .. + p(c_i), else p without them."""
    p, xs = models.P(node.z), node.xs
    for i, x in enumerate(xs):
        if p[x]:
            yield p[x], i, None
    missed = 1 - total(p[x] for x in xs)
    if missed:
        yield missed, None, without(models.S(node.z), xs)


def last_first(models: Models, node: Node) -> Iterator[Verdict]:
    """Top tokens and one draw x from q without them, as greedy drafts and SpecHub have it: x is
    tested with min(1, p / q'), q' its law; what that leaves of p accepts the others whole."""
    z, xs = node.z, node.xs
    law = models.Q(z, xs[0])
    top = ordered(law)[: len(xs) - 1]
    (i,) = (i for i, x in enumerate(xs) if x not in top)
    x, q = xs[i], without(law, top)
    a = min(ONE, ratio(models.P(z)[x], q[x]))
    if a:
        yield a, i, None
    if a < 1:
        left = normalise(over(models.S(z), q))
        for j, y in enumerate(xs):
            if j != i and left[y]:
                yield (1 - a) * left[y], j, None
        missed = 1 - total(left[y] for y in top)
        if missed:
            yield (1 - a) * missed, None, without(left, top)


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
    models: Models, tree: Tree, mode: str = "iid", *, renormalise: bool = True
) -> list[Outcome]:
    """Leaf to root, depth first, first child first (theory section 3.3).

    A node has a weight w, a current p and a current q. A child starts with min(1, w p(c) / q(c)).
    After a rejected child R = [w p - q]_+, w <- sum R / (sum R + 1 - w), p <- norm R, and the child
    leaves q where siblings are drawn without replacement. A node without untried children accepts
    its path with w and then emits from p.
    """

    def visit(
        tokens: Mapping[int, int], node: int, weight: Fraction
    ) -> tuple[list[Outcome], Fraction]:
        """The outcomes below the node, and how often all of it is rejected."""
        z = prefix(tree, tokens, node)
        below, found, reached = children(tree, node), [], ONE
        p = models.S(z) if below else models.B(z)
        gone: list[int] = []
        for i, child in enumerate(below):
            x = tokens[child]
            q = models.Q(z, x, i)
            if mode == "without-replacement":
                q = without(q, gone) if renormalise else _dropped(q, gone)
            inner, reached_after = visit(tokens, child, min(ONE, ratio(weight * p[x], q[x])))
            found += [o._replace(mass=reached * o.mass) for o in inner]
            reached *= reached_after
            if not reached:
                return found, ZERO
            left = over(p, q, weight)
            mass = total(left)
            weight = mass / (mass + 1 - weight) if mass else ZERO
            p = normalise(left) if mass else p
            gone.append(x)
        if weight:
            found.append(Outcome(reached * weight, z, p, not below))
        return found, reached * (1 - weight)

    whole = []
    for tokens, share in proposals(models, tree, mode):
        outcomes, rejected = visit(tokens, ROOT, ONE)
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
