"""False alarms of probes: each was met as a fault in correct code, and must stay silent or refuse;
and what is no tree of intervals and races is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from specdist.audit import case, draw
from specdist.audit.context import Setup
from specdist.audit.judge import judged
from specdist.audit.probe import explore, measuring
from specdist.audit.probe.measuring import Probed, probed
from specdist.audit.program import Program
from specdist.audit.refusals import (
    AdapterError,
    AuditError,
    BudgetError,
    NotAFunctionError,
    RefusalError,
)
from specdist.audit.tables import tables
from specdist.model.verdict import Verdict

TABLE = tables(3, 1)[0]


def found(
    adapter: Callable[[], object], replays: int = 500, budget: int = 100_000, delta: float = 1e-6
) -> Probed:
    setup = Setup(framework="numpy", vocab=3, gamma=1, steps=1)
    return probed(Program(adapter, setup, TABLE), budget, None, replays, delta)


def target() -> list[float]:
    return [float(mass) for mass in case.target(())]


def inverted(uniform: float) -> int:
    """The token of the target whose share of [0, 1) the number is in."""
    first, second, _ = target()
    return int(uniform >= first) + int(uniform >= first + second)


def rare_token() -> list[int]:
    """The break at 0.4 is seen only where three later tokens are 1, 0 and 2."""
    low = random.random() < 0.4
    tokens = [inverted(random.random()) for _ in range(3)]
    return [*tokens, int(low and tokens == [1, 0, 2])]


def test_a_break_that_a_rare_combination_reveals_is_found_by_replays() -> None:
    p = TABLE.target(())
    law = found(rare_token, replays=3000).emitted
    inside = p[1] * p[0] * p[2]
    assert abs(law[1, 0, 2, 1] - inside * Fraction(2, 5)) < Fraction(1, 2**50)
    assert abs(law[1, 0, 2, 0] - inside * Fraction(3, 5)) < Fraction(1, 2**50)


def test_what_stays_hidden_is_within_the_bound() -> None:
    """Few replays miss the break; the law is wrong by less than what is said."""
    result = found(rare_token, replays=10, delta=0.5)
    right = TABLE.target(())[1] * TABLE.target(())[0] * TABLE.target(())[2]
    law = result.emitted
    assert abs(law.get((1, 0, 2, 1), Fraction(0)) - right * Fraction(2, 5)) <= result.bound


class Drifting:
    """State that runs share: the threshold moves after 300 runs."""

    runs = 0

    def __call__(self) -> list[int]:
        Drifting.runs += 1
        return [int(random.random() < (0.3 if Drifting.runs < 300 else 0.31))]


class Counting:
    """State that runs share: what is drawn depends on how often it was."""

    runs = 0

    def __call__(self) -> list[int]:
        Counting.runs += 1
        return [draw.categorical([1, 1 + Counting.runs // 5])]


class Alternating:
    """State that runs share: the same numbers, another token."""

    runs = 0

    def __call__(self) -> list[int]:
        Alternating.runs += 1
        return [(int(random.random() < 0.5) + Alternating.runs) % 2]


@pytest.mark.parametrize("adapter", [Drifting, Counting, Alternating])
def test_state_between_runs_is_no_law(adapter: type) -> None:
    adapter.runs = 0
    with pytest.raises(NotAFunctionError, match="not a function of its draws"):
        found(adapter)


def under_fed() -> list[int]:
    uniforms = draw.uniforms(2)
    i = 0
    while uniforms[i] < 0.5:
        i += 1
    return [0]


def under_fed_kernel() -> list[int]:
    uniforms = draw.uniforms(2)
    consumed = 2 + int(uniforms[0] < 0.5)
    uniforms.used(consumed)
    return [0]


@pytest.mark.parametrize("adapter", [under_fed, under_fed_kernel])
def test_code_that_takes_more_uniforms_than_there_are_is_an_error_of_the_adapter(
    adapter: Callable[[], object],
) -> None:
    with pytest.raises(AdapterError, match="3 uniforms are used, and 2 were supplied"):
        found(adapter)


def two(grid: int | str, event: Callable[[float, float], bool]) -> Callable[[], list[int]]:
    def adapter() -> list[int]:
        first, second = draw.uniforms(2, grid)
        return [int(event(first, second))]

    return adapter


@pytest.mark.parametrize("grid", ["float64", "float32", "tl.rand"])
@pytest.mark.parametrize(
    "event",
    [
        lambda u, v: u * v < 0.3,
        lambda u, v: u + v < 0.6,
        lambda u, v: u < v,
        lambda u, v: u / (v + 1) < 0.4,
    ],
)
def test_uniforms_that_are_compared_with_each_other_are_refused(
    grid: str, event: Callable[[float, float], bool]
) -> None:
    with pytest.raises(RefusalError, match="compared with each other"):
        found(two(grid, event))


def test_on_a_small_grid_every_point_is_an_interval() -> None:
    """102 break points are few enough to find each: the law of a quotient is right."""
    right = Fraction(sum(5 * u < 2 * (v + 256) for u in range(256) for v in range(256)), 2**16)
    law = found(two("bfloat16", lambda u, v: u / (v + 1) < 0.4)).emitted
    assert abs(law[(1,)] - right) < Fraction(1, 100)


@pytest.mark.parametrize(
    ("event", "mass"),
    [
        (lambda u, v: max(u, v) < 0.25, Fraction(1, 16)),
        (lambda u, v: min(u, v) < 0.25, Fraction(7, 16)),
        (lambda u, v: (u < 0.5) != (v < 0.25), Fraction(1, 2)),
        (lambda u, v: v < (0.25 if u < 0.5 else 0.75), Fraction(1, 2)),
        (lambda u, v: abs(u - 0.5) < 0.25 and v >= 0.5, Fraction(1, 4)),
    ],
)
def test_products_of_intervals_are_no_such_comparison(
    event: Callable[[float, float], bool], mass: Fraction
) -> None:
    law = found(two("float32", event)).emitted
    assert abs(law[(1,)] - mass) <= Fraction(3, 2**24)


def fast(weights: list[float], noise: list[float]) -> int:
    return max(range(3), key=lambda i: weights[i] / noise[i])


def two_races() -> list[int]:
    noise = draw.exponentials(3)
    return [fast(target(), noise), fast(list(map(float, case.draft(()))), noise)]


def no_race() -> list[int]:
    first, second, third = draw.exponentials(3)
    return [int(first < second + third)]


def threshold_in_a_row() -> list[int]:
    return [int(draw.exponentials(3)[0] < 0.5)]


def two_thresholds_in_a_row() -> list[int]:
    first, second, _ = draw.exponentials(3)
    return [int(first < 0.5 and second < 0.5)]


def weights_of_a_uniform() -> list[int]:
    u = random.random()
    return [draw.categorical([u, 1 - u])]


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (two_races, "no single race"),
        (no_race, "no single race"),
        (threshold_in_a_row, "no single race"),
        (two_thresholds_in_a_row, "no single race"),
        (weights_of_a_uniform, "more than 256 points"),
    ],
)
def test_noise_that_is_no_race_is_refused(adapter: Callable[[], object], said: str) -> None:
    with pytest.raises(RefusalError, match=said):
        found(adapter)


def race_then_test() -> list[int]:
    """The noise comes first, and the uniform says which race it decides."""
    noise = draw.exponentials(3)
    weights = target() if random.random() < 0.25 else list(map(float, case.draft(())))
    return [fast(weights, noise)]


def test_noise_that_is_drawn_before_its_race_is_known_waits() -> None:
    p, q = TABLE.target(()), TABLE.draft(())
    law = found(race_then_test).emitted
    for token in range(3):
        right = p[token] / 4 + 3 * q[token] / 4
        assert abs(law[(token,)] - right) < Fraction(1, 2**50)


def test_a_rare_second_race_is_found_by_replays() -> None:
    def adapter() -> list[int]:
        noise = draw.exponentials(3)
        return [fast(target() if random.random() < 0.99 else [1.0, 1.0, 8.0], noise)]

    law = found(adapter, replays=2000).emitted
    right = TABLE.target(())[2] * Fraction(99, 100) + Fraction(8, 1000)
    assert abs(law[(2,)] - right) < Fraction(1, 2**40)


def test_one_exponential_is_compared_as_a_uniform_is() -> None:
    law = found(lambda: [int(draw.exponentials(1)[0] < 0.5)]).emitted
    assert float(law[(1,)]) == pytest.approx(1 - 2.718281828459045**-0.5, abs=1e-12)


def endless() -> list[int]:
    while random.random() < 0.5:
        pass
    return [0]


def waiting() -> list[int]:
    """One token for every uniform that is below a half, ten at most."""
    count = 1
    while count < 10 and random.random() < 0.5:
        count += 1
    return [0] * count


def test_runs_of_too_many_deciding_draws_end_without_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(found(waiting).emitted) == 10
    monkeypatch.setattr(explore, "MOST_DEEP", 5)
    with pytest.raises(BudgetError, match="more than 5 draws in a row"):
        found(waiting)


@pytest.mark.parametrize(
    ("adapter", "settings", "error", "said"),
    [
        (lambda: [1], {}, AdapterError, "draws nothing"),
        (lambda: [draw.categorical([1, 1]) // 0], {}, AdapterError, "raises whatever is drawn"),
        (lambda: (draw.bernoulli(0.5), [])[1], {}, AdapterError, "returned no token"),
        (endless, {}, BudgetError, "more than 2000 times"),
        (rare_token, {"replays": 0}, AdapterError, "0 replays"),
        (rare_token, {"delta": 1.0}, AdapterError, "delta 1"),
        (lambda: [draw.uniforms(1, "mt19937")], {}, AdapterError, "a grid of uniforms"),
        (lambda: [draw.uniform(0)], {}, AdapterError, "a grid of uniforms"),
    ],
)
def test_what_cannot_be_probed_says_so(
    adapter: Callable[[], object], settings: dict[str, float], error: type[AuditError], said: str
) -> None:
    with pytest.raises(error) as refused:
        found(adapter, **settings)
    assert said in str(refused.value)


def test_beyond_the_budget_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    result = found(rare_token, budget=20)
    assert (result.unexplored, result.runs) == (1, 20)
    assert "more than 20 runs" in "".join(result.notes)
    assert judged(result, TABLE, 0).verdict is Verdict.UNDECIDED
    monkeypatch.setattr(measuring, "ROUNDS", 0)
    assert "after 1 corrections" in "".join(found(rare_token, replays=3000).notes)


def test_an_exception_on_some_draws_is_an_outcome_with_its_mass() -> None:
    result = found(lambda: [1 // int(random.random() >= 0.125)])
    assert list(result.raised.values()) == [Fraction(1, 8)]
