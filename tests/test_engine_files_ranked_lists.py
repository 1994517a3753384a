"""Ranked lists: caps, supports and refusals, against laws of which everything is known."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.model.row import FloatValues, Kind, ListedValues
from specdist.readers.engine_files.ranked_checks import TokenValue
from specdist.readers.engine_files.ranked_list import (
    RankedList,
    listed_values,
    looks_complete,
    sum_slack,
)
from tests.listed_files import refuses

SMALL = Fraction(1, 2**15)


def entries(*pairs: tuple[int, float]) -> tuple[TokenValue, ...]:
    return tuple(TokenValue(*pair) for pair in pairs)


def logs(*shares: float) -> list[float]:
    return [math.log(share) if share else -math.inf for share in shares]


@st.composite
def laws(draw: st.DrawFn) -> list[Fraction]:
    """Laws of three to seven tokens, with zeros and ties."""
    weights = draw(st.lists(st.integers(0, 6), min_size=3, max_size=7).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@settings(max_examples=400, deadline=None)
@given(laws(), st.data())
def test_a_law_is_within_every_list_of_it(law: list[Fraction], data: st.DataObject) -> None:
    """The k most likely tokens in any order of ties, with tokens named beside them: caps hold for
    every unlisted token, and a support is right."""
    size = len(law)
    order = sorted(data.draw(st.permutations(range(size))), key=lambda x: -law[x])
    count = data.draw(st.integers(0, size))
    named = data.draw(st.sets(st.integers(0, size - 1)))
    known = data.draw(st.booleans())
    kind = data.draw(st.sampled_from([Kind.PROBABILITIES, Kind.LOGPROBS]))

    def value(token: int) -> float:
        share = float(law[token])
        return share if kind is Kind.PROBABILITIES else logs(share)[0]

    found = RankedList(
        ranked=tuple(TokenValue(x, value(x)) for x in order[:count]),
        more=tuple(TokenValue(x, value(x)) for x in sorted(named)),
        size=size if known else None,
        slack=SMALL,
    )
    listed = {*order[:count], *named}
    positive = {token for token in range(size) if law[token]}
    ended = count > 0 and not law[order[count - 1]]
    if not listed or (ended and not listed & positive):
        refuses(lambda: listed_values(found, kind, "here"), "no token is listed")
        return
    values = listed_values(found, kind, "here")
    if isinstance(values, FloatValues):
        assert known
        assert listed == set(range(size))
        assert values.array.tolist() == [value(token) for token in range(size)]
        return
    shown = dict(zip(map(int, values.ids), values.values.array.tolist(), strict=True))  # type: ignore[union-attr]
    assert shown == {x: value(x) for x in listed if not ended or x in positive}
    if ended:
        assert set(values.support or ()) == positive, "all positive tokens come first"
        assert values.others == 0
        return
    assert values.support is None
    for token in set(range(size)) - listed:
        assert values.cap is None or value(token) <= float(values.cap)
    assert (values.cap is None) == (count == 0)
    assert values.open_ended is not known


def test_the_cap_is_the_last_ranked_value_and_never_one_beside_it() -> None:
    found = RankedList(entries((3, -1.0), (5, -2.0)), entries((9, -7.5), (5, -2.0)))
    values = listed_values(found, Kind.LOGPROBS, "here")
    assert isinstance(values, ListedValues)
    assert (values.ids, values.cap, values.size, values.open_ended) == ((3, 5, 9), -2, 10, True)


def test_a_half_width_widens_the_cap() -> None:
    found = RankedList(entries((3, -1.0), (5, -2.0)), half_width=Fraction(1, 64), size=8)
    values = listed_values(found, Kind.LOGPROBS, "here")
    assert isinstance(values, ListedValues)
    assert (values.cap, values.half_width) == (Fraction(-127, 64), Fraction(1, 64))


def test_all_tokens_with_a_half_width_are_no_complete_row() -> None:
    shares = logs(0.5, 0.25, 0.25)
    found = RankedList(entries(*enumerate(shares)), size=3, half_width=Fraction(1, 64))
    values = listed_values(found, Kind.LOGPROBS, "here")
    assert isinstance(values, ListedValues)
    assert values.others == 0
    whole = RankedList(entries(*enumerate(shares)), size=3, slack=SMALL)
    assert isinstance(listed_values(whole, Kind.LOGPROBS, "here"), FloatValues)


CONTRADICTIONS: dict[str, tuple[RankedList, Kind, tuple[str, ...]]] = {
    "twice": (RankedList(entries((3, -1.0), (3, -1.0))), Kind.LOGPROBS, ("listed twice",)),
    "negative": (RankedList(entries((-3, -1.0))), Kind.LOGPROBS, ("token -3",)),
    "outside": (RankedList(entries((3, -1.0)), size=3), Kind.LOGPROBS, ("a vocabulary of 3",)),
    "NaN": (RankedList(entries((3, math.nan))), Kind.LOGPROBS, ("NaN for token 3",)),
    "+inf": (RankedList(entries((3, math.inf))), Kind.LOGITS, ("+inf for token 3",)),
    "above 0": (RankedList(entries((3, 0.5))), Kind.LOGPROBS, ("above 0",)),
    "above 1": (RankedList(entries((3, 1.5))), Kind.PROBABILITIES, ("a probability of 1.5",)),
    "below 0": (RankedList(entries((3, -0.5))), Kind.PROBABILITIES, ("a probability of -0.5",)),
    "rising": (RankedList(entries((3, -2.0), (4, -1.0))), Kind.LOGPROBS, ("less likely token 3",)),
    "above the last": (
        RankedList(entries((3, -1.0), (4, -2.0)), entries((5, -1.5))), Kind.LOGPROBS,
        ("token 5 is more likely than the last of the 2",),
    ),
    "after 0": (
        RankedList(entries((3, -0.1), (4, -math.inf)), entries((5, -9.0))), Kind.LOGPROBS,
        ("token 5 is more likely",),
    ),
    "two values": (
        RankedList(entries((3, -1.0)), entries((3, -1.25))), Kind.LOGPROBS, ("two values",)
    ),
    "mass": (
        RankedList(entries((3, 0.75), (4, 0.5))), Kind.PROBABILITIES, ("a mass of 1.25",)
    ),
    "mass of all": (
        RankedList((), entries((3, 0.25), (4, 0.5)), only=(3, 4)), Kind.PROBABILITIES,
        ("the only possible tokens have a mass of 0.75",),
    ),
    "nothing": (RankedList(()), Kind.LOGPROBS, ("no token is listed",)),
    "only zeros": (RankedList(entries((3, 0.0))), Kind.PROBABILITIES, ("no token is listed",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_lists_that_contradict_themselves(name: str) -> None:
    found, kind, words = CONTRADICTIONS[name]
    refuses(lambda: listed_values(found, kind, "here"), *words)


def test_logits_have_no_mass_and_masked_ones_close_a_list() -> None:
    found = RankedList(entries((3, 9.0), (4, 8.0), (5, -math.inf)), size=9)
    values = listed_values(found, Kind.LOGITS, "here")
    assert isinstance(values, ListedValues)
    assert (values.support, values.cap, values.others) == ((3, 4), None, 0)


@pytest.mark.parametrize("terms", [2, 40, 257, 5000])
def test_float32_sums_in_sequence_stay_within_the_slack(terms: int) -> None:
    """Random, falling and rising terms; the sum of each is taken exactly beside it."""
    rng = np.random.default_rng(terms)
    slack = float(sum_slack(terms))
    for spread in (0.1, 1.0, 4.0):
        values = np.exp(rng.normal(0, spread, terms)).astype(np.float32)
        for order in (values, np.sort(values), np.sort(values)[::-1]):
            total = np.float32(0)
            for value in order:
                total = np.float32(total + value)
            assert abs(math.log(float(total) / math.fsum(values.tolist()))) <= slack


def test_the_slack_grows_with_the_terms_and_is_exact() -> None:
    assert sum_slack(256) == Fraction(288, 2**24) / (1 - Fraction(288, 2**24))
    assert sum_slack(256) < Fraction(1, 2**15)
    assert sum_slack(10) < sum_slack(1000) < sum_slack(2**18) < Fraction(1, 60)


@pytest.mark.parametrize(
    ("lists", "size"),
    [
        ([[(x, 1 / 16) for x in range(16)]] * 2, 16),
        ([[(x, 1 / 15) for x in range(15)]], None),
        ([[(x, 1 / 16) for x in range(16)], [(x, 1 / 17) for x in range(17)]], None),
        ([[(x, 1 / 32) for x in range(16)]], None),
        ([[(x + 1, 1 / 16) for x in range(16)]], None),
        ([[(0, 1.0)]], None),
        ([], None),
    ],
)
def test_when_lists_look_like_a_whole_vocabulary(lists: Any, size: int | None) -> None:
    found = [entries(*pairs) for pairs in lists]
    assert looks_complete(found, Kind.PROBABILITIES) == size
