"""The hint that decimals look like printed floats, found without numpy."""

from __future__ import annotations

import struct
from fractions import Fraction

from specdist.model.row import NumberFormat, Row
from specdist.processing.logit import exact_sum
from specdist.processing.row_sum import sum_allowance


def number_format_hint(row: Row, values: tuple[Fraction | None, ...]) -> str:
    """A hint when every decimal is the text of a float and rounding explains the sum.

    Formats are tried from the tightest allowance to the widest; empty when none fits.
    """
    if row.numbers is not NumberFormat.DECIMAL:
        return ""
    numbers = [value for value in values if value is not None]
    total = exact_sum(numbers)
    for numbers_format in (
        NumberFormat.FLOAT64,
        NumberFormat.FLOAT32,
        NumberFormat.FLOAT16,
        NumberFormat.BFLOAT16,
    ):
        allowance = sum_allowance(numbers_format, row.size, total)
        if abs(total - 1) <= allowance and all(
            is_shortest_text(value, numbers_format) for value in numbers
        ):
            return f"these look like {numbers_format} values: --numbers {numbers_format}"
    return ""


def is_shortest_text(value: Fraction, numbers: NumberFormat) -> bool:
    """Whether ``value`` is the shortest decimal that reads back as a float of this format, or
    such a float as Python writes it (``array.tolist()`` widens to float64 first)."""
    try:
        stored = rounded(float(value), numbers)
    except OverflowError:
        return False
    if Fraction(repr(stored)) == value:
        return True
    for digits in range(1, 18):
        text = f"{stored:.{digits}g}"
        if rounded(float(text), numbers) == stored:
            return Fraction(text) == value
    return False


def rounded(value: float, numbers: NumberFormat) -> float:
    """``value`` rounded to the nearest float of the format, ties to even."""
    if numbers is NumberFormat.FLOAT64:
        return value
    if numbers is NumberFormat.BFLOAT16:
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
        # Rounds the lower half of the float32 away; a carry may run into the exponent, rightly.
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    code = "<e" if numbers is NumberFormat.FLOAT16 else "<f"
    return float(struct.unpack(code, struct.pack(code, value))[0])
