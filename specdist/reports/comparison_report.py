"""Several variants over the same rows: a table of 80 columns, and ``specdist.comparison/1``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specdist.model.figure import Figure
from specdist.model.report import Report, Summary
from specdist.model.verdict import Verdict
from specdist.reports import layout, page
from specdist.reports.aggregate import on_longest_path
from specdist.reports.figure_text import Numerals
from specdist.reports.interval_text import interval
from specdist.reports.json_bounded import figure_or_interval
from specdist.reports.json_numbers import optional
from specdist.reports.rule_text import is_lossy, is_mistake
from specdist.reports.view import plural
from specdist.verify.joint_summary import Part

SCHEMA = "specdist.comparison/1"
_POSITIONS = ("variant", "verdict", "acceptance rate", "largest variation")
_WHOLE = ("variant", "verdict", "accepted", "tokens", "left", "acceptance", "variation")
_LONGEST_LABEL = 30
_OWN = "each variant is compared with its own decoding without speculation"
_READING = f"{_OWN}; largest variation is the largest total variation of a position"
_READING_BLOCK = (
    f"{_READING}; under block the rate of a position holds given that all before it are kept: "
    "specdist check says how many draft tokens either rule accepts on the drafted path"
)
_READING_WHOLE = (
    "accepted: expected draft tokens accepted a step; tokens: expected tokens emitted a step, "
    "bonus token included; left: tokens per step that the best lossless verifier of the same "
    "proposals accepts more; acceptance: accepted share of the longest path; variation: the "
    f"largest total variation of whole outputs; {_OWN}"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One variant, checked. ``rules`` and ``findings`` are what its steps had, each named once;
    ``rows`` are its steps with rows of positions, ``whole`` those over conditional models."""

    label: str
    engine: str | None
    rules: tuple[str, ...]
    findings: tuple[str, ...]
    report: Report
    from_first: Figure | None = None
    """The largest total variation between this variant's reference and that of the first."""
    rows: Part | None = None
    whole: Part | None = None


def to_json(compared: Sequence[Compared], exact: bool) -> dict[str, Any]:
    """The comparison as JSON values; ``exact`` spells out fractions of any length."""
    return {
        "schema": SCHEMA,
        "specdist": compared[0].report.version,
        "sources": list(compared[0].report.sources),
        "variants": [_variant(item, exact) for item in compared],
    }


def table(compared: Sequence[Compared]) -> list[str]:
    """A row for each variant, the idents of its findings below it; a table for each kind of
    steps, so that means over both are never set side by side."""
    first = compared[0]
    if first.whole is None:
        return [*_positions(compared), "", *_checked(first.report.summary), *_along(compared)]
    lines = [
        *_whole(compared),
        "",
        *_checked(first.whole.summary, "draft token", first.whole.trees),
    ]
    lines += layout.wrap(_reading(compared))
    if first.rows is None:
        return lines
    lines = ["steps over conditional models", "", *lines, "", "steps with rows of positions", ""]
    lines += [*_positions(compared), "", *_checked(first.rows.summary), *_along(compared)]
    return lines


def _along(compared: Sequence[Compared]) -> list[str]:
    """How to read the figures of positions; block's are those of a path."""
    block = any("block" in item.rules for item in compared)
    return layout.wrap(_READING_BLOCK if block else _READING)


def _checked(summary: Summary, unit: str = "position", trees: bool = False) -> list[str]:
    path = on_longest_path(summary.steps) if trees else ""
    return [f"{plural(summary.steps, 'step')}, {plural(summary.positions, unit)}{path} under each"]


def _reading(compared: Sequence[Compared]) -> str:
    means = [item.whole.means for item in compared if item.whole is not None]
    known = [mean for mean in means if mean is not None]
    text = _READING_WHOLE
    if any(mean.left is not None and mean.left.approx < 0 for mean in known):
        text += "; left below 0: the rule accepts more than any lossless one can"
    if any(mean.left_is_bound for mean in known):
        text += "; what is left is at most that, against an upper bound"
    return text


def _positions(compared: Sequence[Compared]) -> list[str]:
    cells, below = [], []
    for item in compared:
        part = item.rows if item.whole is not None else None
        summary = item.report.summary if part is None else part.summary
        verdict = item.report.verdict if part is None else part.verdict
        cells.append([verdict.value, *_rates(summary)])
        below.append(item.findings if part is None else part.findings)
    return _table(compared, _POSITIONS, cells, below)


def _whole(compared: Sequence[Compared]) -> list[str]:
    cells, below = [], []
    for item in compared:
        part = item.whole
        if part is None or part.means is None:
            raise ValueError("every variant has the same steps")
        means, summary = part.means, part.summary
        verdict = item.report.verdict if item.rows is None else part.verdict
        figures = (
            means.expected_accepted,
            means.expected_tokens,
            means.left,
            summary.acceptance_rate,
            summary.total_variation_max,
        )
        cells.append([verdict.value, *map(_written, figures)])
        below.append(item.findings if item.rows is None else part.findings)
    return _table(compared, _WHOLE, cells, below)


def _table(
    compared: Sequence[Compared],
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    below: Sequence[Sequence[str]],
) -> list[str]:
    """The rows of variants; a label that is too long for its column has a line of its own."""
    bare = layout.table(list(header), [["", *row] for row in cells], left=2)
    room = page.columns() - max(map(layout.width_of, bare)) + len(header[0])
    long = [len(item.label) > min(_LONGEST_LABEL, room) for item in compared]
    labels = ["" if own else item.label for own, item in zip(long, compared, strict=True)]
    rows = [[label, *row] for label, row in zip(labels, cells, strict=True)]
    title, *lines = layout.table(list(header), rows, left=2)
    shown = [title]
    verdicts = [row[0] for row in cells]
    for own_line, item, line, idents, verdict in zip(
        long, compared, lines, below, verdicts, strict=True
    ):
        shown += layout.wrap(item.label, rest="  ") if own_line else []
        shown.append(line)
        shown += _lucky(item.rules) if verdict == Verdict.EQUAL else []
        shown += layout.wrap(", ".join(idents), "    ") if idents else []
        if item.from_first is not None and item.from_first.approx:
            distance = f"decodes another law than {compared[0].label}: total variation up to "
            shown += layout.wrap(distance + _written(item.from_first), "    ")
    return shown


def _lucky(rules: Sequence[str]) -> list[str]:
    """What an equal verdict does not say of rules that are not lossless for any rows."""
    kind = "a known mistake" if any(map(is_mistake, rules)) else "lossy by design"
    if not any(is_mistake(rule) or is_lossy(rule) for rule in rules):
        return []
    return layout.wrap(f"{kind}: equal for these rows only, not for any rows", "    ")


def _written(figure: Figure | None) -> str:
    return "-" if figure is None else Numerals().number(figure)


def _rates(summary: Summary) -> list[str]:
    """Mean acceptance rate and largest total variation, as intervals where rows are known in
    part."""
    pairs = (
        (summary.acceptance_rate, summary.acceptance_bounds),
        (summary.total_variation_max, summary.variation_bounds),
    )
    return [
        _written(figure) if bounds is None else interval(bounds, Numerals())
        for figure, bounds in pairs
    ]


def _variant(item: Compared, exact: bool) -> dict[str, Any]:
    summary = item.report.summary
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
        "acceptance_rate": figure_or_interval(
            summary.acceptance_rate, summary.acceptance_bounds, exact
        ),
        "total_variation_max": figure_or_interval(
            summary.total_variation_max, summary.variation_bounds, exact
        ),
        "reference_distance": optional(item.from_first, exact),
        "findings": list(item.findings),
        "joint": None if item.whole is None else _joint(item.whole, exact),
    }


def _joint(part: Part, exact: bool) -> dict[str, Any]:
    summary, means = part.summary, part.means
    return {
        "verdict": part.verdict.value,
        "steps": summary.steps,
        "positions": summary.positions,
        "equal": summary.equal,
        "within_tolerance": summary.within_tolerance,
        "different": summary.different,
        "undecided": summary.undecided,
        "acceptance_rate": figure_or_interval(
            summary.acceptance_rate, summary.acceptance_bounds, exact
        ),
        "total_variation_max": figure_or_interval(
            summary.total_variation_max, summary.variation_bounds, exact
        ),
        "expected_accepted": None if means is None else optional(means.expected_accepted, exact),
        "expected_tokens": None if means is None else optional(means.expected_tokens, exact),
        "left": None if means is None else optional(means.left, exact),
        "left_is_bound": means is not None and means.left_is_bound,
        "findings": list(part.findings),
    }
