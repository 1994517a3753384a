"""Every form of a sweep, a line each, and what all of them may ask."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from specdist.reports.style import PLAIN, Paint

if TYPE_CHECKING:
    from specdist.model.sweep import SweepReport


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """How much is shown: ``show`` and ``verbose`` decide on long tables, ``exact`` spells out
    fractions, ``quiet`` leaves the summary, ``width`` is that of the terminal, and ``blocks`` tells
    whether it can show block characters."""

    show: int = 10
    exact: bool = False
    verbose: bool = False
    quiet: bool = False
    width: int = 80
    blocks: bool = True
    paint: Paint = PLAIN


@dataclass(frozen=True, slots=True)
class SweepForm:
    """One form: its name for ``--format`` and ``--export``, and the module that renders it."""

    name: str
    module: str

    def render(self, report: SweepReport, options: SweepOptions) -> str:
        """The sweep in this form."""
        text: str = import_module(self.module).render(report, options)
        return text


_HERE = "specdist.reports.sweep_"
FORMS: tuple[SweepForm, ...] = (
    SweepForm("text", f"{_HERE}text"),
    SweepForm("json", f"{_HERE}json"),
    SweepForm("csv", f"{_HERE}csv"),
    SweepForm("html", f"{_HERE}html"),
)
BY_NAME = {form.name: form for form in FORMS}
PRINTED = ("text", "json", "csv")
