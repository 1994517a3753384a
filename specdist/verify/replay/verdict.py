"""From what the checks found to findings with causes, and to the verdict of a replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from specdist.model.finding import Finding, Severity, Shown
from specdist.model.replay_report import CheckCount, ReplayFinding, ReplayVerdict
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Evidence, Explanation, Hypothesis
from specdist.verify.replay.dropped_tokens import DroppedTokens
from specdist.verify.replay.evidence import evidence, evidence_findings
from specdist.verify.replay.hypotheses import explain
from specdist.verify.replay.tally import Check
from specdist.verify.replay.wording import plural

MAIN = ("accept decisions", "draft draws", "recovered tokens", "bonus tokens")
"""What a replay is about: a run that decided none of these checked nothing."""
_OF_ONE_STEP = (
    "wrong-decision",
    "recovered-outside-residual",
    "impossible-token",
    "drafted-mismatch",
)
"""Findings that the first of their steps shows by itself."""
_OF_UNIFORMS = ("off-grid-uniform", "reused-randomness")
"""Uniforms are counted by checks of their own, with what nothing states left out."""


@dataclass(frozen=True, slots=True)
class Found:
    """Findings, worst first, with the explanation and the e-values behind them."""

    findings: tuple[ReplayFinding, ...]
    explanation: Explanation | None
    evidence: tuple[Evidence, ...]


class Replayed(Protocol):
    """What a finished replay is asked for here."""

    trace: Trace
    checks: tuple[Check, ...]
    dropped: DroppedTokens

    @property
    def laws_known(self) -> bool: ...


def gathered(
    run: Replayed, shifted: Finding | None, settings: CheckSettings, command: str
) -> Found:
    """Everything that is to be said about a trace. Where the rows are not the laws that the engine
    used, nothing is concluded from whole laws."""
    found = [finding for check in run.checks for finding in check.findings()]
    if shifted is not None:
        found = [ReplayFinding(shifted), *map(_folded, found)]
    values = evidence(run.trace, settings) if run.laws_known else ()
    suggested = evidence_findings(values)
    found += [ReplayFinding(each) for each in suggested if each.ident not in _OF_UNIFORMS]
    explanation = None
    wrong = any(each.finding.severity is Severity.ERROR for each in found)
    if run.laws_known and (wrong or run.dropped.dropped.differed):
        explanation = explain(run.trace, settings, values)
    dropped = run.dropped.judged(explanation, values)
    if dropped is not None:
        found.append(dropped)
    if explanation is not None:
        found = _with_causes(found, explanation)
    found += _undecided(run.checks, run.trace)
    found = [_with_command(each, command, settings) for each in found]
    order = [Severity.ERROR, Severity.WARNING, Severity.NOTE]
    found.sort(key=lambda each: (each.finding.allowed, order.index(each.finding.severity)))
    return Found(tuple(found), explanation, values)


def verdict_of(findings: Iterable[ReplayFinding], checks: Iterable[CheckCount]) -> ReplayVerdict:
    """Contradicted by an error, undecided by a warning, else consistent where anything of the main
    things was decided."""
    loud = [each.finding for each in findings if not each.finding.allowed]
    if any(finding.severity is Severity.ERROR for finding in loud):
        return ReplayVerdict.CONTRADICTED
    if not any(check.checked for check in checks if check.name in MAIN):
        return ReplayVerdict.NOTHING_CHECKED
    if any(finding.severity is Severity.WARNING for finding in loud):
        return ReplayVerdict.UNDECIDED
    return ReplayVerdict.CONSISTENT


def _folded(found: ReplayFinding) -> ReplayFinding:
    """A consequence of another finding, shown in full only when everything is unfolded."""
    if found.finding.severity is not Severity.ERROR or not found.events:
        return found
    return replace(found, finding=replace(found.finding, shown=Shown.FOLDED))


def _with_causes(found: Sequence[ReplayFinding], explanation: Explanation) -> list[ReplayFinding]:
    """The causes behind the first error that they may be the cause of."""
    if not explanation.causes:
        return list(found)
    idents = {cause.ident for cause in explanation.causes}
    errors = [each for each in found if each.finding.severity is Severity.ERROR]
    fitting = [each for each in errors if each.finding.ident in idents]
    if not errors:
        return list(found)
    chosen = (fitting or errors)[0]
    words = tuple(map(_cause_words, explanation.causes))
    with_cause = replace(chosen, finding=replace(chosen.finding, cause=words, restores="agreement"))
    return [with_cause if each is chosen else each for each in found]


def _cause_words(cause: Hypothesis) -> str:
    known = ", ".join(f"{name} {value}" for name, value in cause.parameters)
    return f"{cause.statement}{f' ({known})' if known else ''}"


def _undecided(checks: Sequence[Check], trace: Trace) -> list[ReplayFinding]:
    """A note for what lies within rounding."""
    counts = [count for check in checks for count in check.counts() if count.undecided]
    if not counts:
        return []
    words = ", ".join(f"{count.undecided} of {count.name}" for count in counts)
    why = (
        "the rows are rounded copies: any of the values that round to them may have been used"
        if trace.lossy
        else "the engine's own rounding may turn them either way"
    )
    total = sum(count.undecided for count in counts)
    verbs = "lies within rounding and is" if total == 1 else "lie within rounding and are"
    message = f"{plural(total, 'recorded thing')} {verbs} not decided"
    finding = Finding("undecided-precision", Severity.NOTE, message, notes=(words, why))
    return [ReplayFinding(finding)]


def _with_command(found: ReplayFinding, command: str, settings: CheckSettings) -> ReplayFinding:
    """The finding with the line that shows it again, and whether the user allowed it."""
    finding = found.finding
    if finding.severity is Severity.NOTE:
        return found
    line = finding.reproduce or command
    if finding.ident in _OF_ONE_STEP and found.events and "--select" not in line:
        line += f" --select {found.events[0].id}"
    allowed = finding.ident in settings.allow
    return replace(found, finding=replace(finding, reproduce=line, allowed=allowed))
