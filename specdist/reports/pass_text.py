"""Steps without a counter-example as text: one small table, or a line a position."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.model.report import PositionResult, Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import layout
from specdist.reports.figure_text import bound
from specdist.reports.view import View, is_zero, plural, rounded, rule_title


def header(report: Report) -> list[str]:
    """``FILE  1 step, 1 draft token, 4 tokens in vocabulary``."""
    sizes = sorted({p.vocab_size for step in report.steps for p in step.positions})
    counts = [plural(report.summary.steps, "step")]
    counts.append(plural(report.summary.positions, "draft token"))
    if sizes:
        span = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        counts.append(f"{span} tokens in vocabulary")
    name = _name(report.sources)
    line = f"{name}  {', '.join(counts)}"
    return [line] if len(line) <= layout.WIDTH else [name, f"  {', '.join(counts)}"]


def _name(sources: Sequence[str]) -> str:
    return sources[0] if len(sources) == 1 else plural(len(sources), "capture")


def tables(report: Report, view: View) -> list[str]:
    """The masses of a single position, or one line for each of many positions."""
    located = [(step, position) for step in report.steps for position in step.positions]
    if not located:
        return []
    if len(located) == 1:
        return masses(located[0][1], view)
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
    number = view.numerals.number
    columns = ("reference", "drafted", "accepted", "recovered", "output", "difference")

    def build(digits: int, gap: int) -> list[str]:
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

    lines = [f"  {line}" for line in layout.fitted(build, layout.WIDTH - 2)]
    return lines + ([f"  ... {plural(hidden, 'more token')}"] if hidden else [])


def _position_table(located: Sequence[tuple[StepResult, PositionResult]], view: View) -> list[str]:
    shown = located[: view.limit]
    with_bound = any(p.acceptance_rate.bound is not None for _, p in shown)
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
    label = view.paint("good", "ok:") if passed else "equal:"
    lines = [f"{label} {_claim(report)}"]
    summary = report.summary
    if summary.acceptance_rate is not None:
        only = report.steps[0].positions if summary.positions == 1 else ()
        rate = view.numerals.rate(only[0].acceptance_rate if only else summary.acceptance_rate)
        mean = f", mean over {summary.positions} positions" if summary.positions > 1 else ""
        rules = ", ".join(dict.fromkeys(rule_title(step.rule) for step in report.steps))
        lines += _joined(f"rule {rules}", f"acceptance rate {rate}{mean}")
    if len(report.steps) == 1 and (length := report.steps[0].mean_acceptance_length) is not None:
        lines += _indented(
            f"mean acceptance length {view.numerals.rate(length)}, bonus token included"
        )
    if all(is_zero(p.rejected_mass) for step in report.steps for p in step.positions):
        lines += _indented("a rejection has probability 0, so the residual is unreachable")
    if any(step.bonus is not None for step in report.steps):
        lines += _indented("bonus rows compared as well")
    return lines


def _joined(left: str, right: str) -> list[str]:
    line = f"    {left}    {right}"
    return [line] if len(line) <= layout.WIDTH else _indented(left) + _indented(right)


def _indented(text: str) -> list[str]:
    return layout.wrap(text, "    ")


def _claim(report: Report) -> str:
    if report.verdict is Verdict.WITHIN_TOLERANCE:
        return "output is within the declared tolerance of the reference"
    if report.summary.different:
        return "every difference was allowed; the rest equals the reference exactly"
    if all(p.acceptance_rate.symbolic for step in report.steps for p in step.positions):
        return "output equals the reference exactly (closed forms, no tolerance)"
    if rounded(report):
        return "output equals the reference exactly (shared weights, no tolerance)"
    return "output equals the reference exactly (rational arithmetic, no tolerance)"
