"""Whether a JSON document means to be a capture, and what to say of one that does not."""

from __future__ import annotations

from typing import Any

from specdist.errors import NotACaptureError
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import nearest, shorten

SCHEMA = "specdist.capture/1"
HEADER_KEYS = (
    "schema",
    "numbers",
    "kind",
    "stage",
    "vocab",
    "vocab_size",
    "draft_vocab",
    "draft_map",
    "settings",
)


def looks_like_capture(value: Any) -> bool:
    """Whether a JSON document means to be a capture: by its schema, or by rows where rows go."""
    if not isinstance(value, dict):
        return False
    schema = value.get("schema")
    if isinstance(schema, str):
        return schema.startswith("specdist.capture")
    if any(isinstance(value.get(key), list | dict) for key in ("target", "draft", "models")):
        return True
    if isinstance(value.get("positions"), list) and value["positions"]:
        return isinstance(value["positions"][0], dict)
    if _holds_models(value.get("requests")) or {"requests", "schedule"} <= set(value):
        return True
    steps = value.get("steps")
    if steps == []:
        return set(value) <= {*HEADER_KEYS, "steps"}
    keys = {"positions", "target", "draft", "models", "requests"}
    return isinstance(steps, list) and isinstance(steps[0], dict) and bool(keys & set(steps[0]))


def _holds_models(requests: Any) -> bool:
    """Whether a list of requests, which many documents have, is one of steps over models."""
    return isinstance(requests, list) and any(
        isinstance(request, dict) and "models" in request for request in requests
    )


_DRAFTED = ("drafted", "draft_ids")


def not_a_capture(value: Any, name: str) -> NotACaptureError:
    """The error for JSON that is something else."""
    if isinstance(value, dict) and isinstance(schema := value.get("schema"), str):
        return NotACaptureError(
            f"this JSON says it is {shorten(schema)!r}",
            place=name,
            expected=f'"schema": "{SCHEMA}"',
        )
    if isinstance(value, dict):
        if any(key in value for key in _DRAFTED) and "emitted" in value:
            return NotACaptureError(
                "these are recorded steps, and no rows stand in this line",
                place=name,
                expected="a capture, or the folder of a trace",
                advice="specdist replay FILE checks decisions, draws and contexts; of a folder "
                "with config.json and arrays, check and inspect read the rows",
            )
        keys = ("steps", "positions", "target", "draft", "models")
        if any(key in keys for key in value):
            return _without_rows(value, next(key for key in keys if key in value), name)
        hints = [nearest(k, keys) for k in value if nearest(k, keys).startswith("did")]
        return NotACaptureError(
            "this JSON object is not a capture",
            place=name,
            expected="the key steps, or target and draft",
            advice=hints[0] if hints else "see `specdist config --schema capture`",
        )
    return NotACaptureError(
        f"this JSON document is {type_name(value)}",
        place=name,
        expected="an object with steps, or with target and draft",
    )


def _without_rows(value: dict[str, Any], key: str, name: str) -> NotACaptureError:
    """The error for a key of captures that holds no rows; it says what stands there instead."""
    found = value[key]
    if key in ("steps", "positions") and isinstance(found, list) and found:
        return NotACaptureError(
            f"this is {type_name(found[0])} without rows",
            place=f"{name}, {key}[0]",
            expected="an object with target and draft"
            + (", or with positions" if key == "steps" else ""),
        )
    return NotACaptureError(
        f"{key} cannot be {'empty' if found == [] else type_name(found)}",
        place=f"{name}, {key}",
        expected=f"a list of {key}"
        if key in ("steps", "positions")
        else "an object with target and draft"
        if key == "models"
        else "a row",
    )
