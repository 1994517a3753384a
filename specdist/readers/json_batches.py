"""Batches in a JSON capture: several requests whose verified tokens are decided together.

    {"requests": [{"models": {...}, "draft_length": 2, "confidence": {"": "4/5", "0": 1}}, ...],
     "schedule": "scheduler:fixed:budget=2" or {"rule": ..., "throughput": {...}, ...},
     "id": ..., "settings": {...}}

A request is a step over models, with its confidences beside it and without a length rule of its
own; ``schedule`` is written like ``length``. Requests may have vocabularies of different sizes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specdist.errors import CaptureError
from specdist.model.capture import Step
from specdist.model.length import Length
from specdist.readers.json_lengths import (
    CONFIDENCE_KEY,
    LENGTH_KEY,
    SCHEDULE_KEY,
    Places,
    read_confidence,
    read_length_rule,
)
from specdist.readers.json_models import read_model_step
from specdist.readers.json_numbers import type_name
from specdist.readers.json_positions import StepReading
from specdist.readers.json_settings import merged, object_at, read_settings, unknown_key
from specdist.readers.json_step_facts import id_of
from specdist.readers.strict_json import join

REQUESTS_KEY = "requests"
BATCH_KEYS = (REQUESTS_KEY, SCHEDULE_KEY)
_AROUND = ("id", "settings")
REQUEST_LIMIT = 64


def read_batch(
    step: dict[str, Any],
    path: str,
    index: int,
    reading: StepReading,
    extra_keys: tuple[str, ...] = (),
) -> Step:
    """One step with ``requests``. Raises CaptureError or RowError with file and JSON path."""
    file = reading.rows.file
    _check_keys(step, path, file, extra_keys)
    if path and "settings" in step:
        own = read_settings(step["settings"], join(path, "settings"), file)
        reading = replace(reading, options=merged(reading.options, own))
    requests = _requests(step[REQUESTS_KEY], join(path, REQUESTS_KEY), reading)
    sizes = tuple(request.models.size for request in requests if request.models is not None)
    schedule = _schedule(step, path, Places(sizes, reading.rows))
    return Step(
        id=id_of(step, path, index, file),
        source=f"{file}, {path}" if path else file,
        positions=(),
        options=reading.options,
        vocab=reading.vocab,
        findings=reading.findings,
        length=schedule,
        requests=requests,
    )


def _check_keys(step: dict[str, Any], path: str, file: str, extra_keys: tuple[str, ...]) -> None:
    known = (*BATCH_KEYS, *_AROUND, *extra_keys)
    for key in step:
        if key not in known:
            error = unknown_key(key, path, file, known)
            if key in ("models", LENGTH_KEY, "draft_length", "tree"):
                error.expected = "models and shapes inside the requests, the rule in schedule"
            raise error


def _schedule(step: dict[str, Any], path: str, places: Places) -> Length:
    """The rule that decides the lengths of all requests. Raises CaptureError without one."""
    schedule = read_length_rule(step, SCHEDULE_KEY, path, places)
    if schedule is None:
        raise CaptureError(
            "requests without a schedule",
            place=places.rows.place(path or "top level"),
            expected='"schedule": how many drafted tokens of each are verified, such as '
            '"scheduler:fixed:budget=2" or "fixed:2"',
        )
    if schedule.confidence or schedule.otherwise is not None or schedule.profile:
        raise CaptureError(
            "confidence and profile belong to a request",
            place=schedule.place,
            expected='"confidence" inside each of the requests',
        )
    return schedule


def _requests(value: Any, path: str, reading: StepReading) -> tuple[Step, ...]:
    if not isinstance(value, list) or not value:
        raise CaptureError(
            f"requests cannot be {'an empty list' if value == [] else type_name(value)}",
            place=reading.rows.place(path),
            expected="a list of at least one request",
        )
    if len(value) > REQUEST_LIMIT:
        raise CaptureError(
            f"{len(value)} requests",
            place=reading.rows.place(path),
            expected=f"at most {REQUEST_LIMIT}: their drafts are enumerated jointly",
        )
    inner = replace(reading, findings=())
    return tuple(_request(item, f"{path}[{i}]", i, inner) for i, item in enumerate(value))


def _request(value: Any, path: str, index: int, reading: StepReading) -> Step:
    file = reading.rows.file
    given = object_at(value, path, file)
    if LENGTH_KEY in given:
        raise CaptureError(
            "a request of a batch has a length rule of its own",
            place=f"{file}, {join(path, LENGTH_KEY)}",
            expected='"schedule" beside the requests; a request brings its "confidence"',
        )
    if "models" not in given:
        raise CaptureError(
            "a request without models",
            place=f"{file}, {path}",
            expected='"models" with the rows of target and draft by prefix',
        )
    rest = {key: item for key, item in given.items() if key != CONFIDENCE_KEY}
    request = read_model_step(rest, path, index, reading)
    if request.models is None or CONFIDENCE_KEY not in given:
        return replace(request, length=Length(place=f"{file}, {path}"))
    places = Places((request.models.size,), reading.rows)
    confidence, otherwise = read_confidence(given, path, places)
    where = f"{file}, {join(path, CONFIDENCE_KEY)}"
    length = Length(confidence=confidence, otherwise=otherwise, place=where)
    return replace(request, length=length)
