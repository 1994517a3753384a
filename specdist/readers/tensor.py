"""Tensors of an archive: where their numbers lie, not the numbers themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from specdist.readers.elements import Element
from specdist.readers.naming import shape_text
from specdist.readers.storage import Storage


@dataclass(frozen=True, slots=True)
class Piece:
    """One strided view: offset and strides count elements, not bytes."""

    storage: Storage
    offset: int
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named tensor. A stacked one has a piece for every index of its first axis.

    ``axes`` names the axes where the format fixes them (a tuple of per-step tensors: time,
    batch, vocab), else it is empty.
    """

    name: str
    element: Element
    shape: tuple[int, ...]
    pieces: tuple[Piece, ...]
    stacked: bool = False
    axes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return prod(self.shape)

    def describe(self) -> str:
        """``float32 [60, 4096]``."""
        return f"{self.element.name} {shape_text(self.shape)}"


@dataclass(frozen=True, slots=True)
class Archive:
    """What one file holds. ``refused`` maps a tensor that cannot be read to the reason."""

    source: str
    reader: str
    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def contiguous_strides(shape: tuple[int, ...], fortran: bool = False) -> tuple[int, ...]:
    """Strides in elements of a packed array, last axis fastest (``fortran``: first axis)."""
    strides: list[int] = []
    step = 1
    for size in shape if fortran else reversed(shape):
        strides.append(step)
        step *= size
    return tuple(strides if fortran else reversed(strides))


def stacked(name: str, parts: Sequence[Tensor]) -> Tensor:
    """Per-step tensors of equal shape as one, with the steps as first axis.

    [B, V] parts make time, batch, vocabulary, and [V] parts time, vocabulary; other parts leave
    the axes open.
    """
    first = parts[0]
    axes = {1: ("time", "vocab"), 2: ("time", "batch", "vocab")}.get(len(first.shape), ())
    pieces = tuple(part.pieces[0] for part in parts)
    return Tensor(name, first.element, (len(parts), *first.shape), pieces, True, axes)
