"""How tables of likely tokens are laid out in JSON: which members hold the rows of a text.

- *lists*: ``input_ids`` with ``topk_ids`` and ``topk_logprobs``, and their other names;
- *entries*: ``[[{"token": "token_id:N", "logprob": x}, ...] | null, ...]`` as vLLM's chat answers
  list them, in a member of any name;
- *maps*: ``{"N": log-probability}``, one a line beside ``position`` and ``token_id``, or a list of
  them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from specdist.readers.engine_files.table_model import IDS, VALUES
from specdist.readers.strict_json import Literal


class Form(StrEnum):
    """The form of a table."""

    LISTS = "lists"
    ENTRIES = "entries"
    MAP = "map"
    MAPS = "maps"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the rows are: members of a record, or the record itself where ``values`` is empty."""

    form: Form
    values: str = ""
    ids: str = ""


def layout_of(record: Any) -> Layout | None:
    """The layout of one record; None for something else."""
    if isinstance(record, list):
        form = _form(record)
        return None if form is None else Layout(form)
    if not isinstance(record, dict):
        return None
    ids, values = column(record, IDS), column(record, VALUES)
    if ids and values:
        return Layout(Form.LISTS, values, ids)
    if _is_map(record):
        return Layout(Form.MAP)
    found = [(name, form) for name, value in record.items() if (form := _form(value))]
    if len(found) != 1:
        return None
    return Layout(found[0][1], found[0][0])


def column(record: dict[str, Any], names: Any) -> str:
    """The first of the names under which a record has lists of lists; empty where it has none."""
    return next((name for name in names if _is_nested(record.get(name))), "")


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, list) for item in value[:4])


def _form(value: Any) -> Form | None:
    if _is_map(value):
        return Form.MAP
    if not isinstance(value, list):
        return None
    there = next((item for item in value if item), None)
    if _is_map(there):
        return Form.MAPS
    if isinstance(there, list) and all(_is_entry(item) for item in there):
        return Form.ENTRIES
    return None


def _is_map(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(key.isascii() and key.isdecimal() for key in value)
        and all(_is_number(item) or item is None for item in value.values())
    )


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and {"token", "logprob"} <= set(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Literal) or type(value) is int
