"""Recorded steps as a capture: the same rows, judged by their laws instead of by their draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.errors import CaptureError, NotACaptureError
from specdist.model.capture import Capture, Position, Step, Vocab
from specdist.model.finding import Finding, Severity
from specdist.model.settings import ReadingSettings
from specdist.model.trace import Trace, TraceStep
from specdist.readers.notes import clamp_notes
from specdist.readers.traces.opening import open_trace

_NOT_DRAFTED = Finding(
    "configuration-needed",
    Severity.NOTE,
    "steps without draft tokens stand beside this one and are left out: nothing was tested",
)


_LAWS_ONLY = Finding(
    "configuration-needed",
    Severity.NOTE,
    "the laws of the rows are compared here; what the engine decided and drew is checked by "
    "specdist replay",
)


def trace_capture(name: str, reading: ReadingSettings, vocab: Vocab | None) -> Capture:
    """The steps of a trace as blocks of a capture: draft rows, target rows, bonus row, contexts
    and draft tokens, with the processing that the trace says was in force.

    Raises NotACaptureError for a trace without rows, SpecdistError for a broken one, and for one
    whose engine dropped draft tokens before verification: rows alone do not show how.
    """
    trace = open_trace(name, replace(reading, limit=None))
    if not any(step.target_rows for step in trace.steps()):
        raise NotACaptureError(
            "these recorded steps come without rows",
            place=name,
            expected="arrays beside the steps",
            advice=f"specdist replay {name} checks what the steps record by themselves",
        )
    for step in trace.steps():
        if step.proposed is not None and len(step.proposed) > len(step.drafted):
            raise CaptureError(
                "draft tokens were dropped before verification",
                place=step.source,
                expected="steps that test every token they drafted",
                advice=f"specdist replay {name} finds how, and what it does to the law",
            )
    facts = (("reader", trace.reader), *trace.facts)
    return Capture(name, "trace", lambda: _steps(trace, vocab), facts, vocab=vocab)


def _steps(trace: Trace, vocab: Vocab | None) -> Iterator[Step]:
    left_out = False
    held: Step | None = None
    for step in trace.steps():
        if not step.drafted:
            left_out = True
            continue
        if held is not None:
            yield held
        found = _step(step, trace, vocab)
        said = (*([_NOT_DRAFTED] if left_out else []), *([_LAWS_ONLY] if held is None else []))
        held = replace(found, findings=(*found.findings, *said))
        left_out = False
    if held is not None:  # held back, for only the end tells what is left out after it
        yield replace(held, findings=(*held.findings, *([_NOT_DRAFTED] if left_out else [])))


def _step(step: TraceStep, trace: Trace, vocab: Vocab | None) -> Step:
    count = len(step.drafted)
    if len(step.target_rows) < count or len(step.draft_rows) < count:
        raise CaptureError(
            f"{count} draft tokens, {len(step.target_rows)} target rows and "
            f"{len(step.draft_rows)} draft rows",
            place=step.source,
            expected="a target row and a draft row for every draft token",
        )
    positions = tuple(
        Position(i, step.target_rows[i], step.draft_rows[i], step.drafted[i]) for i in range(count)
    )
    rows = [*step.target_rows, *step.draft_rows]
    return Step(
        id=step.id,
        source=step.source,
        positions=positions,
        bonus=step.target_rows[count] if len(step.target_rows) > count else None,
        context=step.context,
        prompt_length=step.prompt_length,
        draft_tokens=step.drafted,
        options=trace.options,
        vocab=vocab,
        findings=clamp_notes(rows),
    )
