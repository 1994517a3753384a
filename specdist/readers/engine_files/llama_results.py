"""What llama.cpp's llama-results writes with ``-o``: a GGUF file of token ids and their logits.

The tensor ``logits`` is declared with the sizes [rows, vocabulary], which in GGUF means that rows
run fastest; the numbers are written row after row all the same (tools/results/results.cpp copies
them as they come). So the declared order is not followed: the flat numbers are [rows, vocabulary]
with the vocabulary fastest. Row i is the law of token i + 1 given the tokens up to i.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from specdist.errors import CaptureError, NotACaptureError
from specdist.model.row import FloatValues, Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.axes import RowTable, row_table
from specdist.readers.elements import Element
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.gguf import F32, I32, GgufHeader, GgufTensor, read_gguf
from specdist.readers.engine_files.told import check_told, check_vocab_size
from specdist.readers.integers import read_integers
from specdist.readers.naming import listing, shape_text, shorten
from specdist.readers.sources import LocalFile
from specdist.readers.storage import FileRange, Handles
from specdist.readers.tensor import Piece, Tensor

TITLE = "a results file of llama-results (GGUF)"

_INSTEAD = (
    "dump distributions instead: llama-perplexity --kl-divergence-base FILE, "
    "or llama-server with n_probs"
)


def open_llama_results(file: LocalFile, reading: ReadingSettings) -> EngineFile:
    """The rows of a results file, one sequence.

    Raises NotACaptureError for every other GGUF file (models, adapters, importance matrices), and
    CaptureError for a damaged one.
    """
    header = read_gguf(file)
    _refuse_others(header, file.name)
    check_told(reading, file.name, TITLE, Kind.LOGITS, Stage.RAW)
    tokens = _tokens(file, header)
    steps = header.keys.get("decode_steps", 0)
    steps = steps if type(steps) is int else 0
    table, declared = _table(file, header, len(tokens), steps)
    check_vocab_size(reading, file.name, table.size)
    shown = [
        ("declared sizes", declared),
        ("model", shorten(str(header.keys.get("path_model", "not said")), 60)),
    ]
    if steps:
        shown.append(
            (
                "left out",
                f"{table.count - len(tokens)} rows of {steps} decode steps, whose tokens repeat "
                "the prompt",
            )
        )
    return EngineFile(
        source=file.name,
        reader="llama-results",
        title=TITLE,
        rows=lambda: _rows(table, tokens),
        count=len(tokens),
        vocab_size=table.size,
        stage=Stage.RAW,
        stage_evidence="llama-results writes the model's logits as they are",
        kind_evidence="logits (as the format says)",
        tokens={0: tokens},
        shown=tuple(shown),
        concludes="complete rows: exact statements; another type of KV cache is another law",
    )


def _refuse_others(header: GgufHeader, name: str) -> None:
    if header.kind:
        raise NotACaptureError(
            f"this is a GGUF file of a model ({header.kind}): weights, and no distribution",
            place=name,
            expected="rows over the vocabulary",
            advice=_INSTEAD,
        )
    if not {"tokens", "logits"} <= set(header.tensors):
        raise NotACaptureError(
            f"this GGUF file holds no tokens and logits: {listing(list(header.tensors), 4)}",
            place=name,
            expected="the two tensors of llama-results",
            advice=_INSTEAD,
        )


def _tokens(file: LocalFile, header: GgufHeader) -> tuple[int, ...]:
    found = header.tensors["tokens"]
    tensor = _checked(file, header, found, I32, "i4", (prod(found.sizes),))
    if not tensor.count:
        raise CaptureError("there are no tokens", place=f"{file.name}, tokens")
    return read_integers(tensor, f"{file.name}, tokens")


def _table(file: LocalFile, header: GgufHeader, tokens: int, steps: int) -> tuple[RowTable, str]:
    """The rows, and what was made of the declared sizes."""
    found = header.tensors["logits"]
    rows = 2 * tokens + steps + 1 if steps else tokens
    if len(found.sizes) != 2 or rows not in found.sizes:
        raise CaptureError(
            f"logits of sizes {shape_text(found.sizes)} for {tokens} tokens",
            place=f"{file.name}, logits",
            expected=f"[{rows}, vocabulary]",
        )
    as_ever = found.sizes[0] == rows
    size = found.sizes[1] if as_ever else found.sizes[0]
    tensor = _checked(file, header, found, F32, "f4", (rows, size))
    text = shape_text(found.sizes) + (
        ", first axis fastest; not followed, for the rows are written one after the other"
        if as_ever
        else ", first axis fastest"
    )
    return row_table(tensor, tensor.element, f"{file.name}, logits", None, None), text


def _checked(
    file: LocalFile,
    header: GgufHeader,
    found: GgufTensor,
    kind: int,
    code: str,
    shape: tuple[int, ...],
) -> Tensor:
    """A tensor of plain numbers that lies inside the file. Raises CaptureError."""
    place = f"{file.name}, {found.name}"
    if found.type != kind:
        raise CaptureError(
            f"numbers of ggml type {found.type}",
            place=place,
            expected="int32 tokens (26) and float32 logits (0)",
        )
    size = 4 * prod(shape)
    if found.start + size > file.size:
        raise CaptureError(
            f"the file ends at byte {file.size}",
            place=place,
            expected=f"numbers up to byte {found.start + size}",
            advice="run llama-results again, to its end",
        )
    numbers = NumberFormat.FLOAT32 if kind == F32 else None
    element = Element("float32" if kind == F32 else "int32", code, 4, numbers, header.order == ">")
    strides = (shape[1], 1) if len(shape) == 2 else (1,)
    storage = FileRange(file.path, file.name, found.start, size)
    return Tensor(found.name, element, shape, (Piece(storage, 0, strides),))


def _rows(table: RowTable, tokens: tuple[int, ...]) -> Iterator[EngineRow]:
    from specdist.readers.row_blocks import read_rows

    with Handles() as handles:
        wanted = range(len(tokens))
        for found in read_rows(table, handles, NumberFormat.FLOAT32, Kind.LOGITS, wanted):
            index = found.row + 1
            yield EngineRow(
                sequence=0,
                index=index,
                values=FloatValues(found.array),
                kind=Kind.LOGITS,
                stage=Stage.RAW,
                numbers=NumberFormat.FLOAT32,
                place=table.place_of(found.row),
                token=tokens[index] if index < len(tokens) else None,
            )
