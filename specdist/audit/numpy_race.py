"""Noise of numpy as a race: an array-like that arithmetic with numbers and argmax understand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from specdist.audit.context import Context
from specdist.audit.race import Row, Shape, weights_of
from specdist.audit.uniform import refuse

Numbers = NDArray[np.float64]


class Race(NDArrayOperatorsMixin):
    """Noise [..., V]: every row along the last axis is a race."""

    def __init__(self, run: Context, rows: NDArray[Any], shape: Shape, numbers: Numbers) -> None:
        self._run, self._rows, self._shape, self._numbers = run, rows, shape, numbers

    @classmethod
    def exponential(cls, run: Context, shape: tuple[int, ...]) -> Race:
        """Standard exponentials."""
        return cls(run, _new_rows(run, shape), Shape.TIMES, np.ones(shape))

    @classmethod
    def gumbel(cls, run: Context, shape: tuple[int, ...]) -> Race:
        """Standard Gumbel noise, -log E."""
        return cls(run, _new_rows(run, shape), Shape.MINUS_LOG, np.zeros(shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the noise."""
        return self._numbers.shape

    def __getitem__(self, index: Any) -> Race:
        if isinstance(index, tuple) and len(index) >= len(self.shape):
            raise refuse("a part of a row of noise", "race whole rows")
        return Race(self._run, self._rows[index], self._shape, self._numbers[index])

    def argmax(self, axis: int | None = None, **_: Any) -> Any:
        """The index of the largest element of every row."""
        return self._winner(True, axis)

    def argmin(self, axis: int | None = None, **_: Any) -> Any:
        """The index of the smallest element of every row."""
        return self._winner(False, axis)

    def _winner(self, largest: bool, axis: int | None) -> Any:
        last = len(self.shape) - 1
        if axis not in (-1, last) and not (axis is None and last == 0):
            raise refuse("a race along another axis", "race along the last axis")
        found = np.empty(self.shape[:-1], dtype=np.int64)
        for place in np.ndindex(found.shape):
            weights = weights_of(self._shape, self._numbers[place].tolist(), largest)
            row: Any = self._rows[place]
            found[place] = row.decide(self._run, weights)
        return found[()]

    def __array_function__(self, function: Any, _: Any, given: Any, options: Any) -> Any:
        """numpy.argmax and numpy.argmin."""
        if function in (np.argmax, np.argmin) and given[0] is self:
            return getattr(self, function.__name__)(*given[1:], **options)
        raise refuse(f"numpy.{function.__name__} of noise", "ask for its argmax")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        """Arithmetic with numbers, log and negation."""
        change = _CHANGES.get((ufunc.__name__, self._shape, inputs[0] is self))
        others = [item for item in inputs if item is not self]
        race = any(isinstance(item, Race) for item in others)
        if method != "__call__" or change is None or race:
            raise refuse(f"numpy.{ufunc.__name__} of noise", "race w / E or log w + Gumbel")
        shape, numbers = change(self._numbers, *(np.asarray(o, np.float64) for o in others))
        numbers = np.broadcast_to(numbers, np.broadcast_shapes(self.shape, numbers.shape))
        if numbers.shape != self.shape:
            raise refuse("noise that is broadcast", "draw noise of the shape that it is used in")
        return Race(self._run, self._rows, shape, numbers)


def _new_rows(run: Context, shape: tuple[int, ...]) -> NDArray[Any]:
    rows = np.empty(shape[:-1], dtype=object)
    for place in np.ndindex(rows.shape):
        run.draws += 1
        rows[place] = Row(f"noise {run.draws}")
    return rows


Change = Callable[..., tuple[Shape, Numbers]]
_T, _O, _L, _M = Shape.TIMES, Shape.OVER, Shape.LOG, Shape.MINUS_LOG


def _logarithm(c: Numbers) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(c))


def _quotient(a: Numbers, b: Numbers) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.asarray(a / b)


_CHANGES: dict[tuple[str, Shape, bool], Change] = {
    ("multiply", _T, True): lambda c, x: (_T, c * x),
    ("multiply", _T, False): lambda c, x: (_T, c * x),
    ("multiply", _O, True): lambda c, x: (_O, c * x),
    ("multiply", _O, False): lambda c, x: (_O, c * x),
    ("divide", _T, True): lambda c, x: (_T, _quotient(c, x)),
    ("divide", _O, True): lambda c, x: (_O, _quotient(c, x)),
    ("divide", _T, False): lambda c, x: (_O, _quotient(x, c)),
    ("divide", _O, False): lambda c, x: (_T, _quotient(x, c)),
    ("reciprocal", _T, True): lambda c: (_O, _quotient(np.ones_like(c), c)),
    ("log", _T, True): lambda c: (_L, _logarithm(c)),
    ("log", _O, True): lambda c: (_M, _logarithm(c)),
    ("negative", _L, True): lambda c: (_M, -c),
    ("negative", _M, True): lambda c: (_L, -c),
    ("add", _L, True): lambda c, x: (_L, c + x),
    ("add", _L, False): lambda c, x: (_L, c + x),
    ("add", _M, True): lambda c, x: (_M, c + x),
    ("add", _M, False): lambda c, x: (_M, c + x),
    ("subtract", _L, True): lambda c, x: (_L, c - x),
    ("subtract", _M, True): lambda c, x: (_M, c - x),
    ("subtract", _L, False): lambda c, x: (_M, x - c),
    ("subtract", _M, False): lambda c, x: (_L, x - c),
}
"""What a function makes of noise, by its name, the shape of the noise, and whether the noise is its
first argument."""
