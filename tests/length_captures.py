"""Captures of length rules and batches for tests, and what the command line says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.cli import exact, run
from tests.oracle_batch import Request

Prefix = tuple[int, ...]


def row(*values: str | int | Fraction) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, values))


def constant(law: Sequence[Fraction], depth: int) -> dict[Prefix, tuple[Fraction, ...]]:
    """The same row after every prefix of at most ``depth`` tokens."""
    found: dict[Prefix, tuple[Fraction, ...]] = {(): tuple(law)}
    level: list[Prefix] = [()]
    for _ in range(depth):
        level = [(*z, x) for z in level for x in range(len(law))]
        found |= dict.fromkeys(level, tuple(law))
    return found


def chain(target: Sequence[Fraction], draft: Sequence[Fraction], length: int) -> Request:
    """Rows that do not depend on the prefix."""
    return Request(constant(target, length + 3), constant(draft, length), length)


def key(prefix: Prefix) -> str:
    return ",".join(map(str, prefix))


def texts(value: Any) -> Any:
    """Fractions as texts, prefixes as keys."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {
            key(name) if isinstance(name, tuple) else str(name): texts(item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [texts(item) for item in value]
    return value


def step(request: Request, **more: Any) -> dict[str, Any]:
    models = {
        "target": {"rows": texts(request.target)},
        "draft": {"rows": texts(request.draft)},
    }
    return {"models": models, "draft_length": request.length, **texts(more)}


def batch(
    requests: Sequence[Request],
    schedule: Any,
    confidences: Sequence[Mapping[Prefix, Fraction]] = (),
) -> dict[str, Any]:
    more = [{"confidence": found} for found in confidences] or [{} for _ in requests]
    return {
        "requests": [step(r, **extra) for r, extra in zip(requests, more, strict=True)],
        "schedule": texts(schedule),
    }


def checked(
    folder: Path, document: Any, *options: object, code: int | None = None
) -> dict[str, Any]:
    """The only step of the JSON report."""
    place = folder / "capture.json"
    place.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", place, "--format", "json", *options)
    assert code is None or done.code == code, done.stdout + done.stderr
    (found,) = done.json()["steps"]
    assert isinstance(found, dict)
    return found


def refused(folder: Path, document: Any, *options: object) -> str:
    """What exit 2 says."""
    place = folder / "capture.json"
    place.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", place, *options)
    assert done.code == 2, done.stdout + done.stderr
    assert done.stdout == ""
    return " ".join(done.stderr.split())


def number(found: Any) -> Fraction:
    value = exact(found)
    assert value is not None
    return value


def profile(found: dict[str, Any], request: int | None = None) -> dict[Prefix, Fraction]:
    """The admission profile of a step, or of one request of a batch."""
    return {
        tuple(line["prefix"]): number(line["probability"])
        for line in found["joint"]["admission"]["lines"]
        if request is None or line["request"] == request
    }


def idents(found: dict[str, Any]) -> list[str]:
    return [finding["ident"] for finding in found["findings"]]
