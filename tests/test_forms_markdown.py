"""Markdown and CSV: nothing breaks out of a cell, and long reports are cut at whole pieces."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from specdist.model.partial_report import BoundedPosition, ListedCounts
from specdist.model.report import BonusResult
from specdist.model.verdict import Verdict
from specdist.reports.forms import csv_form, markdown
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.markdown_text import block, code, row, words
from tests.form_samples import BOUNDS, SAMPLES, figure, of_steps, step, steps_of
from tests.report_samples import FINDING


def page(report: AnyReport, show: int = 10) -> str:
    return markdown.render(report, FormOptions(show=show))


def sample(name: str) -> str:
    return page(SAMPLES[name][0])


def test_the_verdict_stands_first() -> None:
    for name, word in (
        ("equal", "check: passed"),
        ("different", "check: failed"),
        ("undecided", "check: undecided"),
        ("nothing", "check: nothing checked"),
        ("contradicted", "replay: failed"),
    ):
        assert sample(name).startswith(f"## specdist {word}\n\n")
    lines = sample("different").split("\n")
    assert lines[2] == "1 step checked: 0 equal, 1 different, 0 undecided"
    assert (
        "| different | `0` | `a.json` | 11/15 = 0.7333 | 1/16 = 0.0625 | 26/15 = 1.7333 |" in lines
    )


def test_the_parts_and_their_order() -> None:
    text = sample("mixed")
    parts = [
        "## specdist",
        "| verdict |",
        "### Findings",
        "### Scope",
        "<details>",
        "specdist 0.0.0",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "error `output-mismatch` at `a.json, step 2, position 0`" in text
    assert "undecided `undecided-precision` at `a.json, step 1, position 0`" in text
    assert "warning `lossy-by-design`" in text
    assert (
        "note `near-cut`: a cut within float32 rounding (`a.json, step 2, position 0` and 1 more)"
    )
    assert "- nothing about speed\n" in text
    assert "| `rule` | `token` |" in text


def test_steps_of_several_positions_show_their_largest_total_variation() -> None:
    one = step(Verdict.DIFFERENT, FINDING)
    first, second = one.positions[0], replace(one.positions[0], index=1)
    second = replace(second, total_variation=figure("1/3"))
    two = replace(one, positions=(first, second))
    other = replace(step(Verdict.EQUAL, id="1"), positions=())
    text = page(of_steps([two, other], "a.json"))
    assert "| verdict | step | capture | largest total variation |\n" in text
    assert "| different | `0` | `a.json` | 1/3 = 0.3333 |\n" in text
    assert "| equal | `1` | `a.json` |  |\n" in text


def test_the_baseline_has_its_own_part() -> None:
    text = sample("worse than the baseline")
    told = "\n### Baseline\n\n```text\nagainst old.json: 1 step matched, none worse\n```\n"
    assert told in text
    assert "### Baseline" not in sample("equal")


def test_steps_that_did_not_pass_come_first_and_passes_are_counted() -> None:
    text = page(steps_of(50, failing=lambda number: number in (20, 40)), show=3)
    rows = re.findall(r"^\| (\w+) \| `(\d+)`", text, re.MULTILINE)
    assert rows == [
        ("different", "20"),
        ("different", "40"),
        ("equal", "0"),
        ("equal", "1"),
        ("equal", "2"),
    ]
    assert "\n45 more steps not listed: 45 equal.\n" in text


def test_a_long_report_is_cut_at_whole_findings() -> None:
    text = page(steps_of(3000, failing=lambda number: True))
    assert len(text) <= markdown.MOST == 65_536
    assert text.count("```text\n") * 2 == text.count("```")
    shown = text.count("error `output-mismatch` at ")
    assert (
        f"\n{3000 - shown} more findings left out: a comment ends at 65,536 characters.\n" in text
    )
    rows = len(re.findall(r"^\| different ", text, re.MULTILINE))
    assert f"\n{3000 - rows} more steps not listed: {3000 - rows} different.\n" in text
    assert 10 < shown < rows < 3000
    assert "### Scope" in text


def test_long_names_and_settings_do_not_fill_the_page() -> None:
    long = "x" * 100_000
    report = of_steps([step(Verdict.DIFFERENT, FINDING, id=long)], "a.json")
    report = replace(
        report,
        settings={f"{long}{number}": long for number in range(100)},
        read_as=(long, "short"),
    )
    text = page(report)
    assert len(text) <= markdown.MOST
    assert "- 2 more\n" in text
    assert text.index("| different |") < text.index("### Findings") < text.index("### Scope")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "`a`"),
        ("", ""),
        ("a`b", "``a`b``"),
        ("`a``", "``` `a`` ```"),
        (" a", "`  a `"),
        ("a\nb|c", "`a\\nb|c`"),
        ("@all #1 <b>", "`@all #1 <b>`"),
    ],
)
def test_code_spans(text: str, shown: str) -> None:
    assert code(text) == shown


@pytest.mark.parametrize(
    "text", ["1 step checked: 1 equal", "0.6 to 0.85", "a rule (see 1/2)", "3/5 = 0.6"]
)
def test_plain_words_stay(text: str) -> None:
    assert words(text) == text


@pytest.mark.parametrize(
    "text",
    ["- a", "1. a", "1) a", "a*b*", "a_b_", "[a](b)", "http://a", "www.a", ":tada:", "@a", "#1"],
)
def test_words_that_mean_something_are_code(text: str) -> None:
    assert words(text) == f"`{text}`"


def test_blocks_are_fenced_by_more_than_they_hold() -> None:
    assert block("a\n```\nb") == "````text\na\n```\nb\n````\n"
    assert row(["a|b", "c"]) == "| a\\|b | c |\n"


def table(report: AnyReport) -> list[dict[str, str]]:
    text = csv_form.render(report, FormOptions())
    assert text.count("\n") == text.count("\r\n")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_a_row_is_a_position() -> None:
    (found,) = table(SAMPLES["different"][0])
    assert found["source"] == "a.json, steps[0]"
    assert (found["step"], found["position"], found["verdict"]) == ("0", "0", "different")
    assert found["acceptance_rate"] == repr(11 / 15)
    assert found["acceptance_rate_exact"] == "11/15"
    assert found["total_variation_exact"] == "1/16"
    assert found["rejected_mass_exact"] == "4/15"
    assert found["acceptance_rate_bound"] == found["acceptance_rate_least"] == ""


def test_bonus_rows_and_rows_known_in_part() -> None:
    base = step(Verdict.EQUAL)
    bonus = BonusResult(Verdict.DIFFERENT, 4, figure("1/8"), (), ())
    counts = ListedCounts(1, 0, 0, None)
    part = BoundedPosition(
        1, Verdict.UNDECIDED, None, BOUNDS, BOUNDS, BOUNDS, False, BOUNDS, BOUNDS,
        BOUNDS.least, counts, (), (),
    )  # fmt: skip
    made = replace(base, bonus=bonus, bounded=(part,))
    rows = table(of_steps([made], "a.json"))
    assert [(r["position"], r["verdict"]) for r in rows] == [
        ("0", "equal"),
        ("1", "undecided"),
        ("bonus", "different"),
    ]
    assert (rows[1]["acceptance_rate"], rows[1]["vocab_size"]) == ("", "")
    ends = (rows[1]["acceptance_rate_least"], rows[1]["acceptance_rate_most"])
    assert 0 <= BOUNDS.least - type(BOUNDS.least)(float(ends[0])) < 1e-15
    assert 0 <= type(BOUNDS.most)(float(ends[1])) - BOUNDS.most < 1e-15
    assert rows[2]["total_variation_exact"] == "1/8"


@pytest.mark.parametrize("start", "=+-@")
def test_no_cell_is_a_formula(start: str) -> None:
    evil = f'{start}HYPERLINK("x,y")'
    (found,) = table(of_steps([step(Verdict.EQUAL, id=evil, file=evil)], evil))
    assert found["step"] == f"'{evil}"
    assert found["source"] == f"'{evil}, steps[{evil}]"
    (found,) = table(of_steps([step(Verdict.EQUAL, id=f"\t{evil}")], "a"))
    assert found["step"] == f"\\t{evil}"


def test_a_replay_is_a_row_a_step() -> None:
    assert table(SAMPLES["consistent"][0]) == [
        {
            "source": "run/steps.jsonl, line 1",
            "sequence": "0",
            "step": "0",
            "drafted": "2",
            "accepted": "1",
            "emitted": "2",
            "final": "recovered",
        }
    ]
