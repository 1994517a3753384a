"""Probe mode against exact laws: random programs, black boxes in numpy, planted faults, bounds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from specdist.audit import case, draw
from specdist.audit.context import Setup
from specdist.audit.grid import Grid
from specdist.audit.judge import judged
from specdist.audit.measure import measure
from specdist.audit.probe.explore import Explorer
from specdist.audit.probe.measuring import bound_of, needed, probed, settle
from specdist.audit.probe.runs import Runs
from specdist.audit.probe.splits import leaves_of
from specdist.audit.program import Program
from specdist.audit.run import Audit
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import Mode
from specdist.model.verdict import Verdict
from tests import probe_programs
from tests.probe_programs import Choice, Race, Uniform, grown, law, total_variation

ROUNDING = Fraction(1, 2**20)


def found_law(program: probe_programs.Node, replays: int = 200) -> probe_programs.Law:
    runs = Runs(lambda session: probe_programs.run(program, session), 100_000)
    explorer = Explorer(runs)
    settle(explorer, replays, 1e-3)
    found: probe_programs.Law = {}
    for word, mass in leaves_of(explorer.tree):
        found[str(word)] = found.get(str(word), Fraction(0)) + mass
    return {word: mass for word, mass in found.items() if mass}


def test_random_programs_have_the_law_that_is_found() -> None:
    """Exactly: break points are exact, and weights of whole numbers are their simplest ratio. What
    neither completions nor replays meet may be missed, within the bound."""
    off = 0
    for seed in range(30):
        program = grown(random.Random(seed), 4)
        if not isinstance(program, str):
            distance = total_variation(found_law(program), law(program))
            assert distance <= bound_of(200, 1e-3), seed
            off += distance > 0
    assert off <= 3


@pytest.mark.parametrize(
    "program",
    [
        Uniform(Grid(24), (1,), ("a", "b")),
        Uniform(Grid(53), (2**53 - 1,), ("a", "b")),
        Uniform(Grid(53), (1, 2, 2**52, 2**53 - 1), ("a", "b", "c", "a", "b")),
        Race((5, 0, 1), ("a", "b", "c")),
        Race((1, 1, 1), ("a", "b", "c")),
        Race((1, 2, 3, 4), ("a", "a", "b", "b")),
        Race((60, 1, 1), ("a", "b", "a")),
        Race((0, 0, 7), ("a", "b", "c")),
        Choice((1, 0, 1), ("a", "b", Race((1, 62, 1), ("a", "b", "c")))),
    ],
)
def test_ends_of_grids_zeros_and_ties_are_exact(program: probe_programs.Node) -> None:
    assert found_law(program) == law(program)


def recovered(weights: np.ndarray) -> int:
    """The winner of w / E, with numbers that are only numbers."""
    noise = np.array([float(e) for e in draw.exponentials(len(weights))])
    with np.errstate(divide="ignore"):
        return int(np.argmax(weights / noise))


def step(residual: Callable[..., np.ndarray]) -> list[int]:
    """One step of a black box: all numbers first, as floats."""
    tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    target, draft = case.target_rows(), case.draft_rows()
    us = np.array([float(u) for u in draw.uniforms(case.gamma)])
    places = np.arange(case.gamma)
    accepted = us < target[places, tokens] / draft[places, tokens]
    n = case.gamma if accepted.all() else int(np.argmin(accepted))
    row = residual(target[n], draft[n]) if n < case.gamma else target[n]
    return [*tokens[:n], recovered(row)]


def black_box() -> list[int]:
    return step(lambda target, draft: np.maximum(target - draft, 0))


def from_target() -> list[int]:
    return step(lambda target, draft: target)


class Reused:
    """One uniform for the tests of all steps, of one draft token each."""

    def __init__(self) -> None:
        self.uniform = float(random.random())

    def __call__(self) -> list[int]:
        token = draw.categorical(case.draft())
        p, q = (list(map(float, row)) for row in (case.target(0), case.draft(0)))
        if self.uniform * q[token] < p[token]:
            return [token, draw.categorical(case.target())]
        return [draw.categorical([max(a - b, 0) for a, b in zip(p, q, strict=True)])]


def traced() -> list[int]:
    """The same rule for traced mode."""
    tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if not random.random() < float(target[i][token]) / float(draft[i][token]):
            row = np.maximum(target[i] - draft[i], 0)
            return [*tokens[:i], draw.categorical(row)]
    return [*tokens, draw.categorical(target[-1])]


def setup(gamma: int = 1, steps: int = 1) -> Setup:
    return Setup(framework="numpy", vocab=3, gamma=gamma, steps=steps)


@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_black_box_has_the_law_of_traced_mode(at: int) -> None:
    table = tables(3, 6)[at]
    exact = measure(Program(traced, setup(2), table), 10_000)
    found = probed(Program(black_box, setup(2), table), 100_000, replays=200)
    assert found.emitted.keys() == exact.emitted.keys()
    # the rows are float32, so a quotient of weights is known to 2^-24 or so
    assert all(abs(found.emitted[t] - m) < ROUNDING / 8 for t, m in exact.emitted.items())
    assert sum(found.emitted.values()) == 1
    searched = found.runs - found.replays
    assert searched <= 100 * exact.leaves, f"{searched} runs for {exact.leaves} leaves"


def report(adapter: Callable[[], object], replays: int = 2000, **sizes: int) -> Audit:
    return Audit(
        adapter, "x.py:step", setup(**sizes), count=1, mode=Mode.PROBE, replays=replays, delta=1e-6
    )


def uniforms_first() -> list[int]:
    """A correct step in plain Python, of which every number is drawn before its use is known."""
    uniforms = draw.uniforms(case.gamma, "float32")
    tokens = [draw.categorical(case.draft()) for _ in range(case.gamma)]
    target = [list(map(float, row)) for row in case.target_rows()]
    draft = [list(map(float, row)) for row in case.draft_rows()]
    noise = draw.exponentials(case.vocab)
    n = 0
    while n < case.gamma and uniforms[n] * draft[n][tokens[n]] < target[n][tokens[n]]:
        n += 1
    row = target[n]
    if n < case.gamma:
        row = [max(a - b, 0) for a, b in zip(target[n], draft[n], strict=True)]
    return [*tokens[:n], max(range(case.vocab), key=lambda i: row[i] / noise[i])]


@pytest.mark.parametrize(("vocab", "gamma", "count"), [(3, 1, 15), (4, 2, 2)])
def test_a_correct_sampler_is_never_accused(vocab: int, gamma: int, count: int) -> None:
    sizes = Setup(framework="numpy", vocab=vocab, gamma=gamma, steps=1)
    for table in tables(vocab, count):
        found = probed(Program(uniforms_first, sizes, table), 100_000, replays=200)
        result = judged(found, table, 0)
        assert result.verdict is Verdict.WITHIN_TOLERANCE, table.name
        assert result.total_variation.exact <= Fraction(1, 2**23), table.name


def test_a_clean_probe_says_its_bound_and_never_equal() -> None:
    result = report(black_box).report().tables[0]
    assert result.verdict is Verdict.WITHIN_TOLERANCE
    assert result.bound is not None
    assert result.bound.exact == bound_of(2000, 1e-6)
    assert result.total_variation.exact <= ROUNDING


def first_law(table: Table) -> list[Fraction]:
    """The first token where the recovered one comes from the target: min(p, q) + r p."""
    p, q = table.target(()), table.draft(())
    overlap = sum(map(min, p, q))
    return [min(a, b) + (1 - overlap) * a for a, b in zip(p, q, strict=True)]


def test_recovery_from_the_target_is_found() -> None:
    table = tables(3, 1)[0]
    audit = report(from_target).report()
    expected = sum(abs(a - b) for a, b in zip(first_law(table), table.target(()), strict=True)) / 2
    assert audit.verdict is Verdict.DIFFERENT
    assert abs(audit.tables[0].first_variation.exact - expected) < ROUNDING


def reused_law(table: Table) -> dict[tuple[int, ...], Fraction]:
    """Whole outputs of two steps with one draft token each and one uniform u for both tests: a sum
    over drafts, over the intervals of u between their two ratios, and over what is drawn last."""
    found: dict[tuple[int, ...], Fraction] = {}
    for d in range(3):
        for tokens, below, above, mass in _step_law(table, (), d):
            for e in range(3):
                for more, least, most, share in _step_law(table, tokens, e):
                    width = min(above, most) - max(below, least)
                    if width > 0 and mass * share:
                        whole = tokens + more
                        found[whole] = found.get(whole, Fraction(0)) + width * mass * share
    return found


def _step_law(
    table: Table, prefix: tuple[int, ...], d: int
) -> list[tuple[tuple[int, ...], Fraction, Fraction, Fraction]]:
    """What a step emits that drafts d, on which interval of u, with which mass besides."""
    p, q, after = table.target(prefix), table.draft(prefix), table.target((*prefix, d))
    ratio = min(Fraction(1), p[d] / q[d]) if q[d] else Fraction(0)
    residual = [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
    rest = sum(residual) or Fraction(1)
    accepted = [((d, b), Fraction(0), ratio, q[d] * after[b]) for b in range(3)]
    rejected = [((r,), ratio, Fraction(1), q[d] * residual[r] / rest) for r in range(3)]
    return accepted + rejected


def test_a_reused_uniform_shows_over_two_steps_with_its_law() -> None:
    table = tables(3, 1)[0]
    once = probed(Program(Reused, setup(), table), 100_000, replays=500)
    assert judged(once, table, 0).verdict is Verdict.WITHIN_TOLERANCE
    found = probed(Program(Reused, setup(steps=2), table), 100_000, replays=500)
    assert judged(found, table, 0).verdict is Verdict.DIFFERENT
    right = reused_law(table)
    assert found.emitted.keys() == right.keys()
    distance = sum(abs(found.emitted[tokens] - mass) for tokens, mass in right.items()) / 2
    assert distance < found.bound


def test_a_difference_below_the_bound_is_no_fault() -> None:
    """Ten replays bound the law to ln(10^6)/10 > 1: whatever is found, nothing is accused."""
    audit = report(from_target, replays=10).report()
    assert audit.tables[0].bound.exact == 1
    assert audit.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(("replays", "delta"), [(2000, 1e-6), (100, 1e-3)])
def test_the_bound_is_the_logarithm_over_the_replays(replays: int, delta: float) -> None:
    assert bound_of(replays, delta) == Fraction(math.log(1 / delta)) / replays
    for tree in range(1, 6):
        count = needed(tree, replays, delta)
        # (1 - bound)^count is at most the share of delta that this tree has
        share = delta / (tree * (tree + 1))
        assert math.exp(-float(bound_of(replays, delta)) * count) <= share * (1 + 1e-9)


def test_a_bound_is_never_above_one() -> None:
    assert bound_of(1, 1e-6) == 1
