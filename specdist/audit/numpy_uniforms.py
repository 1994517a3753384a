"""Arrays of uniforms and of noise: numpy's functions of them, element by element.

Comparisons give plain arrays of bool, decided in C order; arithmetic gives arrays of traced
numbers; argmax and argmin decide a race. What is not listed here is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from specdist.audit.numpy_race import winner
from specdist.audit.traced import ELEMENTWISE, Step, Traced, refuse
from specdist.audit.uniform import Uniform

_COMPARED = {
    "less": (operator.lt, operator.gt), "less_equal": (operator.le, operator.ge),
    "greater": (operator.gt, operator.lt), "greater_equal": (operator.ge, operator.le),
    "equal": (operator.eq, operator.eq), "not_equal": (operator.ne, operator.ne),
}  # fmt: skip
_BINARY = frozenset(
    ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "float_power",
     "minimum", "maximum", "fmin", "fmax"]
)  # fmt: skip
_TESTS = ("isnan", "isinf", "isfinite", "signbit")
_INSTEAD = "use it in comparisons, race it with argmax, or draw through draw"


def applied(ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A function of numpy on operands of which some are traced. Raises RefusalError for functions
    that are not followed, and for results that are to be written into an array of floats."""
    name = ufunc.__name__
    out = options.get("out")
    extra = {key for key in options if key not in ("out", "casting")}
    if method != "__call__" or extra:
        what = f".{method}" if method != "__call__" else f" with {', '.join(sorted(extra))}"
        raise refuse(f"numpy.{name}{what} of random numbers", _INSTEAD)
    given = [_operand(item) for item in inputs]
    shapes = {item.shape for item in given if isinstance(item, np.ndarray)} or {()}
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    operands = [_spread(item, shape) for item in given]
    found = [_one(ufunc, name, elements) for elements in zip(*operands, strict=True)]
    if not shape and not any(isinstance(item, np.ndarray) for item in given):
        made: Any = found[0]
    else:
        made = gathered(found, shape)
    return made if out is None else _written(out[0], made)


def _operand(value: Any) -> Any:
    """An operand as a plain array, or as the single number that it is."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    return np.asarray(value) if isinstance(value, list | tuple) else value


def _spread(value: Any, shape: tuple[int, ...]) -> list[Any]:
    """The elements of an operand, broadcast, in C order. Python's own numbers stay what they are:
    they promote in another way than numpy's."""
    if not isinstance(value, np.ndarray):
        return [value] * math.prod(shape)
    return list(value.flat if value.shape == shape else np.broadcast_to(value, shape).flat)


def gathered(found: Sequence[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Results as an array: plain where all of them are, else of traced numbers."""
    if found and not any(isinstance(item, Traced) for item in found):
        return np.array(found).reshape(shape)
    made = np.empty(len(found), dtype=object)
    for i, item in enumerate(found):
        made[i] = item
    return made.reshape(shape).view(Traces)


def _written(out: NDArray[Any], made: Any) -> NDArray[Any]:
    random = isinstance(made, Traced) or (isinstance(made, np.ndarray) and made.dtype.kind == "O")
    if random and out.dtype.kind != "O":
        raise refuse("random numbers that are written into an array of floats", _OWN)
    out[...] = made
    return out


_OWN = "let numpy make a new array: a = a / noise, not a /= noise, and no out="


def _one(ufunc: Any, name: str, elements: Sequence[Any]) -> Any:
    traced = [i for i, item in enumerate(elements) if isinstance(item, Traced)]
    if not traced:
        return ufunc(*elements)
    value: Any = elements[traced[0]]
    if len(elements) == 1 and name in ELEMENTWISE:
        return value.then(Step(name, ufunc))
    if name in _TESTS:
        return _tested(value, name)
    if len(traced) > 1:
        raise refuse(f"numpy.{name} of two random numbers", _INSTEAD)
    plain = [item for item in elements if not isinstance(item, Traced)]
    if not all(item is None or isinstance(item, int | float | np.generic) for item in plain):
        raise refuse(f"numpy.{name} with {type(plain[0]).__name__}", "use floats")
    if name in _COMPARED:
        return _COMPARED[name][traced[0]](value, elements[1 - traced[0]])
    if name in _BINARY and len(elements) == 2:
        known = "power" if name == "float_power" else name
        return value.then(Step(known, ufunc, elements[1 - traced[0]], traced[0] == 0))
    if name == "clip" and traced == [0]:
        bounds = (elements[1], elements[2])
        return value.then(Step("clip", lambda x, b: ufunc(x, *b), bounds))
    raise refuse(f"numpy.{name} of random numbers", _INSTEAD)


def _tested(value: Any, name: str) -> bool:
    """isnan and its kin; noise is a finite number but for its ends."""
    if not isinstance(value, Uniform):
        raise refuse(f"numpy.{name} of noise", _INSTEAD)
    nan = bool(value.level(lambda x: bool(np.isnan(x)), "isnan"))
    if name == "isnan":
        return nan
    if name == "signbit":
        return bool(value.level(lambda x: bool(np.signbit(x)), "signbit"))
    infinite = not nan and (bool(value >= np.inf) or bool(value <= -np.inf))
    return infinite if name == "isinf" else not nan and not infinite


class Traces(np.ndarray[Any, Any]):
    """An array of traced numbers, and of plain ones between them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Functions of numpy that work element by element."""
        return applied(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        """All other functions of numpy."""
        from specdist.audit.numpy_functions import called

        return called(self, function, types, given, options)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        """The index of the largest element of every row."""
        return self._winners(True, axis, out, keepdims)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        """The index of the smallest element of every row."""
        return self._winners(False, axis, out, keepdims)

    def _winners(self, largest: bool, axis: Any, out: Any, keepdims: Any) -> Any:
        if out is not None:
            raise refuse("argmax with out=", "take its result")
        rows = self.view(np.ndarray)
        rows = rows.reshape(-1) if axis is None else np.moveaxis(rows, axis, -1)
        if not rows.shape[-1]:
            raise ValueError("attempt to get argmax of an empty sequence")
        found = np.empty(rows.shape[:-1], dtype=np.intp)
        for place in np.ndindex(*found.shape):
            found[place] = winner(list(rows[place]), largest)
        if keepdims:
            where = range(self.ndim) if axis is None else axis
            return np.expand_dims(found, tuple(where) if axis is None else where)
        return found[()]

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: Any = True,
        copy: Any = True,
    ) -> Any:  # fmt: skip
        """Rounded to another float format, or cut to whole numbers that are few."""
        kind = np.dtype(dtype)
        if not copy and all(_format(item) == kind for item in self.flat):
            return self
        if kind.kind == "O":
            return self.copy()
        return gathered([cast(item, kind) for item in self.flat], self.shape)

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """Element by element."""
        return np.round(self, decimals)

    def clip(self, *bounds: Any, **named: Any) -> Any:
        """Element by element."""
        return np.clip(self, *bounds, **named)

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise refuse("the memory of an array of random numbers", _INSTEAD)

    tobytes = tofile = dump = dumps = byteswap = _refused


def _format(item: Any) -> np.dtype[Any]:
    """The float format that an element would have."""
    if isinstance(item, Uniform):
        return np.asarray(item.at(item.atom.least)).dtype
    if not isinstance(item, Traced):
        return np.asarray(item).dtype
    kinds = [step.function for step in getattr(item, "steps", ()) if step.name == "astype"]
    return np.dtype(kinds[-1] if kinds else np.float64)


Traces.__name__ = "TracedArray"  # errors of other libraries name it


def cast(item: Any, kind: np.dtype[Any]) -> Any:
    """One element in another format."""
    if not isinstance(item, Traced):
        return kind.type(item)
    if kind.kind == "f":
        make: Callable[[Any], Any] = kind.type
        return item.then(Step("astype", make))
    if kind.kind in "iu" and isinstance(item, Uniform):
        return kind.type(item.level(lambda x: int(kind.type(x)), "a whole number"))
    raise refuse(f"random numbers as {kind}", _INSTEAD)


def uniforms(made: Callable[[], Any], size: Any) -> Any:
    """One traced number, or an array of them."""
    if size is None:
        return made()
    shape = np.empty(size, dtype=bool).shape
    return gathered([made() for _ in range(math.prod(shape))], shape)
