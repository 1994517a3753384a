"""Recorded steps of trained models: good ones replay without a finding, each fault is found."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from specdist.model.replay_report import ReplayReport, ReplayVerdict, What
from tests import oracle_replay
from tests.replay_runs import CAPTURES, counts, loud, named, replayed

GOOD = ("good/a", "good/c")
NAMES = {
    "accept": "accept decisions",
    "draft": "draft draws",
    "recovered": "recovered tokens",
    "bonus": "bonus tokens",
    "possible": "accepted tokens under the reference",
    "context": "contexts after a step",
    "handed": "contexts handed on",
}
WHAT = {"accept": What.ACCEPT, "draft": What.DRAFT}


@cache
def report_of(name: str) -> ReplayReport:
    """The report of a capture, made once."""
    return replayed(CAPTURES / name, causes=True)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_capture_agrees_in_everything(name: str) -> None:
    report = report_of(name)
    assert report.verdict is ReplayVerdict.CONSISTENT
    assert report.findings == ()
    seen = oracle_replay.replay(CAPTURES / name)
    assert seen.differ == set()
    for kind, check in NAMES.items():
        assert counts(report, check) == (seen.count(kind)[0], 0, 0), kind


@pytest.mark.parametrize("name", ["m1", "m3", "m5", "m7", "m8", "m10"])
def test_contradictions_are_those_of_the_other_replayer(name: str) -> None:
    report = report_of(f"faulty/{name}")
    seen = oracle_replay.replay(CAPTURES / "faulty" / name)
    for kind, check in NAMES.items():
        agreed, differed = seen.count(kind)
        outside = len(seen.of(f"{kind} outside"))
        assert counts(report, check) == (agreed, differed + outside, 0), kind
    places = {
        (event.sequence, event.step, event.position)
        for each in named(report, "wrong-decision")
        for event in each.events
        if event.what is What.ACCEPT
    }
    assert places == {place[1:] for place in seen.of("accept")}
    outside = {
        (event.sequence, event.step, event.position)
        for each in named(report, "recovered-outside-residual")
        for event in each.events
    }
    assert outside == {place[1:] for place in seen.of("recovered outside")}


def causes(report: ReplayReport) -> set[str]:
    assert report.explanation is not None
    return {cause.ident for cause in report.explanation.causes}


def text(report: ReplayReport, ident: str) -> str:
    return " ".join(
        " ".join((each.finding.message, *each.finding.notes, *each.finding.cause))
        for each in named(report, ident)
    )


def test_recovered_from_the_target_is_named() -> None:
    report = report_of("faulty/m1")
    assert loud(report) == ["recovered-outside-residual", "wrong-decision"]
    assert "drawn from the target, not from the residual" in text(
        report, "recovered-outside-residual"
    )


def test_a_cut_after_the_test_is_named() -> None:
    report = report_of("faulty/m3")
    assert loud(report) == ["wrong-decision", "impossible-token"]
    assert "the accept test uses the target without top-p" in text(report, "wrong-decision")


def test_rows_one_late_are_named() -> None:
    report = report_of("faulty/m5")
    assert loud(report)[0] == "shifted-rows"
    assert "position i reads row i - 1, the first position its own" in text(report, "shifted-rows")
    assert "with the rows moved all 83 agree" in text(report, "shifted-rows")


def test_a_coarse_grid_is_named() -> None:
    report = report_of("faulty/m7")
    assert loud(report) == ["off-grid-uniform"]
    assert "all 48 accept uniforms are multiples of 2^-8" in text(report, "off-grid-uniform")
    assert "level 1e-9" in text(report, "off-grid-uniform")


def test_dropped_tokens_are_found_though_no_decision_is_wrong() -> None:
    report = report_of("faulty/m8")
    assert loud(report) == ["anticipating-length-rule"]
    assert causes(report) == {"anticipating-length-rule"}
    assert "dropped before verification, by their own probability" in text(
        report, "anticipating-length-rule"
    )
    assert counts(report, "accept decisions")[1:] == (0, 0)


def test_one_uniform_for_all_positions_is_found_though_no_decision_is_wrong() -> None:
    report = report_of("faulty/m10")
    assert loud(report) == ["reused-randomness"]
    assert "one uniform decides several accept tests in 7 steps" in text(
        report, "reused-randomness"
    )
    assert counts(report, "accept decisions") == (31, 0, 0)


@pytest.mark.parametrize("name", ["m1", "m3", "m5", "m7", "m8", "m10"])
def test_the_total_variation_of_the_truth_is_in_the_report(name: str) -> None:
    truth = json.loads((CAPTURES / "faulty" / name / "truth.json").read_text("utf-8"))["chosen"]
    report = report_of(f"faulty/{name}")
    assert report.explanation is not None
    place = (truth["sequence"], truth["step"], truth["position"])
    found = [
        law.total_variation.approx
        for cause in report.explanation.causes
        for law in cause.laws
        if (law.sequence, law.step_index, law.position) == place
    ]
    assert min(abs(value - truth["tv"]) for value in found) < 1e-9


@pytest.mark.parametrize("name", ["top_k_off", "top_k_unset"])
def test_transformers_replays_from_what_its_function_got(name: str) -> None:
    report = report_of(f"hf/{name}")
    assert report.verdict is ReplayVerdict.CONSISTENT
    assert report.findings == ()
    steps = oracle_replay.load_steps(CAPTURES / "hf" / name)
    tests = sum(len(step["accepted"]) for step in steps)
    recovered = sum(step["final_kind"] == "recovered" for step in steps)
    drafted = sum(len(step["drafted"]) for step in steps)
    assert counts(report, "accept decisions") == (tests, 0, 0)
    assert counts(report, "recovered tokens") == (recovered, 0, 0)
    assert counts(report, "bonus tokens") == (len(steps) - recovered, 0, 0)
    assert counts(report, "recorded draft probabilities") == (drafted, 0, 0)
    assert counts(report, "reported counters of the run") == (2, 0, 0)
    facts = dict(report.facts)
    assert facts["stage"].startswith("processed (new_logits is what")
    assert "u <= p(x) / q(x), rounded to float32" in facts["accepted iff"]


def test_steps_without_rows_replay_from_recorded_probabilities() -> None:
    report = report_of("hf/end_token")
    assert report.verdict is ReplayVerdict.CONSISTENT
    assert report.findings == ()
    assert counts(report, "accept decisions") == (36, 0, 0)
    assert counts(report, "steps up to the end token") == (30, 0, 0)


def test_raw_rows_of_a_draft_that_is_warped_twice_are_a_note() -> None:
    report = report_of("hf/raw_rows")
    assert report.verdict is ReplayVerdict.CONSISTENT
    assert loud(report) == []
    (note,) = named(report, "configuration-needed")
    assert "are not those of the draft's rows" in note.finding.message
    assert counts(report, "recorded target probabilities") == (12, 0, 0)
    assert counts(report, "accept decisions") == (7, 0, 0)
    assert counts(report, "recovered tokens") == (0, 0, 0)


@pytest.mark.parametrize("form", ["float16", "bfloat16"])
def test_decisions_survive_a_rounded_copy_and_draws_stay_open(form: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    rows = {side: np.load(CAPTURES / "good/a" / f"{side}.npy") for side in ("target", "draft")}
    if form == "float16":
        copy = tmp_path / "logits.npz"
        np.savez(copy, **{side: array.astype(np.float16) for side, array in rows.items()})
    else:
        copy = tmp_path / "logits.safetensors"
        _bfloat16(copy, rows)
    report = replayed(CAPTURES / "good/a", copy, select="0.[02]")
    assert report.verdict is ReplayVerdict.CONSISTENT
    assert loud(report) == []
    assert counts(report, "accept decisions") == (4, 0, 0)
    assert counts(report, "recorded target probabilities") == (4, 0, 0)
    agreed, differed, undecided = counts(report, "draft draws")
    assert differed == 0
    assert undecided
    assert agreed + undecided == 8
    (note,) = named(report, "undecided-precision")
    assert "rounded copies" in note.finding.notes[1]
    assert "rounded copies" in dict(report.facts)["precision"]


def _bfloat16(path, rows) -> None:  # type: ignore[no-untyped-def]
    """Rounded to nearest, ties to even, in a safetensors file."""
    header, body = {}, b""
    for name, array in rows.items():
        bits = array.view(np.uint32).astype(np.uint64)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
        data = rounded.tobytes()
        header[name] = {
            "dtype": "BF16",
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
