"""The optimum of n drafts over float64 arrays against fractions: equal, or enclosed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from specdist.exact import float_drafts_optimum
from specdist.exact.drafts_optimum import (
    Enclosed,
    optimum_iid,
    optimum_top,
    optimum_top_then_sampled,
)
from specdist.exact.float_quotients import whole
from specdist.exact.float_vector import FloatVector
from specdist.exact.law import FloatLaw
from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector
from specdist.exact.vectors import rational, vectors_of_laws
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.verify.joint.optimum import drafts_optimum

Floats = NDArray[np.float64]
entries = st.sampled_from([0.0, 1.0, 0.5, 0.25, 3.0**-3, 1e-9, 2.0**-1074, 1e-300]) | st.floats(
    2**-40, 1
)


def law(weights: Floats, sparse: bool = False) -> FloatLaw:
    if not sparse:
        return FloatLaw(len(weights), Fraction(0), dense=weights)
    ids = np.flatnonzero(weights)
    return FloatLaw(len(weights), Fraction(0), dense=weights[ids], ids=ids)


def pair(target: Floats, draft: Floats, sparse: bool = False) -> tuple[ExactVector, ExactVector]:
    vectors = vectors_of_laws({0: law(target, sparse), 1: law(draft, sparse)})
    assert all(isinstance(vector, FloatVector) for vector in vectors.values())
    return vectors[0], vectors[1]


def excess(target: ExactVector, draft: ExactVector, count: int) -> tuple[Fraction, Fraction]:
    found = float_drafts_optimum.float_excess(target, draft, count)
    assert found is not None
    return found


def scanned(target: Floats, draft: Floats, count: int) -> Fraction:
    """1 - max over H of [q(H)^n - p(H)], H the tokens of smallest p/q, in plain fractions."""
    p, q = (list(rational(law(weights)).values) for weights in (target, draft))
    kept = drafted = worst = Fraction(0)
    for x in sorted((x for x in range(len(p)) if q[x]), key=lambda x: p[x] / q[x]):
        kept, drafted = kept + p[x], drafted + q[x]
        worst = max(worst, drafted**count - kept)
    return 1 - worst


@st.composite
def weights(draw: st.DrawFn, size: int) -> Floats:
    made = draw(st.lists(entries, min_size=size, max_size=size))
    made[draw(st.integers(0, size - 1))] = 1.0
    return np.array(made)


@st.composite
def rows(draw: st.DrawFn) -> tuple[Floats, Floats]:
    size = draw(st.integers(3, 9))
    target = draw(weights(size))
    kind = draw(st.sampled_from(["free", "same", "scaled", "near"]))
    if kind == "free":
        return target, draw(weights(size))
    if kind == "near":
        return target, np.nextafter(target, 2.0)
    return target, target * (1.0 if kind == "same" else 2.0**-7)


@settings(max_examples=150, deadline=None)
@given(rows(), st.integers(1, 5), st.booleans())
def test_small_rows(both: tuple[Floats, Floats], count: int, sparse: bool) -> None:
    vectors, exact = pair(*both, sparse), scanned(*both, count)
    assert optimum_iid(*vectors, count) == Enclosed(exact)
    assert excess(*vectors, count) == (1 - exact, 0)


@settings(max_examples=150, deadline=None)
@given(rows(), st.integers(1, 5), st.integers(1, 4))
def test_small_rows_where_few_tokens_may_be_taken_one_by_one(
    both: tuple[Floats, Floats], count: int, limit: int
) -> None:
    """The finer bins, and the enclosure that is left where even they hold too many tokens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(float_drafts_optimum, "ONE_BY_ONE", limit)
        value, gap = excess(*pair(*both), count)
    assert value <= 1 - scanned(*both, count) <= value + gap
    assert gap < Fraction(1, 10**11)


def drawn(size: int, spread: float, noise: float, seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    logits = random.normal(0, spread, size)
    other = logits + random.normal(0, noise, size) if noise else logits
    return np.exp(logits - logits.max()), np.exp(other - other.max())


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize(
    ("spread", "noise"), [(3, 1), (1, 3), (3, 1e-2), (3, 1e-6), (0.01, 0.01), (6, 6), (3, 0)]
)
def test_thousands_of_tokens(spread: float, noise: float, count: int) -> None:
    both = drawn(3_000, spread, noise, seed=count)
    assert optimum_iid(*pair(*both), count) == Enclosed(scanned(*both, count))


def test_thousands_of_tokens_with_finer_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little noise that all tokens share two bins, and few of them may be taken one by one."""
    monkeypatch.setattr(float_drafts_optimum, "ONE_BY_ONE", 1_000)
    both = drawn(3_000, 3, 1e-4, seed=1)
    for count in (2, 3):
        assert optimum_iid(*pair(*both), count) == Enclosed(scanned(*both, count))


def test_an_optimum_that_stays_open_is_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(float_drafts_optimum, "ONE_BY_ONE", 100)
    target, _ = drawn(2_000, 3, 0, seed=1)
    draft = np.where(np.arange(2_000) % 2, target, np.nextafter(target, 2.0))
    value, gap = excess(*pair(target, draft), 1)
    exact = 1 - scanned(target, draft, 1)
    assert value < exact <= value + gap < Fraction(1, 10**10)


def test_far_scales_go_by_fractions() -> None:
    """Weights whose sums lie outside float64's reach."""
    target, draft = np.array([1.0, 2.0, 4.0]), np.array([4.0, 2.0, 1.0]) * 2.0**-1070
    assert optimum_iid(*pair(target, draft), 2) == Enclosed(scanned(target, draft, 2))
    assert scanned(target, draft, 2) == 1 - max(
        Fraction(16, 49) - Fraction(1, 7), Fraction(36, 49) - Fraction(3, 7)
    )


def test_the_bound_holds_the_errors_of_the_laws() -> None:
    target, draft = pair(*drawn(50, 3, 1, seed=1))
    wide = target.widened(Fraction(1, 100)), draft.widened(Fraction(1, 50))
    found = optimum_iid(*wide, 3)
    assert found.value == optimum_iid(target, draft, 3).value
    assert found.bound == (Fraction(1, 100) + 3 * Fraction(1, 50)) / 2
    mixed = optimum_iid(target.scaled(Fraction(1, 2)) + target.scaled(Fraction(1, 2)), draft, 2)
    assert mixed == optimum_iid(target, draft, 2)


def test_a_mixture_of_laws_is_written_as_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    first, draft = drawn(60, 3, 1, seed=1)
    second, _ = drawn(60, 3, 1, seed=2)
    vectors = vectors_of_laws({0: law(first), 1: law(second), 2: law(draft)})
    half = Fraction(1, 2)
    found = optimum_iid(vectors[0].scaled(half) + vectors[1].scaled(half), vectors[2], 2)
    p, q, r = (rational(law(row)).values for row in (first, second, draft))
    exact = optimum_iid(
        RationalVector(tuple(half * (x + y) for x, y in zip(p, q, strict=True))),
        RationalVector(r),
        2,
    )
    assert 0 < found.bound < Fraction(1, 10**12)
    assert abs(found.value - exact.value) <= found.bound
    monkeypatch.setattr(float_drafts_optimum, "ONE_BY_ONE", 1)
    mixed = vectors[0].scaled(half) + vectors[1].scaled(half)
    _, gap = excess(mixed, vectors[2], 2)
    written = whole(mixed) if isinstance(mixed, FloatVector) else mixed
    _, alone = excess(written, vectors[2], 2)
    assert gap == alone + written.error > alone


def test_two_maxima_that_float64_cannot_tell_apart() -> None:
    """No token at all has the value 0, and all but the last one 2**-60; in between it is below."""
    draft = np.array([2.0**28, 2.0**28, 2.0**29 - 1, 1.0])
    target = np.array([2.0**28 - 2.0**25, 2.0**28, 2.0**29 + 2.0**25 - 2, 2.0])
    assert optimum_iid(*pair(target, draft), 2) == Enclosed(1 - Fraction(1, 2**60))
    assert scanned(target, draft, 2) == 1 - Fraction(1, 2**60)


@settings(max_examples=100, deadline=None)
@given(rows(), st.integers(1, 4))
def test_fixed_and_last_sampled_drafts(both: tuple[Floats, Floats], count: int) -> None:
    vectors = pair(*both)
    twins = [RationalVector(rational(law(row)).values) for row in both]
    assert optimum_top(*vectors, count) == optimum_top(*twins, count)
    assert optimum_top_then_sampled(*vectors, count) == optimum_top_then_sampled(*twins, count)


@pytest.mark.parametrize("numbers", [NumberFormat.BFLOAT16, NumberFormat.FLOAT16])
def test_rows_of_sixteen_bits(numbers: NumberFormat) -> None:
    """Rows that take few values, after a temperature: the figure and its rounding bound."""
    random = np.random.default_rng(3)
    made = []
    for side in ("target", "draft"):
        logits = random.normal(0, 3, 2_000)
        array: NDArray[np.generic] = logits.astype(np.float16)
        if numbers is NumberFormat.BFLOAT16:
            array = (logits.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        row = Row(FloatValues(array), Kind.LOGITS, Stage.RAW, numbers, side)  # type: ignore[arg-type]
        made.append(apply_recipe(parse_recipe("temperature:0.8"), row, RowContext()).law)
    assert all(isinstance(law, FloatLaw) for law in made)
    figure = drafts_optimum(*made, 4)
    assert figure is not None
    exact = [RationalVector(rational(law).values) for law in made]
    assert figure.exact == optimum_iid(*exact, 4).value
    assert figure.bound is not None
    assert 0 < figure.bound < Fraction(1, 10**12)
