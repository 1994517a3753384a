"""The comparison with a baseline as text: a line that counts, and what became better."""

from __future__ import annotations

from specdist.model.baseline import BaselineReport
from specdist.model.figure import Figure
from specdist.model.report import Report
from specdist.reports import layout
from specdist.reports.view import View, plural


def lines(report: Report, view: View) -> list[str]:
    """What a run says of its baseline beside the findings; nothing without one."""
    found = report.baseline
    if found is None:
        return []
    shown = layout.wrap(f"against {found.path}: {counts_text(found)}", "", "  ")
    rate = _rates(found, view)
    if rate:
        shown += layout.wrap(rate, "  ", "      ")
    told = [
        f"better: {step.source}, step {step.id}: {reason.message}"
        for step in found.better
        for reason in step.reasons[:1]
    ]
    most = len(told) if view.limit is None else view.limit
    for line in told[:most]:
        shown += layout.wrap(line, "  ", "      ")
    if len(told) > most:
        shown.append(f"  ... and {len(told) - most} more better")
    for note in found.notes:
        shown += layout.wrap(f"note: {note}", "  ", "      ")
    return shown


def counts_text(found: BaselineReport) -> str:
    """``64 steps matched, 1 worse, 2 better; 1 missing, 3 new``."""
    known = (
        (len(found.worse), "worse"),
        (len(found.undecided), "undecided"),
        (len(found.better), "better"),
    )
    parts = [] if found.worse else ["none worse"]
    parts += [f"{count} {word}" for count, word in known if count]
    text = f"{plural(found.matched, 'step')} matched, {', '.join(parts)}"
    others = [
        f"{count} {word}"
        for count, word in ((len(found.missing), "missing"), (found.new, "new"))
        if count
    ]
    return f"{text}; {', '.join(others)}" if others else text


def _rates(found: BaselineReport, view: View) -> str:
    before, after = found.acceptance_before, found.acceptance_after
    if not isinstance(before, Figure) or not isinstance(after, Figure):
        return ""
    was, now = view.numerals.rate(before), view.numerals.rate(after)
    return f"acceptance rate over the matched steps {now}" + (f", was {was}" if was != now else "")
