"""The optimum of several drafts at one position, for every way of drawing siblings."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.drafts_optimum import Enclosed, optimum_iid, optimum_top_then_sampled
from specdist.exact.rational_vector import RationalVector
from specdist.exact.subset_optimum import optimum_by_subsets
from specdist.model.draft_tree import ROOT, DraftTree
from specdist.model.role import Role
from specdist.rules.joint.draws import child_draws, draw_count
from specdist.rules.joint.outcomes import PrefixLaws

MOST_DRAWS = 200_000
"""Draws of the children that are listed at most."""


def position_optimum(tree: DraftTree, laws: PrefixLaws) -> Fraction | None:
    """The largest probability with which one of the children of the root is accepted, for a tree of
    depth 1: by `drafts_optimum` where its formulas hold, else by all sets of tokens. None where
    there are too many of them."""
    children = tree.children(ROOT)
    target = RationalVector(laws.law(Role.REFERENCE, ()))
    if tree.siblings in ("iid", "top-then-sampled", "hub"):
        rows = [laws.law(Role.DRAFTED_FROM, (), rank) for rank in range(len(children))]
        if all(row == rows[0] for row in rows):
            draft = RationalVector(rows[0])
            by = optimum_iid if tree.siblings == "iid" else optimum_top_then_sampled
            found: Enclosed | None = by(target, draft, len(children))
            return None if found is None else found.value
    if draw_count(tree, ROOT, laws.size) > MOST_DRAWS:
        return None
    by_sets = optimum_by_subsets(target.entries, child_draws(tree, ROOT, (), laws))
    return None if by_sets is None else by_sets.acceptance
