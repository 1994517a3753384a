"""Counters of a run: their figures, their contradictions, and what the captured steps say."""

from __future__ import annotations

from dataclasses import replace

from specdist.model.counters import Counted, CounterReport, Counters
from specdist.verify.counters.comparison import FirstPositions, comparison_findings, comparisons
from specdist.verify.counters.contradictions import contradictions
from specdist.verify.counters.figures import completed, figures


def counters_alone(counters: tuple[Counters, ...]) -> tuple[CounterReport, ...]:
    """The counters with their figures, without a capture beside them."""
    return tuple(CounterReport(completed(item), figures(item)) for item in counters)


def review(
    counters: tuple[Counters, ...], exact: FirstPositions, allow: frozenset[str] = frozenset()
) -> Counted:
    """Everything that is said of the counters of a run; ``allow`` marks findings as allowed."""
    reports, findings = [], []
    for item in counters:
        wrong = contradictions(item)
        compared = () if wrong else comparisons(item, exact)
        reports.append(CounterReport(completed(item), figures(item), compared))
        findings += [*wrong, *comparison_findings(item, compared)]
    return Counted(
        tuple(reports),
        [replace(finding, allowed=finding.ident in allow) for finding in findings],
    )
