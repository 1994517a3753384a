"""Array files as captures: which loader reads them, and which tensors are the two sides."""

from __future__ import annotations

import os

from specdist.errors import CaptureError
from specdist.model.capture import Capture, Vocab
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format, recognise
from specdist.readers.draft_map_marks import marked_form, marks_beside
from specdist.readers.integers import read_integers
from specdist.readers.lengths import (
    DraftLengths,
    is_length_text,
    lengths_of,
    no_lengths,
    parse_lengths,
)
from specdist.readers.naming import shorten
from specdist.readers.npy import read_npy
from specdist.readers.pairing import pair_capture
from specdist.readers.safetensors import read_safetensors
from specdist.readers.sides import make_side
from specdist.readers.sources import LocalFile, head_of, local_file, read_document_bytes, split_name
from specdist.readers.strict_json import decode, parse
from specdist.readers.tensor import Archive, Tensor
from specdist.readers.tensor_names import LENGTH_NAMES, both_sides, pick

Dump = tuple[LocalFile, Format, str | None]


def open_archive(file: LocalFile, kind: Format, forced: bool = False) -> Archive:
    """The tensors of an array file. Raises CaptureError; ``forced``: ``--reader`` named it."""
    if kind is Format.NPY:
        return read_npy(file)
    if kind is Format.SAFETENSORS:
        return read_safetensors(file)
    from specdist.readers.zip_archive import read_zip

    return read_zip(file, forced, kind)


def open_dump(
    file: LocalFile, kind: Format, reading: ReadingSettings, vocab: Vocab | None
) -> Capture:
    """An archive that holds both sides. Raises NotACaptureError when it holds only one."""
    archive = open_archive(file, kind, reading.reader is not None)
    ours, theirs = both_sides(archive)
    target = make_side(archive, ours, "target", reading)
    draft = make_side(archive, theirs, "draft", reading)
    return pair_capture(file.name, target, draft, _lengths(reading), vocab)


def open_dump_pair(
    target: Dump, draft: Dump, reading: ReadingSettings, vocab: Vocab | None
) -> Capture:
    """Two dumps, or two tensors of one. Raises SpecdistError."""
    forced = reading.reader is not None
    ours = open_archive(target[0], target[1], forced)
    same = target[0].path.samefile(draft[0].path)
    theirs = ours if same else open_archive(draft[0], draft[1], forced)
    first, second = pick(ours, target[2], "target"), pick(theirs, draft[2], "draft")
    source = target[0].name if same else f"{target[0].name} + {draft[0].name}"
    return pair_capture(
        source,
        make_side(ours, first, "target", reading),
        make_side(theirs, second, "draft", reading),
        _lengths(reading),
        vocab,
    )


def describe_archive(
    file: LocalFile, kind: Format, name: str | None, reading: ReadingSettings
) -> tuple[tuple[str, str], ...]:
    """What one file holds, tensor by tensor. Raises SpecdistError."""
    archive = open_archive(file, kind, reading.reader is not None)
    facts = [("reader", archive.reader)]
    facts += [(f"tensor {shorten(t.name)}", t.describe()) for t in archive.tensors.values()]
    facts += [(f"tensor {shorten(n)}", f"not read: {why}") for n, why in archive.refused.items()]
    facts += [
        (f"metadata {shorten(key, 40)}", f"{shorten(value, 100)} (not applied)")
        for key, value in archive.metadata.items()
    ]
    facts += _map_facts(archive)
    chosen = [pick(archive, name, "target")] if name is not None else list(archive.tensors.values())
    for tensor in chosen:
        if tensor.element.numbers is None and name is None and len(chosen) > 1:
            continue
        try:
            side = make_side(archive, tensor, shorten(tensor.name), reading)
        except CaptureError as error:
            facts.append((shorten(tensor.name), error.message))
            facts += [(f"{shorten(tensor.name)} help", error.advice)] if error.advice else []
        else:
            facts += side.facts()[1:]
    return tuple(facts)


def _map_facts(archive: Archive) -> list[tuple[str, str]]:
    """What marks of target ids say of the maps beside them."""
    facts = []
    for tensor in archive.tensors.values():
        beside = marks_beside(archive, tensor)
        if beside is None:
            continue
        marks, marked = beside
        entries = read_integers(tensor, f"{archive.source}, {tensor.name}")
        try:
            form = marked_form(entries, marked, None, archive.source)
            text = f"{form}: {len(entries)} draft ids onto {len(marked)} of {marks.count} target "
            text += f"ids, just those that {shorten(marks.name)} marks"
        except CaptureError as error:
            text = error.message
        facts.append((f"map {shorten(tensor.name)}", text))
    return facts


def _lengths(reading: ReadingSettings) -> DraftLengths | None:
    text = reading.draft_lengths
    if text is None:
        return None
    if is_length_text(text):
        return parse_lengths(text)
    path, name = split_name(text)
    if not os.path.exists(path):
        raise no_lengths(text)
    file = local_file(path)
    kind = recognise(head_of(file), file.name, file.size)
    if kind is Format.JSON:
        value = parse(decode(read_document_bytes(file), path), path)
        if not isinstance(value, list) or any(type(item) is not int for item in value):
            raise CaptureError(
                "draft lengths are not a list of whole numbers", place=path, expected="[4, 4, 3]"
            )
        return lengths_of([(item, 1) for item in value], path)
    archive = open_archive(file, kind)
    tensor = _only_integers(archive) if name is None else pick(archive, name, "draft")
    place = f"{archive.source}, {tensor.name}"
    return lengths_of([(value, 1) for value in read_integers(tensor, place)], place)


def _only_integers(archive: Archive) -> Tensor:
    whole = [t for t in archive.tensors.values() if t.element.numbers is None]
    if len(whole) == 1:
        return whole[0]
    return next(
        (t for name in LENGTH_NAMES if (t := archive.tensors.get(name)) is not None),
        None,
    ) or pick(archive, "draft_lengths", "draft")
