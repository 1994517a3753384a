"""``--draft-map``: a map of draft ids in a file of JSON, text or whole numbers of a tensor."""

from __future__ import annotations

import re

from specdist.errors import CaptureError
from specdist.readers.content import Format, is_gzip, recognise
from specdist.readers.draft_map import read_draft_map, target_ids
from specdist.readers.naming import listing, shape_text, shorten
from specdist.readers.sources import LocalFile, head_of, local_file, read_document_bytes, split_name
from specdist.readers.strict_json import decode, parse
from specdist.readers.tensor import Archive, Tensor
from specdist.readers.tensor_names import named_tensor

NAMES = ("d2t", "draft_to_target", "draft_map", "draft_id_to_target_id")
"""Names under which checkpoints and caches hold the map."""

_NUMBER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DIGITS = b"+-0123456789 \t\r\n"


def load_draft_map(text: str, form: str | None = None) -> tuple[int, ...]:
    """The target id of every draft id, from ``FILE`` or ``FILE::NAME``; -1 where it has none.

    A JSON list (or ``{"offsets": [...]}``), an integer tensor of .npy, .npz, safetensors or torch,
    a list that torch saved, or one id a line. Raises CaptureError naming the entry.
    """
    path, name = split_name(text)
    file = local_file(path)
    head = head_of(file)
    if is_gzip(head):
        raise CaptureError("this is a gzip file", place=path, advice="unpack it with gunzip first")
    if head.strip() and not head.strip(_DIGITS):
        return _from_lines(file, form)
    kind = recognise(head, file.name, file.size)
    if kind is Format.JSON:
        if name is not None:
            raise CaptureError(f"JSON holds no tensor {shorten(name)!r}", place=path)
        return read_draft_map(parse(decode(read_document_bytes(file), path), path), "", path, form)
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


def _from_archive(
    file: LocalFile, kind: Format, name: str | None, form: str | None
) -> tuple[int, ...]:
    from specdist.readers.dumps import open_archive
    from specdist.readers.integers import read_integers
    from specdist.readers.zip_archive import saved_list

    listed = saved_list(file) if kind is Format.NPZ and name is None else None
    if listed is not None:
        return read_draft_map(listed, "", file.name, form)
    tensor = _chosen(open_archive(file, kind), name)
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
    return target_ids(
        read_integers(tensor, place), form or "ids", place, lambda index: f"{place}[{index}]"
    )


def _chosen(archive: Archive, name: str | None) -> Tensor:
    """The tensor of that name, or the only one that can be meant. Raises CaptureError."""
    if name is not None:
        return named_tensor(archive, name)
    whole = {n: t for n, t in archive.tensors.items() if t.element.numbers is None}
    known = [tensor for n, tensor in whole.items() if n.rpartition(".")[2] in NAMES]
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
