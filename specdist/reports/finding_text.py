"""One finding as text: where, the roles that disagree, the largest differences, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.finding import Finding, Severity, Shown
from specdist.model.report import (
    BonusResult,
    BonusToken,
    PositionResult,
    StepResult,
    TokenLine,
)
from specdist.model.verdict import Verdict
from specdist.reports import bounded_text, joint_text, layout, page, pass_text
from specdist.reports.aggregate import bounds_at
from specdist.reports.difference_text import TITLE, differences
from specdist.reports.figure_text import Numerals
from specdist.reports.role_text import role_lines
from specdist.reports.view import View, place, plural

_BAR = "   |"
_MASSES = {False: ("reference", "drafted", "tested", "output"), True: ("reference", "output")}
_STYLES = {"error": "bad", "warning": "warn", "note": "name"}


def block(step: StepResult, finding: Finding, view: View) -> list[str]:
    """The whole lesson of one finding about one step, and of what is shown with it."""
    beside = inside(step, finding, view.verbose)
    loud = [other for other in beside if other.severity is not Severity.NOTE]
    verdict = verdict_of(step, finding)
    lines = [headline(each, view, verdict) for each in (finding, *loud)]
    lines += layout.wrap(place(step, finding.position), "  --> ", "      ")
    subject = _subject(step, finding)
    if subject is not None:
        lines += _panel(role_lines(subject.roles))
        lines += _panel(_differences(subject, view))
        lines.append(_BAR)
    elif finding.severity is Severity.ERROR and (part := bounds_at(step, finding.position)):
        lines += _panel(role_lines(part.roles))
        lines += _panel(bounded_text.panel(part, view, page.columns() - len(_BAR) - 2))
        lines.append(_BAR)
    elif step.joint is not None and finding.severity is Severity.ERROR:
        lines += _panel(role_lines(step.joint.roles))
        lines += _panel(joint_text.panel(step.joint, view, page.columns() - len(_BAR) - 2))
        lines.append(_BAR)
    notes = [other.message for other in beside if other.severity is Severity.NOTE]
    notes += [note for each in (finding, *loud) for note in each.notes]
    for note in notes:
        lines += layout.wrap(note, "   = note: ")
    idents = dict.fromkeys(each.ident for each in (finding, *loud))
    return lines + _advice(finding, list(idents), view)


def inside(step: StepResult, main: Finding, unfolded: bool) -> list[Finding]:
    """The findings that are shown with the main one of their position."""
    shown = {Shown.INSIDE, Shown.FOLDED} if unfolded else {Shown.INSIDE}
    placed = main.position is not None or step.joint is not None
    if not placed or main.severity is not Severity.ERROR:
        return []
    return [
        finding
        for finding in step.findings
        if finding.shown in shown and finding.position == main.position
    ]


def headline(finding: Finding, view: View, verdict: Verdict | None = None) -> str:
    """``error[output-mismatch]: output differs from the reference``."""
    start, style = label(finding, verdict)
    first, *rest = layout.wrap(f"{start} {finding.message}", "", "    ")
    return "\n".join([view.paint(style, start) + first[len(start) :], *rest])


def label(finding: Finding, verdict: Verdict | None) -> tuple[str, str]:
    """``error[IDENT]:`` and its style; ``allowed[IDENT]:`` for what the user allowed, and
    ``tolerated[IDENT]:`` for a difference within the tolerance that the user declared."""
    word, style = finding.severity.value, _STYLES[finding.severity.value]
    if finding.allowed and finding.severity is Severity.ERROR:
        word, style = "allowed", "name"
    elif word == "error" and verdict is Verdict.WITHIN_TOLERANCE:
        word, style = "tolerated", "name"
    return f"{word}[{finding.ident}]:", style


def verdict_of(step: StepResult, finding: Finding) -> Verdict:
    """The verdict of what the finding is about: a position, the bonus row, or the whole step."""
    subject = _subject(step, finding) or bounds_at(step, finding.position)
    return step.verdict if subject is None else subject.verdict


def _subject(step: StepResult, finding: Finding) -> PositionResult | BonusResult | None:
    if finding.position is None or finding.severity.value != "error":
        return None
    if finding.position < 0:
        return step.bonus
    return next((p for p in step.positions if p.index == finding.position), None)


def _panel(lines: Sequence[str]) -> list[str]:
    return [_BAR, *(f"{_BAR}  {line}".rstrip() for line in lines)] if lines else []


def _advice(finding: Finding, idents: Sequence[str], view: View) -> list[str]:
    lines: list[str] = []
    if finding.cause:
        which = ("the", "either")[min(len(finding.cause), 2) - 1]
        repair = f"{which} smallest repair"
        if len(finding.cause) > 2:
            repair = "any of these smallest repairs"
        lines += layout.wrap(
            f"cause (proven): {finding.restores} returns with {repair}", "   = ", "     "
        )
        for number, words in enumerate(finding.cause, 1):
            lines += layout.wrap(words, f"           {number}. ")
    if finding.smallest is not None:
        tokens = " ".join(str(token) for token in finding.smallest.tokens)
        size = view.numerals.number(finding.smallest.total_variation)
        text = f"rows cut to the tokens {tokens} show it still, total variation {size}"
        lines += layout.wrap(text, "   = smallest: ")
    if finding.reproduce:
        lines += layout.command(finding.reproduce, "   = reproduce: ")
    return lines + [f"   = explain: specdist explain {ident}" for ident in idents]


def _differences(subject: PositionResult | BonusResult, view: View) -> list[str]:
    """The tokens whose output differs most from the reference, largest first."""
    tokens: list[TokenLine | BonusToken] = [*subject.tokens]
    ranked = sorted(tokens, key=lambda token: (-abs(token.difference.approx), token.id))
    shown = ranked[: view.limit]
    with_id = subject.vocab_size > 64
    bonus = isinstance(subject, BonusResult)

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        ends = differences([token.difference for token in shown], numerals, digits)
        rows = [
            [
                layout.token(token.text, token.id, with_id),
                *(numerals.number(getattr(token, name), digits) for name in _MASSES[bonus]),
                end,
            ]
            for token, end in zip(shown, ends, strict=True)
        ]
        return layout.table(["token", *_MASSES[bonus], TITLE], rows, gap=gap, least=7)

    lines, wide = view.table(build, page.columns() - len(_BAR) - 2)
    hidden = subject.vocab_size - len(shown)
    if hidden:
        lines.append(f"... {plural(hidden, 'more token')}")
    if wide:
        columns = (*_MASSES[bonus], "difference")
        lines += pass_text.exact_list([(token, columns) for token in shown], with_id)
    return lines
