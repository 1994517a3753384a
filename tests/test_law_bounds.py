"""Bounds of a law against every law inside them: what is decided holds for all of them."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from specdist.exact.interval import Interval
from specdist.exact.law import FloatLaw, RationalLaw
from specdist.exact.law_bounds import LawBounds
from specdist.exact.partial_law import PartialLaw
from tests.oracle_replay import exact_draw


def rational(rng: random.Random, size: int, dyadic: bool) -> RationalLaw:
    while True:
        weights = [rng.choice((0, 0, 1, 2, 3, 7)) for _ in range(size)]
        total = sum(weights)
        if total and (not dyadic or total & (total - 1) == 0):
            return RationalLaw(tuple(Fraction(w, total) for w in weights))


def inside(rng: random.Random, low: list[float], high: list[float]) -> list[Fraction]:
    """A vector between two others, often on an end."""
    values = []
    for a, b in zip(low, high, strict=True):
        share = rng.choice((Fraction(0), Fraction(1), Fraction(rng.random())))
        values.append(Fraction(a) + share * (Fraction(b) - Fraction(a)))
    return values


def box(rng: random.Random, size: int) -> LawBounds:
    low = np.array([rng.choice((0.0, 0.25, 1.0)) * rng.random() for _ in range(size)])
    high = low + np.array([rng.choice((0.0, 0.1, 0.5)) * rng.random() for _ in range(size)])
    high[rng.randrange(size)] += 0.5
    ids = np.array(sorted(rng.sample(range(2 * size), size)), dtype=np.intp)
    return LawBounds(2 * size, ids, low, high)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_of_a_draw_holds_for_every_law_inside(seed: int) -> None:
    rng = random.Random(seed)
    bounds = box(rng, rng.randint(2, 6))
    for _ in range(30):
        values = inside(rng, bounds.low.tolist(), bounds.high.tolist())
        if not sum(values):
            continue
        uniform = Fraction(rng.random())
        drawn = int(bounds.ids[exact_draw(values, uniform)])
        for token in range(bounds.size):
            answer = bounds.draws(token, uniform)
            assert answer is not (token != drawn), (token, drawn)
        assert drawn in bounds.drawn(uniform)
        total = sum(values)
        for entry, token in enumerate(bounds.ids.tolist()):
            assert values[entry] / total in bounds.probability(token)
            before, after = bounds.uniforms(token)
            assert sum(values[:entry]) / total in before
            assert sum(values[: entry + 1]) / total in after


@pytest.mark.parametrize("seed", range(60))
def test_a_residual_and_a_race_hold_for_every_law_inside(seed: int) -> None:
    rng = random.Random(100 + seed)
    size = rng.randint(2, 5)
    target, draft = box(rng, size), box(rng, size)
    residual = target.minus(draft)
    noise = np.array([rng.expovariate(1) for _ in range(2 * size)])
    for _ in range(30):
        laws = []
        for bounds in (target, draft):
            values = inside(rng, bounds.low.tolist(), bounds.high.tolist())
            total = sum(values)
            if not total:
                break
            pairs = zip(bounds.ids.tolist(), values, strict=True)
            laws.append({token: value / total for token, value in pairs})
        if len(laws) < 2:
            continue
        left = {
            token: value - laws[1].get(token, Fraction(0))
            for token, value in laws[0].items()
            if value > laws[1].get(token, Fraction(0))
        }
        if not left:
            continue
        assert residual is not None
        least, most = residual.supports()
        assert least <= len(left) <= most
        uniform = Fraction(rng.random())
        tokens = sorted(left)
        drawn = tokens[exact_draw([left[token] for token in tokens], uniform)]
        scores = {token: value / Fraction(float(noise[token])) for token, value in left.items()}
        winner = max(scores, key=lambda token: scores[token])
        for token in range(2 * size):
            assert residual.draws(token, uniform) is not (token != drawn)
            assert residual.wins(token, noise) is not (token != winner)


@pytest.mark.parametrize("seed", range(40))
def test_dyadic_laws_are_decided_exactly(seed: int) -> None:
    rng = random.Random(seed)
    law = rational(rng, 4, dyadic=True)
    bounds = LawBounds.of(law)
    assert bounds.exact
    points = [Fraction(k, 16) for k in range(16)]
    for uniform in points:
        drawn = exact_draw(list(law.values), uniform)
        assert [bounds.draws(token, uniform) for token in range(4)] == [
            token == drawn for token in range(4)
        ]
        assert bounds.drawn(uniform) == (drawn,)
    for token in range(4):
        assert bounds.probability(token) == Interval.of(law.values[token])


def test_other_laws_leave_their_edges_open() -> None:
    law = RationalLaw((Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)))
    bounds = LawBounds.of(law)
    assert not bounds.exact
    assert bounds.draws(0, Fraction(1, 3)) is None
    assert bounds.draws(1, Fraction(1, 3)) is None
    assert bounds.draws(1, Fraction(1, 2)) is True
    assert bounds.draws(2, Fraction(1, 2)) is False


def test_float_laws_and_their_bound() -> None:
    weights = np.array([1.0, 2.0, 0.0, 5.0])
    law = FloatLaw(6, Fraction(1, 1000), dense=weights, ids=np.array([0, 1, 3, 5], dtype=np.intp))
    bounds = LawBounds.of(law)
    assert bounds.ids.tolist() == [0, 1, 5]
    assert Fraction(1, 8) in bounds.probability(0)
    assert bounds.probability(0).width > Fraction(1, 10**4)
    assert bounds.probability(3) == Interval.of(0)
    assert bounds.draws(3, Fraction(1, 2)) is False
    assert LawBounds.of(FloatLaw(2, Fraction(0), dense=np.array([2.0, 2.0]))).exact
    assert not LawBounds.of(
        FloatLaw(2, Fraction(0), dense=np.array([2.0, 2.0])), Fraction(1, 100)
    ).exact


def test_a_token_taken_out() -> None:
    law = RationalLaw((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    left = LawBounds.of(law).without(0)
    assert left is not None
    assert left.probability(0) == Interval.of(0)
    assert Fraction(1, 2) in left.probability(1)
    assert LawBounds.of(RationalLaw((Fraction(1), Fraction(0)))).without(0) is None


def test_equal_laws_have_no_residual() -> None:
    law = LawBounds.of(RationalLaw((Fraction(1, 2), Fraction(1, 2))))
    assert law.minus(law) is None


def test_a_partial_law_of_listed_tokens() -> None:
    law = PartialLaw((1, 3), (Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2), Fraction(3, 4)), 0)
    bounds = LawBounds.of_partial(law, 5)
    for share in (Fraction(1, 4), Fraction(1, 2)):
        assert share in bounds.probability(1)
    assert bounds.draws(2, Fraction(1, 2)) is False
    assert bounds.draws(1, Fraction(1, 5)) is True
    assert bounds.draws(1, Fraction(2, 5)) is None
    with pytest.raises(ValueError, match="may have any id"):
        LawBounds.of_partial(PartialLaw((1,), (Fraction(1, 2),), (Fraction(1, 2),), 3), 5)
