"""``specdist explain``: the page of a finding, a rule, a processor, a role or the exit codes."""

from __future__ import annotations

from typing import Annotated

import typer

from specdist.cli.exit_codes import ExitCode


def explain(
    ident: Annotated[
        str | None, typer.Argument(metavar="IDENT", help="Without one: the list of pages.")
    ] = None,
) -> ExitCode:
    """Print the page of a finding, a rule, a processor, a role, or exit-codes."""
    from specdist.cli import console
    from specdist.cli.pages import contents, page
    from specdist.reports import layout

    if ident is not None:
        console.out(page(ident))
        return ExitCode.PASSED
    lines: list[str] = []
    for title, entries in contents().items():
        width = max(len(name) for name, _ in entries)
        lines += [title, ""]
        for name, summary in entries:
            lines += layout.wrap(summary, f"  {name:<{width}}  ")
        lines.append("")
    console.out("\n".join(lines[:-1]) + "\n")
    return ExitCode.PASSED
