"""Comparisons of two uniforms: no product of intervals, so no tree of single draws has their law.

If a program compares u v with a number, the point where u breaks depends on v. So next to every
break point of u the later uniforms are moved a little, both ways: where the break point goes along
twice, the two are compared with each other.
"""

from __future__ import annotations

from specdist.audit.probe.place import Place
from specdist.audit.probe.questions import Completion
from specdist.audit.refusals import RefusalError

FINE = 16
"""A uniform is moved by 2^-16 of its grid."""


def require_still(place: Place, position: int, k: int) -> None:
    """The program behaves differently at the points k - 1 and k of the uniform at ``position``,
    under some of the completions.

    Raises RefusalError where that changes with the last digits of another uniform.
    """
    for along, completion in zip(place.along(position), place.completions, strict=True):
        below, above = along(k - 1), along(k)
        if below.behaves_as(above):
            continue
        for later, question in enumerate(above.questions):
            if later in place.fixed or later == position or question.grid is None:
                continue
            value, step = above.answers[later], max(1, question.grid.size >> FINE)
            assert isinstance(value, int)
            inside = 2 * step <= value < question.grid.size - 2 * step
            if below.asks(later, question) and inside:
                moved = [value + way for way in (step, -step)]
                if all(_alike(place, completion, {later: m}, (position, k)) for m in moved):
                    raise compared(above.questions[position].asked, question.asked)
        return


def _alike(
    place: Place, completion: Completion, moved: dict[int, int], at: tuple[int, int]
) -> bool:
    position, k = at
    below, above = (
        place.runs.run({**place.fixed, **moved, position: point}, completion)
        for point in (k - 1, k)
    )
    return below.behaves_as(above)


def compared(one: str, other: str) -> RefusalError:
    """The error for two numbers that are compared with each other."""
    return RefusalError(
        f"{one} and {other} are compared with each other",
        expected="events that are products of intervals: each uniform compared with numbers",
        advice="draw what is compared by itself: draw.categorical, draw.bernoulli",
    )
