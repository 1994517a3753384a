"""The text report of a replay: findings, then what was checked and counted, the verdict last."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.counters import CounterReport
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.replay_report import ReplayFinding, ReplayReport, ReplayVerdict
from specdist.model.trace_evidence import Counterfactual, EmittedLaw, Evidence, Hypothesis
from specdist.reports import counters_text, layout, page
from specdist.reports.finding_text import headline
from specdist.reports.replay_tables import check_table, event_table, place_of, step_table
from specdist.reports.view import View, plural

_BAR = "   |"
_LESSONS = 3
_VERDICTS = {
    ReplayVerdict.CONSISTENT: ("good", "ok: nothing recorded contradicts token verification"),
    ReplayVerdict.CONTRADICTED: ("bad", "contradicted: the recorded steps do not follow the rule"),
    ReplayVerdict.UNDECIDED: ("warn", "undecided: a setting is missing that decides"),
    ReplayVerdict.NOTHING_CHECKED: ("bad", "nothing checked: no decision and no draw"),
}


def render(report: ReplayReport, view: View) -> str:
    """The report as text of at most 80 columns, ending in a line break."""
    if view.quiet:
        return _quiet(report, view)
    loud = [each for each in report.findings if each.finding.severity is not Severity.NOTE]
    notes = [each for each in report.findings if each.finding.severity is Severity.NOTE]
    lines: list[str] = []
    for number, each in enumerate(loud):
        if view.verbose or (number < _LESSONS and each.finding.shown is not Shown.FOLDED):
            lines += [*lesson(report, each, view), ""]
        else:
            lines += _brief(each, view)
    if lines and lines[-1]:
        lines.append("")
    lines += [*_facts(report), ""]
    if view.verbose:
        lines += [*step_table(report), ""]
    lines += [*check_table(report.checks), ""]
    lines += [*_counters(report), ""]
    for other in report.counterfactuals:
        lines += [*_counterfactual(other, view), ""]
    lines += _evidence(report.evidence)
    for each in notes:
        lines += _note(report, each, view)
    if notes:
        lines.append("")
    if left := page.left_out():
        lines += [*left, ""]
    lines += layout.wrap(f"scope: {'; '.join(report.scope)}", "", "  ")
    return "\n".join([*lines, "", *verdict_lines(report, view)]) + "\n"


def _quiet(report: ReplayReport, view: View) -> str:
    lines = []
    for each in report.findings:
        if each.finding.severity is not Severity.NOTE:
            place = f"{place_of(each.events[0])}: " if each.events else ""
            lines.append(f"{_label(each.finding)} {place}{each.finding.message}")
    return "\n".join([*lines, *verdict_lines(report, view)]) + "\n"


def _label(finding: Finding) -> str:
    word = "allowed" if finding.allowed else finding.severity.value
    return f"{word}[{finding.ident}]:"


def lesson(report: ReplayReport, found: ReplayFinding, view: View) -> list[str]:
    """Where, what was recorded and what was possible, the cause, the line to paste."""
    finding = found.finding
    lines = headline(finding, view).split("\n")
    first = found.events[0] if found.events else None
    place = report.source if first is None else place_of(first)
    lines += layout.wrap(place, "  --> ", "      ")
    if found.events:
        shown = found.events if view.limit is None else found.events[: max(view.limit, 1)]
        table = event_table(shown, report.texts, page.columns() - len(_BAR) - 2)
        hidden = len(found.events) - len(shown)
        if hidden:
            table.append(f"... {plural(hidden, 'more line')} (--show N, -v)")
        lines += [_BAR, *(f"{_BAR}  {line}".rstrip() for line in table), _BAR]
    for note in finding.notes:
        lines += layout.wrap(note, "   = note: ")
    lines += _cause(report, finding, view)
    if finding.reproduce:
        lines += layout.command(finding.reproduce, "   = reproduce: ")
    return [*lines, f"   = explain: specdist explain {finding.ident}"]


def _cause(report: ReplayReport, finding: Finding, view: View) -> list[str]:
    """What explains everything that is recorded, with its total variation."""
    if not finding.cause:
        return []
    count = len(finding.cause)
    if count == 1:
        head = "cause (explains every recorded decision and draw):"
    else:
        head = f"cause: one of {count}, which the trace does not tell apart:"
    lines = layout.wrap(head, "   = ", "     ")
    shown = finding.cause if view.verbose else finding.cause[:4]
    for number, words in enumerate(shown, 1):
        lines += layout.wrap(words, f"           {number}. " if count > 1 else "           ")
    if count > len(shown):
        lines.append(f"           ... {count - len(shown)} more (-v)")
    causes = report.explanation.causes if report.explanation is not None else ()
    return lines + (_variation(causes[0], count > 1, view) if causes else [])


def _variation(cause: Hypothesis, several: bool, view: View) -> list[str]:
    worst = cause.worst
    if worst is None:
        return []
    size = view.numerals.rate(worst.total_variation)
    under = "under cause 1 " if several else ""
    text = f"{under}total variation {size} from the target at {_reached(worst)}"
    if len(cause.laws) > 1:
        text += f", the largest of {len(cause.laws)} reached positions"
    return layout.wrap(text, "   = note: ")


def _reached(law: EmittedLaw) -> str:
    return f"sequence {law.sequence}, step {law.step_index}, position {law.position}"


def _brief(found: ReplayFinding, view: View) -> list[str]:
    """The message, and where it is seen first."""
    lines = headline(found.finding, view).split("\n")
    if found.events and found.finding.severity is not Severity.NOTE:
        lines += layout.wrap(f"first at {place_of(found.events[0])}", "    ")
    return lines


def _note(report: ReplayReport, found: ReplayFinding, view: View) -> list[str]:
    lines = _brief(found, view)
    for note in found.finding.notes:
        lines += layout.wrap(note, "   = ", "     ")
    if view.verbose and found.events:
        table = event_table(found.events, report.texts, page.columns() - 4)
        lines += [f"    {line}".rstrip() for line in table]
    return lines


def _facts(report: ReplayReport) -> list[str]:
    """What was read, and how it was taken."""
    drafted = sum(step.drafted for step in report.steps)
    sequences = len({step.sequence for step in report.steps})
    size = (
        f"{plural(len(report.steps), 'step')} in {plural(sequences, 'sequence')}, "
        f"{plural(drafted, 'draft token')}"
    )
    lines = layout.wrap(f"{report.source}  {report.reader}: {size}", "", "  ")
    facts = [*report.facts, ("processing", _processing(report))]
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        lines += layout.wrap(text, f"  {name:<{width}}  ")
    return lines


def _processing(report: ReplayReport) -> str:
    """The recipes: one a side where the roles agree."""
    roles = dict(report.roles)
    target = {roles[name] for name in roles if "draft" not in name}
    draft = {roles[name] for name in roles if "draft" in name}
    if len(target) == len(draft) == 1:
        ours, theirs = target.pop(), draft.pop()
        return f"{ours}, both sides" if ours == theirs else f"target {ours}; draft {theirs}"
    return "; ".join(f"{name} {recipe}" for name, recipe in roles.items())


def _counters(report: ReplayReport) -> list[str]:
    return counters_text.lines(CounterReport(report.counters, report.figures))


def _evidence(found: Sequence[Evidence]) -> list[str]:
    """E-values of the statements that no recorded number decides."""
    shown = [item for item in found if item.log10 > float("-inf") and item.proof is None]
    if not shown:
        return []
    level = f"{float(shown[0].level):g}"
    title = f"e-values: they may refute, they never confirm (error level {level} of the trace)"
    lines = layout.wrap(title, "", "  ")
    for item in shown:
        word = "refuted" if item.refuted else "not refuted"
        draws = plural(item.observations, "draw")
        text = f"10^{item.log10:.2f} over {draws}, {word}: {item.statement}"
        lines += layout.wrap(text, "  ", "      ")
    return [*lines, ""]


def _counterfactual(other: Counterfactual, view: View) -> list[str]:
    def shown(figure: Figure | None) -> str:
        return "-" if figure is None else view.numerals.number(figure)

    contexts = plural(len(other.positions), "recorded context")
    lines = layout.wrap(f"under {other.label}: {contexts}", "", "  ")
    rows = [
        ["acceptance rate, mean", shown(other.declared_rate), shown(other.other_rate)],
        ["tokens a step, bonus included", shown(other.declared_length), shown(other.other_length)],
    ]
    table = layout.table(["", "as recorded", "otherwise"], rows)
    lines += [f"  {line}" for line in table]
    left_out = {"without rows": other.without_rows, "with an impossible token": other.impossible}
    for words, count in left_out.items():
        if count:
            lines += layout.wrap(f"left out: {plural(count, 'step')} {words}", "  ", "    ")
    return [*lines, *layout.wrap(other.condition, "  ", "  ")]


def verdict_lines(report: ReplayReport, view: View) -> list[str]:
    style, text = _VERDICTS[report.verdict]
    word, rest = text.split(":", 1)
    lines = [view.paint(style, f"{word}:") + rest]
    by_name = {check.name: check for check in report.checks}
    decisions = by_name["accept decisions"].checked
    names = ("draft draws", "recovered tokens", "bonus tokens")
    draws = sum(by_name[name].checked for name in names)
    contexts = sum(c.checked for name, c in by_name.items() if name.startswith("contexts"))
    parts = [
        plural(decisions, "accept decision"),
        plural(draws, "draw"),
        plural(contexts, "context"),
    ]
    counts = _found(report.findings)
    text = f"{plural(len(report.steps), 'step')} replayed: {', '.join(parts)} checked; {counts}"
    return [*lines, *layout.wrap(text, "", "  ")]


def _found(findings: Sequence[ReplayFinding]) -> str:
    counts = dict.fromkeys(Severity, 0)
    for each in findings:
        counts[each.finding.severity] += 1
    words = [plural(counts[severity], severity.value) for severity in Severity if counts[severity]]
    return ", ".join(words) or "no finding"
