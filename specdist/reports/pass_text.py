"""Steps without a counter-example as text: one small table, or a line a position."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.figure import Figure
from specdist.model.report import BonusToken, PositionResult, Report, StepResult, TokenLine
from specdist.model.verdict import Verdict
from specdist.reports import (
    aggregate,
    bounded_text,
    interval_text,
    joint_text,
    layout,
    page,
    path_text,
    statement_text,
)
from specdist.reports.figure_text import Numerals, bound, fraction, is_worth_a_bound
from specdist.reports.rule_text import rule_title
from specdist.reports.view import View, is_zero, plural, rounded


def header(report: Report) -> list[str]:
    """``FILE  1 step, 1 draft token, 4 tokens in vocabulary``."""
    sizes = {p.vocab_size for step in report.steps for p in step.positions}
    sizes |= {step.joint.vocab_size for step in report.steps if step.joint is not None}
    sizes |= {p.vocab_size for step in report.steps for p in step.bounded if p.vocab_size}
    counts = [plural(report.summary.steps, "step"), _drafted(report)]
    if sizes:
        least, most = min(sizes), max(sizes)
        span = str(least) if least == most else f"{least} to {most}"
        counts.append(f"{span} tokens in vocabulary")
    elif any(step.bounded for step in report.steps):
        counts.append("vocabulary of unknown size")
    name = _name(report.sources)
    line = f"{name}  {', '.join(counts)}"
    if len(line) <= page.columns():
        return [line]
    return [name, *layout.wrap(", ".join(counts), "  ", "    ")]


def _drafted(report: Report) -> str:
    """``a chain of 2 draft tokens`` where every step has that shape; else how many are drafted."""
    shapes = {None if step.joint is None else step.joint.shape for step in report.steps}
    only = next(iter(shapes), None) if len(shapes) == 1 else None
    if only is not None:
        return only if len(report.steps) == 1 else f"each {only}"
    drafted = plural(report.summary.positions, "draft token")
    return f"{drafted} on the longest paths" if shapes - {None} else drafted


def read_as(report: Report, view: View) -> list[str]:
    """What was guessed about the rows of each capture, under the header."""
    shown = report.read_as[: view.limit]
    lines = [line for text in shown for line in layout.wrap(f"read as {text}", "  ", "    ")]
    hidden = len(report.read_as) - len(shown)
    lines += [f"  ... {plural(hidden, 'more capture')} (all with -v)"] if hidden else []
    return lines + [line for text in report.in_force for line in layout.wrap(text, "  ", "    ")]


def _name(sources: Sequence[str]) -> str:
    return sources[0] if len(sources) == 1 else plural(len(sources), "capture")


def tables(report: Report, view: View) -> list[str]:
    """The masses of a single position, or one line for each of many positions; below them steps
    over conditional models, and captured paths."""
    located = [(step, position) for step in report.steps for position in step.positions]
    joint, bounded = joint_text.of(report.steps), bounded_text.of(report.steps)
    parts = (
        _positions(located, view, alone=not joint and not bounded) if located else [],
        bounded_text.tables(bounded, view, alone=not joint and not located) if bounded else [],
        bounded_text.bonus_lines(report.steps, view),
        joint_text.tables(joint, view, alone=not located and not bounded) if joint else [],
        paths(report, view),
    )
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


def paths(report: Report, view: View) -> list[str]:
    """What the paths of captured blocks determine; also where a position failed."""
    found = path_text.of(report.steps)
    return path_text.tables(found, view) if found else []


def _positions(
    located: Sequence[tuple[StepResult, PositionResult]], view: View, alone: bool
) -> list[str]:
    if len(located) == 1:
        head = [] if alone else [f"  step {located[0][0].id}, position {located[0][1].index}"]
        return head + masses(located[0][1], view)
    if not view.verbose:
        return _position_table(located, view)
    lines: list[str] = []
    for step, position in located:
        rate = view.numerals.rate(position.acceptance_rate)
        lines += ["", f"step {step.id}, position {position.index}: acceptance rate {rate}"]
        lines += masses(position, view)
    return lines


def masses(position: PositionResult, view: View) -> list[str]:
    """The masses of every shown token, with their sums when no token is left out."""
    ranked = sorted(position.tokens, key=lambda token: (-token.reference.approx, token.id))
    shown = ranked[: view.limit]
    hidden = position.vocab_size - len(shown)
    columns = ("reference", "drafted", "accepted", "recovered", "output", "difference")

    def build(numerals: Numerals, digits: int, gap: int) -> list[str]:
        number = numerals.number
        rows = [
            [
                layout.token(token.text, token.id, position.vocab_size > 64),
                *(number(getattr(token, column), digits) for column in columns),
            ]
            for token in shown
        ]
        if not hidden:
            accepted = number(position.acceptance_rate, digits)
            recovered = number(position.recovered_mass, digits)
            rows.append(["sum", "1", "1", accepted, recovered, "1", ""])
        return layout.table(["token", *columns], rows, gap=gap)

    lines, wide = view.table(build, page.columns() - 2)
    if hidden:
        lines.append(f"... {plural(hidden, 'more token')}")
    if wide:
        lines += exact_list([(token, columns) for token in shown], position.vocab_size > 64)
    return [f"  {line}" for line in lines]


def exact_list(
    tokens: Sequence[tuple[TokenLine | BonusToken, Sequence[str]]], with_id: bool
) -> list[str]:
    """The exact values that are too long for a table, one a line."""
    lines = ["", "exact values"]
    for token, columns in tokens:
        for column in columns:
            figure: Figure = getattr(token, column)
            if figure.exact is None or Numerals().is_fraction(figure):
                continue
            name = layout.token(token.text, token.id, with_id)
            lines.append(f"{name}  {column}  {fraction(figure.exact)}")
    return lines


def _position_table(located: Sequence[tuple[StepResult, PositionResult]], view: View) -> list[str]:
    shown = located[: view.limit]
    with_bound = any(is_worth_a_bound(p.acceptance_rate) for _, p in shown)
    rows = []
    for step, position in shown:
        row = [step.id, str(position.index), view.numerals.number(position.acceptance_rate, 10)]
        if with_bound:
            row.append(bound(position.acceptance_rate.bound))
        rows.append([*row, view.numerals.number(position.total_variation), position.verdict.value])
    titles = ["step", "position", "acceptance rate"] + (["within"] if with_bound else [])
    lines = layout.table([*titles, "total variation", "verdict"], rows)
    hidden = len(located) - len(shown)
    if hidden:
        lines.append(f"... {plural(hidden, 'more position')} (all with -v or --format json)")
    return [f"  {line}" for line in lines]


def verdict_lines(report: Report, view: View, passed: bool) -> list[str]:
    """What was proven, by which arithmetic, and the rates with their bounds. The label is "ok"
    only when nothing else (a missed floor, an unreadable file) fails the run."""
    word, style = ("ok:", "good") if passed else ("equal:", "name")
    first, *rest = layout.wrap(f"{word} {claim(report, view)}", "", "    ")
    lines = [view.paint(style, word) + first[len(word) :], *rest]
    lines += _rates(report, view)
    lines += statement_text.lines(report, view)
    if len(report.steps) == 1:
        lines += aggregate.of_the_step(report.steps[0], view)
    if aggregate.has_blocks(report):
        lines += _indented(aggregate.NO_LENGTH)
    rejected = [p.rejected_mass for step in report.steps for p in step.positions]
    if rejected and all(map(is_zero, rejected)) and not bounded_text.of(report.steps):
        lines += _indented("a rejection has probability 0, so the residual is unreachable")
    if any(step.bonus or step.bounded_bonus for step in report.steps):
        lines += _indented("bonus rows compared as well")
    return lines


def _rates(report: Report, view: View) -> list[str]:
    summary = report.summary
    bounds = summary.acceptance_bounds
    if bounds is not None:
        rate = interval_text.rate(bounds, view.numerals)
    elif summary.acceptance_rate is not None:
        only = report.steps[0].positions if summary.positions == 1 else ()
        rate = view.numerals.rate(only[0].acceptance_rate if only else summary.acceptance_rate)
    else:
        return []
    rules = ", ".join(dict.fromkeys(rule_title(step.rule) for step in report.steps))
    lines = _joined(f"rule {rules}", f"acceptance rate {rate}{aggregate.mean_over(report)}")
    best = aggregate.several_drafts(report, view)
    return lines + (_indented(best) if best else [])


def _joined(left: str, right: str) -> list[str]:
    line = f"    {left}    {right}"
    return [line] if len(line) <= page.columns() else _indented(left) + _indented(right)


def _indented(text: str) -> list[str]:
    return layout.wrap(text, "    ")


def claim(report: Report, view: View) -> str:
    """What a run without a counter-example has proven, and by which arithmetic."""
    if report.verdict is Verdict.WITHIN_TOLERANCE:
        tolerance = report.settings.get("max-tv")
        named = "" if tolerance is None else f" {tolerance}"
        largest = aggregate.largest_line(report, view)
        return f"output is within the declared tolerance{named} of the reference; {largest}"
    if report.summary.different:
        return "every difference was allowed; the rest equals the reference exactly"
    rates = [p.acceptance_rate for step in report.steps for p in step.positions]
    if rates and all(rate.symbolic for rate in rates):
        return "output equals the reference exactly (closed forms, no tolerance)"
    if rounded(report):
        return "output equals the reference exactly (shared weights, no tolerance)"
    return "output equals the reference exactly (rational arithmetic, no tolerance)"
