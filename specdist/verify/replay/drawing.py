"""One recorded draw against the bounds of its law: by uniform, by race, or by support alone."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.verify.replay.wording import decimal

if TYPE_CHECKING:
    from specdist.exact.law_bounds import LawBounds
    from specdist.model.row import FloatValues


class Drawn(Enum):
    """What can be said of a draw. ``POSSIBLE``: the token may be drawn, no random number says more;
    ``OPEN``: the random number lies within rounding."""

    YES = "yes"
    NO = "no"
    OPEN = "open"
    POSSIBLE = "possible"
    IMPOSSIBLE = "impossible"

    @property
    def holds(self) -> bool | None:
        """True, False, or None where it is open."""
        if self is Drawn.YES:
            return True
        return False if self in (Drawn.NO, Drawn.IMPOSSIBLE) else None


_ANSWERS = {True: Drawn.YES, False: Drawn.NO, None: Drawn.OPEN}


def is_drawn(
    bounds: LawBounds | None, token: int, uniform: Fraction | None, noise: FloatValues | None
) -> Drawn:
    """The draw of ``token``. ``bounds`` None: a residual that is surely empty."""
    if bounds is None or bounds.entry(token) is None:
        return Drawn.IMPOSSIBLE
    if uniform is not None:
        return _ANSWERS[bounds.draws(token, uniform)]
    if noise is not None:
        import numpy as np

        return _ANSWERS[bounds.wins(token, np.asarray(noise.array, dtype=np.float64))]
    return Drawn.POSSIBLE


def drawn_words(bounds: LawBounds | None, token: int, uniform: Fraction | None) -> str:
    """What would have been possible: the token of this uniform, the uniforms of this token."""
    if bounds is None:
        return "the residual is empty"
    if uniform is None:
        return "no mass on it" if bounds.entry(token) is None else "another token wins"
    tokens = bounds.drawn(uniform)
    names = " or ".join(map(str, tokens[:3]))
    if bounds.entry(token) is None:
        return f"{names} ({token} has no mass)"
    before, after = bounds.uniforms(token)
    return f"{names} ({token}: {decimal(before.least)} to {decimal(after.most)})"
