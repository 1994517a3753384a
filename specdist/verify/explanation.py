"""From a position that differs to what is said of it: cause, findings, a line to paste."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from specdist.model.finding import Finding, Smallest
from specdist.model.report import PositionResult
from specdist.model.verdict import Verdict
from specdist.rules.joint.names import is_joint
from specdist.verify.diagnosis import Causes, Diagnosis, ident_of
from specdist.verify.mismatch import Reproduced, output_findings
from specdist.verify.position_check import PositionCheck
from specdist.verify.reproduction import LONGEST_ROW, reproduction
from specdist.verify.shrinking import all_typed, shrunk

SHRUNK_STEPS = 32
SHRUNK_POSITIONS = 4
"""So many steps of a capture, and differing positions of a step, are cut where they are too large
to type; the later ones have no line to paste."""


def explained(
    check: PositionCheck, causes: Causes, shrink: bool
) -> tuple[PositionResult, list[Finding]]:
    """The result of a position that differs, and its findings. ``shrink``: a position too large
    to type is cut to the smallest set of tokens that still differs."""
    diagnosis = causes.of(check.checked)
    reproduced = _reproduced(check, diagnosis, shrink)
    findings = output_findings(check.checked, diagnosis, check.step.vocab, reproduced)
    return _with_correction(check.checked.result, diagnosis), findings


def _with_correction(result: PositionResult, diagnosis: Diagnosis) -> PositionResult:
    if diagnosis.correction is None or result.proposal is None:
        return result
    proposal = replace(result.proposal, correction=diagnosis.correction)
    return replace(result, proposal=proposal)


def _reproduced(check: PositionCheck, diagnosis: Diagnosis, shrink: bool) -> Reproduced:
    if is_joint(check.plan.rule.name):
        return Reproduced()  # a typed position has no path before it
    line = _line(check)
    if line is not None:
        return Reproduced(line)
    ident, small = diagnosis.idents[0], None
    if check.position.target.size <= LONGEST_ROW:
        small = all_typed(check, ident, ident_of)
        line = None if small is None else _line(small.check)
        if line is not None:
            return Reproduced(line)
    if shrink:
        guessed = partial(ident_of, within=_shortest(diagnosis))
        small = shrunk(check, ident, guessed, ident_of)
    line = None if small is None else _line(small.check)
    if small is None or line is None:
        return Reproduced()
    variation = small.check.checked.result.total_variation
    return Reproduced(line, Smallest(small.tokens, variation, line))


def _shortest(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The repairs that the shortest sets are made of."""
    sets = diagnosis.repairs.sets
    least = min(map(len, sets), default=0)
    names = [name for repair in sets if len(repair) == least for name in repair]
    return tuple(dict.fromkeys(names))


def _line(check: PositionCheck) -> str | None:
    tolerated = check.checked.result.verdict is Verdict.WITHIN_TOLERANCE
    return reproduction(check.position, check.found.uses, check.plan, check.settings, tolerated)
