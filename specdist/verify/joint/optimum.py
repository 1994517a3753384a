"""What any lossless rule can accept of a step's proposals, next to what the rule does."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.exact.drafts_optimum import (
    Enclosed,
    optimum_iid,
    optimum_top,
    optimum_top_then_sampled,
)
from specdist.exact.law import Law
from specdist.exact.rational_vector import rounded_up
from specdist.exact.vectors import vectors_of_laws
from specdist.model.draft_tree import DraftTree, Siblings
from specdist.model.figure import Figure
from specdist.model.joint_report import Optimum
from specdist.rules.joint.optima.chain_optimum import chain_optimum
from specdist.rules.joint.optima.path_bound import path_bound, prefix_count
from specdist.rules.joint.optima.position_optimum import position_optimum
from specdist.rules.joint.outcomes import PrefixLaws

MOST_PREFIXES = 200_000
"""Prefixes, times the nodes of a tree, that an optimum may look at."""

_ZERO, _ONE = Fraction(0), Fraction(1)


def optima(
    tree: DraftTree,
    laws: PrefixLaws,
    expected_accepted: Fraction,
    rounding: Fraction = _ZERO,
    accepted_bound: Fraction = _ZERO,
) -> tuple[Optimum, ...]:
    """What applies to the shape of the step:

    one draft token            "one draft"        1 - TV
    a chain                    "block"            attained by block verification
                               "overlap bound"    of whole blocks, in general not attained
    n drafts at one position   "n drafts"         the subset formula
    other trees                "multi-path bound" in general not attained

    ``rounding`` is the relative bound of every weight of the rows, ``accepted_bound`` that of
    ``expected_accepted``. Empty where `optima_note` says so, and without any draft token.
    """
    if not tree.nodes or optima_note(tree, laws.size) is not None:
        return ()
    slack = _relative(rounding, tree)
    return tuple(
        Optimum(
            name,
            _figure(value, value * slack),
            _figure(value - expected_accepted, value * slack + accepted_bound),
            attained,
            note,
        )
        for name, value, attained, note in _values(tree, laws)
    )


def _values(tree: DraftTree, laws: PrefixLaws) -> Iterator[tuple[str, Fraction, bool, str]]:
    if tree.is_chain:
        found = chain_optimum(tree, laws)
        if tree.depth == 1:
            yield "one draft", found.block, True, ""
            return
        yield "block", found.block, True, ""
        note = "it ignores that the output must go on as the target"
        yield "overlap bound", found.overlap, found.overlap == found.block, note
        return
    if tree.depth == 1:
        value = position_optimum(tree, laws)
        if value is not None:
            yield f"{tree.nodes} drafts", value, True, ""
            return
    yield "multi-path bound", path_bound(tree, laws), False, ""


def optima_note(tree: DraftTree, size: int) -> str | None:
    """Why no optimum is worked out for a tree over ``size`` tokens, None where one is."""
    prefixes = prefix_count(tree, size)
    work = prefixes * (1 if tree.is_chain or tree.depth == 1 else tree.nodes)
    if work <= MOST_PREFIXES:
        return None
    return (
        f"optimum not worked out: {prefixes:,} prefixes"
        + ("" if tree.is_chain else f" and {tree.nodes} nodes")
        + f", more than {MOST_PREFIXES:,} in all"
    )


def drafts_optimum(
    target: Law, draft: Law, count: int, siblings: Siblings = "iid"
) -> Figure | None:
    """The largest probability with which one of ``count`` draft tokens at one position is
    accepted, for two laws over one vocabulary of any size, with the rounding bound.

    For siblings drawn i.i.d., the ``top`` ones, ``top-then-sampled``, and ``hub`` (two drafts).
    None for other siblings (one draft is one draft however it is drawn), and where the draft has
    no token left to draw.
    """
    vectors = vectors_of_laws({"target": target, "draft": draft})
    both = vectors["target"], vectors["draft"]
    found: Enclosed | None = None
    if siblings == "top":
        found = optimum_top(*both, count)
    elif siblings == "iid" or (count == 1 and siblings != "given"):
        found = optimum_iid(*both, count)
    elif siblings == "top-then-sampled" or (siblings == "hub" and count == 2):
        found = optimum_top_then_sampled(*both, count)
    return None if found is None else _figure(found.value, found.bound)


def _relative(rounding: Fraction, tree: DraftTree) -> Fraction:
    """How far, relatively, rounded rows move an optimum.

    Each probability is off by a factor between ``(1 - e) / (1 + e)`` and its inverse. Optima are
    made of these by products, sums, minima, quotients by sums (draws without replacement) and
    covers: a cover grows by at most the factor by which its probabilities do, being concave in
    them and 0 at 0. So the factors of one path are multiplied: one of the target for each level,
    and one of the draft, 2 n - 1 for n draws without replacement.
    """
    if not rounding:
        return _ZERO
    if rounding >= Fraction(1, 2):
        return _ONE
    factors = tree.depth + 2 * tree.nodes
    return Fraction(((1 + rounding) / (1 - rounding)) ** factors) - 1


def _figure(value: Fraction, bound: Fraction) -> Figure:
    return Figure.of(value, rounded_up(bound) if bound else None)
