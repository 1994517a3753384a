"""From the name of a file to the counters in it."""

from __future__ import annotations

from typing import Any

from specdist.errors import CaptureError
from specdist.model.counters import Counters
from specdist.model.settings import ReadingSettings
from specdist.readers.content import Format
from specdist.readers.counters.answers import FORMATS
from specdist.readers.counters.prometheus import read_prometheus
from specdist.readers.counters.spec_bench import is_spec_bench, read_spec_bench
from specdist.readers.identification import first_line, identified, parsed, source_of
from specdist.readers.jsonl_capture import line_values
from specdist.readers.refusals import is_prometheus
from specdist.readers.sources import ByteSource, head_of, read_document_bytes
from specdist.readers.strict_json import decode


def open_counters(name: str) -> tuple[Counters, ...]:
    """The counters of a file: Prometheus text, JSON of an engine or a benchmark, JSON lines.

    Raises CaptureError for a file that holds none.
    """
    source = source_of(name)
    found = counters_in(source)
    if not found:
        raise CaptureError(
            "this file holds no acceptance counters",
            place=name,
            expected="Prometheus text, metrics.speculative_decoding, meta_info.spec_*, "
            "timings.draft_n, a bench result, or answers of Spec-Bench",
        )
    return found


def counters_in(source: ByteSource) -> tuple[Counters, ...]:
    """The counters of a source; none where it holds something else. Raises CaptureError."""
    if is_prometheus(head_of(source)):
        return read_prometheus(decode(read_document_bytes(source), source.name), source.name)
    source, kind = identified(source, ReadingSettings())
    if kind is Format.JSON_LINES:
        first = first_line(source)
        if is_spec_bench(first):
            return (read_spec_bench(line_values(source), source.name),)
        lines = line_values(source)
        return tuple(
            c for at, value in lines for c in counters_of(value, f"{source.name}, line {at}")
        )
    return counters_of(parsed(source), source.name) if kind is Format.JSON else ()


def counters_of(value: Any, name: str) -> tuple[Counters, ...]:
    """The counters in a JSON document; none where it holds something else. Raises CaptureError."""
    if is_spec_bench(value):
        return (read_spec_bench(iter([(1, value)]), name),)
    items = value if isinstance(value, list) else [value]
    found: list[Counters] = []
    for index, item in enumerate(items):
        place = f"{name}, [{index}]" if isinstance(value, list) else name
        for form in FORMATS:
            inner = form.find(item)
            if inner is not None:
                read = form.read(inner[0], inner[1] or "top level", place)
                _refuse_empty(read, inner[1], place)
                found.append(read)
                break
    return tuple(found)


def _refuse_empty(found: Counters, inner: str, place: str) -> None:
    """Counters without a count: nothing could be compared. Raises CaptureError."""
    counted = (found.steps, found.draft_tokens, found.accepted, found.written)
    listed = (found.histogram, found.step_accepted, found.step_drafted, found.reported)
    if all(value is None for value in counted) and not any(listed):
        raise CaptureError(
            f"{found.title}: none of them is here",
            place=f"{place}, {inner}" if inner else place,
            expected="counts of steps, draft tokens and accepted tokens",
        )
