"""Reports of audits in every form: what they show, how wide they are, what cannot break them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from specdist.cli.audit_command_line import command, reproduced
from specdist.cli.audit_options import Asked
from specdist.cli.exit_codes import audit_exit_code
from specdist.model.audit_report import AuditReport, Mode, Raised
from specdist.model.figure import Figure
from specdist.model.finding import Severity
from specdist.model.outcome import audit_outcome
from specdist.model.verdict import Verdict
from specdist.reports import json_audit, page
from specdist.reports.audit_text import render
from specdist.reports.audit_words import magnitude
from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.registry import BY_NAME, FORMS
from specdist.reports.style import Paint
from specdist.reports.view import View
from tests import audit_samples as made
from tests.cli import ROOT, run
from tests.form_samples import HOSTILE, code_of

SCHEMA = json.loads((ROOT / "specdist/schemas/audit.schema.json").read_text("utf-8"))
SAMPLES = made.audits(HOSTILE)
LEAKING = made.report(
    replace(
        made.ROUNDED,
        outside=made.figure("1/33554432"),
        lines=(*made.EQUAL_LINES, made.line((2, 1), "0", "1/33554432")),
    ),
    findings=(made.LEAK, made.ROUNDING_NOTE),
)
OPTIONS = FormOptions()


def text_of(report: AuditReport, width: int = 80, **view: Any) -> str:
    with page.at(width):
        return render(report, View(**view))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("view", [{}, {"verbose": True}, {"exact": True}, {"quiet": True}])
def test_text_fits_the_page_and_ends_with_counts(
    name: str, width: int, view: dict[str, Any]
) -> None:
    report, _ = SAMPLES[name]
    text = text_of(report, width, **view)
    lines = text.splitlines()
    assert text.endswith("\n")
    assert f"{len(report.tables)} table" in " ".join(lines[-2:])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    if not view.get("quiet") and "hostile" not in name:
        assert [line for line in lines if len(line) > width] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_the_exit_code_is_a_function_of_the_report(name: str) -> None:
    report, outcome = SAMPLES[name]
    assert audit_outcome(report) is outcome
    assert audit_exit_code(report) == code_of(outcome)


def test_a_failure_shows_laws_causes_the_smallest_case_and_a_line_to_paste() -> None:
    report, _ = SAMPLES["audit raising"]
    text = text_of(report)
    for line in (
        "error[output-mismatch]: the joint law of 2 tokens differs from the target's:",
        "  --> x.py:step, table a zero in the draft, 3 tokens, 2 draft tokens, 1 step",
        "   |  2 2           1/4         0         -1/4  -0.25",
        "   |  0 1           1/2       5/8         +1/8  +0.125",
        "   |  ... 6 more sequences",
        "   = note: first token alone: total variation 1/8",
        "   = note: its first rows: target 1/4, 3/4; draft 1/8, 7/8",
        "   = known fault: this very law is that of:",
        "           resamples from the target",
        "   = reproduce: specdist audit x.py:step --vocab 2 --gamma 1 --tables 1 \\",
        "   = explain: specdist explain audit",
        "   |  7/8 = 0.875  IndexError: index 3 is out of range",
        "   |               at x.py, line 7",
        "   |  after tokens 2",
        "   |  1               1                  1/2",
        "not lossless: total variation 1/4 = 0.25 at most over 1 table, joint law of 2",
    ):
        assert line in text.splitlines(), line


def test_what_a_panel_shows_is_not_said_again() -> None:
    report, _ = SAMPLES["audit raising"]
    text = text_of(report)
    assert "note: x.py, line 7" not in text
    assert "note: drafted from" not in text


def test_a_pass_says_what_was_proven() -> None:
    lossless = text_of(SAMPLES["audit lossless"][0])
    assert "ok: lossless up to float rounding: total variation 2.98e-08 at most over 2" in lossless
    assert "2 tables audited: 1 equal, 1 within rounding, 0 different, 0 undecided" in lossless
    for fact in (
        "mode      traced: the code is run once for every branch, masses are exact",
        "rows      numpy float32, multiples of 1/64",
        "compared  with the target, joint law of 2 tokens",
        "grids     k/2^53 on [0, 1)",
        "runs      82: 78 leaves (78 predicted), 4 replays",
        "versions  python 3.11.4, numpy 2.1.0",
        "note      exponential noise is idealised",
    ):
        assert f"\n  {fact}\n" in lossless
    assert "scope: the law of this code on these tables" in lossless
    equal = text_of(SAMPLES["audit equal"][0])
    assert "ok: the law is exactly that of the target, no tolerance over 1 table" in equal


def test_a_reference_is_what_is_compared_with() -> None:
    base = made.report(made.table())
    text = text_of(replace(base, settings={**base.settings, "reference": "plain"}))
    assert "compared  with the reference plain, joint law of 2 tokens" in text


def test_mass_outside_of_the_support_is_reported_whatever_its_size() -> None:
    text = text_of(LEAKING)
    assert "warning[impossible-token]: sequences that the target cannot emit" in text
    assert "ok: lossless up to float rounding" in text
    assert re.search(r"equal rows  rounding +39 +2\.980e-08 +2\.980e-08\n", text)
    assert "more sequences" not in text
    assert re.search(r"\| +2 1 +0 +2\.98023e-08 +\+2\.98023e-08\n", text)
    assert audit_exit_code(LEAKING) == 0
    forms = {form: BY_NAME[form].render(LEAKING, OPTIONS) for form in ("github", "sarif", "junit")}
    assert all("impossible-token" in text for text in forms.values())


@pytest.mark.parametrize("name", ["probe", "probe different"])
@pytest.mark.parametrize("view", [{}, {"verbose": True}, {"exact": True}])
def test_a_probe_has_a_bound_and_says_nothing_is_exact(name: str, view: dict[str, Any]) -> None:
    report, _ = SAMPLES[name]
    bare = replace(report, findings=(), smallest=report.smallest)
    text = text_of(bare, **view)
    assert "exact" not in text
    assert " equal" not in text.replace("equal rows", "")
    assert "+- 0.0031" in text
    assert not re.search(r"\b\d+/\d{2,}\b", text.replace("1/64", ""))
    values = json_audit.to_json(report, True)
    assert '"exact": null' in json.dumps(values["tables"])
    assert not re.search(r'"exact": "', json.dumps(values))
    assert values["summary"]["bound_max"] == {"exact": None, "approx": 0.0031}


def test_the_bound_is_rounded_up() -> None:
    exact = Fraction(2, 3000)
    report = made.probed(made.table())
    bounded = replace(report.tables[0], bound=Figure.of(exact))
    assert "+- 0.00067" in text_of(replace(report, tables=(bounded,)))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", SAMPLES)
def test_json_follows_the_schema(name: str, exact: bool) -> None:
    report, _ = SAMPLES[name]
    values = json.loads(BY_NAME["json"].render(report, FormOptions(exact=exact)))
    Draft202012Validator(SCHEMA).validate(values)
    *tables, rest = BY_NAME["jsonl"].render(report, FormOptions(exact=exact)).splitlines()
    assert {**json.loads(rest), "tables": [json.loads(line) for line in tables]} == values
    assert values["summary"]["tables"] == len(report.tables)
    counted = ("equal", "within_tolerance", "different", "undecided")
    assert sum(values["summary"][name] for name in counted) == len(report.tables)


def test_the_schema_is_one_and_refuses_what_is_not_in_it() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(run("config", "--schema", "audit").stdout) == SCHEMA
    report = json_audit.to_json(SAMPLES["audit different"][0], False)
    validator = Draft202012Validator(SCHEMA)
    assert not validator.is_valid({**report, "more": 1})
    assert not validator.is_valid({k: v for k, v in report.items() if k != "scope"})
    report["tables"][0]["total_variation"]["exact"] = 0.25
    assert not validator.is_valid(report)


def test_json_numbers_are_those_of_the_report() -> None:
    report, _ = SAMPLES["audit raising"]
    values = json_audit.to_json(report, False)
    (table,) = values["tables"]
    assert table["lines"][0] == {
        "tokens": [2, 2],
        "reference": {"exact": "1/4", "approx": 0.25},
        "output": {"exact": "0", "approx": 0.0},
        "difference": {"exact": "-1/4", "approx": -0.25},
    }
    assert table["raised"][0]["mass"] == {"exact": "7/8", "approx": 0.875}
    assert table["draft"]["drawn"][1] == {"exact": "1", "approx": 1.0}
    assert values["smallest"]["target"][0]["exact"] == "1/4"
    assert values["summary"]["raised_max"] == {"exact": "7/8", "approx": 0.875}
    assert [finding["ident"] for finding in values["findings"]] == [
        "output-mismatch",
        "output-mismatch",
        "drafted-mismatch",
        "impossible-token",
    ]
    assert values["findings"][0]["cause"] == ["resamples from the target"]
    assert values["line"] == 7


def test_forms_know_which_of_them_show_audits() -> None:
    assert [form.name for form in FORMS if not form.audits] == ["html"]
    with pytest.raises(TypeError):
        BY_NAME["html"].render(made.report(made.table()), OPTIONS)


def test_a_table_is_a_case() -> None:
    report, _ = SAMPLES["audit different"]
    suites = ElementTree.fromstring(BY_NAME["junit"].render(report, OPTIONS))
    names = {suite.get("name"): [c.get("name") for c in suite] for suite in suites}
    assert names["x.py"] == ["equal rows", "a zero in the draft"]
    assert "output-mismatch" in names["specdist audit"]
    markdown = BY_NAME["markdown"].render(report, OPTIONS)
    assert "| verdict | table | adapter | total variation |" in markdown
    assert "| different | `a zero in the draft` | `x.py` | 1/4 = 0.25 | 1/8 = 0.125 |" in markdown


def test_findings_are_placed_at_the_audited_function() -> None:
    report, _ = SAMPLES["audit different"]
    (first, *_) = BY_NAME["github"].render(report, OPTIONS).splitlines()
    assert first.startswith("::error file=x.py,line=7,title=specdist%3A output-mismatch::")
    (issue,) = json.loads(BY_NAME["gitlab"].render(report, OPTIONS))
    assert issue["location"] == {"path": "x.py", "lines": {"begin": 7, "end": 7}}
    (log,) = json.loads(BY_NAME["sarif"].render(report, OPTIONS))["runs"]
    (place,) = log["results"][0]["locations"]
    assert place["physicalLocation"]["region"] == {"startLine": 7}
    module = replace(report, source="engine.sampling:step", line=0)
    assert "engine.sampling" in BY_NAME["sarif"].render(module, OPTIONS)


@pytest.mark.parametrize("name", SAMPLES)
def test_csv_has_a_row_a_table(name: str) -> None:
    report, _ = SAMPLES[name]
    header, *rows = csv.reader(io.StringIO(BY_NAME["csv"].render(report, OPTIONS), newline=""))
    assert len(rows) == len(report.tables)
    for row, table in zip(rows, report.tables, strict=True):
        cells = dict(zip(header, row, strict=True))
        assert (cells["table"], cells["verdict"]) == (table.name, table.verdict.value)
        assert float(cells["total_variation"]) == table.total_variation.approx
        probed = report.mode is Mode.PROBE
        assert cells["total_variation_exact"] == (
            "" if probed else str(table.total_variation.exact)
        )
        assert bool(cells["bound"]) is probed


def test_names_and_exceptions_are_plain_text() -> None:
    text = text_of(made.hostile("[/INST] [b]x[/b] \x1b[31m"), paint=Paint(True), verbose=True)
    assert "[/INST] [b]x[/b] \\x1b[31m.py:step" in text
    assert "\x1b[31m" not in text


def test_long_sequences_are_cut_in_their_middle() -> None:
    tokens = tuple(range(10, 32))
    long = replace(made.WRONG, lines=(replace(made.WRONG_LINES[0], tokens=tokens),))
    for width, most in ((80, 35), (60, 15)):
        text = text_of(made.report(long, findings=(made.MISMATCH,)), width)
        (line,) = (line for line in text.splitlines() if "..." in line and "10 11" in line)
        assert len(re.split(r" {2,}", line.removeprefix("   |  "))[0]) <= most
        assert all(len(line) <= width for line in text.splitlines())


def test_show_and_verbose() -> None:
    report, _ = SAMPLES["audit raising"]
    assert "... 8 more sequences" in text_of(report, show=1)
    assert "... 6 more sequences" in text_of(report, show=1, verbose=True)  # no more are there
    several = replace(
        made.WRONG, raised=tuple(Raised(f"E: {i}", "", made.figure("1/9")) for i in range(9))
    )
    raises = replace(made.RAISES, message="raises: E: 0")
    text = text_of(made.report(several, findings=(raises,)))
    assert "   |  ... 4 more exceptions" in text
    assert "more exceptions" not in text_of(made.report(several, findings=(raises,)), verbose=True)


def test_every_ident_of_a_finding_has_a_lesson() -> None:
    other = replace(made.MISMATCH, ident="reused-randomness", severity=Severity.WARNING, cause=())
    text = text_of(made.report(made.ROUNDED, findings=(other,)))
    assert "   = explain: specdist explain reused-randomness\n" in text


def test_the_line_to_paste_is_that_of_the_smallest_case() -> None:
    report, _ = SAMPLES["audit raising"]
    asked = Asked(vocab=3, gamma=2, tables=4, steps=2, dtype="float64", budget=500)
    law, raises, drafted, leak = reproduced(report, asked).findings
    assert law.reproduce == (
        "specdist audit x.py:step --vocab 2 --gamma 1 --tables 1 --steps 1 --dtype float64 "
        "--budget 500"
    )
    whole = "specdist audit x.py:step --vocab 3 --gamma 2 --tables 4 --steps 2"
    for finding in (raises, drafted, leak):
        assert finding.reproduce == f"{whole} --dtype float64 --budget 500"
    assert command("a b.py:step", Asked()).startswith("specdist audit 'a b.py:step' --vocab 3 ")
    note = made.report(made.ROUNDED, findings=(made.ROUNDING_NOTE,))
    assert reproduced(note, asked).findings[0].reproduce is None


@pytest.mark.parametrize(
    ("count", "words"), [(39, "39"), (1521, "1,521"), (12 * 10**12, "about 1.2e+13")]
)
def test_counts_in_words(count: int, words: str) -> None:
    assert magnitude(count) == words
    assert magnitude(10**500) == "about 1.0e+500"


def test_what_a_budget_left_makes_the_total_variation_the_least_possible() -> None:
    report, _ = SAMPLES["audit undecided"]
    text = text_of(report)
    assert "undecided: total variation at least 1/50 = 0.02 over 2 tables" in text
    assert re.search(r"equal rows  undecided +39 +0 +>= 1/50\n", text)
    values = json_audit.to_json(report, False)
    assert values["tables"][1]["unexplored"] == values["summary"]["unexplored_max"]
    assert values["tables"][1]["unexplored"]["exact"] == "1/3"
    assert audit_exit_code(report) == 4


def test_a_verdict_that_no_table_has_is_not_told_as_a_pass() -> None:
    report = replace(made.report(made.table()), verdict=Verdict.UNDECIDED)
    assert "undecided: total variation 0" in text_of(report)
    assert audit_exit_code(report) == 4
