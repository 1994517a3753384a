"""A law with one token raised, for every token, and the residuals that follow from it.

Law. For a law p and delta >= 0, token n raised is

    h(n) = min(1, p(n) + sqrt(2 delta p(n) (1 - p(n)))),

and the others are scaled by ``s(n) = (1 - h(n)) / (1 - p(n))``.

With k(n) rejected after n and ``w_n(y) = max(s(n) p(y) - u(y), F)`` for y other than n, and
``w_n(n) = max(h(n) - u(n), F)``, the recovered mass is ``sum_n k(n) w_n(y) / Z(n)``,
``Z(n) = sum_y w_n(y)``. Because s p - u is positive exactly where s exceeds the ratio
``rho(y) = (u(y) + F) / p(y)``, both sums are prefix sums, by rho and by s.

Errors. Let p be right within a relative e (at most 1/8) and roots within a relative r. For
``p <= 1/2`` the root moves by at most a relative e, so h by ``E = 1.1 e + r``, and s by
``Ds = 5 E h``. One token may have ``p > 1/2``; there h moves by at most
``Dh = e + sqrt(2 delta) min(e / sqrt(p (1 - p) - e), sqrt(e)) + r`` and s by
``(Dh + e) / (1 - p - e)``, never by more than 1. So w_n moves by ``Dh + Ds + e + error(u)`` in
all, and its law by twice that over Z(n).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isqrt, sqrt

from specdist.exact.rational_vector import RationalVector
from specdist.exact.vector import ExactVector

_ZERO, _ONE, _TWO = Fraction(0), Fraction(1), Fraction(2)
_ROOT_BITS = 400
_ROOT_ERROR = Fraction(1, 2**195)


@dataclass(frozen=True, slots=True)
class Raised:
    """h as a vector, whose error is the relative one of tokens with ``p <= 1/2``; the law p and a
    relative error that has room for rounding; the token above 1/2, if any, and the error of its h.
    """

    vector: ExactVector
    law: ExactVector
    error: Fraction
    heavy: int | None
    heavy_error: Fraction

    def moved(self, token: int) -> Fraction:
        """``Dh + Ds`` of the module docstring."""
        if not self.error:
            return _ZERO
        if self.vector.error >= 1:
            return _TWO
        if token != self.heavy:
            return min(6 * self.vector.error * self.vector.value(token), _TWO)
        left = 1 - self.law.value(token) - self.error
        scale = min((self.heavy_error + self.error) / left, _ONE) if left > 0 else _ONE
        return self.heavy_error + scale


def raised(law: ExactVector, delta: Fraction) -> Raised:
    """h for every token."""
    top = law.largest(1)[0]
    mass = law.value(top)
    heavy = top if mass > Fraction(1, 2) else None
    vector, rounded = _heights(law, delta)
    error = law.error + rounded
    heavy_error = _heavy_error(mass, error, delta) if heavy is not None else _ZERO
    light = law.error * 11 / 10 + rounded if law.error <= Fraction(1, 8) else _TWO
    return Raised(vector.widened(light), law, error, heavy, min(heavy_error, _ONE))


def _heights(law: ExactVector, delta: Fraction) -> tuple[ExactVector, Fraction]:
    """h for every token, and the relative error of light ones by rounding."""
    if not isinstance(law, RationalVector):
        from specdist.exact.float_raised import float_heights

        return float_heights(law, delta)
    rounded, heights = _ZERO, []
    for p in law.entries:
        root, exact = _root(2 * delta * p * (1 - p))
        rounded = rounded if exact else _ROOT_ERROR
        heights.append(min(_ONE, p + root))
    return RationalVector(tuple(heights)), rounded


def _root(square: Fraction) -> tuple[Fraction, bool]:
    """The square root, and whether it is exact; else within a relative 2**-197."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Fraction(top, bottom), True
    shift = _ROOT_BITS + square.denominator.bit_length() - square.numerator.bit_length()
    shift += shift % 2
    scaled = (square.numerator << shift) // square.denominator
    return Fraction(isqrt(scaled), 1 << (shift // 2)), False


def _heavy_error(p: Fraction, error: Fraction, delta: Fraction) -> Fraction:
    if not error:
        return _ZERO
    left = float(p * (1 - p) - error)
    steep = sqrt(float(error))
    if left > 0:
        steep = min(steep, float(error) / sqrt(left))
    return 2 * error + Fraction(1.001 * sqrt(2 * float(delta)) * steep)


@dataclass(frozen=True, slots=True)
class Spread:
    """Recovered mass, and the rejected mass for which nothing is left."""

    recovered: ExactVector
    lost: Fraction


def recovered_by_raised(
    refused: ExactVector, found: Raised, subtracted: ExactVector | None, floor: Fraction
) -> Spread:
    """The law of the module docstring; ``subtracted`` is u, None for the point mass at n."""
    if not isinstance(refused, RationalVector):
        from specdist.exact.float_raised import float_recovered

        return float_recovered(refused, found, subtracted, floor)
    law, vector = found.law, found.vector
    if not isinstance(law, RationalVector) or not isinstance(vector, RationalVector):
        raise TypeError("vectors of two kinds")
    if subtracted is None:
        taken, at_drafted = (_ZERO,) * law.size, (floor,) * law.size
        inherited = law.error
    elif isinstance(subtracted, RationalVector):
        taken = subtracted.entries
        pairs = zip(vector.entries, taken, strict=True)
        at_drafted = tuple(max(height - u, floor) for height, u in pairs)
        inherited = law.error + subtracted.error
    sums = _Sums(law.entries, vector.entries, taken, at_drafted, floor)
    values, masses, lost = sums.recovered(refused.entries)
    error = refused.error
    for token, mass in masses.items():
        moved = found.moved(token) + inherited
        error += abs(refused.entries[token]) * min(2 * moved / mass, _TWO)
    return Spread(RationalVector(tuple(values), error), lost)


class _Sums:
    """Prefix sums by rho, and the weights of single tokens."""

    def __init__(
        self,
        law: tuple[Fraction, ...],
        heights: tuple[Fraction, ...],
        taken: tuple[Fraction, ...],
        at_drafted: tuple[Fraction, ...],
        floor: Fraction,
    ) -> None:
        self._law, self._floor, self._at_drafted = law, floor, at_drafted
        self._taken = [u + floor for u in taken]
        pairs = zip(law, heights, strict=True)
        self._scale = [(1 - h) / (1 - p) if p != 1 else _ZERO for p, h in pairs]
        self._ratio = {y: self._taken[y] / p for y, p in enumerate(law) if p}
        order = sorted(self._ratio, key=self._ratio.__getitem__)
        self._ratios = [self._ratio[y] for y in order]
        self._above = list(accumulate((law[y] for y in order), initial=_ZERO))
        self._below = list(accumulate((self._taken[y] for y in order), initial=_ZERO))

    def _beside(self, token: int) -> Fraction:
        """``max(s p - u, F)`` of a token in its own residual, which it has not."""
        scaled = self._scale[token] * self._law[token]
        return max(scaled - self._taken[token], _ZERO) + self._floor

    def _mass(self, token: int) -> Fraction:
        """Z(n)."""
        scale = self._scale[token]
        place = bisect_left(self._ratios, scale)
        inside = scale * self._above[place] - self._below[place] + len(self._law) * self._floor
        return inside - self._beside(token) + self._at_drafted[token]

    def recovered(
        self, refused: tuple[Fraction, ...]
    ) -> tuple[list[Fraction], dict[int, Fraction], Fraction]:
        """Recovered mass by token, Z(n) of the rejected ones, and the mass with Z(n) = 0."""
        masses = {n: self._mass(n) for n, k in enumerate(refused) if k}
        lost = sum((refused[n] for n, mass in masses.items() if not mass), _ZERO)
        masses = {n: mass for n, mass in masses.items() if mass}
        shares = {n: refused[n] / mass for n, mass in masses.items()}
        order = sorted(masses, key=self._scale.__getitem__)
        scales = [self._scale[n] for n in order]
        plain = _suffixes(order, lambda n: shares[n])
        scaled = _suffixes(order, lambda n: shares[n] * self._scale[n])
        values = [plain[0] * self._floor] * len(self._law)
        for y, ratio in self._ratio.items():
            place = bisect_right(scales, ratio)
            values[y] += self._law[y] * scaled[place] - self._taken[y] * plain[place]
        for n, share in shares.items():
            values[n] += share * (self._at_drafted[n] - self._beside(n))
        return values, masses, lost


def _suffixes(order: list[int], value: Callable[[int], Fraction]) -> list[Fraction]:
    """``sum`` of the values from each place on, and 0 at the end."""
    return list(accumulate(map(value, reversed(order)), initial=_ZERO))[::-1]
