"""Severities that the user chose: a finding that fails a run, or no longer does.

Raised to error, a finding fails the run whatever the verdict of its step. Lowered from error, it
is shown with its new severity and counts as allowed: the step stays ``different``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from specdist.model.finding import Finding, Severity
from specdist.model.report import StepResult


class Severities:
    """Regrades findings; ``raised`` are the idents that were met and now fail the run."""

    def __init__(self, chosen: Mapping[str, Severity], allow: Collection[str]) -> None:
        self._chosen, self._allow = chosen, allow
        self._raised: dict[str, None] = {}

    @property
    def raised(self) -> tuple[str, ...]:
        """In the order in which they were met."""
        return tuple(self._raised)

    def step(self, step: StepResult) -> StepResult:
        """The step with its findings regraded."""
        if not self._chosen or not any(f.ident in self._chosen for f in step.findings):
            return step
        return replace(step, findings=tuple(map(self.one, step.findings)))

    def run(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings of the run, regraded."""
        return [self.one(finding) for finding in findings]

    def one(self, finding: Finding) -> Finding:
        """One finding, regraded."""
        chosen = self._chosen.get(finding.ident, finding.severity)
        if chosen is finding.severity:
            return finding
        if chosen is Severity.ERROR:
            allowed = finding.allowed or finding.ident in self._allow
            if not allowed:
                self._raised[finding.ident] = None
            return replace(finding, severity=chosen, allowed=allowed)
        allowed = finding.allowed or finding.severity is Severity.ERROR
        return replace(finding, severity=chosen, allowed=allowed)
