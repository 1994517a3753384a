"""``specdist what-if``: rows typed on the command line, the same pipeline and report."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from specdist.cli.cost_options import COST, STATED
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import CHECKING, ENGINE, INPUT, OUTPUT, Option, takes
from specdist.cli.processing_options import PROCESSING
from specdist.errors import SettingsError, SpecdistError

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
_OUTSIDE = ("budget", "workers")
_CHECKING = tuple(o for o in CHECKING if o.name not in _OUTSIDE)


@takes(ROWS, ENGINE, PROCESSING, _CHECKING, COST, STATED, OUTPUT)
def what_if(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A small capture, instead of typed rows."),
    ] = None,
    **values: Any,
) -> ExitCode:
    """Check rows typed on the command line; the same report and exit codes as check."""
    from shlex import quote

    from specdist.cli.cost_run import asks_for_costs, run_costs
    from specdist.cli.running import run
    from specdist.cli.settings import effective
    from specdist.cli.typed_models import asks_for_models, typed_models
    from specdist.cli.typed_rows import typed_capture

    rows = {option.name: values.pop(option.parameter) for option in ROWS}
    symbolic = bool(rows.pop("symbolic"))
    given = {name: text for name, text in rows.items() if text is not None}
    if asks_for_costs(values, given, file):
        return run_costs(values, ENGINE + PROCESSING + _CHECKING)
    chosen = effective(values, symbolic=symbolic)
    if file is None:
        over_models = asks_for_models(chosen.settings.checking)
        return run([typed_models(given) if over_models else typed_capture(given)], chosen)
    if given:
        raise SettingsError(
            "a file and typed rows are given together",
            expected=f"either FILE or {', '.join(f'--{name}' for name in given)}",
        )
    from specdist.readers import open_captures

    try:
        return run(open_captures([file], chosen.settings.reading), chosen, named=file)
    except SpecdistError as error:
        if any(f"--{option.name}" in error.advice for option in INPUT[2:]):
            error.advice += f"; these are options of check: specdist check {quote(file)}"
        raise
