"""Cuts inside the rounding of the float64 weights: undecided only where their side matters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import specdist
from specdist import Verdict

LOGITS = np.array([2.0, 1.5, 1.0, 0.25, -1.0, -2.0], dtype=np.float32)
DRAFT = np.array([1.0, 2.0, 0.5, 0.5, -1.0, 0.0], dtype=np.float32)


def mass_of_first(count: int) -> Fraction:
    """The mass of the ``count`` largest tokens for the weights as represented."""
    weights = [Fraction(w) for w in np.exp(LOGITS.astype(np.float64) - 2.0).tolist()]
    return sum(weights[:count], Fraction(0)) / sum(weights, Fraction(0))


def check(roles: dict[str, str], recipe: str = "raw") -> specdist.Report:
    return specdist.check(LOGITS, DRAFT, kind="logits", recipe=recipe, roles=roles)


def test_a_difference_that_hangs_on_the_cut_is_undecided() -> None:
    cut = mass_of_first(3)
    nudged = cut + Fraction(1, 2**60)
    recipe = f"top-p:{cut}"
    report = check({"accept_target": f"top-p:{nudged}"}, recipe)
    assert report.verdict is Verdict.UNDECIDED
    idents = [finding.ident for finding in report.steps[0].findings]
    assert "undecided-precision" in idents
    assert "output-mismatch" not in idents


def test_a_difference_on_either_side_of_the_cut_stays_different() -> None:
    recipe = f"top-p:{mass_of_first(3)}"
    report = check({"accept_target": "raw", "residual_target": "raw"}, recipe)
    assert report.verdict is Verdict.DIFFERENT


def test_equal_roles_stay_equal_whatever_the_side() -> None:
    report = check({}, f"top-p:{mass_of_first(3)}")
    assert report.verdict is Verdict.EQUAL
    assert [finding.ident for finding in report.steps[0].findings] == ["near-cut"]


def test_a_cut_with_room_is_no_matter() -> None:
    between = (mass_of_first(2) + mass_of_first(3)) / 2
    report = check(
        {"accept_target": f"top-p:{mass_of_first(3) - Fraction(1, 100)}"}, f"top-p:{between}"
    )
    assert report.verdict is Verdict.EQUAL
