"""From a position that differs to what is said of it: cause, findings, a line to paste."""

from __future__ import annotations

from dataclasses import replace

from specdist.model.finding import Finding, Smallest
from specdist.model.report import PositionResult
from specdist.model.verdict import Verdict
from specdist.verify.diagnosis import Causes, Diagnosis
from specdist.verify.mismatch import Reproduced, output_findings
from specdist.verify.position import Checked
from specdist.verify.position_check import PositionCheck
from specdist.verify.reproduction import LONGEST_ROW, reproduction
from specdist.verify.shrinking import Shrunk, all_typed, shrunk

SHRUNK_STEPS = 64
SHRUNK_POSITIONS = 4
"""So many steps of a capture, and differing positions of a step, are cut where they are too large
to type; the later ones have no line to paste."""


def explained(
    check: PositionCheck, causes: Causes, shrink: bool
) -> tuple[PositionResult, list[Finding]]:
    """The result of a position that differs, and its findings. ``shrink``: a position too large
    to type is cut to the smallest set of tokens that still differs."""
    diagnosis = causes.of(check.checked)
    reproduced = _reproduced(check, diagnosis.idents[0], shrink)
    findings = output_findings(check.checked, diagnosis, check.step.vocab, reproduced)
    return _with_correction(check.checked.result, diagnosis), findings


def _with_correction(result: PositionResult, diagnosis: Diagnosis) -> PositionResult:
    if diagnosis.correction is None or result.proposal is None:
        return result
    proposal = replace(result.proposal, correction=diagnosis.correction)
    return replace(result, proposal=proposal)


def _reproduced(check: PositionCheck, ident: str, shrink: bool) -> Reproduced:
    line = _line(check)
    if line is not None:
        return Reproduced(line)
    small: Shrunk | None = None
    if check.position.target.size <= LONGEST_ROW:
        small = all_typed(check, ident, _main_ident)
        line = None if small is None else _line(small.check)
        if line is not None:
            return Reproduced(line)
    if shrink:
        small = shrunk(check, ident, _main_ident)
    line = None if small is None else _line(small.check)
    if small is None or line is None:
        return Reproduced()
    variation = small.check.checked.result.total_variation
    return Reproduced(line, Smallest(small.tokens, variation, line))


def _line(check: PositionCheck) -> str | None:
    tolerated = check.checked.result.verdict is Verdict.WITHIN_TOLERANCE
    return reproduction(check.position, check.found.uses, check.plan, check.settings, tolerated)


def _main_ident(checked: Checked) -> str:
    return Causes().of(checked).idents[0]
