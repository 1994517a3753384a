"""An accepted report, ``specdist.report/1`` as JSON or JSON lines, read as a baseline.

Only what is compared is kept: verdicts, acceptance rates, total variations, idents, conditions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.errors import CaptureError, SettingsError
from specdist.model.baseline import Baseline, StepRecord
from specdist.readers.baseline_steps import listed, member, record, table, text
from specdist.readers.content import is_gzip
from specdist.readers.jsonl_capture import is_lines, line_values
from specdist.readers.sources import (
    ByteSource,
    Gunzipped,
    head_of,
    local_file,
    read_document_bytes,
)
from specdist.readers.strict_json import decode, parse

SCHEMA = "specdist.report/1"
_EXPECTED = f"a report of specdist check, {SCHEMA}: --format json or jsonl"
_HOW = f"write one with specdist check CAPTURE... --format json ({SCHEMA})"
_FORGET = ("tokens", "sequences", "marginals", "admission", "notes", "smallest")
"""Members that no comparison needs, and most of the size of a report."""


def open_baseline(name: str) -> Baseline:
    """The baseline in a file. Raises SettingsError for a file that holds no whole report."""
    try:
        source: ByteSource = local_file(name)
        if is_gzip(head_of(source)):
            source = Gunzipped(source)
        if head_of(source).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
            raise CaptureError("this is no JSON report", place=name)
        if is_lines(source):
            return _of_lines(source)
        whole = parse(decode(read_document_bytes(source), name), name, forget=_FORGET)
        return _of_document(whole, name)
    except CaptureError as error:
        raise SettingsError(
            f"the baseline cannot be read: {error.message}",
            place=error.place,
            expected=_EXPECTED,
        ) from None


def _of_document(whole: Any, name: str) -> Baseline:
    _check_schema(whole, name)
    steps = listed(member(whole, "steps", name), f"{name}, steps")
    records = [record(step, f"{name}, steps[{index}]") for index, step in enumerate(steps)]
    return _baseline(whole, records, name)


def _of_lines(source: ByteSource) -> Baseline:
    """The steps of a run as JSON lines; its last line is the report without them."""
    records: list[StepRecord] = []
    last: Any = None
    for number, value in _pairs(source):
        if last is not None:
            records.append(record(last, f"{source.name}, line {number - 1}"))
        last = value
    if isinstance(last, dict) and "error" in last:
        raise SettingsError(
            "the run that wrote the baseline ended with an error",
            place=source.name,
            expected="the report of a run that came to its end",
        )
    if isinstance(last, dict) and "schema" not in last and "id" in last:
        raise SettingsError(
            "the baseline ends before its last line, which holds the settings",
            place=source.name,
            expected="the report of a run that came to its end",
        )
    _check_schema(last, source.name)
    return _baseline(last, records, source.name)


def _pairs(source: ByteSource) -> Iterator[tuple[int, Any]]:
    for count, (_, value) in enumerate(line_values(source, _FORGET), 1):
        yield count, value


def _check_schema(whole: Any, name: str) -> None:
    found = whole.get("schema") if isinstance(whole, dict) else None
    if found == SCHEMA:
        return
    if found is None:
        what = "the baseline names no schema"
    else:
        what = f"the baseline is of schema {str(found)[:40]}, not {SCHEMA}"
    raise SettingsError(what, place=name, expected=_EXPECTED, advice=_HOW)


def _baseline(whole: Any, records: list[StepRecord], name: str) -> Baseline:
    settings = table(member(whole, "settings", name), f"{name}, settings")
    if not records:
        raise SettingsError("the baseline holds no step", place=name, expected=_EXPECTED)
    version = text(member(whole, "specdist", name), f"{name}, specdist")
    return Baseline(name, version[:40], settings, tuple(records))
