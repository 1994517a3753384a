"""Fractions that know how far the real number may be: rounded weights under exact arithmetic.

A `Bounded` stands for every real number x with ``|x - value| <= error``. Sums, products and
quotients carry the error along. ``<`` is answered only where all those numbers give the same
answer, and raises `OpenComparisonError` otherwise; `least` and `surplus` need no answer. A bounded
number is never false and equal to no other object: code which skips zeros, or takes a shorter way
for equal numbers, skips nothing that may be there. Code that is written for fractions gives, on
bounded ones, a result with a proven error, or none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

from specdist.exact.law import RationalLaw
from specdist.exact.rational_vector import relative_to_absolute

_ZERO, _ONE = Fraction(0), Fraction(1)
_DEEP = Fraction(1, 2**960)


class OpenComparisonError(Exception):
    """The order of two numbers is within their rounding."""


class Bounded(Fraction):
    """A fraction with an absolute error (module docstring)."""

    __slots__ = ("error",)
    error: Fraction

    def __new__(cls, value: Fraction, error: Fraction) -> Bounded:
        made = super().__new__(cls, value.numerator, value.denominator)
        made.error = error
        return made

    def __add__(self, other: Any) -> Fraction:  # type: ignore[override]
        return _made(Fraction.__add__(self, other), self.error + error_of(other))

    def __sub__(self, other: Any) -> Fraction:  # type: ignore[override]
        return _made(Fraction.__sub__(self, other), self.error + error_of(other))

    def __mul__(self, other: Any) -> Fraction:  # type: ignore[override]
        theirs = error_of(other)
        error = abs(_value(self)) * theirs + (abs(_value(other)) + theirs) * self.error
        return _made(Fraction.__mul__(self, other), error)

    def __truediv__(self, other: Any) -> Fraction:  # type: ignore[override]
        return _quotient(self, other)

    def __rtruediv__(self, other: Any) -> Fraction:  # type: ignore[override]
        return _quotient(other, self)

    def __radd__(self, other: Any) -> Fraction:  # type: ignore[override]
        return self.__add__(other)

    def __rsub__(self, other: Any) -> Fraction:  # type: ignore[override]
        return (-self).__add__(other)

    def __rmul__(self, other: Any) -> Fraction:  # type: ignore[override]
        return self.__mul__(other)

    def __neg__(self) -> Bounded:
        return Bounded(Fraction.__neg__(self), self.error)

    def __pos__(self) -> Bounded:
        return self

    def __abs__(self) -> Fraction:
        return -self if self < 0 else self

    def __pow__(self, exponent: Any, modulo: Any = None) -> Any:
        if not isinstance(exponent, int) or exponent < 0:
            raise OpenComparisonError("a bounded number is raised to whole powers only")
        power: Fraction = Fraction(1)
        for _ in range(exponent):
            power = power * self
        return power

    def _refused(self, *others: Any) -> Any:
        raise OpenComparisonError("a bounded number is not rounded to a whole one")

    __int__ = __floor__ = __ceil__ = __trunc__ = __mod__ = __rmod__ = __rpow__ = _refused
    __rfloordiv__ = __divmod__ = __rdivmod__ = _refused  # type: ignore[assignment]
    __round__ = _refused  # type: ignore[assignment]
    __floordiv__ = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return Bounded, (plain(self), self.error)

    def __copy__(self) -> Bounded:
        return self

    def __deepcopy__(self, memo: Any) -> Bounded:
        return self

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return other is self

    def __hash__(self) -> int:  # type: ignore[override]
        return Fraction.__hash__(self)

    def __lt__(self, other: Any) -> bool:
        return _sign(self, other) < 0

    def __le__(self, other: Any) -> bool:
        return _sign(self, other) <= 0

    def __gt__(self, other: Any) -> bool:
        return _sign(self, other) > 0

    def __ge__(self, other: Any) -> bool:
        return _sign(self, other) >= 0


def least(first: Fraction, second: Fraction) -> Fraction:
    """``min(first, second)``, which is off by no more than the larger of the two errors."""
    error = max(error_of(first), error_of(second))
    if not error:
        return min(first, second)
    if abs(plain(first) - plain(second)) > error_of(first) + error_of(second):
        return min(first, second)
    return _made(min(plain(first), plain(second)), error)


def at_most_one(above: Fraction, below: Fraction) -> Fraction:
    """``min(1, above / below)`` of a number that is not negative and one that is positive: anything
    from 0 to 1 where rounding leaves nothing of ``below``."""
    error = error_of(below)
    if error and plain(below) <= error:
        return Bounded(min(_ONE, plain(above) / plain(below)), _ONE)
    return least(_ONE, above / below)


def surplus(above: Fraction, below: Fraction) -> Fraction:
    """``max(above - below, 0)``, off by no more than the difference is; 0 for certain where all
    of it is."""
    gap = above - below
    error = error_of(gap)
    if error and abs(plain(gap)) <= error:
        return Bounded(max(plain(gap), _ZERO), error)
    return gap if plain(gap) > 0 else _ZERO


def most(number: Fraction) -> Fraction:
    """The largest that the real number may be."""
    return plain(number) + error_of(number)


def bounded(
    values: Sequence[Fraction], relative: Fraction, marks: Sequence[Hashable] | None = None
) -> tuple[Fraction, ...]:
    """Probabilities that are each off by at most a share of themselves; zeros are exact. Of those
    below 2**-960, whose weights may have underflowed, only their size is known.

    Entries of one mark are one real number, and so one object; without marks those of one value.
    """
    if not relative:
        return tuple(values)
    known: dict[Hashable, Fraction] = {}
    for mark, value in zip(marks or values, values, strict=True):
        error = value * relative if value >= _DEEP else 2 * _DEEP
        known.setdefault((mark, value), Bounded(value, error) if value else value)
    return tuple(known[mark, value] for mark, value in zip(marks or values, values, strict=True))


def bounded_law(law: RationalLaw) -> tuple[Fraction, ...]:
    """The probabilities of a law with what the rounding of its weights makes of them. Raises
    `OpenComparisonError` where so little is known of the weights that the bound says nothing."""
    relative = relative_to_absolute(law.bound)
    if relative >= 1:
        raise OpenComparisonError("the weights of a row may be anything")
    return bounded(law.values, relative, law.exponents)


def error_of(number: Any) -> Fraction:
    """How far the real number may be; 0 for a number that is exact."""
    return number.error if isinstance(number, Bounded) else _ZERO


def plain(number: Fraction) -> Fraction:
    """The represented value alone."""
    if isinstance(number, Bounded):
        return Fraction(number.numerator, number.denominator)
    return number


def _value(number: Any) -> Fraction:
    """The represented value of a bounded number, a fraction or an integer."""
    return plain(number) if isinstance(number, Fraction) else Fraction(number)


def _made(value: Fraction, error: Fraction) -> Fraction:
    return Bounded(value, _short(error)) if error else Fraction(value.numerator, value.denominator)


def _short(error: Fraction) -> Fraction:
    """The next multiple of 2**-200 above: errors need no long denominators."""
    if error.denominator.bit_length() <= 400:
        return error
    return Fraction(-(-(error.numerator << 200) // error.denominator), 1 << 200)


def _quotient(above: Any, below: Any) -> Fraction:
    """``(a +- e) / (b +- f)`` is within ``(e + |a/b| f) / (|b| - f)`` of a/b."""
    size, error = abs(_value(below)), error_of(below)
    if size <= error:
        raise OpenComparisonError("a divisor may be 0")
    value = _value(above) / _value(below)
    return _made(value, (error_of(above) + abs(value) * error) / (size - error))


def _sign(first: Any, second: Any) -> int:
    """Of the difference. Raises `OpenComparisonError` where the errors leave it open."""
    gap = _value(first) - _value(second)
    error = error_of(first) + error_of(second)
    if error and abs(gap) <= error:
        raise OpenComparisonError("the order of two numbers is within their rounding")
    return (gap > 0) - (gap < 0)
