"""``specdist engines``: the presets, and everything that one of them says."""

from __future__ import annotations

from typing import Annotated

import typer

from specdist.cli.exit_codes import ExitCode


def engines(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Without one: the list of engines.")
    ] = None,
) -> ExitCode:
    """List the engines, or print what one does: order, rows, rule, conventions, sources."""
    from specdist.cli import console
    from specdist.engines import preset_named, presets
    from specdist.reports.preset_text import engine_list, engine_page

    lines = engine_list(presets()) if name is None else engine_page(preset_named(name))
    console.out("\n".join(lines) + "\n")
    return ExitCode.PASSED
