"""What llama.cpp's llama-debug writes with ``--save-logits``: one row, without a header.

Files of one run (examples/debug/debug.cpp; the scripts of examples/model-conversion write the same
for transformers, under pytorch-MODEL): ``llamacpp-MODEL.bin``, float32 logits of the last position
of the prompt; ``.txt``, lines "index: value"; ``-tokens.bin``, int32 ids; ``-prompt.txt``. With
``--embedding`` a run writes ``-embeddings.bin`` and ``.txt`` instead, which look just the same.

Nothing in such a file says what it is, so it is read on request only: ``--reader llama-debug``, and
``--vocab-size`` for the one without a text.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specdist.errors import CaptureError, RowError
from specdist.model.row import FloatValues, Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.axes import VOCAB_LIMIT
from specdist.readers.engine_files.debug_text import text_row
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.told import check_told, check_vocab_size
from specdist.readers.naming import listing
from specdist.readers.refusals import is_debug_text
from specdist.readers.sources import LocalFile, head_of, local_file
from specdist.readers.storage import Handles

TITLE = "a row of llama-debug --save-logits"
_BESIDE = ("-tokens.bin", "-embeddings.bin", "-embeddings.txt", "-prompt.txt")


def debug_file(folder: str) -> LocalFile:
    """The one file of logits in a folder that llama-debug wrote. Raises CaptureError."""
    names = sorted(
        path.name
        for path in Path(folder).glob("*.bin")
        if not path.name.endswith(_BESIDE) and path.is_file()
    )
    if len(names) != 1:
        raise CaptureError(
            f"{len(names)} files could hold logits: {listing(names, 4)}",
            place=folder,
            expected="one file llamacpp-MODEL.bin",
            advice="name the file",
        )
    return local_file(str(Path(folder) / names[0]))


def open_llama_debug(file: LocalFile, reading: ReadingSettings) -> EngineFile:
    """The row of a ``.bin`` or ``.txt`` file. Raises CaptureError for the files beside them, and
    where the size of the vocabulary is not said or does not fit."""
    check_told(reading, file.name, TITLE, Kind.LOGITS, Stage.RAW)
    _refuse_embeddings(file)
    text = is_debug_text(head_of(file))
    values = text_row(file) if text else _binary_row(file, _vocab_size(file, reading))
    check_vocab_size(reading, file.name, len(values))
    tokens, beside = _tokens_beside(file)
    row = EngineRow(
        sequence=0,
        index=len(tokens),
        values=values,
        kind=Kind.LOGITS,
        stage=Stage.RAW,
        numbers=NumberFormat.FLOAT32,
        place=file.name,
    )
    how = "text, with the rounding of its digits" if text else "float32"
    return EngineFile(
        source=file.name,
        reader="llama-debug",
        title=TITLE,
        rows=lambda: iter((row,)),
        count=1,
        vocab_size=len(values),
        stage=Stage.RAW,
        stage_evidence="llama-debug writes the model's logits as they are",
        kind_evidence=f"logits ({how})",
        tokens={0: tokens} if tokens else {},
        shown=(("prompt", beside),),
        concludes="one complete row, of the last position of the prompt",
    )


def _refuse_embeddings(file: LocalFile) -> None:
    if file.path.stem.endswith("-embeddings"):
        raise CaptureError(
            "the name says embeddings, which are no distribution",
            place=file.name,
            expected="the logits that llama-debug --save-logits writes without --embedding",
        )


def _vocab_size(file: LocalFile, reading: ReadingSettings) -> int:
    count, rest = divmod(file.size, 4)
    if rest or not 0 < count <= VOCAB_LIMIT:
        raise CaptureError(
            f"{file.size} bytes are no row of float32 numbers",
            place=file.name,
            expected=f"four bytes a token, 1 to {VOCAB_LIMIT} tokens",
        )
    if reading.vocab_size is None:
        raise CaptureError(
            f"{count} numbers without a header: nothing in the file says that they are logits",
            place=file.name,
            expected="the size of the vocabulary",
            advice=f"pass --vocab-size {count} if that is the model's vocabulary",
        )
    if reading.vocab_size != count:
        raise CaptureError(
            f"the file holds {count} numbers, --vocab-size says {reading.vocab_size}",
            place=file.name,
            expected="one row: the last position of the prompt",
        )
    return count


def _binary_row(file: LocalFile, size: int) -> FloatValues:
    with Handles() as handles:
        data = handles.read(file.path, file.name, 0, 4 * size)
    row: NDArray[np.float32] = np.frombuffer(data, "<f4").astype(np.float32)
    whole = np.frombuffer(data, "<i4")
    if size > 1 and whole.any() and bool((np.abs(whole.astype(np.int64)) < 1 << 23).all()):
        raise CaptureError(
            "the numbers are whole ones in int32, such as token ids",
            place=file.name,
            expected="float32 logits",
            advice="pass the file without -tokens in its name",
        )
    if np.isnan(row).any() or np.isposinf(row).any():
        at = int(np.flatnonzero(np.isnan(row) | np.isposinf(row))[0])
        raise RowError(
            f"{row[at]} in a row", place=f"{file.name}[{at}]", expected="finite numbers or -inf"
        )
    return FloatValues(row)


def _tokens_beside(file: LocalFile) -> tuple[tuple[int, ...], str]:
    """The ids of the prompt, from the file that the same run writes beside this one."""
    path = file.path.with_name(f"{file.path.stem}-tokens.bin")
    try:
        beside = local_file(str(path))
    except CaptureError:
        return (), "not known: there is no file of tokens beside this one"
    if beside.size % 4 or beside.size > 4 << 24:
        return (), f"not known: {path.name} holds no int32 ids"
    with Handles() as handles:
        data = handles.read(beside.path, beside.name, 0, beside.size)
    ids = tuple(int(token) for token in np.frombuffer(data, "<i4"))
    if any(token < 0 for token in ids):
        return (), f"not known: {path.name} holds ids below 0"
    return ids, f"{len(ids)} tokens, from {path.name}"
