"""``specdist inspect``: what files hold and what would be checked; no verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import INPUT, Option, takes
from specdist.model.capture import Capture, Step, Unreadable

FORMAT = Option(
    "format", "Output", "The answer as.", "FORMAT", choices=("text", "json"), default="text"
)


@takes(INPUT, (FORMAT,))
def inspect_command(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Files, folders, or -.")
    ] = None,
    **values: Any,
) -> ExitCode:
    """Show what files hold and what would be checked; no verdict."""
    from specdist.cli import console, option_values
    from specdist.cli.commands.check import open_sources
    from specdist.cli.settings import effective

    form = option_values.choice("format", values.pop("format") or "text", ("text", "json"))
    reading = effective(values).settings.reading
    found = [
        (item, first_step(item) if isinstance(item, Capture) else None)
        for item in open_sources(files or [], values["target"], values["draft"], reading)
    ]
    captures = [(item, step) for item, step in found if isinstance(item, Capture)]
    broken = [item for item, _ in found if isinstance(item, Unreadable)]
    if not captures:
        raise _nothing(broken)
    console.out(_as_json(captures, broken) if form == "json" else _as_text(captures, broken))
    failed = any(item.counts for item in broken)
    return ExitCode.FAILED if failed else ExitCode.PASSED


def first_step(capture: Capture) -> Step | None:
    """The first step of a capture; None when it has none."""
    return next(iter(capture.steps()), None)


def _nothing(broken: list[Unreadable]) -> Exception:
    from specdist.errors import CaptureError

    if not broken:
        return CaptureError("no capture found", expected="a JSON capture or a dump of arrays")
    first = broken[0]
    place = first.place or first.source
    return CaptureError(first.message, place=place, expected=first.expected, advice=first.advice)


def _facts(capture: Capture) -> list[tuple[str, str]]:
    """What the file holds."""
    facts = list(capture.facts) or [("reader", capture.reader)]
    if all(name != "steps" for name, _ in facts):
        count = capture.step_count
        facts.append(("steps", "counted while checking" if count is None else str(count)))
    return facts


def _would_check(step: Step | None) -> list[tuple[str, str]]:
    """What ``check`` would make of the first step without further options."""
    from specdist.processing import resolve_recipes
    from specdist.reports.view import plural

    if step is None:
        return [("steps", "none: nothing would be checked")]
    recipes = resolve_recipes([step.options])
    bonus = ", bonus row last" if step.bonus is not None else ""
    drafted = plural(len(step.positions), "draft token")
    found = [("first step", f"{step.id}: {drafted}{bonus}")]
    found += [(f"rule {recipes.rule}", f"target {recipes.target}, draft {recipes.draft}")]
    overridden = {role: str(recipe) for role, recipe in step.options.roles.items()}
    for position in step.positions[:1]:
        overridden |= {r: v if isinstance(v, str) else "a row" for r, v in position.roles.items()}
    return found + [(f"role {role.value}", text) for role, text in overridden.items()]


def _as_json(captures: list[tuple[Capture, Step | None]], broken: Iterable[Unreadable]) -> str:
    import json
    from dataclasses import asdict

    def pairs(facts: list[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in facts]

    shown = [
        {
            "source": capture.source,
            "reader": capture.reader,
            "step_count": capture.step_count,
            "facts": pairs(_facts(capture)),
            "would_check": pairs(_would_check(step)),
        }
        for capture, step in captures
    ]
    answer = {"captures": shown, "unreadable": [asdict(item) for item in broken]}
    return json.dumps(answer, indent=2) + "\n"


def _as_text(captures: list[tuple[Capture, Step | None]], broken: Iterable[Unreadable]) -> str:
    from specdist.reports import layout
    from specdist.reports.terminal import skipped, unreadable_lines
    from specdist.reports.view import View

    lines: list[str] = []
    for capture, step in captures:
        facts, check = _facts(capture), _would_check(step)
        width = max(len(name) for name, _ in facts + check)
        lines.append(capture.source)
        for title, found in (("", facts), ("  would be checked as", check)):
            lines += [title] if title else []
            for name, value in found:
                lines += layout.wrap(value, f"  {name:<{width}}  ")
        lines.append("")
    for item in broken:
        lines += [*unreadable_lines(item, View()), ""] if item.counts else []
    lines += skipped([item.source for item in broken if not item.counts])
    return "\n".join(lines).rstrip("\n") + "\n"
