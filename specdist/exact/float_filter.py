"""The sign of ``sum_k c_k a_k(x)`` for every token x: a float64 filter with a proven bound.

Let ``d_k = fl(2**s |c_k|)``, correctly rounded, with s chosen so that the smallest of them is at
least 2**60. Then ``d_k a_k(x)`` neither underflows (a float64 is 0 or at least 2**-1074 in size)
nor loses relative accuracy, and with u = 2**-53 each computed product is ``2**s |c_k| a_k (1 + e)``
with ``|e| <= 2u + u**2``. Let A and B be the computed sums of the products with positive and with
negative sign, m products in all: nothing cancels in either, so each is off by a relative error of
at most ``(m + 2) u`` to first order, and ``(m + 3) u`` in full for m up to a million. Hence, with
``k = 1 + 4 (m + 3) u`` as a float64, ``A > fl(k B)`` proves that the sum is positive and
``B > fl(k A)`` that it is negative: ``(1 + t) / (1 - t) <= 1 + 2.01 t`` for ``t = (m + 3) u``,
and the rounding of ``fl(k B)`` is far inside the rest. Entries that neither test decides go to
fractions one by one, unless A = B = 0, when every atom is 0 there and so is the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specdist.exact.float_sum import BLOCK
from specdist.exact.law import LogScores

FloatArray = NDArray[np.float64]
_SCORE_BLOCK = 32_768
Values = Callable[[slice], FloatArray]
Term = tuple[Values, Sequence[NDArray[np.bool_]], Fraction]
"""How to get a block of an atom's values, the masks, and the coefficient."""


class Signs(NamedTuple):
    """Where a vector is positive and where it is negative, bool [n] each."""

    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]


def exact_sign_sets(size: int, terms: Sequence[Term]) -> Signs:
    """Signs of ``sum_k c_k a_k(x) [x in all masks of k]`` for x = 0 ... size - 1, exactly."""
    positive = np.zeros(size, dtype=np.bool_)
    negative = np.zeros(size, dtype=np.bool_)
    if not terms:
        return Signs(positive, negative)
    sizes = [abs(coefficient) for _, _, coefficient in terms]
    if max(sizes) > min(sizes) * 2**800:  # no common scale in float64
        return _signs_one_by_one(size, terms, positive, negative)
    factors = _scaled_factors(sizes)
    slack = 1.0 + 4 * (len(terms) + 3) * 2.0**-53
    buffers = np.empty((3, min(size, BLOCK)))
    for start in range(0, size, BLOCK):
        block = slice(start, min(start + BLOCK, size))
        above, below = _sums_by_sign(terms, factors, block, buffers)
        limit = buffers[2][: len(above)]
        np.greater(above, np.multiply(below, slack, out=limit), out=positive[block])
        np.greater(below, np.multiply(above, slack, out=limit), out=negative[block])
        decided = np.count_nonzero(positive[block]) + np.count_nonzero(negative[block])
        if decided == len(above):
            continue
        unsure = np.flatnonzero(~(positive[block] | negative[block]) & (above > 0)) + start
        for left, entries in _alike(terms, unsure):
            _decide(left, entries, positive, negative)
    return Signs(positive, negative)


def _alike(
    terms: Sequence[Term], entries: NDArray[np.intp]
) -> Iterator[tuple[dict[Values, Fraction], NDArray[np.intp]]]:
    """Entries where the same terms hold, with the coefficient of each array there: terms that
    cancel do so for all of them at once."""
    holds = [_inside(masks, entries) for _, masks, _ in terms]
    rest = np.ones(len(entries), dtype=np.bool_)
    while rest.any():
        first = int(np.argmax(rest))
        same = rest.copy()
        factors: dict[Values, Fraction] = {}
        for (values, _, coefficient), inside in zip(terms, holds, strict=True):
            same &= inside == inside[first]
            if inside[first]:
                factors[values] = factors.get(values, Fraction(0)) + coefficient
        yield {values: c for values, c in factors.items() if c}, entries[same]
        rest &= ~same


def _inside(masks: Sequence[NDArray[np.bool_]], entries: NDArray[np.intp]) -> NDArray[np.bool_]:
    inside = np.ones(len(entries), dtype=np.bool_)
    for mask in masks:
        inside &= mask[entries]
    return inside


def _decide(
    factors: Mapping[Values, Fraction],
    entries: NDArray[np.intp],
    positive: NDArray[np.bool_],
    negative: NDArray[np.bool_],
) -> None:
    """The signs of ``sum_a c_a a(x)``: that of c where a single array is not 0, by fractions where
    several are."""
    first, last = int(entries[0]), int(entries[-1])
    present = [values(slice(first, last + 1))[entries - first] > 0 for values in factors]
    count = np.sum(present, axis=0) if present else np.zeros(len(entries), dtype=np.intp)
    for factor, above in zip(factors.values(), present, strict=True):
        (positive if factor > 0 else negative)[entries[above & (count == 1)]] = True
    plain: list[Term] = [(values, (), factor) for values, factor in factors.items()]
    for entry in entries[count > 1].tolist():
        value = _exact_entry(plain, entry)
        positive[entry], negative[entry] = value > 0, value < 0


def _signs_one_by_one(
    size: int,
    terms: Sequence[Term],
    positive: NDArray[np.bool_],
    negative: NDArray[np.bool_],
) -> Signs:
    for entry in range(size):
        value = _exact_entry(terms, entry)
        positive[entry], negative[entry] = value > 0, value < 0
    return Signs(positive, negative)


def _scaled_factors(coefficients: Sequence[Fraction]) -> list[float]:
    smallest = min(coefficients)
    shift = 62 - (smallest.numerator.bit_length() - smallest.denominator.bit_length())
    scale = Fraction(2) ** shift
    return [float(c * scale) for c in coefficients]


def _sums_by_sign(
    terms: Sequence[Term], factors: Sequence[float], block: slice, buffers: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The sums A and B of the module docstring over one block."""
    length = block.stop - block.start
    above, below, product = (buffer[:length] for buffer in buffers)
    fresh = {True: True, False: True}
    for (values, masks, coefficient), factor in zip(terms, factors, strict=True):
        sign = coefficient > 0
        total = above if sign else below
        into = total if fresh[sign] else product
        np.multiply(values(block), factor, out=into)
        for mask in masks:
            into *= mask[block]
        if not fresh[sign]:
            total += product
        fresh[sign] = False
    for sign, total in ((True, above), (False, below)):
        if fresh[sign]:
            total.fill(0.0)
    return above, below


def _exact_entry(terms: Sequence[Term], entry: int) -> Fraction:
    value = Fraction(0)
    for values, masks, coefficient in terms:
        if all(mask[entry] for mask in masks):
            value += coefficient * Fraction(float(values(slice(entry, entry + 1))[0]))
    return value


def sure_signs(first: LogScores, second: LogScores, ratio: Fraction, bound: Fraction) -> Signs:
    """Signs of ``ratio * a(x) - b(x)`` from the logits behind a and b, where they are sure.

    With scores s and t, maxima m and n and one temperature T the sign is that of
    ``(s - t) - k + T e`` with ``k = m - n - T ln(ratio)`` and ``|e| <= 1.01 bound``: the weights
    are within relative errors of their exponentials that add up to ``bound``, below 1/100. In
    float32 ``D = fl(s - t)`` is off by ``2**-24 |D|``. If ``|D| <= 2 |k| + 1``, that is inside the
    margin ``(4 |k| + 2) 2**-23`` around k, which has room for the rounding of k itself and of the
    threshold to float32; if ``|D|`` is larger, D is further from k than half its own size. So
    ``D > k + margin`` proves the sign +, ``D < k - margin`` the sign -.
    """
    temperature = float(first.temperature)
    middle = first.largest - second.largest - temperature * _log(ratio)
    margin = (4 * abs(middle) + 2) * 2.0**-23 + 2 * temperature * float(bound)
    size = len(first.array)
    positive, negative = np.empty(size, dtype=np.bool_), np.empty(size, dtype=np.bool_)
    for start in range(0, size, _SCORE_BLOCK):
        block = slice(start, min(start + _SCORE_BLOCK, size))
        difference = first.block(block) - second.block(block)
        with np.errstate(over="ignore"):  # a threshold beyond float32 is infinity, and still right
            np.greater(difference, middle + margin, out=positive[block])
            np.less(difference, middle - margin, out=negative[block])
    return Signs(positive, negative)


def _log(value: Fraction) -> float:
    """``ln value`` to a few units in the last place, whatever the size of its integers."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return log(float(value / Fraction(2) ** shift)) + shift * log(2.0)
