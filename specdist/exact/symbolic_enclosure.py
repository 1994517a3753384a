"""Certified integer enclosures of ``exp`` and ``ln 10``: the only transcendental evaluation here.

A fixed-point enclosure with ``bits`` is a pair of integers (low, high) with
``low <= value * 2**bits <= high``. All rounding is outward, so the enclosures hold whatever the
precision; the width is proven where it is stated.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from specdist.exact.symbolic_budget import SymbolicBudgetError

MAX_BITS = 1 << 17

Interval = tuple[Fraction, Fraction]


@lru_cache(maxsize=1 << 14)
def exp_minus(distance: Fraction, bits: int) -> tuple[int, int]:
    """``exp(-distance)`` for ``distance >= 0``, ``bits >= 1``, with ``high - low <= 3``.

    Method: ``y = distance / 2**m <= 1/2``, alternating Taylor sum of exp(-y) with w fractional
    bits, then m squarings. Proof of the width, in units of ``2**-w``:

    * Y = floor(y 2^w), t_0 = 2^w, t_k = floor(t_(k-1) Y / (k 2^w)) against T_k = y^k / k! 2^w.
      By induction ``0 <= T_k - t_k <= 2``: the error is at most
      ``(2 y + t_(k-1) 2^-w) / k + 1``, which is 2 for k = 1 (T_0 = t_0) and below 2 later.
    * The loop ends at the first K with t_K = 0. The tail alternates and falls, so it is at most
      T_K <= 2; the K - 1 terms before contribute at most 2 each: the sum errs by at most 2 K.
    * A squaring rounded outward, of an interval inside [0, 1], maps a width d to at most
      2 d + 2. Hence d + 2 at most doubles, and the last width is at most ``2**m (4 K + 2)``.
    * ``K <= w / h + 1 <= w + 1``, and ``2**(w - m - bits) >= 64 (bits + m) >= 4 w + 6``: the last
      width is at most ``2**-bits``, and rounding outward to ``bits`` adds less than 2 units.
    """
    if not distance:
        return 1 << bits, 1 << bits
    if distance >= bits:  # exp(-bits) < 2**-bits
        return 0, 1
    top, bottom = distance.numerator, distance.denominator
    step = isqrt(bits) // 2 + 1
    halvings = max(0, top.bit_length() - bottom.bit_length() + 1 + step)
    w = bits + halvings + (bits + halvings).bit_length() + 6
    y = (top << w) // (bottom << halvings)
    term, total, k = 1 << w, 1 << w, 0
    while term:
        k += 1
        term = (term * y >> w) // k
        total += -term if k & 1 else term
    one = 1 << w
    low, high = max(0, total - 2 * k), min(one, total + 2 * k)
    for _ in range(halvings):
        low, high = low * low >> w, -(-high * high >> w)
    return low >> (w - bits), -(-high >> (w - bits))


def exp_interval(exponent: Fraction, bits: int) -> Interval:
    """``exp(exponent)``: absolute width <= 3 * 2^-bits for exponents <= 0, relative width below
    2^(2 - bits) for positive ones. Raises `SymbolicBudgetError` beyond about `MAX_BITS` bits."""
    if exponent <= 0:
        low, high = exp_minus(-exponent, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)
    extra = 3 * -(-exponent.numerator // (2 * exponent.denominator)) + 2  # 3/2 > log2(e)
    if extra > MAX_BITS:
        raise SymbolicBudgetError("a closed form is too large to write out")
    work = bits + extra
    low, high = exp_minus(exponent, work)
    return Fraction(1 << work, high), Fraction(1 << work, low)


@lru_cache(maxsize=64)
def ln_10(bits: int) -> tuple[int, int]:
    """``ln 10 = 46 artanh(1/31) + 34 artanh(1/49) + 20 artanh(1/161)``, width at most 2.

    Each series has positive terms ``1 / ((2 j + 1) n^(2 j + 1))``, each floored twice (error
    below 2 units of ``2**-w``); after the first power that is 0 the rest is below 2 units. With
    j <= w / 9 + 1 terms in each the width is below ``2**(w - bits)``, and rounding adds 2 units.
    """
    w = bits + bits.bit_length() + 12
    low = high = 0
    for factor, n in ((46, 31), (34, 49), (20, 161)):
        power, j, total = (1 << w) // n, 0, 0
        while power:
            total += power // (2 * j + 1)
            power //= n * n
            j += 1
        low += factor * total
        high += factor * (total + 2 * j + 2)
    return low >> (w - bits), -(-high >> (w - bits))
