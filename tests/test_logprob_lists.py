"""What lists of likely tokens say of the tokens they leave out: sound for every way to list."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from specdist.model.row import FloatValues, ListedValues
from tests.answer_files import (
    by_id,
    by_text,
    cap_of,
    chat,
    completion,
    engine_order,
    listed,
    objects,
    rows_of,
)


@st.composite
def positions(draw: Any) -> list[tuple[list[float], int]]:
    """Laws of 3 to 8 tokens with many ties, each with a sampled token."""
    size = draw(st.integers(3, 8))
    weights = st.lists(st.integers(1, 4), min_size=size, max_size=size)
    found = []
    for _ in range(draw(st.integers(1, 4))):
        row = draw(weights)
        total = sum(row)
        found.append(([math.log(x / total) for x in row], draw(st.integers(0, size - 1))))
    return found


def check(rows: list[Any], laws: list[list[float]], sampled: list[int]) -> int:
    """Every listed value is the token's own; no unlisted token exceeds the cap. Returns how many
    rows have one."""
    caps = 0
    for row, law, token in zip(rows, laws, sampled, strict=True):
        values = listed(row)
        assert all(law[x] == value for x, value in values.items())
        assert row.token == token
        if isinstance(row.values, FloatValues):
            continue
        unlisted = [law[x] for x in range(len(law)) if x not in values]
        cap = cap_of(row)
        caps += cap is not None
        assert cap is None or all(value <= cap for value in unlisted)
        if cap is not None and len(values) > 1:
            assert cap in values.values()
    return caps


@given(positions(), st.integers(1, 8), st.booleans())
def test_merged_lists_with_ranks(
    found: list[tuple[list[float], int]], k: int, at_ties: bool
) -> None:
    laws, sampled = [law for law, _ in found], [token for _, token in found]
    document = [objects(law, token, k, at_ties) for law, token in found]
    check(rows_of(document), laws, sampled)


@given(positions(), st.integers(1, 8), st.booleans())
def test_merged_lists_without_ranks(
    found: list[tuple[list[float], int]], k: int, at_ties: bool
) -> None:
    tops = [
        {f"token_id:{x}": law[x] for x in engine_order(law, token, k, at_ties)}
        for law, token in found
    ]
    tokens = [f"token_id:{token}" for _, token in found]
    answer = completion(tops, tokens, [law[token] for law, token in found])
    check(rows_of(answer), [law for law, _ in found], [token for _, token in found])


@given(positions(), st.integers(1, 8), st.booleans())
def test_cut_lists(found: list[tuple[list[float], int]], k: int, at_ties: bool) -> None:
    content = [
        by_id(token, law[token], [(x, law[x]) for x in engine_order(law, token, k, at_ties)[:k]])
        for law, token in found
    ]
    rows = rows_of(chat(content))
    check(rows, [law for law, _ in found], [token for _, token in found])


@given(positions(), st.integers(1, 8), st.booleans())
def test_lists_of_the_likeliest_with_the_sampled_token_apart(
    found: list[tuple[list[float], int]], k: int, leave_it_out: bool
) -> None:
    """OpenAI's lists, and LMDeploy's, which leave the sampled token out."""
    content = []
    for law, token in found:
        ids = sorted(range(len(law)), key=lambda x: -law[x])[:k]
        tops = [(f"t{x}", law[x]) for x in ids if not (leave_it_out and x == token)]
        content.append(by_text(f"t{token}", law[token], tops))
    for row, (law, token) in zip(rows_of(chat(content)), found, strict=True):
        values = {int(label[1:]): value for label, value in listed(row).items()}
        assert all(law[x] == value for x, value in values.items())
        assert row.labels is not None
        assert row.token is not None
        assert row.labels[row.token] == f"t{token}".encode()
        cap = cap_of(row)
        others = [law[x] for x in range(len(law)) if x not in values]
        assert cap is None or all(value <= cap for value in others)


@given(positions(), st.integers(1, 3), st.booleans())
def test_ranks_tighten_what_the_order_leaves_open(
    found: list[tuple[list[float], int]], k: int, at_ties: bool
) -> None:
    """With r the rank of the sampled token among n entries: r <= n puts it among the n likeliest,
    so the least listed value is the bound; else the least of the others is."""
    for row, (law, token) in zip(
        rows_of([objects(law, token, k, at_ties) for law, token in found]), found, strict=True
    ):
        entries = objects(law, token, k, at_ties)
        rank = entries[str(token)]["rank"]
        values = [item["logprob"] for item in entries.values()]
        others = [item["logprob"] for key, item in entries.items() if int(key) != token]
        if isinstance(row.values, ListedValues) and row.values.others is None:
            cap = cap_of(row)
            if cap is not None:
                assert cap == (min(values) if rank <= len(values) else min(others))
