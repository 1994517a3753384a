"""The text report of an audit: findings, the tables, how the law was found, the verdict last."""

from __future__ import annotations

from collections import Counter

from specdist.model.audit_report import AuditReport, Mode, TableResult
from specdist.model.figure import Figure
from specdist.model.finding import Severity
from specdist.model.outcome import Outcome, audit_outcome
from specdist.model.verdict import Verdict
from specdist.reports import audit_lesson, layout, page
from specdist.reports.audit_words import Sizes, against, extent, magnitude, margin, worst
from specdist.reports.figure_text import Numerals
from specdist.reports.forms.clean_text import one_line
from specdist.reports.view import View, is_zero, plural

_LESSONS = 3
_MODES = {
    Mode.TRACED: "traced: the code is run once for every branch, masses are exact",
    Mode.PROBE: "probe: numbers are fed and branches sought by bisection; a bound, no proof",
}
_STYLES = {Outcome.PASSED: "good", Outcome.FAILED: "bad", Outcome.UNDECIDED: "warn"}


def render(report: AuditReport, view: View) -> str:
    """The report as text of at most 80 columns, ending in a line break."""
    if view.quiet:
        return _quiet(report, view)
    loud = [each for each in report.findings if each.severity is not Severity.NOTE]
    notes = [each for each in report.findings if each.severity is Severity.NOTE]
    lines: list[str] = []
    for number, each in enumerate(loud):
        if view.verbose or number < _LESSONS:
            lines += [*audit_lesson.lesson(report, each, view), ""]
        else:
            lines += [*audit_lesson.short(each, view), ""]
    lines += [*_facts(report), "", *table_lines(report, view), ""]
    if view.verbose:
        lines += _laws(report, view)
    for each in notes:
        lines += audit_lesson.note(each, view)
    lines += [""] if notes else []
    if left := page.left_out():
        lines += [*left, ""]
    if report.scope:
        lines += [*layout.wrap(f"scope: {one_line('; '.join(report.scope))}", "", "  "), ""]
    return "\n".join([*lines, *verdict_lines(report, view)]) + "\n"


def _quiet(report: AuditReport, view: View) -> str:
    lines = []
    for each in report.findings:
        if each.severity is not Severity.NOTE:
            word = "allowed" if each.allowed else each.severity.value
            lines.append(f"{word}[{each.ident}]: " + one_line(f"{report.source}: {each.message}"))
    return "\n".join([*lines, *verdict_lines(report, view)]) + "\n"


def _facts(report: AuditReport) -> list[str]:
    """What was run, and how."""
    size = f"{plural(len(report.tables), 'table')}, {extent(report)}"
    lines = layout.wrap(f"{one_line(report.source)}  {size}", "", "  ")
    facts = facts_of(report)
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        lines += layout.wrap(one_line(text), f"  {name:<{width}}  ")
    return lines


def facts_of(report: AuditReport) -> list[tuple[str, str]]:
    """Mode, rows, what is compared, grids, runs, versions and notes, under their names."""
    said = report.settings
    leaves = sum(table.leaves for table in report.tables)
    runs = (
        f"{magnitude(report.runs)}: {magnitude(leaves)} {'leaf' if leaves == 1 else 'leaves'} "
        f"({magnitude(report.predicted)} predicted), {magnitude(report.replays)} "
        f"{'replay' if report.replays == 1 else 'replays'}"
    )
    rows = " ".join(str(said[name]) for name in ("framework", "dtype") if name in said)
    found = [
        ("mode", _MODES[report.mode]),
        ("rows", f"{rows}, multiples of 1/64" if rows else ""),
        ("compared", f"with {against(report)}, {_joint(report)}"),
        ("grids", "; ".join(report.grids)),
        ("runs", runs),
        ("bound", _bound(report)),
        ("versions", ", ".join(f"{name} {known}" for name, known in report.versions.items())),
        *(("note", note) for note in report.notes),
    ]
    return [(name, text) for name, text in found if text]


def _bound(report: AuditReport) -> str:
    """How sure a probe is, and of what; empty for traced laws and where no table has a bound."""
    if not any(table.bound is not None for table in report.tables):
        return ""
    said = {name: report.settings.get(name) for name in ("replays", "confidence")}
    replays = f"{said['replays']} random runs" if said["replays"] else "random runs"
    sure = f", with confidence {said['confidence']}" if said["confidence"] else ""
    return f"{replays} a table came out as foretold: wrong by at most what follows +-{sure}"


def _joint(report: AuditReport) -> str:
    """Which law: that of the longest output of a table."""
    lengths = sorted({table.length for table in report.tables if table.length})
    if not lengths:
        return "no law"
    several = f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else str(lengths[-1])
    return f"joint law of {several} token{'s' if lengths[-1] > 1 else ''}"


def table_lines(report: AuditReport, view: View) -> list[str]:
    """A line a table; on a narrow page the last column stays."""
    sizes = Sizes.of(report, view.numerals)

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        def number(figure: Figure) -> str:
            return numerals.number(sizes.known(figure), min(digits, 4))

        rows = [
            [
                table.name,
                sizes.verdict(table),
                f"{table.leaves:,}",
                number(table.outside),
                (">= " if table.unexplored is not None else "")
                + number(table.total_variation)
                + margin(table),
            ]
            for table in report.tables
        ]
        header = ["table", "verdict", "leaves", "outside", "total variation"]
        return layout.table(header, rows, gap=gap)

    lines, _ = view.table(build, page.columns())
    return lines


def _laws(report: AuditReport, view: View) -> list[str]:
    """Every table with its sequences, its draft position and what it raises."""
    lines: list[str] = []
    for table in report.tables:
        lines += layout.wrap(f"{table.name}: total variation {_sizes(report, table, view)}")
        room = page.columns() - 2
        parts = [audit_lesson.sequences(report, table, view, room)]
        if table.draft is not None and not is_zero(table.draft.total_variation):
            parts.append(audit_lesson.draft_rows(report, table.draft, view, room))
        if table.raised:
            parts.append(audit_lesson.exceptions(report, table, view, room))
        for part in parts:
            lines += [*(f"  {line}".rstrip() for line in part), ""]
    return lines


def _sizes(report: AuditReport, table: TableResult, view: View) -> str:
    sizes = Sizes.of(report, view.numerals)
    return f"{sizes.size(table)}, of the first token {sizes.rate(table.first_variation)}"


def verdict_lines(report: AuditReport, view: View) -> list[str]:
    """What was proven, and the counts of the tables."""
    text, counts = summary(report, view)
    first, *rest = layout.wrap(text, "", "    ")
    word, colon, said = first.partition(":")
    style = _STYLES.get(audit_outcome(report), "warn")
    return [view.paint(style, word + colon) + said, *rest, *layout.wrap(counts, "", "  ")]


def summary(report: AuditReport, view: View) -> tuple[str, str]:
    """The same, each on a line however long it is."""
    return _verdict(report, Sizes.of(report, view.numerals)), _counts(report)


def _counts(report: AuditReport) -> str:
    """``4 tables audited: 0 equal, 4 within rounding, 0 different, 0 undecided``."""
    counts = Counter(table.verdict for table in report.tables)
    equal, within = counts[Verdict.EQUAL], counts[Verdict.WITHIN_TOLERANCE]
    listed = [f"{equal} equal", *([f"{within} within rounding"] if within else [])]
    if report.mode is Mode.PROBE:
        listed = [f"{equal + within} without a difference found"]
    listed += [f"{counts[each]} {each}" for each in (Verdict.DIFFERENT, Verdict.UNDECIDED)]
    return f"{plural(len(report.tables), 'table')} audited: {', '.join(listed)}"


def _verdict(report: AuditReport, sizes: Sizes) -> str:
    most = worst(report)
    if most is None:
        return "nothing audited: no table"
    over = f"over {plural(len(report.tables), 'table')}, {_joint(report)}"
    reach = "" if most.unexplored is not None else " at most"
    size = f"total variation {sizes.size(most)}{reach} {over}"
    if report.verdict is Verdict.DIFFERENT:
        allowed = ", allowed" if audit_outcome(report) is Outcome.PASSED else ""
        return f"not lossless{allowed}: {size}"
    if report.verdict is Verdict.UNDECIDED:
        return f"undecided: {size}"
    passed = audit_outcome(report) is Outcome.PASSED
    word = "ok" if passed else "failed by a finding"
    if report.mode is Mode.PROBE:
        return f"{word}: no difference found: {size}"
    if report.verdict is Verdict.EQUAL:
        return f"{word}: the law is exactly that of {against(report)}, no tolerance {over}"
    return f"{word}: lossless up to float rounding: {size}"
