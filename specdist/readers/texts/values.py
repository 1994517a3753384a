"""The values of one position, looked up by token: from the rows of an engine's file or a dump."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, RationalValues
from specdist.model.texts import Given, Key, TokenValues

if TYPE_CHECKING:
    from specdist.readers.engine_files.engine_file import EngineRow, Label


def label_bytes(label: Label) -> bytes:
    """The bytes of a token that has no id; lone surrogates stay what they are."""
    return label if isinstance(label, bytes) else label.encode("utf-8", "surrogatepass")


def key_of(row: EngineRow) -> Key | None:
    """What the token of a row is known by; None where the file does not say which one it was."""
    if row.token is None:
        return None
    return row.token if row.labels is None else label_bytes(row.labels[row.token])


def values_of(row: EngineRow) -> TokenValues | None:
    """The values of a row; None for a position that must not be used."""
    if row.values is None or row.refused:
        return None
    labels = None
    if row.labels is not None:
        labels = {label_bytes(label): index for index, label in enumerate(row.labels)}
    return token_values(row.values, row.kind, row.numbers, row.place, labels)


def token_values(
    values: FloatValues | RationalValues | ListedValues,
    kind: Kind,
    numbers: NumberFormat,
    place: str,
    labels: dict[bytes, int] | None = None,
) -> TokenValues:
    """The values of one row. ``labels`` are the indices of tokens that are known by their bytes."""
    listed = values if isinstance(values, ListedValues) else None
    inner: Any = values if listed is None else listed.values
    where = None if listed is None else {int(x): i for i, x in enumerate(listed.ids)}

    def of(key: Key) -> Given:
        index = labels.get(key) if labels is not None and isinstance(key, bytes) else key
        if not isinstance(index, int) or (labels is None) != isinstance(key, int):
            return Given()
        at = index if where is None else where.get(index)
        if at is None or at >= len(inner):
            return Given()
        found = _number(inner, at, numbers)
        return Given(found, masked=found is None)

    half = Fraction(0) if listed is None else listed.half_width
    cap = None if listed is None else listed.cap
    return TokenValues(kind, numbers, place, of, _largest(inner, numbers), half, cap)


def _number(
    values: FloatValues | RationalValues, at: int, numbers: NumberFormat
) -> Fraction | None:
    """The number at an index, exactly; None for minus infinity."""
    if isinstance(values, RationalValues):
        return values.values[at]
    number = _float(values.array[at], values, numbers)
    return None if number == -float("inf") else Fraction(number)


def _largest(values: FloatValues | RationalValues, numbers: NumberFormat) -> Fraction | None:
    if isinstance(values, RationalValues):
        return max((x for x in values.values if x is not None), default=None)
    if not len(values.array):
        return None
    if values.array.dtype.kind == "u":
        from specdist.readers.row_values import widened

        number = float(widened(values.array, numbers).max())
    else:
        number = float(values.array.max())
    return None if number == -float("inf") else Fraction(number)


def _float(item: Any, values: FloatValues, numbers: NumberFormat) -> float:
    if values.array.dtype.kind != "u":
        return float(item)
    import struct

    return float(struct.unpack("<f", struct.pack("<I", int(item) << 16))[0])
