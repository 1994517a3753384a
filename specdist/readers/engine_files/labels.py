"""Tokens without ids: the labels of both sides become the ids of a vocabulary of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from specdist.errors import CaptureError
from specdist.model.capture import Vocab
from specdist.model.row import FloatValues, ListedValues, RationalValues
from specdist.readers.engine_files.engine_file import EngineRow, Label

if TYPE_CHECKING:
    from collections.abc import Sequence


class Labels:
    """Ids for labels, in order of first appearance; or those of a vocabulary that has a text for
    every label."""

    def __init__(self, rows: Iterable[EngineRow], vocab: Vocab | None) -> None:
        seen: dict[Label, int] = {}
        for row in rows:
            for label in row.labels or ():
                seen.setdefault(label, len(seen))
        known = _ids_of(vocab)
        self.from_vocab = bool(known) and all(text_of(label) in known for label in seen)
        self._ids = {x: known[text_of(x)] for x in seen} if self.from_vocab else seen
        self.vocab = vocab if self.from_vocab else Vocab(tuple(text_of(label) for label in seen))

    @property
    def count(self) -> int:
        """The smallest vocabulary that has all ids."""
        return max(self._ids.values(), default=-1) + 1

    def joined(self, row: EngineRow) -> EngineRow:
        """The row over ids. Raises CaptureError where two of its labels are one token."""
        if row.labels is None or row.values is None:
            return row
        if not isinstance(row.values, ListedValues):
            raise CaptureError("labels stand beside a complete row", place=row.place)
        ids = [self._ids[row.labels[int(index)]] for index in row.values.ids]
        if len(set(ids)) < len(ids):
            raise CaptureError(
                "two labels of one list are the same token",
                place=row.place,
                expected="one entry a token",
            )
        order = sorted(range(len(ids)), key=ids.__getitem__)
        token = None if row.token is None else self._ids[row.labels[row.token]]
        values = replace(
            row.values,
            ids=tuple(ids[i] for i in order),
            values=_reordered(row.values.values, order),
            size=max(row.values.size, self.count),
            support=self._support(row.values.support, row.labels),
        )
        return replace(row, labels=None, values=values, token=token)

    def _support(
        self, support: tuple[int, ...] | None, labels: tuple[Label, ...]
    ) -> tuple[int, ...] | None:
        if support is None:
            return None
        return tuple(sorted(self._ids[labels[index]] for index in support))


def text_of(label: Label) -> str:
    """A label as text; bytes that are no UTF-8 in Python's escapes."""
    return label if isinstance(label, str) else label.decode("utf-8", "backslashreplace")


def forms(rows: Iterable[EngineRow]) -> set[str]:
    """How the rows name their tokens: by ``id``, ``bytes`` or ``text``."""
    found: set[str] = set()
    for row in rows:
        if row.labels is None:
            found |= {"id"} if row.values is not None else set()
        else:
            found |= {"text" if isinstance(label, str) else "bytes" for label in row.labels}
    return found


def as_texts(row: EngineRow) -> EngineRow:
    """The row with texts in place of bytes."""
    if row.labels is None:
        return row
    return replace(row, labels=tuple(text_of(label) for label in row.labels))


def _reordered(
    values: RationalValues | FloatValues, order: Sequence[int]
) -> RationalValues | FloatValues:
    if isinstance(values, RationalValues):
        return RationalValues(tuple(values.values[i] for i in order))
    return FloatValues(values.array[list(order)])


def _ids_of(vocab: Vocab | None) -> dict[str, int]:
    """The ids of texts that only one token has."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for token, text in enumerate(() if vocab is None else vocab.texts):
        if found.setdefault(text, token) != token:
            twice.add(text)
    return {text: token for text, token in found.items() if text not in twice}
