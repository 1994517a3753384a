"""JUnit XML, the form that Jenkins, GitLab and GitHub test reporters read.

There is no standard; the XML schema that the xUnit plugin of Jenkins publishes (junit-10.xsd) is
the strictest common description, and this form is valid by it. A suite is a capture, a test case a
step (of a replay: a kind of check), and what concerns the run is a suite of its own in front.

JUnit knows no "undecided", and a skipped test leaves a pipeline green. So an undecided step is
skipped, with its reason, and the run has in addition a test case "verdict" that is an error:
a file holds a failure or an error exactly where the exit code is not 0. A step that differs and is
allowed is skipped too, for it is no pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from specdist.model.outcome import Outcome
from specdist.reports.forms import entries
from specdist.reports.forms.clean_text import one_line, printable
from specdist.reports.forms.entries import Entry, Weight
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.forms.shown_figures import figure_texts, setting_texts
from specdist.reports.outline import Case, Outline, file_of
from specdist.reports.outlines import outline_of

IN_FULL = 5_000
"""Lessons of a report: a thousand are a megabyte or more, and nobody reads further."""
LEFT_OUT = f"(the text is left out after {IN_FULL:,}: specdist check --select STEP shows it)"

_RED = (Weight.BROKEN, Weight.FAILS)
_KINDS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(slots=True)
class _Suite:
    """``counts`` by kind of child; ``names`` makes names unique, for readers drop doubles."""

    name: str
    cases: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, child: str = "", kind: str = "", said: str = "") -> None:
        """A test case: ``child`` is its failure, error or skip, ``said`` its output."""
        name = self._unique(name)
        self.counts[kind] += 1
        head = f"    <testcase name={_quoted(name)} classname={_quoted(self.name)}"
        body = child + (f"      <system-out>{_body(said)}</system-out>\n" if said else "")
        self.cases.append(f"{head}>\n{body}    </testcase>\n" if body else f"{head}/>\n")

    def _unique(self, name: str) -> str:
        """The name, with a number behind it where it was taken."""
        self.names[name] += 1
        if self.names[name] == 1:
            return name
        return self._unique(f"{name} #{self.names[name]}")


@dataclass(slots=True)
class _Lessons:
    """The long texts of a report; ``left``: how many more may be written."""

    left: int = IN_FULL

    def of(self, told: Iterable[Entry]) -> str:
        """Those of the entries, one below the other."""
        return "\n\n".join(filter(None, map(self._lesson, told)))

    def _lesson(self, entry: Entry) -> str:
        self.left -= 1
        return entry.lesson if self.left >= 0 else f"{entry.message}\n{LEFT_OUT}"


def render(report: AnyReport, options: FormOptions) -> str:
    """The whole document, ending in a line break."""
    outline = outline_of(report, options)
    suites = [suite for suite in _suites(outline) if suite.cases]
    total: Counter[str] = Counter()
    for suite in suites:
        total.update(suite.counts)
    counted = "".join(f" {_KINDS[kind]}={_quoted(total[kind])}" for kind in ("failure", "error"))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>\n']
    lines.append(f'<testsuites name="specdist" tests="{sum(total.values())}"{counted}>\n')
    facts = list(_properties(outline, options))
    for suite in suites:
        lines += _written(suite, facts, outline.version)
        facts = []
    return "".join([*lines, "</testsuites>\n"])


def _suites(outline: Outline) -> list[_Suite]:
    """The run in front, then the captures in the order in which they were read."""
    run, lessons = _Suite(f"specdist {outline.command}"), _Lessons()
    suites: dict[str, _Suite] = {}
    for case in outline.cases:
        suite = suites.setdefault(case.source, _Suite(case.source))
        _add_case(suite, case, outline.outcome, lessons)
    for entry in entries.of_run(outline):
        if entry.weight is Weight.BROKEN:
            suite = suites.setdefault(entry.source, _Suite(entry.source))
            suite.add(one_line(entry.ident), _child("error", [entry], lessons), "error")
        else:
            _add_finding(run, entry, lessons)
    red = sum(s.counts["failure"] + s.counts["error"] for s in (run, *suites.values()))
    if outline.outcome is not Outcome.PASSED and not red:
        kind = "failure" if outline.outcome is Outcome.FAILED else "error"
        told = [entries.of_outcome(outline, Weight.BROKEN)]
        run.add("verdict", _child(kind, told, lessons), kind)
    return [run, *suites.values()]


def _add_finding(run: _Suite, entry: Entry, lessons: _Lessons) -> None:
    """A finding of the run, such as a floor that is missed."""
    if entry.weight in _RED:
        run.add(entry.ident, _child("failure", [entry], lessons), "failure")
    elif entry.weight in (Weight.OPEN, Weight.ALLOWED):
        run.add(entry.ident, _child("skipped", [entry], lessons), "skipped")
    else:
        run.add(entry.ident, said=lessons.of([entry]))


def _add_case(suite: _Suite, case: Case, run: Outcome, lessons: _Lessons) -> None:
    """A step. A check of a replay may differ in what is only worth a warning: it is red only where
    the run fails."""
    found = entries.of_case(case)
    red = [entry for entry in found if entry.weight in _RED]
    rest = [entry for entry in found if entry.weight not in _RED]
    kind, told = "", red
    if red and run is Outcome.FAILED:
        kind = "failure"
    elif case.outcome not in (Outcome.PASSED, Outcome.FAILED) or red:
        kind = "skipped"
        weights = (*_RED, Weight.OPEN, Weight.ALLOWED)
        told = [entry for entry in found if entry.weight in weights] or [_plain(case)]
        rest = [entry for entry in found if entry.weight not in weights]
    child = _child(kind, told, lessons) if kind else ""
    suite.add(one_line(case.id), child, kind, lessons.of(rest))


def _plain(case: Case) -> Entry:
    return Entry(case.outcome.value, Weight.NOTE, case.verdict, str, case.source, case.id)


def _child(kind: str, told: Sequence[Entry], lessons: _Lessons) -> str:
    """``<failure message="..." type="IDENT">lesson</failure>``; further findings below."""
    first = told[0]
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    message = _quoted(f"{_word(first)}{first.ident}: {first.message}{more}")
    lesson = _body(lessons.of(told))
    head = f"      <{kind} message={message} type={_quoted(first.ident)}"
    return f"{head}>{lesson}</{kind}>\n" if lesson else f"{head}/>\n"


def _word(entry: Entry) -> str:
    """Why it is skipped, for readers that show the message alone."""
    if entry.weight is Weight.ALLOWED:
        return "allowed: "
    is_told = entry.weight is not Weight.OPEN or entry.ident.startswith("undecided")
    return "" if is_told else "undecided: "


def _written(suite: _Suite, facts: Iterable[tuple[str, str]], version: str) -> Iterator[str]:
    counted = "".join(f' {name}="{suite.counts[kind]}"' for kind, name in _KINDS.items())
    file = file_of(suite.name) if suite.cases else ""
    where = f" file={_quoted(file)}" if file and not suite.name.startswith("specdist ") else ""
    tests = sum(suite.counts.values())
    yield f'  <testsuite name={_quoted(suite.name)} tests="{tests}"{counted}{where}'
    yield f" version={_quoted(version)}>\n"
    properties = [f"      <property name={_quoted(k)} value={_quoted(v)}/>\n" for k, v in facts]
    if properties:
        yield "".join(["    <properties>\n", *properties, "    </properties>\n"])
    yield from suite.cases
    yield "  </testsuite>\n"


def _properties(outline: Outline, options: FormOptions) -> Iterator[tuple[str, str]]:
    """The run in named texts: verdict, figures, what was assumed, the scope, the settings."""
    yield "verdict", outline.verdict
    yield "summary", outline.headline
    yield from figure_texts(outline.figures, options.exact)
    yield from (("read as", fact) for fact in outline.facts)
    yield from (("baseline", line.strip()) for line in outline.against)
    yield from (("scope", sentence) for sentence in outline.scope)
    settings: Mapping[str, str] = setting_texts(outline.settings)
    yield from ((f"setting {name}", value) for name, value in settings.items())


def _quoted(text: object) -> str:
    return quoteattr(one_line(str(text)))


def _body(text: str) -> str:
    return escape(printable(text))
