"""A uniform number that is never drawn: it answers comparisons, and splits there.

Arithmetic with numbers keeps it: the result is a function of one grid point. Such a function has
to be monotone, so sums, products, quotients with numbers and the usual monotone functions are
followed, computed as the audited code would compute them; two uniforms are never combined.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from typing import Any

from specdist.audit.grid import MOST_LEVELS, Atom, Grid, TooManyLevelsError
from specdist.audit.traced import APART, Step, Traced, is_many, is_traced, on_one_side, refuse

__all__ = ["Uniform", "refuse"]


def _quiet() -> AbstractContextManager[Any]:
    """Without numpy's warnings: the audited code did not come to these points."""
    numpy = sys.modules.get("numpy")
    return nullcontext() if numpy is None else numpy.errstate(all="ignore")


class Uniform(Traced):
    """A monotone function of one uniform number. ``kind`` makes the number of a grid point's float:
    numpy.float32, say; ``steps`` are what was made of it."""

    __slots__ = ("atom", "kind", "steps")

    def __init__(
        self, atom: Atom, kind: Callable[[float], Any] = float, steps: tuple[Step, ...] = ()
    ) -> None:
        self.atom, self.kind, self.steps = atom, kind, steps

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Code that asks with isinstance sees the float that it would have."""
        return self.kind if isinstance(self.kind, type) else float

    def at(self, k: int) -> Any:
        """The number at the k-th grid point, as the audited code would have it."""
        value = self.kind(self.atom.grid.number(k))
        for step in self.steps:
            value = step.of(value)
        return value

    def then(self, step: Step) -> Uniform:
        """The number after one more step.

        Raises RefusalError for a step that is not monotone over the points that are left, and the
        step's own error on the points where it raises one: these are decided.
        """
        made = Uniform(self.atom, self.kind, (*self.steps, step))
        if _needs_no_look(step):
            return made
        with _quiet():
            self._check(step)
            if step.name in ("divide", "floor_divide", "remainder", "power"):
                made._raise_where_it_raises()
        return made

    def _check(self, step: Step) -> None:
        low, high = sorted((self.at(self.atom.least), self.at(self.atom.most - 1)))
        if step.name == "remainder" and step.first and low // step.other == high // step.other:
            return
        if step.name not in _EVERYWHERE and not _HOLDS.get(step.name, _never)(step, low, high):
            raise refuse(
                f"{step.name} of a uniform between {low:g} and {high:g}, which is not monotone,",
                "use it in comparisons, or draw through draw",
            )
        wild = step.name == "multiply" and not _is_finite(step.other)
        wild |= step.name == "divide" and step.first and not step.other
        if wild and not on_one_side(low, high):
            raise refuse(f"{step.name} of a uniform and {step.other}", "leave infinities out")

    def _raise_where_it_raises(self) -> None:
        """Python's floats raise at single points, 1 / 0.0: such a point is an outcome."""

        def error_of(k: int) -> str:
            try:
                self.at(k)
            except (ArithmeticError, ValueError) as error:
                return type(error).__name__
            return ""

        if self.atom.piece(error_of):
            self.at(self.atom.least)

    def holds(self, function: Callable[[Any, Any], Any], other: Any) -> bool:
        """A comparison of the number, on the left, with a number: decided."""
        self._not_raced()
        bound = None if self.steps else _exact_bound(self.kind, self.atom.grid, other)
        if bound is not None:
            least = _first_point(self.atom.grid, bound, function in (operator.lt, operator.ge))
            return self.atom.below(least) == (function in (operator.lt, operator.le))
        with _quiet():
            return self.atom.decide(lambda k: bool(function(self.at(k), other)))

    def level(self, function: Callable[[Any], Any], what: str) -> Any:
        """A monotone function of the number with few values: decided, and a plain value."""
        self._not_raced()
        with _quiet():
            low, high = self.at(self.atom.least), self.at(self.atom.most - 1)
            if not (_is_finite(low) and _is_finite(high)):
                self.atom.piece(lambda k: _extreme(self.at(k)))
                function(self.at(self.atom.least))  # its own error
            try:
                return self.atom.piece(lambda k: function(self.at(k)))
            except TooManyLevelsError:
                pass
        raise refuse(
            f"{what} of a uniform, with more than {MOST_LEVELS} values,",
            "compare the uniform, or draw an index with draw.categorical",
        )

    def _not_raced(self) -> None:
        if self.atom.raced is not None:
            raise refuse("a comparison of noise that was raced", "draw new noise for it")

    def _compared(self, function: Callable[[Any, Any], Any], other: Any) -> Any:
        if other is self:
            return bool(function(0, 0))
        if is_traced(other):
            raise refuse("comparing two uniforms", APART)
        if is_many(other):
            if "torch" in type(other).__module__:
                torch = sys.modules["torch"]
                flat = [self._compared(function, item) for item in other.flatten()]
                return torch.tensor(flat, dtype=torch.bool).reshape(other.shape)
            return NotImplemented
        if not hasattr(other, "__float__"):
            return NotImplemented
        return self.holds(function, other)

    def __lt__(self, other: Any) -> Any:
        return self._compared(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(operator.ge, other)

    def __eq__(self, other: object) -> Any:
        found = self._compared(operator.ge, other)
        return found and self._compared(operator.le, other) if isinstance(found, bool) else found

    def __ne__(self, other: object) -> Any:
        found = self.__eq__(other)
        return not found if isinstance(found, bool) else found

    __hash__ = Traced.__hash__

    def __int__(self) -> int:
        return int(self.level(int, "a whole number"))

    def __floor__(self) -> int:
        return int(self.level(math.floor, "a whole number"))

    def __ceil__(self) -> int:
        return int(self.level(math.ceil, "a whole number"))

    __trunc__ = __int__

    def __round__(self, digits: int | None = None) -> Any:
        whole = digits is None
        return self.level(round, "a number") if whole else self.then(Step("round", round, digits))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """numpy's functions of this number, of arrays and of numpy's own numbers."""
        from specdist.audit.numpy_uniforms import applied

        return applied(ufunc, method, inputs, options)

    def __repr__(self) -> str:
        return f"<{self.atom.name}>"


Uniform.__name__ = "TracedUniform"  # errors of other libraries name it


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False


def _needs_no_look(step: Step) -> bool:
    """Whether a step is monotone and raises nothing, whatever the number is."""
    if step.name == "multiply":
        return _is_finite(step.other)
    harmless = step.name == "divide" and step.first and _is_finite(step.other) and step.other != 0
    return harmless or step.name in _EVERYWHERE


def _extreme(value: Any) -> str:
    """Which of nan and the infinities a number is; empty for finite ones."""
    return "" if _is_finite(value) else str(value)


def _never(step: Step, low: Any, high: Any) -> bool:
    return False


_EVERYWHERE = frozenset(
    ["add", "subtract", "multiply", "negative", "positive", "conjugate", "exp", "expm1", "exp2",
     "cbrt", "tanh", "sinh", "arctan", "floor", "ceil", "rint", "trunc", "sign", "round", "astype",
     "minimum", "maximum", "fmin", "fmax", "clip"]
)  # fmt: skip
"""Monotone for every number."""
_HOLDS: dict[str, Callable[[Step, Any, Any], bool]] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt"), lambda step, low, high: low >= 0),
    "log1p": lambda step, low, high: low >= -1,
    "divide": lambda step, low, high: step.first or on_one_side(low, high),
    "floor_divide": lambda step, low, high: step.first or on_one_side(low, high),
    "reciprocal": lambda step, low, high: on_one_side(low, high),
    "absolute": lambda step, low, high: low >= 0 or high <= 0,
    "fabs": lambda step, low, high: low >= 0 or high <= 0,
    "square": lambda step, low, high: low >= 0 or high <= 0,
    "power": lambda step, low, high: (
        _is_finite(step.other) and (low >= 0 if step.first else step.other > 0)
    ),
}
"""Monotone where the ends of the stretch, ``low`` and ``high``, allow it."""


def _exact_bound(kind: Any, grid: Grid, other: Any) -> Fraction | None:
    """A number that the plain uniform is compared with exactly; None where types may round."""
    exact = type(other) in (float, int, Fraction) or type(other).__name__ == "float64"
    if type(grid) is not Grid or grid.bits > 53 or not exact or not _is_finite(other):
        return None
    if kind is not float and getattr(kind, "__name__", "") != "float64":
        return None
    return Fraction(other)


def _first_point(grid: Grid, bound: Fraction, strict: bool) -> int:
    """The first point that is not below the bound, or not at most the bound."""
    scaled = bound * grid.size - grid.shift
    return math.ceil(scaled) if strict else math.floor(scaled) + 1
