"""Positions whose rows are known in part, as text: tables of intervals, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specdist.exact.interval import Interval
from specdist.model.partial_report import (
    BoundedBonus,
    BoundedBonusToken,
    BoundedPosition,
    BoundedToken,
    ListedCounts,
)
from specdist.model.report import StepResult
from specdist.reports import layout, page
from specdist.reports.figure_text import Numerals
from specdist.reports.interval_text import at_most, cell, interval, rate
from specdist.reports.view import View, inner_place, plural

Located = tuple[StepResult, BoundedPosition]
Cell = Callable[[Interval], str]

_COLUMNS = ("reference", "drafted", "accepted", "output")
_BONUS_COLUMNS = ("reference", "output")
_LARGE = 64
_IDENTITY = "0, whatever is left open"


def of(steps: Sequence[StepResult]) -> list[Located]:
    """The positions of some steps that are known in part."""
    return [(step, position) for step in steps for position in step.bounded]


def tables(located: Sequence[Located], view: View, alone: bool) -> list[str]:
    """One position token by token, or a line for each of many; ``alone``: nothing else is shown."""
    if len(located) == 1:
        step, position = located[0]
        head = [] if alone else [f"  step {step.id}{inner_place(position.index)}, known in part"]
        return [*head, *_unfolded(position, view)]
    lines = _summary_table(located, view)
    for step, position in located if view.verbose else ():
        lines += ["", f"step {step.id}{inner_place(position.index)}", *_unfolded(position, view)]
    return lines


def bonus_lines(steps: Sequence[StepResult], view: View) -> list[str]:
    """The bonus rows that are known in part: one token by token, or a line for each."""
    found = [(step, step.bounded_bonus) for step in steps if step.bounded_bonus is not None]
    lines: list[str] = []
    for step, bonus in found[: view.limit]:
        variation = _variation(bonus.total_variation, bonus.by_identity, view)
        text = f"step {step.id}, bonus row known in part: total variation {variation}"
        lines += layout.wrap(text, "  ", "    ")
        if len(found) == 1 or view.verbose:
            lines += [f"  {line}" for line in bonus_table(bonus, view, page.columns() - 2)]
    hidden = len(found) - len(found[: view.limit])
    return lines + ([f"  ... {plural(hidden, 'more bonus row')}"] if hidden else [])


def token_table(position: BoundedPosition, view: View, width: int) -> list[str]:
    """The masses of the listed tokens; those that a side does not list are intervals."""
    ranked = sorted(position.tokens, key=_weight)
    large = (position.vocab_size or _LARGE + 1) > _LARGE and len(position.tokens) > _LARGE // 2
    return _table(ranked, _COLUMNS, large, view, width)


def bonus_table(bonus: BoundedBonus, view: View, width: int) -> list[str]:
    """The listed tokens of a bonus row."""
    ranked = sorted(bonus.tokens, key=lambda token: (-token.reference.most, token.id))
    return _table(ranked, _BONUS_COLUMNS, False, view, width)


def panel(subject: BoundedPosition | BoundedBonus, view: View, width: int) -> list[str]:
    """The tokens below a finding, and what both sides list."""
    if isinstance(subject, BoundedBonus):
        return bonus_table(subject, view, width)
    rests = f"not listed: {_rests(subject, view)}"
    return [*token_table(subject, view, width), "", *layout.wrap(rests, "", "  ", width)]


def _table(
    tokens: Sequence[BoundedToken | BoundedBonusToken],
    columns: Sequence[str],
    with_id: bool,
    view: View,
    width: int,
) -> list[str]:
    shown = tokens[: view.limit]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = [
            [
                layout.token(token.text, token.id, with_id),
                *(cell(getattr(token, column), numerals, digits) for column in columns),
            ]
            for token in shown
        ]
        return layout.table(["token", *columns], rows, gap=gap)

    lines, wide = view.table(build, width)
    hidden = len(tokens) - len(shown)
    if hidden:
        lines.append(f"... {plural(hidden, 'more listed token')}")
    if wide:
        lines += ["", "exact values"]
        lines += [
            f"{layout.token(token.text, token.id, with_id)}  {column}  "
            f"{interval(getattr(token, column), view.numerals)}"
            for token in shown
            for column in columns
        ]
    return lines


def _weight(token: BoundedToken) -> tuple[object, ...]:
    reference, drafted = token.reference, token.drafted
    return -(reference.least + reference.most), -(drafted.least + drafted.most), token.id


def _unfolded(position: BoundedPosition, view: View) -> list[str]:
    lines = [f"  {line}" for line in token_table(position, view, page.columns() - 2)]
    facts = [
        ("not listed", _rests(position, view)),
        ("listed tokens", _counts(position.counts)),
        ("acceptance rate", rate(position.acceptance_rate, view.numerals)),
        (
            "total variation",
            _variation(position.total_variation, position.by_identity, view),
        ),
    ]
    if position.half_width:
        width = interval(Interval(Interval.of(0).least, position.half_width), view.numerals)
        facts.insert(2, ("known within", width.removeprefix("0 to ")))
    lines.append("")
    for name, text in facts:
        lines += layout.wrap(text, f"  {name:<15}  ")
    return lines


def _rests(position: BoundedPosition, view: View) -> str:
    target = interval(position.target_rest, view.numerals)
    draft = interval(position.draft_rest, view.numerals)
    return f"{target} of the target, {draft} of the draft"


def _counts(counts: ListedCounts) -> str:
    """``1 by both, 1 by the target only, 1 by the draft only, 1 by neither``."""
    neither = "any number" if counts.neither is None else f"{counts.neither:,}"
    return (
        f"{counts.both:,} by both, {counts.target_only:,} by the target only, "
        f"{counts.draft_only:,} by the draft only, {neither} by neither"
    )


def _variation(variation: Interval, by_identity: bool, view: View) -> str:
    return _IDENTITY if by_identity else rate(variation, view.numerals)


def _summary_table(located: Sequence[Located], view: View) -> list[str]:
    shown = located[: view.limit]

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        rows = [
            [
                step.id,
                str(position.index),
                interval(position.acceptance_rate, numerals, digits),
                interval(position.total_variation, numerals, digits),
                f"{at_most(position.target_rest.most, numerals)}, "
                f"{at_most(position.draft_rest.most, numerals)}",
                position.verdict.value,
            ]
            for step, position in shown
        ]
        titles = ["step", "position", "acceptance rate", "variation", "rests", "verdict"]
        return layout.table(titles, rows, gap=gap)

    lines, _ = view.table(build, page.columns() - 2)
    hidden = len(located) - len(shown)
    if hidden:
        lines.append(f"... {plural(hidden, 'more position')} (all with -v or --format json)")
    lines += ["", *layout.wrap(_READING, "", "  ", page.columns() - 2)]
    return [f"  {line}".rstrip() for line in lines]


_READING = (
    "rows known in part: acceptance rate and total variation lie in these intervals, whatever is "
    "left open; rests: mass of the unlisted tokens of target and draft, at most"
)
