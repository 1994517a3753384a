"""CSV by RFC 4180: a row a position, of a replay a row a step, of an audit a row a table.

Lines end in CRLF; texts with commas or quotes are quoted, line breaks in them are escaped. Numbers
are decimals; ``_exact`` is the fraction, ``_bound`` how far rounding may have moved the number,
``_least`` and ``_most`` the interval where rows are known in part. A text that a spreadsheet would
take for a formula (it begins with ``=``, ``+``, ``-`` or ``@``; see OWASP, "CSV Injection") has an
apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from fractions import Fraction

from specdist.exact.interval import Interval
from specdist.exact.outward import outward_float
from specdist.model.audit_report import AuditReport, Mode
from specdist.model.figure import Figure
from specdist.model.partial_report import BoundedPosition
from specdist.model.replay_report import ReplayReport
from specdist.model.report import PositionResult, Report, StepResult
from specdist.reports.forms.clean_text import one_line
from specdist.reports.forms.form import AnyReport, FormOptions
from specdist.reports.json_numbers import number

_NUMBERS = ("acceptance_rate", "reference_acceptance_rate", "rejected_mass", "total_variation")
_FORMS = ("", "_exact", "_bound", "_least", "_most")
_PLACE = ("source", "step", "position", "verdict", "step_verdict", "rule", "vocab_size")
HEADER = (*_PLACE, *(name + form for name in _NUMBERS for form in _FORMS))
REPLAY_HEADER = ("source", "sequence", "step", "drafted", "accepted", "emitted", "final")
_AUDITED = ("total_variation", "first_variation", "outside", "raised", "bound")
_TABLE = ("source", "table", "verdict", "mode", "length", "leaves", "sequences")
AUDIT_HEADER = (*_TABLE, *(name + form for name in _AUDITED for form in _FORMS[:2]))

Cells = list[str]
Figures = dict[str, Figure | Interval]


def render(report: AnyReport, options: FormOptions) -> str:
    """The table with its header."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\r\n")
    if isinstance(report, Report):
        rows.writerow(HEADER)
        rows.writerows(row for step in report.steps for row in _rows(step, options.exact))
    elif isinstance(report, AuditReport):
        rows.writerow(AUDIT_HEADER)
        rows.writerows(_audited(report, options.exact))
    else:
        rows.writerow(REPLAY_HEADER)
        rows.writerows(_replayed(report))
    return written.getvalue()


def _rows(step: StepResult, exact: bool) -> Iterator[Cells]:
    """The positions in order, the bonus row last; of a step over conditional models the places of
    its output, and the step as a whole first."""
    joint = step.joint
    if joint is not None:
        whole: Figures = {"total_variation": joint.total_variation}
        yield _row(step, "", step.verdict.value, joint.vocab_size, whole, exact)
        for place in joint.marginals:
            found: Figures = {"total_variation": place.total_variation}
            yield _row(step, str(place.index), "", joint.vocab_size, found, exact)
    parts: list[PositionResult | BoundedPosition] = [*step.positions, *step.bounded]
    for part in sorted(parts, key=lambda part: part.index):
        named: Figures = {n: getattr(part, n) for n in _NUMBERS if hasattr(part, n)}
        yield _row(step, str(part.index), part.verdict.value, part.vocab_size, named, exact)
    for bonus in (step.bonus, step.bounded_bonus):
        if bonus is not None:
            last: Figures = {"total_variation": bonus.total_variation}
            yield _row(step, "bonus", bonus.verdict.value, bonus.vocab_size, last, exact)


def _row(
    step: StepResult, position: str, verdict: str, size: int | None, named: Figures, exact: bool
) -> Cells:
    place = [safe_text(step.source), safe_text(step.id), position, verdict, step.verdict.value]
    place += [safe_text(step.rule), "" if size is None else str(size)]
    return place + [cell for name in _NUMBERS for cell in figure_cells(named.get(name), exact)]


def figure_cells(figure: Figure | Interval | None, exact: bool) -> Cells:
    """The number in each of its forms; empty where it has none."""
    if figure is None:
        return [""] * len(_FORMS)
    if isinstance(figure, Interval):
        least, most = outward_float(figure.least, False), outward_float(figure.most, True)
        return ["", "", "", repr(least), repr(most)]
    shown = number(figure, exact)
    bound = shown.get("bound")
    return [
        repr(shown["approx"]),
        shown["exact"] or "",
        "" if bound is None else repr(bound),
        "",
        "",
    ]


def _replayed(report: ReplayReport) -> Iterator[Cells]:
    for step in report.steps:
        counts = (step.sequence, step.step, step.drafted, step.accepted, step.emitted)
        yield [safe_text(step.source), *map(str, counts), step.kind.value]


def _audited(report: AuditReport, exact: bool) -> Iterator[Cells]:
    """The tables; numbers of a probe have no exact form."""
    for table in report.tables:
        raised = [one.mass.exact or Fraction(one.mass.approx) for one in table.raised]
        figures = (
            *(table.total_variation, table.first_variation, table.outside),
            Figure.of(sum(raised, Fraction(0))),
            table.bound,
        )
        cells = [safe_text(report.source), safe_text(table.name), table.verdict.value]
        cells += [report.mode.value, *map(str, (table.length, table.leaves, table.sequences))]
        for figure in figures:
            known = (
                figure
                if figure is None or report.mode is Mode.TRACED
                else Figure(figure.approx, None)
            )
            cells += figure_cells(known, exact)[:2]
        yield cells


def safe_text(text: str) -> str:
    """A text that no spreadsheet evaluates."""
    text = one_line(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
