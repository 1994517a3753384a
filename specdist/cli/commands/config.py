"""``specdist config``: effective settings with their origins, and the JSON schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specdist.cli.commands.inspect_command import FORMAT
from specdist.cli.config_file import LOOKED_FOR
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import Option, takes

if TYPE_CHECKING:
    from specdist.cli.settings import Effective

SCHEMAS = ("report", "audit", "capture", "comparison", "cost", "replay", "sweep", "texts")
SCHEMA = Option("schema", "Output", "Print a JSON schema instead.", "NAME", choices=SCHEMAS)


@takes((SCHEMA, FORMAT))
def config(**values: Any) -> ExitCode:
    """Show the settings that apply here and where each comes from."""
    from specdist.cli import console, option_values
    from specdist.cli.settings import effective

    form = option_values.choice("format", values["format"] or "text", ("text", "json"))
    if values["schema"] is not None:
        console.out(schema(option_values.choice("schema", values["schema"], SCHEMAS)))
        return ExitCode.PASSED
    shown = {
        name: (value, origin)
        for name, (value, origin) in _with_captures(effective({})).items()
        if value is not None
    }
    if form == "json":
        import json

        answer = {name: {"value": v, "origin": origin} for name, (v, origin) in shown.items()}
        console.out(json.dumps(answer, indent=2) + "\n")
    else:
        from specdist.reports.layout import table

        rows = [[name, _text(value), origin] for name, (value, origin) in shown.items()]
        lines = table(["setting", "value", "origin"], rows, left=3)
        console.out("\n".join([*lines, "", LOOKED_FOR]) + "\n")
    return ExitCode.PASSED


def _with_captures(chosen: Effective) -> dict[str, tuple[object, str]]:
    """The settings, and the captures of the config file before them."""
    known: dict[str, tuple[object, str]] = {}
    if chosen.captures:
        known["captures"] = (list(chosen.captures), chosen.config)
    return {**known, **chosen.shown}


def schema(name: str) -> str:
    """The packaged JSON schema of that name."""
    from importlib.resources import files

    return files("specdist").joinpath("schemas", f"{name}.schema.json").read_text("utf-8")


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "yes" if value is True else str(value)
