"""The verdicts. Three answers and what a declared tolerance or an empty run makes of them."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    EQUAL = "equal"
    WITHIN_TOLERANCE = "within-tolerance"
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    NOTHING_CHECKED = "nothing-checked"
