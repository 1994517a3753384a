"""The command line that shows one setting of a sweep again."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from specdist.cli.options import CHECKING, ENGINE, INPUT
from specdist.cli.processing_options import PROCESSING
from specdist.cli.sweep_options import DRAFT_LENGTH
from specdist.cli.sweep_settings import Asked
from specdist.model.verdict import Verdict

if TYPE_CHECKING:
    from specdist.model.sweep import SweepReport

_WITHOUT = ("workers", "min-acceptance")


def reproduced(asked: Asked, report: SweepReport, modelled: bool) -> str:
    """The check of the first setting that differs; empty where none does. ``modelled`` draft
    lengths are no option of it."""
    first = next((one.first for one in report.counts if one.verdict is Verdict.DIFFERENT), None)
    if first is None:
        return ""
    words = ["specdist", "what-if", *map(quote, asked.sources)]
    words += [_option(name, text) for name, text in asked.rows.items()]
    words += ["--symbolic"] if asked.symbolic else []
    for option in (*INPUT[2:], *ENGINE, *PROCESSING, *CHECKING):
        given = asked.values.get(option.parameter)
        if given in (None, False, []) or option.name in _WITHOUT:
            continue
        values = given if isinstance(given, list) else [given]
        words += [_option(option.name, value) for value in values]
    for axis, value in zip(report.axes, report.points[first].values, strict=True):
        if not (modelled and axis.name == DRAFT_LENGTH):
            words.append(_option(axis.name, value))
    return " ".join(words)


def _option(name: str, value: str | bool) -> str:
    """An option as a shell takes it; a value that begins with a dash stands behind ``=``."""
    if value is True:
        return f"--{name}"
    text = str(value)
    return f"--{name}{'=' if text.startswith('-') else ' '}{quote(text)}"
