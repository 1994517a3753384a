"""The tokens that recorded steps emitted, a sequence an output, and the target rows beside them."""

from __future__ import annotations

from collections.abc import Callable

from specdist.errors import CaptureError
from specdist.model.row import PointMass
from specdist.model.texts import Output, Recorded, TokenValues
from specdist.model.trace import Trace
from specdist.readers.texts.values import token_values


def trace_outputs(trace: Trace) -> Recorded:
    """Row ``i`` of a step is the law of the token that it emits at ``i``. Raises CaptureError."""
    emitted: dict[int, list[int]] = {}
    for step in trace.steps():
        emitted.setdefault(step.sequence, []).extend(step.emitted)
    if not emitted:
        raise CaptureError("no step is recorded", place=trace.source)
    temperature = trace.options.target.get("temperature", "")
    outputs = tuple(
        Output(
            f"{trace.source}, sequence {sequence}",
            keys=tuple(tokens),
            values_at=_values(trace, sequence),
            temperature=str(temperature),
        )
        for sequence, tokens in sorted(emitted.items())
    )
    return Recorded(trace.source, trace.reader, outputs)


def _values(trace: Trace, sequence: int) -> Callable[[int], TokenValues | None]:
    def values_at(index: int) -> TokenValues | None:
        before = 0
        for step in trace.steps():
            if step.sequence != sequence:
                continue
            at = index - before
            before += len(step.emitted)
            if not 0 <= at < len(step.emitted):
                continue
            rows = step.target_rows
            values = rows[at].values if at < len(rows) else None
            if values is None or isinstance(values, PointMass):
                return None
            return token_values(values, rows[at].kind, rows[at].numbers, rows[at].place)
        return None

    return values_at
