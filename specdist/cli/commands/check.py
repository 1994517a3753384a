"""``specdist check``: the gate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdist.cli.baseline_options import BASELINE, baseline_path, read_baseline
from specdist.cli.cost_options import COST
from specdist.cli.counter_options import COUNTERS, read_counters
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import CHECKING, ENGINE, INPUT, OUTPUT, takes
from specdist.cli.processing_options import PROCESSING
from specdist.cli.texts_run import TEXTS, run_texts
from specdist.errors import SettingsError

_OPTIONS = (INPUT, TEXTS, COUNTERS, ENGINE, PROCESSING, CHECKING, BASELINE, COST, OUTPUT)

if TYPE_CHECKING:
    from specdist.model.capture import Capture, Unreadable
    from specdist.model.settings import ReadingSettings


@takes(*_OPTIONS)
def check(
    captures: Annotated[
        list[str] | None,
        typer.Argument(metavar="CAPTURE", help="Files, folders, or - for stdin."),
    ] = None,
    **values: Any,
) -> ExitCode:
    """Decide exactly whether captured steps emit what the target alone would emit."""
    from specdist.cli.config_captures import expanded
    from specdist.cli.running import run
    from specdist.cli.settings import effective

    if values["texts"]:
        return run_texts(values, captures or (), [option for group in _OPTIONS for option in group])
    chosen = effective(values)
    sources = list(captures or ())
    if not sources and values["target"] is None and values["draft"] is None:
        sources = expanded(chosen.captures)
    opened = open_sources(sources, values["target"], values["draft"], chosen.settings.reading)
    counters = read_counters(values)
    against = read_baseline(chosen)
    read = (*sources, values["target"], values["draft"], baseline_path(chosen))
    inputs = [name for name in read if name]
    return run(opened, chosen, ", ".join(sources), counters, inputs, against)


def open_sources(
    sources: list[str], target: str | None, draft: str | None, reading: ReadingSettings
) -> Iterator[Capture | Unreadable]:
    """The captures that the command line names: files and folders, or one pair of dumps."""
    from specdist.readers import open_captures, open_pair

    if target is None and draft is None:
        if not sources:
            raise SettingsError(
                "no capture is given",
                expected="CAPTURE..., --target FILE and --draft FILE, or captures in specdist.toml",
                advice="specdist check --help",
            )
        return open_captures(sources, reading)
    if sources:
        raise SettingsError(
            "captures and a pair of dumps are given together",
            expected="either CAPTURE... or --target FILE and --draft FILE",
        )
    if target is None or draft is None:
        missing = "target" if target is None else "draft"
        raise SettingsError(f"--{missing} is missing", expected="--target FILE and --draft FILE")
    return iter([open_pair(target, draft, reading)])
