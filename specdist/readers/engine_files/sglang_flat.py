"""SGLang's flat lists of the most likely tokens: one array of values, one of ids, and a shape.

``return_flat_raw_output_top_logprobs`` and its prompt twin write ``*_val_flat`` and ``*_idx_flat``
as JSON arrays, or as base64 of little-endian float32 and int32 with a ``_b64_dtype`` each (SGLang
0.5.23, srt/managers/tokenizer_manager.py). Row r belongs to position ``null_prefix`` + r; builds
before that release count the positions without a list among the rows of the shape.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from math import inf
from typing import TYPE_CHECKING, Any

from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.logprob_numbers import (
    SMALLEST_FLOAT32,
    Absent,
    LogprobNumbers,
)
from specdist.readers.engine_files.ranked_checks import TokenValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_ID = 2**24
_DTYPES = {"val": ("float32", "<f4"), "idx": ("int32", "<i4")}

Lists = list[tuple[TokenValue, ...] | None]


def has_flat(meta: dict[str, Any], side: str) -> bool:
    """Whether a reply has the flat lists of a side, ``input`` or ``output``."""
    return any(
        meta.get(f"{side}_top_logprobs_{part}_flat{form}") is not None
        for part in _DTYPES
        for form in ("", "_b64")
    )


def flat_lists(meta: Node, side: str, numbers: LogprobNumbers) -> Lists:
    """The entries of each position, None where there is no list.

    Raises CaptureError where a size is not the one that the shape asks for, and for base64 or
    bytes that cannot be what they say.
    """
    rows, width = _shape(meta.member(f"{side}_top_logprobs_shape"))
    before = meta.optional(f"{side}_top_logprobs_null_prefix")
    prefix = 0 if before is None else before.token_id()
    values = _array(meta, side, "val", numbers)
    ids = _array(meta, side, "idx", numbers)
    if len(values) == len(ids) == (rows - prefix) * width != rows * width:
        rows -= prefix
    for part, array in (("val", values), ("idx", ids)):
        if len(array) != rows * width:
            raise _node(meta, side, part).error(
                f"{len(array)} numbers", f"{rows} x {width} = {rows * width}, as the shape says"
            )
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < LARGEST_ID:
        raise _node(meta, side, "idx").error(
            f"ids from {int(ids.min())} to {int(ids.max())}",
            "ids of tokens, in base64 little-endian int32",
        )
    lists: Lists = [None] * prefix
    for row in range(rows):
        own = slice(row * width, (row + 1) * width)
        pairs = zip(ids[own].tolist(), values[own].tolist(), strict=True)
        lists.append(tuple(TokenValue(token, value) for token, value in pairs))
    return lists


def _shape(node: Node) -> tuple[int, int]:
    shape = node.token_ids()
    if len(shape) != 2:
        raise node.error("this is no shape", "[positions, tokens]")
    return shape[0], shape[1]


def _node(meta: Node, side: str, part: str) -> Node:
    key = f"{side}_top_logprobs_{part}_flat"
    return meta.optional(f"{key}_b64") or meta.member(key)


def _array(meta: Node, side: str, part: str, numbers: LogprobNumbers) -> NDArray[Any]:
    import numpy as np

    node = _node(meta, side, part)
    if meta.has(f"{side}_top_logprobs_{part}_flat_b64"):
        array = _decoded(node, meta, f"{side}_top_logprobs_{part}_flat_b64", part)
        if part == "val":
            array[array == SMALLEST_FLOAT32] = -inf
        return array
    if part == "idx":
        return np.array(node.token_ids(), dtype=np.int64)
    found = [numbers.read(item) for item in node.items()]
    if Absent.NULL in found:
        raise node.items()[found.index(Absent.NULL)].error("null stands for a log-probability")
    return np.array(found, dtype=np.float64)


def _decoded(node: Node, meta: Node, key: str, part: str) -> NDArray[Any]:
    import numpy as np

    name, code = _DTYPES[part]
    told = meta.optional(f"{key}_dtype")
    if told is not None and told.text() != name:
        raise told.error(f"the numbers are {told.text()[:20]!r}", name)
    try:
        data = b64decode(node.text(), validate=True)
    except (Base64Error, ValueError):
        raise node.error("this is not base64, or it ends too early", "base64") from None
    if len(data) % 4:
        raise node.error(f"{len(data)} bytes", "4 bytes a number")
    wide = np.float64 if part == "val" else np.int64
    return np.frombuffer(data, dtype=code).astype(wide)
