"""Runs the pipeline over captures and writes the report: shared by ``check`` and ``what-if``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from specdist.cli import console, exports
from specdist.cli.exit_codes import ExitCode, exit_code, forgiven
from specdist.cli.plot_option import NO_PLOT, Plot
from specdist.cli.progress import Meter
from specdist.cli.settings import Effective, OutputSettings
from specdist.errors import CaptureError, SpecdistError
from specdist.model.capture import Capture, Unreadable
from specdist.model.counters import Counters
from specdist.model.report import Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import layout
from specdist.reports.aggregate import largest_of
from specdist.reports.error_text import render_error
from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.registry import BY_NAME

if TYPE_CHECKING:
    from specdist.verify.baseline.comparison import Comparison


def run(
    captures: Iterable[Capture | Unreadable],
    chosen: Effective,
    named: str = "",
    counters: tuple[Counters, ...] = (),
    inputs: Sequence[str] = (),
    against: Comparison | None = None,
    plot: Plot = NO_PLOT,
) -> ExitCode:
    """Checks every step, writes the report in the chosen form, gives the exit code.

    On an error stdout stays empty; JSON lines keep the finished steps and end with the error.
    A reader that goes away (``| head``) ends a JSON lines run as interrupted; the other forms are
    written after the verdict, so that their exit code stands. ``named``: what the command line
    named, for messages; ``inputs``: files that no export may overwrite.
    """
    output = chosen.output
    exports.check_paths(output.exports, inputs)
    try:
        report = _checked(captures, chosen, counters, against, bool(plot.path))
        code = exit_code(report)
        if code is ExitCode.NOT_STARTED:
            raise _not_started(report, output, named)
        _write(report, form_options(output, code), output, plot)
    except SpecdistError as error:
        if output.format == "jsonl":
            from specdist.reports.jsonl_report import error_line

            console.out(error_line(error))
        raise
    except BrokenPipeError:
        console.silence_stdout()
        return ExitCode.INTERRUPTED
    try:
        console.out(_rendered(report, output, code))
        console.out(plot.terminal_of_check(report, *console.room()))
        sys.stdout.flush()
    except BrokenPipeError:
        console.silence_stdout()
    return forgiven(code) if output.exit_zero else code


def _write(report: Report, options: FormOptions, output: OutputSettings, plot: Plot) -> None:
    """All files of a run, or none."""
    texts = exports.rendered(output.exports, report, options)
    exports.write_texts({**texts, **plot.files_of_check(report, options)})


def _announce(said: str) -> None:
    console.err("\n".join(layout.wrap(said, "", "  ")) + "\n")


def _checked(
    captures: Iterable[Capture | Unreadable],
    chosen: Effective,
    counters: tuple[Counters, ...],
    against: Comparison | None,
    drawn: bool,
) -> Report:
    """The report, with the steps that its form is going to print."""
    from specdist.verify.run import check

    lines = chosen.output.format == "jsonl"
    shown = {name: value for name, (value, _) in chosen.shown.items() if value is not None}
    listed = Listed(chosen.output, drawn)
    with Meter(chosen.output.progress and not lines) as meter:
        running = check(
            meter.watch(captures),
            chosen.settings,
            shown=shown,
            retain=False,
            announce=_announce,
            counters=counters,
            against=against,
        )
        for step in running.results():
            meter.step()
            if lines:
                from specdist.reports.jsonl_report import step_line

                console.out(step_line(step, chosen.output.exact))
                sys.stdout.flush()
            if not lines or chosen.output.exports or drawn:
                listed.add(step)
        return replace(running.report(), steps=tuple(listed.steps))


class Listed:
    """Finished steps for the report. The text report shows the token tables of a few steps only;
    the others are kept without them, so that memory hardly grows with the capture."""

    def __init__(self, output: OutputSettings, whole: bool = False) -> None:
        self.steps: list[StepResult] = []
        shown = [BY_NAME[output.format], *exports.forms(output.exports)]
        self._whole = whole or any(form.whole for form in shown) or output.verbose
        self._most = max(output.show, 3)
        self._kept: dict[Verdict, list[tuple[float, int]]] = {verdict: [] for verdict in Verdict}

    def add(self, step: StepResult) -> None:
        """Takes one finished step; of each verdict the worst keep their tables, the first of
        equals before the later ones."""
        self.steps.append(step)
        if self._whole:
            return
        kept = self._kept[step.verdict]
        heappush(kept, (largest_of(step), -(len(self.steps) - 1)))
        if len(kept) > self._most:
            index = -heappop(kept)[1]
            self.steps[index] = _without_tokens(self.steps[index])


def _without_tokens(step: StepResult) -> StepResult:
    positions = tuple(replace(position, tokens=()) for position in step.positions)
    bonus = None if step.bonus is None else replace(step.bonus, tokens=())
    bounded = tuple(replace(part, tokens=()) for part in step.bounded)
    last = step.bounded_bonus
    last = None if last is None else replace(last, tokens=())
    return replace(step, positions=positions, bonus=bonus, bounded=bounded, bounded_bonus=last)


def _not_started(report: Report, output: OutputSettings, named: str) -> SpecdistError:
    """The last unreadable file as an error; the ones before it are written to stderr here."""
    counted = [item for item in report.unreadable if item.counts] or list(report.unreadable)
    if not counted:
        names = ", ".join(report.not_captures)
        return CaptureError(
            f"no capture among {names}" if names else "no capture found",
            place=named,
            expected="a JSON capture or a dump that holds both sides",
            advice="two dumps are a pair: --target FILE --draft FILE",
        )
    errors = [_error(item) for item in counted]
    paint = console.paint_for(output.color, sys.stderr)
    for error in errors[:-1]:
        console.err(render_error(error, paint))
    return errors[-1]


def _error(item: Unreadable) -> CaptureError:
    place = item.place or item.source
    error = CaptureError(item.message, place=place, expected=item.expected, advice=item.advice)
    error.ident = item.ident
    return error


def form_options(output: OutputSettings, code: ExitCode) -> FormOptions:
    """What the forms are told of a run."""
    code = forgiven(code) if output.exit_zero else code
    return FormOptions(output.show, output.exact, _here(), code.value)


def _here() -> str:
    """The working directory; empty where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _rendered(report: Report, output: OutputSettings, code: ExitCode) -> str:
    if output.format == "jsonl":
        from specdist.reports.jsonl_report import summary_line

        return summary_line(report, output.exact)
    if output.format != "text":
        return BY_NAME[output.format].render(report, form_options(output, code))
    from specdist.reports.terminal import render
    from specdist.reports.view import View

    paint = console.paint_for(output.color, sys.stdout)
    view = View(output.show, output.verbose, output.quiet, output.exact, paint)
    return render(report, view)
