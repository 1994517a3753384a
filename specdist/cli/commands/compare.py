"""``specdist compare``: the same rows under several engines or rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdist.cli.commands.inspect_command import FORMAT
from specdist.cli.commands.what_if import ROWS
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import CHECKING, ENGINE, INPUT, OUTPUT, Option, takes
from specdist.cli.processing_options import PROCESSING
from specdist.errors import CaptureError, SettingsError, SpecdistError

if TYPE_CHECKING:
    from specdist.cli.settings import Effective
    from specdist.model.capture import Capture, Unreadable
    from specdist.reports.comparison_report import Compared

_VARIANTS = "Variants: one for each --engine and each --rule"
VARIANTS: tuple[Option, ...] = (
    Option("engine", _VARIANTS, "Engine; repeatable.", "NAME", form="list"),
    Option("rule", _VARIANTS, "Acceptance rule; repeatable.", "RULE", form="list"),
)
_TYPED = tuple(o for o in ROWS if o.name not in ("target", "draft", "symbolic"))
_SIDES = (
    Option("target", "Rows", "Target row as 1/2,3/10,1/5, or a dump.", "ROW|FILE"),
    Option("draft", "Rows", "Draft row, or a dump.", "ROW|FILE"),
)
_KEPT = ("max-tv", "horizon", "max-outcomes", "workers", "exact")


@takes(
    VARIANTS,
    _SIDES,
    _TYPED,
    [o for o in INPUT if o.name not in ("target", "draft")],
    [o for o in ENGINE if o.name not in ("engine", "rule")],
    PROCESSING,
    [o for o in CHECKING + OUTPUT if o.name in _KEPT],
    (FORMAT,),
)
def compare(
    captures: Annotated[
        list[str] | None, typer.Argument(metavar="CAPTURE", help="Files, folders, or -.")
    ] = None,
    **values: Any,
) -> ExitCode:
    """Put the same rows through several engines or rules; exit 0 when all could be checked."""
    from specdist.cli import console, option_values
    from specdist.reports import comparison_report, page

    form = option_values.choice("format", values.pop("format") or "text", ("text", "json"))
    typed = {o.name: values.pop(o.parameter) for o in _TYPED}
    sides = {side: values.pop(side) for side in ("target", "draft")}
    variants = list(_variants(values))
    if len(variants) < 2:
        raise SettingsError(
            "there is nothing to compare",
            expected="two or more of --engine NAME and --rule RULE",
            advice="specdist compare CAPTURE --engine vllm --engine sglang",
        )
    opened = _opened(list(captures or ()), sides, typed, [chosen for _, chosen in variants])
    first = variants[0][1]
    compared = [_checked(label, chosen, opened, first) for label, chosen in variants]
    if form == "json":
        import json

        answer = comparison_report.to_json(compared, bool(values["exact"]))
        console.out(json.dumps(answer, indent=2) + "\n")
    else:
        lines = comparison_report.table(compared)
        console.out("\n".join([*lines, *page.left_out()]) + "\n")
    checked = all(item.report.summary.steps for item in compared)
    return ExitCode.PASSED if checked else ExitCode.NOTHING_CHECKED


def _variants(values: Mapping[str, Any]) -> Iterator[tuple[str, Effective]]:
    """Label and settings of each variant: the other options hold for all of them."""
    from specdist.cli.settings import effective

    shared = {name: value for name, value in values.items() if name not in ("engine", "rule")}
    for name in values["engine"] or ():
        chosen = effective({**shared, "engine": name})
        preset = chosen.settings.checking.preset
        yield name if preset is None else preset.name, chosen
    for text in values["rule"] or ():
        chosen = effective({**shared, "rule": text})
        preset = chosen.settings.checking.preset
        yield f"rule {text}" if preset is None else f"{preset.name}, rule {text}", chosen


def _opened(
    sources: list[str],
    sides: Mapping[str, str | None],
    typed: Mapping[str, str | None],
    chosen: Sequence[Effective],
) -> Sequence[Capture | Unreadable]:
    """The captures: rows typed here, a pair of dumps, or files."""
    from specdist.cli.row_sources import opened

    given = {name: text for name, text in {**sides, **typed}.items() if text is not None}
    if not given and not sources:
        from specdist.cli.commands.check import open_sources

        return list(open_sources([], None, None, chosen[0].settings.reading))
    settings = [one.settings for one in chosen]
    return list(opened(sources, given, settings[0].reading, [one.checking for one in settings]))


def _checked(
    label: str, chosen: Effective, opened: Sequence[Capture | Unreadable], first: Effective
) -> Compared:
    """One variant over all captures. Raises CaptureError for a capture that cannot be read."""
    from specdist.reports.comparison_report import Compared
    from specdist.verify.joint_summary import PartTally
    from specdist.verify.reference_distance import reference_distance
    from specdist.verify.run import check

    running = check(opened, chosen.settings, retain=False)
    checking = chosen.settings.checking
    rules: dict[str, None] = {}
    findings: dict[str, None] = {}
    kinds = [PartTally(checking.exact, checking.allow) for _ in range(2)]
    try:
        for step in running.results():
            rules[step.rule] = None
            findings |= dict.fromkeys(finding.ident for finding in step.findings)
            kinds[step.joint is not None].add(step)
    except SettingsError as error:
        raise _under(label, error) from None
    report = running.report()
    for item in report.unreadable:
        raise item.error() if chosen is first else _under(label, item.error())
    if not report.sources:
        names = ", ".join(report.not_captures)
        raise CaptureError(f"no capture among {names}" if names else "no capture found")
    findings |= dict.fromkeys(finding.ident for finding in report.findings)
    engine = None if checking.preset is None else checking.preset.name
    distance = None
    if chosen is not first:
        distance = reference_distance(opened, first.settings, chosen.settings)
    parts = [tally.part() for tally in kinds]
    return Compared(label, engine, tuple(rules), tuple(findings), report, distance, *parts)


def _under(label: str, error: SpecdistError) -> SpecdistError:
    """The error of one variant, which may hold for that variant alone."""
    error.place = f"{label}: {error.place}" if error.place else label
    return error
