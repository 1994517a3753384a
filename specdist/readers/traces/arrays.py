"""The rows beside recorded steps: which files and tensors hold them, and how exactly.

In a folder the names say it, best first: `spec_inputs.npz` holds the rows as the verifying function
got them, `target.npy` with `draft.npy` and `logits.*` the models' rows in the format that the loop
used, `raw_rows.safetensors` the models' rows before the engine's own processing. A file whose
numbers are narrower than those that the run used (or that the configuration calls a lossy copy)
gives each value within half a unit in the last place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from specdist.errors import CaptureError, ContextMismatchError, NotACaptureError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format, recognise
from specdist.readers.dumps import open_archive
from specdist.readers.integers import read_integers
from specdist.readers.naming import listing
from specdist.readers.sides import Side, make_side
from specdist.readers.sources import LocalFile, head_of, local_file
from specdist.readers.tensor import Archive, Tensor
from specdist.readers.tensor_names import LENGTH_NAMES, known_pairs
from specdist.readers.traces.config import TraceConfig

PAIRS = (("new_logits", "candidate_logits"), *known_pairs())
"""Names of target and draft rows in one archive."""
_PROCESSED = ("new_logits", "target_scores")
_NOISE = "final_noise"
_NPY = ("target.npy", "draft.npy")
_KNOWN = (
    "spec_inputs.npz", "target.npy", "logits.safetensors", "logits.npz", "raw_rows.safetensors",
    "assisted_blocks.npz",
)  # fmt: skip
_PRECISION = {
    NumberFormat.BFLOAT16: 8,
    NumberFormat.FLOAT16: 11,
    NumberFormat.FLOAT32: 24,
    NumberFormat.FLOAT64: 53,
}


@dataclass(frozen=True, slots=True)
class TraceRows:
    """Rows of both sides by number. ``lengths``: draft tokens of each step, where the rows lie step
    by step and the lines do not number them. ``lossy``: the values are rounded copies. ``why``
    says what decided the file and the stage."""

    name: str
    target: Side
    draft: Side
    noise: Side | None = None
    lengths: tuple[int, ...] | None = None
    lossy: bool = False
    why: str = ""
    stage_why: str = ""

    @property
    def size(self) -> int:
        """Tokens of the target's vocabulary."""
        return self.target.table.size


def find_rows(folder: Path, shown: str, config: TraceConfig) -> tuple[str, ...]:
    """The names of files in a folder that hold rows, best first, as they are shown."""
    names = [name for name in _KNOWN if (folder / name).is_file()]

    def rank(name: str) -> tuple[bool, bool, int]:
        given = config.format and name.endswith(config.format)
        return (name in config.lossy, not given and name != _KNOWN[0], names.index(name))

    return tuple(os.path.join(shown, name) if shown else name for name in sorted(names, key=rank))


def open_rows(name: str, reading: ReadingSettings, config: TraceConfig, why: str) -> TraceRows:
    """The rows of a file; `target.npy` stands for itself and the `draft.npy` beside it. Raises
    CaptureError, NotACaptureError for a file without both sides."""
    found = _both_sides(name)
    stage, stage_why = _stage(found[0][1].name, reading, config)
    known = replace(reading, stage=stage)
    if config.logits and reading.kind is None:
        known = replace(known, kind=Kind.LOGITS)
    if known.vocab_size is None and config.vocab_size is not None:
        known = replace(known, vocab_size=config.vocab_size)
    labels = ("target", "draft")
    sides = [make_side(*pair, label, known) for pair, label in zip(found, labels, strict=True)]
    _same_vocabulary(name, sides)
    if stage is None:
        stage, stage_why = _stage_of(sides)
        sides = [replace(side, stage=stage) for side in sides]
    return TraceRows(
        name=name,
        target=sides[0],
        draft=sides[1],
        noise=_noise(found[0][0]),
        lengths=_lengths(found[0][0]),
        lossy=_is_lossy(os.path.basename(name), sides, config),
        why=why,
        stage_why=stage_why,
    )


def _both_sides(name: str) -> tuple[tuple[Archive, Tensor], tuple[Archive, Tensor]]:
    """The archives and tensors of target and draft."""
    base = os.path.basename(name)
    if base in _NPY:
        folder = os.path.dirname(name)
        target, draft = (_archive(local_file(os.path.join(folder, file))) for file in _NPY)
        return (target, target.tensors["array"]), (draft, draft.tensors["array"])
    archive = _archive(local_file(name))
    ours, theirs = _both(archive)
    return (archive, ours), (archive, theirs)


def _same_vocabulary(name: str, sides: list[Side]) -> None:
    target, draft = (side.table.size for side in sides)
    if target != draft:
        raise ContextMismatchError(
            f"the target rows have {target} tokens, the draft rows {draft}",
            place=name,
            expected="both models' rows over one vocabulary",
            advice="cut padded columns, or place the draft's numbers at the target's ids",
        )


def _stage_of(sides: list[Side]) -> tuple[Stage, str]:
    """The stage that the masks of the rows suggest, where nothing says it."""
    if any(side.evidence.masks_vary for side in sides):
        return Stage.PROCESSED, "-inf at other tokens in each row: a cut was made"
    return Stage.RAW, "assumed: nothing says it, and no cut shows (--stage says otherwise)"


def _archive(file: LocalFile) -> Archive:
    kind = recognise(head_of(file), file.name, file.size)
    if kind not in (Format.NPY, Format.NPZ, Format.SAFETENSORS, Format.TORCH):
        raise CaptureError(
            "this is no file of arrays", place=file.name, expected=".npy, .npz or .safetensors"
        )
    return open_archive(file, kind)


def _both(archive: Archive) -> tuple[Tensor, Tensor]:
    found = [pair for pair in PAIRS if all(name in archive.tensors for name in pair)]
    if not found:
        raise NotACaptureError(
            f"rows of both sides are not among {listing(list(archive.tensors))}",
            place=archive.source,
            expected="tensors named target and draft, or target_scores and draft_scores, or "
            "new_logits and candidate_logits",
        )
    if len(found) > 1:
        raise CaptureError(
            f"this file holds several pairs: {listing([target for target, _ in found])}",
            place=archive.source,
            expected="one target and one draft",
        )
    target, draft = found[0]
    return archive.tensors[target], archive.tensors[draft]


def _stage(name: str, reading: ReadingSettings, config: TraceConfig) -> tuple[Stage | None, str]:
    if reading.stage is not None:
        return reading.stage, "as told (--stage)"
    if name in _PROCESSED:
        return Stage.PROCESSED, f"{name} is what the verifying function gets, warped already"
    if config.stage is not None:
        return config.stage, "the configuration says so"
    return None, ""


def _noise(archive: Archive) -> Side | None:
    tensor = archive.tensors.get(_NOISE)
    if tensor is None:
        return None
    return make_side(archive, tensor, "noise", ReadingSettings(kind=Kind.LOGITS))


def _lengths(archive: Archive) -> tuple[int, ...] | None:
    for name in LENGTH_NAMES:
        tensor = archive.tensors.get(name)
        if tensor is not None and tensor.element.numbers is None:
            return read_integers(tensor, f"{archive.source}, {name}")
    return None


def _is_lossy(base: str, sides: list[Side], config: TraceConfig) -> bool:
    if base in config.lossy:
        return True
    if config.stored is None:
        return False
    return any(_PRECISION[side.numbers] < _PRECISION[config.stored] for side in sides)


def facts_of(rows: TraceRows) -> Iterator[tuple[str, str]]:
    """What a report says about the rows."""
    yield "rows", f"{rows.name} ({rows.why})"
    for side in (rows.target, rows.draft):
        table = side.table
        text = f"{table.count} of {table.size} tokens, {side.kind.value}, {side.numbers.value}"
        yield f"{side.label} rows", text
    yield "stage", f"{rows.target.stage.value} ({rows.stage_why})"
    if rows.lossy:
        yield (
            "precision",
            "rounded copies: each value stands for all within half a unit in the last place",
        )
    if rows.noise is not None:
        yield "final draw", "race of exponentials, recorded by token"
