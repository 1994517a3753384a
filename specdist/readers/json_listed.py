"""A row of a JSON capture that is known in part: ``{"listed": {...}, "cap": ..., ...}``.

``listed`` maps tokens to numbers of the document's kind, ``cap`` is the most that an unlisted value
can be, in the same units, ``half_width`` how far a listed number may lie from the one that it
stands for, ``slack`` the rounding of the engine's normaliser, ``support`` the only tokens that are
possible. See `model.row.ListedValues`. A row that leaves nothing open is read as a complete one:
every possible token is listed, or one token of a probability row is not and has what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from specdist.model.row import Kind, ListedValues, PointMass, RationalValues, Row
from specdist.readers.json_listed_checks import check_sum, check_values
from specdist.readers.json_listed_members import ListedParts, read_parts
from specdist.readers.json_rows import RowReading, read_row

_ZERO, _ONE = Fraction(0), Fraction(1)


def is_listed(value: object) -> bool:
    """Whether a JSON value is a row known in part; a map of tokens has no object in it."""
    return isinstance(value, dict) and isinstance(value.get("listed"), dict)


def read_any_row(value: Any, path: str, size: int, reading: RowReading) -> Row:
    """The row at ``path``, whole or known in part. Raises CaptureError for its form, RowError for
    its numbers."""
    if not is_listed(value):
        return read_row(value, path, size, reading)
    parts = read_parts(value, path, size, reading)
    check_values(parts, path, reading)
    values = _completed(parts, reading) or _listed(parts, reading)
    if isinstance(values, ListedValues) and reading.kind is Kind.PROBABILITIES:
        check_sum(parts, path, reading)
    return Row(values, reading.kind, reading.stage, reading.numbers, reading.place(path))


def smallest_size(values: Iterable[object]) -> int | None:
    """The smallest vocabulary that has all token ids which rows name; None where no row is known in
    part."""
    rows = list(values)
    if not any(map(is_listed, rows)):
        return None
    return 1 + max((token for row in rows for token in _ids_named(row)), default=0)


def listed_facts(pairs: Sequence[tuple[Row, Row]]) -> list[tuple[str, str]]:
    """What `inspect` says of target and draft rows, where some are known in part."""
    if not any(isinstance(row.values, ListedValues) for pair in pairs for row in pair):
        return []
    return [
        ("target rows", _listed_text([target for target, _ in pairs])),
        ("draft rows", _listed_text([draft for _, draft in pairs])),
        ("concludes", "rows known in part: acceptance and total variation as proven intervals"),
    ]


def _listed_text(rows: Sequence[Row]) -> str:
    """``2 of 4 tokens listed``, ``18 to 20 tokens listed, 3 rows complete``."""
    listed = [row.values for row in rows if isinstance(row.values, ListedValues)]
    counts = {len(values.ids) for values in listed}
    texts = []
    if counts:
        span = str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        sizes = {None if values.open_ended else values.size for values in listed}
        of = "" if sizes != {listed[0].size} else f" of {listed[0].size}"
        texts.append(f"{span}{of} token{'' if counts == {1} and not of else 's'} listed")
    points = sum(1 for row in rows if isinstance(row.values, PointMass))
    whole = len(rows) - len(listed) - points
    texts += [f"{points} of one token"] if points else []
    texts += [f"{whole} complete"] if whole else []
    return ", ".join(texts)


def _completed(parts: ListedParts, reading: RowReading) -> RationalValues | None:
    """The whole row, where nothing is left open; None elsewhere. A row of an open-ended vocabulary
    stays as it is: its size may still grow to that of the other side."""
    if parts.half_width or parts.slack or reading.open_ended:
        return None
    known: dict[int, Fraction | None] = dict(zip(parts.ids, parts.values, strict=True))
    if reading.kind is Kind.PROBABILITIES:
        none_left = parts.cap == 0
        rest = _ONE - sum((value or _ZERO for value in parts.values), _ZERO)
        if parts.others == 1 and rest >= 0 and (parts.cap is None or rest <= parts.cap):
            possible = range(parts.size) if parts.support is None else parts.support
            (left,) = set(possible) - set(parts.ids)
            known[left] = rest
            none_left = True
    else:
        none_left = False
    if parts.others != 0 and not none_left:
        return None
    missing = _ZERO if reading.kind is Kind.PROBABILITIES else None
    return RationalValues(tuple(known.get(token, missing) for token in range(parts.size)))


def _listed(parts: ListedParts, reading: RowReading) -> ListedValues:
    return ListedValues(
        ids=parts.ids,
        values=RationalValues(parts.values),
        size=parts.size,
        open_ended=reading.open_ended,
        cap=parts.cap,
        half_width=parts.half_width,
        slack=parts.slack,
        support=parts.support,
    )


def _ids_named(row: object) -> list[int]:
    """The token ids in a row, as far as they are ids."""
    if not isinstance(row, dict):
        return []
    if is_listed(row):
        support = row.get("support")
        named: list[object] = [*row["listed"], *(support if isinstance(support, list) else [])]
    else:
        named = [row["one_hot"]] if set(row) == {"one_hot"} else list(row)
    texts = [str(x) for x in named if isinstance(x, int | str) and not isinstance(x, bool)]
    return [int(text) for text in texts if text.isascii() and text.isdigit() and len(text) <= 12]
