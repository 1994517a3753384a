"""Grids and repeats of recorded uniforms: found below their level, never in honest streams."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb, log10

import numpy as np
import pytest

from specdist.model.replay_report import ReplayFinding
from specdist.model.settings import CheckSettings
from specdist.model.trace import Conventions, TraceStep
from specdist.verify.plan import Plans
from specdist.verify.replay.recorded_rows import recorded_step
from specdist.verify.replay.step_laws import StepLaws
from specdist.verify.replay.uniform_grid import LEVEL, UniformGrid
from specdist.verify.replay.uniform_reuse import UniformReuse

Uniforms = list[list[float]]


def found(uniforms: Uniforms, bits: int = 53, presumed: bool = False) -> list[ReplayFinding]:
    """The findings of both checks over steps that accept everything."""
    grid = UniformGrid(bits, presumed)
    reuse = UniformReuse(grid)
    settings = CheckSettings()
    for number, numbers in enumerate(uniforms):
        step = TraceStep(
            str(number),
            "made",
            0,
            number,
            drafted=(0,) * len(numbers),
            emitted=(0,) * (len(numbers) + 1),
            n_accepted=len(numbers),
            u_accept=tuple(Fraction(u) for u in numbers),
        )
        plan = Plans(settings).of(recorded_step(step, settings.defaults))
        laws = StepLaws(step, plan, settings, Conventions())
        grid.add(laws)
        reuse.add(laws)
    return [*grid.findings(), *reuse.findings()]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bits", [24, 53])
def test_honest_generators_are_not_accused(seed: int, bits: int) -> None:
    """Two thousand float32 uniforms meet by chance: no finding."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 2**bits, (500, 4)).astype(float) / 2.0**bits
    assert found(numbers.tolist(), bits) == []


def test_float32_numbers_of_an_unknown_generator_meet_by_chance_too() -> None:
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 2**24, (3000, 4)).astype(float) / 2.0**24
    assert len(np.unique(numbers)) < numbers.size
    findings = found(numbers.tolist(), 53, presumed=True)
    assert [each.finding.severity.value for each in findings] == ["note"]
    assert "2^-24" in findings[0].finding.message


@pytest.mark.parametrize(
    ("points", "severity"), [(8, "error"), (16, "error"), (20, "warning"), (23, "note")]
)
def test_a_coarse_grid_weighs_as_much_as_it_moves(points: int, severity: str) -> None:
    rng = random.Random(points)
    numbers = [[rng.randrange(2**points) / 2**points for _ in range(4)] for _ in range(40)]
    (each,) = found(numbers)
    assert (each.finding.ident, each.finding.severity.value) == ("off-grid-uniform", severity)
    assert f"2^-{points}" in each.finding.message
    assert each.events[0].possible.endswith(f"/{2**points}")


def test_the_chance_of_a_grid_is_stated() -> None:
    numbers = [[k / 8 + 1 / 16 for k in range(4)], [k / 8 + 1 / 16 for k in range(4, 8)]]
    (each,) = found(numbers, bits=10)
    stated = each.finding.notes[0]
    exact = log10(10) + 8 * (4 - 10) * log10(2)
    assert exact < LEVEL
    assert f"1e{int(exact // 1)}" in stated


def test_few_numbers_prove_nothing() -> None:
    assert found([[0.5, 0.25, 0.75, 0.125], [0.375, 0.625, 0.875]]) == []


def test_a_number_off_the_declared_grid_is_a_warning_unless_it_is_presumed() -> None:
    (each,) = found([[0.3]], bits=24)
    assert each.finding.severity.value == "warning"
    assert found([[0.3]], bits=53, presumed=True) == []


@pytest.mark.parametrize("bits", [24, 53])
def test_repeats_within_a_step(bits: int) -> None:
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 2**bits, (12, 1)).astype(float) / 2.0**bits
    findings = found(np.repeat(numbers, 4, axis=1).tolist(), bits)
    (each,) = [one for one in findings if one.finding.ident == "reused-randomness"]
    assert each.finding.message == "one uniform decides several accept tests in 12 steps"
    assert len(each.events) == 36


def test_one_repeat_is_told_by_its_chance() -> None:
    """One repeat of a 53-bit number is none; one of a 24-bit number is."""
    rng = random.Random(1)
    wide = [[rng.random() for _ in range(4)] for _ in range(10)]
    wide[9][0] = wide[2][1]
    assert [each.finding.ident for each in found(wide)] == ["reused-randomness"]
    narrow = [[rng.randrange(2**24) / 2**24 for _ in range(4)] for _ in range(10)]
    narrow[9][0] = narrow[2][1]
    assert found(narrow, 24) == []
    assert log10(comb(40, 1) * 40 / 2**24) > LEVEL


def test_numbers_behind_the_first_rejection_decide_nothing() -> None:
    step = TraceStep(
        "0", "made", 0, 0, (0, 0, 0), (1,), 0, u_accept=(Fraction(1, 3),) * 3, accepted=(False,)
    )
    settings = CheckSettings()
    laws = StepLaws(
        step,
        Plans(settings).of(recorded_step(step, settings.defaults)),
        settings,
        Conventions(),
    )
    reuse = UniformReuse(UniformGrid(53))
    reuse.add(laws)
    assert list(reuse.findings()) == []
    (count,) = reuse.counts()
    assert count.agreed == 1
