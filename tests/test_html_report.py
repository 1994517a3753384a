"""The HTML report as text: self-contained, escaped, small, the same twice, nothing left out.

What a browser makes of it is tested in ``tests/browser``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from specdist.findings.catalogue import CATALOGUE
from specdist.model.finding import Finding, Severity
from specdist.model.verdict import Verdict
from specdist.reports.html.asset_files import asset
from specdist.reports.html.embedded import embedded_json, escaped
from specdist.reports.html.markup import element
from specdist.reports.html.packed_steps import LARGEST
from specdist.reports.html.page import page as skeleton
from specdist.reports.html.report_page import SCRIPTS
from tests import report_samples
from tests.cli import SAMPLES, run
from tests.html_samples import HOSTILE, data_of, hostile, page, thousand

LIMIT = 3_000_000
VOID = {"meta", "link", "input", "br", "hr"}


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def every_report():
    yield "passing", report_samples.passing()
    yield "failing", report_samples.failing()
    yield "nothing", report_samples.nothing()
    yield "hostile", hostile()
    yield "counted", report_samples.counted(different=1, equal=2)


@pytest.mark.parametrize(("name", "report"), [*every_report()])
def test_the_page_is_well_formed_and_asks_for_nothing(name, report) -> None:
    elements = Elements(page(report))
    assert elements.open == []
    assert [tag for tag, _ in elements.found].count("html") == 1
    for tag in ("img", "iframe", "object", "embed", "audio", "video", "base", "form"):
        assert elements.all(tag) == [], tag
    assert all("src" not in attributes for _, attributes in elements.found)
    assert [link["href"] for link in elements.all("link")] == ["data:,"]
    hrefs = {attributes["href"] for attributes in elements.all("use")}
    assert all(href.startswith("#icon-") for href in hrefs)
    handlers = [key for _, attributes in elements.found for key in attributes if key[:2] == "on"]
    assert handlers == []
    assert not any("style" in attributes for _, attributes in elements.found)


def test_the_policy_names_the_hashes_of_what_is_there() -> None:
    text = page(report_samples.failing())
    policies = [m["content"] for m in Elements(text).all("meta") if "http-equiv" in m]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]
    assert "unsafe" not in policies[0]
    assert "http" not in policies[0]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policies[0]


def test_style_and_scripts_name_no_address() -> None:
    known = {
        "http://www.w3.org/1999/xhtml", "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg", "http://www.w3.org/2000/xmlns/",
        "http://www.w3.org/XML/1998/namespace", "https://d3js.org",
    }  # fmt: skip
    for name in ("d3.min.js", "page.css", "figures.css", "page.js", "numbers.js", *SCRIPTS):
        text = asset(name)
        assert set(re.findall(r"https?://[^\s\"'`;]+", text)) <= known, name
        assert not re.search(r"</(script|style)|<!--", text, re.IGNORECASE), name
        assert not re.search(r"@import|url\(", text) or name == "d3.min.js", name
        assert "\r" not in text, name


def test_the_library_is_the_one_that_its_note_names() -> None:
    note = asset("d3.SOURCE.txt")
    assert hashlib.sha256(asset("d3.min.js").encode()).hexdigest() in note
    assert "7.9.0" in asset("d3.min.js")[:60]
    assert "Copyright 2010-2023 Mike Bostock" in asset("d3.LICENSE.txt")
    size = len(asset("d3.min.js").encode())
    assert 50_000 <= size <= 300_000


def test_hostile_texts_stay_texts() -> None:
    text = page(hostile())
    elements = Elements(text)
    assert len(elements.all("script")) == 2
    assert elements.all("img") == []
    for attack in HOSTILE[:2]:
        assert attack not in text
        assert attack in elements.text
    text.encode("utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\x00\x1b]", text)
    assert "\\u202egnp.exe" in elements.text
    assert "שלום עולם" in elements.text
    names = json.dumps(data_of(text)["texts"])
    assert "onerror" in names
    assert "(5,000 characters)" in names
    assert "x" * 1_000 not in names


@pytest.mark.parametrize("value", [*HOSTILE, "a & b", "\U0001f389", "'\""])
def test_texts_come_back_as_they_were(value: str) -> None:
    assert json.loads(embedded_json([value])) == [value]
    assert not re.search("[<>&\u2028]", embedded_json(value))
    assert not re.search("[<>\"']", escaped(value))
    shown = Elements(str(element("p", value, title=value)))
    assert shown.all("p")[0]["title"] == Elements(f"<p>{escaped(value)}</p>").words[0]


def test_the_same_report_gives_the_same_bytes() -> None:
    for _, report in every_report():
        assert page(report) == page(report)


TITLES = {
    Verdict.EQUAL: "equal: the output law is the target's",
    Verdict.WITHIN_TOLERANCE: "within the declared tolerance",
    Verdict.DIFFERENT: "different: the output law is not the target's",
    Verdict.UNDECIDED: "undecided: neither equality nor a difference is proven",
    Verdict.NOTHING_CHECKED: "nothing checked",
}


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_comes_first_in_words_and_with_its_sign(verdict: Verdict) -> None:
    base = report_samples.passing()
    counts = {
        Verdict.EQUAL: {},
        Verdict.WITHIN_TOLERANCE: {"equal": 0, "within_tolerance": 1},
        Verdict.DIFFERENT: {"equal": 0, "different": 1},
        Verdict.UNDECIDED: {"equal": 0, "undecided": 1},
        Verdict.NOTHING_CHECKED: {"equal": 0, "steps": 0, "positions": 0},
    }[verdict]
    steps = tuple(replace(step, verdict=verdict) for step in base.steps)
    steps = () if verdict is Verdict.NOTHING_CHECKED else steps
    report = replace(base, verdict=verdict, steps=steps, summary=replace(base.summary, **counts))
    text = page(report)
    elements = Elements(text)
    body = text.index("<main>")
    assert escaped(TITLES[verdict]) in text[body : body + 700]
    assert f'class="sheet verdict is-{verdict.value}"' in text
    assert f'id="icon-{verdict.value}"' in text
    places = [text.index(part) for part in ('aria-label="verdict"', "<h2>findings", "<h2>settings")]
    assert places == sorted(places)
    if steps:
        assert text.index("what this verdict does not say") < text.index("<h2>summary")
        for sentence in report_samples.SCOPE:
            assert sentence in elements.text


@pytest.mark.parametrize("severity", Severity)
def test_every_severity_is_shown_with_its_ident_and_notes(severity: Severity) -> None:
    finding = Finding("support-hole", severity, "some words", position=0, notes=("a note",))
    elements = Elements(page(report_samples.report(report_samples.FAILING, finding)))
    assert f"{severity.value}[support-hole] some words" in elements.text
    assert "a note" in elements.text
    allowed = replace(finding, allowed=True, severity=Severity.ERROR)
    text = Elements(page(report_samples.report(report_samples.FAILING, allowed))).text
    assert "allowed[support-hole] some words" in text


def test_a_lesson_has_cause_line_to_paste_table_and_page() -> None:
    finding = replace(report_samples.FINDING, cause=("first repair", "second repair"))
    elements = Elements(page(report_samples.report(report_samples.FAILING, finding)))
    assert "proven cause: equality returns with either smallest repair" in elements.text
    assert elements.text.index("first repair") < elements.text.index("second repair")
    assert finding.reproduce in elements.text
    assert "' an' 1/16 0 1/16 0 -1/16 -0.0625" in elements.text
    assert "draft, temperature 1, top-p 9/10" in elements.text
    assert "What it checks" in elements.text
    copies = [b for b in elements.all("button") if b.get("class") == "copy"]
    assert len(copies) == 1
    assert copies[0]["aria-label"] == "copy this line"


def test_every_finding_has_a_page_to_unfold() -> None:
    for entry in CATALOGUE:
        finding = Finding(entry.ident, Severity.ERROR, "words", position=0)
        text = Elements(page(report_samples.report(report_samples.FAILING, finding))).text
        assert f"what {entry.ident} means and how to fix it" in text, entry.ident


def test_the_masses_are_those_of_the_report() -> None:
    packed = data_of(page(report_samples.failing()))
    position = packed["steps"][0]["p"][0]
    for token, line in zip(position["t"], report_samples.FAILING.tokens, strict=True):
        name, reference, drafted, tested, accepted, recovered, output, difference, residual = token
        assert packed["texts"][name][0] == repr(line.text)
        told = (reference, drafted, tested or drafted, accepted, recovered, output or reference)
        columns = ("reference", "drafted", "tested", "accepted", "recovered", "output")
        assert told == tuple(str(getattr(line, column).exact) for column in columns)
        assert difference == str(line.difference.exact)
        assert residual == str(line.residual.exact)
    assert "rest" not in position


def test_tokens_that_are_not_shown_are_told_together() -> None:
    packed = data_of(page(report_samples.failing(), show=2))
    position = packed["steps"][0]["p"][0]
    names = [packed["texts"][token[0]][0] for token in position["t"]]
    assert names == ["' an'", "' the'"]
    count, reference, drafted, accepted, recovered, output = position["rest"]
    assert (count, reference, drafted) == (2, "7/16", "11/15")
    assert (accepted, recovered, output) == ("7/15", "0", "7/15")


def test_long_fractions_are_told_in_full_where_there_is_room() -> None:
    packed = data_of(page(thousand(2, 1)))
    label, exact, bound = packed["steps"][0]["p"][0]["t"][0][1]
    line = thousand(2, 1).steps[0].positions[0].tokens[0]
    assert exact == str(line.reference.exact)
    assert float(label) == pytest.approx(line.reference.approx, rel=1e-5)
    assert bound == "7.2e-15"


@pytest.mark.parametrize(("positions", "failing"), [(1, False), (4, True)])
def test_a_thousand_steps_stay_small_and_say_what_is_left_out(
    positions: int, failing: bool
) -> None:
    text = page(thousand(1000, positions, failing))
    assert len(text.encode()) < LIMIT
    packed = data_of(text)
    assert len(packed["steps"]) == 1000
    bare = [step for step in packed["steps"] if "t" not in step["p"][0]]
    said = re.findall(r"(\d+) steps? without the masses of tokens", text)
    assert said == ([str(len(bare))] if bare else [])
    assert bool(bare) is (positions == 4)
    assert "long fractions are shown with six digits" in text
    assert all(step["v"] == "equal" for step in bare)


def test_more_steps_than_a_page_holds_are_counted() -> None:
    base = report_samples.passing()
    only = replace(base.steps[0], positions=(replace(report_samples.PASSING, tokens=()),))
    steps = tuple(replace(only, id=f"row:{number}") for number in range(30_000))
    text = page(replace(base, steps=steps, summary=replace(base.summary, steps=len(steps))))
    assert len(text.encode()) < LIMIT
    listed = len(data_of(text)["steps"])
    assert listed > 1_000
    assert f"{len(steps) - listed} steps not listed" in text


def test_the_budget_leaves_room_for_everything_else() -> None:
    empty = len(skeleton("", "", None, SCRIPTS).encode())
    assert empty + LARGEST < LIMIT - 250_000


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.json")))
def test_every_sample_is_written(name: str, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    done = run("check", SAMPLES / name, "--export", f"html={target}", "--format", "json")
    text = target.read_text(encoding="utf-8")
    elements = Elements(text)
    assert elements.open == []
    assert [step["v"] for step in data_of(text)["steps"]] == [
        step["verdict"] for step in done.json()["steps"]
    ]
    for sentence in done.json()["scope"]:
        assert sentence in elements.text
