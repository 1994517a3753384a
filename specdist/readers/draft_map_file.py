"""``--draft-map``: a map of draft ids in a file of JSON, text or whole numbers of a tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specdist.errors import CaptureError
from specdist.readers.archive_contents import MAP_NAMES
from specdist.readers.content import Format, is_gzip, recognise
from specdist.readers.draft_map import read_draft_map, target_ids
from specdist.readers.draft_map_marks import marked_form, marks_beside
from specdist.readers.naming import listing, shape_text, shorten
from specdist.readers.sources import LocalFile, head_of, local_file, read_document_bytes, split_name
from specdist.readers.strict_json import decode, parse
from specdist.readers.tensor import Archive, Tensor
from specdist.readers.tensor_names import named_tensor

_NUMBER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DIGITS = b"+-0123456789 \t\r\n"


@dataclass(frozen=True, slots=True)
class FileMap:
    """``ids``: the target id of every draft id, -1 where it has none. ``assumed``: nothing said
    whether the entries are target ids or offsets, and they were taken for ids."""

    ids: tuple[int, ...]
    assumed: bool


def load_draft_map(text: str, form: str | None = None) -> tuple[int, ...]:
    """The target id of every draft id, from ``FILE`` or ``FILE::NAME``; see `load_file_map`."""
    return load_file_map(text, form).ids


def load_file_map(text: str, form: str | None = None) -> FileMap:
    """The map in ``FILE`` or ``FILE::NAME``.

    A JSON list (or ``{"offsets": [...]}``), an integer tensor of .npy, .npz, safetensors or torch,
    a list that torch saved, or one id a line. Marks of target ids beside a tensor (t2d) say whether
    it holds ids or offsets. Raises CaptureError naming the entry.
    """
    path, name = split_name(text)
    file = local_file(path)
    head = head_of(file)
    if is_gzip(head):
        raise CaptureError("this is a gzip file", place=path, advice="unpack it with gunzip first")
    if head.strip() and not head.strip(_DIGITS):
        return FileMap(_from_lines(file, form), form is None)
    kind = recognise(head, file.name, file.size)
    if kind is Format.JSON:
        if name is not None:
            raise CaptureError(f"JSON holds no tensor {shorten(name)!r}", place=path)
        value = parse(decode(read_document_bytes(file), path), path)
        said = form is not None or isinstance(value, dict)
        return FileMap(read_draft_map(value, "", path, form), not said)
    return _from_archive(file, kind, name, form)


def _from_lines(file: LocalFile, form: str | None) -> tuple[int, ...]:
    lines = decode(read_document_bytes(file), file.name).splitlines()
    numbered = [(at, line.strip()) for at, line in enumerate(lines, 1) if line.strip()]
    for at, line in numbered:
        if not _NUMBER.fullmatch(line):
            raise CaptureError(
                f"{shorten(line, 40)!r} is no whole number",
                place=f"{file.name}, line {at}",
                expected="one target id a line",
            )

    def place_of(index: int) -> str:
        return f"{file.name}, line {numbered[index][0]}"

    return target_ids([int(line) for _, line in numbered], form or "ids", file.name, place_of)


def _from_archive(file: LocalFile, kind: Format, name: str | None, form: str | None) -> FileMap:
    from specdist.readers.dumps import open_archive
    from specdist.readers.integers import read_integers
    from specdist.readers.zip_archive import saved_list

    listed = saved_list(file) if kind is Format.NPZ and name is None else None
    if listed is not None:
        return FileMap(read_draft_map(listed, "", file.name, form), form is None)
    archive = open_archive(file, kind)
    tensor = _chosen(archive, name)
    place = f"{file.name}, {shorten(tensor.name)}"
    if sum(size != 1 for size in tensor.shape) > 1:
        raise CaptureError(
            f"a draft map cannot have the shape {shape_text(tensor.shape)}",
            place=place,
            expected="one axis: an entry a draft id",
        )
    if tensor.element.name == "bool":
        raise CaptureError(
            "this tensor marks target ids (t2d), it maps no draft ids",
            place=place,
            expected="whole numbers, as the tensor d2t holds them",
        )
    entries = read_integers(tensor, place)
    beside = marks_beside(archive, tensor)
    if beside is not None:
        form = marked_form(entries, beside[1], form, place)
    ids = target_ids(entries, form or "ids", place, lambda index: f"{place}[{index}]")
    return FileMap(ids, form is None)


def _chosen(archive: Archive, name: str | None) -> Tensor:
    """The tensor of that name, or the only one that can be meant. Raises CaptureError."""
    if name is not None:
        return named_tensor(archive, name)
    whole = {n: t for n, t in archive.tensors.items() if t.element.numbers is None}
    known = [tensor for n, tensor in whole.items() if n.rpartition(".")[2] in MAP_NAMES]
    if len(known) == 1:
        return known[0]
    if len(archive.tensors) == 1:
        return next(iter(archive.tensors.values()))
    maps = [tensor for tensor in whole.values() if tensor.element.name != "bool"]
    if len(maps) == 1:
        return maps[0]
    raise CaptureError(
        f"none or several tensors could be the map: {listing(list(archive.tensors))}",
        place=archive.source,
        expected="a tensor of whole numbers, such as d2t",
        advice=f"name it: --draft-map {archive.source}::NAME",
    )
