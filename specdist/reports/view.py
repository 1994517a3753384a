"""What the reader of a terminal report asked for, and the words that all its parts share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from specdist.model.figure import Figure
from specdist.model.report import Report, StepResult
from specdist.reports.figure_text import Numerals
from specdist.reports.style import PLAIN, Paint
from specdist.rules.registry import RULES

_ELEMENT = re.compile(r", steps\[\d+\]$")


@dataclass(frozen=True, slots=True)
class View:
    """Rows a table shows, how much is unfolded, whether fractions are spelled out, the colour."""

    show: int = 10
    verbose: bool = False
    quiet: bool = False
    exact: bool = False
    paint: Paint = PLAIN
    numerals: Numerals = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numerals", Numerals(self.exact))

    @property
    def limit(self) -> int | None:
        """How many rows a table may have; None when everything is to be shown."""
        return None if self.verbose else self.show


def rule_title(name: str) -> str:
    """``token`` as ``token verification``."""
    return next((rule.title for rule in RULES if rule.name == name), name)


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 step``, ``2 steps``."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def place(step: StepResult, position: int | None) -> str:
    """``FILE, step 0, position 1``."""
    inner = "" if position is None else ", bonus row" if position < 0 else f", position {position}"
    file = _ELEMENT.sub("", step.source)
    return f"{file}, step {step.id}{inner}"


def is_zero(figure: Figure) -> bool:
    """True when the number is zero exactly."""
    return figure.exact == 0 if figure.exact is not None else figure.approx == 0


def rounded(report: Report) -> bool:
    """True when float rounding entered any figure of the report."""
    return any(
        position.acceptance_rate.bound is not None
        for step in report.steps
        for position in step.positions
    )
