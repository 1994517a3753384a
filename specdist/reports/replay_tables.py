"""Tables of a replay: events with what was possible, checks with their counts, steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specdist.model.replay_report import CheckCount, Event, ReplayReport
from specdist.reports import layout

_LINE = ", line "


def place_of(event: Event) -> str:
    """``FILE, line 3, sequence 0, step 2, position 1``."""
    position = "" if event.position is None else f", position {event.position}"
    return f"{event.source}, sequence {event.sequence}, step {event.step}{position}"


def event_table(events: Sequence[Event], texts: Mapping[int, str], width: int) -> list[str]:
    """One line an event; texts that are too long for the width go on below."""
    header = ["line", "seq", "step", "pos", "token", "recorded", "possible"]
    rows = [
        [
            event.source.rpartition(_LINE)[2],
            str(event.sequence),
            str(event.step),
            "" if event.position is None else str(event.position),
            _token(event.token, texts),
            event.recorded,
            event.possible,
        ]
        for event in events
    ]
    used = [i for i in range(len(header)) if any(row[i] for row in rows)]
    header, rows = [header[i] for i in used], [[row[i] for i in used] for row in rows]
    fixed = len(header) - (2 if "possible" in header else 1)
    widths = [max(layout.width_of(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lead = sum(widths[:fixed]) + 2 * fixed
    beside = min(widths[fixed + 1], 20) if fixed + 1 < len(header) else 0
    first = min(widths[fixed], max(width - lead - 2 - beside, 20))
    lines = []
    for row in (header, *rows):
        start = "".join(
            f"{' ' * (widths[i] - layout.width_of(row[i]))}{row[i]}  " for i in range(fixed)
        )
        left = layout.wrap(row[fixed], width=first) if row[fixed] else [""]
        right = [""]
        if fixed + 1 < len(row) and row[fixed + 1]:
            right = layout.wrap(row[fixed + 1], width=width - lead - first - 2)
        for number in range(max(len(left), len(right))):
            one = left[number] if number < len(left) else ""
            two = right[number] if number < len(right) else ""
            margin = start if number == 0 else " " * lead
            lines.append(f"{margin}{one:<{first}}  {two}".rstrip())
    return lines


def _token(token: int | None, texts: Mapping[int, str]) -> str:
    if token is None:
        return ""
    return layout.token(texts.get(token), token, with_id=True)


def check_table(checks: Sequence[CheckCount]) -> list[str]:
    """What was looked at, and what could not be, with the reasons."""
    rows = [
        [
            check.name,
            str(check.agreed),
            str(check.differed),
            str(check.undecided),
            str(sum(check.unchecked.values())),
        ]
        for check in checks
        if check.checked or check.undecided or check.unchecked
    ]
    lines = layout.table(["checked", "agree", "differ", "rounding", "not checked"], rows)
    reasons: dict[str, list[str]] = {}
    for check in checks:
        for reason in check.unchecked:
            reasons.setdefault(reason, []).append(check.name)
    for reason, names in reasons.items():
        lines += layout.wrap(f"{', '.join(names)}: {reason}", "  not checked: ", "      ")
    return lines


def step_table(report: ReplayReport) -> list[str]:
    """Every step in a line."""
    rows = [
        [
            str(step.sequence),
            str(step.step),
            str(step.drafted),
            str(step.accepted),
            str(step.emitted),
            step.kind.value,
        ]
        for step in report.steps
    ]
    header = ["sequence", "step", "drafted", "accepted", "emitted", "final token"]
    return layout.table(header, rows, left=0)
