"""``specdist replay``: recorded steps, checked decision by decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdist.cli.counter_options import COUNTERS, read_counters
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import CHECKING, ENGINE, INPUT, OUTPUT, Option, takes
from specdist.cli.processing_options import PROCESSING
from specdist.errors import SettingsError, SpecdistError

if TYPE_CHECKING:
    from specdist.cli.settings import Effective, OutputSettings
    from specdist.model.replay_report import ReplayReport
    from specdist.model.trace import Trace
    from specdist.model.trace_evidence import Counterfactual
    from specdist.reports.forms.form import FormOptions

_ROWS = "Rows of both sides, where they are not beside the steps."
_OTHER = "The same contexts under other options, as 'top-p=0.9 temperature=1'; repeatable."
REPLAY: tuple[Option, ...] = (
    Option("rows", "Input", _ROWS, "FILE", in_config=False),
    Option("counterfactual", "Engine", _OTHER, "OPTIONS", form="list", in_config=False),
)
_READING = tuple(
    option
    for option in INPUT
    if option.name in ("numbers", "kind", "stage", "vocab", "vocab-size", "select", "limit")
)
_HEEDED = (
    "engine", "rule", "recipe", "draft-recipe", "role", "normalise", "inequality", "uniform",
)  # fmt: skip
_ENGINE = tuple(option for option in ENGINE if option.name in _HEEDED)
_CHECKING = tuple(option for option in CHECKING if option.name in ("allow", "severity"))
_GIVEN = (*_READING, *COUNTERS, *REPLAY, *_ENGINE, *PROCESSING, *_CHECKING)


@takes(_READING, COUNTERS, REPLAY, _ENGINE, PROCESSING, _CHECKING, OUTPUT)
def replay(
    trace: Annotated[
        str | None,
        typer.Argument(metavar="TRACE", help="A folder with steps.jsonl, or a file of steps."),
    ] = None,
    **values: Any,
) -> ExitCode:
    """Check recorded steps: decisions, draws, contexts, row alignment, uniforms, counters."""
    from specdist.cli import console, exports
    from specdist.cli.exit_codes import forgiven, replay_exit_code
    from specdist.cli.running import form_options
    from specdist.cli.settings import effective
    from specdist.reports.forms.registry import FORMS

    if trace is None:
        raise SettingsError(
            "no trace is given",
            expected="TRACE, a folder with steps.jsonl or a file of steps",
            advice="specdist replay --help",
        )
    given = {**values, "rows": None}  # of dumps, `rows` are numbers of rows
    chosen = effective(given)
    known = (form.name for form in FORMS if form.replays)
    exports.check_forms(chosen.output.format, chosen.output.exports, "a replay", known)
    exports.check_paths(chosen.output.exports, [trace])
    try:
        report = _report(trace, chosen, values)
    except SpecdistError as error:
        if chosen.output.format == "jsonl":
            from specdist.reports.jsonl_report import error_line

            console.out(error_line(error))
        raise
    code = replay_exit_code(report)
    options = form_options(chosen.output, code)
    exports.write(chosen.output.exports, report, options)
    console.out(_rendered(report, chosen.output, options))
    return forgiven(code) if chosen.output.exit_zero else code


def _report(trace: str, chosen: Effective, values: Mapping[str, Any]) -> ReplayReport:
    from specdist.readers.traces.opening import open_trace
    from specdist.verify.replay.run import replay as replayed
    from specdist.verify.replay.run import selected

    reading, checking = chosen.settings.reading, chosen.settings.checking
    opened = open_trace(trace, reading, values["rows"])
    opened = replace(opened, reported=(*opened.reported, *read_counters(values)))
    opened = selected(opened, reading.select)
    shown = {name: value for name, (value, _) in chosen.shown.items() if value is not None}
    report = replayed(opened, checking, _command(trace, values), shown)
    others = _counterfactuals(opened, chosen, values)
    return replace(report, counterfactuals=others, texts=_texts(report, reading.vocab))


def _command(trace: str, values: Mapping[str, Any]) -> str:
    """The line that runs this replay again."""
    from shlex import quote

    words = ["specdist replay", quote(trace)]
    for option in _GIVEN:
        value = values.get(option.parameter)
        if option.form == "flag":
            words += [f"--{option.name}"] if value else []
            continue
        for text in value if isinstance(value, list | tuple) else [value]:
            if text is not None:
                plain = not text.startswith("-")
                words.append(f"--{option.name}{' ' if plain else '='}{quote(text)}")
    return " ".join(words)


def _counterfactuals(
    trace: Trace, chosen: Effective, values: Mapping[str, Any]
) -> tuple[Counterfactual, ...]:
    """The recorded contexts under the settings of every ``--counterfactual``."""
    from specdist.cli.settings import effective
    from specdist.verify.replay.counterfactual import counterfactual

    found = []
    known = {option.name: option for option in (*ENGINE, *PROCESSING)}
    for text in values.get("counterfactual") or ():
        changed: dict[str, Any] = {**values, "rows": None}
        for pair in text.split():
            name, equals, value = pair.partition("=")
            option = known.get(name.removeprefix("--"))
            if option is None or not equals:
                raise SettingsError(
                    f"counterfactual={text[:60]} cannot be read at {pair[:40]!r}",
                    place="command line",
                    expected="NAME=VALUE of options of processing, rule or engine, by blanks",
                )
            changed[option.parameter] = [value] if option.form == "list" else value
        other = effective(changed).settings.checking
        found.append(counterfactual(trace, chosen.settings.checking, other, text))
    return tuple(found)


def _texts(report: ReplayReport, vocab: str | None) -> Mapping[int, str]:
    """The texts of the tokens that events name."""
    if vocab is None:
        return {}
    from specdist.readers.vocab_file import load_vocab

    known = load_vocab(vocab)
    tokens = {event.token for each in report.findings for event in each.events}
    texts = {token: known.text(token) for token in tokens if token is not None}
    return {token: text for token, text in texts.items() if text is not None}


def _rendered(report: ReplayReport, output: OutputSettings, options: FormOptions) -> str:
    if output.format != "text":
        from specdist.reports.forms.registry import BY_NAME

        return BY_NAME[output.format].render(report, options)
    import sys

    from specdist.cli import console
    from specdist.reports.replay_text import render
    from specdist.reports.view import View

    paint = console.paint_for(output.color, sys.stdout)
    view = View(output.show, output.verbose, output.quiet, output.exact, paint)
    return render(report, view)
