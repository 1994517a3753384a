"""Faults planted into a correct capture: each is found under its ident, at its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.model.replay_report import Event, ReplayReport, ReplayVerdict, What
from tests import oracle_replay
from tests.replay_runs import CAPTURES, changed, counts, loud, named, replayed

GOOD = CAPTURES / "good/a"
Steps = list[dict[str, Any]]


def planted(tmp_path: Path, change: Callable[[Steps], None]) -> ReplayReport:
    return replayed(changed(GOOD, tmp_path, change))


def events(report: ReplayReport, ident: str) -> list[Event]:
    return [event for each in named(report, ident) for event in each.events]


def place(event: Event) -> tuple[int, int, int | None]:
    return event.sequence, event.step, event.position


def relabelled(step: dict[str, Any]) -> None:
    """The counts of a step whose decisions were changed."""
    step["n_accepted"] = sum(step["accepted"])
    step["final_kind"] = "recovered" if False in step["accepted"] else "bonus"
    for name in ("p_drafted", "q_drafted"):
        step[name] = step[name][: len(step["accepted"])]


def test_a_decision_that_is_turned(tmp_path: Path) -> None:
    def flip(steps: Steps) -> None:
        step = next(step for step in steps if step["accepted"][:1] == [True])
        step["accepted"] = [False]
        relabelled(step)
        step["emitted"] = [step["final_token"]]
        step["next_context"] = step["context"] + step["emitted"]

    report = planted(tmp_path, flip)
    assert "wrong-decision" in loud(report)
    (event,) = [e for e in events(report, "wrong-decision") if e.what is What.ACCEPT]
    assert (event.sequence, event.step, event.position) == (0, 2, 0)
    assert event.recorded.startswith("rejected, u = ")
    assert event.interval is not None
    step = oracle_replay.load_steps(GOOD)[2]
    ratio = step["p_drafted"][0] / step["q_drafted"][0]
    assert event.interval.least <= min(ratio, 1) <= event.interval.most


def test_a_decision_without_its_uniform_is_possible_unless_it_is_impossible(tmp_path: Path) -> None:
    def hide(steps: Steps) -> None:
        for step in steps:
            del step["u_accept"]
        step = steps[0]  # target probability 0, rejected
        assert step["p_drafted"][0] == 0
        step["accepted"] = [True, False]
        relabelled(step)
        del step["p_drafted"], step["q_drafted"]
        step["emitted"] = [step["drafted"][0], step["final_token"]]
        step["next_context"] = step["context"] + step["emitted"]

    report = planted(tmp_path, hide)
    (event,) = [e for e in events(report, "wrong-decision") if e.what is What.ACCEPT]
    assert (place(event), event.possible) == ((0, 0, 0), "never accepted")
    assert place(events(report, "impossible-token")[0]) == (0, 0, 0)
    (check,) = [c for c in report.checks if c.name == "accept decisions"]
    assert check.unchecked == {"no uniform recorded, and either decision is possible": 9}
    assert check.agreed == 16  # rejected at probability 0, or accepted at a ratio above one


def test_another_recovered_token(tmp_path: Path) -> None:
    def swap(steps: Steps) -> None:
        step = steps[0]
        step["final_token"] = 0
        step["emitted"][-1] = step["next_context"][-1] = 0
        steps[1]["context"][-1] = steps[1]["next_context"][-2] = 0
        for later in steps[2:6]:
            later["context"][24] = later["next_context"][24] = 0

    report = planted(tmp_path, swap)
    found = loud(report)
    assert found in (["recovered-outside-residual"], ["wrong-decision"])
    (event,) = events(report, found[0])
    assert (place(event), event.token) == ((0, 0, 0), 0)


def test_a_recovered_token_without_residual(tmp_path: Path) -> None:
    """The rejected token itself has none."""

    def swap(steps: Steps) -> None:
        step = steps[1]
        token = step["drafted"][0]
        step["final_token"] = step["emitted"][-1] = step["next_context"][-1] = token
        for later in steps[2:6]:
            later["context"][25] = later["next_context"][25] = token

    report = planted(tmp_path, swap)
    assert loud(report) == ["recovered-outside-residual"]
    (event,) = events(report, "recovered-outside-residual")
    assert place(event) == (0, 1, 0)


def test_a_rejected_token_that_stays_in_the_context(tmp_path: Path) -> None:
    def keep(steps: Steps) -> None:
        step = steps[0]
        rejected = step["drafted"][0]
        step["next_context"] = [*step["context"], rejected, *step["emitted"]]

    report = planted(tmp_path, keep)
    assert loud(report) == ["context-mismatch", "context-mismatch"]
    first, second = events(report, "context-mismatch")
    assert place(first) == (0, 0, None)
    assert first.recorded == "token 24 is 1324, drafted and rejected"
    assert (second.step, second.recorded.split(",")[0]) == (1, "25 tokens")


def test_a_context_that_another_step_goes_on_with(tmp_path: Path) -> None:
    def lose(steps: Steps) -> None:
        for name in ("context", "next_context"):
            del steps[3][name][-8]
        steps[3]["prompt_len"] = 20

    report = planted(tmp_path, lose)
    assert set(loud(report)) == {"context-mismatch"}
    assert {event.step for event in events(report, "context-mismatch")} == {3, 4}


@pytest.mark.parametrize("kind", ["u_accept", "u_final", "u_draft"])
def test_a_uniform_that_comes_again(kind: str, tmp_path: Path) -> None:
    """Taken from an earlier step, where it decides the same by luck or not at all."""

    def reuse(steps: Steps) -> None:
        if kind == "u_accept":
            steps[4]["u_accept"][0] = steps[0]["u_draft"][0]
        elif kind == "u_final":
            steps[4]["u_final"] = steps[4]["u_accept"][0]
        else:
            steps[4]["u_draft"][1] = steps[4]["u_draft"][0]

    report = planted(tmp_path, reuse)
    assert "reused-randomness" in loud(report)
    assert events(report, "reused-randomness")[0].step == 4


def test_a_uniform_of_another_sequence_is_a_note(tmp_path: Path) -> None:
    def reuse(steps: Steps) -> None:
        steps[6]["u_accept"][3] = steps[6]["u_accept"][3]
        for name in ("u_draft", "u_accept", "u_final"):
            steps[6][name] = steps[0][name]

    report = planted(tmp_path, reuse)
    assert [each.finding.severity.value for each in named(report, "reused-randomness")] == ["note"]


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (lambda rows: [rows[0], *rows[:-1]], "position i reads row i + 1"),
        (lambda rows: [*rows[1:], rows[-1]], "position i reads row i - 1"),
    ],
)
def test_rows_that_are_recorded_one_off(
    move: Callable[[list[int]], list[int]], words: str, tmp_path: Path
) -> None:
    """The numbers of the target rows are recorded one late, or one early."""

    def shift(steps: Steps) -> None:
        for step in steps:
            step["target_rows"] = move(step["target_rows"])
            del step["p_drafted"], step["q_drafted"]

    report = planted(tmp_path, shift)
    assert loud(report)[0] == "shifted-rows"
    (found,) = named(report, "shifted-rows")
    assert found.finding.message.startswith("target rows are off by one position")
    assert words in found.finding.message
    assert "wrong-decision" in loud(report)


def test_draft_rows_that_are_one_late(tmp_path: Path) -> None:
    def shift(steps: Steps) -> None:
        for step in steps:
            rows = step["draft_rows"]
            step["draft_rows"] = [*rows[1:], rows[-1]]
            del step["p_drafted"], step["q_drafted"]

    report = planted(tmp_path, shift)
    assert report.verdict is ReplayVerdict.CONTRADICTED
    (found,) = named(report, "shifted-rows")
    assert found.finding.message.startswith("draft rows are off by one position")
    assert {"drafted-mismatch", "wrong-decision"} & set(loud(report))


def test_a_drafted_token_that_the_draft_forbids(tmp_path: Path) -> None:
    draft = np.load(GOOD / "draft.npy").astype(float)
    law = oracle_replay.nucleus(draft[3])
    forbidden = int(np.flatnonzero(law == 0)[5])

    def swap(steps: Steps) -> None:
        steps[0]["drafted"][3] = forbidden

    report = planted(tmp_path, swap)
    assert loud(report) == ["drafted-mismatch"]
    (event,) = events(report, "drafted-mismatch")
    assert (place(event), event.token) == ((0, 0, 3), forbidden)


def test_counts_that_go_on_after_the_first_rejection(tmp_path: Path) -> None:
    def count(steps: Steps) -> None:
        for step in steps:
            if len(step["accepted"]) < 4:
                step["accepted"] += [True] * (4 - len(step["accepted"]))
            step["n_accepted"] = sum(step["accepted"])

    report = planted(tmp_path, count)
    assert loud(report) == ["metric-mismatch"]
    assert len(events(report, "metric-mismatch")) == 10
    assert counts(report, "accept decisions") == (25, 0, 0)
    assert report.counters.accepted == 14


def test_counters_of_the_run_that_are_cut(tmp_path: Path) -> None:
    folder = changed(GOOD, tmp_path, lambda steps: None)
    text = (folder / "config.json").read_text("utf-8").rstrip()
    metrics = """, "metrics": {"num_spec_steps": 12, "num_draft_tokens": 48,
      "num_accepted_draft_tokens": 13, "draft_acceptance_rate": 0.5833,
      "mean_acceptance_length": 2.1667}}"""
    (folder / "config.json").write_text(text[:-1] + metrics, "utf-8")
    report = replayed(folder)
    assert loud(report) == ["metric-mismatch", "metric-mismatch"]
    said = " ".join(each.finding.message for each in named(report, "metric-mismatch"))
    assert "13 reported, 14 counted" in said
    assert "draft_acceptance_rate says 0.5833" in said
    assert "mean_acceptance_length" not in said


def test_another_token_reaches_the_output(tmp_path: Path) -> None:
    def swap(steps: Steps) -> None:
        step = next(step for step in steps if step["n_accepted"] > 1)
        step["emitted"][0] = 7
        step["next_context"] = step["context"] + step["emitted"]

    report = planted(tmp_path, swap)
    assert "output-mismatch" in loud(report)
    (event,) = events(report, "output-mismatch")
    assert (event.token, event.possible) == (7, "token 1072")


def test_tokens_behind_the_end_token(tmp_path: Path) -> None:
    folder = changed(GOOD, tmp_path, lambda steps: None)
    step = next(step for step in oracle_replay.load_steps(GOOD) if step["n_accepted"] > 1)
    config = (folder / "config.json").read_text("utf-8")
    ends = f'"stop_tokens": [{step["emitted"][0]}]'
    (folder / "config.json").write_text(config.replace('"stop_tokens": []', ends), "utf-8")
    report = replayed(folder)
    assert set(loud(report)) == {"output-mismatch"}
    first = events(report, "output-mismatch")[0]
    assert (first.step, first.position, first.recorded) == (step["step"], 0, "2 more behind it")
    assert all("goes on after" in e.recorded for e in events(report, "output-mismatch")[1:])


def test_a_recorded_probability_that_is_not_that_of_the_row(tmp_path: Path) -> None:
    def change(steps: Steps) -> None:
        steps[2]["p_drafted"][1] *= 1.0001

    report = planted(tmp_path, change)
    assert loud(report) == ["target-mismatch"]
    assert place(events(report, "target-mismatch")[0]) == (0, 2, 1)


def test_other_settings_are_asked_for_and_not_accused(tmp_path: Path) -> None:
    """No recorded target probability fits: the settings are wrong, or the engine's are."""
    folder = changed(GOOD, tmp_path, lambda steps: None)
    text = (folder / "config.json").read_text("utf-8")
    (folder / "config.json").write_text(text.replace("0.8", "0.7"), "utf-8")
    report = replayed(folder)
    assert loud(report) == ["configuration-needed"]
    assert report.verdict is ReplayVerdict.UNDECIDED
    assert counts(report, "accept decisions") == (25, 0, 0)


def test_tokens_that_are_cut_after_verification_are_asked_about(tmp_path: Path) -> None:
    def cut(steps: Steps) -> None:
        step = next(step for step in steps if step["n_accepted"] > 1)
        step["emitted"] = step["emitted"][:1]
        step["next_context"] = step["context"] + step["emitted"]

    report = planted(tmp_path, cut)
    assert "configuration-needed" in loud(report)
    assert "context-mismatch" in loud(report)


def test_uniforms_on_a_coarse_grid(tmp_path: Path) -> None:
    def round_down(steps: Steps) -> None:
        for step in steps:
            step["u_accept"] = [int(u * 2**12) / 2**12 for u in step["u_accept"]]

    report = planted(tmp_path, round_down)
    (found,) = named(report, "off-grid-uniform")
    assert "multiples of 2^-12" in found.finding.message
    assert found.finding.severity.value == "error"


def test_a_float32_generator_is_a_note(tmp_path: Path) -> None:
    def narrow(steps: Steps) -> None:
        for step in steps:
            step["u_accept"] = [int(u * 2**24) / 2**24 for u in step["u_accept"]]

    report = planted(tmp_path, narrow)
    assert loud(report) == []
    (found,) = named(report, "off-grid-uniform")
    assert "2^-24" in found.finding.message
