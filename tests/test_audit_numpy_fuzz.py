"""Random arithmetic on a uniform of 64 points: the law that an audit finds, or refuses to find, is
that of running the same arithmetic on every point."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.audit import draw
from specdist.audit.interception import intercepted
from specdist.audit.numpy_uniforms import gathered
from specdist.audit.random_draws import Real
from specdist.audit.refusals import RefusalError
from specdist.audit.uniform import Uniform
from tests.audit_laws import measured

BITS = 6
CONSTANTS: list[Any] = [
    0.5, 0.25, -1.0, 2.0, 3, 0, 1, -0.5, 0.3, np.float32(0.3), np.float64(0.7), np.float32(-2),
    np.float64(0), math.inf, -math.inf, math.nan, 1e300, 5e-324, np.int64(2), True,
]  # fmt: skip
Change = Callable[[Any, Any], Any]
CHANGES: list[Change] = [
    lambda u, c: u + c, lambda u, c: c + u, lambda u, c: u - c, lambda u, c: c - u,
    lambda u, c: u * c, lambda u, c: c * u, lambda u, c: u / c, lambda u, c: c / u,
    lambda u, c: u // c, lambda u, c: c // u, lambda u, c: u % c, lambda u, c: u**c,
    lambda u, c: c**u, lambda u, c: -u, lambda u, c: abs(u), lambda u, c: np.log(u),
    lambda u, c: np.log1p(u), lambda u, c: np.exp(u), lambda u, c: np.sqrt(u),
    lambda u, c: np.square(u), lambda u, c: np.floor(u), lambda u, c: np.rint(u),
    lambda u, c: round(u, 1), lambda u, c: np.minimum(u, c), lambda u, c: np.fmax(c, u),
    lambda u, c: np.clip(u, 0.2, 0.6), lambda u, c: np.tanh(u), lambda u, c: np.sign(u),
    lambda u, c: np.reciprocal(u), lambda u, c: np.power(u, c), lambda u, c: np.divide(c, u),
    lambda u, c: np.subtract(c, u), lambda u, c: np.expm1(u),
]  # fmt: skip
EDGES = np.array([0.1, 0.3, 0.3, 0.8])
ENDS: list[Change] = [
    lambda u, c: u < c, lambda u, c: u <= c, lambda u, c: u > c, lambda u, c: c >= u,
    lambda u, c: c < u, lambda u, c: u == c, lambda u, c: u != c, lambda u, c: np.isnan(u),
    lambda u, c: np.isinf(u), lambda u, c: np.isfinite(u), lambda u, c: np.signbit(u),
    lambda u, c: np.searchsorted(EDGES, u), lambda u, c: np.digitize(u, EDGES[::-1]),
    lambda u, c: EDGES.searchsorted(u, side="right"), lambda u, c: (u < EDGES).sum(),
    lambda u, c: (EDGES.astype(np.float32) >= u).argmax(),
    lambda u, c: (u < 0.3) + 2 * (u < 0.6) + 2 * (u * 2 < 1),
]  # fmt: skip
SCALAR_ENDS: list[Change] = [
    lambda u, c: int(u) % 5, lambda u, c: math.floor(u * 2) % 5, lambda u, c: round(u * 2) % 5,
    lambda u, c: math.ceil(u) % 5, lambda u, c: int(np.trunc(u * 2)) % 5,
    lambda u, c: bisect.bisect(EDGES.tolist(), u), lambda u, c: min(u, c) < 0.5,
]  # fmt: skip
Law = dict[object, Fraction]


def arithmetic(chance: Real, ends: list[Change]) -> Callable[[Any], int]:
    steps = [
        (chance.choice(CHANGES), chance.choice(CONSTANTS))
        for _ in range(chance.choice([0, 1, 1, 2, 2, 3]))
    ]
    end, bound = chance.choice(ends), chance.choice(CONSTANTS)

    def run(drawn: Any) -> int:
        for change, constant in steps:
            drawn = change(drawn, constant)
        return int(end(drawn, bound))

    return run


def enumerated(run: Callable[[Any], int], kind: Any, as_array: bool) -> Law:
    """The law by running every point; errors by their class."""
    found: Law = {}
    for k in range(1 << BITS):
        number = kind(k / (1 << BITS))
        try:
            result: object = run(np.array(number) if as_array else number)
        except Exception as error:
            result = type(error).__name__
        found[result] = found.get(result, Fraction(0)) + Fraction(1, 1 << BITS)
    return found


def audited(run: Callable[[Any], int], kind: Any, as_array: bool) -> Law:
    def step() -> int:
        drawn = Uniform(draw.uniform(BITS).atom, kind)
        return run(gathered([drawn], ()) if as_array else drawn)

    walked = measured(step)
    found: Law = {tokens[0]: mass for tokens, mass in walked.emitted.items()}
    for (_, error, _), mass in walked.raised.items():
        name = error.partition(":")[0]
        found[name] = found.get(name, Fraction(0)) + mass
    return found


@pytest.mark.parametrize("seed", range(4))
def test_arithmetic_has_the_law_of_its_points(seed: int) -> None:
    chance = Real(seed)
    compared = 0
    with intercepted(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(150):
            kind, as_array = chance.choice([float, np.float64, np.float32]), chance.random() < 0.3
            as_array = as_array and kind is not float
            run = arithmetic(chance, ENDS if as_array else ENDS + SCALAR_ENDS)
            expected = enumerated(run, kind, as_array)
            if not any(isinstance(key, int) for key in expected):
                continue  # raises whatever is drawn
            try:
                found = audited(run, kind, as_array)
            except RefusalError:
                continue
            assert found == expected
            compared += 1
    assert compared >= 75
