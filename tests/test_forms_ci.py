"""GitHub annotations and GitLab code quality: escapes, limits, severities, fingerprints."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from specdist.model.verdict import Verdict
from specdist.reports.forms import github, gitlab
from specdist.reports.forms.form import AnyReport, FormOptions
from tests.form_samples import HOSTILE, SAMPLES, of_steps, step, steps_of
from tests.report_samples import FINDING

COMMAND = re.compile(r"::(?P<level>error|warning|notice) (?P<properties>[^:]*)::(?P<text>.*)")


def commands(report: AnyReport, **options: Any) -> list[tuple[str, dict[str, str], str]]:
    """The annotations as GitHub's runner reads them."""
    found = []
    for line in github.render(report, FormOptions(**options)).splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        pairs = (pair.split("=", 1) for pair in match["properties"].split(","))
        properties = {name: unescaped(value) for name, value in pairs}
        found.append((match["level"], properties, unescaped(match["text"])))
    return found


def unescaped(text: str) -> str:
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def sample(name: str) -> list[tuple[str, dict[str, str], str]]:
    return commands(SAMPLES[name][0])


def test_a_pass_is_one_notice() -> None:
    assert sample("equal") == [
        (
            "notice",
            {"title": "specdist: equal"},
            "1 step checked: 1 equal, 0 different, 0 undecided",
        )
    ]


def test_a_difference_is_an_error_with_its_lesson() -> None:
    error, last = sample("different")
    assert error[:2] == ("error", {"file": "a.json", "title": "specdist: output-mismatch"})
    assert error[2].startswith("error[output-mismatch]: output differs from the reference\n  -->")
    assert last[:2] == ("notice", {"title": "specdist: failed"})


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("undecided", ["warning", "notice"]),
        ("undecided without a finding", ["warning", "notice"]),
        ("allowed", ["notice", "notice"]),
        ("within tolerance", ["notice", "notice"]),
        ("floor missed", ["error", "notice"]),
        ("unreadable among readable", ["error", "notice"]),
        ("nothing", ["error"]),
        ("contradicted", ["error", "notice"]),
        ("mixed", ["error", "warning", "warning", "notice"]),
    ],
)
def test_levels(name: str, levels: list[str]) -> None:
    assert [level for level, _, _ in sample(name)] == levels


def test_a_line_is_told_where_it_is_known() -> None:
    assert sample("contradicted")[0][1]["line"] == "4"
    assert "line" not in sample("different")[0][1]
    assert "file" not in sample("typed different")[0][1]


def test_files_are_relative_to_the_root() -> None:
    report = of_steps([step(Verdict.DIFFERENT, FINDING, file="/repo/a.json")], "/repo/a.json")
    assert commands(report, root="/repo")[0][1]["file"] == "a.json"


def test_nothing_of_a_capture_starts_a_line_or_a_property() -> None:
    found = sample("hostile")
    assert [level for level, _, _ in found] == ["error", "error", "notice"]
    assert all(set(properties) <= {"file", "line", "title"} for _, properties, _ in found)
    file = "a,b:c%0A\n::error::x.json"
    report = of_steps([step(Verdict.DIFFERENT, FINDING, file=file)], file)
    text = github.render(report, FormOptions())
    assert "file=a%2Cb%3Ac%250A\\n,title=" in text
    assert all(line.startswith("::") for line in text.splitlines())
    assert HOSTILE not in text


def test_the_worst_ten_are_shown_and_the_rest_is_counted() -> None:
    found = commands(steps_of(40, failing=lambda number: number < 25))
    errors = [command for command in found if command[0] == "error"]
    assert len(errors) == github.MOST == 10
    assert [command[1]["title"] for command in errors[:-1]] == ["specdist: output-mismatch"] * 9
    assert errors[-1][1] == {"title": "specdist: 16 more errors"}
    assert errors[-1][2].startswith("16 more errors left out: GitHub shows 10 of a step")
    assert len(commands(steps_of(10, failing=lambda number: True))) == 11
    notices = steps_of(30, lambda number: True, (replace(FINDING, allowed=True),))
    counted = replace(notices, summary=replace(notices.summary, allowed=30))
    assert [level for level, _, _ in commands(counted)] == ["notice"] * 10


def test_a_long_message_is_cut() -> None:
    long = replace(FINDING, notes=("word " * 4000,))
    _, _, text = commands(of_steps([step(Verdict.DIFFERENT, long)], "a.json"))[0]
    assert text.endswith("... (cut)")
    assert len(text.encode()) <= github.LONGEST


def issues(report: AnyReport, **options: Any) -> list[dict[str, Any]]:
    return json.loads(gitlab.render(report, FormOptions(**options)))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", SAMPLES)
def test_gitlab_issues_are_complete(name: str) -> None:
    found = issues(SAMPLES[name][0])
    for issue in found:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert "\n" not in issue["description"]
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["location"]["path"]
        assert not issue["location"]["path"].startswith("./")
    assert len({issue["fingerprint"] for issue in found}) == len(found)


@pytest.mark.parametrize(
    ("name", "severities"),
    [
        ("equal", []),
        ("different", ["critical"]),
        ("undecided", ["major"]),
        ("out of time", ["major"]),
        ("allowed", ["info"]),
        ("within tolerance", ["info"]),
        ("floor missed", ["critical"]),
        ("unreadable among readable", ["blocker"]),
        ("nothing", ["blocker"]),
        ("nothing replayed", ["blocker"]),
        ("mixed", ["critical", "major", "minor"]),
    ],
)
def test_gitlab_severities(name: str, severities: list[str]) -> None:
    assert [issue["severity"] for issue in issues(SAMPLES[name][0])] == severities


def test_a_gitlab_issue() -> None:
    (issue,) = issues(SAMPLES["different"][0])
    assert issue["description"] == "step 0, position 0: output differs from the reference"
    assert issue["check_name"] == "output-mismatch"
    assert issue["location"] == {"path": "a.json", "lines": {"begin": 1, "end": 1}}
    (issue,) = issues(SAMPLES["contradicted"][0])
    assert issue["location"] == {"path": "run/steps.jsonl", "lines": {"begin": 4, "end": 4}}
    (issue,) = issues(SAMPLES["allowed"][0])
    assert issue["description"].endswith(" (allowed)")
    (issue,) = issues(SAMPLES["floor missed"][0])
    assert issue["location"]["path"] == "a.json"
    (issue,) = issues(SAMPLES["typed different"][0])
    assert issue["location"]["path"] == "command line"


def test_gitlab_paths_are_those_of_the_repository() -> None:
    report = of_steps([step(Verdict.DIFFERENT, FINDING, file="./c/a.json")], "./c/a.json")
    assert issues(report)[0]["location"]["path"] == "c/a.json"
    report = of_steps([step(Verdict.DIFFERENT, FINDING, file="/repo/c/a.json")], "/repo/c/a.json")
    assert issues(report, root="/repo")[0]["location"]["path"] == "c/a.json"
