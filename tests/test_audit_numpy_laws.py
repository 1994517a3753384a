"""numpy and `random` under audit: exact laws of the ways in which samplers draw a token."""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.audit.race import REUSED
from tests.audit_laws import is_close, law, measured

P = np.array([1, 2, 3, 2]) / 8
Q = np.array([4, 2, 1, 1]) / 8
LOGITS = np.log(P)
ENDS = np.cumsum(P)
LAW = {0: Fraction(1, 8), 1: Fraction(1, 4), 2: Fraction(3, 8), 3: Fraction(1, 4)}
rng = np.random.default_rng


def by_loop() -> int:
    left = random.random()
    for i, mass in enumerate(P):
        left -= mass
        if left < 0:
            return i
    return 3


def in_place() -> Any:
    noise = np.random.exponential(size=4)
    noise *= 2
    np.divide(P, noise, out=noise)
    return noise.argmax()


def masked() -> Any:
    keys = np.log(np.array([1, 2, 5, 3, 2])) + np.random.gumbel(size=5)
    keys = np.where(np.array([True, True, False, True, True]), keys, -np.inf)
    return [0, 1, 9, 2, 3][np.argmax(keys)]


CATEGORICAL: dict[str, Callable[[], Any]] = {
    "choice": lambda: np.random.choice(4, p=P),
    "choice of a generator": lambda: rng().choice(np.arange(4), p=P),
    "choice with a seed": lambda: rng(5).choice(4, p=P),
    "choice of float32": lambda: rng().choice(4, p=P.astype(np.float32)),
    "choice of an array": lambda: rng().choice(4, size=(2, 1), p=P)[1, 0],
    "multinomial": lambda: np.random.multinomial(1, P).argmax(),
    "multinomial of rows": lambda: rng().multinomial(1, np.stack([Q, P])).argmax(axis=1)[1],
    "choices": lambda: random.choices(range(4), weights=[1, 2, 3, 2])[0],
    "choices, cumulated": lambda: random.choices(range(4), cum_weights=[1, 3, 6, 8])[0],
    "choices with a seed": lambda: random.Random(4).choices(range(4), weights=[1, 2, 3, 2])[0],
    "searchsorted": lambda: np.searchsorted(ENDS, np.random.rand()),
    "searchsorted, its method": lambda: ENDS.searchsorted(rng().random(), side="right"),
    "searchsorted of an array": lambda: np.searchsorted(ENDS, rng().random(3))[2],
    "digitize": lambda: np.digitize(np.random.rand(1), ENDS)[0],
    "argmax of comparisons": lambda: (np.random.rand() < ENDS).argmax(),
    "argmax of a cumsum": lambda: np.argmax(np.cumsum(P) > np.random.random_sample()),
    "argmax of rows": lambda: (np.random.rand(2, 1) < np.stack([Q, P]).cumsum(1)).argmax(1)[1],
    "a sum of comparisons": lambda: sum(random.random() >= end for end in [1.0]) + by_loop(),
    "bisect": lambda: bisect.bisect(ENDS.tolist(), random.random()),
    "a loop": by_loop,
    "whole numbers": lambda: [0, 1, 1, 2, 2, 2, 3, 3][int(random.random() * 8)],
    "math.floor": lambda: [0, 1, 1, 2, 2, 2, 3, 3][math.floor(rng().random() * 8)],
    "astype": lambda: np.array([0, 1, 1, 2, 2, 2, 3, 3])[(np.random.rand(2) * 8).astype(int)][1],
    "numpy.floor": lambda: np.repeat(range(4), [1, 2, 3, 2])[np.floor(8 * rng().random(1)).astype(
        np.int64)][0],
    "integers": lambda: [0, 1, 1, 2, 2, 2, 3, 3][rng().integers(8)],
    "randint": lambda: [0, 1, 1, 2, 2, 2, 3, 3][np.random.randint(0, 8)],
    "randrange": lambda: [0, 1, 1, 2, 2, 2, 3, 3][random.randrange(8)],
    "getrandbits": lambda: [0, 1, 1, 2, 2, 2, 3, 3][random.getrandbits(3)],
    "choice of random": lambda: random.choice([0, 1, 1, 2, 2, 2, 3, 3]),
    "Gumbel noise": lambda: np.argmax(LOGITS + np.random.gumbel(size=4)),
    "Gumbel noise by its place": lambda: np.argmax(np.random.gumbel(loc=LOGITS)),
    "Gumbel noise from uniforms": lambda: (LOGITS - np.log(-np.log(rng().random(4)))).argmax(),
    "Gumbel noise, guarded": lambda: np.argmax(
        LOGITS - np.log(-np.log(np.random.rand(4) + 1e-20) + 1e-20)),
    "Gumbel noise at a temperature": lambda: np.argmax(
        (2 * LOGITS + 2 * np.random.gumbel(size=4)) / 2),
    "Gumbel noise, stretched": lambda: np.argmax(2 * LOGITS + np.random.gumbel(scale=2, size=4)),
    "Gumbel noise in float32": lambda: np.argmax(
        LOGITS + np.random.gumbel(size=4).astype(np.float32)),
    "Gumbel noise, masked": masked,
    "exponentials": lambda: np.argmax(P / np.random.exponential(size=4)),
    "exponentials by their scale": lambda: np.argmin(rng().exponential(1 / P)),
    "standard exponentials": lambda: (rng().standard_exponential(4) / P).argmin(),
    "exponentials in place": in_place,
    "exponentials in rows": lambda: (np.stack([Q, P]) / rng().exponential(1, (2, 4))).argmax(1)[1],
    "exponentials in columns": lambda: (P[:, None] / rng().exponential(size=(4, 2))).argmax(0)[1],
    "powers of uniforms": lambda: np.argmax(np.random.rand(4) ** (1 / P)),
    "logarithms of uniforms": lambda: np.argmax(np.log(np.random.rand(4)) / P),
    "log1p": lambda: (-np.log1p(-np.random.rand(4)) / P).argmin(),
    "1 - u": lambda: np.argmin(-np.log(1 - rng().random(4)) / P),
}  # fmt: skip


@pytest.mark.parametrize("name", CATEGORICAL)
def test_every_way_to_draw_a_token_has_its_law(name: str) -> None:
    assert is_close(law(CATEGORICAL[name]), LAW)


def raises_at_zero() -> int:
    return int(1 / random.random() < 1.5)


BERNOULLI: dict[str, tuple[Callable[[], Any], Fraction]] = {
    "float": (lambda: random.random() < 0.25, Fraction(1, 4)),
    "at most": (lambda: np.float64(0.25) >= random.random(), Fraction(1, 4)),
    "float32": (lambda: rng().random(2, dtype=np.float32)[1] < 0.25, Fraction(1, 4)),
    "1 - u": (lambda: 1 - random.random() <= 0.75, Fraction(3, 4)),
    "a product": (lambda: random.random() * 0.5 < 0.25, Fraction(1, 2)),
    "an interval": (lambda: random.uniform(-1, 3) < 0, Fraction(1, 4)),
    "an array's interval": (lambda: np.random.uniform([0, -1], [1, 3])[1] < 0, Fraction(1, 4)),
    "a logarithm": (lambda: np.log(np.random.rand()) < np.log(0.25), Fraction(1, 4)),
    "a square": (lambda: np.random.rand() ** 2 < 0.25, Fraction(1, 2)),
    "a power": (lambda: 4 ** random.random() < 2, Fraction(1, 2)),
    "min": (lambda: min(random.random(), 0.5) < 0.25, Fraction(1, 4)),
    "minimum": (lambda: np.minimum(np.random.rand(2), 0.5)[1] < 0.25, Fraction(1, 4)),
    "clip": (lambda: np.clip(np.random.rand(2), 0.25, 0.5)[0] <= 0.25, Fraction(1, 4)),
    "round": (lambda: round(random.random(), 1) < 0.25, Fraction(1, 4)),
    "item": (lambda: np.random.rand(1).item() < 0.25, Fraction(1, 4)),
    "a list": (lambda: np.array([random.random(), random.random()])[1] < 0.25, Fraction(1, 4)),
    "nan": (lambda: random.random() < math.nan, Fraction(0)),
    "all": (lambda: (np.random.rand(2) < np.array([0.5, 0.5])).all(), Fraction(1, 4)),
    "not": (lambda: (~(np.random.rand(2) < 0.5)).all(), Fraction(1, 4)),
    "cumprod": (lambda: np.cumprod(np.random.rand(2) < 0.5).sum() == 2, Fraction(1, 4)),
    "where": (lambda: np.where(np.random.rand(2) < 0.5, 1, 0).sum() == 2, Fraction(1, 4)),
    "stack": (lambda: (np.stack([np.random.rand(1), np.random.rand(1)]) < 0.5).all(),
              Fraction(1, 4)),
    "binomial": (lambda: np.random.binomial(2, 0.5) == 2, Fraction(1, 4)),
    "twice the same": (lambda: (lambda u: u < 0.25 and u < 0.5)(random.random()), Fraction(1, 4)),
    "isinstance": (lambda: isinstance(random.random(), float) and random.random() < 0.25,
                   Fraction(1, 4)),
    "SystemRandom": (lambda: random.SystemRandom().random() < 0.25, Fraction(1, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", BERNOULLI)
def test_every_way_to_accept_has_its_law(name: str) -> None:
    function, share = BERNOULLI[name]
    assert is_close(law(function), {1: share, 0: 1 - share})


def test_a_point_that_raises_is_an_outcome_with_its_mass() -> None:
    found = measured(raises_at_zero)
    assert [mass for (_, error, _), mass in found.raised.items() if "ZeroDivision" in error] == [
        Fraction(1, 2**53)
    ]


def test_types_round_as_in_numpy() -> None:
    """Beside a float32 Python's float is rounded to it, a float64 is not."""
    third = np.float32(1) / np.float32(3)
    weak = law(lambda: random.random() < third)[1]
    strong = law(lambda: np.random.rand(1)[0] < third)[1]
    assert strong == Fraction(math.ceil(Fraction(float(third)) * 2**53), 2**53)
    half_a_step = Fraction(1, 2**26)
    assert abs(weak - Fraction(float(third)) + half_a_step) <= Fraction(1, 2**53)


def test_multinomial_gives_the_last_category_what_the_others_leave() -> None:
    assert is_close(law(lambda: np.random.multinomial(1, P / 2).argmax()), {
        0: Fraction(1, 16), 1: Fraction(1, 8), 2: Fraction(3, 16), 3: Fraction(5, 8)
    })  # fmt: skip


@pytest.mark.parametrize(
    ("function", "winner"),
    [
        (lambda: np.argmax(np.zeros(4) / np.random.exponential(size=4)), 0),
        (lambda: np.argmax(np.full(4, -np.inf) + np.random.gumbel(size=4)), 0),
        (lambda: np.argmax(np.array([0, np.inf, np.inf]) + np.random.gumbel(size=3)), 1),
        (lambda: np.argmin(np.random.exponential(size=3) / np.array([0, 0, 1])), 2),
    ],
)
def test_degenerate_rows_are_decided_as_numpy_does(
    function: Callable[[], Any], winner: int
) -> None:
    assert law(function) == {winner: 1}


def test_choice_keeps_its_errors() -> None:
    def step() -> int:
        try:
            return int(np.random.choice(4, p=P * 0.9))
        except ValueError as error:
            return int(random.random() < 0.5) + 5 * ("do not sum to 1" in str(error))

    assert law(step) == {5: Fraction(1, 2), 6: Fraction(1, 2)}


def test_a_row_that_is_raced_again_says_so() -> None:
    def step() -> Any:
        noise = np.random.gumbel(size=4)
        return np.argmax(LOGITS + noise) + np.argmax(LOGITS + noise)

    found = measured(step)
    assert REUSED in found.notes
    assert is_close({k[0]: v for k, v in found.emitted.items()}, {2 * k: v for k, v in LAW.items()})


def test_grids_are_reported() -> None:
    assert measured(lambda: random.random() < 0.5).grids == {"k/2^53 on [0, 1)"}
    single = measured(lambda: rng().random(1, dtype=np.float32)[0] < 0.5)
    assert single.grids == {"k/2^24 on [0, 1)"}
