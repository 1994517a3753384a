"""``specdist what-if --acceptance ...``: a cost report of stated acceptances, without rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specdist import __version__
from specdist.cli import console
from specdist.cli.cost_options import COST, STATED
from specdist.cli.exit_codes import ExitCode
from specdist.cli.exports import check_forms
from specdist.cli.layers import placed
from specdist.cli.option_values import whole
from specdist.cli.options import OUTPUT, Option
from specdist.errors import SettingsError
from specdist.model.cost import CostReport, CostSettings
from specdist.model.joint_report import CostLine

if TYPE_CHECKING:
    from specdist.cli.settings import Effective

_LENGTH = "draft-length"


def asks_for_costs(values: Mapping[str, Any], rows: Mapping[str, Any], file: str | None) -> bool:
    """Whether the command line states acceptances in place of rows.

    Raises SettingsError where it does both, and for options that need what is not given.
    """
    stated = [o.name for o in STATED if values.get(o.parameter)]
    if not stated:
        _check_needed(values, rows, file)
        return False
    if file is not None or rows:
        given = file if file is not None else ", ".join(f"--{name}" for name in rows)
        raise SettingsError(
            f"--{stated[0]} is given together with {given}",
            place="command line",
            expected="acceptances that are stated, or rows that they follow from",
            advice="with rows --draft-cost, --roofline, ... are applied to what they yield",
        )
    for needed, asking in (("acceptance", "best-draft-length"), ("child-acceptance", "tree-nodes")):
        if asking in stated and needed not in stated:
            raise SettingsError(
                f"--{asking} is given without --{needed}",
                place="command line",
                expected=f"--{needed} A",
            )
    return True


def _check_needed(values: Mapping[str, Any], rows: Mapping[str, Any], file: str | None) -> None:
    """Refuses costs of nothing."""
    costs = [o.name for o in COST if values.get(o.parameter) is not None]
    if costs and file is None and not rows:
        raise SettingsError(
            f"--{costs[0]} is given, and nothing that has that cost",
            place="command line",
            expected="--target and --draft, FILE, --acceptance or --child-acceptance",
            advice="specdist explain cost",
        )


def run_costs(values: Mapping[str, Any], others: tuple[Option, ...]) -> ExitCode:
    """Writes the report in the chosen form; exit 0. ``others`` are the options that need rows."""
    from specdist.cli.settings import effective

    known = {_LENGTH, *(option.name for option in (*COST, *STATED, *OUTPUT))}
    for option in others:
        if option.name not in known and values.get(option.parameter) not in (None, False, []):
            raise SettingsError(
                f"--{option.name} needs rows, and there are none",
                place="command line",
                expected="costs of acceptances that are stated, or --target and --draft",
            )
    # A draft length here is no shape of a proposal, and may be longer than one.
    chosen = effective({**values, "draft_length": None})
    check_forms(
        chosen.output.format, chosen.output.exports, "a cost report", ("text", "json", "jsonl")
    )
    if chosen.output.exports:
        raise SettingsError("a cost report is only printed", expected="--format, not --export")
    with placed("command line"):
        report = CostReport(__version__, _given(values), _lines(values, chosen))
    output = chosen.output
    if output.format == "text":
        from specdist.reports.cost_text import render
        from specdist.reports.view import View

        view = View(output.show, output.verbose, output.quiet, output.exact)
        console.out(render(report, view))
    else:
        from specdist.reports.cost_text import report_to_json

        indent = 2 if output.format == "json" else None
        console.out(json.dumps(report_to_json(report, output.exact), indent=indent) + "\n")
    return ExitCode.PASSED


def _given(values: Mapping[str, Any]) -> dict[str, object]:
    names = [_LENGTH, *(option.name for option in (*COST, *STATED))]
    found = {name: values.get(name.replace("-", "_")) for name in names}
    return {name: value for name, value in found.items() if value not in (None, False, [])}


def _lines(values: Mapping[str, Any], chosen: Effective) -> tuple[CostLine, ...]:
    options = chosen.settings.checking.cost or CostSettings()
    acceptance, children = values["acceptance"], values["child_acceptance"]
    length, best = values["draft_length"], bool(values["best_draft_length"])
    if acceptance and children is not None:
        raise SettingsError(
            "acceptance and child-acceptance are given together",
            expected="one of them: of a chain, or of the children of a tree",
        )
    if children is not None:
        from specdist.cli.tree_option import tree_lines

        if length is not None:
            raise SettingsError(
                "draft-length is given with child-acceptance",
                expected="--tree-nodes N, the size of the tree",
            )
        return tree_lines(children, values["tree_nodes"], options)
    from specdist.cli.acceptance_option import read_acceptances
    from specdist.cost.stated import stated_lines

    acceptances = read_acceptances("acceptance", acceptance)
    wanted = None if length is None else whole(_LENGTH, length, 1)
    return stated_lines(acceptances, wanted, best, options)
