"""``specdist inspect``: what files hold and what would be checked; no verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import INPUT, Option, takes
from specdist.errors import CaptureError, NotACaptureError, SettingsError, SpecdistError
from specdist.model.capture import Capture, Step, Unreadable
from specdist.model.settings import ReadingSettings

FORMAT = Option(
    "format", "Output", "The answer as.", "FORMAT", choices=("text", "json"), default="text"
)


Facts = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One source: what it holds, and what ``check`` would make of it without further options."""

    source: str
    facts: Facts
    would_check: Facts


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
        _seen(item) if isinstance(item, Capture) else _one_side(item, reading)
        for item in open_sources(list(files or ()), values["target"], values["draft"], reading)
    ]
    seen = [item for item in found if isinstance(item, Seen)]
    broken = [item for item in found if isinstance(item, Unreadable)]
    if not seen:
        raise _nothing(broken)
    console.out(_as_json(seen, broken) if form == "json" else _as_text(seen, broken))
    failed = any(item.counts for item in broken)
    return ExitCode.FAILED if failed else ExitCode.PASSED


def _nothing(broken: list[Unreadable]) -> SpecdistError:
    if not broken:
        return CaptureError("no capture found", expected="a JSON capture or a dump of arrays")
    first = broken[0]
    place = first.place or first.source
    error = CaptureError(first.message, place=place, expected=first.expected, advice=first.advice)
    error.ident = first.ident
    return error


def _one_side(item: Unreadable, reading: ReadingSettings) -> Seen | Unreadable:
    """A file that was named can be described although it is no capture as it stands."""
    from specdist.readers import describe

    if not item.counts:
        return item
    try:
        facts = list(describe(item.source, reading))
    except SpecdistError as error:
        elsewhere = isinstance(error, NotACaptureError) and reading.reader is None
        return _counters(item) if elsewhere else item
    check = [("steps", f"none: {item.message}"), ("help", item.advice)]
    return Seen(item.source, facts, [(name, text) for name, text in check if text])


def _counters(item: Unreadable) -> Seen | Unreadable:
    """A file of acceptance counters, which stand beside a capture."""
    from specdist.readers.counters import open_counters
    from specdist.reports.counters_text import counter_facts
    from specdist.verify.counters.review import counters_alone

    try:
        reports = counters_alone(open_counters(item.source))
    except SpecdistError:
        return item
    facts = [fact for report in reports for fact in counter_facts(report)]
    check = [("steps", "none: counters stand beside a capture")]
    check += [("help", f"specdist check CAPTURE --counters {item.source}")]
    return Seen(item.source, facts, check)


def _seen(capture: Capture) -> Seen:
    facts = list(capture.facts) or [("reader", capture.reader)]
    if all(name != "steps" for name, _ in facts):
        count = capture.step_count
        facts.append(("steps", "counted while checking" if count is None else str(count)))
    return Seen(capture.source, facts, _would_check(next(iter(capture.steps()), None)))


def _would_check(step: Step | None) -> Facts:
    from specdist.cli.model_forecast import first_step_text, proposals_of
    from specdist.model.settings import CheckSettings
    from specdist.processing import resolve_recipes
    from specdist.verify.draft_ids import has_map, with_map

    if step is None:
        return [("steps", "none: nothing would be checked")]
    try:
        recipes = resolve_recipes([step.options])
    except SettingsError as error:
        raise error.at(f"{step.source}, settings") from None
    if has_map(step, CheckSettings()):
        recipes = with_map(recipes)
    found = [("first step", first_step_text(step)), *proposals_of(step)]
    found += [(f"rule {recipes.rule}", f"target {recipes.target}, draft {recipes.draft}")]
    found += [*step.options.numerics.items(), *step.options.proposal.items()]
    found += [
        (name, "numbers by token beside the rows")
        for position in step.positions[:1]
        for name in (*(["keep"] if position.keep is not None else []), *position.given)
    ]
    overridden = {role: str(recipe) for role, recipe in step.options.roles.items()}
    for position in step.positions[:1]:
        overridden |= {r: v if isinstance(v, str) else "a row" for r, v in position.roles.items()}
    return found + [(f"role {role.value}", text) for role, text in overridden.items()]


def _as_json(seen: Iterable[Seen], broken: Iterable[Unreadable]) -> str:
    import json
    from dataclasses import asdict

    def pairs(facts: Facts) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in facts]

    shown = [
        {
            "source": item.source,
            "facts": pairs(item.facts),
            "would_check": pairs(item.would_check),
        }
        for item in seen
    ]
    answer = {"captures": shown, "unreadable": [asdict(item) for item in broken]}
    return json.dumps(answer, indent=2) + "\n"


def _as_text(seen: Iterable[Seen], broken: Iterable[Unreadable]) -> str:
    from specdist.reports import layout
    from specdist.reports.terminal import skipped, unreadable_lines
    from specdist.reports.view import View

    lines: list[str] = []
    for item in seen:
        width = max(len(name) for name, _ in item.facts + item.would_check)
        lines.append(item.source)
        for title, found in (("", item.facts), ("  would be checked as", item.would_check)):
            lines += [title] if title else []
            for name, value in found:
                lines += layout.wrap(value, f"  {name:<{width}}  ")
        lines.append("")
    for problem in broken:
        lines += [*unreadable_lines(problem, View()), ""] if problem.counts else []
    lines += skipped([problem.source for problem in broken if not problem.counts])
    return "\n".join(lines).rstrip("\n") + "\n"
