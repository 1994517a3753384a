"""The weights of a race, from who wins as one exponential changes.

With standard exponentials E_i the winner is argmin E_i / w_i. Runs are compared, not winners: what
is known of a row is what the program does with it.

With all E at 1 the heaviest runner wins. Runners whose win is seen beat it as soon as
E_i < w_i / max w: one bisection gives the ratio. Runners whose win looks like that of the heaviest
are weighed against a runner d whose win is seen, with E_d = w_d / max w and all others far away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit.probe.place import Along
from specdist.audit.probe.questions import Trace

TINY = 2.0**-20
"""A runner that does not win with this exponential has weight 0."""
FAR = 8.0
WIDTH = 2.0**-26
"""How far a ratio of weights is known: the simplest fraction of such an interval is taken."""
Row = tuple[float, ...]


class NotARaceError(Exception):
    """The program does not treat the row as one race. Never shown: other draws are tried first."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """``weights`` relative to the heaviest; ``alike`` are the runners whose wins look like that of
    the heaviest. Empty weights: the row has no effect."""

    weights: tuple[Fraction, ...] = ()
    alike: frozenset[int] = frozenset()

    def sample(self, winner: int | None) -> Row:
        """A row that ``winner`` wins clearly; None: one of those that are alike."""
        row = [1.0 if i in self.alike else FAR for i in range(len(self.weights))]
        if winner is not None:
            row[winner] = float(self.weights[winner]) / 16
        return tuple(row)


def weighed(count: int, runs: Sequence[Along]) -> Weighed:
    """The weights of a row of ``count``. Raises NotARaceError."""
    level = (1.0,) * count
    heaviest = _all(runs, level)
    single = [_all(runs, _with(level, i, TINY)) for i in range(count)]
    seen = [i for i in range(count) if not _same(single[i], heaviest)]
    if not seen:
        return Weighed()
    weights = {i: _ratio(runs, level, i, (single[i], heaviest), 1.0) for i in seen}
    rival = max(seen, key=lambda i: weights[i])
    alike = frozenset(range(count)) - set(seen)
    far = _with((FAR,) * count, rival, float(weights[rival]))
    for i in sorted(alike):
        wins, loses = _all(runs, _with(far, i, TINY)), _all(runs, _with(far, i, 2.0))
        if not _same(loses, single[rival]):
            raise NotARaceError
        if _same(wins, loses):
            weights[i] = Fraction(0)
        elif _same(wins, heaviest):
            weights[i] = _ratio(runs, far, i, (wins, loses), 2.0)
        else:
            raise NotARaceError
    return Weighed(tuple(weights[i] for i in range(count)), alike)


def _ratio(
    runs: Sequence[Along], row: Row, i: int, ends: tuple[list[Trace], list[Trace]], high: float
) -> Fraction:
    """Up to which E_i the runner wins: ``ends`` is what a win and a loss look like."""
    wins, loses = ends
    which = next(c for c in range(len(runs)) if not wins[c].behaves_as(loses[c]))
    low = TINY
    while high - low > WIDTH:
        middle = (low + high) / 2
        trace = runs[which](_with(row, i, middle))
        if trace.behaves_as(wins[which]):
            low = middle
        elif trace.behaves_as(loses[which]):
            high = middle
        else:
            raise NotARaceError
    if not _same(_all(runs, _with(row, i, low)), wins):
        raise NotARaceError
    if not _same(_all(runs, _with(row, i, high)), loses):
        raise NotARaceError
    return simplest(Fraction(low), Fraction(high))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the smallest denominator in [low, high], both positive: by the continued
    fractions of the ends."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def _all(runs: Sequence[Along], row: Row) -> list[Trace]:
    return [run(row) for run in runs]


def _same(one: Sequence[Trace], other: Sequence[Trace]) -> bool:
    return all(a.behaves_as(b) for a, b in zip(one, other, strict=True))


def _with(row: Row, i: int, value: float) -> Row:
    return (*row[:i], value, *row[i + 1 :])
