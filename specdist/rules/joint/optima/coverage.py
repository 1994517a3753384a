"""How likely a tree of draft tokens is to hold a prefix: the draws of its nodes, by recursion.

Let M(v, z, H) be the probability that no path below a node v, which z leads to up to some place,
goes on as z and then with a token of H. Nodes are independent given their prefixes, so with x the
next token of z

    M(v, z, H) = E[ product over the children c of v with token x of M(c, z, H) ]
    M(v, z, H) = Pr(no child of v has a token in H)                                at the end of z

and the tree holds a prefix zy with y in H with probability 1 - M(root, z, H). For K paths drawn
i.i.d. that is ``1 - (1 - Q(z) Q(H|z))^K``. Merged duplicates hold the same prefixes: the children
of the copies are drawn by the rows of the same prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import prod

from specdist.model.conditional import Prefix
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.model.role import Role
from specdist.rules.joint.draws import Draw, child_draws
from specdist.rules.joint.outcomes import Law, PrefixLaws

_ZERO, _ONE = Fraction(0), Fraction(1)
Ways = dict[tuple[int, ...], Fraction]
"""Which children of a node, by rank, have the next token of a prefix, with the probability."""


@dataclass
class Coverage:
    """The coverage of one tree. Nodes with equal subtrees are one kind, unless tokens are given."""

    tree: DraftTree
    laws: PrefixLaws
    kinds: dict[int, int] = field(init=False)
    _below: dict[int, tuple[int, ...]] = field(init=False, default_factory=dict)
    _sample: dict[int, int] = field(init=False, default_factory=dict)
    _draws: dict[tuple[int, Prefix], list[Draw]] = field(init=False, default_factory=dict)
    _ways: dict[tuple[int, Prefix, int], Ways] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        known: dict[tuple[int, ...], int] = {}
        self.kinds = {}
        for node in range(self.tree.nodes - 1, ROOT - 1, -1):
            below = tuple(self.kinds[child] for child in self.tree.children(node))
            mark = (node,) if self.tree.siblings == "given" else ()
            kind = known.setdefault((*mark, -1, *below), len(known))
            self.kinds[node] = kind
            self._below[kind], self._sample[kind] = below, node

    def goes_on(self, prefix: Prefix) -> bool:
        """Whether the tree may draw further tokens after ``prefix``."""
        return any(self._below[kind] for kind in self._kinds_after(prefix))

    def along(self, prefix: Prefix, order: Sequence[int]) -> tuple[list[Fraction], list[Fraction]]:
        """``Pr(the tree holds zy with y in H)`` for z = ``prefix``: for every single token of
        ``order``, and for the first 1, 2, .. tokens of it."""
        root = self.kinds[ROOT]
        ends = {kind: self._ends(kind, prefix, order) for kind in self._kinds_after(prefix)}
        found: tuple[list[Fraction], list[Fraction]] = ([], [])
        for which in (0, 1):
            for place in range(len(order)):
                last = {kind: ends[kind][which][place] for kind in ends}
                found[which].append(_ONE - self._missed(root, 0, prefix, last, {}))
        return found

    def _kinds_after(self, prefix: Prefix) -> set[int]:
        """The kinds of the nodes that ``prefix`` may lead to."""
        kinds = {self.kinds[ROOT]}
        for depth, token in enumerate(prefix):
            above = prefix[:depth]
            kinds = {
                self._below[kind][rank]
                for kind in kinds
                for ranks in self._going(kind, above, token)
                for rank in ranks
            }
        return kinds

    def _missed(
        self,
        kind: int,
        depth: int,
        prefix: Prefix,
        last: dict[int, Fraction],
        known: dict[tuple[int, int], Fraction],
    ) -> Fraction:
        if depth == len(prefix):
            return last[kind]
        if (kind, depth) not in known:
            below, above, token = self._below[kind], prefix[:depth], prefix[depth]
            ways = self._going(kind, above, token)
            values = {
                below[rank]: self._missed(below[rank], depth + 1, prefix, last, known)
                for ranks in ways
                for rank in ranks
            }
            if self.tree.siblings == "iid":
                factors = (1 - mass * (1 - values[below[rank]]) for (rank,), mass in ways.items())
                known[kind, depth] = prod(factors, start=_ONE)
            else:
                known[kind, depth] = sum(
                    (mass * prod(values[below[r]] for r in ranks) for ranks, mass in ways.items()),
                    _ZERO,
                )
        return known[kind, depth]

    def _rows(self, kind: int, prefix: Prefix) -> list[Law]:
        ranks = range(len(self._below[kind]))
        return [self.laws.law(Role.DRAFTED_FROM, prefix, rank) for rank in ranks]

    def _drawn(self, kind: int, prefix: Prefix) -> list[Draw]:
        if (kind, prefix) not in self._draws:
            node = self._sample[kind]
            self._draws[kind, prefix] = list(child_draws(self.tree, node, prefix, self.laws))
        return self._draws[kind, prefix]

    def _going(self, kind: int, prefix: Prefix, token: int) -> Ways:
        """How the children of a node may have a token: for i.i.d. siblings each for itself."""
        key = (kind, prefix, token)
        if key not in self._ways:
            ways: Ways = {}
            if self.tree.siblings == "iid":
                rows = enumerate(self._rows(kind, prefix))
                ways = {(rank,): row[token] for rank, row in rows if row[token]}
            else:
                for tokens, mass in self._drawn(kind, prefix):
                    ranks = tuple(rank for rank, drawn in enumerate(tokens) if drawn == token)
                    ways[ranks] = ways.get(ranks, _ZERO) + mass
            self._ways[key] = ways
        return self._ways[key]

    def _ends(
        self, kind: int, prefix: Prefix, order: Sequence[int]
    ) -> tuple[list[Fraction], list[Fraction]]:
        """``Pr(no child in H)`` for a node that the whole prefix leads to: every single token, and
        the first 1, 2, .. of ``order``."""
        if self.tree.siblings == "iid":
            rows = [[row[token] for token in order] for row in self._rows(kind, prefix)]
            sums = [list(accumulate(row)) for row in rows]
            ones, more = (
                [prod((1 - row[i] for row in part), start=_ONE) for i in range(len(order))]
                for part in (rows, sums)
            )
            return ones, more
        place = {token: index for index, token in enumerate(order)}
        single, first = [_ZERO] * len(order), [_ZERO] * len(order)
        for tokens, mass in self._drawn(kind, prefix):
            places = {place[token] for token in tokens if token in place}
            for index in places:
                single[index] += mass
            if places:
                first[min(places)] += mass
        return [1 - mass for mass in single], [1 - mass for mass in accumulate(first)]
