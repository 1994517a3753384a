"""``specdist what-if``: rows typed on the command line, the same pipeline and report."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from specdist.cli.cost_options import COST, STATED
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import CHECKING, ENGINE, INPUT, OUTPUT, Option, takes
from specdist.cli.processing_options import PROCESSING
from specdist.cli.sweep_options import SWEEP
from specdist.errors import SettingsError

_ROWS = "Rows"
ROWS: tuple[Option, ...] = (
    Option("target", _ROWS, "Target probabilities, as 1/2,3/10,1/5.", "ROW"),
    Option("draft", _ROWS, "Draft probabilities.", "ROW"),
    Option("target-logits", _ROWS, "Target logits, as 1,0,-1/2 or -inf.", "ROW"),
    Option("draft-logits", _ROWS, "Draft logits.", "ROW"),
    Option("target-logprobs", _ROWS, "Target log-probabilities.", "ROW"),
    Option("draft-logprobs", _ROWS, "Draft log-probabilities.", "ROW"),
    Option("draft-token", _ROWS, "The drafted token; without a draft row it is one-hot.", "ID"),
    Option("accept", _ROWS, "Acceptance probability of each token: rule given.", "ROW"),
    Option("recovery", _ROWS, "Law of the recovered token: rule given.", "ROW"),
    Option("keep-row", _ROWS, "Probability of each draft token to reach the test.", "ROW"),
    Option("symbolic", _ROWS, "Closed forms for rational logits.", form="flag"),
)
READING: tuple[Option, ...] = INPUT[2:]
_CHECKING = tuple(o for o in CHECKING if o.name != "budget")


@takes(ROWS, SWEEP, READING, ENGINE, PROCESSING, _CHECKING, COST, STATED, OUTPUT)
def what_if(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A capture, instead of typed rows."),
    ] = None,
    **values: Any,
) -> ExitCode:
    """Check rows typed on the command line, once or under every setting of a sweep."""
    from specdist.cli.cost_run import asks_for_costs, run_costs

    rows = {option.name: values.pop(option.parameter) for option in ROWS}
    symbolic = bool(rows.pop("symbolic"))
    given = {name: text for name, text in rows.items() if text is not None}
    if asks_for_costs(values, given, file):
        return run_costs(values, ENGINE + PROCESSING + READING + SWEEP + _CHECKING)
    _refuse_reading(values, given)
    if values["sweep"]:
        from specdist.cli.sweep_run import run as run_sweep

        return run_sweep(values, given, file, symbolic)
    return _run_once(values, given, file, symbolic)


def _run_once(
    values: dict[str, Any], given: dict[str, str], file: str | None, symbolic: bool
) -> ExitCode:
    from specdist.cli.plot_option import read_plot
    from specdist.cli.row_sources import opened, split_rows
    from specdist.cli.running import run
    from specdist.cli.settings import effective

    chosen = effective(values, symbolic=symbolic)
    sources = [] if file is None else [file]
    inputs = [*sources, *split_rows(given)[1].values()]
    plot = read_plot(values["plot"], inputs)
    captures = opened(sources, given, chosen.settings.reading, [chosen.settings.checking])
    return run(captures, chosen, named=", ".join(inputs), inputs=inputs, plot=plot)


def _refuse_reading(values: dict[str, Any], given: dict[str, str]) -> None:
    """Options of files do nothing for typed rows."""
    from specdist.cli.row_sources import split_rows

    if not split_rows(given)[0]:
        return
    for option in READING:
        if values.get(option.parameter) is not None:
            raise SettingsError(
                f"--{option.name} is about files, and rows are typed",
                place="command line",
                expected="it together with FILE, or --target FILE and --draft FILE",
            )
