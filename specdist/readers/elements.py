"""The number formats that tensors are stored in, by the names that files use for them."""

from __future__ import annotations

from dataclasses import dataclass

from specdist.errors import CaptureError
from specdist.model.row import NumberFormat


@dataclass(frozen=True, slots=True)
class Element:
    """One stored number. ``code`` is numpy's type code without byte order; bfloat16 is read as
    its 16 bits. ``numbers`` is None for integers and bools, which are never read as a row."""

    name: str
    code: str
    size: int
    numbers: NumberFormat | None = None
    big_endian: bool = False

    @property
    def dtype(self) -> str:
        """The numpy type with its byte order."""
        return (">" if self.big_endian else "<") + self.code


FLOAT16 = Element("float16", "f2", 2, NumberFormat.FLOAT16)
BFLOAT16 = Element("bfloat16", "u2", 2, NumberFormat.BFLOAT16)
FLOAT32 = Element("float32", "f4", 4, NumberFormat.FLOAT32)
FLOAT64 = Element("float64", "f8", 8, NumberFormat.FLOAT64)
INTEGERS = tuple(
    Element(name, code, size)
    for name, code, size in (
        ("bool", "b1", 1),
        ("int8", "i1", 1),
        ("uint8", "u1", 1),
        ("int16", "i2", 2),
        ("uint16", "u2", 2),
        ("int32", "i4", 4),
        ("uint32", "u4", 4),
        ("int64", "i8", 8),
        ("uint64", "u8", 8),
    )
)
BY_NAME = {e.name: e for e in (FLOAT16, BFLOAT16, FLOAT32, FLOAT64, *INTEGERS)}


def as_row_element(element: Element, numbers: NumberFormat | None, place: str) -> Element:
    """The element that rows are read as, given ``--numbers``. Raises CaptureError.

    Sixteen-bit integers are bfloat16 bit patterns only when the user says so; other integers
    never hold a distribution.
    """
    if element.numbers is not None:
        return element
    if element.size == 2 and element.name in ("uint16", "int16"):
        if numbers is NumberFormat.BFLOAT16:
            return Element("bfloat16", "u2", 2, NumberFormat.BFLOAT16, element.big_endian)
        raise CaptureError(
            f"these are {element.name} numbers, perhaps bfloat16 bit patterns",
            place=place,
            expected="floating point rows",
            advice="pass --numbers bfloat16 if they are the bits of bfloat16 values",
        )
    raise CaptureError(
        f"{element.name} numbers are no logits, log-probabilities or probabilities",
        place=place,
        expected="float16, bfloat16, float32 or float64",
    )
