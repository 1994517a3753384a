"""The text report: failures first, a pass with what was proven, the counts last."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.capture import Unreadable
from specdist.model.finding import Finding, Severity
from specdist.model.report import Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import finding_text, layout, pass_text
from specdist.reports.view import View, place, plural

_LESSONS = 3

Located = tuple[StepResult, Finding]


def render(report: Report, view: View) -> str:
    """The report as text of at most 80 columns, ending in a line break."""
    found: dict[Severity, list[Located]] = {severity: [] for severity in Severity}
    for step in report.steps:
        for finding in step.findings:
            found[finding.severity].append((step, finding))
    errors, warnings = found[Severity.ERROR], found[Severity.WARNING]
    if view.quiet:
        return _quiet(report, [*errors, *warnings], view)
    lines = _failures(errors, view)
    lines += _run_findings(report, view)
    lines += _folded(warnings, view)
    if not errors or view.verbose:
        lines += _passes(report, view)
    lines += _proven(report, view)
    lines += _folded(found[Severity.NOTE], view)
    lines += skipped(report.not_captures)
    return "\n".join([*lines, *summary(report), *_scope(report.scope)]) + "\n"


def _quiet(report: Report, loud: Sequence[Located], view: View) -> str:
    lines = [line for pair in loud for line in _one_line(*pair, view)]
    lines += [finding_text.headline(finding, view) for finding in report.findings]
    lines += [unreadable_lines(item, view)[0] for item in report.unreadable]
    return "\n".join([*lines, *summary(report)]) + "\n"


def _failures(errors: Sequence[Located], view: View) -> list[str]:
    """The first few with their lesson, the next as a line each, then a count; allowed ones last."""
    ranked = sorted(errors, key=lambda pair: pair[1].allowed)
    lessons = len(ranked) if view.limit is None else min(max(view.limit, 1), _LESSONS)
    listed = ranked[: None if view.limit is None else max(view.limit, 1)]
    lines: list[str] = []
    for step, finding in listed[:lessons]:
        lines += [*finding_text.block(step, finding, view), ""]
    rest = [line for pair in listed[lessons:] for line in _one_line(*pair, view)]
    hidden = len(ranked) - len(listed)
    if hidden:
        rest.append(f"... {plural(hidden, 'more finding')} (all with -v or --format json)")
    return [*lines, *rest, ""] if rest else lines


def _one_line(step: StepResult, finding: Finding, view: View) -> list[str]:
    label, style = finding_text.label(finding, finding_text.verdict_of(step, finding))
    first, *rest = layout.wrap(f"{label} {place(step, finding.position)}", "", "    ")
    return [view.paint(style, label) + first[len(label) :], *rest]


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
    start = f"error[{unreadable.ident}]:"
    first, *rest = layout.wrap(f"{start} {unreadable.message}", "", "    ")
    lines = [view.paint("bad", start) + first[len(start) :], *rest]
    lines += layout.wrap(unreadable.place or unreadable.source, "  --> ", "      ")
    if unreadable.expected:
        lines += layout.wrap(unreadable.expected, "   = expected: ")
    if unreadable.advice:
        lines += layout.wrap(unreadable.advice, "   = help: ")
    return lines


def _passes(report: Report, view: View) -> list[str]:
    if not report.steps:
        return []
    body = pass_text.tables(report, view)
    return [*pass_text.header(report), *(["", *body] if body else []), ""]


def _proven(report: Report, view: View) -> list[str]:
    """The claim of a run without a counter-example; nothing when there is one, or doubt."""
    counts = report.summary
    if not report.steps or report.verdict is Verdict.UNDECIDED or counts.undecided:
        return []
    if counts.different > counts.allowed:
        return []
    failed = report.floors_missed or any(item.counts for item in report.unreadable)
    return pass_text.verdict_lines(report, view, passed=not failed)


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
    return [f"{plural(counts.steps, 'step')} checked: {', '.join(parts)}"]


def _scope(sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return []
    lines = ["", "what this verdict does not say"]
    for sentence in sentences:
        lines += layout.wrap(sentence, "  - ")
    return lines
