"""Results of exllamav2's dynamic generator, saved as tensors (torch.save, safetensors or .npz).

A streaming result holds token_ids and token_probs [1, n], top_k_tokens and top_k_probs [1, n, k],
and logits [1, n, V] where a job asked for them (exllamav2/generator/dynamic.py). The probabilities
are those that the sampler drew from, after its whole chain, best first; where fewer than k tokens
are left, the rest of a list is made up, with probability 0 (exllamav2_ext/ext_sampling.cpp). The
logits are from before temperature and filters, but penalties and token bias are applied to them in
place (exllamav2/generator/sampler.py), and V may be padded to a multiple of 32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError
from specdist.model.row import FloatValues, Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.axes import row_table
from specdist.readers.engine_files.dump_side import dump_side
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.ranked_checks import TokenValue
from specdist.readers.engine_files.ranked_list import (
    LARGEST_VOCABULARY,
    RankedList,
    listed_values,
    sum_slack,
)
from specdist.readers.engine_files.told import check_told
from specdist.readers.integers import read_integers
from specdist.readers.naming import shape_text
from specdist.readers.row_blocks import read_rows
from specdist.readers.row_values import widened
from specdist.readers.sides import make_side
from specdist.readers.storage import Handles
from specdist.readers.tensor import Archive, Tensor

TITLE = "results of exllamav2"
_DRAWS = (
    "exllamav2 multiplies its uniform number by 0.9998, so the last 0.0002 of the probability, of "
    "the least likely tokens, is never drawn: its real law is not quite the one it states"
)
_IN_PLACE = (
    "penalties and token bias of the sampler change these logits in place: they are raw where none "
    "was in use (the default penalty may be one); the vocabulary may be padded to a multiple of 32"
)


def exllama_file(archive: Archive, reading: ReadingSettings) -> EngineFile:
    """The rows of a result: the logits where it holds them, else the lists of its sampler.

    Raises CaptureError where the tensors do not fit together, RowError for a list that is none.
    """
    ids = archive.tensors.get("token_ids")
    tokens = () if ids is None else read_integers(ids, f"{archive.source}, token_ids")
    logits = archive.tensors.get("logits")
    if logits is not None and logits.element.numbers is not None:
        return _from_logits(archive, logits, tokens, reading)
    check_told(reading, archive.source, TITLE, Kind.PROBABILITIES, Stage.PROCESSED)
    lists = _lists(archive, tokens)
    size = reading.vocab_size
    return EngineFile(
        source=archive.source,
        reader="exllama",
        title=TITLE,
        rows=lambda: _listed_rows(archive.source, lists, tokens, size),
        count=len(lists.probabilities),
        vocab_size=size,
        stage=Stage.PROCESSED,
        stage_evidence="top_k_probs are what the sampler drew from, after its whole chain",
        kind_evidence="probabilities (as the format says)",
        warnings=(_DRAWS,),
        concludes="exact where a list ends in zeros, for that is the whole law; else bounds",
    )


def _from_logits(
    archive: Archive, logits: Tensor, tokens: tuple[int, ...], reading: ReadingSettings
) -> EngineFile:
    side = make_side(archive, logits, "logits", reading)
    plain = dump_side(side)
    if tokens and len(tokens) != side.table.count:
        raise _no_fit(archive, logits, len(tokens))

    def rows() -> Iterator[EngineRow]:
        with Handles() as handles:
            for index, (row, _) in enumerate(side.rows(handles)):
                if not isinstance(row.values, FloatValues):
                    raise TypeError("a dump holds float rows")
                token = tokens[index] if tokens else None
                yield EngineRow(
                    0, index, row.values, row.kind, row.stage, row.numbers, row.place, token=token
                )

    return EngineFile(
        source=archive.source,
        reader="exllama",
        title=TITLE,
        rows=rows,
        count=plain.count,
        vocab_size=plain.vocab_size,
        stage=side.stage,
        stage_evidence="logits from before temperature and filters"
        if side.assumed
        else plain.stage_evidence,
        assumed=side.assumed,
        kind_evidence=plain.kind_evidence,
        shown=(("not used", "the lists of the sampler: the logits are complete"),),
        warnings=(_DRAWS, _IN_PLACE),
        concludes=plain.concludes,
    )


@dataclass(frozen=True, slots=True)
class _Lists:
    """Ids and probabilities [n, k], and the probability of each sampled token, where known."""

    ids: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    sampled: NDArray[np.float64] | None


def _lists(archive: Archive, tokens: tuple[int, ...]) -> _Lists:
    ids, values = archive.tensors.get("top_k_tokens"), archive.tensors.get("top_k_probs")
    sampled = archive.tensors.get("token_probs")
    alone = None if sampled is None else _floats(archive, sampled).reshape(-1)
    if alone is not None and len(alone) != len(tokens):
        raise _no_fit(archive, sampled, len(tokens))
    if ids is None or values is None:
        count = 0 if alone is None else len(alone)
        return _Lists(np.zeros((count, 0), np.int64), np.zeros((count, 0)), alone)
    if ids.shape != values.shape:
        raise _no_fit(archive, values, ids.count)
    probabilities = _floats(archive, values)
    if tokens and len(probabilities) != len(tokens):
        raise _no_fit(archive, values, len(tokens))
    listed = read_integers(ids, f"{archive.source}, top_k_tokens")
    return _Lists(np.array(listed).reshape(probabilities.shape), probabilities, alone)


def _floats(archive: Archive, tensor: Tensor) -> NDArray[np.float64]:
    """A tensor as [n, k], k its last axis."""
    place = f"{archive.source}, {tensor.name}"
    numbers = tensor.element.numbers
    if numbers is None:
        raise CaptureError(f"{tensor.element.name} numbers", place=place, expected="probabilities")
    table = row_table(tensor, tensor.element, place, None, None)
    with Handles() as handles:
        rows = read_rows(table, handles, numbers, Kind.PROBABILITIES)
        return widened(np.stack([row.array for row in rows]), numbers)


def _no_fit(archive: Archive, tensor: Tensor | None, count: int) -> CaptureError:
    shape = "" if tensor is None else f"{tensor.name} {shape_text(tensor.shape)}"
    return CaptureError(
        f"{shape} beside {count} ids",
        place=archive.source,
        expected="as many of one as of the other",
    )


def _listed_rows(
    source: str, lists: _Lists, tokens: tuple[int, ...], size: int | None
) -> Iterator[EngineRow]:
    pairs = zip(lists.ids.tolist(), lists.probabilities.tolist(), strict=True)
    for index, (ids, values) in enumerate(pairs):
        place = f"{source}, position {index}"
        ranked = tuple(TokenValue(i, v) for i, v in zip(ids, values, strict=True) if v > 0)
        token = tokens[index] if tokens else None
        more = (
            (TokenValue(token, float(lists.sampled[index])),)
            if token is not None and lists.sampled is not None
            else ()
        )
        whole = len(ranked) < len(ids)
        found = RankedList(
            ranked,
            more,
            size,
            sum_slack(len(ids) if whole else size or LARGEST_VOCABULARY),
            only=tuple(entry.token for entry in ranked) if whole else None,
        )
        yield EngineRow(
            0,
            index,
            listed_values(found, Kind.PROBABILITIES, place),
            Kind.PROBABILITIES,
            Stage.PROCESSED,
            NumberFormat.FLOAT32,
            place,
            token=token,
        )
