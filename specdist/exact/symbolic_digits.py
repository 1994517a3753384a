"""Numbers out of closed forms: intervals of a stated width, nearest float64, correct decimals.

A quotient of exponential sums is rational or transcendental (an algebraic value c would make
``N - c D`` zero, hence N and D proportional over the rationals). So a value that is not rational
never lies on a rounding boundary, and raising the precision always settles its digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.symbolic_budget import SymbolicBudgetError
from specdist.exact.symbolic_enclosure import (
    MAX_BITS,
    Interval,
    exp_minus,
    ln_10,
)
from specdist.exact.symbolic_ratio import ExponentialRatio

PLAIN_EXPONENTS = range(-5, 16)
MAX_DIGITS = 4000  # the limit of int to str is 4300


def certified_fraction_interval(ratio: ExponentialRatio, digits: int) -> Interval:
    """(low, high) with ``low <= value <= high`` and ``high - low <= 10**-digits``.

    A rational value is returned as (value, value)."""
    exact = ratio.as_rational()
    if exact is not None:
        return exact, exact
    width = Fraction(1, 10**digits)
    for bits in _precisions(10 * digits // 3 + 16):
        low, high = ratio.interval(bits)
        if high - low <= width:
            return low, high
    raise _too_close()


def nearest_float(ratio: ExponentialRatio) -> float:
    """The float64 nearest to the value (0.0 below half of 2^-1074)."""
    exact = ratio.as_rational()
    if exact is not None:
        return float(exact)
    for bits in _precisions(96):
        low, high = (float(end) for end in ratio.interval(bits))
        if low == high:
            return low
    raise _too_close()


def decimal_text(ratio: ExponentialRatio, digits: int) -> str:
    """The value rounded to ``digits`` significant digits (half to even), all of them correct.

    Written plainly, or as ``2.70400e-7`` where more than five zeros would lead; values far outside
    the range of float64 are no exception."""
    if not 1 <= digits <= MAX_DIGITS:
        raise SettingsError(f"{digits} digits", expected=f"1 to {MAX_DIGITS} digits")
    exact = ratio.as_rational()
    if exact is not None:
        return _layout(*_significant(exact, digits), digits) if exact else "0"
    if abs(ratio.numerator.top) >= 1 << MAX_DIGITS:
        raise SymbolicBudgetError("a closed form is too small or large for decimal digits")
    for bits in _precisions(10 * digits // 3 + 32):
        (low, high), exponent = ratio.mantissa(bits)
        least, most, tens = _power_of_ten(exponent, bits)
        ends = (
            low * (least if low >= 0 else most),
            high * (most if high >= 0 else least),
        )
        if ends[0] * ends[1] > 0:
            texts = {_significant(end, digits) for end in ends}
            if len(texts) == 1:
                whole, scale = texts.pop()
                return _layout(whole, scale + tens, digits)
    raise _too_close()


def _power_of_ten(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction, int]:
    """(low, high, k) with ``low <= exp(exponent) / 10**k <= high <= 1``."""
    size = (abs(exponent.numerator) // exponent.denominator + 1).bit_length()
    work = bits + size + 8
    low, high = ln_10(work)
    k = -(-(exponent.numerator << work) // (exponent.denominator * low))
    ends = [k * Fraction(end, 1 << work) - exponent for end in (low, high)]
    if min(ends) < 0:  # the next power is certainly large enough
        k += 1
        ends = [k * Fraction(end, 1 << work) - exponent for end in (low, high)]
    unit = 1 << bits
    near, far = (Fraction(end * unit // 1, unit) for end in (min(ends), max(ends)))
    far += Fraction(1, unit)
    return (
        Fraction(exp_minus(far, bits)[0], unit),
        Fraction(exp_minus(near, bits)[1], unit),
        k,
    )


def _significant(value: Fraction, digits: int) -> tuple[int, int]:
    """(n, s) with ``n * 10**s`` the value rounded half to even to ``digits`` digits."""
    size = abs(value)
    binary = size.numerator.bit_length() - size.denominator.bit_length()
    scale = (binary - 1) * 30103 // 100000 - 1 - digits  # log10(2) = 0.30103: not above
    while round(size / Fraction(10) ** scale) >= 10**digits:
        scale += 1
    whole = round(size / Fraction(10) ** scale)
    return (whole if value > 0 else -whole), scale


def _layout(whole: int, scale: int, digits: int) -> str:
    text = str(abs(whole))
    exponent = scale + len(text) - 1
    sign = "-" if whole < 0 else ""
    if exponent not in PLAIN_EXPONENTS:
        return f"{sign}{text[0]}{'.' if digits > 1 else ''}{text[1:]}e{exponent}"
    if scale >= 0:
        return sign + text + "0" * scale
    padded = text.rjust(1 - scale, "0")
    return f"{sign}{padded[:scale]}.{padded[scale:]}"


def _precisions(start: int) -> Iterator[int]:
    bits = start
    while bits <= max(MAX_BITS, start):
        yield bits
        bits *= 2


def _too_close() -> SymbolicBudgetError:
    return SymbolicBudgetError(
        f"the digits of a closed form are not settled by {MAX_BITS} bits",
        advice="ask for fewer digits",
    )
