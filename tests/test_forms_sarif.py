"""SARIF: kinds and levels, places, fingerprints, and the limits of code scanning."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from specdist.model.finding import Severity
from specdist.model.replay_report import ReplayVerdict
from specdist.model.verdict import Verdict
from specdist.reports.forms import sarif
from specdist.reports.forms.form import AnyReport, FormOptions
from tests.form_samples import SAMPLES, code_of, finding, of_steps, replayed, step, steps_of
from tests.report_samples import FINDING


def run_of(report: AnyReport, **options: Any) -> dict[str, Any]:
    log = json.loads(sarif.render(report, FormOptions(**options)))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    return log["runs"][0]  # type: ignore[no-any-return]


def sample(name: str) -> dict[str, Any]:
    report, outcome = SAMPLES[name]
    return run_of(report, code=code_of(outcome))


def kinds(run: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(result["ruleId"], result["kind"], result["level"]) for result in run["results"]]


@pytest.mark.parametrize("name", SAMPLES)
def test_rules_and_results_belong_together(name: str) -> None:
    run = sample(name)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["kind"] == "fail" or result["level"] == "none"
        for place in result["locations"]:
            assert place["physicalLocation"]["artifactLocation"]["uri"]
        assert result["locations"]
    assert {rule["id"] for rule in rules} == {result["ruleId"] for result in run["results"]}
    prints = [json.dumps(result["partialFingerprints"]) for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_kinds_and_levels() -> None:
    assert kinds(sample("equal")) == []
    assert kinds(sample("different")) == [("output-mismatch", "fail", "error")]
    assert kinds(sample("undecided")) == [("undecided-precision", "open", "none")]
    assert kinds(sample("undecided without a finding")) == [("undecided", "open", "none")]
    assert kinds(sample("out of time")) == [("undecided-budget", "open", "none")]
    assert kinds(sample("setting missing")) == [("configuration-needed", "open", "none")]
    assert kinds(sample("contradicted")) == [("recovered-outside-residual", "fail", "error")]
    assert kinds(sample("unreadable among readable")) == [("unreadable-capture", "fail", "error")]
    assert kinds(sample("perhaps worse than the baseline")) == [
        ("baseline-regression", "open", "none")
    ]
    assert kinds(sample("mixed")) == [
        ("output-mismatch", "fail", "error"),
        ("undecided-precision", "open", "none"),
        ("lossy-by-design", "fail", "warning"),
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("allowed", "allowed by the settings"), ("within tolerance", "within the tolerance")],
)
def test_what_the_user_accepts_is_suppressed(name: str, reason: str) -> None:
    (result,) = sample(name)["results"]
    (suppression,) = result["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert suppression["justification"].startswith(reason)
    assert result["level"] == "note"


def test_a_result_says_where_what_and_how_much() -> None:
    (result,) = sample("different")["results"]
    text = result["message"]["text"]
    assert text.startswith("output differs from the reference (a.json, step 0, position 0).\n\n")
    assert "reproduce: specdist what-if" in text
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "a.json", "uriBaseId": "%SRCROOT%"}
    }
    (logical,) = place["logicalLocations"]
    assert logical["name"] == "step 0, position 0"
    assert logical["fullyQualifiedName"] == "steps/0/positions/0"
    figures = result["properties"]["figures"]
    assert figures["total_variation"] == {"exact": "1/16", "approx": 0.0625}
    assert figures["acceptance_rate"]["exact"] == "11/15"
    assert result["properties"]["reproduce"].startswith("specdist what-if ")


def test_the_rule_is_the_page() -> None:
    (rule,) = sample("different")["tool"]["driver"]["rules"]
    assert rule["name"] == "OutputMismatch"
    assert rule["shortDescription"]["text"] == "The output law differs from the reference."
    assert rule["fullDescription"]["text"]
    assert rule["help"]["markdown"].startswith("# output-mismatch\n")
    assert rule["defaultConfiguration"] == {"level": "error"}


def test_a_line_is_told_where_it_is_known() -> None:
    (contradicted,) = sample("contradicted")["results"]
    place = contradicted["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "run/steps.jsonl"
    assert place["region"] == {"startLine": 4}
    (broken,) = sample("unreadable among readable")["results"]
    assert broken["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}


def test_what_concerns_the_run_is_placed_at_the_captures() -> None:
    report, _ = SAMPLES["floor missed"]
    sources = tuple(f"{number}.json" for number in range(12))
    (result,) = run_of(replace(report, sources=sources))["results"]
    uris = [p["physicalLocation"]["artifactLocation"]["uri"] for p in result["locations"]]
    assert uris == list(sources[:10])


def test_typed_rows_have_a_place_too() -> None:
    (result,) = sample("typed different")["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "command-line"


def test_paths_are_relative_to_the_root_and_encoded() -> None:
    report = of_steps([step(Verdict.DIFFERENT, FINDING, file="/repo/a b.json")], "/repo/a b.json")
    for root, wanted in (
        ("/repo", {"uri": "a%20b.json", "uriBaseId": "%SRCROOT%"}),
        ("/other", {"uri": "file:///repo/a%20b.json"}),
    ):
        run = run_of(report, root=root)
        assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == wanted
        assert run["artifacts"] == [{"location": wanted, "roles": ["analysisTarget"]}]


def test_the_invocation() -> None:
    for name, successful, code in (
        ("equal", True, 0),
        ("different", True, 1),
        ("undecided", True, 4),
        ("unreadable among readable", False, 1),
        ("nothing", False, 3),
        ("nothing replayed", False, 3),
    ):
        (invocation,) = sample(name)["invocations"]
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (successful, code)
    (invocation,) = sample("unreadable among readable")["invocations"]
    (told,) = invocation["toolExecutionNotifications"]
    assert (told["level"], told["descriptor"]) == ("error", {"id": "unreadable-capture"})
    assert told["message"]["text"] == "the file ends early"
    (told,) = sample("nothing")["invocations"][0]["toolExecutionNotifications"]
    assert (told["level"], told["message"]["text"]) == (
        "error",
        "nothing checked: no steps in a.json",
    )


def test_notes_are_notifications_by_ident() -> None:
    note = finding(Severity.NOTE, "near-cut", "a close cut")
    steps = [step(Verdict.EQUAL, note, id=str(number)) for number in range(3)]
    run = run_of(of_steps(steps, "a.json"))
    assert run["results"] == []
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["level"] == "note"
    assert told["message"]["text"] == "a.json, step 0, position 0: a close cut (and 2 more)"


def test_fingerprints_do_not_change_with_numbers() -> None:
    (one,) = sample("different")["results"]
    other = replace(FINDING, message="output differs by a little more")
    (two,) = run_of(of_steps([step(Verdict.DIFFERENT, other)], "a.json"))["results"]
    (three,) = run_of(of_steps([step(Verdict.DIFFERENT, FINDING, id="1")], "a.json"))["results"]
    assert one["partialFingerprints"] == two["partialFingerprints"]
    assert one["partialFingerprints"] != three["partialFingerprints"]


def test_the_limits_are_those_of_code_scanning() -> None:
    assert (sarif.MOST, sarif.IN_FULL) == (25_000, 5_000)


def test_what_is_beyond_the_limits_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST", 7)
    monkeypatch.setattr(sarif, "IN_FULL", 2)
    run = run_of(steps_of(20, failing=lambda number: number % 2 == 0))
    assert len(run["results"]) == 7
    lengths = [len(result["message"]["text"]) for result in run["results"]]
    assert min(lengths[:2]) > 500 > 100 > max(lengths[2:])
    assert run["properties"]["results_left_out"] == 3
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("3 results were left out")


def test_the_run_holds_figures_scope_and_settings() -> None:
    properties = sample("known in part")["properties"]
    rate = properties["figures"]["acceptance_rate"]
    assert (rate["least"]["exact"], rate["most"]["exact"]) == ("3/5", "17/20")
    assert properties["scope"] == ["nothing about speed", "nothing about a deployment"]
    told = sample("worse than the baseline")["properties"]["baseline"]
    assert told == ["against old.json: 1 step matched, none worse"]
    assert properties["settings"] == {"rule": "token"}
    assert properties["verdict"] == "equal"
    assert run_of(replayed(ReplayVerdict.CONSISTENT))["properties"]["outcome"] == "passed"
