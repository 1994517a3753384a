"""E-values for what recorded steps can only suggest: they may refute, they never confirm.

One error level covers a capture: each of the seven statements has a fixed seventh of it, set aside
before anything is read, so that ``sum_s E_s / 7`` is an e-value of the capture. What a replay of
recorded random numbers decides is not bet on.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from specdist.exact.e_values import decimal_logarithm
from specdist.model.finding import Finding, Severity
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Evidence
from specdist.verify.replay.bets.decision_bets import AcceptDecisions
from specdist.verify.replay.bets.draft_bets import DraftTokens, DroppedTokens
from specdist.verify.replay.bets.final_bets import FinalTokens
from specdist.verify.replay.bets.noise_bets import FreshNoise
from specdist.verify.replay.bets.statement import Statement
from specdist.verify.replay.bets.uniform_bets import FreshUniforms, GridOfUniforms
from specdist.verify.replay.reading import RecordedTrace

LEVEL = Fraction(1, 10**6)
"""The error level of one capture, shared by its statements in fixed parts."""
STATEMENTS = 7


def evidence(
    trace: Trace, settings: CheckSettings, level: Fraction = LEVEL
) -> tuple[Evidence, ...]:
    """An e-value for every statement of the declared engine that facts of ``trace`` bear on
    without a replay: drafted ids without ``u_draft``, decisions without ``u_accept``, final tokens
    without ``u_final`` or noise, dropped tokens, uniforms that come
    again or lie on a coarse grid, noise that drew the rejected token too.

    Statements without a single draw are left out. Raises SpecdistError for rows and settings that
    do not fit.
    """
    return evidence_of(RecordedTrace(trace, settings), level)


def evidence_of(recorded: RecordedTrace, level: Fraction = LEVEL) -> tuple[Evidence, ...]:
    """`evidence` of a trace that was surveyed already."""
    declared, conventions = recorded.declared, recorded.trace.conventions
    uniforms = FreshUniforms(recorded.survey), GridOfUniforms(declared, conventions)
    rows_bets = (
        DraftTokens(declared, conventions),
        DroppedTokens(declared),
        AcceptDecisions(declared, conventions),
        FinalTokens(declared, conventions),
        FreshNoise(declared, conventions),
    )
    for step, rows in recorded.steps():
        for bets in uniforms:
            bets.add(step)
        if rows is not None:
            for other in rows_bets:
                other.add(rows)
    found = (_evidence(statement, level) for statement in (*rows_bets, *uniforms))
    return tuple(one for one in found if one.observations or one.proof)


def _evidence(statement: Statement, level: Fraction) -> Evidence:
    value, share = statement.value, Fraction(1, STATEMENTS)
    passes = value * share >= 1 / level
    return Evidence(
        subject=statement.subject,
        ident=statement.ident,
        statement=statement.text,
        observations=statement.draws,
        log10=decimal_logarithm(value),
        level=level,
        share=share,
        refuted=passes or statement.proof is not None,
        proof=statement.proof,
        favourite=statement.favourite if value > 1 else "",
        passes=passes,
    )


def capture_log10(found: Iterable[Evidence]) -> float:
    """A lower bound of ``log10 sum_s E_s / 7``, statements without a draw counting 1 each."""
    listed = list(found)
    terms = [one.log10 + decimal_logarithm(one.share) for one in listed]
    rest = Fraction(STATEMENTS - len(listed), STATEMENTS)
    terms += [decimal_logarithm(rest)] if rest else []
    return max(terms)


def evidence_findings(found: tuple[Evidence, ...]) -> tuple[Finding, ...]:
    """One finding for each refuted statement, worded "refuted at level ..."; none confirms. A fact
    of probability 0 is worded as the proof that it is."""
    return tuple(_finding(one) for one in found if one.refuted)


def _finding(one: Evidence) -> Finding:
    severity = Severity.WARNING if one.ident == "off-grid-uniform" else Severity.ERROR
    if one.proof is not None:
        message = f"{one.proof.source}: {one.proof.text}"
        return Finding(one.ident, severity, message, position=one.proof.index)
    notes = (
        f"e-value at least 10^{one.log10:.1f} over {one.observations:,} draws; the statement is "
        f"refuted from {float(1 / (one.level * one.share)):.3g} on, a {one.share} of the capture's "
        "error level",
        f"the bet that gained the most: {one.favourite}",
    )
    message = f"refuted at level {float(one.level):g}: {one.statement}"
    return Finding(one.ident, severity, message, notes=notes)
