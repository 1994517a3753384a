"""The draft length of largest walltime factor, by an exact test of first differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class BestLength:
    """``length`` 0 means plain decoding. ``settled`` is False where the factor still rose at the
    last length that was looked at, so that longer ones may be better."""

    length: int
    factor: Fraction
    settled: bool


def rises(survival: Fraction, expected: Fraction, now: Fraction, then: Fraction) -> bool:
    """Whether one more draft token raises ``E / C``: ``(E + S) / C' > E / C``, which is
    ``S C > E (C' - C)``.

    S: the chance that the further token is accepted; E: expected tokens; C, C': the cost of a step
    now and with it. With ``C = g c + 1`` and ``S = a^(g+1)``: ``a^(g+1) (g c + 1) > c E(g)``.
    """
    return survival * now > expected * (then - now)


def best_length(
    survivals: Sequence[Fraction],
    cost: Callable[[int], Fraction],
    *,
    convex: bool = True,
    listed: bool = False,
) -> BestLength:
    """The draft length of largest ``E(g) / cost(g)``, the shortest of equals, against 1 for plain
    decoding.

    ``survivals[j - 1]`` = Pr(at least j accepted), ``cost(g)`` the cost of a step of draft length
    g >= 1 over a plain one. E has falling differences, so with a ``convex`` cost ``E - t cost`` is
    concave for every t > 0, and a factor that once does not rise never rises again; otherwise every
    length is tried. ``listed``: there are no lengths beyond the survivals.
    """
    best, settled = BestLength(0, Fraction(1), True), listed
    expected, now = Fraction(1), Fraction(0)
    for length, survival in enumerate(survivals, 1):
        then = cost(length)
        if length > 1 and convex and not rises(survival, expected, now, then):
            settled = True
            break
        expected, now = expected + survival, then
        if expected / now > best.factor:
            best = BestLength(length, expected / now, True)
    return BestLength(best.length, best.factor, settled)
