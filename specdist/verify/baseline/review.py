"""What a run says of its baseline at its end: the comparison, and the findings that follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specdist.model.baseline import BaselineReport
from specdist.model.finding import Finding, Severity
from specdist.model.settings import CheckSettings
from specdist.verify.baseline.comparison import Comparison
from specdist.verify.baseline.findings import Telling, baseline_findings


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison with its findings; None and none without a baseline."""

    report: BaselineReport | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def open_ended(self) -> bool:
        """Whether it is open that the run is no worse than its baseline."""
        return any(f.severity is Severity.WARNING and not f.allowed for f in self.findings)


def review(
    comparison: Comparison | None, checking: CheckSettings, said: Iterable[Finding]
) -> Compared:
    """The comparison of a run in which ``said`` was found. Raises SettingsError where no step of
    the run is in the baseline."""
    if comparison is None:
        return Compared()
    report = comparison.report()
    stopped = any(finding.ident == "undecided-budget" for finding in said)
    telling = Telling(checking.show, checking.allow, stopped)
    return Compared(report, tuple(baseline_findings(report, telling)))
