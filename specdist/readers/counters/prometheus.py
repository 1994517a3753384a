"""Prometheus text of vLLM, llama-server and SGLang: one set of counters for each set of labels.

vLLM 0.33 (v1/spec_decode/metrics.py) and llama-server export counters
``spec_decode_num_{drafts,draft_tokens,accepted_tokens}_total`` and
``spec_decode_num_accepted_tokens_per_pos_total{position}``; ``_created`` companions are times.
SGLang 0.5 exports gauges of its last logging interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from specdist.errors import CaptureError
from specdist.model.counters import Counters, Rate, Reported
from specdist.readers.counters.counts import count, rate_of
from specdist.readers.strict_json import Literal

_LINE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?", re.ASCII)
_LABEL = re.compile(r'\s*([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"\s*(?:,|$)', re.ASCII)
_COUNTERS = "spec_decode_num_"
_PER_POSITION = f"{_COUNTERS}accepted_tokens_per_pos"
_GAUGES = {
    "spec_accept_length": Rate.EMITTED_A_STEP,
    "spec_accept_rate": Rate.OF_CONFIGURED,
}
_ENGINES = {"vllm": "vLLM", "llamacpp": "llama-server", "sglang": "SGLang"}


class Sample(NamedTuple):
    """One line: ``vllm:name{labels} value``."""

    engine: str
    name: str
    labels: tuple[tuple[str, str], ...]
    value: str
    place: str


def read_prometheus(text: str, name: str) -> tuple[Counters, ...]:
    """The acceptance counters in a scrape. Raises CaptureError where there are none."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in _samples(text, name):
        labels = ", ".join(f"{key}={value}" for key, value in sample.labels if key != "position")
        groups.setdefault((sample.engine, labels), []).append(sample)
    found = [_counters(name, *key, samples) for key, samples in groups.items()]
    kept = tuple(item for item in found if item is not None)
    if not kept:
        raise CaptureError(
            "these metrics hold no acceptance counters",
            place=name,
            expected="vllm:spec_decode_num_*, llamacpp:spec_decode_num_* or sglang:spec_accept_*",
        )
    return kept


def _samples(text: str, name: str) -> Iterator[Sample]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{name}, line {number}"
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise CaptureError(
                "this line is no Prometheus sample", place=place, expected="name{labels} value"
            )
        engine, colon, metric = match[1].partition(":")
        if not colon or engine not in _ENGINES or not metric.startswith("spec_"):
            continue
        if metric.endswith("_created"):
            continue
        yield Sample(engine, metric, _labels(match[2] or "", place), match[3], place)


def _labels(text: str, place: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = _LABEL.match(text, at)
        if match is None:
            raise CaptureError("these labels cannot be read", place=place, expected='key="value"')
        found.append((match[1], match[2]))
        at = match.end()
    return tuple(found)


def _counters(source: str, engine: str, labels: str, samples: list[Sample]) -> Counters | None:
    totals: dict[str, Sample] = {}
    positions: dict[int, int] = {}
    for sample in samples:
        position = dict(sample.labels).get("position")
        if sample.name.startswith(_PER_POSITION):
            if position is None:
                raise CaptureError(
                    f"{sample.name} has no position", place=sample.place, expected='position="0"'
                )
            at = count(Literal(position), sample.place)
            _refuse_twice(at in positions, sample)
            positions[at] = _count(sample)
        else:
            _refuse_twice(sample.name in totals, sample)
            totals[sample.name] = sample
    if engine == "sglang":
        return _gauges(source, labels, totals)

    def total(what: str) -> int | None:
        sample = totals.get(f"{_COUNTERS}{what}_total") or totals.get(f"{_COUNTERS}{what}")
        return None if sample is None else _count(sample)

    steps, drafted, accepted = total("drafts"), total("draft_tokens"), total("accepted_tokens")
    if steps is None and drafted is None and accepted is None:
        return None
    if sorted(positions) != list(range(len(positions))):
        raise CaptureError(
            f"the positions are {sorted(positions)}", place=source, expected="0, 1, 2, ..."
        )
    return Counters(
        source,
        "prometheus",
        f"{_ENGINES[engine]} counters since the server started",
        labels,
        steps,
        drafted,
        accepted,
        tuple(positions[at] for at in sorted(positions)) or None,
    )


def _gauges(source: str, labels: str, totals: dict[str, Sample]) -> Counters | None:
    stated = tuple(
        _reported(totals[name], rate) for name, rate in _GAUGES.items() if name in totals
    )
    if not stated:
        return None
    length = totals.get("spec_num_draft_tokens")
    steps = totals.get("spec_verify_calls_total")
    return Counters(
        source,
        "prometheus",
        "SGLang gauges of the last logging interval",
        labels,
        reported=stated,
        draft_length=None if length is None else max(_count(length) - 1, 0),
        interval_only=True,
        notes=(
            "gauges of one interval cannot be differenced; the rate divides by "
            "steps * (num_draft_tokens - 1), also where a tree was cut",
            *(() if steps is None else (f"{_count(steps)} verify calls since the start",)),
        ),
    )


def _reported(sample: Sample, rate: Rate) -> Reported:
    value, half = rate_of(Literal(sample.value), sample.place)
    return Reported(sample.name, rate, (value,), (half,))


def _count(sample: Sample) -> int:
    return count(Literal(sample.value), sample.place)


def _refuse_twice(twice: bool, sample: Sample) -> None:
    if twice:
        raise CaptureError(f"{sample.name} is there twice with the same labels", place=sample.place)
