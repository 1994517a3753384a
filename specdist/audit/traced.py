"""What stands for a random number in the audited code: arithmetic with numbers is written down.

A traced number is a draw and the steps of arithmetic that were made of it, kept as the very
functions and operands of the audited code. So its value at any point of the draw is computed as
that code would compute it, rounding and types included.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Self

from specdist.audit.refusals import RefusalError
from specdist.audit.whereabouts import whereabouts

NOTHING: Any = object()
"""The other operand of a function of one number."""


class Step(NamedTuple):
    """One function of the number: ``name`` is numpy's, ``first`` whether the number is its first
    operand."""

    name: str
    function: Callable[..., Any]
    other: Any = NOTHING
    first: bool = True

    def of(self, value: Any) -> Any:
        """The function at a value."""
        if self.other is NOTHING:
            return self.function(value)
        return self.function(value, self.other) if self.first else self.function(self.other, value)


def refuse(what: str, advice: str) -> RefusalError:
    """The error for a use that cannot be followed, at the line of the audited code."""
    return RefusalError(
        f"{what} cannot be followed exactly",
        place=whereabouts(),
        expected="comparisons of one uniform, or of a monotone function of it, with numbers",
        advice=advice,
    )


APART = "draw what is compared by itself: draw.categorical, draw.bernoulli"


def is_traced(value: Any) -> bool:
    """Whether a value stands for a random number, or holds one."""
    return isinstance(value, Traced) or "_specdist_traced" in getattr(value, "__dict__", ())


def is_many(value: Any) -> bool:
    """Whether a value is an array, which answers element by element."""
    return bool(getattr(value, "ndim", 0)) or isinstance(value, list | tuple)


class Traced:
    """Base of traced numbers: ``then`` makes the next one."""

    __slots__ = ()
    __array_priority__ = 1000

    def then(self, step: Step) -> Self:
        """This number after one more step. Raises RefusalError where it cannot be followed."""
        raise NotImplementedError

    def _with(self, name: str, function: Callable[..., Any], other: Any, first: bool) -> Any:
        if is_traced(other):
            raise refuse(f"numpy.{name} of two random numbers", APART)
        if is_many(other):
            if "torch" in type(other).__module__:
                raise refuse(f"{name} of a uniform and a tensor", "draw through torch")
            return NotImplemented
        if not hasattr(other, "__float__"):
            return NotImplemented
        return self.then(Step(name, function, other, first))

    def __add__(self, other: Any) -> Any:
        return self._with("add", operator.add, other, True)

    def __radd__(self, other: Any) -> Any:
        return self._with("add", operator.add, other, False)

    def __sub__(self, other: Any) -> Any:
        return self._with("subtract", operator.sub, other, True)

    def __rsub__(self, other: Any) -> Any:
        return self._with("subtract", operator.sub, other, False)

    def __mul__(self, other: Any) -> Any:
        return self._with("multiply", operator.mul, other, True)

    def __rmul__(self, other: Any) -> Any:
        return self._with("multiply", operator.mul, other, False)

    def __truediv__(self, other: Any) -> Any:
        return self._with("divide", operator.truediv, other, True)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("divide", operator.truediv, other, False)

    def __floordiv__(self, other: Any) -> Any:
        return self._with("floor_divide", operator.floordiv, other, True)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with("floor_divide", operator.floordiv, other, False)

    def __mod__(self, other: Any) -> Any:
        return self._with("remainder", operator.mod, other, True)

    def __rmod__(self, other: Any) -> Any:
        return self._with("remainder", operator.mod, other, False)

    def __pow__(self, other: Any) -> Any:
        return self._with("power", operator.pow, other, True)

    def __rpow__(self, other: Any) -> Any:
        return self._with("power", operator.pow, other, False)

    def __neg__(self) -> Self:
        return self.then(Step("negative", operator.neg))

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self.then(Step("absolute", operator.abs))

    def __divmod__(self, other: Any) -> NoReturn:
        raise refuse("divmod of a uniform", "use // and a comparison")

    __rdivmod__ = __divmod__

    def __float__(self) -> float:
        raise refuse(
            "the value of a uniform",
            "compare it where it is, with numpy's functions (numpy.log, not math.log) and without "
            "float(); or use the probe: specdist audit --mode probe",
        )

    def __complex__(self) -> complex:
        raise refuse("a complex uniform", "use real numbers")

    def __bool__(self) -> bool:
        raise refuse("the truth of a uniform", "compare it with a number")

    def __hash__(self) -> int:
        raise refuse("a uniform as a key", "keep it in a list")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise refuse("a uniform that is pickled", "keep it in this process")

    def __format__(self, _: str) -> str:
        return repr(self)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        """numpy's functions that are no ufuncs."""
        from specdist.audit.numpy_functions import called

        return called(None, function, types, given, options)

    def item(self) -> Self:
        """The number, as numpy's scalars give it."""
        return self

    def __getattr__(self, name: str) -> Any:
        """numpy asks the elements of an array of objects for ``log`` and its kin."""
        numpy = sys.modules.get("numpy")
        known = hasattr(float, name) or (numpy is not None and hasattr(numpy.float64, name))
        if name.startswith("__") or not (known or name in ELEMENTWISE):
            raise AttributeError(f"'float' object has no attribute '{name}'")
        if name not in ELEMENTWISE:
            raise refuse(f"{name} of a uniform", "use it in comparisons")
        return lambda: self.then(Step(name, ELEMENTWISE[name]))


def _numpy(name: str) -> Callable[..., Any]:
    def call(value: Any) -> Any:
        import numpy

        return getattr(numpy, name)(value)

    return call


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{
        name: _numpy(name)
        for name in (
            "log", "log1p", "log2", "log10", "exp", "expm1", "exp2", "sqrt", "cbrt", "square",
            "tanh", "sinh", "arctan", "floor", "ceil", "rint", "trunc", "reciprocal", "sign",
        )
    },
    "negative": operator.neg, "absolute": operator.abs, "fabs": operator.abs,
    "positive": operator.pos, "conjugate": operator.pos,
}  # fmt: skip
"""Monotone functions (on one side of 0, some of them) that a uniform may go through, under numpy's
names."""


def on_one_side(low: Any, high: Any) -> bool:
    """Whether the ends of a monotone stretch have one sign, that of a zero included."""
    return math.copysign(1, low) == math.copysign(1, high)
