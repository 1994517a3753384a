"""What arithmetic makes of exponential noise, and the winner's law of a race.

With standard exponentials E_i and weights w_i > 0 the smallest E_i / w_i is that of i with
probability w_i / sum w (Gumbel-max: the largest log w_i - log E_i). A uniform U is exp(-E). So a
noise array is one of five functions of E, with a number c for each element, and an argmax or argmin
of it is a race whose weights follow from the numbers. Ties have probability 0 in real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
EPSILON = 1e-6
"""Additions and bounds of at most this size guard code against log 0; a race takes them as 0."""


class Kind(StrEnum):
    """The function of E that a noise value is."""

    UNIFORM = "U = exp(-E)"
    NEGATED = "-U"
    LINEAR = "c E"
    OVER = "c / E"
    LOG = "c + a log E"


@dataclass(frozen=True)
class Noise:
    """``numbers`` are the c of every element, ``scale`` is a. ``mirrored``: U was taken from 1, so
    it races in the other order. ``ordered``: only the order of the elements is known. ``guarded``:
    a small number that guards against log 0 was taken as 0."""

    kind: Kind
    numbers: Numbers
    scale: float = 1.0
    mirrored: bool = False
    ordered: bool = False
    guarded: bool = False


def exponential(shape: tuple[int, ...]) -> Noise:
    """Standard exponentials."""
    return Noise(Kind.LINEAR, np.ones(shape))


def uniform(shape: tuple[int, ...]) -> Noise:
    """Uniforms on [0, 1]."""
    return Noise(Kind.UNIFORM, np.ones(shape))


def gumbel(shape: tuple[int, ...]) -> Noise:
    """Standard Gumbel noise, -log E."""
    return Noise(Kind.LOG, np.zeros(shape), -1.0)


def changed(noise: Noise, name: str, other: Any = None, first: bool = True) -> Noise | None:
    """The noise after a function under numpy's name, ``other`` being the second operand of shape
    [...] or None, ``first`` whether the noise is the first operand; None where nothing is known."""
    if noise.ordered:
        return None
    change = _CHANGES.get((name, noise.kind, first or name in _COMMUTE))
    if change is None:
        return None
    with np.errstate(all="ignore"):
        return change(noise) if other is None else change(noise, np.asarray(other, np.float64))


def monotone(noise: Noise) -> Noise:
    """The noise after an increasing function of which nothing else is known."""
    return replace(noise, ordered=True)


_COMMUTE = ("add", "multiply")


def _broadcast(noise: Noise, numbers: Any, **changes: Any) -> Noise:
    return replace(noise, numbers=np.asarray(numbers, np.float64), **changes)


def _small(numbers: Numbers) -> bool:
    return bool(np.all(np.abs(numbers) <= EPSILON))


def _guard(noise: Noise, x: Numbers) -> Noise | None:
    """Adding a number that is next to nothing."""
    return replace(noise, guarded=noise.guarded or bool(np.any(x))) if _small(x) else None


def _stretch(noise: Noise, x: Numbers) -> Noise | None:
    """A uniform on [0, 1] times a number next to 1."""
    return replace(noise, guarded=True) if _small(x - 1) else None


def _scaled(noise: Noise, x: Numbers) -> Noise | None:
    """c + a log E, times one number for all elements."""
    factors = np.unique(x)
    if len(factors) != 1 or not math.isfinite(factor := float(factors[0])) or not factor:
        return None
    return _broadcast(noise, noise.numbers * factor, scale=noise.scale * factor)


def _logarithm(noise: Noise, direction: float) -> Noise | None:
    if np.any(noise.numbers < 0):
        return None
    return _broadcast(noise, np.log(noise.numbers), kind=Kind.LOG, scale=direction)


def _exponential(noise: Noise) -> Noise:
    if noise.scale not in (1, -1):
        return replace(noise, ordered=True)
    kind = Kind.LINEAR if noise.scale == 1 else Kind.OVER
    return _broadcast(noise, np.exp(noise.numbers), kind=kind, scale=1.0)


def _from_uniform(factor: float) -> Callable[[Noise], Noise]:
    def change(noise: Noise) -> Noise:
        return _broadcast(noise, noise.numbers * -factor, kind=Kind.LINEAR)

    return change


def _over(noise: Noise, x: Numbers, kind: Kind) -> Noise:
    return _broadcast(noise, x / noise.numbers, kind=kind)


def _one_minus(noise: Noise, x: Numbers) -> Noise | None:
    """1 - U is a uniform as well."""
    return replace(noise, mirrored=not noise.mirrored) if np.all(x == 1) else None


_U, _N, _L, _O, _G = Kind.UNIFORM, Kind.NEGATED, Kind.LINEAR, Kind.OVER, Kind.LOG
_CHANGES: dict[tuple[str, Kind, bool], Callable[..., Noise | None]] = {
    ("log", _U, True): _from_uniform(1.0),
    ("log2", _U, True): _from_uniform(1 / math.log(2)),
    ("log10", _U, True): _from_uniform(1 / math.log(10)),
    ("log1p", _N, True): lambda n: _from_uniform(1.0)(replace(n, mirrored=not n.mirrored)),
    ("negative", _U, True): lambda n: replace(n, kind=_N),
    ("negative", _N, True): lambda n: replace(n, kind=_U),
    ("subtract", _U, False): _one_minus,
    ("subtract", _U, True): _guard,
    ("add", _U, True): _guard,
    ("multiply", _U, True): _stretch,
    ("power", _U, True): lambda n, x: _broadcast(n, -x, kind=_L, ordered=True),
    ("multiply", _L, True): lambda n, x: _broadcast(n, n.numbers * x),
    ("divide", _L, True): lambda n, x: _broadcast(n, n.numbers / x),
    ("divide", _L, False): lambda n, x: _over(n, x, _O),
    ("reciprocal", _L, True): lambda n: _over(n, np.ones(()), _O),
    ("negative", _L, True): lambda n: _broadcast(n, -n.numbers),
    ("add", _L, True): _guard,
    ("subtract", _L, True): _guard,
    ("log", _L, True): lambda n: _logarithm(n, 1.0),
    ("multiply", _O, True): lambda n, x: _broadcast(n, n.numbers * x),
    ("divide", _O, True): lambda n, x: _broadcast(n, n.numbers / x),
    ("divide", _O, False): lambda n, x: _over(n, x, _L),
    ("reciprocal", _O, True): lambda n: _over(n, np.ones(()), _L),
    ("negative", _O, True): lambda n: _broadcast(n, -n.numbers),
    ("log", _O, True): lambda n: _logarithm(n, -1.0),
    ("add", _G, True): lambda n, x: _broadcast(n, n.numbers + x),
    ("subtract", _G, True): lambda n, x: _broadcast(n, n.numbers - x),
    ("subtract", _G, False): lambda n, x: _broadcast(n, x - n.numbers, scale=-n.scale),
    ("negative", _G, True): lambda n: _broadcast(n, -n.numbers, scale=-n.scale),
    ("multiply", _G, True): _scaled,
    ("divide", _G, True): lambda n, x: _scaled(n, 1 / x),
    ("exp", _G, True): _exponential,
}  # fmt: skip
"""What a function makes of noise, by its name, the kind of the noise, and whether the noise is its
first operand; sums and products commute."""


def bounded(noise: Noise, least: float | None, most: float | None) -> Noise | None:
    """After a clamp that only guards: bounds next to the ends of what the noise can be."""
    ends = {Kind.UNIFORM: (0.0, 1.0), Kind.LINEAR: (0.0, math.inf)}.get(noise.kind)
    if ends is None or noise.ordered or np.any(noise.numbers < 0):
        return None
    low = least is None or least <= ends[0] + EPSILON
    high = most is None or most >= ends[1] - EPSILON
    return replace(noise, guarded=True) if low and high else None


def winners_weights(noise: Noise, numbers: Sequence[float], largest: bool) -> list[Fraction] | None:
    """The weights of a race over one row whose c are ``numbers``: the probability that the largest
    (or smallest) element is i is proportional to the i-th. None where the last of the race would be
    asked for. Numbers that decide by themselves (an infinite logit, a weight of 0 everywhere) give
    the first of the elements that win.
    """
    if any(math.isnan(number) for number in numbers):
        return None
    sign = 1 if largest else -1
    if noise.kind in (Kind.UNIFORM, Kind.NEGATED):
        return [Fraction(1)] * len(numbers)
    signed = [sign * number for number in numbers]
    if noise.kind is Kind.LINEAR:
        return _fastest(signed)
    if noise.kind is Kind.OVER:
        return _largest_quotient(signed)
    return _largest_log(signed, sign * noise.scale)


def _fastest(signed: list[float]) -> list[Fraction] | None:
    """The largest of c E: c < 0 are raced by 1/|c|, c = 0 beats them."""
    above = [i for i, number in enumerate(signed) if number > 0]
    if above:
        return _only(above[0], signed) if len(above) == 1 else None
    if 0 in signed:
        return _only(signed.index(0), signed)
    weights = [Fraction(0) if math.isinf(c) else -1 / Fraction(c) for c in signed]
    return weights if any(weights) else _only(0, signed)


def _largest_quotient(signed: list[float]) -> list[Fraction] | None:
    """The largest of c / E: c > 0 are raced by c, and beat 0, which beats c < 0."""
    if math.inf in signed:
        return _only(signed.index(math.inf), signed)
    if max(signed) > 0:
        return [Fraction(max(c, 0.0)) for c in signed]
    return _only(signed.index(0), signed) if 0 in signed else None


def _largest_log(signed: list[float], scale: float) -> list[Fraction] | None:
    """The largest of c + a log E with a < 0: raced by exp(c / |a|)."""
    if scale >= 0:
        return None
    top = max(signed)
    if math.isinf(top):
        return _only(signed.index(top), signed)
    return [Fraction(math.exp((c - top) / -scale)) for c in signed]


def _only(winner: int, signed: list[float]) -> list[Fraction]:
    return [Fraction(int(i == winner)) for i in range(len(signed))]
