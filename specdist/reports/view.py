"""What the reader of a terminal report asked for, and the words that all its parts share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from specdist.model.figure import Figure
from specdist.model.report import Report, StepResult
from specdist.reports import layout
from specdist.reports.figure_text import Numerals
from specdist.reports.style import PLAIN, Paint

Table = tuple[list[str], bool]

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

    def table(self, build: Callable[[Numerals, int, int], list[str]], width: int) -> Table:
        """The table in the chosen numerals, or in short ones where it is wider than ``width``;
        True with it then, so that the exact values are listed below."""

        def lines(numerals: Numerals) -> list[str]:
            return layout.fitted(lambda digits, gap: build(numerals, digits, gap), width)

        chosen = lines(self.numerals)
        if not self.exact or all(layout.width_of(line) <= width for line in chosen):
            return chosen, False
        return lines(Numerals()), True


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 step``, ``2 steps``."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def place(step: StepResult, position: int | None) -> str:
    """``FILE, step 0, position 1``."""
    return f"{_ELEMENT.sub('', step.source)}, step {step.id}{inner_place(position)}"


def inner_place(position: int | None) -> str:
    """``, position 1`` or ``, bonus row``; nothing for the step as a whole."""
    if position is None:
        return ""
    return ", bonus row" if position < 0 else f", position {position}"


def is_zero(figure: Figure) -> bool:
    """True when the number is zero exactly."""
    return figure.exact == 0 if figure.exact is not None else figure.approx == 0


def rounded(report: Report) -> bool:
    """True when float rounding entered any figure of the report."""
    rates = [position.acceptance_rate for step in report.steps for position in step.positions]
    rates += [step.joint.expected_accepted for step in report.steps if step.joint is not None]
    return any(rate.bound is not None for rate in rates)
