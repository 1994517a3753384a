"""The commands put together. Command bodies import what they need; ``--help`` stays light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from specdist import __version__
from specdist.cli import exit_codes
from specdist.cli.commands.audit import audit
from specdist.cli.commands.capture import capture
from specdist.cli.commands.check import check
from specdist.cli.commands.compare import compare
from specdist.cli.commands.config import config
from specdist.cli.commands.engines import engines
from specdist.cli.commands.explain import explain
from specdist.cli.commands.inspect_command import inspect_command
from specdist.cli.commands.replay import replay
from specdist.cli.commands.what_if import what_if
from specdist.cli.plain_commands import PlainCommand, PlainGroup
from specdist.cli.processing_options import VALUES_WITH_OPTIONS
from specdist.errors import SettingsError

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of all complaints about the command line that typer itself makes."""

app = typer.Typer(
    name="specdist",
    cls=PlainGroup,
    help="Decides exactly whether a speculative decoder still emits what its target would emit.",
    epilog=exit_codes.table(),
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
_EPILOG = f"{VALUES_WITH_OPTIONS}\n\n{exit_codes.table()}"
app.command("check", cls=PlainCommand, epilog=_EPILOG)(check)
app.command("what-if", cls=PlainCommand, epilog=_EPILOG)(what_if)
app.command("compare", cls=PlainCommand, epilog=_EPILOG)(compare)
app.command("replay", cls=PlainCommand, epilog=_EPILOG)(replay)
app.command("audit", cls=PlainCommand, epilog=exit_codes.table())(audit)
app.command("inspect", cls=PlainCommand)(inspect_command)
app.command("capture", cls=PlainCommand)(capture)
app.command("explain", cls=PlainCommand)(explain)
app.command("engines", cls=PlainCommand)(engines)
app.command("config", cls=PlainCommand)(config)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"specdist {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        raise SettingsError(
            "no command is given",
            expected="check, what-if, compare, replay, audit, inspect, capture, explain, engines "
            "or config",
            advice="specdist --help",
        )


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and gives its exit code. Raises `SpecdistError` for bad usage."""
    try:
        answer: Any = app(list(arguments), prog_name="specdist", standalone_mode=False)
    except USAGE_ERROR as error:
        raise usage_error(error, arguments) from None
    return answer or 0


def usage_error(error: Any, arguments: Sequence[str]) -> SettingsError:
    """Typer's complaint in the form of our own: lower case, with the nearest names."""
    names = {command.name for command in app.registered_commands}
    command = f"{arguments[0]} " if arguments and arguments[0] in names else ""
    text, _, guess = error.format_message().strip().rstrip(".").partition(" Did you mean ")
    if getattr(error, "possibilities", None):
        text, guess = error.message, " or ".join(sorted(error.possibilities)) + "?"
    text = text.rstrip(".")
    return SettingsError(
        text[:1].lower() + text[1:],
        place="command line",
        advice=f"did you mean {guess}" if guess else f"specdist {command}--help",
    )
