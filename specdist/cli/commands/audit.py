"""``specdist audit``: the exact law of a real sampler, by driving its randomness."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdist.cli.audit_options import AUDIT
from specdist.cli.exit_codes import ExitCode
from specdist.cli.options import CHECKING, OUTPUT, takes
from specdist.errors import SettingsError, SpecdistError

if TYPE_CHECKING:
    from specdist.cli.audit_options import Asked
    from specdist.cli.settings import Effective, OutputSettings
    from specdist.model.audit_report import AuditReport
    from specdist.reports.forms.form import FormOptions

_CHECKING = tuple(option for option in CHECKING if option.name in ("allow", "severity"))


@takes(AUDIT, _CHECKING, OUTPUT)
def audit(
    adapter: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE.py:NAME", help="The function that does a step, or MODULE:NAME."
        ),
    ] = None,
    **values: Any,
) -> ExitCode:
    """Drive a real sampler through its randomness, and compare its exact law with the target's."""
    from specdist.cli import console, exports
    from specdist.cli.audit_options import read_asked
    from specdist.cli.audit_run import given
    from specdist.cli.exit_codes import audit_exit_code, forgiven
    from specdist.cli.running import form_options
    from specdist.cli.settings import effective
    from specdist.reports.forms.registry import FORMS

    if adapter is None:
        raise SettingsError(
            "no adapter is given",
            expected="FILE.py:NAME, a function that does a step and returns its tokens",
            advice="specdist audit --help, specdist explain audit",
        )
    chosen, asked = effective(given(values)), read_asked(values)
    output = chosen.output
    known = [form.name for form in FORMS if form.audits]
    exports.check_forms(output.format, output.exports, "an audit", known)
    try:
        report = _report(adapter, asked, chosen)
    except SpecdistError as error:
        if output.format == "jsonl":
            from specdist.reports.jsonl_report import error_line

            console.out(error_line(error))
        raise
    code = audit_exit_code(report)
    _write(report, output, form_options(output, code))
    return forgiven(code) if output.exit_zero else code


def _report(adapter: str, asked: Asked, chosen: Effective) -> AuditReport:
    from specdist.cli import exports
    from specdist.cli.audit_adapter import read_name, read_reference
    from specdist.cli.audit_run import audited, files_of

    named = read_name(adapter)
    other = None if asked.reference is None else read_reference(asked.reference, named)
    exports.check_paths(chosen.output.exports, files_of(named, other))
    return audited(named, other, asked, chosen)


def _write(report: AuditReport, output: OutputSettings, options: FormOptions) -> None:
    """The files, then the printed report. A reader that goes away leaves the exit code as it is."""
    from specdist.cli import console, exports

    exports.write(output.exports, report, options)
    try:
        console.out(_rendered(report, output, options))
        sys.stdout.flush()
    except BrokenPipeError:
        console.silence_stdout()


def _rendered(report: AuditReport, output: OutputSettings, options: FormOptions) -> str:
    if output.format != "text":
        from specdist.reports.forms.registry import BY_NAME

        return BY_NAME[output.format].render(report, options)
    from specdist.cli import console
    from specdist.reports.audit_text import render
    from specdist.reports.view import View

    paint = console.paint_for(output.color, sys.stdout)
    return render(report, View(output.show, output.verbose, output.quiet, output.exact, paint))
