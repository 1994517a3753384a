"""Arrays and tensors of any library as the binary numbers they hold, without importing it.

numpy arrays are taken as they are; tensors that can be detached and moved (torch) are; everything
else goes through ``__array__`` or ``__dlpack__``. bfloat16 becomes its bit patterns (uint16), which
is how `model.row.FloatValues` holds it: the upper half of the float32 of the same value.
"""

from __future__ import annotations

import re
from typing import Any

from specdist.errors import SettingsError
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage

_FORMATS = ("float16", "bfloat16", "float32", "float64")
_EXPECTED = "float16, bfloat16, float32 or float64 of shape [V] or [T, V]"


def is_array(source: Any) -> bool:
    """Whether a value is an array or a tensor, not a sequence of numbers."""
    return any(hasattr(source, name) for name in ("dtype", "__dlpack__", "__array__"))


def array_rows(source: Any, kind: Kind, side: str) -> list[Row]:
    """The rows of an array [V] or [T, V]. Raises SettingsError with the place in ``side``."""
    name = dtype_name(source)
    shape = array_shape(source)
    if name not in _FORMATS or len(shape) not in (1, 2) or not shape[-1]:
        raise SettingsError(f"an array of {name} {shape} is no row", place=side, expected=_EXPECTED)
    numbers = NumberFormat(name)
    array = _bits(source, side) if numbers is NumberFormat.BFLOAT16 else _numpy(source, side)
    places = [side] if array.ndim == 1 else [f"{side}[{i}]" for i in range(array.shape[0])]
    return [
        Row(FloatValues(row), kind, Stage.RAW, numbers, place)
        for row, place in zip(array.reshape(-1, array.shape[-1]), places, strict=True)
    ]


def array_shape(source: Any) -> list[int]:
    """The lengths of the axes."""
    array = source if hasattr(source, "shape") else _numpy(source, "")
    return [int(length) for length in array.shape]


def array_ids(source: Any, side: str) -> list[int] | int | None:
    """The whole numbers of an array of integers, one for an array without axes; else None."""
    if not re.fullmatch(r"u?int\d+", dtype_name(source)):
        return None
    ids: list[int] | int = _numpy(source, side).tolist()
    return ids


def row_numbers(row: Row) -> list[float]:
    """The numbers of a dumped row, each exactly."""
    if not isinstance(row.values, FloatValues):
        raise TypeError("the row holds no floats")
    array: Any = row.values.array
    if row.numbers is NumberFormat.BFLOAT16:
        array = (array.astype("uint32") << 16).view("float32")
    numbers: list[float] = array.tolist()
    return numbers


def dtype_name(source: Any) -> str:
    """``float32``, ``bfloat16``, ``int64``, as every library spells its types somewhere."""
    if not hasattr(source, "dtype"):
        source = _numpy(source, "")
    text = str(source.dtype)
    found = re.search(r"\b(?:b?float\d+\w*|u?int\d+|bool)\b", text)
    return found.group() if found and not text.startswith(">") else text


def _bits(source: Any, place: str) -> Any:
    """The bit patterns of bfloat16 numbers; a float32 holds each of them exactly."""
    array = _numpy(source.float() if hasattr(source, "detach") else source, place)
    if array.dtype.itemsize == 2:
        return array.view("uint16")
    if str(array.dtype) != "float32":
        raise _not_carried(place, f"bfloat16 arrived as {array.dtype}")
    return (array.view("uint32") >> 16).astype("uint16")


def _numpy(source: Any, place: str) -> Any:
    import numpy as np

    if isinstance(source, np.ndarray | np.generic):
        return np.asarray(source)
    try:
        if hasattr(source, "detach"):
            return source.detach().cpu().numpy()
        return np.asarray(source) if hasattr(source, "__array__") else np.from_dlpack(source)
    except (TypeError, ValueError, RuntimeError, BufferError, AttributeError) as error:
        raise _not_carried(place, " ".join(str(error).split())[:120]) from None


def _not_carried(place: str, reason: str) -> SettingsError:
    return SettingsError(
        f"the array cannot be carried over to numpy: {reason}",
        place=place,
        expected="an array in the memory of the processor",
        advice="copy it there; float32 holds every bfloat16 and float16 exactly",
    )
