"""llama.cpp's KLD base files, written and decoded from the documented layout alone.

`write_row` repeats the float32 arithmetic of the writer step by step; `true_logprobs` is the
log-softmax of the same logits in float64; `plain_rows` decodes a file number by number.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

F32 = np.float32


def write_row(
    logits: np.ndarray, ulps: np.ndarray | None = None
) -> tuple[np.float32, np.float32, np.ndarray]:
    """Scale, least log-probability and codes of float32 logits. ``ulps`` moves every ``expf`` by
    so many units in the last place, for a worse library than numpy's."""
    assert logits.dtype == F32
    top = logits.max()
    low = max(logits.min(), F32(top - F32(16)))
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        weights = np.exp(logits - top)
        if ulps is not None:
            weights = (weights.view(np.int32) + np.where(weights > 1e-30, ulps, 0)).astype(np.int32)
            weights = weights.view(F32)
        total = 0.0
        for weight in weights.tolist():
            total += weight
        log_sum = F32(np.log(total))
        least = F32(F32(low - top) - log_sum)
        scale = F32(F32(top - low) / F32(65535))
        if scale == 0 or np.isnan(scale):
            return scale, least, np.zeros(len(logits), np.uint16)
        inverse = F32(F32(1) / scale)
        steps = np.rint(inverse * (logits - low))  # to even, as adding 1.5 * 2^23 does
    return scale, least, np.where(logits > low, steps, 0).astype(np.uint16)


def true_logprobs(logits: np.ndarray) -> np.ndarray:
    wide = logits.astype(np.float64)
    top = wide.max()
    return wide - top - np.log(np.sum(np.exp(wide - top)))


def file_of(
    n_ctx: int,
    tokens: Sequence[Sequence[int]],
    rows: Sequence[tuple[float, float, np.ndarray]],
    n_vocab: int,
    order: str = "<",
) -> bytes:
    """The bytes of a file. ``tokens`` are n_ctx ids a chunk; ``rows`` those of all chunks."""
    data = b"_logits_" + struct.pack(f"{order}3i", n_ctx, n_vocab, len(tokens))
    for ids in tokens:
        data += struct.pack(f"{order}{n_ctx}i", *ids)
    for scale, least, codes in rows:
        padded = [*codes.tolist(), *([0xBEEF] if n_vocab % 2 else [])]
        data += struct.pack(f"{order}2f{len(padded)}H", scale, least, *padded)
    return data


def file_of_logits(
    logits: np.ndarray, n_ctx: int, order: str = "<", seed: int = 0
) -> tuple[bytes, list[list[int]]]:
    """A file of float32 ``logits`` [rows, V], with random tokens; the rows must fill the chunks."""
    a_chunk = n_ctx - 1 - n_ctx // 2
    chunks, left = divmod(len(logits), a_chunk)
    assert not left
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, logits.shape[1], (chunks, n_ctx)).tolist()
    rows = [write_row(row) for row in logits]
    return file_of(n_ctx, tokens, rows, logits.shape[1], order), tokens


def plain_rows(data: bytes) -> list[tuple[float, float, list[int]]]:
    """Scale, least and codes of every row, one number after the other."""
    n_ctx, n_vocab, n_chunk = struct.unpack("<3i", data[8:20])
    at = 20 + 4 * n_ctx * n_chunk
    width = n_vocab + n_vocab % 2
    found = []
    for _ in range(n_chunk * (n_ctx - 1 - n_ctx // 2)):
        scale, least, *codes = struct.unpack_from(f"<2f{width}H", data, at)
        found.append((scale, least, codes[:n_vocab]))
        at += 8 + 2 * width
    assert at == len(data)
    return found
