"""Complete rows of few tokens, and what each way of dumping leaves of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from specdist.exact.interval import Interval
from specdist.exact.partial_law import PartialLaw
from tests.oracle_bounds import Side, side
from tests.oracle_joint import ONE, ZERO

Rows = list[Fraction]
Listed = dict[int, tuple[Fraction, Fraction]]

DUMPS = ("top", "sampled", "support", "chosen", "complete")
WIDTHS = ("none", "none", "relative", "absolute", "some")
SCALES = ("one", "one", "slack", "wide", "lost")


@dataclass(frozen=True)
class Cut:
    """A dumped row: as a partial law, and as bounds of every token of the vocabulary."""

    law: PartialLaw
    side: Side
    how: tuple[str, str, str]


def random_row(random: Random, size: int) -> Rows:
    """Small integers over their sum: with zeros and ties."""
    while True:
        weights = [random.choice([0, 0, 1, 1, 2, 3, 5, random.randint(0, 9)]) for _ in range(size)]
        if any(weights):
            return [Fraction(weight, sum(weights)) for weight in weights]


def likeliest(p: Rows, count: int) -> list[int]:
    return sorted(range(len(p)), key=lambda x: (-p[x], x))[:count]


def random_cut(
    random: Random,
    p: Rows,
    dumps: tuple[str, ...] = DUMPS,
    widths: tuple[str, ...] = WIDTHS,
    scales: tuple[str, ...] = SCALES,
) -> Cut:
    """What a dump keeps of a row: which tokens, with which rounding, with which normaliser."""
    how = random.choice(dumps), random.choice(widths), random.choice(scales)
    size = len(p)
    kept = likeliest(p, random.randint(1, size))
    cap: Fraction | None = None
    impossible: list[int] = []
    if how[0] in ("top", "sampled"):
        cap = p[kept[-1]]
    if how[0] == "sampled":
        kept = [*kept, random.randrange(size)]
    elif how[0] == "support":
        kept = [x for x in range(size) if p[x]]
        impossible = [x for x in range(size) if not p[x]]
    elif how[0] == "chosen":
        kept = random.sample(range(size), len(kept))
    elif how[0] == "complete":
        kept = list(range(size))
    listed = {x: (p[x], p[x]) for x in sorted(set(kept))}
    listed, cap = _widened(random, listed, cap, how[1])
    listed, cap, scale = _scaled(random, listed, cap, how[2])
    others = 0 if how[0] == "support" else size - len(listed)
    law = PartialLaw(
        tuple(listed),
        tuple(low for low, _ in listed.values()),
        tuple(high for _, high in listed.values()),
        others,
        cap,
        scale,
    )
    return Cut(law, side(size, listed, cap, impossible, scale.least, scale.most), how)


def _widened(
    random: Random, listed: Listed, cap: Fraction | None, how: str
) -> tuple[Listed, Fraction | None]:
    """Half-widths of stored values: a share of each, a few fortieths, or only some not measured."""
    if how == "relative":
        share = Fraction(1, random.choice([10, 50]))
        wide = {x: (v * (1 - share), v * (1 + share)) for x, (v, _) in listed.items()}
        return wide, None if cap is None else cap * (1 + share)
    if how == "absolute":
        fewer, more = (lambda: Fraction(random.randint(0, 3), 40) for _ in range(2))
        return {x: (max(v - fewer(), ZERO), v + more()) for x, (v, _) in listed.items()}, cap
    if how == "some" and cap is not None:
        unmeasured = {x: (ZERO, v + Fraction(1, 20)) for x, (v, _) in listed.items()}
        return {x: random.choice([listed[x], unmeasured[x]]) for x in listed}, cap
    return listed, cap


def _scaled(
    random: Random, listed: Listed, cap: Fraction | None, how: str
) -> tuple[Listed, Fraction | None, Interval]:
    """A normaliser that was rounded, or lost: known between two numbers only."""
    if how == "slack":
        return listed, cap, Interval(Fraction(9, 10), Fraction(11, 10))
    if how == "wide":
        least, most = random.choice([0, 1, 2]), random.choice([4, 5, 8])
        return listed, cap, Interval(Fraction(least, 4), Fraction(most, 4))
    if how == "lost":
        unit = Fraction(random.randint(1, 9), random.randint(1, 9))
        raised = {x: (low * unit, high * unit) for x, (low, high) in listed.items()}
        ends = Fraction(random.randint(0, 4), 4), Fraction(random.randint(4, 9), 4)
        higher = None if cap is None else cap * unit
        return raised, higher, Interval(ends[0] / unit, ends[1] / unit)
    return listed, cap, Interval(ONE, ONE)


def as_floats(law: PartialLaw) -> PartialLaw:
    """The same law as float64 arrays, rounded outwards."""
    assert isinstance(law.low, tuple)
    assert isinstance(law.high, tuple)
    low = np.array([float(value) for value in law.low])
    high = np.array([float(value) for value in law.high])
    low = np.where([Fraction(x) > v for x, v in zip(low, law.low, strict=True)], _below(low), low)
    wrong = [Fraction(x) < v for x, v in zip(high, law.high, strict=True)]
    high = np.where(wrong, np.nextafter(high, np.inf), high)
    ids = np.array(law.ids, np.intp)
    return PartialLaw(ids, low, high, law.others, law.cap, law.scale)


def _below(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, 0.0)
