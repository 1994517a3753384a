"""Spec-Bench answers, JSON lines: ``accept_lengths`` are tokens written a step, bonus included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.errors import CaptureError
from specdist.model.counters import Counters
from specdist.readers.counters.counts import counts


def is_spec_bench(value: Any) -> bool:
    """Whether a line is an answer of Spec-Bench."""
    choices = value.get("choices") if isinstance(value, dict) else None
    return (
        isinstance(choices, list)
        and bool(choices)
        and isinstance(choices[0], dict)
        and {"accept_lengths", "decoding_steps"} <= set(choices[0])
    )


def read_spec_bench(lines: Iterator[tuple[int, Any]], name: str) -> Counters:
    """All answers together. Raises CaptureError for a line of another form."""
    lengths: list[int] = []
    written = steps = 0
    for number, value in lines:
        place = f"{name}, line {number}"
        if not is_spec_bench(value):
            raise CaptureError(
                "this line is not an answer of Spec-Bench",
                place=place,
                expected="choices with decoding_steps and accept_lengths",
            )
        for index, choice in enumerate(value["choices"]):
            inner = f"{place}, choices[{index}]"
            lengths += counts(choice.get("accept_lengths"), f"{inner}.accept_lengths")
            steps += sum(counts(choice.get("decoding_steps"), f"{inner}.decoding_steps"))
            written += sum(counts(choice.get("new_tokens", []), f"{inner}.new_tokens"))
    if any(length < 1 for length in lengths):
        raise CaptureError(
            "an accept length of 0", place=name, expected="tokens written a step, at least 1"
        )
    return Counters(
        name,
        "spec-bench",
        "Spec-Bench answers",
        steps=steps,
        accepted=sum(length - 1 for length in lengths),
        step_accepted=tuple(length - 1 for length in lengths),
        written=written or None,
        notes=("turns are concatenated; the draft lengths are not recorded",),
    )
