"""One finding of an audit as a lesson: where, the laws side by side, a line that shows it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specdist.model.audit_report import (
    AuditReport,
    DraftLine,
    SequenceLine,
    Smallest,
    TableResult,
    Tokens,
)
from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.reports import layout, page
from specdist.reports.audit_words import Sizes, extent, margin, worst
from specdist.reports.difference_text import TITLE, differences
from specdist.reports.figure_text import Numerals, fraction
from specdist.reports.finding_text import headline
from specdist.reports.forms.clean_text import one_line
from specdist.reports.view import View, is_zero, plural

_BAR = "   |"
_MOST_EXCEPTIONS = 5
_NUMBERS = 40


def lesson(report: AuditReport, finding: Finding, view: View) -> list[str]:
    """The whole text of a finding."""
    table = table_of(report, finding)
    lines = short(finding, view)
    lines += layout.wrap(place_of(report, table), "  --> ", "      ")
    panels = [] if table is None else _panels(report, finding, table, view)
    for panel in panels:
        lines += [_BAR, *(f"{_BAR}  {line}".rstrip() for line in panel)]
    lines += [_BAR] if panels else []
    of_exceptions = is_of_exceptions(report, finding)
    for said in finding.notes:
        if not (panels and _is_shown(said, table, of_exceptions)):
            lines += layout.wrap(one_line(said), "   = note: ")
    if report.smallest is not None and finding.ident == "output-mismatch" and not of_exceptions:
        lines += _rows(report.smallest, Sizes.of(report, view.numerals))
    lines += _known_faults(finding)
    if finding.reproduce:
        lines += layout.command(finding.reproduce, "   = reproduce: ")
    of_law = finding.ident == "output-mismatch" and not of_exceptions
    pages = (finding.ident, "audit") if of_law else (finding.ident,)
    return lines + [f"   = explain: specdist explain {name}" for name in pages]


def note(finding: Finding, view: View) -> list[str]:
    """A finding that is only worth a note."""
    lines = short(finding, view)
    for said in finding.notes:
        lines += layout.wrap(one_line(said), "   = ", "     ")
    return lines


def short(finding: Finding, view: View) -> list[str]:
    """``error[output-mismatch]: ...``; what an exception of the audited code says has no escapes
    of a terminal left."""
    return headline(replace(finding, message=one_line(finding.message)), view).split("\n")


def _is_shown(said: str, table: TableResult | None, of_exceptions: bool) -> bool:
    """Whether the panel of the finding shows already what a note says."""
    if of_exceptions:
        return table is not None and any(raised.place == said for raised in table.raised)
    return said.startswith(("drafted from (", "handed to the test ("))


def place_of(report: AuditReport, table: TableResult | None) -> str:
    """``FILE.py:step, table a zero in the target, 3 tokens, 2 draft tokens, 2 steps``."""
    named = "" if table is None else f", table {table.name}"
    return f"{one_line(report.source)}{named}, {extent(report)}"


def is_of_exceptions(report: AuditReport, finding: Finding) -> bool:
    """Whether a finding is about what the audited code raises: it quotes the exception."""
    said = (raised.error for table in report.tables for raised in table.raised)
    return finding.ident == "output-mismatch" and any(text in finding.message for text in said)


def table_of(report: AuditReport, finding: Finding) -> TableResult | None:
    """The table that a finding speaks of: the one that shows it most."""
    if is_of_exceptions(report, finding):
        raising = [table for table in report.tables if table.raised]
        return max(raising, key=lambda table: table.raised[0].mass.approx, default=None)
    if finding.ident == "drafted-mismatch":
        drafted = [table for table in report.tables if table.draft is not None]
        return max(drafted, key=lambda t: _of_draft(t).approx, default=None)
    if finding.ident == "impossible-token":
        return max(report.tables, key=lambda table: table.outside.approx, default=None)
    return worst(report)


def _of_draft(table: TableResult) -> Figure:
    return Figure.of(0) if table.draft is None else table.draft.total_variation


def _panels(
    report: AuditReport, finding: Finding, table: TableResult, view: View
) -> list[list[str]]:
    room = page.columns() - len(_BAR) - 2
    if is_of_exceptions(report, finding):
        return [exceptions(report, table, view, room)]
    if finding.ident == "drafted-mismatch" and table.draft is not None:
        return [draft_rows(report, table.draft, view, room)]
    if finding.ident == "impossible-token":
        outside = tuple(line for line in table.lines if is_zero(line.reference))
        shown = replace(table, lines=outside, sequences=len(outside))
        return [sequences(report, shown, view, room)] if outside else []
    if finding.ident == "output-mismatch":
        return [sequences(report, table, view, room)]
    return []


def sequences(report: AuditReport, table: TableResult, view: View, room: int) -> list[str]:
    """The sequences that differ most, the largest difference first."""
    sizes = Sizes.of(report, view.numerals)
    known = [
        tuple(sizes.known(figure) for figure in (line.reference, line.output, line.difference))
        for line in table.lines
    ]
    shown = known if view.limit is None else known[: view.limit]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        ends = differences([difference for _, _, difference in shown], numerals, digits)
        rows = [
            [
                written(line.tokens, room),
                numerals.number(reference, digits),
                numerals.number(output, digits),
                end,
            ]
            for line, (reference, output, _), end in zip(table.lines, shown, ends, strict=False)
        ]
        return layout.table(["tokens", "reference", "output", TITLE], rows, gap=gap, least=7)

    lines, wide = view.table(build, room)
    hidden = table.sequences - len(shown)
    if hidden > 0:
        lines.append(f"... {plural(hidden, 'more sequence')}")
    return lines + (_exact_values(table.lines, shown, room) if wide else [])


def _exact_values(
    lines: Sequence[SequenceLine], shown: Sequence[tuple[Figure, ...]], room: int
) -> list[str]:
    """The exact values that are too long for the table, one a line."""
    listed = ["", "exact values"]
    for line, figures in zip(lines, shown, strict=False):
        for name, figure in zip(("reference", "output", "difference"), figures, strict=True):
            if figure.exact is not None and not Numerals().is_fraction(figure):
                listed.append(f"{written(line.tokens, room)}  {name}  {fraction(figure.exact)}")
    return listed if len(listed) > 2 else []


def written(tokens: Tokens, room: int) -> str:
    """``0 1 2``, beside three numbers in that room, shortened in its middle where it is long."""
    return page.shortened(" ".join(map(str, tokens)), max(room - _NUMBERS, 12))


def exceptions(report: AuditReport, table: TableResult, view: View, room: int) -> list[str]:
    """What is raised, with its probability and its place."""
    sizes = Sizes.of(report, view.numerals)
    found = table.raised if view.limit is None else table.raised[:_MOST_EXCEPTIONS]
    masses = [sizes.rate(raised.mass) + margin(table) for raised in found]
    width = max(map(len, ["probability", *masses]))
    lines = [f"{'probability':<{width}}  exception"]
    for raised, mass in zip(found, masses, strict=True):
        lines += layout.wrap(one_line(raised.error), f"{mass:<{width}}  ", width=room)
        if raised.place:
            indent = " " * (width + 2)
            lines += layout.wrap(one_line(raised.place), f"{indent}at ", indent, width=room)
    hidden = len(table.raised) - len(found)
    return [*lines, f"... {plural(hidden, 'more exception')}"] if hidden else lines


def draft_rows(report: AuditReport, draft: DraftLine, view: View, room: int) -> list[str]:
    """The law that draft tokens were drawn from, beside the row that was handed to the test."""
    sizes = Sizes.of(report, view.numerals)
    pairs = [
        (sizes.known(handed), sizes.known(drawn))
        for handed, drawn in zip(draft.handed, draft.drawn, strict=True)
    ]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = [
            [str(token), *(numerals.number(figure, digits) for figure in pair)]
            for token, pair in enumerate(pairs)
        ]
        return layout.table(["token", "drawn from", "handed to the test"], _swapped(rows), gap=gap)

    lines, _ = view.table(build, room)
    after = f"after tokens {written(draft.prefix, room)}" if draft.prefix else "first draft token"
    return [after, *lines]


def _swapped(rows: Sequence[list[str]]) -> list[list[str]]:
    return [[token, drawn, handed] for token, handed, drawn in rows]


def _rows(smallest: Smallest, sizes: Sizes) -> list[str]:
    """The first rows of the smallest case."""

    def row(figures: Sequence[Figure]) -> str:
        return ", ".join(sizes.numerals.number(sizes.known(figure)) for figure in figures)

    text = f"its first rows: target {row(smallest.target)}; draft {row(smallest.drafted)}"
    return layout.wrap(text, "   = note: ")


def _known_faults(finding: Finding) -> list[str]:
    """The known wrong rules that have this very law."""
    if not finding.cause:
        return []
    several = len(finding.cause) > 1
    head = "known fault: this very law is that of" + (" each of" if several else "")
    lines = layout.wrap(f"{head}:", "   = ", "     ")
    for number, words in enumerate(finding.cause, 1):
        lines += layout.wrap(
            one_line(words), f"           {number}. " if several else "           "
        )
    return lines
