"""numpy's functions that are no ufuncs, of arrays of traced numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specdist.audit.numpy_uniforms import Traces, gathered
from specdist.audit.traced import Step, Traced, refuse
from specdist.audit.uniform import Uniform

_RESHAPING = frozenset(
    ["concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "reshape", "ravel",
     "squeeze", "expand_dims", "take", "broadcast_to", "broadcast_arrays", "atleast_1d",
     "atleast_2d", "atleast_3d", "where", "copy", "shape", "ndim", "size", "split", "array_split",
     "hsplit", "vsplit", "flip", "fliplr", "flipud", "roll", "rollaxis", "transpose", "swapaxes",
     "moveaxis", "take_along_axis", "compress", "append", "delete", "insert", "repeat", "tile",
     "diagonal", "rot90", "array_repr", "array_str", "array2string", "copyto", "put",
     "put_along_axis", "may_share_memory", "shares_memory", "iscomplexobj", "isrealobj"]
)  # fmt: skip
"""Functions that move elements and leave them as they are."""
_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")


def called(array: Traces | None, function: Any, types: Any, given: Any, options: Any) -> Any:
    """A function of numpy with an array of traced numbers among its arguments, None for a single
    number. Raises RefusalError for functions that are not followed."""
    name = getattr(function, "__name__", str(function))
    follow = _FOLLOWED.get(name)
    if follow is not None:
        return follow(*given, **options)
    if name in _LIKE and isinstance(given[0], Traces):
        return function(np.empty(given[0].shape), *given[1:], **options)
    if name not in _RESHAPING or options.get("out") is not None:
        raise refuse(f"numpy.{name} of random numbers", "use comparisons, or race with argmax")
    if array is None:
        return function(*map(_arrays, given), **{k: _arrays(v) for k, v in options.items()})
    made = np.ndarray.__array_function__(array, function, types, given, options)
    return _as_traces(made)


def _arrays(value: Any) -> Any:
    """An argument with single traced numbers as arrays of one."""
    if isinstance(value, list | tuple):
        return type(value)(_arrays(item) for item in value)
    return gathered([value], ()) if isinstance(value, Traced) else value


def _as_traces(made: Any) -> Any:
    if isinstance(made, list | tuple):
        return type(made)(_as_traces(item) for item in made)
    if isinstance(made, np.ndarray) and made.dtype == object:
        return made.view(Traces)
    return made


def _argmax(a: Any, *given: Any, **options: Any) -> Any:
    return np.asarray(a).view(Traces).argmax(*given, **options)


def _argmin(a: Any, *given: Any, **options: Any) -> Any:
    return np.asarray(a).view(Traces).argmin(*given, **options)


def _elementwise(array: Any, change: Callable[[Any], Any]) -> Any:
    found = [change(item) for item in np.asarray(array, dtype=object).flat]
    return gathered(found, np.shape(array))[()]


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    if out is not None:
        raise refuse("numpy.round with out=", "take its result")
    step = Step("round", np.round, decimals)
    return _elementwise(a, lambda x: x.then(step) if isinstance(x, Traced) else step.of(x))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **named: Any) -> Any:
    low, high = named.get("min", a_min), named.get("max", a_max)
    if out is not None or np.ndim(low) or np.ndim(high):
        raise refuse("numpy.clip with arrays", "clip by two numbers")
    step = Step("clip", lambda x, b: np.clip(x, *b), (low, high))
    return _elementwise(a, lambda x: x.then(step) if isinstance(x, Traced) else step.of(x))


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    if isinstance(a, Traces):
        raise refuse("a search in random numbers", "search a uniform in a cumulated row")
    rows: Any = np.asarray(a)
    return _elementwise(v, lambda x: _level(x, lambda y: int(rows.searchsorted(y, side, sorter))))


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    if isinstance(bins, Traces):
        raise refuse("a search in random numbers", "search a uniform in a cumulated row")
    edges: Any = np.asarray(bins)
    return _elementwise(x, lambda item: _level(item, lambda y: int(np.digitize(y, edges, right))))


def _level(item: Any, function: Callable[[Any], int]) -> int:
    if isinstance(item, Uniform):
        return int(item.level(function, "an index"))
    if isinstance(item, Traced):
        raise refuse("the value of exponential noise", "race it: argmax of w / E")
    return function(item)


_FOLLOWED: dict[str, Callable[..., Any]] = {
    "argmax": _argmax, "argmin": _argmin, "round": _round, "around": _round, "clip": _clip,
    "searchsorted": _searchsorted, "digitize": _digitize,
}  # fmt: skip
