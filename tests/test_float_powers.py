"""Temperature 1/n on dumped probabilities is an exact power, also where float64 holds none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import specdist


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("power", [2, 3, 5])
def test_powers_are_exact(dtype: type, power: int) -> None:
    rows = [np.array([0.3, 0.4, 0.2, 0.1], dtype=dtype), np.array([0.4, 0.1, 0.25, 0.25], dtype)]
    report = specdist.check(*rows, temperature=Fraction(1, power), normalise=True)
    (position,) = report.steps[0].positions
    laws = []
    for row in rows:
        weights = [Fraction(float(value)) ** power for value in row]
        laws.append([weight / sum(weights) for weight in weights])
    assert [token.reference.exact for token in position.tokens] == laws[0]
    assert position.acceptance_rate.exact == sum(map(min, *laws))
    assert position.acceptance_rate.bound is None
    assert report.verdict == "equal"
