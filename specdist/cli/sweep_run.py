"""``specdist what-if --sweep``: settings of a grid, run over captures that are read once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specdist.cli import console, exports
from specdist.cli.engine_layer import warned_once
from specdist.cli.exit_codes import ExitCode, forgiven, sweep_exit_code
from specdist.cli.layers import placed
from specdist.cli.plot_option import read_plot
from specdist.cli.progress import Meter
from specdist.cli.row_sources import split_rows
from specdist.cli.settings import Effective, OutputSettings
from specdist.cli.sweep_command import reproduced
from specdist.cli.sweep_options import read_sweeps
from specdist.cli.sweep_settings import Asked, grid_of
from specdist.errors import CaptureError
from specdist.reports.style import PLAIN
from specdist.reports.sweep_forms import BY_NAME, SweepOptions

if TYPE_CHECKING:
    from specdist.model.sweep import SweepReport
    from specdist.verify.sweep.kept import Kept


def run(
    values: Mapping[str, Any], rows: Mapping[str, str], file: str | None, symbolic: bool = False
) -> ExitCode:
    """Runs the sweep, writes the report in the chosen form and all files, gives the exit code of
    the worst setting. Raises SpecdistError where a setting does not fit, and writes nothing then.
    """
    rest = {name: value for name, value in values.items() if name not in ("sweep", "plot")}
    with placed("command line"):
        axes = read_sweeps(values["sweep"], rest)
    printed = rest.get("format")
    if printed in BY_NAME:
        rest["format"] = None
    asked = Asked(rest, rows, () if file is None else (file,), axes, symbolic)
    inputs = [*asked.sources, *split_rows(rows)[1].values()]
    with warned_once():
        first = asked.tried()
        output = first.output
        printed = printed or output.format
        exports.check_forms(printed, output.exports, "a sweep", BY_NAME)
        plot = read_plot(values.get("plot"), inputs)
        exports.check_paths(output.exports, inputs)
        report = _swept(asked, first)
    code = sweep_exit_code(report)
    options = _options(output)
    texts = {
        one: BY_NAME[one.form].render(report, replace(options, paint=PLAIN))
        for one in output.exports
    }
    exports.write_texts({**texts, **plot.files_of_sweep(report, options)})
    _print(BY_NAME[printed].render(report, options) + plot.terminal_of_sweep(report, options))
    return forgiven(code) if output.exit_zero else code


def _swept(asked: Asked, first: Effective) -> SweepReport:
    from specdist.verify.sweep.kept import kept
    from specdist.verify.sweep.run import run_sweep

    have = kept(asked.opened(), first.settings.reading)
    _check_sources(have, asked)
    sweep = grid_of(asked, have)
    hidden = {axis.name for axis in asked.axes}
    shown = {
        name: value
        for name, (value, _) in first.shown.items()
        if value is not None and name not in hidden
    }
    with Meter(first.output.progress) as meter:
        meter.expect(None if have.steps is None else have.steps * sweep.checks)
        report = run_sweep(sweep, have, shown=shown, step_done=meter.step)
    return replace(report, reproduce=reproduced(asked, report, sweep.lengths is not None))


def _check_sources(have: Kept, asked: Asked) -> None:
    """Raises CaptureError where nothing can be read; other files are said to be left out."""
    from specdist.model.capture import Capture, Unreadable

    if any(isinstance(item, Capture) for item in have.captures):
        return
    broken = [item for item in have.captures if isinstance(item, Unreadable)]
    counted = [item for item in broken if item.counts] or broken
    raise (
        counted[-1].error()
        if counted
        else CaptureError("no capture found", place=", ".join(asked.sources))
    )


def _options(output: OutputSettings) -> SweepOptions:
    width, blocks = console.room()
    return SweepOptions(
        show=output.show,
        exact=output.exact,
        verbose=output.verbose,
        quiet=output.quiet,
        width=width,
        blocks=blocks,
        paint=console.paint_for(output.color, sys.stdout),
    )


def _print(text: str) -> None:
    try:
        console.out(text)
        sys.stdout.flush()
    except BrokenPipeError:
        console.silence_stdout()
