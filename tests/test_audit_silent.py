"""A right sampler is never accused: 200 table models, adversarial ones first, for each of six
implementations."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdist.audit.context import Setup
from specdist.audit.run import Audit
from specdist.model.finding import Severity
from specdist.model.verdict import Verdict
from tests.audit_right_code import RIGHT

ROUNDING = Fraction(1, 2**40)
SHAPES = ((3, 1, 1, 100), (3, 2, 1, 15), (4, 1, 1, 25), (2, 2, 1, 40), (2, 1, 2, 20))
"""Tokens, draft tokens, steps, and how many models."""
LONG = ((2, 1, 2, 90), (3, 1, 2, 8), (3, 1, 1, 102))
"""The same for code whose steps share state."""


def test_there_are_two_hundred_models_for_each() -> None:
    assert len(RIGHT) >= 5
    assert all(sum(count for *_, count in shapes) == 200 for shapes in (SHAPES, LONG))


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_is_never_accused(name: str) -> None:
    for vocab, gamma, steps, count in LONG if name == "with state" else SHAPES:
        setup = Setup(vocab, gamma, steps, dtype="float64", framework="numpy")
        report = Audit(RIGHT[name], f"{name}.py:step", setup, count).report()
        assert report.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
        assert len(report.tables) == count
        for result in report.tables:
            assert result.total_variation.exact is not None
            assert result.total_variation.exact <= ROUNDING
            assert result.outside.exact == 0
            assert not result.raised
            assert result.draft is not None
            assert result.draft.total_variation.approx <= ROUNDING
        assert {finding.ident for finding in report.findings} <= {"numeric-rounding"}
        assert all(finding.severity is Severity.NOTE for finding in report.findings)
