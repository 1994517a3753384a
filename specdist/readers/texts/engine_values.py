"""Values beside texts: the lists of an engine's answers, or a dump of target rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from specdist.errors import CaptureError
from specdist.model.row import NumberFormat
from specdist.model.settings import ReadingSettings
from specdist.model.texts import Key, Output, Recorded, TokenValues
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.pair_opening import side_source
from specdist.readers.sources import LocalFile
from specdist.readers.texts.values import key_of, values_of


def with_values(outputs: Sequence[Output], file: EngineFile) -> tuple[Output, ...]:
    """The outputs with the tokens and values of the file's sequences, which are in their order."""
    by_sequence: dict[int, list[EngineRow]] = {}
    for row in file.rows():
        by_sequence.setdefault(row.sequence, []).append(row)
    if len(by_sequence) != len(outputs):
        return tuple(outputs)
    temperature = file.settings.get("temperature", "")
    return tuple(
        _with_rows(output, sorted(by_sequence[sequence], key=lambda row: row.index), temperature)
        for output, sequence in zip(outputs, sorted(by_sequence), strict=True)
    )


def _with_rows(output: Output, rows: list[EngineRow], temperature: str) -> Output:
    found = [key_of(row) for row in rows]
    keys: tuple[Key, ...] = tuple(key for key in found if key is not None)
    output = replace(output, temperature=output.temperature or temperature)
    if len(keys) != len(found):
        return output
    start = 0
    if output.keys is not None:
        start = len(keys) - len(output.keys)
        if start < 0 or keys[start:] != output.keys:
            return output
        keys = output.keys

    def values_at(index: int) -> TokenValues | None:
        return values_of(rows[start + index]) if start + index < len(rows) else None

    return replace(output, keys=keys, values_at=values_at)


def with_dump(recorded: Recorded, dump: str, reading: ReadingSettings) -> Recorded:
    """The first run's only output with the values of a dump, one row a token. Raises
    CaptureError where the rows cannot be those of its tokens."""
    if len(recorded.outputs) != 1:
        raise CaptureError(
            f"--target holds the rows of one output, and {recorded.source} holds "
            f"{len(recorded.outputs)}",
            place=dump,
            expected="one output in each file, or alternatives in the answers",
        )
    output = recorded.outputs[0]
    if output.keys is None or not all(isinstance(key, int) for key in output.keys):
        raise CaptureError(
            f"--target has rows over token ids, and {recorded.source} has none",
            place=dump,
            expected="token ids in both files",
        )
    file = _opened(dump, reading)
    count = sum(1 for _ in file.rows()) if file.count is None else file.count
    if count not in (len(output.keys), len(output.keys) + 1):
        raise CaptureError(
            f"{count} rows, and {len(output.keys)} tokens in {recorded.source}",
            place=dump,
            expected="one row a token in the order of the text, one more row at the end at most",
        )
    return replace(recorded, outputs=(replace(output, values_at=_rows_of(file)),))


def _rows_of(file: EngineFile) -> Callable[[int], TokenValues | None]:
    def values_at(index: int) -> TokenValues | None:
        row = next(islice(file.rows(), index, None), None)
        return None if row is None else values_of(row)

    return values_at


def _opened(dump: str, reading: ReadingSettings) -> EngineFile:
    """``--numbers`` is the format of the computation here: of bit patterns it is that as well."""
    reading = replace(reading, vocab=None)
    plain = replace(reading, numbers=None)
    side = side_source(dump, plain)
    if side.engine is not None:
        return side.engine
    if not isinstance(side.source, LocalFile) or side.document is not None:
        raise CaptureError(
            "JSON that is no engine's answer holds no rows for --target",
            place=dump,
            expected="an array file, or an engine's answer",
        )
    from specdist.readers.dumps import open_archive
    from specdist.readers.engine_files.dump_side import dump_side
    from specdist.readers.sides import make_side
    from specdist.readers.tensor_names import pick

    archive = open_archive(side.source, side.kind, False)
    tensor = pick(archive, side.name, "target")
    if reading.numbers is NumberFormat.BFLOAT16 and tensor.element.numbers is None:
        plain = reading
    return dump_side(make_side(archive, tensor, "target", plain))
