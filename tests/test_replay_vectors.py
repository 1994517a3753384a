"""Published laws at one position: pruning, grids of uniforms, and one noise for two races."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest

from specdist.exact.accept_test import UniformGrid
from specdist.model.options import ProcessingOptions
from specdist.model.row import FloatValues, Kind, NumberFormat, RationalValues, Row, Stage
from specdist.model.settings import CheckSettings
from specdist.model.trace import Conventions, FinalKind, Trace, TraceStep
from specdist.verify.comparison import Comparison
from specdist.verify.replay.emitted import EmittedLaws
from specdist.verify.replay.engine_model import EngineModel, Pruning, Reuse
from specdist.verify.replay.evidence import evidence
from specdist.verify.replay.hypotheses import explain
from specdist.verify.replay.reading import RecordedTrace
from tests.oracle_replay_engines import Engine, Place, Rows, right_places
from tests.oracle_replay_engines import emitted_law as by_enumeration

F = Fraction
RACES = Conventions(arithmetic=NumberFormat.FLOAT64)
SETTINGS = CheckSettings()


def _law(text: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, text.split()))


def _row(values: Sequence[Fraction], side: str) -> Row:
    return Row(
        RationalValues(tuple(values)), Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, side
    )


def _step(target: Sequence[Fraction], draft: Sequence[Fraction], **more: Any) -> TraceStep:
    step = TraceStep(
        id="0",
        source="made",
        sequence=0,
        index=0,
        drafted=(0,),
        emitted=(0,),
        n_accepted=0,
        accepted=(False,),
        final_token=0,
        final_kind=FinalKind.RECOVERED,
        target_rows=(_row(target, "target[0]"), _row(target, "target[1]")),
        draft_rows=(_row(draft, "draft[0]"),),
    )
    return replace(step, **more)


def _trace(steps: Sequence[TraceStep]) -> Trace:
    return Trace("made", "test", lambda: iter(steps), RACES, ProcessingOptions())


def _compared(target: str, draft: str, **changed: Any) -> Comparison:
    """The emitted law at the one position under the declared engine with ``changed``."""
    recording = RecordedTrace(_trace([_step(_law(target), _law(draft))]), SETTINGS)
    ((_, rows),) = recording.steps()
    assert rows is not None
    model: EngineModel = replace(recording.declared, **changed)
    return EmittedLaws(rows, RACES).compared(model, 0)


def _output(compared: Comparison) -> list[Fraction]:
    return [compared.output.value(token) for token in range(compared.output.size)]


PRUNED = [
    ("2/5 2/5 1/5", "1/2 3/10 1/5", "1/4", "12/25 12/25 1/25"),
    ("1/2 1/2", "9/10 1/10", "1/2", "11/20 9/20"),
    ("1/2 1/2 0", "1/4 1/2 1/4", "3/10", "1/4 3/4 0"),
]
"""PRN-c, PRN-DCUT, and a target without full support."""


@pytest.mark.parametrize(("target", "draft", "threshold", "law"), PRUNED)
def test_pruning_by_own_probability(target: str, draft: str, threshold: str, law: str) -> None:
    cut = F(threshold)
    compared = _compared(target, draft, pruning=Pruning("own-probability", cut))
    rows = Rows((_law(target), _law(target)), (_law(draft),))
    places = {role: Place(place.side, ()) for role, place in right_places().items()}
    engine = Engine(places=places, keep=("own", cut))
    assert _output(compared) == by_enumeration(engine, rows, 0, ())
    assert _output(compared) == list(_law(law))


@pytest.mark.parametrize(
    ("grid", "inclusive", "law", "variation"),
    [
        (UniformGrid(8), False, "9/20 3/10 1/4", "1/20"),
        (UniformGrid(8), True, "9/20 3/10 1/4", "1/20"),
        (UniformGrid(8, zero=False, one=True), False, "11/20 21/80 3/16", "1/20"),
        (UniformGrid(8, zero=False, one=True), True, "41/80 3/10 3/16", "1/80"),
        (UniformGrid(256), False, "1277/2560 3/10 103/512", "3/2560"),
        (UniformGrid(2**24), False, "83886077/167772160 3/10 6710887/33554432", "3/167772160"),
    ],
)
def test_grids_of_uniforms(grid: UniformGrid, inclusive: bool, law: str, variation: str) -> None:
    """GRID-1 to GRID-6."""
    target, draft = "1/2 3/10 1/5", "1/5 3/10 1/2"
    recording = RecordedTrace(_trace([_step(_law(target), _law(draft))]), SETTINGS)
    numerics = replace(recording.declared.numerics, grid=grid, inclusive=inclusive)
    compared = _compared(target, draft, numerics=numerics)
    assert _output(compared) == list(_law(law))
    assert compared.total_variation == F(variation)


def test_a_narrow_test_on_a_grid() -> None:
    """float16 of 3/10 over 1/5 and so on: chances from numpy's own float16."""
    target, draft = "1/10 3/10 3/5", "7/10 1/5 1/10"
    for name, dtype in (("float16", np.float16), ("float32", np.float32)):
        recording = RecordedTrace(_trace([_step(_law(target), _law(draft))]), SETTINGS)
        numerics = replace(recording.declared.numerics, grid=UniformGrid(64))
        compared = _compared(target, draft, numerics=numerics, arithmetic=NumberFormat(name))
        p, q = ([dtype(float(x)) for x in _law(text)] for text in (target, draft))
        chances = [min(F(1), F(-(-float(a / b) * 64 // 1)) / 64) for a, b in zip(p, q, strict=True)]
        accepted = [b * chance for b, chance in zip(_law(draft), chances, strict=True)]
        left = [max(a - b, F(0)) for a, b in zip(_law(target), _law(draft), strict=True)]
        rest = (1 - sum(accepted)) / sum(left)
        assert _output(compared) == [a + rest * r for a, r in zip(accepted, left, strict=True)]


def test_one_noise_for_draft_and_recovery() -> None:
    """B42: the law is (1/5, 16/45, 4/9)."""
    compared = _compared("1/5 2/5 2/5", "3/5 3/10 1/10", reuse=Reuse.DRAFT_FINAL)
    assert _output(compared) == list(_law("1/5 16/45 4/9"))
    assert compared.total_variation == F(2, 45)


def _races(seed: int, count: int, shared: bool) -> Trace:
    """Steps of token verification whose draws are races of exponentials."""
    rng = random.Random(seed)
    p, q = _law("1/5 3/10 1/5 3/10"), _law("3/10 1/5 2/5 1/10")
    left = [max(a - b, F(0)) for a, b in zip(p, q, strict=True)]
    steps = []
    while len(steps) < count:
        noise = [-log(1 - rng.random()) for _ in p]
        token = max(range(4), key=lambda x: float(q[x]) / noise[x])
        uniform = F(rng.getrandbits(53), 2**53)
        if uniform < p[token] / q[token]:
            continue
        fresh = noise if shared else [-log(1 - rng.random()) for _ in p]
        final = max(range(4), key=lambda x: float(left[x]) / fresh[x])
        recorded = {
            "drafted": (token,), "final_token": final, "emitted": (final,),
            "u_accept": (uniform,), "final_noise": FloatValues(np.array(fresh)),
        }  # fmt: skip
        steps.append(_step(p, q, id=str(len(steps)), **recorded))
    return _trace(steps)


def test_noise_that_drew_the_rejected_token_is_found() -> None:
    trace = _races(3, 40, shared=True)
    (noise,) = [one for one in evidence(trace, SETTINGS) if one.subject == "noise"]
    assert noise.refuted
    found = explain(trace, SETTINGS)
    assert found.contradicted
    assert [cause.name for cause in found.causes] == ["draft-and-final"]
    assert found.causes[0].lossless is False


def test_fresh_noise_is_not_accused() -> None:
    for seed in range(20):
        trace = _races(seed, 12, shared=False)
        assert not any(one.refuted for one in evidence(trace, SETTINGS))
        assert not explain(trace, SETTINGS).contradicted
