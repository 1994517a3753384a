"""From a name on the command line to a trace: a folder, or a file of JSON lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specdist.errors import CaptureError, SettingsError
from specdist.model.options import NO_OPTIONS, ProcessingOptions
from specdist.model.row import NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.model.trace import Conventions, Trace, TraceStep
from specdist.readers.naming import listing
from specdist.readers.sources import LocalFile, local_file
from specdist.readers.traces.config import TraceConfig, read_config
from specdist.readers.traces.fields import ALIASES, OF_TRANSFORMERS
from specdist.readers.traces.inline_rows import has_rows
from specdist.readers.traces.lines import json_lines
from specdist.readers.traces.steps import ReadStep, StepReading

if TYPE_CHECKING:
    from specdist.readers.traces.arrays import TraceRows

STEPS = "steps.jsonl"
CONFIG = "config.json"

CANONICAL = Conventions(
    strict=True,
    uniforms=NumberFormat.FLOAT64,
    inverse_cdf=True,
    stated="the canonical format of recorded steps",
)
TRANSFORMERS = Conventions(
    strict=False,
    quotient=NumberFormat.FLOAT32,
    uniforms=NumberFormat.FLOAT32,
    generator_stated=True,
    arithmetic=NumberFormat.FLOAT32,
    stated="transformers 5.24.0, _speculative_sampling",
)


def open_trace(name: str, reading: ReadingSettings, rows: str | None = None) -> Trace:
    """The trace in a folder (`steps.jsonl`, `config.json`, arrays) or in a file of JSON lines with
    the same beside it; ``rows`` names another file of arrays. Every line is checked before
    anything is replayed. Raises CaptureError, RowError or SettingsError."""
    file, folder = _steps_file(name)
    config = _config(folder)
    first = next(json_lines(file), None)
    if first is None:
        raise CaptureError("no step is recorded", place=file.name, expected="a JSON object a line")
    wrapped, inline = _of_transformers(first[1], config), has_rows(first[1])
    arrays = None if inline else _arrays(folder, rows, reading, config)
    _refuse_both(inline, rows, file.name)
    size = config.vocab_size or reading.vocab_size or (arrays.size if arrays else None)

    def read() -> Iterator[ReadStep]:
        lines = StepReading(file.name, reading, size, config.gamma)
        for line, value in json_lines(file):
            yield lines.read(line, value)

    def steps() -> Iterator[TraceStep]:
        if arrays is None:
            return (step.step for step in read())
        from specdist.readers.traces.rows_of_steps import with_rows

        return with_rows(read(), arrays)

    count, limit = _checked(read, arrays), reading.limit
    return Trace(
        source=name,
        reader=f"recorded steps{' of a transformers verifier' if wrapped else ''}",
        steps=steps if limit is None else lambda: _first(steps(), limit),
        conventions=TRANSFORMERS if wrapped else _canonical(config),
        options=_left_to_do(config.options, arrays),
        end_tokens=config.end_tokens,
        step_count=count if limit is None else min(count, limit),
        reported=config.reported if limit is None else (),
        facts=tuple(_facts(file, config, arrays, count, inline)),
        vocab_size=size,
        lossy=arrays is not None and arrays.lossy,
    )


def _steps_file(name: str) -> tuple[LocalFile, str]:
    """The file of steps, and the folder beside it as it is shown."""
    if not os.path.isdir(name):
        return local_file(name), os.path.dirname(name)
    path = os.path.join(name, STEPS)
    if not os.path.isfile(path):
        found = sorted(entry for entry in os.listdir(name) if not entry.startswith("."))
        raise CaptureError(
            f"this folder has no {STEPS}: {listing(found, 6)}",
            place=name,
            expected=f"a folder with {STEPS}, {CONFIG} and arrays, or a file of JSON lines",
        )
    return local_file(path), name


def _config(folder: str) -> TraceConfig:
    path = os.path.join(folder, CONFIG)
    found = read_config(local_file(path)) if os.path.isfile(path) else None
    return TraceConfig() if found is None else found


def _of_transformers(first: object, config: TraceConfig) -> bool:
    """Whether the lines are those of a wrapped `_speculative_sampling`."""
    if config.engine:
        return config.engine.startswith("transformers")
    names = set(first) if isinstance(first, dict) else set()
    return bool(names & ({*OF_TRANSFORMERS} | set(ALIASES)))


def _arrays(
    folder: str, rows: str | None, reading: ReadingSettings, config: TraceConfig
) -> TraceRows | None:
    from specdist.readers.traces.arrays import find_rows, open_rows

    if rows is not None:
        return open_rows(rows, reading, config, "--rows")
    found = find_rows(Path(folder), folder, config)
    if not found:
        return None
    more = [os.path.basename(name) for name in found[1:]]
    others = f"; not read: {', '.join(more)}" if more else ""
    return open_rows(found[0], reading, config, f"beside the steps{others}")


def _checked(read: Callable[[], Iterator[ReadStep]], arrays: TraceRows | None) -> int:
    """Reads every line once, before anything is replayed; the number of steps."""
    if arrays is None:
        return sum(1 for _ in read())
    from specdist.readers.traces.rows_of_steps import numbered

    return sum(1 for _ in numbered(read(), arrays))


def _canonical(config: TraceConfig) -> Conventions:
    """Float32 unless the configuration says in which format the run decided: the wider bound
    accuses nobody."""
    if config.arithmetic is None:
        return CANONICAL
    return replace(CANONICAL, arithmetic=config.arithmetic)


def _refuse_both(inline: bool, rows: str | None, place: str) -> None:
    if inline and rows is not None:
        raise SettingsError(
            "--rows is given, and the lines hold their rows", place=place, expected="one of them"
        )


def _left_to_do(options: ProcessingOptions, arrays: TraceRows | None) -> ProcessingOptions:
    """The processing that the rows have not been through."""
    stage = Stage.RAW if arrays is None else arrays.target.stage
    if stage is Stage.RAW:
        return options
    if stage is Stage.PROCESSED:
        return NO_OPTIONS
    done = "temperature"
    return ProcessingOptions(
        target={name: text for name, text in options.target.items() if name != done},
        draft={name: text for name, text in options.draft.items() if name != done},
    )


def _first(steps: Iterator[TraceStep], limit: int) -> Iterator[TraceStep]:
    for number, step in enumerate(steps):
        if number >= limit:
            return
        yield step


def _facts(
    file: LocalFile, config: TraceConfig, arrays: TraceRows | None, count: int, inline: bool
) -> Iterator[tuple[str, str]]:
    yield "steps", f"{count} in {file.name}"
    done = arrays is not None and arrays.target.stage is not Stage.RAW
    place = config.place + (" (what the rows have been through is not repeated)" if done else "")
    yield "settings", place if config.place else f"no {CONFIG} beside the steps: the command line"
    if config.engine:
        yield "engine", config.engine
    if config.unused:
        yield "not used", f"of {CONFIG}: {', '.join(config.unused)}"
    if inline:
        yield "rows", "in the lines, as exact numbers"
    elif arrays is None:
        yield "rows", "none: recorded probabilities only (--rows FILE names a file of arrays)"
    else:
        from specdist.readers.traces.arrays import facts_of

        yield from facts_of(arrays)
