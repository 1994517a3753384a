"""The text report: failures first, worst first; then what the run comes to; the counts last."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.capture import Unreadable
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.outcome import Outcome, outcome_of
from specdist.model.report import Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import (
    aggregate,
    baseline_text,
    cost_text,
    counters_text,
    finding_text,
    layout,
    page,
    pass_text,
)
from specdist.reports.scope_text import scope_lines
from specdist.reports.view import View, place, plural

_LESSONS = 3

Located = tuple[StepResult, Finding]


def render(report: Report, view: View) -> str:
    """The report as text of at most 80 columns, ending in a line break."""
    found: dict[Severity, list[Located]] = {severity: [] for severity in Severity}
    for step in report.steps:
        for finding in step.findings:
            found[finding.severity].append((step, finding))
    if view.quiet:
        loud = [*_worst_first(found[Severity.ERROR]), *found[Severity.WARNING]]
        return _quiet(report, loud, view)
    found = {severity: _alone(pairs) for severity, pairs in found.items()}
    errors, warnings = _worst_first(found[Severity.ERROR]), found[Severity.WARNING]
    lines = _failures(errors, view)
    lines += _run_findings(report, view)
    lines += _folded(warnings, view)
    if not errors or view.verbose:
        lines += _passes(report, view)
    else:
        lines += _spaced(pass_text.read_as(report, view))
        lines += _spaced(pass_text.paths(report, view))
    lines += _proven(report, view) or aggregate.lines(report, view)
    lines += cost_text.of_steps(report, view)
    lines += _folded(found[Severity.NOTE], view)
    lines += _counters(report)
    against = baseline_text.lines(report, view)
    lines += ["", *against] if lines and lines[-1] and against else against
    lines += skipped(report.not_captures)
    if left := page.left_out():
        lines += [*([""] if lines and lines[-1] else []), *left]
    scope = scope_lines(report)
    if scope and lines and lines[-1]:
        lines.append("")
    return "\n".join([*lines, *scope, *summary(report)]) + "\n"


def _alone(pairs: Sequence[Located]) -> list[Located]:
    """Without the findings that are shown inside another one."""
    return [pair for pair in pairs if pair[1].shown is Shown.ALONE]


def _worst_first(errors: Sequence[Located]) -> list[Located]:
    """Allowed findings last; before them the largest total variation first."""
    return sorted(errors, key=lambda pair: (pair[1].allowed, -aggregate.size_of(*pair)))


def _quiet(report: Report, loud: Sequence[Located], view: View) -> str:
    """A line a finding whatever its length, so that line-based tools can read it."""
    lines = [_labelled(*_in_a_line(*pair, view), view) for pair in loud]
    lines += [finding_text.headline(finding, view) for finding in report.findings]
    for item in report.unreadable:
        text = f"{item.place or item.source}: {item.message}"
        lines.append(_labelled(f"error[{item.ident}]:", "bad", text, view))
    return "\n".join([*lines, *summary(report)]) + "\n"


def _failures(errors: Sequence[Located], view: View) -> list[str]:
    """The worst few with their lesson, the next as a line each, then a count. With -v: all."""
    most = len(errors) if view.limit is None else max(view.limit, 1)
    lessons = most if view.limit is None else min(most, _LESSONS)
    lines: list[str] = []
    for step, finding in errors[:lessons]:
        lines += [*finding_text.block(step, finding, view), ""]
    rest = [line for pair in errors[lessons:most] for line in _lines(*pair, view)]
    hidden = len(errors) - most
    if hidden > 0:
        rest += layout.wrap(
            f"... {plural(hidden, 'more finding')} of smaller or equal difference "
            "(--show N lists more, -v unfolds all)",
            "",
            "    ",
        )
    return [*lines, *rest, ""] if rest else lines


def _lines(step: StepResult, finding: Finding, view: View) -> list[str]:
    """A line for a finding, and one for each loud one that its lesson would show."""
    beside = finding_text.inside(step, finding, unfolded=False)
    loud = [other for other in beside if other.severity is not Severity.NOTE]
    return [line for each in (finding, *loud) for line in _one_line(step, each, view)]


def _one_line(step: StepResult, finding: Finding, view: View) -> list[str]:
    """The line of a finding, wrapped to the width of the page."""
    return _wrapped(*_in_a_line(step, finding, view), view)


def _in_a_line(step: StepResult, finding: Finding, view: View) -> tuple[str, str, str]:
    label, style = finding_text.label(finding, finding_text.verdict_of(step, finding))
    size = aggregate.size_text(step, finding.position, view)
    return label, style, place(step, finding.position) + size


def _wrapped(label: str, style: str, text: str, view: View) -> list[str]:
    first, *rest = layout.wrap(f"{label} {text}", "", "    ")
    return [view.paint(style, label) + first[len(label) :], *rest]


def _labelled(label: str, style: str, text: str, view: View) -> str:
    return f"{view.paint(style, label)} {text}"


def _run_findings(report: Report, view: View) -> list[str]:
    """What concerns the whole run: missed floors, files that could not be read."""
    lines: list[str] = []
    for finding in report.findings:
        lines += [finding_text.headline(finding, view)]
        for note in finding.notes:
            lines += layout.wrap(note, "   = note: ")
        lines += [f"   = explain: specdist explain {finding.ident}", ""]
    if not any(finding.ident == "acceptance-below-floor" for finding in report.findings):
        lines += [f"error[acceptance-below-floor]: {text}" for text in report.floors_missed]
    for unreadable in report.unreadable:
        lines += [*unreadable_lines(unreadable, view), ""]
    return lines


def unreadable_lines(unreadable: Unreadable, view: View) -> list[str]:
    """A file that could not be read, in the shape of an error."""
    lines = _wrapped(f"error[{unreadable.ident}]:", "bad", unreadable.message, view)
    lines += layout.wrap(unreadable.place or unreadable.source, "  --> ", "      ")
    if unreadable.expected:
        lines += layout.wrap(unreadable.expected, "   = expected: ")
    if unreadable.advice:
        lines += layout.wrap(unreadable.advice, "   = help: ")
    return lines


def _passes(report: Report, view: View) -> list[str]:
    if not report.steps:
        return []
    head = [*pass_text.header(report), *pass_text.read_as(report, view)]
    body = pass_text.tables(report, view)
    return [*head, *(["", *body] if body else []), ""]


def _proven(report: Report, view: View) -> list[str]:
    """The claim of a run without a counter-example; nothing when there is one, or doubt."""
    counts = report.summary
    if not report.steps or report.verdict is Verdict.UNDECIDED or counts.undecided:
        return []
    if counts.different > counts.allowed:
        return []
    failed = outcome_of(report) is Outcome.FAILED
    return pass_text.verdict_lines(report, view, passed=not failed)


def _counters(report: Report) -> list[str]:
    return [line for item in report.counters for line in ("", *counters_text.lines(item))]


def _folded(found: Sequence[Located], view: View) -> list[str]:
    """Warnings or notes by ident: the first of each in full, and how many more there are."""
    groups: dict[str, list[Located]] = {}
    for pair in found:
        groups.setdefault(pair[1].ident, []).append(pair)
    lines: list[str] = []
    for group in groups.values():
        for step, finding in group if view.verbose else group[:1]:
            more = 0 if view.verbose else len(group) - 1
            lines.append(finding_text.headline(finding, view))
            where = place(step, finding.position) + (f" and {more} more" if more else "")
            lines += layout.wrap(where, "  --> ", "      ")
            for note in finding.notes:
                lines += layout.wrap(note, "   = note: ")
            if finding.severity is Severity.WARNING:
                lines += [f"   = explain: specdist explain {finding.ident}", ""]
    return lines


def skipped(names: Sequence[str]) -> list[str]:
    """What lay in a folder and is no capture."""
    if not names:
        return []
    return layout.wrap(f"not a capture, not counted: {', '.join(names)}", "", "  ")


def summary(report: Report) -> list[str]:
    """``1 step checked: 1 equal, 0 different, 0 undecided``."""
    counts = report.summary
    if not counts.steps:
        if report.filtered_out:
            return [f"nothing checked: {plural(report.filtered_out, 'step')} filtered out"]
        return [f"nothing checked: no steps in {', '.join(report.sources) or 'any capture'}"]
    parts = [f"{counts.equal} equal"]
    if counts.within_tolerance:
        parts.append(f"{counts.within_tolerance} within tolerance")
    allowed = f" ({counts.allowed} allowed)" if counts.allowed else ""
    parts += [f"{counts.different} different{allowed}", f"{counts.undecided} undecided"]
    unreadable = sum(1 for item in report.unreadable if item.counts)
    if unreadable:
        parts.append(plural(unreadable, "file") + " unreadable")
    line = f"{plural(counts.steps, 'step')} checked: {', '.join(parts)}"
    return layout.wrap(line, "", "  ") if page.is_narrow() else [line]


def _spaced(lines: list[str]) -> list[str]:
    return [*lines, ""] if lines else []
