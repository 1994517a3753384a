"""How the draft tokens of a tree come about: the law of a node's children, and of whole proposals.

The children of the node that a prefix leads to are drawn from the rows Q_r of `drafted_from` at
that prefix, one for each rank r (one row for all ranks, or several drafters), as `Siblings` says:

    iid                  Pr(c_1 .. c_n) = prod Q_r(c_r)
    without-replacement  prod Q_r(c_r) / (1 - Q_r(c_1) - .. - Q_r(c_(r-1))), all c distinct
    top                  c_r = the most probable token of Q_r that no earlier sibling is
    top-then-sampled     top for all but the last; the last one from its Q_r without them
    hub                  h = the most probable token of Q_0: (x, h) with probability Q_0(x) for
                         x other than h, (h, y) with Q_0(h) Q_0(y) / (1 - Q_0(h))
    given                the tokens of the tree

Equal probabilities go to the lower id. Nodes are independent given their prefixes. Sources: i.i.d.,
SpecInfer 2305.09781 and SpecTr 2310.15141; without replacement, Sequoia 2402.12374; the most
probable ones, Medusa 2401.10774 and EAGLE-2 2406.16858; hub, SpecHub 2411.05289.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from specdist.errors import SettingsError
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.model.role import Role
from specdist.rules.joint.outcomes import Drafted, Law, PrefixLaws

Draw = tuple[tuple[int, ...], Fraction]
"""The tokens of all children of a node, by rank, and their probability."""

_ZERO, _ONE = Fraction(0), Fraction(1)
_COUNTED = 20_000


def child_draws(tree: DraftTree, node: int, prefix: Prefix, laws: PrefixLaws) -> Iterator[Draw]:
    """The tokens of the children of ``node``, which ``prefix`` leads to, with their probabilities:
    positive, of sum 1. A leaf has the one draw ``()``.

    Raises SettingsError that names the prefix where the tree asks for more than the rows hold: no
    token left to draw without replacement, none outside the top or the hub, more children than
    tokens, a hub without two children, a given token outside the vocabulary or none given.
    """
    children = tree.children(node)
    if not children:
        yield (), _ONE
    elif tree.siblings == "given":
        yield tuple(_given(tree, child, prefix, laws.size) for child in children), _ONE
    else:
        rows = [laws.law(Role.DRAFTED_FROM, prefix, rank) for rank in range(len(children))]
        yield from _drawn(tree, rows, prefix)


def _drawn(tree: DraftTree, rows: list[Law], prefix: Prefix) -> Iterator[Draw]:
    fixed = len(rows) - {"top": 0, "top-then-sampled": 1}.get(tree.siblings, len(rows))
    if tree.siblings == "iid":
        return _independent(rows)
    if tree.siblings == "hub":
        return _hub(rows, prefix)
    return _distinct(rows, _top(rows[:fixed], prefix), prefix, tree.siblings)


def _independent(rows: list[Law]) -> Iterator[Draw]:
    supports = [[(token, mass) for token, mass in enumerate(row) if mass] for row in rows]
    for choice in product(*supports):
        mass = _ONE
        for _, factor in choice:
            mass *= factor
        yield tuple(token for token, _ in choice), mass


def _top(rows: list[Law], prefix: Prefix) -> tuple[int, ...]:
    chosen: list[int] = []
    for row in rows:
        left = [token for token in range(len(row)) if token not in chosen]
        if not left:
            raise SettingsError(
                f"the {len(rows)} most probable tokens after the prefix {written_prefix(prefix)} "
                f"are more than the vocabulary has: {len(row)}",
                expected="at most as many children as tokens",
                advice="give the nodes of the tree fewer children",
            )
        chosen.append(_most_probable(row, left))
    return tuple(chosen)


def _distinct(
    rows: list[Law], chosen: tuple[int, ...], prefix: Prefix, siblings: str, mass: Fraction = _ONE
) -> Iterator[Draw]:
    """The siblings from ``chosen`` on, one after the other, each without those before it."""
    if len(chosen) == len(rows):
        yield chosen, mass
        return
    row = rows[len(chosen)]
    possible = [token for token, share in enumerate(row) if share and token not in chosen]
    if not possible:
        raise _exhausted(prefix, len(chosen), siblings)
    left = sum((row[token] for token in possible), _ZERO)
    for token in possible:
        share = mass * row[token] / left
        yield from _distinct(rows, (*chosen, token), prefix, siblings, share)


def _hub(rows: list[Law], prefix: Prefix) -> Iterator[Draw]:
    row = rows[0]
    if len(rows) != 2:
        raise SettingsError(
            f"the node after the prefix {written_prefix(prefix)} has "
            f"{len(rows)} child{'ren' if len(rows) > 1 else ''}, and a hub needs two",
            expected="two children for every node that has any",
            advice="take a tree such as 2,2, or other siblings",
        )
    hub = top_of(row)
    others = [token for token, share in enumerate(row) if share and token != hub]
    if not others:
        raise _exhausted(prefix, 1, "hub")
    outside = sum((row[token] for token in others), _ZERO)
    for token in others:
        yield (token, hub), row[token]
        yield (hub, token), row[hub] * row[token] / outside


def top_of(row: Law) -> int:
    """The most probable token, the lowest id among equals."""
    return _most_probable(row, range(len(row)))


def _most_probable(row: Law, tokens: Sequence[int]) -> int:
    """The first of ``tokens``, in rising order, that no other exceeds. Rounded entries are ties
    where they are one object (`bounded`)."""
    best = tokens[0]
    for token in tokens[1:]:
        if row[token] != row[best] and row[token] > row[best]:
            best = token
    return best


def _exhausted(prefix: Prefix, drawn: int, siblings: str) -> SettingsError:
    instead = "iid siblings" if siblings == "without-replacement" else "other siblings"
    return SettingsError(
        f"after the prefix {written_prefix(prefix)} no token is left to draw for child "
        f"{drawn + 1}: the draft row has no mass outside the {drawn} before it",
        expected=f"a draft row with at least {drawn + 1} possible tokens for siblings {siblings}",
        advice=f"give the node fewer children, take {instead}, or cut the draft row less",
    )


def _given(tree: DraftTree, child: int, prefix: Prefix, size: int) -> int:
    if tree.tokens is None or len(tree.tokens) != tree.nodes:
        raise SettingsError(
            f"the tree has {tree.nodes} draft tokens and {len(tree.tokens or ())} are given",
            expected="one draft token a node for siblings given",
            advice="name them, in the order of the nodes",
        )
    token = tree.tokens[child]
    if not 0 <= token < size:
        raise SettingsError(
            f"draft token {token} of node {child}, after the prefix {written_prefix(prefix)}, "
            f"is outside the vocabulary of {size} tokens",
            expected=f"token ids from 0 to {size - 1}",
            advice="name another draft token",
        )
    return token


def proposals(tree: DraftTree, laws: PrefixLaws) -> Iterator[tuple[Drafted, Fraction]]:
    """Every proposal of positive probability, with it; the sum is 1. Raises as `child_draws`."""
    inner = [node for node in range(ROOT, tree.nodes) if tree.children(node)]
    known: dict[tuple[int, Prefix], list[Draw]] = {}

    def extended(tokens: tuple[int, ...], mass: Fraction, index: int) -> Iterator[Draw]:
        if index == len(inner):
            yield tokens, mass
            return
        node = inner[index]
        prefix = Drafted(tree, tokens).prefix(node)
        if (node, prefix) not in known:
            known[node, prefix] = list(child_draws(tree, node, prefix, laws))
        for drawn, probability in known[node, prefix]:
            filled = list(tokens)
            for child, token in zip(tree.children(node), drawn, strict=True):
                filled[child] = token
            yield from extended(tuple(filled), mass * probability, index + 1)

    for tokens, mass in extended((0,) * tree.nodes, _ONE, 0):
        yield Drafted(tree, tokens), mass


def draw_count(tree: DraftTree, node: int, size: int) -> int:
    """The most draws that the children of ``node`` can have, over ``size`` tokens."""
    children = len(tree.children(node))
    if tree.siblings == "iid":
        return int(size**children)
    if not children or tree.siblings in {"top", "given"}:
        return 1
    if tree.siblings == "hub":
        return 2 * (size - 1)
    if tree.siblings == "top-then-sampled":
        return max(size - children + 1, 1)
    count = 1
    for drawn in range(children):
        count *= max(size - drawn, 1)
    return count


def proposal_count(tree: DraftTree, laws: PrefixLaws) -> int:
    """How many proposals `proposals` lists. Counted where at most 20,000 drawn tokens decide it;
    beyond that, the number for rows that forbid no token, which is never too small."""
    most = 1
    for node in range(ROOT, tree.nodes):
        most *= draw_count(tree, node, laws.size)
    counted = _Count(tree, laws).below(ROOT, ())
    return most if counted is None else counted


class _Count:
    """Proposals counted by prefix, until too many draws were looked at."""

    def __init__(self, tree: DraftTree, laws: PrefixLaws) -> None:
        self.tree, self.laws, self.looked = tree, laws, 0

    def below(self, node: int, prefix: Prefix) -> int | None:
        children = self.tree.children(node)
        total = 0
        for drawn, _ in child_draws(self.tree, node, prefix, self.laws):
            self.looked += max(len(children), 1)
            ways = 1
            for child, token in zip(children, drawn, strict=True):
                below = self.below(child, (*prefix, token)) if self.tree.children(child) else 1
                if below is None:
                    return None
                ways *= below
            total += ways
            if self.looked > _COUNTED:
                return None
        return total
