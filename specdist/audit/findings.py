"""What an audit has to say, as findings under the idents of every other report."""

from __future__ import annotations

from collections.abc import Sequence

from specdist.audit.context import Setup
from specdist.audit.judge import ROUNDING
from specdist.model.audit_report import Smallest, TableResult
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.verdict import Verdict


def findings_of(
    results: Sequence[TableResult], smallest: Smallest | None, setup: Setup
) -> tuple[Finding, ...]:
    """The findings, errors first."""
    found: list[Finding] = []
    differing = [result for result in results if result.verdict is Verdict.DIFFERENT]
    if differing:
        found.append(_output(differing, smallest))
    raising = [result for result in results if result.raised]
    if raising:
        found.append(_raises(raising))
    drafted = _drafted(results)
    if drafted is not None:
        found.append(drafted)
    leaks = [result for result in results if result.outside.exact]
    if leaks:
        found.append(_outside(leaks))
    found += _undecided(results)
    rounded = [
        result
        for result in results
        if result.verdict is Verdict.WITHIN_TOLERANCE and result.bound is None
    ]
    if rounded and not differing:
        worst = max(rounded, key=lambda result: result.total_variation.approx)
        found.append(
            Finding(
                "numeric-rounding",
                Severity.NOTE,
                f"float rounding: total variation {worst.total_variation.approx:.3g} at most "
                f"({worst.name}), below 2^-20",
            )
        )
    return tuple(found)


def _output(differing: Sequence[TableResult], smallest: Smallest | None) -> Finding:
    worst = max(differing, key=lambda result: result.total_variation.approx)
    named = next((result.resembles for result in differing if result.resembles), ())
    notes = [f"first token alone: total variation {_written(worst.first_variation)}"]
    if smallest is not None:
        notes.append(
            f"smallest case: {smallest.vocab} tokens, {smallest.gamma} draft "
            f"token{'s' if smallest.gamma > 1 else ''}, {smallest.steps} "
            f"step{'s' if smallest.steps > 1 else ''} ({smallest.table}): total variation "
            f"{_written(smallest.total_variation)}"
        )
    return Finding(
        "output-mismatch",
        Severity.ERROR,
        f"the joint law of {worst.length} tokens differs from the target's: total variation "
        f"{_written(worst.total_variation)} ({worst.name})",
        notes=tuple(notes),
        cause=named,
    )


def _undecided(results: Sequence[TableResult]) -> list[Finding]:
    """What a budget left, and what a probe's bound hides."""
    found = []
    left = [result for result in results if result.unexplored is not None]
    if left:
        worst = max(left, key=lambda result: _size(result.unexplored))
        found.append(
            Finding(
                "undecided-budget",
                Severity.WARNING,
                f"the budget of {worst.leaves} leaves left a probability of "
                f"{_size(worst.unexplored):.3g} unexplored ({worst.name})",
                notes=(
                    "V^(g+1) (1 + g/4) leaves a step at most, and steps multiply: fewer "
                    "tokens, draft tokens or steps, or a higher --budget",
                ),
            )
        )
    hidden = [r for r in results if r.verdict is Verdict.UNDECIDED and r.unexplored is None]
    if hidden:
        worst = max(hidden, key=lambda result: result.total_variation.approx)
        found.append(
            Finding(
                "undecided-precision",
                Severity.WARNING,
                f"a total variation of {worst.total_variation.approx:.3g} is within the bound of "
                f"the probe, {_size(worst.bound):.3g} ({worst.name})",
                notes=("more --replays make the bound smaller: it is ln(1/delta)/n",),
            )
        )
    return found


def _size(figure: Figure | None) -> float:
    return 0.0 if figure is None else figure.approx


def _raises(raising: Sequence[TableResult]) -> Finding:
    worst = max(raising, key=lambda result: result.raised[0].mass.approx)
    first = worst.raised[0]
    return Finding(
        "output-mismatch",
        Severity.ERROR,
        f"raises with probability {_written(first.mass)} ({worst.name}): {first.error}",
        notes=(first.place,) if first.place else (),
    )


def _drafted(results: Sequence[TableResult]) -> Finding | None:
    lines = [(result, result.draft) for result in results if result.draft is not None]
    off = [(result, line) for result, line in lines if (line.total_variation.exact or 0) > ROUNDING]
    if not off:
        return None
    result, line = max(off, key=lambda item: item[1].total_variation.approx)
    row = ", ".join(map(_written, line.handed))
    drawn = ", ".join(map(_written, line.drawn))
    one_hot = max(figure.approx for figure in line.drawn) == 1
    notes = [f"drafted from ({drawn})", f"handed to the test ({row})"]
    if one_hot:
        notes.append("the draft is deterministic, and a whole row is handed to the test")
    severity = Severity.ERROR if result.verdict is Verdict.DIFFERENT else Severity.NOTE
    return Finding(
        "drafted-mismatch",
        severity,
        "draft tokens are not drawn from the row that the test is given: total variation "
        f"{_written(line.total_variation)} after tokens {list(line.prefix)} ({result.name})",
        notes=tuple(notes),
    )


def _outside(leaks: Sequence[TableResult]) -> Finding:
    worst = max(leaks, key=lambda result: result.outside.approx)
    loud = (worst.outside.exact or 0) > ROUNDING
    return Finding(
        "impossible-token",
        Severity.ERROR if loud else Severity.WARNING,
        f"sequences that the target cannot emit have probability {_written(worst.outside)} "
        f"({worst.name})",
        notes=() if loud else ("no rounding: a grammar or a ban would be broken at this rate",),
    )


def _written(figure: Figure) -> str:
    exact = figure.exact
    if exact is not None and exact.denominator <= 9999:
        return str(exact)
    return f"{figure.approx:.6g}"
