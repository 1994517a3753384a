"""Which axis of a tensor is what, and the rows that this makes of it.

``--axes`` names the axes longer than 1 (or all of them) in order, as words joined by commas or
as their initials: ``batch,time,vocab`` or ``btv``. The words are batch, beam (n), time and vocab.
Without it the last axis is the vocabulary and the other axis longer than 1, if there is one,
counts the rows; when there are more, nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from specdist.errors import CaptureError, RowError, SettingsError
from specdist.readers.elements import Element
from specdist.readers.naming import nearest, shape_text
from specdist.readers.storage import Storage
from specdist.readers.tensor import Tensor

VOCAB_LIMIT = 1 << 24

AXES = ("batch", "beam", "time", "vocab")
"""Canonical order: rows are counted with time running fastest."""

_LETTERS = {"b": "batch", "n": "beam", "t": "time", "v": "vocab"}


@dataclass(frozen=True, slots=True)
class RowTable:
    """``count`` rows of ``size`` numbers; row n has the index ``unravel(n)`` over ``grid``.

    ``used`` says how many rows of each sequence (of each run along the last axis of ``grid``) are
    counted at all; None: all of them.
    """

    tensor: Tensor
    element: Element
    place: str
    order: tuple[int, ...]
    vocab_axis: int
    used: tuple[int, ...] | None = None

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape[axis] for axis in self.order)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The rows of each sequence that are counted."""
        if self.used is not None:
            return self.used
        grid = self.grid
        return (grid[-1],) * prod(grid[:-1]) if grid else (1,)

    @property
    def count(self) -> int:
        return prod(self.grid) if self.used is None else sum(self.used)

    @property
    def size(self) -> int:
        return self.tensor.shape[self.vocab_axis]

    def index(self, row: int) -> dict[int, int]:
        """Tensor axis -> index, for every axis but the vocabulary."""
        found: dict[int, int] = {}
        row = self._stored(row)
        for axis in reversed(self.order):
            row, found[axis] = divmod(row, self.tensor.shape[axis])
        return found

    def _stored(self, row: int) -> int:
        """The number that a counted row has among all rows."""
        if self.used is None:
            return row
        longest = self.grid[-1]
        for sequence, length in enumerate(self.used):
            if row < length:
                return sequence * longest + row
            row -= length
        raise IndexError(row)

    def locate(self, row: int) -> tuple[Storage, int, int]:
        """Storage, offset of the first number and stride along the vocabulary, in elements."""
        index = self.index(row)
        stacked = self.tensor.stacked
        piece = self.tensor.pieces[index[0] if stacked else 0]
        shift = 1 if stacked else 0
        offset = piece.offset + sum(
            at * piece.strides[axis - shift] for axis, at in index.items() if axis >= shift
        )
        return piece.storage, offset, piece.strides[self.vocab_axis - shift]

    def place_of(self, row: int, token: int | None = None) -> str:
        """``t.safetensors, target[17]``, with the token as last index where there is one."""
        index = self.index(row)
        named = [
            str(index[axis])
            for axis in sorted(index)
            if self.tensor.shape[axis] > 1 or len(index) == 1
        ]
        if token is not None:
            named.append(str(token))
        return f"{self.place}[{', '.join(named)}]" if named else self.place

    def with_lengths(self, lengths: tuple[int, ...]) -> RowTable:
        """The table with only the first rows of each sequence, as ``--rows`` says; one number
        stands for all sequences. Raises CaptureError where they do not fit."""
        if not self.order:
            raise CaptureError("--rows for a single row", place=self.place)
        longest, count = self.grid[-1], prod(self.grid[:-1])
        given = lengths * count if len(lengths) == 1 else lengths
        if len(given) != count or max(given) > longest:
            raise CaptureError(
                f"--rows says {','.join(map(str, lengths))}",
                place=self.place,
                expected=f"one number up to {longest}"
                + (f", or {count} of them, one for each sequence" if count > 1 else ""),
            )
        return replace(self, used=given)

    def with_tensor(self, tensor: Tensor) -> RowTable:
        return replace(self, tensor=tensor)


def row_table(
    tensor: Tensor, element: Element, place: str, axes: str | None, vocab_size: int | None
) -> RowTable:
    """The rows of a tensor. Raises CaptureError when the axes are ambiguous, RowError when a
    row is empty, SettingsError for an ``--axes`` that cannot be read."""
    shape = tensor.shape
    if not shape:
        raise CaptureError("this is a single number", place=place, expected="rows of numbers")
    if axes is not None:
        names = _assign(parse_axes(axes), shape, place)
    elif tensor.axes:
        names = dict(zip(tensor.axes, range(len(shape)), strict=True))
    else:
        names = _conventional(shape, place)
    vocab = names.pop("vocab")
    if shape[vocab] == 0:
        raise RowError("the rows are empty", place=place, expected="one number a token")
    if shape[vocab] > VOCAB_LIMIT:
        raise CaptureError(
            f"a row of {shape[vocab]} numbers",
            place=place,
            expected=f"at most {VOCAB_LIMIT} tokens",
        )
    _check_vocab(shape, vocab, vocab_size, place)
    order = tuple(names[name] for name in AXES if name in names)
    rest = tuple(i for i in range(len(shape)) if i != vocab and i not in order)
    return RowTable(tensor, element, place, rest + order, vocab)


def parse_axes(text: str) -> tuple[str, ...]:
    """The axis names of an ``--axes`` text. Raises SettingsError."""
    plain = text.strip().lower()
    words = [word.strip() for word in plain.split(",")]
    if len(words) == 1 and words[0] not in AXES:
        words = list(words[0])
    names = [_LETTERS.get(word, word) for word in words]
    for name in names:
        if name not in AXES:
            raise SettingsError(
                f"--axes: there is no axis {name[:40]!r}",
                expected='names in order, such as "batch,time,vocab" or "btv"',
                advice=nearest(name, AXES),
            )
    if len(set(names)) < len(names) or "vocab" not in names:
        raise SettingsError(
            f"--axes {text[:60]!r} must name vocab, and every axis once",
            expected='for example "batch,time,vocab"',
        )
    return tuple(names)


def _assign(names: tuple[str, ...], shape: tuple[int, ...], place: str) -> dict[str, int]:
    long = [axis for axis, size in enumerate(shape) if size > 1]
    if len(names) == len(shape):
        return dict(zip(names, range(len(shape)), strict=True))
    if len(names) == len(long):
        return dict(zip(names, long, strict=True))
    raise CaptureError(
        f"--axes names {len(names)} axes, the tensor has shape {shape_text(shape)}",
        place=place,
        expected=f"{len(long)} names, one for each axis longer than 1",
    )


def _conventional(shape: tuple[int, ...], place: str) -> dict[str, int]:
    last = len(shape) - 1
    long = [axis for axis in range(last) if shape[axis] != 1]
    if len(long) > 1:
        raise CaptureError(
            f"shape {shape_text(shape)} leaves open which axis is batch and which is time",
            place=place,
            expected="at most one axis longer than 1 before the vocabulary",
            advice='pass --axes "batch,time,vocab" for [steps or sequences, positions, V], '
            'or --axes "time,batch,vocab" for [positions, sequences, V]; the rows of one step '
            "are a block when --draft-lengths says so"
            if len(shape) == 3
            else 'name every axis in order, such as --axes "batch,beam,time,vocab"',
        )
    names = {"vocab": last}
    if long:
        names["time"] = long[0]
    return names


def _check_vocab(shape: tuple[int, ...], vocab: int, vocab_size: int | None, place: str) -> None:
    if vocab_size is None or shape[vocab] == vocab_size:
        return
    message = f"the rows have {shape[vocab]} tokens, --vocab-size says {vocab_size}"
    if vocab_size in shape:
        raise CaptureError(
            message,
            place=place,
            expected=f"{vocab_size} tokens along the last axis of {shape_text(shape)}",
            advice='if the array is transposed, say so: --axes "vocab,time"',
        )
    raise CaptureError(
        message,
        place=place,
        expected="the length of a stored row",
        advice=f"padding columns carry probability: the step vocab-size:{vocab_size} of a recipe "
        "cuts them and says how much"
        if shape[vocab] > vocab_size
        else "",
    )
