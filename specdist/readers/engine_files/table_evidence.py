"""What the rows of a table say of kind and rounding, and whether they still are the model's law."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp

from specdist.errors import CaptureError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.ranked_checks import mass_of
from specdist.readers.engine_files.table_model import Rounding, Table, TableRow

_ABOVE = 1e-6
_MASS = 1e-3
_ENOUGH = 32
"""Values that a number format is recognised by."""
_DECIMALS = 6
_FORMATS = {
    NumberFormat.BFLOAT16: Rounding("bfloat16", 8, -126),
    NumberFormat.FLOAT16: Rounding("float16", 11, -14),
}
_LOW_BITS = {NumberFormat.BFLOAT16: 0xFFFF, NumberFormat.FLOAT16: 0x1FFF}
_ALL_OF_IT = 2.0**-18
_VISIBLE = 2.0**-12


def kind_of(
    table: Table, rows: Sequence[TableRow], rounding: Rounding, reading: ReadingSettings
) -> tuple[Kind, str]:
    """Kind and evidence, for values that may be rounded. Raises CaptureError where the values
    contradict the name of the column, and nobody says which is right."""
    if reading.kind is not None:
        return reading.kind, "as told"
    found, why = _by_values(rows, rounding)
    if table.kind in (None, found):
        return found, why
    if table.kind is Kind.LOGITS:
        return Kind.LOGITS, f"the name {table.columns}; values fit log-probabilities too"
    raise CaptureError(
        f"the column says {table.kind.value}, the values are {found.value}: {why}"
        if table.kind is not None
        else why,
        place=rows[0].place if rows else table.source,
        expected="log-probabilities up to 0, of a mass up to 1 a row",
        advice="--kind logits or --kind logprobs decides",
    )


def _by_values(rows: Sequence[TableRow], rounding: Rounding) -> tuple[Kind, str]:
    values = [value for row in rows for _, value in row.entries]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high > _ABOVE:
        largest = max(sum(value for _, value in row.entries) for row in rows)
        if low >= 0 and high <= 1 and largest <= 1 + _MASS:
            return Kind.PROBABILITIES, f"values from {low:.4g} to {high:.4g}, sums up to 1"
        return Kind.LOGITS, f"values from {low:.4g} to {high:.4g}"
    largest = max((row_mass(row, Kind.LOGPROBS) for row in rows), default=0.0)
    for row in rows:
        least = row_mass(row, Kind.LOGPROBS) * exp(-float(rounding.half_width(row)))
        if least > 1 + _MASS:
            return Kind.LOGITS, f"all <= 0 with a mass of {largest:.4g}, above 1"
    return Kind.LOGPROBS, f"all <= 0, listed mass up to {largest:.6g}"


def rounding_of(table: Table, rows: Sequence[TableRow], reading: ReadingSettings) -> Rounding:
    """How the values were rounded before they were saved: by the column's type, by the grid that
    every one of them is on, or by their decimals."""
    import numpy as np

    if reading.numbers is not None:
        return _FORMATS.get(reading.numbers, Rounding())
    if table.numbers is not None:
        return _FORMATS.get(table.numbers, Rounding())
    values = np.array([value for row in rows for _, value in row.entries], dtype=np.float64)
    if len(values) < _ENOUGH:
        return Rounding()
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if np.array_equal(single.astype(np.float64), values):
        bits = single.view(np.uint32)
        for numbers, low in _LOW_BITS.items():
            if not (bits & low).any():
                return _FORMATS[numbers]
    for places in range(1, _DECIMALS + 1):
        if np.array_equal(np.round(values, places), values):
            half = Fraction(1, 2 * 10**places)
            return Rounding(f"{places} decimal{'s' if places > 1 else ''}", fixed=half)
    return Rounding()


def refuse_renormalised(
    table: Table,
    rows: Sequence[TableRow],
    kind: Kind,
    rounding: Rounding,
    reading: ReadingSettings,
    size: int | None,
) -> None:
    """Raises CaptureError for a table whose lists hold all mass although they end at tokens that
    are far from impossible: what was divided by its sum is the model's law given the list, and no
    more the model's law. A law that was filtered before it was listed looks the same; the user
    says so with ``--stage processed``."""
    if kind is Kind.LOGITS or reading.stage is Stage.PROCESSED or not rows:
        return
    for row in rows:
        room = _ALL_OF_IT + float(rounding.half_width(row)) * 2
        if abs(row_mass(row, kind) - 1) > room:
            return
    least = max(min(value for _, value in row.entries) for row in rows)
    smallest = least if kind is Kind.PROBABILITIES else exp(min(least, 0.0))
    if smallest < _VISIBLE or all(len(row.entries) == size for row in rows):
        return
    raise CaptureError(
        f"every list has a mass of 1, and one ends at a probability of {smallest:.4g}: the values "
        "were divided by their sum, so they are conditional on the list",
        place=table.source,
        expected="the model's own log-probabilities",
        advice="dump them before they are normalised; --stage processed if the law itself was cut "
        "to these tokens before it was sampled from",
    )


def row_mass(row: TableRow, kind: Kind) -> float:
    """The probability that a row lists, to float64."""
    return mass_of(row.entries, kind)
