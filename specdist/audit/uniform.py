"""A uniform number that is never drawn: it answers comparisons, and splits there.

Arithmetic with numbers keeps it: the result is a function of one grid point. Such a function has
to be monotone, so sums, products, quotients with numbers and the usual monotone functions are
followed, in Python floats as the audited code would compute them; two uniforms are never combined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from specdist.audit.grid import Atom
from specdist.audit.refusals import RefusalError
from specdist.audit.whereabouts import whereabouts


def _at_zero(function: Callable[[float], float], limit: float) -> Callable[[float], float]:
    """The function with its limit where it has a pole, as float code computes it."""

    def with_limit(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return limit if x >= -1 else math.nan
        except OverflowError:
            return math.inf

    return with_limit


MONOTONE: dict[str, Callable[[float], float]] = {
    "log": _at_zero(math.log, -math.inf), "log1p": _at_zero(math.log1p, -math.inf),
    "log2": _at_zero(math.log2, -math.inf), "log10": _at_zero(math.log10, -math.inf),
    "exp": _at_zero(math.exp, math.inf), "expm1": _at_zero(math.expm1, math.inf),
    "sqrt": math.sqrt, "negative": lambda x: -x,
}  # fmt: skip
"""Functions that a uniform may go through, under numpy's names."""


def refuse(what: str, advice: str) -> RefusalError:
    """The error for a use that cannot be followed, at the line of the audited code."""
    return RefusalError(
        f"{what} cannot be followed exactly",
        place=whereabouts(),
        expected="comparisons of one uniform, or of a monotone function of it, with numbers",
        advice=advice,
    )


class Uniform:
    """A monotone function of one uniform number."""

    __slots__ = ("_atom", "_value")
    __array_priority__ = 1000

    def __init__(self, atom: Atom, value: Callable[[float], float] = lambda x: x) -> None:
        self._atom, self._value = atom, value

    def _decide(self, holds: Callable[[float], bool]) -> bool:
        grid = self._atom.grid

        def at(k: int) -> bool:
            return holds(self._value(float(grid.value(k))))

        return self._atom.decide(at)

    def _then(self, change: Callable[[float], float]) -> Uniform:
        before = self._value
        return Uniform(self._atom, lambda x: change(before(x)))

    def __lt__(self, other: Any) -> bool:
        bound = _number(other, "comparing two uniforms")
        return self._decide(lambda x: x < bound)

    def __le__(self, other: Any) -> bool:
        bound = _number(other, "comparing two uniforms")
        return self._decide(lambda x: x <= bound)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        raise refuse("equality of a uniform and a number", "compare with < or <=")

    def __hash__(self) -> int:
        return id(self)

    def __add__(self, other: Any) -> Uniform:
        number = _number(other, "the sum of two uniforms")
        return self._then(lambda x: x + number)

    def __sub__(self, other: Any) -> Uniform:
        number = _number(other, "the difference of two uniforms")
        return self._then(lambda x: x - number)

    def __rsub__(self, other: Any) -> Uniform:
        number = _number(other, "the difference of two uniforms")
        return self._then(lambda x: number - x)

    def __mul__(self, other: Any) -> Uniform:
        number = _number(other, "the product of two uniforms")
        return self._then(lambda x: x * number)

    def __truediv__(self, other: Any) -> Uniform:
        number = _number(other, "the quotient of two uniforms")
        return self._then(lambda x: x / number)

    def __rtruediv__(self, other: Any) -> Uniform:
        number = _number(other, "the quotient of two uniforms")
        return self._then(lambda x: number / x if x else math.copysign(math.inf, number))

    def __getattr__(self, name: str) -> Callable[[], Uniform]:
        """numpy asks the elements of an array of objects for ``log`` and its kin."""
        if name not in MONOTONE:
            raise AttributeError(name)
        return lambda: self._then(MONOTONE[name])

    def __neg__(self) -> Uniform:
        return self._then(lambda x: -x)

    __radd__ = __add__
    __rmul__ = __mul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """numpy's functions of one uniform; arithmetic and comparisons with numpy scalars."""
        name = ufunc.__name__
        if method == "__call__" and len(inputs) == 1 and name in MONOTONE:
            return self._then(MONOTONE[name])
        operator = _OPERATORS.get(name)
        if method == "__call__" and len(inputs) == 2 and operator is not None:
            left, right = inputs
            if left is self:
                return operator[0](self, right)
            return operator[1](self, left)
        raise refuse(f"numpy.{name} of a uniform", "use it in comparisons, or draw through draw")

    def __float__(self) -> float:
        raise refuse(
            "the value of a uniform",
            "compare it where it is, or use the probe: specdist audit --mode probe",
        )

    def __bool__(self) -> bool:
        raise refuse("the truth of a uniform", "compare it with a number")

    def __repr__(self) -> str:
        return f"<{self._atom.name}>"


_OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "less": (lambda u, x: u < x, lambda u, x: u > x),
    "less_equal": (lambda u, x: u <= x, lambda u, x: u >= x),
    "greater": (lambda u, x: u > x, lambda u, x: u < x),
    "greater_equal": (lambda u, x: u >= x, lambda u, x: u <= x),
    "add": (lambda u, x: u + x, lambda u, x: u + x),
    "subtract": (lambda u, x: u - x, lambda u, x: x - u),
    "multiply": (lambda u, x: u * x, lambda u, x: u * x),
    "divide": (lambda u, x: u / x, lambda u, x: x / u),
}


def _number(value: Any, what: str) -> float:
    if isinstance(value, Uniform):
        raise refuse(what, "draw what is compared by itself: draw.categorical, draw.bernoulli")
    return float(value)
