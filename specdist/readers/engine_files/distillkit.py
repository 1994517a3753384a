"""DistillKit's packed tables: ids as bits, the first values exact, the others fitted.

Beside the parquet file stands ``compression_config.yaml``, without which the bytes mean nothing.
Per position ``compressed_logprobs`` begins with ``exact_k`` log-probabilities of ``exact_dtype``,
the most likely first; what follows is a fit without an error bound and is not read.
``bytepacked_indices`` holds k ids of ceil(log2 d) bits each, the highest bit first, padded with
zeros to whole bytes (DistillKit a61c2e7, distillkit/compression/monotonic_logprobs.py and
bitpack.py). With ``delta_encoding`` every value but the first is a difference to the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp
from pathlib import Path
from typing import Any

import numpy as np

from specdist.errors import CaptureError
from specdist.model.row import NumberFormat
from specdist.readers.engine_files.plain_config import Config, read_config
from specdist.readers.engine_files.table_model import TableRow, table_row

PACKED = ("compressed_logprobs", "bytepacked_indices")
LEGACY = ("packed_indices", "exact_values", "coeffs")
CONFIG = "compression_config.yaml"
_SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


@dataclass(frozen=True, slots=True)
class Packing:
    """How the rows of a file are packed. ``tail``: bytes after the exact values, or at least so
    many where residuals follow."""

    vocab_size: int
    listed: int
    exact: int
    dtype: str
    tail: int
    residuals: bool
    delta: bool

    @property
    def numbers(self) -> NumberFormat | None:
        """The format of a 16-bit column of exact values."""
        narrow = self.dtype in ("float16", "bfloat16") and not self.delta
        return NumberFormat(self.dtype) if narrow else None

    @property
    def id_bits(self) -> int:
        return max(1, (self.vocab_size - 1).bit_length())

    @property
    def id_bytes(self) -> int:
        return -(-self.listed * self.id_bits // 8)


def packing_of(path: Path, name: str) -> Packing:
    """The packing that stands beside a file. Raises CaptureError where none does, or one that this
    reader does not know."""
    beside = [path.with_name(f"{path.stem}.{CONFIG}"), path.with_name(CONFIG)]
    found = next((item for item in beside if item.is_file()), None)
    if found is None:
        raise CaptureError(
            "this table is packed, and what unpacks it is not beside it",
            place=name,
            expected=f"the file {CONFIG} in the same folder",
            advice="copy it from the folder that the table was written to",
        )
    shown = f"{name.rpartition('/')[0]}/{found.name}" if "/" in name else found.name
    return _packing(read_config(found, shown), shown)


def _packing(config: Config, name: str) -> Packing:
    vocab_size, listed = _whole(config, "d", name), _whole(config, "k", name)
    exact = _whole(config, "exact_k", name)
    if not 1 <= exact <= listed <= vocab_size:
        raise CaptureError(
            f"exact_k {exact}, k {listed}, d {vocab_size}",
            place=name,
            expected="1 <= exact_k <= k <= d",
            advice="" if exact else "without exact values nothing of this table is known",
        )
    terms = config.get("polynomial_terms", [])
    count = len(terms) if isinstance(terms, list) else 0
    return Packing(
        vocab_size=vocab_size,
        listed=listed,
        exact=exact,
        dtype=_dtype(config, "exact_dtype", name),
        tail=count * _SIZES[_dtype(config, "term_dtype", name)] if count else 0,
        residuals=bool(config.get("residual_bins")),
        delta=str(config.get("delta_encoding", "false")).lower() == "true",
    )


def _whole(config: Config, key: str, name: str) -> int:
    value = config.get(key)
    if not isinstance(value, str) or not value.isdecimal() or len(value) > 12:
        raise CaptureError(
            f"{key} is {'missing' if value is None else 'no whole number'}", place=name
        )
    return int(value)


def _dtype(config: Config, key: str, name: str) -> str:
    value = config.get(key)
    if not isinstance(value, str) or value not in _SIZES:
        raise CaptureError(f"{key} is {str(value)[:20]!r}", place=name, expected=", ".join(_SIZES))
    return value


def unpacked(values: Sequence[int], ids: Sequence[int], packing: Packing, place: str) -> TableRow:
    """The exact entries of one position. Raises CaptureError where the bytes are too few or too
    many."""
    size = _SIZES[packing.dtype] * packing.exact
    wanted = size + packing.tail
    if len(values) < wanted or (len(values) > wanted and not packing.residuals):
        raise CaptureError(
            f"{len(values)} bytes of values",
            place=place,
            expected=f"{wanted}{' or more' if packing.residuals else ''}, as {CONFIG} says",
        )
    if len(ids) != packing.id_bytes:
        raise CaptureError(
            f"{len(ids)} bytes of ids",
            place=place,
            expected=f"{packing.id_bytes} for {packing.listed} ids of {packing.id_bits} bits",
        )
    tokens = _ids(np.asarray(ids, dtype=np.uint8), packing, place)
    exact = _floats(bytes(bytearray(values[:size])), packing.dtype)
    width = Fraction(0)
    if packing.delta:
        width = sum((_unit(value, packing.dtype) for value in exact[1:]), Fraction(0))
        exact = np.cumsum(exact)
    return table_row(
        tokens[: packing.exact],
        exact.tolist(),
        place,
        others=tuple(tokens[packing.exact :]),
        width=width,
    )


def _ids(packed: Any, packing: Packing, place: str) -> list[int]:
    bits = np.unpackbits(packed)
    used = packing.listed * packing.id_bits
    if bits[used:].any():
        raise CaptureError(
            "the bits after the last id are not zero", place=place, expected=f"{used} bits of ids"
        )
    weights = 1 << np.arange(packing.id_bits - 1, -1, -1, dtype=np.int64)
    found: list[int] = (bits[:used].reshape(packing.listed, -1) @ weights).tolist()
    return found


def _floats(data: bytes, dtype: str) -> Any:
    if dtype == "bfloat16":
        bits = np.frombuffer(data, dtype="<u2").astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):  # a signalling NaN, which is refused as a NaN
        return np.frombuffer(data, dtype=f"<f{_SIZES[dtype]}").astype(np.float64)


def _unit(value: float, dtype: str) -> Fraction:
    """A unit in the last place: half of it for the difference, half for what it was taken from."""
    if not np.isfinite(value):
        return Fraction(0)
    return Fraction(2) ** (frexp(float(value))[1] - _BITS[dtype])
