"""``specdist audit``: runs the adapter over the tables, gives the report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from specdist.audit.refusals import AdapterError
from specdist.cli import audit_adapter, audit_streams, console
from specdist.cli.audit_adapter import Loaded, Named
from specdist.cli.audit_command_line import reproduced
from specdist.cli.audit_module import run_users
from specdist.cli.audit_options import Asked
from specdist.cli.audit_process import kept, survived
from specdist.cli.progress import Meter
from specdist.errors import MissingExtraError, SettingsError

if TYPE_CHECKING:
    from specdist.audit.run import Audit
    from specdist.cli.settings import Effective
    from specdist.model.audit_report import AuditReport

_LISTED_WHOLE = 100_000
"""Sequences of a table that ``-v`` lists at most."""


def audited(named: Named, other: Named | None, asked: Asked, chosen: Effective) -> AuditReport:
    """The report of the adapter ``named``, against the target or the adapter ``other``.

    Raises SpecdistError for an adapter that cannot be loaded or followed, and for more leaves than
    the budget allows.
    """
    others = [] if other is None else [other]
    with audit_streams.apart(), survived(), audit_adapter.findable(named, *others):
        with kept():
            adapter = audit_adapter.load(named)
            reference = None if other is None else audit_adapter.load(other)
        if reference is not None:
            audit_adapter.check_apart(adapter, reference)
        asked = _served(asked, named)
        audit = _audit(adapter, reference, asked, chosen)
        expected = audit.predicted
        if not chosen.output.quiet:
            console.err(_announced(expected, asked))
        probes = asked.mode == "probe"
        unit = "runs" if probes else "leaves"
        with Meter(chosen.output.progress, "auditing", unit) as meter:
            meter.expect(None if probes else expected)
            report = _report(audit, meter)
    report = replace(report, line=adapter.line)
    return _graded(reproduced(report, asked), chosen)


def _report(audit: Audit, meter: Meter) -> AuditReport:
    """The report. Raises AdapterError for what ends the program: exits are none of specdist's."""
    try:
        return audit.report(lambda count: meter.step())
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise AdapterError(
            f"the audited code ends the program: {type(error).__name__}",
            place=audit.source,
            expected="a step that returns its tokens",
        ) from error


def _audit(adapter: Loaded, reference: Loaded | None, asked: Asked, chosen: Effective) -> Audit:
    from specdist.audit.context import Setup
    from specdist.audit.run import Audit

    output = chosen.output
    options: dict[str, Any] = {}
    if reference is not None:
        options["reference"] = reference.call
    if asked.mode != "traced":
        options["mode"] = asked.mode
    if asked.replays is not None:
        options["replays"] = asked.replays
    if asked.confidence is not None:
        options["delta"] = float(1 - Fraction(asked.confidence))
    known = {field.name for field in fields(Audit)}
    for name in options:
        if name not in known:
            raise SettingsError(f"--{name} is of no use here", place="command line")
    return Audit(
        adapter.call,
        adapter.source,
        Setup(asked.vocab, asked.gamma, asked.steps, asked.dtype, asked.framework),
        asked.tables,
        asked.budget,
        max(output.show, _LISTED_WHOLE) if output.verbose else output.show,
        {**asked.shown, **_output_settings(chosen)},
        **options,
    )


def _output_settings(chosen: Effective) -> dict[str, object]:
    from specdist.cli.options import OUTPUT

    names = ("allow", "severity", *(option.name for option in OUTPUT))
    values = {name: chosen.shown[name][0] for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _served(asked: Asked, named: Named) -> Asked:
    """With what serves the rows, which is loaded here, so that its draws are followed. Raises
    SettingsError where it does not have the format."""
    import sys

    name = asked.framework or ("torch" if "torch" in sys.modules else "numpy")
    if find_spec(name) is None:
        raise MissingExtraError(
            f"--framework {name}: {name} is not installed",
            place="command line",
            advice=f"install {name}, or leave the option out",
        )
    run_users(named.text, "", f" while {name} was imported", lambda: import_module(name))
    if name == "numpy" and asked.dtype == "bfloat16":
        raise SettingsError(
            "numpy has no bfloat16",
            place="command line",
            expected="--framework torch with it, or another --dtype",
        )
    return replace(asked, framework=name)


def _announced(expected: int, asked: Asked) -> str:
    """How much is going to be done, and by which formula."""
    from specdist.reports import layout
    from specdist.reports.audit_words import magnitude

    text = (
        f"audit: {magnitude(expected)} leaves predicted, V^(g+1) + g V- V+ V^(g-1) a step and table"
    )
    if asked.mode == "probe":
        text += "; a probe runs the code many times for each"
    return "\n".join(layout.wrap(text, "", "  ")) + "\n"


def _graded(report: AuditReport, chosen: Effective) -> AuditReport:
    """With what the user allows, and the severities that the user chose."""
    from specdist.model.finding import Severity
    from specdist.verify.severities import Severities

    checking = chosen.settings.checking
    grades = Severities(checking.severity, checking.allow)
    allowed = [
        replace(finding, allowed=True)
        if finding.ident in checking.allow and finding.severity is not Severity.NOTE
        else finding
        for finding in report.findings
    ]
    findings = tuple(grades.run(allowed))
    return replace(report, findings=findings, raised=grades.raised)


def files_of(*named: Named | None) -> list[str]:
    """The files that are read, which no export may overwrite."""
    return [each.origin for each in named if each is not None and os.path.isfile(each.origin)]


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the settings of every command read: what is shown, and what may fail."""
    from specdist.cli.options import CHECKING, OUTPUT

    heeded = [o for o in CHECKING if o.name in ("allow", "severity")]
    return {option.parameter: values[option.parameter] for option in (*heeded, *OUTPUT)}
