"""The shape of a proposal: a chain or a tree of draft tokens, and how siblings are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

Siblings = Literal["iid", "without-replacement", "top", "top-then-sampled", "hub", "given"]
"""How the children of a node are drawn from the draft row at its prefix q:

``iid``  each independently from its drafter's q;
``without-replacement``  one after the other from q without the earlier siblings, renormalised;
``top``  the n most probable tokens of q, falling, ties by rising id (distinct, deterministic);
``top-then-sampled``  the n - 1 most probable tokens, and last a draw from q without them;
``hub``  two children, one of them the most probable token h of q: x ~ q; if x is not h the pair is
         (x, h), and if x is h the pair is (h, y) with y ~ q without h (SpecHub);
``given``  the tokens that the capture names, whatever the rows.
"""
SIBLINGS: tuple[Siblings, ...] = get_args(Siblings)

Duplicates = Literal["separate", "merged"]
"""Siblings with the same token: nodes of their own, or one node with the children of both."""

ROOT = -1


@dataclass(frozen=True)
class DraftTree:
    """A tree of draft tokens without its tokens. Node i has parent ``parents[i]`` (`ROOT` for the
    root), which is smaller than i; siblings are ordered by their number, their rank. A chain of
    draft length n is ``(-1, 0, 1, ..., n - 2)``; no draft token at all is ``()``.

    ``tokens`` are those of ``siblings == "given"``, one a node.
    """

    parents: tuple[int, ...]
    siblings: Siblings = "iid"
    duplicates: Duplicates = "separate"
    tokens: tuple[int, ...] | None = None

    @classmethod
    def chain(cls, length: int) -> DraftTree:
        """``length`` draft tokens, one after the other."""
        return cls(tuple(range(-1, length - 1)))

    @classmethod
    def levels(
        cls,
        children: Sequence[int],
        siblings: Siblings = "iid",
        duplicates: Duplicates = "separate",
    ) -> DraftTree:
        """``children[d]`` children for every node of depth d, level after level."""
        parents: list[int] = []
        level = [ROOT]
        for count in children:
            start = len(parents)
            parents += [parent for parent in level for _ in range(count)]
            level = list(range(start, len(parents)))
        return cls(tuple(parents), siblings, duplicates)

    @property
    def nodes(self) -> int:
        return len(self.parents)

    @cached_property
    def by_parent(self) -> dict[int, tuple[int, ...]]:
        """The children of every node and of the root, by rank."""
        found: dict[int, list[int]] = {node: [] for node in range(ROOT, self.nodes)}
        for node, parent in enumerate(self.parents):
            found[parent].append(node)
        return {node: tuple(children) for node, children in found.items()}

    def children(self, node: int) -> tuple[int, ...]:
        return self.by_parent[node]

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """The place of every node among its siblings."""
        return tuple(self.by_parent[p].index(node) for node, p in enumerate(self.parents))

    @cached_property
    def levels_of(self) -> tuple[int, ...]:
        """The depth of every node: 1 for a child of the root."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent == ROOT else depths[parent] + 1)
        return tuple(depths)

    @property
    def depth(self) -> int:
        """The draft tokens on the longest path."""
        return max(self.levels_of, default=0)

    def cut(self, depth: int) -> DraftTree:
        """The same tree without the nodes below ``depth``."""
        kept = [node for node, level in enumerate(self.levels_of) if level <= depth]
        number = {node: place for place, node in enumerate(kept)} | {ROOT: ROOT}
        parents = tuple(number[self.parents[node]] for node in kept)
        tokens = None if self.tokens is None else tuple(self.tokens[node] for node in kept)
        return DraftTree(parents, self.siblings, self.duplicates, tokens)

    @property
    def is_chain(self) -> bool:
        return all(len(children) <= 1 for children in self.by_parent.values())

    @property
    def shape(self) -> str:
        """How it is said: ``a chain of 2 draft tokens``."""
        count = f"{self.nodes} draft token{'' if self.nodes == 1 else 's'}"
        return (
            f"a chain of {count}"
            if self.is_chain
            else f"a tree of {count}, siblings {self.siblings}"
        )
