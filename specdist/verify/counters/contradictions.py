"""`metric-mismatch`: counts that contradict each other, figures that are not what they say."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.counters import CounterFigure, Counters, Reported
from specdist.model.finding import Finding, Severity
from specdist.verify.counters.figures import at_least, completed, figures
from specdist.verify.wording import written


def contradictions(counters: Counters) -> tuple[Finding, ...]:
    """One finding for each contradiction inside one source."""
    found = [*_counts(counters), *_reported(counters)]
    return tuple(
        Finding("metric-mismatch", Severity.ERROR, f"{counters.source}: {message}", notes=notes)
        for message, notes in found
    )


Said = tuple[str, tuple[str, ...]]


def _counts(counters: Counters) -> Iterator[Said]:
    full = completed(counters)
    for what, ours, theirs in _twice(counters):
        if ours is not None and theirs is not None and ours != theirs:
            yield f"{what}: {ours} and {theirs}", ()
    if _above(full.accepted, full.draft_tokens):
        yield (
            f"{full.accepted} accepted of {full.draft_tokens} draft tokens",
            ("bonus tokens are written, they are not accepted draft tokens",),
        )
    yield from _falling(full)
    if full.step_accepted is not None and full.step_drafted is not None:
        yield from _by_step(full.step_accepted, full.step_drafted)
    if full.draft_length is not None and full.steps is not None:
        most = full.steps * full.draft_length
        if _above(full.draft_tokens, most):
            yield (
                f"{full.draft_tokens} draft tokens in {full.steps} steps of at most "
                f"{full.draft_length}",
                (),
            )


def _above(count: int | None, most: int | None) -> bool:
    return count is not None and most is not None and count > most


def _twice(counters: Counters) -> Iterator[tuple[str, object, object]]:
    """Numbers that two counts of one source determine."""
    histogram, steps, at = counters.histogram, counters.step_accepted, counters.accepted_at
    if histogram is not None:
        total = sum(i * n for i, n in enumerate(histogram))
        yield "steps, and the sum of the histogram", counters.steps, sum(histogram)
        yield "accepted, and the histogram's", counters.accepted, total
        if at is not None:
            width = max(len(at), len(histogram) - 1)
            theirs = at_least(histogram) + (0,) * (width - len(histogram) + 1)
            yield "by position, and by histogram", at + (0,) * (width - len(at)), theirs
    if steps is not None:
        yield "steps, and the steps listed", counters.steps, len(steps)
        yield "accepted, and the sum over steps", counters.accepted, sum(steps)
        if histogram is not None:
            most = max([*steps, len(histogram) - 1])
            tally = tuple(steps.count(i) for i in range(most + 1))
            yield "histogram, and the steps listed", _wide(histogram, most + 1), tally
    if counters.step_drafted is not None:
        drafted = sum(counters.step_drafted)
        yield "draft tokens, and the sum over steps", counters.draft_tokens, drafted
    if at is not None:
        yield "accepted, and the sum over positions", counters.accepted, sum(at)


def _wide(histogram: tuple[int, ...], width: int) -> tuple[int, ...]:
    return histogram + (0,) * (width - len(histogram))


def _falling(full: Counters) -> Iterator[Said]:
    """No position is accepted more often than the one before it, nor the first than steps."""
    before, what = full.steps, "steps"
    for position, number in enumerate(full.accepted_at or ()):
        if before is not None and number > before:
            yield (
                f"position {position} is accepted {number} times, after {before} {what}",
                ("a position counts only while all positions before it are accepted",),
            )
        before, what = number, f"at position {position}"


def _by_step(accepted: tuple[int, ...], drafted: tuple[int, ...]) -> Iterator[Said]:
    if len(accepted) != len(drafted):
        yield f"{len(accepted)} steps of accepted and {len(drafted)} of draft tokens", ()
        return
    for index, (ours, most) in enumerate(zip(accepted, drafted, strict=True)):
        if ours > most:
            yield f"step {index} accepts {ours} of {most} draft tokens", ()


def _reported(counters: Counters) -> Iterator[Said]:
    found = figures(counters)
    for item in counters.reported:
        ours = [figure for figure in found if figure.rate is item.rate]
        if counters.interval_only or not ours:
            continue
        if len(item.values) > len(ours):
            if any(item.values[len(ours) :]):
                yield f"{item.name} has {len(item.values)} values, the counts {len(ours)}", ()
            continue
        for value, half, figure in zip(item.values, item.half_units, ours, strict=False):
            if abs(value - figure.value) > half:
                where = "" if figure.position is None else f" at position {figure.position}"
                yield (
                    f"{item.name}{where} says {float(value):.6g}, the counts give "
                    f"{written(figure.value)}",
                    (f"{item.name} is defined as {item.rate.value}", *_other(item, found)),
                )


def _other(item: Reported, found: tuple[CounterFigure, ...]) -> tuple[str, ...]:
    """The definition under which the reported figure would be right, if there is one."""
    for figure in found:
        if (
            figure.rate is not item.rate
            and abs(item.values[0] - figure.value) <= item.half_units[0]
        ):
            return (f"the figure is that of another definition: {figure.rate.value}",)
    return ()
