"""Faulty engines on trained models: the cause, and the exact law that it emits, three ways.

`truth.json` was computed by code that shares nothing with this project, and is compared with plain
float64 from the definition (`oracle_replay_laws`) and with the certified laws of `explain`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from specdist.model.settings import CheckSettings, ReadingSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import EmittedLaw, Explanation, Hypothesis
from specdist.readers.traces.opening import open_trace
from specdist.verify.replay.hypotheses import explain
from tests import oracle_replay_laws as oracle
from tests.cli import ROOT

CAPTURES = ROOT / "tests/data/captures"
SETTINGS = CheckSettings()
CAUSES = {
    "m1": ["recovered from target"],
    "m3": [
        "accept_target: without top-p",
        "accept_target: without temperature",
        "accept_target: without any processing",
        "accept_target: processed in the opposite order",
    ],
    "m5": ["accept_target+residual_target+bonus_from: one row late"],
    "m7": [
        "accept uniforms on a coarse grid",
        "accept test in float32, coarse grid",
        "accept test in float16, coarse grid",
        "accept test in bfloat16, coarse grid",
    ],
    "m8": ["own-probability pruning, then the target"],
    "m10": ["one-uniform"],
}
"""Everything that explains every recorded fact: a short trace cannot tell some faults apart."""
TRUE = {**{name: names[0] for name, names in CAUSES.items()}, "m7": CAUSES["m7"][2]}
FAULTY = list(CAUSES)


def opened(name: str) -> Trace:
    return open_trace(str(CAPTURES / name), ReadingSettings())


@cache
def explained(name: str) -> Explanation:
    return explain(opened(f"faulty/{name}"), SETTINGS)


@cache
def truth(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CAPTURES / "faulty" / name / "truth.json").read_text())
    return found


def true_cause(name: str) -> Hypothesis:
    (found,) = [cause for cause in explained(name).causes if cause.name == TRUE[name]]
    return found


def place(law: EmittedLaw) -> tuple[int, int, int]:
    return law.sequence, law.step_index, law.position


@pytest.mark.parametrize("name", FAULTY)
def test_the_fault_is_among_what_explains_everything(name: str) -> None:
    found = explained(name)
    assert found.contradicted
    assert found.proven is (name != "m8")
    assert [cause.name for cause in found.causes] == CAUSES[name]
    assert all(cause.lossless is False for cause in found.causes)


@pytest.mark.parametrize("name", FAULTY)
def test_every_total_variation_is_the_truth(name: str) -> None:
    laws = {place(law): law for law in true_cause(name).laws}
    listed = truth(name)["tv_by_position"]
    wanted = {(x["sequence"], x["step"], x["position"]): x["tv"] for x in listed}
    assert len(wanted) > 20
    more = {(1, 5, 4)} if name == "m8" else set()  # a bonus row that the truth leaves out
    assert set(laws) == set(wanted) | more
    for key, value in wanted.items():
        assert abs(laws[key].total_variation.approx - value) < 1e-9
        assert (laws[key].total_variation.bound or 0) < 1e-9
    for key in more:
        assert laws[key].total_variation.exact == 0


@pytest.mark.parametrize("name", FAULTY)
def test_the_largest_shifts_are_the_truth(name: str) -> None:
    chosen = truth(name)["chosen"]
    key = (chosen["sequence"], chosen["step"], chosen["position"])
    (law,) = [law for law in true_cause(name).laws if place(law) == key]
    assert law.kind == chosen["kind"]
    assert [shift.token for shift in law.shifts] == [x["token"] for x in chosen["largest_shifts"]]
    for shift, wanted in zip(law.shifts, chosen["largest_shifts"], strict=True):
        assert abs(shift.output.approx - wanted["out"]) < 1e-12
        assert abs(shift.reference.approx - wanted["p"]) < 1e-12


@pytest.mark.parametrize("name", FAULTY)
def test_the_laws_are_those_of_the_definition(name: str) -> None:
    """Second route, token by token of the largest shifts."""
    capture = oracle.read(CAPTURES / "faulty" / name)
    steps = {(step["sequence"], step["step"]): step for step in capture.steps}
    seen = 0
    for law in true_cause(name).laws:
        step = steps[law.sequence, law.step_index]
        out = oracle.emitted(capture, name, step, law.position)
        reference = capture.law("target", step["target_rows"][law.position])
        assert abs(oracle.variation(out, reference) - law.total_variation.approx) < 1e-11
        missing = law.unassigned.approx if law.unassigned else 0.0
        assert abs(1.0 - out.sum() - missing) < 1e-11
        for shift in law.shifts:
            assert abs(shift.output.approx - out[shift.token]) < 1e-11
            assert abs(shift.reference.approx - reference[shift.token]) < 1e-11
            seen += 1
    assert seen > 100


def test_mass_without_a_token_is_told() -> None:
    """m3 rejects at two positions whose residual is empty: nothing says what is emitted there."""
    told = {place(law): law.unassigned.approx for law in true_cause("m3").laws if law.unassigned}
    assert set(told) == {(0, 3, 3), (0, 5, 0)}
    assert np.allclose(sorted(told.values()), [4.768314466347955e-05, 0.011939614246541535])


def test_the_threshold_of_the_pruning_is_told_as_an_interval() -> None:
    parameters = dict(true_cause("m8").parameters)
    assert parameters == {"threshold": "above 0.158991, up to 0.211289", "taken as": "1/5"}


@pytest.mark.parametrize("name", ["good/a", "good/c", "hf/top_k_off", "hf/top_k_unset"])
def test_right_engines_are_not_contradicted(name: str) -> None:
    found = explain(opened(name), SETTINGS)
    assert not found.contradicted
    assert found.causes == ()
    assert found.declared.missed is None
    assert found.declared.predicted > 30


@pytest.mark.parametrize("name", FAULTY)
def test_the_laws_do_not_hang_on_the_uniforms(name: str) -> None:
    """Without the draft uniforms the same causes are left, or a few more."""
    trace = opened(f"faulty/{name}")
    steps = [replace(step, u_draft=None) for step in trace.steps()]
    found = explain(replace(trace, steps=lambda: iter(steps)), SETTINGS)
    names = [cause.name for cause in found.causes]
    assert set(CAUSES[name]) <= set(names)
    assert [law.total_variation for law in true_cause(name).laws] == [
        law.total_variation
        for cause in found.causes
        if cause.name == TRUE[name]
        for law in cause.laws
    ]
