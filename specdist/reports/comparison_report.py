"""Several variants over the same rows: a table of 80 columns, and ``specdist.comparison/1``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdist.model.figure import Figure
from specdist.model.report import Report
from specdist.reports import layout
from specdist.reports.figure_text import Numerals
from specdist.reports.json_numbers import number
from specdist.reports.view import plural

SCHEMA = "specdist.comparison/1"
_HEADER = ("variant", "verdict", "acceptance rate", "largest variation")
_LONGEST_LABEL = 30
_READING = (
    "each variant is compared with its own decoding without speculation; largest variation is the "
    "largest total variation of a position"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One variant, checked. ``rules`` and ``findings`` are what its steps had, each named once."""

    label: str
    engine: str | None
    rules: tuple[str, ...]
    findings: tuple[str, ...]
    report: Report
    from_first: Figure | None = None
    """The largest total variation between this variant's reference and that of the first."""


def to_json(compared: Sequence[Compared], exact: bool) -> dict[str, Any]:
    """The comparison as JSON values; ``exact`` spells out fractions of any length."""
    return {
        "schema": SCHEMA,
        "specdist": compared[0].report.version,
        "sources": list(compared[0].report.sources),
        "variants": [_variant(item, exact) for item in compared],
    }


def table(compared: Sequence[Compared]) -> list[str]:
    """A row for each variant, the idents of its findings below it."""
    long = [len(item.label) > _LONGEST_LABEL for item in compared]
    rows = [
        _cells("" if own else item.label, item) for own, item in zip(long, compared, strict=True)
    ]
    header, *lines = layout.table(list(_HEADER), rows, left=2)
    shown = [header]
    for own_line, item, line in zip(long, compared, lines, strict=True):
        shown += layout.wrap(item.label, rest="  ") if own_line else []
        shown.append(line)
        shown += layout.wrap(", ".join(item.findings), "    ") if item.findings else []
        if item.from_first is not None and item.from_first.approx:
            distance = f"decodes another law than {compared[0].label}: total variation up to "
            shown += layout.wrap(distance + _written(item.from_first), "    ")
    summary = compared[0].report.summary
    checked = f"{plural(summary.steps, 'step')}, {plural(summary.positions, 'position')} under each"
    return [*shown, "", checked, *layout.wrap(_READING)]


def _cells(label: str, item: Compared) -> tuple[str, str, str, str]:
    summary = item.report.summary
    return (
        label,
        item.report.verdict.value,
        _written(summary.acceptance_rate),
        _written(summary.total_variation_max),
    )


def _written(figure: Figure | None) -> str:
    return "-" if figure is None else Numerals().number(figure)


def _variant(item: Compared, exact: bool) -> dict[str, Any]:
    summary = item.report.summary
    rate, variation = summary.acceptance_rate, summary.total_variation_max
    return {
        "variant": item.label,
        "engine": item.engine,
        "rules": list(item.rules),
        "verdict": item.report.verdict.value,
        "steps": summary.steps,
        "positions": summary.positions,
        "equal": summary.equal,
        "within_tolerance": summary.within_tolerance,
        "different": summary.different,
        "undecided": summary.undecided,
        "acceptance_rate": None if rate is None else number(rate, exact),
        "total_variation_max": None if variation is None else number(variation, exact),
        "reference_distance": None if item.from_first is None else number(item.from_first, exact),
        "findings": list(item.findings),
    }
