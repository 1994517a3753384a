"""Numeric models are written as they are read."""

from __future__ import annotations

import pytest

from specdist.model.numerics import EXACT, read_numerics, written_numerics


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"uniform": "2^24"},
        {"uniform": "8:ends=both", "inequality": "inclusive", "ratio": "uncapped"},
        {"uniform": "1023:ends=neither", "zero-draft": "accept-all", "unnormalised": "yes"},
        {"uniform": "3:ends=one", "ratio-epsilon": "1/3", "residual-floor": "1/50"},
        {"empty-residual": "last"},
        {"empty-residual": "token:7"},
        {"empty-residual": "none", "zero-draft": "reject"},
    ],
)
def test_numerics_are_written_as_they_are_read(texts: dict[str, str]) -> None:
    assert written_numerics(read_numerics(texts)) == texts


def test_the_default_is_exact_and_needs_no_text() -> None:
    assert read_numerics({}) == EXACT
    assert written_numerics(EXACT) == {}
