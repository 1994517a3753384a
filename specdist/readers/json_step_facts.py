"""What is known around a step of a JSON capture: its id, its context, the length of the prompt."""

from __future__ import annotations

from typing import Any

from specdist.errors import CaptureError
from specdist.readers.json_numbers import type_name
from specdist.readers.json_rows import RowReading
from specdist.readers.strict_json import join


def context_of(step: dict[str, Any], path: str, rows: RowReading) -> tuple[int, ...] | None:
    """Token ids before the step; ids beyond the rows are no error, for a row may be cut."""
    value = step.get("context")
    if value is None:
        return None
    where = join(path, "context")
    if not isinstance(value, list):
        raise CaptureError(
            f"context cannot be {type_name(value)}",
            place=rows.place(where),
            expected="a list of token ids",
        )
    for index, token in enumerate(value):
        if type(token) is not int or token < 0:
            what = "negative" if type(token) is int else type_name(token)
            raise CaptureError(
                f"a token id cannot be {what}",
                place=rows.place(f"{where}[{index}]"),
                expected="a whole number from 0",
            )
    return tuple(value)


def prompt_length_of(
    step: dict[str, Any], path: str, context: tuple[int, ...] | None, file: str
) -> int | None:
    value = step.get("prompt_length")
    if value is None:
        return None
    most = len(context or ())
    if type(value) is not int or not 0 <= value <= most:
        raise CaptureError(
            "prompt_length is not a length within the context",
            place=f"{file}, {join(path, 'prompt_length')}",
            expected=f"a whole number from 0 to {most}, the length of context",
        )
    return value


def id_of(step: dict[str, Any], path: str, index: int, file: str) -> str:
    value = step.get("id", index)
    if type(value) is int or (type(value) is str and value):
        return str(value)
    raise CaptureError(
        "an id cannot be empty" if value == "" else f"an id cannot be {type_name(value)}",
        place=f"{file}, {join(path, 'id')}",
        expected="a text or a whole number",
    )
