"""Copies of generators, and arrays that are the same under another name: exact laws."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.audit.refusals import RefusalError
from tests.audit_laws import law

HALF = Fraction(1, 2)


def _pair(make: Callable[[], Any], copied: Callable[[Any], Any], before: int = 0) -> int:
    """Whether a generator and its copy draw below 1/2, as two bits."""
    generator = make()
    for _ in range(before):
        generator.random()
    other = copied(generator)
    return 2 * int(generator.random() < 0.5) + int(other.random() < 0.5)


@pytest.mark.parametrize("make", [random.Random, np.random.default_rng, lambda: random.Random(1)])
@pytest.mark.parametrize("before", [0, 1])
def test_a_deep_copy_of_a_generator_draws_the_same(make: Callable[[], Any], before: int) -> None:
    assert law(lambda: _pair(make, copy.deepcopy, before)) == {0: HALF, 3: HALF}


def test_a_copy_of_a_bit_generator_draws_the_same() -> None:
    def copied(generator: Any) -> Any:
        return np.random.Generator(copy.copy(generator.bit_generator))

    assert law(lambda: _pair(np.random.default_rng, copied)) == {0: HALF, 3: HALF}


def test_a_shallow_copy_of_a_generator_shares_its_stream() -> None:
    both = law(lambda: _pair(np.random.default_rng, copy.copy))
    assert both == dict.fromkeys(range(4), HALF / 2)


@pytest.mark.parametrize("make", [random.Random, np.random.default_rng])
def test_a_generator_that_is_pickled_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(RefusalError, match="pickled"):
        law(lambda: _pair(make, lambda generator: pickle.loads(pickle.dumps(generator))))


def _converted(kind: Any, copied: bool) -> int:
    uniforms = np.random.default_rng().random(1)
    scaled = uniforms.astype(kind, copy=copied)
    scaled *= 2
    return int(uniforms[0] < 0.5)


def test_an_array_that_is_not_copied_stays_the_same_array() -> None:
    assert law(lambda: _converted(np.float64, copied=False)) == {0: 3 * HALF / 2, 1: HALF / 2}
    assert law(lambda: _converted(np.float64, copied=True)) == {0: HALF, 1: HALF}
    assert law(lambda: _converted(np.float32, copied=False)) == {0: HALF, 1: HALF}
