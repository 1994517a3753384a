"""Traces made of what the small engines of `oracle_replay_engines` record."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from specdist.model.options import ProcessingOptions
from specdist.model.row import Kind, NumberFormat, RationalValues, Row, Stage
from specdist.model.trace import Conventions, FinalKind, Trace, TraceStep
from tests.oracle_replay_engines import Engine, Rows, random_rows, record

OPTIONS = ProcessingOptions(target={"temperature": "1/2", "top-p": "9/10"})
CONVENTIONS = Conventions(
    uniforms=NumberFormat.FLOAT64, inverse_cdf=True, arithmetic=NumberFormat.FLOAT64
)
Recorded = tuple[Rows, dict[str, Any]]


def recorded(
    seed: int, engine: Engine, steps: int, gamma: int = 3, size: int = 5
) -> list[Recorded]:
    """Steps of an engine on rows of their own."""
    rng = random.Random(seed)
    found: list[Recorded] = []
    while len(found) < steps:
        rows = random_rows(rng, gamma, size)
        step = record(rng, engine, rows)
        if step is not None:
            found.append((rows, step))
    return found


def trace_of(found: Sequence[Recorded], without: Sequence[str] = (), **changed: Any) -> Trace:
    """A trace of these steps; ``without`` names fields that it does not record."""
    steps = [_step(number, rows, step, without) for number, (rows, step) in enumerate(found)]
    made = Trace("made", "test", lambda: iter(steps), CONVENTIONS, OPTIONS)
    return replace(made, **changed)


def made_trace(seed: int, engine: Engine, steps: int, without: Sequence[str] = ()) -> Trace:
    """A trace of one engine."""
    return trace_of(recorded(seed, engine, steps), without)


def _step(number: int, rows: Rows, step: dict[str, Any], without: Sequence[str]) -> TraceStep:
    known = {name: value for name, value in step.items() if name not in without}

    def numbers(name: str) -> Any:
        return None if known.get(name) is None else tuple(known[name])

    return TraceStep(
        id=str(number),
        source=f"made, step {number}",
        sequence=0,
        index=number,
        drafted=tuple(step["drafted"]),
        emitted=tuple(step["emitted"]),
        n_accepted=step["n_accepted"],
        accepted=tuple(step["accepted"]),
        proposed=numbers("proposed"),
        u_draft=numbers("u_draft"),
        u_accept=numbers("u_accept"),
        u_final=known.get("u_final"),
        final_kind=FinalKind.RECOVERED if step["rejected"] else FinalKind.BONUS,
        final_token=step["final_token"],
        target_rows=tuple(_row(row, "target", i) for i, row in enumerate(rows.target)),
        draft_rows=tuple(_row(row, "draft", i) for i, row in enumerate(rows.draft)),
    )


def _row(values: Sequence[Any], side: str, index: int) -> Row:
    place = f"made, {side}[{index}]"
    return Row(
        RationalValues(tuple(values)), Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, place
    )
