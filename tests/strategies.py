"""Hypothesis strategies of rational rows: three tokens or more, many zeros, many ties.

Two tokens hide residual bugs (every residual is then a point mass on the same token), so no
strategy makes a row of two.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

Row = list[Fraction]
Pair = tuple[Row, Row]
MAX_SIZE = 7

_weights = st.one_of(
    st.sampled_from([0, 0, 1, 1, 2, 3]),
    st.integers(0, 12),
    st.integers(0, 10**9),
)


def _row(weights: list[int]) -> Row:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]


@st.composite
def rows(draw: st.DrawFn, size: int | None = None, max_size: int = MAX_SIZE) -> Row:
    """One distribution."""
    size = size if size is not None else draw(st.integers(3, max_size))
    weights = draw(st.lists(_weights, min_size=size, max_size=size))
    if not any(weights):
        weights[draw(st.integers(0, size - 1))] = 1
    return _row(weights)


@st.composite
def full_rows(draw: st.DrawFn, size: int) -> Row:
    """A distribution that makes every token possible."""
    return _row(draw(st.lists(st.integers(1, 9), min_size=size, max_size=size)))


@st.composite
def _near(draw: st.DrawFn, row: Row) -> Row:
    """The same row with a sliver moved from one token to another."""
    source = draw(st.sampled_from([y for y, value in enumerate(row) if value]))
    goal = draw(st.integers(0, len(row) - 1))
    sliver = row[source] / draw(st.sampled_from([2, 3, 10**6, 2**60, 10**40]))
    moved = list(row)
    moved[source] -= sliver
    moved[goal] += sliver
    return moved


@st.composite
def _disjoint(draw: st.DrawFn, size: int) -> Pair:
    """Two rows without a common token."""
    owner = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    owner[0], owner[-1] = True, False
    weights = draw(st.lists(st.integers(1, 5), min_size=size, max_size=size))
    split = [[w if mine is side else 0 for w, mine in zip(weights, owner, strict=True)]
             for side in (True, False)]  # fmt: skip
    return _row(split[0]), _row(split[1])


@st.composite
def pairs(draw: st.DrawFn, max_size: int = MAX_SIZE) -> Pair:
    """Target and draft: independent, equal, near-equal, a permutation, disjoint."""
    size = draw(st.integers(3, max_size))
    shape = draw(st.sampled_from(["free", "free", "free", "near", "equal", "shuffled", "disjoint"]))
    if shape == "disjoint":
        return draw(_disjoint(size))
    target = draw(rows(size))
    if shape == "free":
        return target, draw(rows(size))
    if shape == "near":
        return target, draw(_near(target))
    if shape == "shuffled":
        return target, draw(st.permutations(target))
    return target, list(target)


TARGET_ROLES = ("reference", "accept_target", "residual_target")
DRAFT_ROLES = ("drafted_from", "accept_draft", "residual_draft")


@st.composite
def role_rows(draw: st.DrawFn, target: Row, draft: Row) -> dict[str, Row | str]:
    """Some roles replaced by rows of their own or, on the draft side, by the one-hot draft.

    The rows that are divided by and subtracted are such that nothing is divided by zero and no
    residual is empty; those two cases have tests of their own.
    """
    size = len(target)
    roles: dict[str, Row | str] = {}
    for role in (*TARGET_ROLES, "drafted_from"):
        if draw(st.booleans()):
            roles[role] = draw(st.one_of(rows(size), _near(target), st.just(list(draft))))
    drafted = roles.get("drafted_from", draft)
    choice = draw(st.sampled_from(["one-hot", "full", "drafted"]))
    roles["accept_draft"] = (
        "one-hot" if choice == "one-hot"
        else draw(full_rows(size)) if choice == "full"
        else list(drafted)
    )  # fmt: skip
    if draw(st.booleans()):
        roles["residual_draft"] = draw(st.one_of(rows(size), st.just("one-hot")))
    return roles
