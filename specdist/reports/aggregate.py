"""What all positions of a run come to: the largest difference, the mean rate, counts by ident."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from specdist.model.figure import Figure
from specdist.model.finding import Finding
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.model.report import Report, StepResult
from specdist.reports import interval_text, joint_text, layout, statement_text
from specdist.reports.view import View, inner_place, plural

NO_LENGTH = "no mean acceptance length: rows along one path do not determine it"
_BONUS = -1


def size_of(step: StepResult, finding: Finding) -> float:
    """The total variation of what a finding is about; that of the whole step without a place."""
    figure = variation_at(step, finding.position)
    return figure.approx if figure is not None else largest_of(step)


def variation_at(step: StepResult, position: int | None) -> Figure | None:
    """The total variation at a position or, below 0, of the bonus row; None without a place. Over
    conditional models a step without a place is its whole output."""
    return next((figure for at, figure in _variations(step) if at == position), None)


def size_text(step: StepResult, position: int | None, view: View) -> str:
    """``: total variation 1/16 = 0.0625``, an interval where rows are known in part; empty without
    a place."""
    part = bounds_at(step, position)
    if part is not None:
        text = f": total variation {interval_text.rate(part.total_variation, view.numerals)}"
        if isinstance(part, BoundedPosition):
            text += f", acceptance {interval_text.rate(part.acceptance_rate, view.numerals)}"
        return text
    figure = variation_at(step, position)
    return "" if figure is None else f": total variation {view.numerals.rate(figure)}"


def largest_of(step: StepResult) -> float:
    """The largest total variation of a step."""
    return max((figure.approx for _, figure in _variations(step)), default=0.0)


def largest_variation(step: StepResult) -> Figure | None:
    """The largest total variation of a step as it is reported; None without a figure."""
    return max((figure for _, figure in _variations(step)), key=_value, default=None)


def bounds_at(step: StepResult, position: int | None) -> BoundedPosition | BoundedBonus | None:
    """What is known in part at a position or, below 0, of the bonus row."""
    if position == _BONUS:
        return step.bounded_bonus
    return next((part for part in step.bounded if part.index == position), None)


def largest_line(report: Report, view: View) -> str:
    """``largest total variation 1/16 = 0.0625 (step 0, position 0)``; empty without a figure."""
    bounds = report.summary.variation_bounds
    if bounds is not None:
        return f"largest total variation {interval_text.rate(bounds, view.numerals)}"
    found: list[tuple[Fraction, Figure, str]] = [
        (_value(figure), figure, f"step {step.id}{inner_place(at)}")
        for step in report.steps
        for at, figure in _variations(step)
        if step.joint is None or at is None
    ]
    if not found:
        return ""
    _, figure, where = max(found, key=lambda item: item[0])
    return f"largest total variation {view.numerals.rate(figure)} ({where})"


def lines(report: Report, view: View) -> list[str]:
    """The block below the findings of a run that failed or is undecided, when it has several
    positions; a run that passed says the same with its claim."""
    counts = report.summary
    alone = counts.steps == 1 and any(step.joint is not None for step in report.steps)
    if counts.positions < 2 and not alone:
        return []
    path = on_longest_path(counts.steps) if any(map(_branches, report.steps)) else ""
    size = f"{plural(counts.positions, _unit(report))}{path}"
    found = [f"over {plural(counts.steps, 'step')}, {size}"]
    facts = [] if alone else [largest_line(report, view)]
    mean = "" if alone else "mean "
    if counts.acceptance_bounds is not None:
        rate = interval_text.rate(counts.acceptance_bounds, view.numerals)
        facts.append(f"mean acceptance rate {rate}")
    elif counts.acceptance_rate is not None:
        facts.append(f"{mean}acceptance rate {view.numerals.rate(counts.acceptance_rate)}")
    facts.append(several_drafts(report, view))
    if has_blocks(report):
        facts.append(NO_LENGTH)
    facts += [] if alone else [_idents(report)]
    for fact in filter(None, facts):
        found += layout.wrap(fact, "    ", "        ")
    if alone:
        found += of_the_step(report.steps[0], view)
    return [*found, *statement_text.lines(report, view), ""]


def several_drafts(report: Report, view: View) -> str:
    """What more drafts a position could reach at best; empty unless it was asked for."""
    best = report.summary.drafts_optimum
    several = [p.several for step in report.steps for p in step.positions if p.several is not None]
    if best is None or not several:
        return ""
    mean = ", mean over positions" if report.summary.positions > 1 else ""
    return (
        f"{several[0].count} drafts a position ({several[0].siblings}): any lossless rule accepts "
        f"one of them with probability {view.numerals.rate(best)} at most{mean}"
    )


def has_blocks(report: Report) -> bool:
    """Whether a step has several positions, so that its mean acceptance length is unknown."""
    return any(len(step.positions) + len(step.bounded) > 1 for step in report.steps)


def _idents(report: Report) -> str:
    counts = Counter(finding.ident for step in report.steps for finding in step.findings)
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return "findings: " + ", ".join(f"{count} {ident}" for ident, count in ranked) if ranked else ""


def of_the_step(step: StepResult, view: View) -> list[str]:
    """The mean acceptance length of a step, and its figures over conditional models."""
    lines: list[str] = []
    if step.mean_acceptance_length is not None:
        length = view.numerals.rate(step.mean_acceptance_length)
        lines += layout.wrap(f"mean acceptance length {length}, bonus token included", "    ")
    if step.length_bounds is not None:
        length = interval_text.rate(step.length_bounds, view.numerals)
        lines += layout.wrap(f"mean acceptance length {length}, bonus token included", "    ")
    return lines if step.joint is None else lines + joint_text.figure_lines(step, step.joint, view)


def mean_over(report: Report) -> str:
    """What a mean acceptance rate is the mean of; empty for a single rate. A step over conditional
    models counts for the draft tokens of its longest path."""
    counted = report.summary.positions
    if counted < 2:
        return ""
    joint = report.steps[0].joint if report.summary.steps == 1 else None
    if joint is None:
        return f", mean over {counted} {_unit(report)}s"
    chain = joint.nodes == joint.depth
    return f" of {counted} draft tokens" if chain else f" of the {counted} on the longest path"


def on_longest_path(steps: int) -> str:
    """What draft tokens of trees are counted on."""
    return " on the longest path" if steps == 1 else " on their longest paths"


def _branches(step: StepResult) -> bool:
    return step.joint is not None and step.joint.nodes > step.joint.depth


def _unit(report: Report) -> str:
    return "position" if all(step.joint is None for step in report.steps) else "draft token"


def _variations(step: StepResult) -> Iterator[tuple[int | None, Figure]]:
    joint = step.joint
    if joint is not None:
        yield None, joint.total_variation
        yield from ((place.index, place.total_variation) for place in joint.marginals)
        if joint.bonus is not None:
            yield _BONUS, joint.bonus.total_variation
    for position in step.positions:
        yield position.index, position.total_variation
    if step.bonus is not None:
        yield _BONUS, step.bonus.total_variation
    for part in step.bounded:
        yield part.index, Figure.of(part.total_variation.least)
    if step.bounded_bonus is not None:
        yield _BONUS, Figure.of(step.bounded_bonus.total_variation.least)


def _value(figure: Figure) -> Fraction:
    return Fraction(figure.approx) if figure.exact is None else figure.exact
