"""llama.cpp's KLD base files (llama-perplexity ``--kl-divergence-base``, ``--save-all-logits``).

Layout (tools/perplexity/perplexity.cpp; native byte order, in practice little endian)::

    "_logits_"  int32 n_ctx  int32 n_vocab  int32 n_chunk  int32 tokens[n_chunk][n_ctx]
    then n_chunk times R = n_ctx - 1 - n_ctx/2 rows of uint16[2 ((n_vocab + 1)/2) + 4]:
    float32 scale, float32 least, uint16 codes[n_vocab], one more uint16 where n_vocab is odd

Row r of a chunk is the law of its token n_ctx/2 + 1 + r given the tokens before it in that chunk;
the first half has no rows. The values are log-probabilities of the raw logits at temperature 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.kld_layout import HEADER_BYTES, TITLE, Layout, read_layout
from specdist.readers.engine_files.kld_rows import listed_rows
from specdist.readers.engine_files.told import check_told, check_vocab_size
from specdist.readers.sources import LocalFile
from specdist.readers.storage import Handles

BLOCK_BYTES = 2 * 2**20


class ChunkTokens(Mapping[int, tuple[int, ...]]):
    """The token ids of each chunk, as tuples made on demand. ``ids`` has the shape [chunks, n_ctx];
    the file holds the text's own first token where the run put BOS in its place."""

    def __init__(self, ids: NDArray[np.int32]) -> None:
        self._ids = ids

    def __getitem__(self, chunk: int) -> tuple[int, ...]:
        if not 0 <= chunk < len(self._ids):
            raise KeyError(chunk)
        return tuple(self._ids[chunk].tolist())

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._ids)))

    def __len__(self) -> int:
        return len(self._ids)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ChunkTokens):
            return np.array_equal(self._ids, other._ids)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]


def open_kld(file: LocalFile, reading: ReadingSettings) -> EngineFile:
    """The rows of a KLD base file, one sequence a chunk, read in blocks of bounded size.

    Raises CaptureError for a file whose size is not that of its header (a run that was stopped
    leaves a short one), SettingsError where the command line contradicts the format; the rows
    raise RowError.
    """
    layout = read_layout(file)
    check_told(reading, file.name, TITLE, Kind.LOGPROBS, Stage.RAW)
    check_vocab_size(reading, file.name, layout.n_vocab)
    tokens = _tokens(file, layout)
    order = "" if layout.order == "<" else "; the numbers are big endian, and read as such"
    return EngineFile(
        source=file.name,
        reader="llama-kld",
        title=TITLE,
        rows=lambda: _rows(file, layout, tokens),
        count=layout.count,
        vocab_size=layout.n_vocab,
        stage=Stage.RAW,
        stage_evidence="llama-perplexity writes the softmax of raw logits, temperature 1",
        kind_evidence="logprobs (16-bit codes of them, as the format says)",
        tokens=ChunkTokens(tokens),
        shown=(
            ("chunks", f"{layout.n_chunk} of {layout.n_ctx} tokens, {layout.text()}{order}"),
            (
                "positions",
                f"{layout.first} to {layout.n_ctx - 1} of each chunk; the context starts anew "
                "at every chunk, with BOS in place of its first token where the model adds BOS",
            ),
            ("rounding", "half a code, at most 1.3e-4 nats; cut 16 nats below the largest"),
        ),
        concludes="bounds: codes give factors within exp(+-1.3e-4) a side, and what was cut is "
        "one rest of unknown split; another type of KV cache (-ctk, -ctv, -fa) is another law",
    )


def _tokens(file: LocalFile, layout: Layout) -> NDArray[np.int32]:
    """The ids [n_chunk, n_ctx]. Raises CaptureError for one outside the vocabulary."""
    with Handles() as handles:
        data = handles.read(file.path, file.name, HEADER_BYTES, 4 * layout.n_chunk * layout.n_ctx)
    stored = np.frombuffer(data, f"{layout.order}i4").reshape(layout.n_chunk, layout.n_ctx)
    ids = stored.astype(np.int32)
    wrong = (ids < 0) | (ids >= layout.n_vocab)
    if wrong.any():
        chunk, at = (int(i) for i in np.argwhere(wrong)[0])
        raise CaptureError(
            f"token {int(ids[chunk, at])} is outside the vocabulary of {layout.n_vocab} tokens",
            place=f"{file.name}, chunk {chunk}, position {at}",
        )
    return ids


def _rows(file: LocalFile, layout: Layout, tokens: NDArray[np.int32]) -> Iterator[EngineRow]:
    at_once = max(1, BLOCK_BYTES // layout.row_bytes)
    with Handles() as handles:
        for begin in range(0, layout.count, at_once):
            count = min(at_once, layout.count - begin)
            yield from _block(handles, file, layout, tokens, begin, count)


def _block(
    handles: Handles,
    file: LocalFile,
    layout: Layout,
    tokens: NDArray[np.int32],
    begin: int,
    count: int,
) -> Iterator[EngineRow]:
    data = handles.read(
        file.path, file.name, layout.rows_start + begin * layout.row_bytes, count * layout.row_bytes
    )
    words = np.frombuffer(data, f"{layout.order}u2").reshape(count, -1)
    frames = np.ascontiguousarray(words[:, :4]).view(f"{layout.order}f4").astype(np.float32)
    codes = words[:, 4 : 4 + layout.n_vocab].astype(np.uint16, copy=False)

    def place_of(at: int) -> str:
        chunk, row = divmod(begin + at, layout.rows_a_chunk)
        return f"{file.name}, chunk {chunk}, position {layout.first + row}"

    for at, values in enumerate(listed_rows(codes, frames, place_of)):
        chunk, row = divmod(begin + at, layout.rows_a_chunk)
        index = layout.first + row
        yield EngineRow(
            sequence=chunk,
            index=index,
            values=values,
            kind=Kind.LOGPROBS,
            stage=Stage.RAW,
            numbers=NumberFormat.FLOAT32,
            place=place_of(at),
            token=int(tokens[chunk, index]),
        )
