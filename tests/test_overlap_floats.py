"""The overlap of large partial laws in float64: certified ends, next to those in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from specdist.exact import float_lower, float_overlap, spans
from specdist.exact.float_masses import sum_down, sum_up, sums
from specdist.exact.float_overlap import float_overlap as overlap_of_floats
from specdist.exact.interval import Interval
from specdist.exact.law import FloatLaw
from specdist.exact.overlap_bounds import as_partial, contradiction, overlap, rest_of, share_of
from specdist.exact.partial_law import PartialLaw
from specdist.exact.partial_masses import free_scale, share, totals_of
from tests.oracle_joint import ZERO
from tests.partial_rows import as_floats, random_cut, random_row

V = 151_936
NEAR = Fraction(1, 10**9)
Array = NDArray[np.float64]


def in_floats(target: PartialLaw, draft: PartialLaw) -> Interval:
    """The float route, also for few tokens."""
    return overlap_of_floats((target, draft), (totals_of(target), totals_of(draft)))


def one_by_one(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many open tokens are settled one by one."""
    monkeypatch.setattr(float_lower, "FEW", limit)
    monkeypatch.setattr(float_overlap, "FEW", limit)


# ---- few tokens: the same rows in fractions ----------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_ends_contain_those_in_fractions(seed: int) -> None:
    random = Random(seed)
    for _ in range(300):
        size = random.choice([3, 4, 5, 6, 7, 12])
        first, second = (random_cut(random, random_row(random, size)) for _ in range(2))
        exact = overlap(first.law, second.law)
        found = in_floats(as_floats(first.law), as_floats(second.law))
        assert found.least <= exact.least <= exact.most <= found.most, (first, second)
        assert found.most - exact.most < NEAR, (first, second)
        if first.how[1:] == second.how[1:] == ("none", "one"):
            assert exact.least - found.least < NEAR, (first, second)


@pytest.mark.parametrize("limit", [0, 2])
def test_bounds_without_a_search_are_proven_too(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relaxations alone: below the least value where few tokens weigh much, never above it."""
    one_by_one(limit, monkeypatch)
    random = Random(limit)
    for _ in range(60):
        size = random.choice([3, 4, 5, 6, 7, 12])
        first, second = (random_cut(random, random_row(random, size)) for _ in range(2))
        exact = overlap(first.law, second.law)
        found = in_floats(as_floats(first.law), as_floats(second.law))
        assert found.least <= exact.least <= exact.most <= found.most, (first, second)
        assert found.most - exact.most < NEAR, (first, second)


def test_rows_of_a_few_hundred_tokens() -> None:
    """Wide enough that relaxation, fixing and search all take part."""
    random = np.random.default_rng(1)
    for _ in range(6):
        logits = random.normal(0, 2, 300)
        kept = int(random.integers(20, 150))
        laws = [top(logits + random.normal(0, 0.5, 300), kept, others=300 - kept) for _ in range(2)]
        exact = overlap(*laws)
        found = in_floats(*laws)
        assert found.least <= exact.least <= exact.most <= found.most
        assert exact.least - found.least < NEAR
        assert found.most - exact.most < NEAR


# ---- a real vocabulary ---------------------------------------------------------------------------


def logits(seed: int, noise: float) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    base = 3 * random.standard_normal(V)
    return base + noise * random.standard_normal(V), base + noise * random.standard_normal(V)


def log_softmax(values: Array) -> Array:
    shifted = values - values.max()
    return shifted - np.log(np.exp(shifted).sum())


def complete(values: Array, half_width: float = 0.0) -> PartialLaw:
    """All logits, each within ``half_width``; the normaliser is whatever they make it."""
    weights = np.exp(values - values.max())
    low, high = weights * (np.exp(-half_width) - 1e-14), weights * (np.exp(half_width) + 1e-14)
    law = PartialLaw(np.arange(len(values)), low, high, 0)
    return replace(law, scale=free_scale(sums(law)))


def top(values: Array, count: int, others: int = 0, cap: bool = True) -> PartialLaw:
    """The likeliest tokens; their probabilities as float64 are the truth."""
    p = np.exp(log_softmax(values))
    ids = np.sort(np.argsort(-p)[:count])
    limit = Fraction(float(p[ids].min())) if cap else None
    return PartialLaw(ids, p[ids], p[ids], others or len(values) - count, limit)


def coded(values: Array) -> PartialLaw:
    """A row of 16-bit codes from 16 nats below the largest up; what is lower is cut."""
    log_p = log_softmax(values)
    lowest = max(log_p.min(), log_p.max() - 16)
    step = (log_p.max() - lowest) / 65_535
    codes = np.rint((log_p - lowest) / step).clip(0)
    ids = np.flatnonzero(codes > 0)
    read, half = codes[ids] * step + lowest, step / 2 + 1e-12
    cap = Fraction(float(np.exp(lowest + half)))
    slack = Fraction(1, 2**18)
    return PartialLaw(
        ids, np.exp(read - half), np.exp(read + half), V - len(ids), cap,
        Interval(1 - slack, 1 + slack),
    )  # fmt: skip


def true_overlap(first: Array, second: Array) -> float:
    return float(np.minimum(np.exp(log_softmax(first)), np.exp(log_softmax(second))).sum())


def holds(found: Interval, value: float) -> bool:
    return found.least - NEAR <= value <= found.most + NEAR


def test_two_coded_rows_of_a_real_vocabulary() -> None:
    """About a hundred thousand codes on each side, not the same ones."""
    target, draft = logits(1, 0.8)
    laws = coded(target), coded(draft)
    assert not np.array_equal(laws[0].ids, laws[1].ids)
    found = overlap(*laws)
    assert holds(found, true_overlap(target, draft))
    assert found.width < Fraction(4, 10_000)
    same = overlap(laws[0], laws[0])
    assert same.most == 1
    assert 1 - same.least < Fraction(3, 10_000)


def test_two_complete_rows_of_a_real_vocabulary() -> None:
    target, draft = logits(2, 0.3)
    found = overlap(complete(target), complete(draft))
    assert holds(found, true_overlap(target, draft))
    assert found.width < Fraction(1, 10**11)
    wide = overlap(complete(target, 0.004), complete(draft, 0.004))
    assert wide.least <= found.least <= found.most <= wide.most
    assert wide.width < Fraction(1, 100)


@pytest.mark.parametrize("count", [20, 3_000])
@pytest.mark.parametrize("cap", [True, False])
def test_a_list_next_to_a_complete_row(count: int, cap: bool) -> None:
    """The least overlap puts the rest of the list where the draft has next to nothing."""
    target, draft = logits(3, 0.5)
    listed, whole = top(target, count, cap=cap), complete(draft)
    found = overlap(listed, whole)
    assert holds(found, true_overlap(target, draft))
    p, q = np.exp(log_softmax(target)), np.exp(log_softmax(draft))
    ids = np.asarray(listed.ids)
    both = float(np.minimum(p[ids], q[ids]).sum())
    rest = 1 - float(p[ids].sum())
    left = np.delete(q, ids)
    limit = float(p[ids].min()) if cap else rest
    smallest = np.sort(left)[: int(np.ceil(rest / limit))].sum()
    # The rest covers tokens of the draft that hold next to nothing in all.
    assert both - NEAR < found.least < both + smallest + NEAR
    most = min(both + rest, both + float(np.minimum(left, limit).sum()))
    assert abs(float(found.most) - most) < 1e-8


def test_lists_of_a_real_vocabulary_are_exact() -> None:
    target, draft = logits(4, 0.5)
    laws = top(target, 20), top(draft, 20)
    exact, found = overlap(*laws), in_floats(*laws)
    assert found.least <= exact.least <= exact.most <= found.most
    assert exact.least - found.least < NEAR
    assert found.most - exact.most < NEAR
    p, q = (dict(zip(law.ids.tolist(), law.low.tolist(), strict=True)) for law in laws)  # type: ignore[union-attr]
    assert exact.least == sum((Fraction(min(p[x], q[x])) for x in p if x in q), ZERO)


# ---- sums, shares, complete laws ---------------------------------------------------------------


def test_sums_are_rounded_outwards() -> None:
    random = np.random.default_rng(5)
    for size in (0, 1, 511, 512, 513, 5_000):
        values = np.exp(random.normal(0, 8, size))
        exact = sum((Fraction(x) for x in values.tolist()), ZERO)
        assert sum_down(values) <= exact <= sum_up(values)
        assert sum_up(values) - sum_down(values) <= exact / 10**12
    tiny = np.full(1_000, 5e-324)
    assert sum_down(tiny) <= 1_000 * Fraction(5e-324) <= sum_up(tiny)


def test_shares_of_arrays_contain_those_of_fractions() -> None:
    random = Random(6)
    for _ in range(150):
        cut = random_cut(random, random_row(random, random.choice([3, 5, 9])))
        law = as_floats(cut.law)
        assert rest_of(law).least <= rest_of(cut.law).least <= rest_of(cut.law).most
        assert rest_of(cut.law).most <= rest_of(law).most
        tokens = list(range(max(map(int, law.ids)) + 2))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spans, "SMALL", 0)
            places, (found,) = spans.spans_of([law], tokens)
        for place in places:
            listed = list(map(int, cut.law.ids))
            where = listed.index(place) if place in listed else None
            exact = share(cut.law, totals_of(cut.law), where)
            assert found.at(place).least <= exact.least <= exact.most <= found.at(place).most
            assert found.at(place).width - exact.width < NEAR


def test_a_complete_float_law_keeps_its_rounding() -> None:
    weights = np.array([1.0, 0.5, 0.0, 2.0**-980])
    law = FloatLaw(4, ZERO, dense=weights)
    exact = as_partial(law)
    assert list(exact.ids) == [0, 1, 3]
    assert sums(exact).low <= 1 / exact.scale.least <= sums(exact).high
    rounded = as_partial(replace(law, bound=Fraction(1, 2**40)))
    assert rounded.low[2] == 0 < rounded.high[2]
    assert share_of(rounded, 0).width < Fraction(1, 2**38)
    assert Fraction(2, 3) in share_of(rounded, 0)
    unknown = as_partial(replace(law, bound=Fraction(1, 50)))
    assert share_of(unknown, 0) == Interval(ZERO, Fraction(1))


def test_contradictions_of_arrays() -> None:
    values = np.array([0.5, np.nan, 0.25])
    ids = np.array([3, 5, 9])
    assert (
        contradiction(PartialLaw(ids, values, values, 3)) == "the bounds of token 5 leave nothing"
    )
    values = np.array([0.5, 0.75, 0.25])
    assert "the listed tokens hold 1.5 at least" in contradiction(
        PartialLaw(ids, values, values, 3)
    )
    values = np.array([0.25, 0.25, 0.25])
    assert contradiction(PartialLaw(ids, values, values, 3)) == ""


# ---- planted bugs -----------------------------------------------------------------------------


def test_sums_rounded_inwards_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from specdist.exact import float_cuts, float_groups, float_relaxation

    one_by_one(0, monkeypatch)
    for module in (float_cuts, float_groups, float_relaxation):
        for name in ("sum_down", "sum_up"):
            if hasattr(module, name):
                other = sum_up if name == "sum_down" else sum_down
                monkeypatch.setattr(module, name, other)
    random, wrong = np.random.default_rng(9), 0
    for _ in range(10):
        logits = random.normal(0, 2, 60)
        laws = [top(logits + random.normal(0, 0.5, 60), 60, others=0) for _ in range(2)]
        rounded = [
            PartialLaw(law.ids, law.low, law.high, 0, None, free_scale(sums(law))) for law in laws
        ]
        found, exact = in_floats(*rounded), overlap(*rounded)
        wrong += not found.least <= exact.least <= exact.most <= found.most
    assert wrong
