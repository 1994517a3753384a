"""A map of draft ids beside the marks of the target ids that it reaches (``d2t`` and ``t2d``).

EAGLE-3 heads and their training caches hold both: t2d marks, per target id, whether the draft has
it. So the file itself says whether d2t holds offsets, {i + d2t[i]} = {t : t2d[t]}, or target ids,
{d2t[i]} = {t : t2d[t]}; where neither holds it is damaged. Both hold for a single entry only.
"""

from __future__ import annotations

from collections.abc import Sequence

from specdist.errors import CaptureError
from specdist.readers.archive_contents import MAP_NAMES, MARK_NAMES
from specdist.readers.draft_map import UNMAPPED
from specdist.readers.tensor import Archive, Tensor


def marks_beside(archive: Archive, tensor: Tensor) -> tuple[Tensor, tuple[int, ...]] | None:
    """The tensor of marks that stands beside a map, with the target ids that it marks."""
    from specdist.readers.integers import read_integers

    stem, _, last = tensor.name.rpartition(".")
    if last not in MAP_NAMES:
        return None
    for name in MARK_NAMES:
        found = archive.tensors.get(f"{stem}.{name}" if stem else name)
        if found is None or found.element.name != "bool":
            continue
        marks = read_integers(found, f"{archive.source}, {found.name}")
        return found, tuple(token for token, mark in enumerate(marks) if mark)
    return None


def marked_form(
    entries: Sequence[int], marked: tuple[int, ...], form: str | None, place: str
) -> str:
    """The form of a map, by the target ids that are marked. Raises CaptureError where neither form
    agrees with them, or the form that was told does not."""
    read = {
        "offsets": [index + entry for index, entry in enumerate(entries)],
        "ids": [entry for entry in entries if entry != UNMAPPED],
    }
    fits = [name for name, ids in read.items() if tuple(sorted(ids)) == marked]
    if (form or fits) and (form in fits or form is None):
        return form or fits[0]
    known = set(marked)
    strange = next((token for token in read[form or "offsets"] if token not in known), None)
    raise CaptureError(
        f"the {len(entries)} entries of the map do not reach the {len(marked)} target ids that "
        "t2d marks"
        + (f", read as {form}" if form else "")
        + ("" if strange is None else f": {strange} is not marked"),
        place=place,
        expected="entries that give just the marked ids, as offsets (index + entry) or as ids",
        advice=f"read as {fits[0]} they do" if fits else "",
    )
