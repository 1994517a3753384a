"""Seven ways in which an audit could accuse code that is right: it stays silent, or it refuses.

In place draws; state between runs; uniforms that run out; products of uniforms; noise that
initialises parameters; seeds inside of the audited code; and break points that a probe could miss,
which traced mode cannot.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.audit import case, draw
from specdist.audit.context import Setup
from specdist.audit.refusals import AdapterError, AuditError, NotAFunctionError, RefusalError
from specdist.audit.run import Audit
from specdist.audit.streams import REUSED
from specdist.model.audit_report import AuditReport
from specdist.model.verdict import Verdict

TINY = Fraction(1, 2**40)


def report(adapter: Callable[[], Any], **setup: int) -> AuditReport:
    sizes = {"vocab": 3, "gamma": 1, "steps": 2, **setup}
    return Audit(
        adapter, "x.py:step", Setup(framework="numpy", dtype="float64", **sizes), 3
    ).report()


def is_silent(adapter: Callable[[], Any], **setup: int) -> bool:
    found = report(adapter, **setup)
    right = found.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
    exact = [result.total_variation.exact for result in found.tables]
    return right and all(value is not None and value <= TINY for value in exact)


def step(
    uniform: Callable[[], Any], choose: Callable[[np.ndarray], Any] | None = None
) -> list[int]:
    """A right step, with the uniforms and the sampler that it is given."""
    chosen = choose or draw.categorical
    tokens: list[int] = []
    for _ in range(case.gamma):
        tokens.append(int(chosen(case.draft(tokens))))
    case.propose(tokens)
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if not uniform() * draft[i][token] < target[i][token]:
            return [*tokens[:i], int(chosen(np.maximum(target[i] - draft[i], 0)))]
    return [*tokens, int(chosen(target[-1]))]


def normalised(row: np.ndarray) -> np.ndarray:
    wide = row.astype(np.float64)
    return wide / wide.sum()


class InPlace:
    """Noise that is scaled, divided into and raced in place."""

    def choose(self, row: np.ndarray) -> Any:
        noise = np.random.default_rng().exponential(size=len(row))
        noise /= 2
        np.divide(row, noise, out=noise)
        return noise.argmax()

    def __call__(self) -> list[int]:
        return step(random.random, self.choose)


def test_noise_that_is_changed_in_place_is_followed() -> None:
    assert is_silent(InPlace)


@pytest.mark.parametrize("draws", ["random", "standard_exponential"])
def test_draws_into_an_array_that_is_given_are_refused(draws: str) -> None:
    rng = np.random.default_rng()
    buffer = np.empty(3)

    def adapter() -> list[int]:
        getattr(rng, draws)(out=buffer)
        return [int(buffer.argmax())]

    with pytest.raises(RefusalError, match="no out="):
        report(adapter)


class Counter:
    """The draft length follows a counter that runs share, as a schedule kept in a config does."""

    calls = 0

    def __call__(self) -> list[int]:
        Counter.calls += 1
        draw.bernoulli(0.5 if Counter.calls % 3 else 0.25)
        return step(random.random)


def test_state_between_runs_is_no_verdict() -> None:
    with pytest.raises(NotAFunctionError, match="not a function of its draws"):
        report(Counter())


class Quiet:
    """State that changes what is emitted, not what is asked."""

    calls = 0

    def __call__(self) -> list[int]:
        Quiet.calls += 1
        tokens = step(random.random)
        return tokens[:1] if Quiet.calls > 3 else tokens


def test_state_that_asks_for_nothing_else_shows_in_a_replay() -> None:
    with pytest.raises(NotAFunctionError, match="gave tokens"):
        report(Quiet(), steps=1)


class Kept:
    """A uniform that the first run draws, and all later ones use."""

    drawn: Any = None

    def __call__(self) -> list[int]:
        if Kept.drawn is None:
            Kept.drawn = random.random()
        return step(lambda: Kept.drawn)


def test_a_number_of_an_earlier_run_is_no_verdict() -> None:
    with pytest.raises(NotAFunctionError, match="drawn in an earlier run"):
        report(Kept)


class Counted:
    """State that a run makes for itself is no state between runs."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> list[int]:
        self.calls += 1
        return step(random.random)[: self.calls]


def test_state_within_a_run_is_followed() -> None:
    assert is_silent(Counted)


def test_uniforms_that_run_out_are_the_adapters_fault() -> None:
    def adapter() -> list[int]:
        supply = draw.uniforms(1)
        taken = iter(range(9))
        return step(lambda: supply[next(taken)])

    with pytest.raises(AdapterError, match="2 uniforms are used, and 1 were supplied"):
        report(adapter, gamma=2)


def test_enough_uniforms_are_silent() -> None:
    def adapter() -> list[int]:
        supply = iter(draw.uniforms(case.gamma))
        return step(lambda: next(supply))

    assert is_silent(adapter, gamma=2, steps=1)


@pytest.mark.parametrize(
    "product",
    [
        lambda: random.random() * random.random(),
        lambda: np.random.rand() + np.random.rand(),
        lambda: np.random.rand(2).prod(),
        lambda: max(random.random(), random.random()),
    ],
)
def test_products_of_uniforms_are_refused(product: Callable[[], Any]) -> None:
    with pytest.raises(RefusalError, match="cannot be followed exactly"):
        report(lambda: step(product))


class Layer:
    """A projection with random weights that are made inside; they change no law."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.weights = make()

    def __call__(self) -> list[int]:
        return step(random.random)


def test_noise_that_initialises_is_silent_or_refused() -> None:
    assert is_silent(lambda: Layer(lambda: np.random.uniform(-0.5, 0.5, (2, 2)))())
    with pytest.raises(RefusalError, match="numpy's normal"):
        report(lambda: Layer(lambda: np.random.normal(size=(2, 2)))())


class SeededOnce:
    """Seeds its own generators when it is made."""

    def __init__(self) -> None:
        self.rng, self.other = np.random.default_rng(7), random.Random(7)

    def __call__(self) -> list[int]:
        return step(self.other.random, lambda row: self.rng.choice(len(row), p=normalised(row)))


def test_a_generator_that_is_seeded_once_is_silent() -> None:
    assert is_silent(SeededOnce)
    assert not any(f.ident == "reused-randomness" for f in report(SeededOnce).findings)


def seeded_in_every_step() -> list[int]:
    return step(np.random.default_rng(7).random)


def test_a_generator_that_is_seeded_in_every_step_is_found() -> None:
    """By itself every step is right; two steps share a uniform."""
    assert is_silent(seeded_in_every_step, steps=1)
    found = report(seeded_in_every_step)
    assert found.verdict is Verdict.DIFFERENT
    assert found.smallest is not None
    assert found.smallest.steps == 2
    assert any(f.ident == "reused-randomness" and f.message == REUSED for f in found.findings)


def module_is_seeded() -> list[int]:
    random.seed(3)
    np.random.seed(3)
    return step(random.random, lambda row: np.random.choice(len(row), p=normalised(row)))


def test_draws_of_a_module_that_is_seeded_inside_are_its_constants() -> None:
    """As the real generators give them after that seed."""
    random.seed(3)
    np.random.seed(3)
    constants = random.Random(3), np.random.RandomState(3)
    found = report(module_is_seeded, steps=1)
    assert found.verdict is Verdict.DIFFERENT
    assert all(len([n for n in result.lines if n.output.exact]) == 1 for result in found.tables)
    assert any("later draws are constants" in note for note in found.notes)
    assert random.random() == constants[0].random()
    assert np.random.random() == constants[1].random()


class SeededBySystem:
    """Generators without a seed, made in every step."""

    def __call__(self) -> list[int]:
        rng = np.random.default_rng()
        return step(rng.random, lambda row: rng.choice(len(row), p=normalised(row)))


def test_fresh_generators_in_every_step_are_silent() -> None:
    assert is_silent(SeededBySystem)


def test_a_rule_with_many_break_points_misses_none() -> None:
    """A token is found by comparing one uniform with every cumulated mass."""

    def choose(row: np.ndarray) -> Any:
        return np.searchsorted(np.cumsum(normalised(row)), np.random.rand(), side="right")

    assert is_silent(lambda: step(random.random, choose), vocab=7, steps=1)


def test_refusals_are_audit_errors() -> None:
    assert issubclass(RefusalError, AuditError)
