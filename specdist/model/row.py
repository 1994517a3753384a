"""One captured row: the numbers as they stood in the file, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Kind(StrEnum):
    """What the numbers of a row are."""

    LOGITS = "logits"
    LOGPROBS = "logprobs"
    PROBABILITIES = "probabilities"


class Stage(StrEnum):
    """How much processing a row has already been through; UNKNOWN where a capture says that it
    does not know, and all readings are checked."""

    RAW = "raw"
    TEMPERATURE = "temperature"
    PROCESSED = "processed"
    UNKNOWN = "unknown"


class NumberFormat(StrEnum):
    """The format the numbers were stored in: it fixes the rounding a row sum may show."""

    DECIMAL = "decimal"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"


@dataclass(frozen=True, slots=True)
class RationalValues:
    """Hand-written numbers, exact. ``None`` stands for minus infinity (logits and logprobs)."""

    values: tuple[Fraction | None, ...]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class FloatValues:
    """A dumped row of shape [V]: float64, float32 or float16 values, or, when the row's
    ``numbers`` is bfloat16, the uint16 bit patterns (upper half of a float32)."""

    array: NDArray[np.float64] | NDArray[np.float32] | NDArray[np.float16] | NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.array)

    def __reduce__(self) -> tuple[Any, ...]:
        return (FloatValues, (self.array,))


@dataclass(frozen=True, slots=True)
class PointMass:
    """All mass on one token: a one-hot draft, or a draft captured without a row."""

    token: int
    size: int

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True, eq=False)
class ListedValues:
    """Part of a row: the values of some tokens, and what is known of all others.

    ``ids`` are rising and distinct, ``values`` belong to them in that order (float64 where they
    are `FloatValues`); each is within ``half_width`` of the number it stands for, in units of the
    row's kind. An unlisted value is at most ``cap``, in the same units (None: nothing is known but
    the mass that the listed tokens leave). Log-probabilities and probabilities share the sum 1 with
    the unlisted tokens, up to a common factor within ``exp(+-slack)``, the rounding of the engine's
    normaliser; logits have no normaliser. ``support`` holds the only tokens that are possible,
    where the capture knows them. ``size`` is the vocabulary size; ``open_ended``: only the smallest
    that it can be.
    """

    ids: tuple[int, ...] | NDArray[np.intp]
    values: RationalValues | FloatValues
    size: int
    open_ended: bool = False
    cap: Fraction | None = None
    half_width: Fraction = Fraction(0)
    slack: Fraction = Fraction(0)
    support: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return self.size

    @property
    def others(self) -> int | None:
        """How many tokens that are not listed are possible; None where nothing bounds them."""
        if self.support is not None:
            return len(set(self.support) - set(map(int, self.ids)))
        return None if self.open_ended else self.size - len(self.ids)


@dataclass(frozen=True, slots=True)
class Row:
    """A row at one position: values, kind, stage, number format, and its place.

    ``place`` is "FILE, inner place" for messages, such as
    ``cap.json, steps[0].positions[0].target`` or ``t.safetensors, target[17]``.
    """

    values: RationalValues | FloatValues | PointMass | ListedValues
    kind: Kind
    stage: Stage
    numbers: NumberFormat
    place: str

    @property
    def size(self) -> int:
        return len(self.values)
