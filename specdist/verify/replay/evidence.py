"""E-values for what recorded steps can only suggest."""

from __future__ import annotations

from fractions import Fraction

from specdist.model.finding import Finding
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Evidence

LEVEL = Fraction(1, 10**6)
"""The error level of one capture, shared by its statements in fixed parts."""


def evidence(
    trace: Trace, settings: CheckSettings, level: Fraction = LEVEL
) -> tuple[Evidence, ...]:
    """An e-value for every statement of the declared engine that facts of ``trace`` bear on
    without a replay: drafted ids without ``u_draft``, decisions without ``u_accept``, final tokens
    without ``u_final`` or noise, dropped tokens, uniforms that are equal or on a coarse grid."""
    raise NotImplementedError


def evidence_findings(found: tuple[Evidence, ...]) -> tuple[Finding, ...]:
    """One finding for each refuted statement, worded "refuted at level ..."; none confirms."""
    raise NotImplementedError
