"""The words and numbers that all parts of a report of an audit share.

Traced laws are exact, and written so. What a probe found is written in decimals with its bound: no
number of a probe is given as a fraction, and none is called exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from specdist.model.audit_report import AuditReport, Mode, TableResult
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict
from specdist.reports.figure_text import Numerals, bound, decimal
from specdist.reports.view import plural

_SHORT = {
    Verdict.EQUAL: "equal",
    Verdict.WITHIN_TOLERANCE: "rounding",
    Verdict.DIFFERENT: "different",
    Verdict.UNDECIDED: "undecided",
    Verdict.NOTHING_CHECKED: "nothing",
}
"""Verdicts as they stand in a table."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How the numbers of one report are written."""

    mode: Mode
    numerals: Numerals

    @classmethod
    def of(cls, report: AuditReport, numerals: Numerals) -> Sizes:
        """Those of this report."""
        return cls(report.mode, numerals)

    def known(self, figure: Figure) -> Figure:
        """The number as far as the mode knows it."""
        if self.mode is Mode.TRACED:
            return figure
        return Figure(figure.approx, None, figure.bound)

    def verdict(self, table: TableResult) -> str:
        """The verdict of a table in a word or two; a probe proves no equality."""
        fine = table.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
        return "in bound" if fine and self.mode is Mode.PROBE else _SHORT[table.verdict]

    def rate(self, figure: Figure) -> str:
        """``1/8 = 0.125``, or ``2.91e-08``."""
        known = self.known(figure)
        if self.numerals.is_fraction(known):
            return self.numerals.rate(known)
        return decimal(known, 3)

    def size(self, table: TableResult) -> str:
        """The total variation of a table, with what a probe may have missed or a budget left."""
        least = "at least " if table.unexplored is not None else ""
        return least + self.rate(table.total_variation) + margin(table)


def margin(table: TableResult) -> str:
    """`` +- 0.0031``, rounded up; nothing for a traced law."""
    if table.bound is None:
        return ""
    exact = table.bound.exact
    return f" +- {bound(exact) if exact is not None else f'{table.bound.approx:.2g}'}"


def worst(report: AuditReport) -> TableResult | None:
    """The table of largest total variation; None without tables."""
    return max(report.tables, key=lambda table: table.total_variation.approx, default=None)


def magnitude(count: int) -> str:
    """``6,084``, or ``about 1.2e+13``."""
    if count < 10**9:
        return f"{count:,}"
    digits = str(count)
    return f"about {digits[0]}.{digits[1]}e+{len(digits) - 1}"


def extent(report: AuditReport) -> str:
    """``3 tokens, 2 draft tokens, 2 steps``, from the settings."""
    said = report.settings
    nouns = {"vocab": "token", "gamma": "draft token", "steps": "step"}
    known = {noun: said.get(name) for name, noun in nouns.items()}
    return ", ".join(plural(n, noun) for noun, n in known.items() if isinstance(n, int))


def against(report: AuditReport) -> str:
    """What the law is compared with."""
    named = report.settings.get("reference")
    return f"the reference {named}" if named else "the target"
