"""``--severity IDENT=LEVEL``: what fails a run, and what no longer does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specdist.model.finding import Finding, Severity
from specdist.model.outcome import Outcome, replay_outcome
from specdist.model.replay_report import ReplayVerdict
from specdist.model.settings import CheckSettings, ReadingSettings
from specdist.readers.traces.opening import open_trace
from specdist.verify.replay.run import replay
from specdist.verify.severities import Severities
from tests.cli import run

SAMPLES = Path(__file__).parent.parent / "sample_inputs"
PASSES = SAMPLES / "three_tokens.json"
FAILS = SAMPLES / "draft_top_p_untested.json"
TRACE = SAMPLES / "traces" / "recovered_from_target"
DUMPS = SAMPLES / "captures"
PAIR = (
    *("--target", DUMPS / "target.npy", "--draft", DUMPS / "draft.npy"),
    *("--kind", "logits", "--draft-lengths", "4x4", "--limit", "1"),
)


def idents(report: dict, severity: str) -> set[str]:
    found = [f for step in report["steps"] for f in step["findings"]] + report["findings"]
    return {f["ident"] for f in found if f["severity"] == severity}


def test_a_note_that_is_made_an_error_fails_the_run() -> None:
    assert run("check", *PAIR, "-q").code == 0
    result = run("check", *PAIR, "--severity", "context-not-verified=error", "--format", "json")
    assert result.code == 1
    report = result.json()
    assert report["verdict"] == "equal"
    assert report["raised"] == ["context-not-verified"]
    assert "context-not-verified" in idents(report, "error")
    text = run("check", *PAIR, "--severity", "context-not-verified=error").stdout
    assert "error[context-not-verified]" in text
    assert "ok:" not in text


def test_an_error_that_is_made_a_warning_does_not_fail_the_run() -> None:
    options = ("--severity", "drafted-mismatch=warning")
    result = run("check", FAILS, *options, "--format", "json")
    report = result.json()
    assert (result.code, report["verdict"], report["summary"]["allowed"]) == (0, "different", 1)
    assert "drafted-mismatch" in idents(report, "warning")
    assert report["raised"] == []
    assert "warning[drafted-mismatch]" in run("check", FAILS, *options).stdout


def test_what_is_allowed_stays_allowed() -> None:
    allowed = ("--allow", "context-not-verified")
    options = ("--severity", "context-not-verified=error")
    assert run("check", *PAIR, *options, *allowed).code == 0
    both = ("--allow", "drafted-mismatch", "--severity", "drafted-mismatch=error")
    assert run("check", FAILS, *both).code == 0


def test_a_floor_may_be_a_warning() -> None:
    floor = ("--min-acceptance", "0.99")
    assert run("check", PASSES, *floor).code == 1
    result = run("check", PASSES, *floor, "--severity", "acceptance-below-floor=warning")
    assert result.code == 0
    assert "warning[acceptance-below-floor]" in result.stdout


def test_one_of_two_causes_is_not_enough() -> None:
    """Another error of the step still fails the run."""
    result = run("check", FAILS, "--severity", "output-mismatch=warning")
    assert result.code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("near-ct=error", "did you mean near-cut"),
        ("near-cut=fatal", "error or warning or note"),
        ("near-cut", "IDENT=LEVEL"),
    ],
)
def test_unknown_idents_and_levels_are_refused(text: str, said: str) -> None:
    result = run("check", PASSES, "--severity", text)
    assert (result.code, result.stdout) == (2, "")
    assert said in result.stderr


def test_an_ident_has_one_level() -> None:
    twice = ("--severity", "near-cut=error", "--severity", "near-cut=note")
    result = run("check", PASSES, *twice)
    assert result.code == 2
    assert "near-cut is to be error and note" in result.stderr


def test_severities_of_the_config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specdist.toml").write_text('[severity]\ndrafted-mismatch = "note"\n', "utf-8")
    assert run("check", FAILS).code == 0
    assert run("check", FAILS, "--severity", "drafted-mismatch=error").code == 1


def test_severities_of_a_replay() -> None:
    plain = run("replay", TRACE, "--format", "json").json()
    errors = {f["ident"] for f in plain["findings"] if f["severity"] == "error"}
    assert errors
    lowered = [word for ident in errors for word in ("--severity", f"{ident}=warning")]
    result = run("replay", TRACE, *lowered, "--format", "json")
    assert result.code == 0
    assert {f["ident"] for f in result.json()["findings"] if f["severity"] == "error"} == set()
    assert result.json()["verdict"] == "consistent"


def test_a_raised_finding_fails_a_replay_and_leaves_its_verdict() -> None:
    trace = open_trace(str(TRACE), ReadingSettings(), None)
    allowed = CheckSettings(allow=frozenset({"recovered-outside-residual"}))
    report = replay(trace, allowed)
    assert (report.verdict, replay_outcome(report)) == (ReplayVerdict.CONSISTENT, Outcome.PASSED)
    raised = replace(report, raised=("context-not-verified",))
    assert replay_outcome(raised) is Outcome.FAILED


def test_a_note_is_raised_once_however_often_it_is_met() -> None:
    grades = Severities({"near-cut": Severity.ERROR}, ())
    note = Finding("near-cut", Severity.NOTE, "said")
    assert [f.severity for f in grades.run([note, note])] == [Severity.ERROR] * 2
    assert grades.raised == ("near-cut",)
    other = Finding("invalid-row", Severity.NOTE, "said")
    assert grades.one(other) is other
