"""Every form shows every kind of report, and nothing of a capture can break out of it."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from specdist.model.capture import Unreadable
from specdist.model.finding import Severity
from specdist.model.outcome import Outcome
from specdist.model.replay_report import ReplayVerdict
from specdist.model.verdict import Verdict
from specdist.reports.forms import entries, github, gitlab, markdown, places, sarif_results
from specdist.reports.forms.clean_text import cut, one_line, printable
from specdist.reports.forms.entries import Entry, Weight
from specdist.reports.forms.fingerprints import Fingerprints
from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.places import Where, path_of, uri_of, where_of
from specdist.reports.forms.registry import BY_NAME
from specdist.reports.outlines import outline_of
from tests.form_samples import SAMPLES, code_of, finding, of_steps, replayed, step
from tests.report_samples import FINDING

FORMS = ("junit", "sarif", "github", "gitlab", "markdown", "csv")
OPTIONS = FormOptions()
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\ud800-\udfff\ufffe\uffff]")


def rendered(form: str, name: str) -> str:
    report, outcome = SAMPLES[name]
    return BY_NAME[form].render(report, FormOptions(code=code_of(outcome)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_report_in_every_form_is_text_that_a_reader_takes(form: str, name: str) -> None:
    text = rendered(form, name)
    assert not UNFIT.search(text)
    assert text.endswith("\n")
    if form in ("sarif", "gitlab"):
        json.loads(text)
        assert not re.search(r"\\ud[89a-f]", text.replace("\\\\", ""))
    if form == "junit":
        ElementTree.fromstring(text)
    if form == "csv":
        widths = {len(row) for row in csv.reader(io.StringIO(text, newline=""))}
        assert len(widths) == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_the_outline_says_what_the_exit_code_says(name: str) -> None:
    report, outcome = SAMPLES[name]
    assert outline_of(report, OPTIONS).outcome is outcome


@pytest.mark.parametrize("name", SAMPLES)
def test_no_form_shows_a_run_that_does_not_pass_as_a_pass(name: str) -> None:
    _, outcome = SAMPLES[name]
    suites = ElementTree.fromstring(rendered("junit", name))
    run = json.loads(rendered("sarif", name))["runs"][0]
    issues = [issue["severity"] for issue in json.loads(rendered("gitlab", name))]
    lines = rendered("github", name).splitlines()
    red = {
        "junit": int(suites.get("failures", "")) + int(suites.get("errors", "")) > 0,
        "sarif": any(result["kind"] == "open" for result in run["results"])
        or any(result["level"] == "error" for result in run["results"])
        or not run["invocations"][0]["executionSuccessful"],
        "github": any(line.startswith(("::error ", "::warning ")) for line in lines),
        "gitlab": bool({"major", "critical", "blocker"} & set(issues)),
        "markdown": not rendered("markdown", name).split("\n")[0].endswith(": passed"),
    }
    assert red == dict.fromkeys(red, outcome is not Outcome.PASSED)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("severity", Severity)
def test_every_verdict_and_severity_is_shown(
    form: str, verdict: Verdict, severity: Severity
) -> None:
    report = of_steps([step(verdict, finding(severity, "near-cut", "said here"))], "a.json")
    text = BY_NAME[form].render(replace(report, verdict=verdict), OPTIONS)
    noted = severity is Severity.NOTE and form in ("gitlab", "github")
    assert ("said here" in text) is not (noted or form == "csv")
    if form == "csv":
        assert f",{verdict.value}," in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("verdict", ReplayVerdict)
def test_every_verdict_of_a_replay_is_shown(form: str, verdict: ReplayVerdict) -> None:
    assert BY_NAME[form].render(replayed(verdict), OPTIONS)


def test_every_weight_has_a_word_in_every_form() -> None:
    for table in (github.LEVELS, gitlab.SEVERITIES, markdown.LABELS, sarif_results.LEVELS):
        assert set(table) == set(Weight)
    assert set(markdown.WORDS) == set(markdown.RANKS) == set(Outcome)


def test_entries_come_the_worst_first() -> None:
    report, _ = SAMPLES["mixed"]
    assert [entry.ident for entry in entries.entries(outline_of(report, OPTIONS))] == [
        "output-mismatch",
        "undecided-precision",
        "lossy-by-design",
        "near-cut",
        "near-cut",
    ]
    several = of_steps([step(Verdict.DIFFERENT, FINDING, id=str(i)) for i in range(3)], "a.json")
    small = replace(several.steps[1].positions[0], total_variation=several.summary.acceptance_rate)
    steps = [several.steps[0], replace(several.steps[1], positions=(small,)), several.steps[2]]
    found = entries.entries(outline_of(replace(several, steps=tuple(steps)), OPTIONS))
    assert [entry.case for entry in found] == ["1", "0", "2"]


def test_files_that_do_not_count_are_notes() -> None:
    report = replace(
        of_steps([step(Verdict.EQUAL)], "a.json"),
        unreadable=(Unreadable("b.txt", "not a capture", counts=False),),
    )
    assert [e.weight for e in entries.entries(outline_of(report, OPTIONS))] == [Weight.NOTE]


def test_texts_are_made_fit() -> None:
    assert printable("a\x00b\r\n\tc\x9b\udc80\ufffe\u202e") == (
        "a\\x00b\\r\n\tc\\x9b\\udc80\\ufffe\\u202e"
    )
    assert one_line("a\n\tb") == "a\\n\\tb"
    assert printable("ünï 漢字 🙂") == "ünï 漢字 🙂"
    assert cut("é" * 10, 20) == "é" * 10
    assert cut("é" * 100, 30) == "é" * 10 + " ... (cut)"


def test_fingerprints_are_stable_and_unique() -> None:
    def entry(case: str, position: int | None, message: str = "m") -> Entry:
        return Entry("ident", Weight.FAILS, message, str, "a.json", case, "", position)

    prints, again = Fingerprints(), Fingerprints()
    told = [entry("0", 0), entry("0", 1), entry("1", 0), entry("0", None), entry("0", 0)]
    found = [prints.of(each, "a.json") for each in told]
    assert len(set(found)) == len(found)
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in found)
    assert [again.of(replace(e, message="other", size=7.0), "a.json") for e in told] == found
    assert Fingerprints().of(told[0], "b.json") != found[0]


def test_places() -> None:
    assert where_of("a.json", "a.json, step 0", "") == Where("a.json")
    assert where_of("a.json", "a.json, line 3, step 0", "") == Where("a.json", 3)
    assert where_of("run", "run/steps.jsonl, line 4, sequence 0", "") == Where("run/steps.jsonl", 4)
    assert where_of("x, line 9.json", "x, line 9.json, step 0", "") == Where("x, line 9.json")
    assert where_of("<stdin>", "<stdin>, line 2", "") == Where("", 2)
    assert where_of("t.npz::a + d.npz::b", "t.npz::a + d.npz::b, row 4", "") == Where("t.npz")
    assert path_of("./a/../b.json", "") == "b.json"
    assert path_of("/repo/a/b.json", "/repo") == "a/b.json"
    assert path_of("/repository/b.json", "/repo") == "/repository/b.json"
    assert path_of("/a.json", "/") == "a.json"
    assert uri_of("a b/ü%:#?.json") == "a%20b/%C3%BC%25%3A%23%3F.json"
    assert uri_of("/a b") == "file:///a%20b"
    assert uri_of("a\udcff") == "a%FF"
    assert places.uri_of("a\ud800") == "a%5Cud800"
