"""What an audit has to say, as findings under the idents of every other report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdist.audit.judge import ROUNDING
from specdist.model.audit_report import Smallest, TableResult
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.verdict import Verdict

REUSED = "reused randomness"
"""How notes begin that tell of random numbers which are used again."""


@dataclass(frozen=True)
class Wording:
    """``right`` is what the law is held against; ``probed`` figures are never written as exact;
    ``dtype`` is the format of the rows."""

    right: str = "the target"
    probed: bool = False
    dtype: str = "float32"

    def figure(self, figure: Figure) -> str:
        """Short fractions as they are, other numbers with six digits."""
        exact = figure.exact
        if exact is not None and exact.denominator <= 9999 and not self.probed:
            return str(exact)
        return f"{figure.approx:.6g}"

    def row(self, row: Sequence[Figure]) -> str:
        """A law, in parentheses."""
        return f"({', '.join(map(self.figure, row))})"


def findings_of(
    results: Sequence[TableResult],
    smallest: Smallest | None,
    words: Wording,
    notes: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """The findings, errors first. ``notes`` are those of the runs."""
    found: list[Finding] = []
    differing = [result for result in results if result.verdict is Verdict.DIFFERENT]
    if differing:
        found.append(_output(differing, smallest, words))
    raising = [result for result in results if result.raised]
    if raising:
        found.append(_raises(raising, words))
    drafted = _drafted(results, words)
    if drafted is not None:
        found.append(drafted)
    leaks = [result for result in results if result.outside.exact]
    if leaks:
        found.append(_outside(leaks, words))
    found += _undecided(results)
    found += [
        Finding("reused-randomness", Severity.NOTE, note)
        for note in notes
        if note.startswith(REUSED)
    ]
    if not differing:
        found += _rounded(results)
    return tuple(found)


def _rounded(results: Sequence[TableResult]) -> list[Finding]:
    """What float arithmetic makes of a lossless rule; a probe has its bound instead."""
    near = [r for r in results if r.verdict is Verdict.WITHIN_TOLERANCE and r.bound is None]
    if not near:
        return []
    worst = max(near, key=lambda result: result.total_variation.approx)
    message = (
        f"float rounding: total variation {worst.total_variation.approx:.3g} at most "
        f"({worst.name}), below 2^-20"
    )
    return [Finding("numeric-rounding", Severity.NOTE, message)]


def _output(differing: Sequence[TableResult], smallest: Smallest | None, words: Wording) -> Finding:
    worst = max(differing, key=lambda result: result.total_variation.approx)
    named = next((result.resembles for result in differing if result.resembles), ())
    notes = [f"first token alone: total variation {words.figure(worst.first_variation)}"]
    if smallest is not None:
        notes.append(
            f"smallest case: {smallest.vocab} tokens, {smallest.gamma} draft "
            f"token{'s' if smallest.gamma > 1 else ''}, {smallest.steps} "
            f"step{'s' if smallest.steps > 1 else ''} ({smallest.table}): total variation "
            f"{words.figure(smallest.total_variation)}"
        )
    if words.dtype in ("float16", "bfloat16"):
        notes.append(
            f"rows are {words.dtype}: the rounding of this format counts as a difference; a rule "
            "that is right passes with --dtype float32"
        )
    return Finding(
        "output-mismatch",
        Severity.ERROR,
        f"the joint law of {worst.length} tokens differs from {words.right}'s: total variation "
        f"{words.figure(worst.total_variation)} ({worst.name})",
        notes=tuple(notes),
        cause=named,
    )


def _undecided(results: Sequence[TableResult]) -> list[Finding]:
    """What a budget left, and what a probe's bound hides."""
    left = [result for result in results if result.unexplored is not None]
    hidden = [r for r in results if r.verdict is Verdict.UNDECIDED and r.unexplored is None]
    found = [_left(left)] if left else []
    return [*found, _hidden(hidden)] if hidden else found


def _left(left: Sequence[TableResult]) -> Finding:
    worst = max(left, key=lambda result: _size(result.unexplored))
    if worst.leaves:
        message = (
            f"the budget of {worst.leaves} leaves left a probability of "
            f"{_size(worst.unexplored):.3g} unexplored ({worst.name})"
        )
        note = "V^(g+1) (1 + g/4) leaves a step at most, and steps multiply"
    else:
        message = f"the probe came to no law within its budget of runs ({worst.name})"
        note = "a probe takes 30 to 100 runs a leaf"
    advice = f"{note}: fewer tokens, draft tokens or steps, or a higher --budget"
    return Finding("undecided-budget", Severity.WARNING, message, notes=(advice,))


def _hidden(hidden: Sequence[TableResult]) -> Finding:
    worst = max(hidden, key=lambda result: result.total_variation.approx)
    bound = _size(worst.bound)
    if (worst.total_variation.exact or 0) > ROUNDING:
        message = (
            f"a total variation of {worst.total_variation.approx:.3g} is within the bound of the "
            f"probe, {bound:.3g} ({worst.name})"
        )
    else:
        message = f"a bound of {bound:.3g} leaves too much open ({worst.name})"
    advice = "more --replays make the bound smaller: it is ln(1/delta)/n"
    return Finding("undecided-precision", Severity.WARNING, message, notes=(advice,))


def _size(figure: Figure | None) -> float:
    return 0.0 if figure is None else figure.approx


def _raises(raising: Sequence[TableResult], words: Wording) -> Finding:
    worst = max(raising, key=lambda result: result.raised[0].mass.approx)
    first = worst.raised[0]
    return Finding(
        "output-mismatch",
        Severity.ERROR,
        f"raises with probability {words.figure(first.mass)} ({worst.name}): {first.error}",
        notes=(first.place,) if first.place else (),
    )


def _drafted(results: Sequence[TableResult], words: Wording) -> Finding | None:
    lines = [(result, result.draft) for result in results if result.draft is not None]
    off = [(result, line) for result, line in lines if (line.total_variation.exact or 0) > ROUNDING]
    if not off:
        return None
    result, line = max(off, key=lambda item: item[1].total_variation.approx)
    one_hot = max(figure.approx for figure in line.drawn) == 1
    notes = [
        f"drafted from {words.row(line.drawn)}",
        f"handed to the test {words.row(line.handed)}",
    ]
    if one_hot:
        notes.append("the draft is deterministic, and a whole row is handed to the test")
    severity = Severity.ERROR if result.verdict is Verdict.DIFFERENT else Severity.NOTE
    return Finding(
        "drafted-mismatch",
        severity,
        "draft tokens are not drawn from the row that the test is given: total variation "
        f"{words.figure(line.total_variation)} after tokens {list(line.prefix)} ({result.name})",
        notes=tuple(notes),
    )


def _outside(leaks: Sequence[TableResult], words: Wording) -> Finding:
    worst = max(leaks, key=lambda result: result.outside.approx)
    loud = (worst.outside.exact or 0) > ROUNDING
    return Finding(
        "impossible-token",
        Severity.ERROR if loud else Severity.WARNING,
        f"sequences that {words.right} cannot emit have probability {words.figure(worst.outside)} "
        f"({worst.name})",
        notes=() if loud else ("no rounding: a grammar or a ban would be broken at this rate",),
    )
