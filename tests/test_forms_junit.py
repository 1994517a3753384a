"""JUnit XML: what is red, the counts, and where everything stands."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from specdist.model.finding import Severity
from specdist.model.outcome import Outcome
from specdist.model.verdict import Verdict
from specdist.reports.forms import junit
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.junit import render
from tests.form_samples import (
    BROKEN,
    HOSTILE,
    NOTE,
    SAMPLES,
    WARNING,
    finding,
    of_steps,
    step,
    steps_of,
)
from tests.report_samples import FINDING

KINDS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def document(report: AnyReport) -> Element:
    return ElementTree.fromstring(render(report, FormOptions()))


def sample(name: str) -> Element:
    return document(SAMPLES[name][0])


def only(root: Element, path: str) -> Element:
    (found,) = root.findall(path)
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_red_is_what_does_not_pass_and_counts_are_right(name: str) -> None:
    root = sample(name)
    suites = root.findall("testsuite")
    for node in (root, *suites):
        cases = node.findall(".//testcase")
        assert node.get("tests") == str(len(cases))
        assert cases, "an empty suite reads as a pass"
        for attribute, child in KINDS.items():
            found = sum(case.find(child) is not None for case in cases)
            if node is not root or attribute != "skipped":
                assert node.get(attribute) == str(found)
    assert not [case for case in root.iter("testcase") if len({c.tag for c in case}) > 2]
    red = int(root.get("failures", "")) + int(root.get("errors", ""))
    assert (red == 0) is (SAMPLES[name][1] is Outcome.PASSED)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_two_test_cases_share_a_name(name: str) -> None:
    cases = [(c.get("classname"), c.get("name")) for c in sample(name).iter("testcase")]
    assert len(set(cases)) == len(cases)


def test_doubles_get_a_number() -> None:
    root = document(of_steps([step(Verdict.EQUAL) for _ in range(3)], "a.json"))
    assert [case.get("name") for case in root.iter("testcase")] == ["0", "0 #2", "0 #3"]
    root = document(
        of_steps([step(Verdict.EQUAL, id=name) for name in ("0 #2", "0", "0")], "a.json")
    )
    assert [case.get("name") for case in root.iter("testcase")] == ["0 #2", "0", "0 #2 #2"]


def test_a_step_that_differs_fails_with_its_lesson() -> None:
    root = sample("different")
    case = only(root, ".//testcase")
    failure = only(case, "failure")
    assert (case.get("name"), case.get("classname")) == ("0", "a.json")
    assert failure.get("type") == "output-mismatch"
    assert failure.get("message") == "output-mismatch: output differs from the reference"
    assert failure.text is not None
    assert "' an'           1/16         0      1/16         0" in failure.text
    assert "reproduce: specdist what-if" in failure.text
    assert root.find(".//system-out") is None


def test_several_findings_of_a_step_are_one_failure() -> None:
    other = replace(FINDING, ident="bonus-mismatch", message="the bonus differs")
    failure = only(document(of_steps([step(Verdict.DIFFERENT, FINDING, other)], "a")), ".//failure")
    assert failure.get("message") == (
        "output-mismatch: output differs from the reference (and 1 more)"
    )
    assert failure.text is not None
    assert "error[bonus-mismatch]: the bonus differs" in failure.text


def test_undecided_is_skipped_and_the_run_is_an_error() -> None:
    root = sample("undecided")
    run, suite = root.findall("testsuite")
    assert only(suite, ".//skipped").get("type") == WARNING.ident
    assert only(run, "testcase").get("name") == "verdict"
    error = only(run, ".//error")
    assert error.get("type") == "undecided"
    assert error.get("message") == ("undecided: 2 steps checked: 1 equal, 0 different, 1 undecided")


def test_a_skip_says_that_it_is_undecided() -> None:
    part = finding(Severity.WARNING, "truncated-row", "rows known in part")
    root = document(of_steps([step(Verdict.UNDECIDED, part)], "a.json"))
    message = only(root, ".//skipped").get("message")
    assert message == "undecided: truncated-row: rows known in part"
    unchecked = only(sample("consistent"), ".//skipped")
    assert unchecked.get("message") == "nothing-checked: unchecked"


def test_the_baseline_is_a_test_case_and_a_property() -> None:
    root = sample("worse than the baseline")
    assert only(root, ".//failure").get("type") == "baseline-regression"
    told = [p.get("value") for p in root.iter("property") if p.get("name") == "baseline"]
    assert told == ["against old.json: 1 step matched, none worse"]
    open_one = sample("perhaps worse than the baseline")
    kinds = [child.tag for case in open_one.iter("testcase") for child in case]
    assert kinds == ["skipped", "error"]


def test_undecided_beside_a_failure_is_skipped_alone() -> None:
    root = sample("mixed")
    assert len(root.findall("testsuite")) == 1
    assert [case.get("name") for case in root.iter("testcase")] == ["0", "1", "2", "3"]
    tags = [[child.tag for child in case] for case in root.iter("testcase")]
    assert tags == [[], ["skipped"], ["failure", "system-out"], ["system-out"]]


def test_notes_are_output() -> None:
    text = only(document(of_steps([step(Verdict.EQUAL, NOTE)], "a.json")), ".//system-out").text
    assert text is not None
    assert text.startswith("note[near-cut]: a cut within float32 rounding\n")


def test_what_is_allowed_is_skipped() -> None:
    skipped = only(sample("allowed"), ".//skipped")
    assert skipped.get("message") == "allowed: output-mismatch: output differs from the reference"
    assert skipped.text is not None
    assert skipped.text.startswith("allowed[output-mismatch]:")


def test_a_difference_within_the_tolerance_passes_and_says_so() -> None:
    case = only(sample("within tolerance"), ".//testcase")
    assert [child.tag for child in case] == ["system-out"]
    assert (case.findtext("system-out") or "").startswith("tolerated[output-mismatch]:")


def test_a_file_that_cannot_be_read_is_an_error_in_a_suite_of_its_own() -> None:
    readable, broken = sample("unreadable among readable").findall("testsuite")
    assert (readable.get("name"), readable.get("errors")) == ("a.json", "0")
    assert (broken.get("name"), broken.get("file")) == ("broken.json", "broken.json")
    error = only(broken, ".//error")
    assert error.get("message") == f"unreadable-capture: {BROKEN.message}"
    assert "broken.json, line 3" in (error.text or "")


def test_a_missed_floor_is_a_test_case_of_the_run() -> None:
    run, suite = sample("floor missed").findall("testsuite")
    assert only(run, "testcase").get("name") == "acceptance-below-floor"
    assert only(run, ".//failure").get("message") == (
        "acceptance-below-floor: 0.7 is below the floor 4/5"
    )
    assert suite.get("failures") == "0"


def test_nothing_checked_is_an_error() -> None:
    root = sample("nothing")
    assert only(root, ".//testcase").get("name") == "verdict"
    assert only(root, ".//error").get("message") == (
        "nothing-checked: nothing checked: no steps in a.json"
    )


def test_the_properties_hold_figures_scope_and_settings() -> None:
    properties = [
        (node.get("name"), node.get("value")) for node in sample("known in part").iter("property")
    ]
    assert ("verdict", "equal") in properties
    assert ("acceptance rate", "3/5 to 17/20 = 0.6 to 0.85") in properties
    assert ("largest total variation", "0") in properties
    assert ("scope", "nothing about speed") in properties
    assert ("setting rule", "token") in properties


def test_a_suite_is_a_capture_in_the_order_of_reading() -> None:
    steps = [step(Verdict.EQUAL, file=name, id=str(i)) for i, name in enumerate("baab")]
    root = document(of_steps(steps, "b", "a"))
    assert [suite.get("name") for suite in root.findall("testsuite")] == ["b", "a"]
    assert [case.get("name") for case in root.iter("testcase")] == ["0", "3", "1", "2"]
    assert len(list(root.iter("properties"))) == 1


def test_a_replay_has_a_case_for_each_kind_of_check() -> None:
    run, suite = sample("contradicted").findall("testsuite")
    assert only(run, "testcase").get("name") == "recovered-outside-residual"
    tags = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert tags == {
        "accept decisions": [],
        "draft draws": [],
        "recovered tokens": ["failure"],
        "bonus tokens": ["skipped"],
        "contexts": [],
    }


def test_what_differs_is_not_red_in_a_replay_that_passes() -> None:
    report = replace(SAMPLES["contradicted"][0], verdict=SAMPLES["consistent"][0].verdict)
    root = document(replace(report, findings=()))
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert len(root.findall(".//skipped")) == 2


def test_hostile_names_are_kept_as_escapes() -> None:
    name = only(sample("hostile"), ".//failure/..").get("name")
    assert name is not None
    assert name.startswith(
        "a|b`c``\\x1b[31m\\n::error::,%\\r\\x00\\ud800\\ufffe]]><x y=\"'&\\u202e"
    )
    assert "\x00" in HOSTILE


def test_the_text_of_many_failures_is_left_out() -> None:
    root = document(steps_of(junit.IN_FULL + 3, failing=lambda number: True))
    texts = [failure.text or "" for failure in root.iter("failure")]
    assert len(texts) == junit.IN_FULL + 3
    assert [text.endswith(junit.LEFT_OUT) for text in texts[-4:]] == [False, True, True, True]


def test_a_thousand_steps_are_a_thousand_cases() -> None:
    root = document(steps_of(1000, failing=lambda number: number % 100 == 0))
    assert (root.get("tests"), root.get("failures")) == ("1000", "10")
