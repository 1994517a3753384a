"""Correct engines of small vocabularies, with zeros and ties, are never accused."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.model.replay_report import ReplayVerdict
from tests.oracle_replay import exact_draw, exact_trace, nucleus, random_law
from tests.replay_runs import counts, loud, named, replayed, write_steps

CHECKS = ("accept decisions", "draft draws", "recovered tokens", "bonus tokens")


@pytest.mark.parametrize("seed", range(40))
def test_exact_engines_agree_in_everything(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    size = rng.choice((2, 3, 3, 4, 6, 9))
    steps = exact_trace(seed, 12, size)
    report = replayed(write_steps(tmp_path / "steps.jsonl", steps))
    assert report.findings == () or loud(report) == []
    assert not any(check.differed for check in report.checks)
    tests = sum(len(step["accepted"]) for step in steps)
    assert sum(counts(report, "accept decisions")) == tests
    assert report.verdict is ReplayVerdict.CONSISTENT
    decided = sum(counts(report, name)[0] for name in CHECKS)
    left = sum(counts(report, name)[2] for name in CHECKS)
    assert left <= decided // 20  # uniforms of 53 bits are hardly ever on an edge


@pytest.mark.parametrize("seed", range(20))
def test_every_recorded_thing_that_is_changed_is_seen(seed: int, tmp_path: Path) -> None:
    """A drafted, recovered or bonus token, or a decision, is turned: another one would be
    possible, and its number does not draw it."""
    rng = random.Random(1000 + seed)
    steps = exact_trace(seed, 8, 4)
    what = rng.choice(("draft", "final", "accept"))
    fitting = [step for step in steps if what == "final" or len(step["drafted"]) > 0]
    step = rng.choice(fitting)
    if what == "draft":
        step["drafted"][-1] = (step["drafted"][-1] + 1) % 4
        step["accepted"] = step["accepted"][: len(step["drafted"])]
    elif what == "final":
        token = (step["final_token"] + rng.randint(1, 3)) % 4
        step["final_token"] = step["emitted"][-1] = token
    else:
        step["accepted"][-1] = not step["accepted"][-1]
        step["n_accepted"] = sum(step["accepted"])
        step["accepted"] += [False] * (step["n_accepted"] < len(step["drafted"]))
        step["accepted"] = step["accepted"][: len(step["drafted"])]
        step["final_kind"] = "recovered" if False in step["accepted"] else "bonus"
    report = replayed(write_steps(tmp_path / "steps.jsonl", steps))
    assert report.verdict is ReplayVerdict.CONTRADICTED
    known = {"wrong-decision", "drafted-mismatch", "recovered-outside-residual"}
    known |= {"impossible-token", "output-mismatch", "context-mismatch", "shifted-rows"}
    assert set(loud(report)) & known


def test_ties_on_a_grid_are_decided_exactly(tmp_path: Path) -> None:
    """Dyadic probabilities and uniforms: u q = p is no acceptance, u = F(x) draws the next one."""
    target = ["1/4", "1/2", "1/4"]
    draft = ["1/2", "1/4", "1/4"]
    step = {
        "drafted": [0],
        "u_draft": [0.125],
        "u_accept": [0.5],
        "accepted": [False],
        "u_final": 0.0,
        "final_token": 1,
        "emitted": [1],
        "target": [target, target],
        "draft": [draft],
    }
    bonus = {
        "drafted": [1],
        "u_draft": [0.625],
        "u_accept": [0.875],
        "accepted": [True],
        "u_final": 0.25,
        "final_token": 1,
        "emitted": [1, 1],
        "target": [target, target],
        "draft": [draft],
    }
    report = replayed(write_steps(tmp_path / "steps.jsonl", [step, bonus]))
    assert loud(report) == []
    assert [counts(report, name) for name in CHECKS] == [(2, 0, 0)] * 2 + [(1, 0, 0)] * 2
    for key, value in (("u_accept", [0.5 - 2**-20]), ("u_draft", [0.75]), ("u_final", None)):
        wrong = {**step, key: value} if value else {**bonus, "u_final": 0.75}
        report = replayed(write_steps(tmp_path / "steps.jsonl", [wrong]))
        assert "wrong-decision" in loud(report), key


def test_a_uniform_within_rounding_is_left_open(tmp_path: Path) -> None:
    third = ["1/3", "1/3", "1/3"]
    step = {
        "drafted": [0],
        "u_accept": [str(Fraction(2, 3))],
        "accepted": [True],
        "emitted": [0],
        "target": [["1/3", "1/3", "1/3"], third],
        "draft": [["1/2", "1/4", "1/4"]],
    }
    report = replayed(write_steps(tmp_path / "steps.jsonl", [step]))
    assert counts(report, "accept decisions") == (0, 0, 1)
    (note,) = named(report, "undecided-precision")
    assert note.finding.severity.value == "note"
    assert report.verdict is ReplayVerdict.NOTHING_CHECKED


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_float_engines_agree(seed: int, kind: str, tmp_path: Path) -> None:
    """Arrays of logits, processed in float64 by numpy: temperature and top-p, ties in 16 bits."""
    rng = np.random.default_rng(seed)
    size, gamma, count = 40, 3, 10
    target = (rng.normal(0, 3, (count * (gamma + 1), size)).round(1)).astype(kind)
    draft = (target[: count * gamma] + rng.normal(0, 1, (count * gamma, size))).astype(kind)
    draft = draft.round(1).astype(kind)
    steps: list[dict[str, Any]] = []
    context = [1, 2]
    for number in range(count):
        step = _float_step(rng, context, number, target.astype(float), draft.astype(float), gamma)
        context = step["next_context"]
        steps.append(step)
    write_steps(tmp_path / "steps.jsonl", steps)
    np.savez(tmp_path / "logits.npz", target=target, draft=draft)
    config = {"sampling": {"temperature": 0.8, "top_p": 0.95}, "rows": "raw logits"}
    config["decisions_from"] = "the stored rows, widened to float64"
    (tmp_path / "config.json").write_text(json.dumps(config))
    report = replayed(tmp_path)
    assert loud(report) == []
    assert report.verdict is ReplayVerdict.CONSISTENT
    assert counts(report, "draft draws") == (count * gamma, 0, 0)
    assert counts(report, "accept decisions")[1:] == (0, 0)
    recovered, bonus = counts(report, "recovered tokens"), counts(report, "bonus tokens")
    assert recovered[0] + bonus[0] == count


def _float_step(
    rng: np.random.Generator, context: list[int], number: int, target: Any, draft: Any, gamma: int
) -> dict[str, Any]:
    draft_rows = list(range(number * gamma, (number + 1) * gamma))
    target_rows = list(range(number * (gamma + 1), (number + 1) * (gamma + 1)))
    q = [nucleus(draft[row]) for row in draft_rows]
    p = [nucleus(target[row]) for row in target_rows]

    def draw(law: Any, u: float) -> int:
        sums = np.cumsum(law)
        return int(np.searchsorted(sums, u * sums[-1], side="right"))

    u_draft, u_accept, u_final = rng.random(gamma), rng.random(gamma), float(rng.random())
    drafted = [draw(law, u) for law, u in zip(q, u_draft, strict=True)]
    accepted: list[bool] = []
    for i, token in enumerate(drafted):
        accepted.append(bool(u_accept[i] * q[i][token] < p[i][token]))
        if not accepted[-1]:
            break
    n = sum(accepted)
    law = np.maximum(p[n] - q[n], 0) if n < gamma else p[n]
    token = draw(law, u_final)
    emitted = [*drafted[:n], token]
    return {
        "step": number,
        "context": context,
        "drafted": drafted,
        "u_draft": u_draft.tolist(),
        "u_accept": u_accept.tolist(),
        "accepted": accepted,
        "u_final": u_final,
        "final_token": token,
        "emitted": emitted,
        "next_context": [*context, *emitted],
        "draft_rows": draft_rows,
        "target_rows": target_rows,
    }


@pytest.mark.parametrize("seed", range(12))
def test_float32_engines_are_not_accused(seed: int, tmp_path: Path) -> None:
    """Everything in float32, sums one after the other, uniforms near the edges half of the time."""
    rng = np.random.default_rng(100 + seed)
    size, gamma, count = 300, 3, 10
    target = rng.normal(0, 2, (count * (gamma + 1), size)).astype("f4")
    draft = (target[: count * gamma] + rng.normal(0, 0.3, (count * gamma, size))).astype("f4")
    steps, context = [], [1, 2]
    for number in range(count):
        q = [_single(draft[number * gamma + i]) for i in range(gamma)]
        p = [_single(target[number * (gamma + 1) + i]) for i in range(gamma + 1)]
        step = _single_step(rng, p, q)
        step |= {"step": number, "context": context}
        step["draft_rows"] = [number * gamma + i for i in range(gamma)]
        step["target_rows"] = [number * (gamma + 1) + i for i in range(gamma + 1)]
        context = step["next_context"] = [*context, *step["emitted"]]
        steps.append(step)
    write_steps(tmp_path / "steps.jsonl", steps)
    np.savez(tmp_path / "logits.npz", target=target, draft=draft)
    config = {"sampling": {"temperature": 0.7, "top_p": 0.9}, "rows": "raw logits"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    report = replayed(tmp_path)
    assert set(loud(report)) <= {"reused-randomness"}  # edges of one are met again and again
    assert [counts(report, name)[1] for name in CHECKS] == [0, 0, 0, 0]
    assert sum(counts(report, name)[0] for name in CHECKS) > 15
    assert sum(counts(report, name)[2] for name in CHECKS) > 5


def _single(row: Any) -> Any:
    """Temperature and top-p in float32."""
    law = np.exp((row / np.float32(0.7)) - (row / np.float32(0.7)).max())
    law = (law / law.sum(dtype="f4")).astype("f4")
    order = np.argsort(-law, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(law[order], dtype="f4"), np.float32(0.9))) + 1]
    cut = np.zeros_like(law)
    cut[kept] = law[kept]
    return cut / cut.sum(dtype="f4")


def _near(rng: np.random.Generator, edges: Any) -> np.float32:
    """A uniform, half of the time within a few units of an edge."""
    if rng.random() < 0.5:
        return np.float32(int(rng.random() * 2**24) / 2**24)
    edge = float(rng.choice(edges))
    near = int(edge * 2**24) + int(rng.integers(-2, 3))
    return np.float32(min(max(near, 0), 2**24 - 1) / 2**24)


def _single_step(rng: np.random.Generator, p: list[Any], q: list[Any]) -> dict[str, Any]:
    def draw(law: Any) -> tuple[int, float]:
        sums = np.cumsum(law, dtype="f4")
        u = _near(rng, sums / sums[-1])
        point = np.float32(u * sums[-1])
        token = int(np.searchsorted(sums, point, side="right"))
        last = int(np.flatnonzero(law > 0)[-1])
        return min(token, last), float(u)

    drafted, u_draft = zip(*map(draw, q), strict=True)
    u_accept = [_near(rng, [min(p[i][x] / q[i][x], 1)]) for i, x in enumerate(drafted)]
    accepted: list[bool] = []
    for i, token in enumerate(drafted):
        accepted.append(bool(np.float32(u_accept[i] * q[i][token]) < p[i][token]))
        if not accepted[-1]:
            break
    n = sum(accepted)
    law = np.maximum(p[n] - q[n], 0) if n < len(q) else p[n]
    token, u_final = draw((law / law.sum(dtype="f4")).astype("f4"))
    return {
        "drafted": list(drafted),
        "u_draft": list(u_draft),
        "u_accept": [float(u) for u in u_accept],
        "accepted": accepted,
        "u_final": u_final,
        "final_token": token,
        "emitted": [*drafted[:n], token],
    }


def test_the_small_engine_draws_as_it_says() -> None:
    law = [Fraction(0), Fraction(1, 3), Fraction(0), Fraction(2, 3)]
    assert [exact_draw(law, u) for u in (Fraction(0), Fraction(1, 3), Fraction(99, 100))] == [
        1,
        3,
        3,
    ]
    assert sum(random_law(random.Random(1), 5)) == 1
