"""Maps of draft ids to target ids: for each draft id its target id, or -1 where it has none.

A map is written as target ids (FR-Spec and SGLang ``--speculative-token-map``: a list of ids; vLLM
``use_heterogeneous_vocab``: ids with -1) or as offsets, target id = draft id + entry (EAGLE-3 and
its descendants: the tensor ``d2t`` beside the head).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.axes import VOCAB_LIMIT
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import shorten
from specdist.readers.strict_json import join

FORMS = ("ids", "offsets")
UNMAPPED = -1

PlaceOf = Callable[[int], str]
"""The place of an entry, for messages."""


def read_draft_map(value: Any, path: str, file: str, form: str | None = None) -> tuple[int, ...]:
    """The map that JSON writes: a list, ``{"ids": [...]}`` or ``{"offsets": [...]}``.

    ``form`` is the form of a plain list (default: ids). Raises CaptureError naming the entry.
    """
    place = f"{file}, {path}" if path else file
    if isinstance(value, dict) and len(value) == 1 and (said := next(iter(value))) in FORMS:
        if form not in (None, said):
            raise CaptureError(f"the map says {said}, the command line says {form}", place=place)
        return read_draft_map(value[said], join(path, said), file, said)
    if not isinstance(value, list):
        raise CaptureError(
            f"a draft map cannot be {type_name(value)}",
            place=place,
            expected='a list of target ids such as [0, 2, 5], or {"offsets": [0, 1, 3]}',
        )

    def place_of(index: int) -> str:
        return f"{file}, {path}[{index}]"

    for index, entry in enumerate(value):
        if type(entry) is not int:
            raise CaptureError(
                f"an entry of a draft map cannot be {type_name(entry)}",
                place=place_of(index),
                expected="whole numbers",
            )
    return target_ids(value, form or "ids", place, place_of)


def target_ids(entries: Sequence[int], form: str, place: str, place_of: PlaceOf) -> tuple[int, ...]:
    """The target id of every draft id. Raises CaptureError naming the first wrong entry."""
    if not entries:
        raise CaptureError("the draft map is empty", place=place, expected="an entry a draft id")
    offsets = form == "offsets"
    ids = tuple(index + entry for index, entry in enumerate(entries)) if offsets else tuple(entries)
    for index, token in enumerate(ids):
        if (token < 0 and (offsets or token != UNMAPPED)) or token >= VOCAB_LIMIT:
            written = f"{index} + {entries[index]} = {token}" if offsets else str(token)
            raise CaptureError(
                f"entry {index} of the draft map is no target id: {shorten(written)}",
                place=place_of(index),
                expected="target ids from 0"
                + ("" if offsets else ", or -1 for a draft id that has none"),
                advice=_other_form(entries, offsets),
            )
    _refuse_repeated(entries, ids, offsets, place_of)
    return ids


def _refuse_repeated(
    entries: Sequence[int], ids: tuple[int, ...], offsets: bool, place_of: PlaceOf
) -> None:
    first: dict[int, int] = {}
    for index, token in enumerate(ids):
        if token != UNMAPPED and first.setdefault(token, index) != index:
            raise CaptureError(
                f"entries {first[token]} and {index} of the draft map are both target id {token}",
                place=place_of(index),
                expected="no two draft ids with one target id",
                advice=_other_form(entries, offsets),
            )


def _other_form(entries: Sequence[int], offsets: bool) -> str:
    """Advice where the entries make a map when they are read in the other form."""
    other = list(entries) if offsets else [index + entry for index, entry in enumerate(entries)]
    if any(token < 0 for token in other) or len(set(other)) < len(other):
        return ""
    name = "ids" if offsets else "offsets"
    return f'read as {name} the entries are a map: --draft-map-form {name}, or {{"{name}": [...]}}'
