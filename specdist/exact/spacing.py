"""The spacing of binary floating-point numbers: the distance of neighbours at a magnitude."""

from __future__ import annotations

from fractions import Fraction


def exponent_of(value: Fraction) -> int:
    """The largest e with ``2^e <= value``; ``value`` is above 0."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def spacing(magnitude: Fraction, precision: int, least_exponent: int) -> Fraction:
    """The distance of neighbouring numbers of ``precision`` bits in the binade of ``magnitude``;
    below ``2^least_exponent``, the smallest normal number, that of subnormal numbers."""
    exponent = least_exponent
    if magnitude > 0:
        exponent = max(exponent_of(magnitude), least_exponent)
    return Fraction(2) ** (exponent - precision + 1)


def is_on_grid(value: Fraction, precision: int, least_exponent: int) -> bool:
    """Whether a number of that format has the value, its largest exponent left aside."""
    return (value / spacing(abs(value), precision, least_exponent)).denominator == 1
