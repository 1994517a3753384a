"""Numbers of the JSON report: exact where they are known, with bound and closed form."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from specdist.model.figure import Figure
from specdist.reports.figure_text import fraction

_LONGEST_DENOMINATOR = 10**200

Object = dict[str, Any]


def number(figure: Figure, exact: bool) -> Object:
    """``{"exact": "7/10", "approx": 0.7}``, with ``bound`` and ``symbolic`` where there is one."""
    value = figure.exact
    if value is not None and not exact and value.denominator >= _LONGEST_DENOMINATOR:
        value = None
    shown: Object = {"exact": None if value is None else fraction(value), "approx": figure.approx}
    if figure.bound is not None:
        shown["bound"] = _upwards(figure.bound)
    if figure.symbolic is not None:
        shown["symbolic"] = figure.symbolic
    return shown


def optional(figure: Figure | None, exact: bool) -> Object | None:
    """A number, or null."""
    return None if figure is None else number(figure, exact)


def _upwards(value: Fraction) -> float:
    """The smallest float64 that is not below the bound."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
