"""What each of numpy's draw functions is answered with.

``random`` is a uniform on k/2^53 in float64 and k/2^24 in float32 (numpy 2, next_double and
next_float of random/src/distributions). ``choice`` and ``multinomial`` are categorical; numpy gives
the last category of ``multinomial`` what the others leave of 1, and so do we. Where a seed names
the stream, ``choice`` is computed from a uniform as numpy computes it, so that seeding again shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from specdist.audit.context import Context
from specdist.audit.draw import choose_index, exact_shares, new_uniform
from specdist.audit.grid import FLOAT32, FLOAT64
from specdist.audit.numpy_race import new_noise
from specdist.audit.numpy_uniforms import uniforms
from specdist.audit.streams import Place
from specdist.audit.uniform import Uniform, refuse

MOST_CHOICES = 1024
"""The most numbers that a whole number is drawn from."""


def _uniform(run: Context, place: Place, single: bool, scalar: bool) -> Any:
    """The next uniform; an element of an array has numpy's type, a number alone Python's."""
    grid = FLOAT32 if single else FLOAT64
    drawn = place.next(run, str(grid), lambda: new_uniform(run, grid))
    kind: Any = float if scalar else (np.float32 if single else np.float64)
    return Uniform(drawn.atom, kind) if isinstance(drawn, Uniform) else kind(drawn)


def random(
    run: Context, place: Place, _: Any, size: Any = None, dtype: Any = np.float64, out: Any = None
) -> Any:
    """Uniforms in [0, 1)."""
    _refuse_out(out, "random")
    single = np.dtype(dtype) == np.float32
    return uniforms(lambda: _uniform(run, place, single, size is None), size)


def rand(run: Context, place: Place, checked: Any, *shape: int) -> Any:
    """The same, by shape."""
    return random(run, place, checked, shape or None)


def uniform(
    run: Context, place: Place, checked: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None
) -> Any:
    """Uniforms in [low, high): low + (high - low) u, as numpy computes them."""
    shape = np.shape(checked.uniform(low, high, size))
    drawn = uniforms(
        lambda: _uniform(run, place, False, not shape and size is None),
        shape if shape or size is not None else None,
    )
    if np.ndim(low) == np.ndim(high) == 0 and (low, high) == (0, 1):
        return drawn
    return low + (np.subtract(high, low) if np.ndim(low) or np.ndim(high) else high - low) * drawn


def _refuse_out(out: Any, name: str) -> None:
    if out is not None:
        raise refuse(f"numpy's {name} into a given array", "let it make a new one: no out=")


def _index(run: Context, place: Place, shares: Sequence[Fraction], what: str) -> int:
    drawn = place.next(run, (what, tuple(shares)), lambda: choose_index(run, shares, what))
    return int(drawn)


def choice(
    run: Context,
    place: Place,
    checked: Any,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
) -> Any:
    """Elements of ``a`` or of range(a), each with its probability."""
    options = {"axis": axis} if hasattr(checked, "integers") else {}
    checked.choice(a, size, replace, p, **options)  # its own errors
    items = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
    count = items.shape[axis]
    shape = () if size is None else np.empty(size, dtype=bool).shape
    draws = int(np.prod(shape, dtype=int))
    if p is None and count > MOST_CHOICES:
        raise refuse("a choice out of more than 1024", "choose among fewer")
    if p is not None and replace and place.named:
        found = [_inverted(run, place, np.asarray(p, dtype=np.float64)) for _ in range(draws)]
    else:
        shares = [Fraction(1)] * count if p is None else list(exact_shares(np.asarray(p)))
        found = []
        for _ in range(draws):
            found.append(_index(run, place, shares, "numpy choice"))
            if not replace:
                shares[found[-1]] = Fraction(0)
    return items.take(np.array(found, dtype=np.intp).reshape(shape)[()], axis=axis)


def _inverted(run: Context, place: Place, p: Any) -> int:
    """As numpy computes it (_generator.pyx, choice): a uniform searched in the cumulated row."""
    ends = p.cumsum()
    ends /= ends[-1]
    drawn = _uniform(run, place, False, True)
    if isinstance(drawn, Uniform):
        return int(drawn.level(lambda x: int(ends.searchsorted(x, side="right")), "a choice"))
    return int(ends.searchsorted(drawn, side="right"))


def multinomial(
    run: Context, place: Place, checked: Any, n: Any, pvals: Any, size: Any = None
) -> Any:
    """Counts of ``n`` categorical draws."""
    counts = np.zeros_like(checked.multinomial(n, pvals, size))
    if np.ndim(n) or not 0 <= n <= 16:
        raise refuse("multinomial with many draws", "draw at most 16 at a time")
    rows = np.broadcast_to(np.asarray(pvals, dtype=np.float64), counts.shape)
    for where in np.ndindex(*counts.shape[:-1]):
        shares = list(exact_shares(rows[where]))
        shares[-1] = max(Fraction(0), 1 - sum(shares[:-1], Fraction(0)))
        for _ in range(int(n)):
            counts[(*where, _index(run, place, shares, "numpy multinomial"))] += 1
    return counts


def integers(
    run: Context,
    place: Place,
    checked: Any,
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = np.int64,
    endpoint: bool = False,
) -> Any:
    """Whole numbers of [low, high), or of [low, high] with ``endpoint``."""
    modern = hasattr(checked, "integers")
    draw = checked.integers if modern else checked.randint
    like = draw(low, high, size, dtype, *([endpoint] if modern else []))
    first, last = (0, low) if high is None else (low, high)
    if np.ndim(first) or np.ndim(last):
        raise refuse("whole numbers between arrays", "draw between two numbers")
    count = int(last) - int(first) + int(endpoint)
    if count > MOST_CHOICES:
        raise refuse(f"a whole number out of {count:.3g}", "draw one of at most 1024")
    shares = [Fraction(1)] * count
    found = [
        int(first) + _index(run, place, shares, "numpy integers") for _ in range(np.size(like))
    ]
    if size is None:
        return type(like)(found[0])
    return np.array(found, dtype=like.dtype).reshape(like.shape)


def binomial(run: Context, place: Place, checked: Any, n: Any, p: Any, size: Any = None) -> Any:
    """Numbers of successes in ``n`` trials."""
    like = np.asarray(checked.binomial(n, p, size))
    trials, chances = np.broadcast_to(n, like.shape), np.broadcast_to(p, like.shape)
    found = np.empty(like.shape, dtype=like.dtype)
    for where in np.ndindex(*like.shape):
        m, share = int(trials[where]), Fraction(float(chances[where]))
        if m > 64:
            raise refuse("binomial with many trials", "draw at most 64 at a time")
        shares: list[Any] = [
            math.comb(m, i) * share**i * (1 - share) ** (m - i) for i in range(m + 1)
        ]
        found[where] = _index(run, place, shares, "numpy binomial")
    return found if size is not None or like.shape else int(found[()])


def _noise(run: Context, place: Place, size: Any, gumbel: bool) -> Any:
    if run.probing:
        shape = () if size is None else np.empty(size, dtype=bool).shape
        width = shape[-1] if shape else 1
        rows = [run.noise(width, "numpy noise") for _ in range(math.prod(shape[:-1]))]
        drawn = np.array(rows, dtype=np.float64).reshape(shape)
        return -np.log(drawn) if gumbel else drawn[()]
    asked = "gumbel" if gumbel else "exponential"
    return uniforms(lambda: place.next(run, asked, lambda: new_noise(run, gumbel)), size)


def exponential(
    run: Context, place: Place, checked: Any, scale: Any = 1.0, size: Any = None
) -> Any:
    """Exponential noise, to be raced."""
    shape = np.shape(checked.exponential(scale, size))
    noise = _noise(run, place, shape if shape or size is not None else None, False)
    return noise if np.ndim(scale) == 0 and scale == 1 else noise * scale


def standard_exponential(
    run: Context,
    place: Place,
    checked: Any,
    size: Any = None,
    dtype: Any = np.float64,
    method: str = "zig",
    out: Any = None,
) -> Any:
    """The same at scale 1."""
    _refuse_out(out, "standard_exponential")
    return _noise(run, place, size, False)


def gumbel(
    run: Context, place: Place, checked: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None
) -> Any:
    """Gumbel noise, to be raced."""
    shape = np.shape(checked.gumbel(loc, scale, size))
    noise = _noise(run, place, shape if shape or size is not None else None, True)
    noise = noise if np.ndim(scale) == 0 and scale == 1 else noise * scale
    return noise if np.ndim(loc) == 0 and loc == 0 else noise + loc


ANSWERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("random", "random_sample", "sample", "ranf"), random),
    "rand": rand, "uniform": uniform, "choice": choice, "multinomial": multinomial,
    "integers": integers, "randint": integers, "binomial": binomial, "exponential": exponential,
    "standard_exponential": standard_exponential, "gumbel": gumbel,
}  # fmt: skip
"""Draw functions of generators and of the module."""
