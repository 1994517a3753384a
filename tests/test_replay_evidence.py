"""E-values of recorded steps: null means by enumeration, refuted faults, silence else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from specdist.model.finding import Severity
from specdist.model.options import ProcessingOptions
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Evidence
from specdist.verify.replay.bets.bettors import SHAPES, Urns, shape_chances
from specdist.verify.replay.bets.decision_bets import AcceptDecisions
from specdist.verify.replay.bets.draft_bets import DraftTokens, DroppedTokens
from specdist.verify.replay.bets.final_bets import FinalTokens
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.bets.uniform_bets import FreshUniforms, GridOfUniforms
from specdist.verify.replay.evidence import capture_log10, evidence, evidence_findings
from specdist.verify.replay.reading import RecordedTrace
from tests.oracle_replay_engines import (
    PLAIN,
    Engine,
    Place,
    Rows,
    processed,
    right_places,
)
from tests.replay_traces import Recorded, made_trace, recorded, trace_of

F = Fraction
SETTINGS = CheckSettings()
RIGHT = Engine()
UNIFORMS = ("u_draft", "u_accept", "u_final")
ROWS = Rows(
    ((F(1, 5), F(1, 2), F(3, 10)), (F(2, 5), F(1, 5), F(2, 5)), (F(3, 5), F(1, 10), F(3, 10))),
    ((F(1, 2), F(3, 10), F(1, 5)), (F(1, 10), F(3, 5), F(3, 10))),
)
TARGET = [processed(row, ()) for row in ROWS.target]
DRAFT = [processed(row, ()) for row in ROWS.draft]


def _with(**places: Place) -> Engine:
    return replace(RIGHT, places={**right_places(), **places})


def _found(trace: Trace, subject: str) -> Evidence:
    (one,) = [one for one in evidence(trace, SETTINGS) if one.subject == subject]
    return one


# Null means, over everything that one step may record.


def _step(drafted: Sequence[int], accepted: Sequence[bool], final: int, **more: Any) -> Recorded:
    count = sum(accepted)
    rejected = count < len(drafted)
    return ROWS, {
        "drafted": drafted, "proposed": None, "u_draft": None, "u_accept": None, "u_final": None,
        "accepted": accepted, "n_accepted": count, "final_token": final, "rejected": rejected,
        "emitted": [*drafted[:count], final], **more,
    }  # fmt: skip


def _recording(step: Recorded) -> RecordedTrace:
    """Rows as they are, without processing."""
    return RecordedTrace(trace_of([step], options=ProcessingOptions()), SETTINGS)


def _value(step: Recorded, make: Callable[[RecordedTrace], Statement]) -> Fraction:
    recording = _recording(step)
    statement: Any = make(recording)
    for raw, rows in recording.steps():
        statement.add(raw if isinstance(statement, (FreshUniforms, GridOfUniforms)) else rows)
    return statement.value


def _outcomes() -> Iterator[tuple[Fraction, Recorded]]:
    """Every step of the right engine on `ROWS`, with its probability."""
    for drafted in product(range(3), repeat=2):
        chance = DRAFT[0][drafted[0]] * DRAFT[1][drafted[1]]
        accepts = [min(F(1), TARGET[i][x] / DRAFT[i][x]) for i, x in enumerate(drafted)]
        for count in range(3):
            reach = F(1)
            for accept in accepts[:count]:
                reach *= accept
            if count < 2:
                reach *= 1 - accepts[count]
                left = [max(p - q, F(0)) for p, q in zip(TARGET[count], DRAFT[count], strict=True)]
                law = [value / sum(left) for value in left]
            else:
                law = list(TARGET[2])
            decisions = [True] * count + [False] * (count < 2)
            for final, share in enumerate(law):
                if reach * share:
                    yield chance * reach * share, _step(drafted, decisions, final)


MAKERS: dict[str, Callable[[RecordedTrace], Statement]] = {
    "drafts": lambda found: DraftTokens(found.declared, found.trace.conventions),
    "decisions": lambda found: AcceptDecisions(found.declared, found.trace.conventions),
    "finals": lambda found: FinalTokens(found.declared, found.trace.conventions),
}


@pytest.mark.parametrize("subject", MAKERS)
def test_the_null_mean_is_one(subject: str) -> None:
    """Up to what rounding of the engine is allowed for, and never above."""
    mean = sum(chance * _value(step, MAKERS[subject]) for chance, step in _outcomes())
    assert F(1) - F(1, 10**9) < mean <= 1
    assert sum(chance for chance, _ in _outcomes()) == 1


def test_the_null_mean_of_dropped_tokens_is_one() -> None:
    """Tokens are dropped at the second place in one of three cases, whatever they are."""
    mean = F(0)
    for drafted in product(range(3), repeat=2):
        chance = DRAFT[0][drafted[0]] * DRAFT[1][drafted[1]]
        for kept, share in ((1, F(1, 3)), (2, F(2, 3))):
            decisions = [True] * kept
            step = _step(drafted[:kept], decisions, 0, proposed=list(drafted))
            mean += chance * share * _value(step, lambda found: DroppedTokens(found.declared))
    assert F(1) - F(1, 10**6) < mean <= 1


def test_the_null_mean_of_fresh_uniforms_is_at_most_one() -> None:
    """All pairs of uniforms on a small grid; the bits are those that the numbers show."""
    for points in (8, 16):
        mean = F(0)
        for pair in product(range(points), repeat=2):
            uniforms = [F(point, points) for point in pair]
            step = _step([0, 0], [True, True], 0, u_accept=uniforms)
            mean += _value(step, lambda found: FreshUniforms(found.survey)) / points**2
        assert F(1, 2) < mean <= 1


def test_the_null_mean_of_grids_is_one() -> None:
    """Of a declared grid of 8 points; finer generators only lower it."""
    settings = CheckSettings(overrides=ProcessingOptions(numerics={"uniform": "8"}))
    for points in (8, 16):
        mean = F(0)
        for pair in product(range(points), repeat=2):
            uniforms = [F(point, points) for point in pair]
            trace = trace_of([_step([0, 0], [True, True], 0, u_accept=uniforms)])
            recording = RecordedTrace(replace(trace, options=ProcessingOptions()), settings)
            statement = GridOfUniforms(recording.declared, trace.conventions)
            for raw, _ in recording.steps():
                statement.add(raw)
            mean += statement.value / points**2
        assert mean == 1 if points == 8 else mean < 1


def test_every_bettor_is_a_distribution() -> None:
    import numpy as np

    rng = np.random.default_rng(3)
    ids = np.array([1, 4, 5, 9])
    for _ in range(20):
        weights = rng.random(4) * (rng.random(4) > 0.3) + 1e-9
        sums = dict.fromkeys(SHAPES, F(0))
        for token in range(12):
            for name, chance in shape_chances(ids, weights, token).items():
                sums[name] += chance
        assert sums == dict.fromkeys(SHAPES, F(1))


def test_urns_are_a_dirichlet_mixture() -> None:
    law = DRAFT[0]
    for before in product(range(3), repeat=3):
        total = F(0)
        for token in range(3):
            urns = Urns()
            for earlier in before:
                urns.chance(7, earlier, law[earlier])
            total += urns.chance(7, token, law[token])
        assert total == 1
    assert Urns().chance(1, 2, law[2]) == law[2]


# What is refuted, and what is not.


def test_right_engines_are_refuted_nowhere() -> None:
    for seed in range(40):
        found = evidence(made_trace(seed, RIGHT, 5, UNIFORMS), SETTINGS)
        assert {one.subject for one in found} <= {"drafts", "decisions", "finals"}
        assert not any(one.refuted for one in found)
        assert capture_log10(found) < 3
        assert evidence_findings(found) == ()


def test_a_right_engine_is_not_refuted_by_its_uniforms() -> None:
    for seed in range(40):
        found = evidence(made_trace(seed, RIGHT, 5), SETTINGS)
        assert {one.subject for one in found} == {"uniforms", "grid"}
        assert not any(one.refuted for one in found)


def test_sequences_run_with_one_seed_are_not_refuted() -> None:
    trace = made_trace(5, RIGHT, 8)
    steps = list(trace.steps())
    twice = [*steps, *(replace(step, sequence=1) for step in steps)]
    assert not _found(replace(trace, steps=lambda: iter(twice)), "uniforms").refuted
    again = [*steps, *(replace(step, index=step.index + 8) for step in steps)]
    assert _found(replace(trace, steps=lambda: iter(again)), "uniforms").refuted


FAULTS = {
    "drafts": (_with(drafted_from=Place("draft", PLAIN + PLAIN)), 60, "processed twice"),
    "decisions": (replace(RIGHT, test="always"), 30, "always"),
    "finals": (_with(bonus_from=Place("target", (*PLAIN, "greedy"))), 90, "bonus, argmax"),
}


@pytest.mark.parametrize("subject", FAULTS)
def test_a_fault_is_refuted_by_chance_alone(subject: str) -> None:
    engine, steps, favourite = FAULTS[subject]
    gamma = 1 if subject == "finals" else 3
    one = _found(trace_of(recorded(5, engine, steps, gamma), UNIFORMS), subject)
    assert one.refuted
    assert one.passes
    assert one.favourite == favourite


@pytest.mark.parametrize("subject", ["uniforms", "grid", "dropped"])
def test_other_facts_refute_at_their_level(subject: str) -> None:
    engines = {
        "uniforms": replace(RIGHT, reuse="draft-final"),
        "grid": replace(RIGHT, grid=2**10),
        "dropped": replace(RIGHT, keep=("own", F(3, 10))),
    }
    one = _found(made_trace(5, engines[subject], 40), subject)
    assert one.refuted
    assert one.proof is None
    (finding,) = evidence_findings((one,))
    assert finding.message.startswith("refuted at level 1e-06: ")
    assert finding.severity is (Severity.WARNING if subject == "grid" else Severity.ERROR)
    assert "the bet that gained the most" in finding.notes[1]


def test_dropping_by_the_row_is_not_refuted() -> None:
    for keep in (("top", F(1, 2)), ("position", F(-1))):
        one = _found(made_trace(5, replace(RIGHT, keep=keep), 60), "dropped")
        assert not one.refuted
        assert one.log10 < 1


def test_a_level_of_ones_own() -> None:
    trace = made_trace(5, replace(RIGHT, keep=("own", F(3, 10))), 14)
    for level in (F(1, 2), F(1, 10**30)):
        (one,) = [x for x in evidence(trace, SETTINGS, level) if x.subject == "dropped"]
        assert one.level == level
        assert one.refuted is (level == F(1, 2))


def test_a_token_of_probability_zero_is_a_proof() -> None:
    steps = recorded(5, RIGHT, 6)
    rows, step = steps[2]
    law = processed(rows.draft[0], PLAIN)
    impossible = next(token for token, value in enumerate(law) if not value)
    wrong = {**step, "drafted": [impossible, *step["drafted"][1:]]}
    trace = trace_of([*steps[:2], (rows, wrong), *steps[3:]], UNIFORMS)
    one = _found(trace, "drafts")
    assert one.refuted
    assert not one.passes
    assert one.proof is not None
    assert one.proof.source == "made, step 2"
    (finding,) = evidence_findings((one,))
    assert finding.ident == "drafted-mismatch"
    assert f"proposed token {impossible} has draft probability 0" in finding.message
    assert "level" not in finding.message


def test_recovered_outside_the_residual_is_a_proof() -> None:
    engine = replace(RIGHT, recovery="target")
    one = _found(made_trace(5, engine, 30, UNIFORMS), "finals")
    assert one.proof is not None
    assert one.ident == "recovered-outside-residual"


def test_one_context_many_times_is_learnt() -> None:
    """The rarest token of one context is drafted again and again."""
    rows = recorded(7, RIGHT, 1)[0][0]
    law = processed(rows.draft[0], PLAIN)
    rarest = min((token for token, value in enumerate(law) if value), key=law.__getitem__)
    step = _step([rarest], [False], 0)[1]
    trace = trace_of([(rows, step)] * 60)
    steps = [replace(one, context=(1, 2, 3)) for one in trace.steps()]
    one = _found(replace(trace, steps=lambda: iter(steps)), "drafts")
    assert one.passes
    recording = RecordedTrace(replace(trace, steps=lambda: iter(steps[:1])), SETTINGS)
    statement = DraftTokens(recording.declared, trace.conventions)
    held = next(rows for _, rows in recording.steps())
    assert held is not None
    for _ in range(60):
        statement.add(held)
    bold, _ = statement.mixture._capitals[Urns.NAME]
    learnt = F(1)
    for before in range(60):
        learnt *= (before + 2 * law[rarest]) / (before + 2) / law[rarest]
    assert learnt * (1 - F(1, 10**6)) < bold.value <= learnt


def test_steps_without_rows_still_show_their_uniforms() -> None:
    trace = made_trace(5, replace(RIGHT, reuse="accepts"), 30)
    bare = [replace(step, target_rows=(), draft_rows=()) for step in trace.steps()]
    found = evidence(replace(trace, steps=lambda: iter(bare)), SETTINGS)
    assert {one.subject: one.refuted for one in found} == {"uniforms": True, "grid": False}
