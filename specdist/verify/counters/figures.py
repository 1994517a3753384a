"""What follows from counts: every figure with its definition, nothing from what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from specdist.model.counters import CounterFigure, Counters, Rate


def completed(counters: Counters) -> Counters:
    """The counters with what their finer counts determine filled in: steps, accepted and drafted
    tokens, histogram and counts by position from the list of steps or from the histogram."""
    found = counters
    if found.step_accepted is not None:
        found = _filled(found, steps=len(found.step_accepted), accepted=sum(found.step_accepted))
        if found.histogram is None and found.step_accepted:
            most = max(found.step_accepted)
            tally = tuple(found.step_accepted.count(i) for i in range(most + 1))
            found = replace(found, histogram=tally)
    if found.step_drafted is not None:
        found = _filled(found, draft_tokens=sum(found.step_drafted))
    if found.histogram is not None:
        total = sum(i * number for i, number in enumerate(found.histogram))
        found = _filled(found, steps=sum(found.histogram), accepted=total)
        if found.accepted_at is None:
            found = replace(found, accepted_at=at_least(found.histogram or ()))
    if found.accepted_at is None:
        found = replace(found, accepted_at=_from_rates(found))
    if found.accepted_at is not None:
        found = _filled(found, accepted=sum(found.accepted_at))
    return found


def _from_rates(found: Counters) -> tuple[int, ...] | None:
    """The counts by position that the stated shares of the steps are, where they are some."""
    stated = next((item for item in found.reported if item.rate is Rate.UNCONDITIONAL), None)
    if stated is None or not found.steps or found.interval_only:
        return None
    near = tuple(round(value * found.steps) for value in stated.values)
    pairs = zip(near, stated.values, stated.half_units, strict=True)
    fits = all(
        abs(count - value * found.steps) <= half * found.steps for count, value, half in pairs
    )
    sure = all(2 * half * found.steps < 1 for half in stated.half_units)
    return near if fits and sure else None


def at_least(histogram: tuple[int, ...]) -> tuple[int, ...]:
    """``sum of histogram[j] over j > i`` for every position i."""
    return tuple(sum(histogram[i + 1 :]) for i in range(len(histogram) - 1))


def difference(after: Counters, before: Counters) -> Counters:
    """What was counted between two scrapes. Raises ValueError where a counter has fallen."""

    def less(new: int | None, old: int | None) -> int | None:
        if new is None or old is None:
            return None
        if new < old:
            raise ValueError("a counter has fallen between the two scrapes")
        return new - old

    later, earlier = after.accepted_at or (), before.accepted_at or ()
    padded = (*earlier, *[0] * (len(later) - len(earlier)))
    by_position = tuple(less(a, b) or 0 for a, b in zip(later, padded, strict=False))
    return replace(
        after,
        title=f"{after.title}, less those of {before.source}",
        steps=less(after.steps, before.steps),
        draft_tokens=less(after.draft_tokens, before.draft_tokens),
        accepted=less(after.accepted, before.accepted),
        accepted_at=by_position or None,
        reported=(),
    )


def figures(counters: Counters) -> tuple[CounterFigure, ...]:
    """Every rate that the counts determine."""
    return tuple(_figures(completed(counters)))


def _figures(found: Counters) -> Iterator[CounterFigure]:
    accepted, steps = found.accepted, found.steps
    if accepted is not None and found.draft_tokens:
        share = Fraction(accepted, found.draft_tokens)
        yield CounterFigure(Rate.ACCEPTED_OF_DRAFTED, share)
    if accepted is not None and steps:
        yield CounterFigure(Rate.ACCEPTED_A_STEP, Fraction(accepted, steps))
        yield CounterFigure(Rate.EMITTED_A_STEP, 1 + Fraction(accepted, steps))
        if found.draft_length:
            most = steps * found.draft_length
            yield CounterFigure(Rate.OF_CONFIGURED, Fraction(accepted, most))
    if found.written is not None and steps:
        yield CounterFigure(Rate.TOKENS_A_STEP, Fraction(found.written, steps))
    if found.accepted_at and steps:
        yield CounterFigure(Rate.FIRST_ACCEPTED, Fraction(found.accepted_at[0], steps))
        reached = _reached(found, steps, found.accepted_at)
        for position, number in enumerate(found.accepted_at):
            yield CounterFigure(Rate.UNCONDITIONAL, Fraction(number, steps), position)
            if reached[position]:
                share = Fraction(number, reached[position])
                yield CounterFigure(Rate.CONDITIONAL, share, position)
    yield from _geometric(found)


def _reached(found: Counters, steps: int, accepted_at: tuple[int, ...]) -> list[int]:
    """The steps that test a draft token at each position; 0 where that is none, or not known
    because drafts differ in length and are not listed."""
    width = len(accepted_at)
    if found.step_accepted is not None and found.step_drafted is not None:
        pairs = list(zip(found.step_accepted, found.step_drafted, strict=False))
        return [sum(a >= i and d > i for a, d in pairs) for i in range(width)]
    if found.draft_tokens not in (None, steps * width):
        return [0] * width
    return [steps, *accepted_at[:-1]]


def _geometric(found: Counters) -> Iterator[CounterFigure]:
    """What the formula of equal and independent positions makes of the mean rate."""
    steps, drafted, accepted = found.steps, found.draft_tokens, found.accepted
    if not steps or not drafted or accepted is None or drafted % steps or accepted > drafted:
        return
    if found.step_drafted is not None and len(set(found.step_drafted)) > 1:
        return
    rate, length = Fraction(accepted, drafted), drafted // steps
    yield CounterFigure(Rate.GEOMETRIC, sum((rate**i for i in range(length + 1)), Fraction(0)))


def _filled(counters: Counters, **values: int) -> Counters:
    """The counters with values where they say nothing yet."""
    for name, value in values.items():
        if getattr(counters, name) is None:
            counters = replace(counters, **{name: value})  # type: ignore[arg-type]
    return counters
