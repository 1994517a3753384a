"""What one form of a report is, and what every form may ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, Union

from specdist.reports import page

if TYPE_CHECKING:
    from specdist.model.audit_report import AuditReport
    from specdist.model.replay_report import ReplayReport
    from specdist.model.report import Report

AnyReport: TypeAlias = Union["Report", "ReplayReport", "AuditReport"]


@dataclass(frozen=True, slots=True)
class FormOptions:
    """How much a form shows. ``show`` is the rows of a table or tokens of a step, ``exact`` spells
    out fractions of any length; ``root`` is the folder that paths of files are told relative to,
    ``code`` the exit code of the run."""

    show: int = 10
    exact: bool = False
    root: str = ""
    code: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its name for ``--format`` and ``--export``, and the module with its ``render``.

    ``whole``: it shows the token tables of every step, which the run then has to keep. ``printed``:
    it may go to stdout as ``--format``. ``replays``: it can show a `ReplayReport` too, ``audits``:
    an `AuditReport`.
    """

    name: str
    module: str
    summary: str
    whole: bool = False
    printed: bool = True
    replays: bool = True
    audits: bool = True

    def render(self, report: AnyReport, options: FormOptions) -> str:
        """The report in this form, 80 columns wide whatever the terminal is. Loads the module of
        the form."""
        write: Callable[[AnyReport, FormOptions], str] = import_module(self.module).render
        with page.at(page.WIDTH):
            return write(report, options)
