"""Known faults held against recorded steps: the right one is named, and none on a right engine.

The engines are those of `oracle_replay_engines`, which share nothing with the package.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from specdist.model.settings import CheckSettings
from specdist.model.trace_evidence import Explanation
from specdist.verify.replay import emitted
from specdist.verify.replay.emitted import EmittedLaws
from specdist.verify.replay.engine_model import EngineModel
from specdist.verify.replay.faults.families import known_faults
from specdist.verify.replay.faults.role_faults import PLACES as ROLE_PLACES
from specdist.verify.replay.faults.row_faults import PLACES as ROW_PLACES
from specdist.verify.replay.hypotheses import explain
from specdist.verify.replay.reading import RecordedTrace
from tests.oracle_replay_engines import (
    PLAIN,
    TEMPERATURE,
    TOP_P,
    Engine,
    Place,
    emitted_law,
    processed,
    right_places,
    total_variation,
)
from tests.replay_traces import Recorded, made_trace, recorded, trace_of

SETTINGS = CheckSettings()
RIGHT = Engine()
F = Fraction


def _with(**places: Place) -> Engine:
    return replace(RIGHT, places={**right_places(), **places})


SINGLE: dict[str, Engine] = {
    "recovered from target": replace(RIGHT, recovery="target"),
    "recovered from argmax": replace(RIGHT, recovery="argmax"),
    "target without the rejected token": replace(RIGHT, recovery="rest"),
    "recovered from the draft": replace(_with(residual_target=Place("draft")), recovery="target"),
    "residual upside down": _with(residual_target=Place("draft"), residual_draft=Place("target")),
    "ratio upside down": _with(accept_target=Place("draft"), accept_draft=Place("target")),
    "ratio and residual upside down": _with(
        accept_target=Place("draft"),
        accept_draft=Place("target"),
        residual_target=Place("draft"),
        residual_draft=Place("target"),
    ),
    "always": replace(RIGHT, test="always"),
    "first-unchecked": replace(RIGHT, test="first"),
    "the accept test: one-hot draft": replace(RIGHT, one_hot=True),
    "test and residual: one-hot draft": replace(RIGHT, one_hot=True, recovery="rest"),
    "one-uniform": replace(RIGHT, reuse="accepts"),
    "draft-and-accept": replace(RIGHT, reuse="draft-accept"),
    "accept-and-final": replace(RIGHT, reuse="accept-final"),
    "draft-and-final": replace(RIGHT, reuse="draft-final"),
    "own-probability pruning, then the target": replace(RIGHT, keep=("own", F(3, 10))),
    "own-probability pruning, then the residual": replace(
        RIGHT, keep=("own", F(3, 10)), dropped="residual"
    ),
    "top-probability pruning, then the target": replace(RIGHT, keep=("top", F(1, 2))),
    "position pruning, then the target": replace(RIGHT, keep=("position", F(-1))),
}
"""Engines with one fault, by the name of the model that is it."""

CONFUSED = {
    "recovered from argmax": {"residual_target: at temperature 0"},
    "the accept test: one-hot draft": {"accept_draft: at temperature 0"},
}
"""Other models that do the same on such rows."""

_STEPS = {
    "without top-p": (TEMPERATURE,),
    "without temperature": (TOP_P,),
    "without any processing": (),
    "processed twice": PLAIN + PLAIN,
    "processed in the opposite order": PLAIN[::-1],
    "with temperature applied twice": (TEMPERATURE, *PLAIN),
    "at temperature 0": (*PLAIN, "greedy"),
}


def _role_engines(texts: tuple[str, ...]) -> Iterator[tuple[str, Engine]]:
    for roles, _, _ in ROLE_PLACES:
        for text in texts:
            name = "+".join(role.value for role in roles) + ": " + text
            yield name, _with(**{r.value: Place(_side(r.value), _STEPS[text]) for r in roles})


def _row_engines() -> Iterator[tuple[str, Engine]]:
    for roles, _ in ROW_PLACES:
        for shift, word in ((-1, "late"), (1, "early")):
            if shift < 0 or [role.value for role in roles] != ["bonus_from"]:
                name = "+".join(role.value for role in roles) + f": one row {word}"
                places = {r.value: Place(_side(r.value), shift=shift) for r in roles}
                yield name, _with(**places)


def _side(role: str) -> str:
    return "draft" if "draft" in role else "target"


_ROW_ENGINES = dict(_row_engines())
_ROLE_ENGINES = dict(_role_engines(("without top-p", "without temperature")))


def _names(found: Explanation) -> set[str]:
    return {cause.name for cause in found.causes}


@pytest.mark.parametrize("name", SINGLE)
def test_the_fault_is_named(name: str) -> None:
    found = explain(made_trace(5, SINGLE[name], 24), SETTINGS)
    assert found.contradicted
    assert name in _names(found)
    assert _names(found) <= {name} | CONFUSED.get(name, set())
    (cause,) = [one for one in found.causes if one.name == name]
    assert cause.explains
    assert cause.predicted > found.declared.predicted
    pretoken = name.startswith(("top-probability", "position"))
    same_law = pretoken or name == "test and residual: one-hot draft"
    assert cause.lossless is same_law
    assert found.proven is not pretoken


@pytest.mark.parametrize(("name", "engine"), _ROW_ENGINES.items(), ids=list(_ROW_ENGINES))
def test_rows_of_another_position_are_named(name: str, engine: Engine) -> None:
    found = explain(made_trace(5, engine, 14), SETTINGS)
    assert found.contradicted
    assert name in _names(found)
    assert len(_names(found)) <= 2


@pytest.mark.parametrize(
    ("name", "engine"),
    _ROLE_ENGINES.items(),
    ids=list(_ROLE_ENGINES),
)
def test_another_recipe_in_one_place_is_named(name: str, engine: Engine) -> None:
    found = explain(made_trace(5, engine, 20), SETTINGS)
    if name.endswith("without temperature") and name[:5] != "bonus":
        assert found.contradicted
    assert not found.contradicted or name in _names(found)
    roles = name.split(":")[0]
    for other in _names(found):
        assert set(other.split(":")[0].split("+")) & set(roles.split("+"))


def test_only_several_explain_what_few_steps_cannot_tell_apart() -> None:
    places = {
        role: Place("target", (TEMPERATURE,)) for role in ("accept_target", "residual_target")
    }
    found = explain(made_trace(5, _with(**places), 30), SETTINGS)
    assert {"accept_target+residual_target: without top-p"} < _names(found)
    assert all(cause.explains and cause.missed is None for cause in found.causes)


def test_nothing_is_said_of_a_right_engine() -> None:
    for seed in range(200):
        found = explain(made_trace(seed, RIGHT, 2), SETTINGS)
        assert not found.contradicted
        assert found.causes == ()
        assert found.declared.missed is None
        assert found.declared.predicted >= 4


def test_a_right_engine_on_a_float32_generator_is_right() -> None:
    """Uniforms of 24 bits, where nothing states the generator."""
    found = explain(made_trace(3, replace(RIGHT, grid=2**24), 12), SETTINGS)
    assert not found.contradicted


def test_drafts_of_another_law_that_are_tested_by_it_are_lossless() -> None:
    """As transformers does: draft rows processed twice, drawn from and tested alike."""
    twice = Place("draft", PLAIN + PLAIN)
    engine = _with(drafted_from=twice, accept_draft=twice, residual_draft=twice)
    found = explain(made_trace(5, engine, 24), SETTINGS)
    name = "drafted_from+accept_draft+residual_draft: processed twice"
    assert [(cause.name, cause.lossless) for cause in found.causes] == [(name, True)]
    assert all(law.total_variation.exact == 0 for law in found.causes[0].laws)


def test_a_fault_outside_the_families_has_no_cause() -> None:
    """A test with half the ratio: the declared engine is contradicted, and nothing explains it."""
    engine = replace(RIGHT, chance=lambda p, q: min(F(1), p / (2 * q)) if q else F(0))
    found = explain(made_trace(5, engine, 24), SETTINGS)
    assert found.contradicted
    assert found.causes == ()
    assert found.tried > 100


def test_one_wrong_fact_contradicts_and_rules_every_model_out() -> None:
    """A decision turned by hand in an otherwise right trace."""
    steps = recorded(5, RIGHT, 20)
    rows, step = next(item for item in steps if item[1]["accepted"][:1] == [False])
    other = {**step, "u_accept": [F(1, 2**53), *step["u_accept"][1:]]}
    turned = [(rows, other) if item[1] is step else item for item in steps]
    found = explain(trace_of(turned), SETTINGS)
    assert found.contradicted
    assert found.declared.missed is not None
    assert found.declared.missed.kind == "decision"
    assert not {cause.name for cause in found.causes} & {"recovered from target", "always"}


def test_steps_without_rows_say_so() -> None:
    trace = made_trace(5, RIGHT, 4)
    bare = [replace(step, target_rows=(), draft_rows=()) for step in trace.steps()]
    found = explain(replace(trace, steps=lambda: iter(bare)), SETTINGS)
    assert not found.contradicted
    assert "no step has the rows" in found.note
    assert found.declared.predicted == 0


@pytest.mark.parametrize("without", [("u_draft",), ("u_accept",), ("u_final",)])
def test_a_fault_is_named_without_some_of_the_uniforms(without: tuple[str, ...]) -> None:
    """What the others still prove."""
    late = {
        role: Place("target", shift=-1)
        for role in ("accept_target", "residual_target", "bonus_from")
    }
    found = explain(made_trace(5, _with(**late), 40, without), SETTINGS)
    assert found.contradicted
    assert "accept_target+residual_target+bonus_from: one row late" in _names(found)


def test_always_accepting_is_named_without_any_uniform() -> None:
    """Decisions alone refute the declared engine by their likelihood."""
    trace = made_trace(5, replace(RIGHT, test="always"), 30, ("u_draft", "u_accept", "u_final"))
    found = explain(trace, SETTINGS)
    assert found.contradicted
    assert "always" in _names(found)
    assert found.causes[0].name == "always"


# Emitted laws, against enumeration.


_CASES = {
    "declared": RIGHT,
    **SINGLE,
    **_ROW_ENGINES,
    **dict(_role_engines(tuple(_STEPS))),
}


def _model(name: str, trace: RecordedTrace) -> EngineModel:
    models = (trace.declared, *known_faults(trace.declared, trace.survey))
    return next(model for model in models if model.name == name)


def _differences(name: str, engine: Engine, steps: list[Recorded]) -> Iterator[Any]:
    """Reached positions whose total variation or law is not that of the oracle."""
    made = trace_of(steps)
    recording = RecordedTrace(made, SETTINGS)
    model = _model(name, recording)
    for (rows, step), (_, held) in zip(steps, recording.steps(), strict=True):
        assert held is not None
        laws = EmittedLaws(held, made.conventions)
        listed = list(laws.laws(model))
        assert len(listed) == step["n_accepted"] + 1
        for law in listed:
            index = law.position
            proposed = step["proposed"] or step["drafted"]
            if (law.kind == "drafted") is not (index < len(proposed)):
                yield name, step, index, law.kind
            reference = processed(rows.target[index], PLAIN)
            if law.kind == "bonus":
                expected = list(rows.law(engine.places["bonus_from"], index))
            else:
                expected = emitted_law(engine, rows, index, step["drafted"][:index])
                output = laws.compared(model, index).output
                if [output.value(token) for token in range(output.size)] != expected:
                    yield name, step, index
            if law.total_variation.exact != total_variation(expected, reference):
                yield name, step, index, law.total_variation


@pytest.mark.parametrize(("name", "engine"), _CASES.items(), ids=list(_CASES))
def test_emitted_laws_are_those_of_enumeration(name: str, engine: Engine) -> None:
    count = 16 if "pruning" in name else 3  # thresholds are read from the trace
    assert list(_differences(name, engine, recorded(11, engine, count))) == []


PLANTS = {
    "the smallest earlier ratio is forgotten": ("_smallest_ratio", "one-uniform"),
    "the pruning is forgotten": ("_is_drafted", "own-probability pruning, then the target"),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_planted_bugs_are_seen(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute, name = PLANTS[plant]
    wrong = {
        "_smallest_ratio": lambda self, model, index: (F(1), F(0)),
        "_is_drafted": lambda self, model, index: index < len(self._step.drafted),
    }
    monkeypatch.setattr(EmittedLaws, attribute, wrong[attribute])
    steps = recorded(11, SINGLE[name], 16)
    assert list(_differences(name, SINGLE[name], steps))


def test_a_planted_order_of_draws_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared uniforms read off the wrong place."""
    original = emitted.shared_outcomes
    monkeypatch.setattr(
        emitted,
        "shared_outcomes",
        lambda laws, reuse, recovery: original(laws, type(reuse)("draft-and-final"), recovery),
    )
    name = "accept-and-final"
    assert list(_differences(name, SINGLE[name], recorded(11, SINGLE[name], 6)))
