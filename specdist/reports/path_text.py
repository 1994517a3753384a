"""A captured block under block verification: what its one path determines, and what it cannot."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.joint_report import PathPosition, PathResult
from specdist.model.report import StepResult
from specdist.reports import layout, page
from specdist.reports.figure_text import Numerals
from specdist.reports.joint_tables import exact_values
from specdist.reports.view import View, plural

_COLUMNS = ("token_acceptance", "ratio", "threshold")
_TITLES = ("token acceptance", "ratio r", "coin h")
_RATE = (
    "acceptance rate: over the draft tokens of a position, given that all before it are kept; it "
    "does not say which rule accepts more"
)


def of(steps: Sequence[StepResult]) -> list[tuple[StepResult, PathResult]]:
    """The captured blocks whose path was followed."""
    return [(step, step.path) for step in steps if step.path is not None]


def tables(located: Sequence[tuple[StepResult, PathResult]], view: View) -> list[str]:
    """Acceptance, ratio and coin at each position of one block, or a line for each of many."""
    if len(located) == 1:
        step, path = located[0]
        lines = [*_positions(step, path, view), *_given_the_path(path, view)]
    else:
        lines = _steps(located, view)
        for step, path in located if view.verbose else ():
            lines += ["", f"step {step.id}", *_positions(step, path, view)]
        lines += _left_open([path for _, path in located])
    lines += layout.wrap(_RATE, "", "  ", page.columns() - 2)
    return [f"  {line}".rstrip() for line in lines]


def _positions(step: StepResult, path: PathResult, view: View) -> list[str]:
    shown = path.positions[: view.limit]
    names = [_drafted(step, position) for position in shown]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = [
            [
                str(position.index),
                name,
                *(numerals.number(getattr(position, column), digits) for column in _COLUMNS),
            ]
            for name, position in zip(names, shown, strict=True)
        ]
        return layout.table(["position", "drafted", *_TITLES], rows, left=2, gap=gap)

    lines, wide = view.table(build, page.columns() - 2)
    hidden = len(path.positions) - len(shown)
    lines += [f"... {plural(hidden, 'more position')}"] if hidden else []
    if wide:
        lines += exact_values(
            (f"position {position.index}", title, getattr(position, column))
            for position in shown
            for title, column in zip(_TITLES, _COLUMNS, strict=True)
        )
    return lines


def _drafted(step: StepResult, position: PathPosition) -> str:
    """The drafted token, with its text where a row of the report shows it."""
    for result in step.positions:
        if result.index == position.index:
            text = next((t.text for t in result.tokens if t.id == position.token), None)
            return layout.token(text, position.token, result.vocab_size > 64)
    return str(position.token)


def _given_the_path(path: PathResult, view: View) -> list[str]:
    rate = view.numerals.rate
    said = (
        "given this path: accepted draft tokens "
        f"{rate(path.expected_accepted_token)} under token verification, "
        f"{rate(path.expected_accepted_block)} under block verification"
    )
    return ["", *layout.wrap(said, "", "  ", page.columns() - 2), *_left_open([path])]


def _steps(located: Sequence[tuple[StepResult, PathResult]], view: View) -> list[str]:
    shown = located[: view.limit]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = [
            [
                step.id,
                str(len(path.positions)),
                numerals.number(path.expected_accepted_token, digits),
                numerals.number(path.expected_accepted_block, digits),
            ]
            for step, path in shown
        ]
        titles = ["step", "draft tokens", "accepted by token", "accepted by block"]
        return layout.table(titles, rows, gap=gap)

    lines, _ = view.table(build, page.columns() - 2)
    hidden = len(located) - len(shown)
    if hidden:
        lines.append(f"... {plural(hidden, 'more step')} (all with -v or --format json)")
    return [*lines, "", "accepted draft tokens given the drafted path"]


def _left_open(paths: Sequence[PathResult]) -> list[str]:
    """What no single path says, each once."""
    said = dict.fromkeys(text for path in paths for text in path.left_open)
    return [
        line
        for text in said
        for line in layout.wrap(f"left open: {text}", "", "  ", page.columns() - 2)
    ]
