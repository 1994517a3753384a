"""The draws of JAX, answered from the audit, in compiled functions too.

A key names its draw: the same key again, asked for the same, gives the same numbers again in one
run; asked for something else it is refused. ``split``, ``fold_in`` and keys of seeds are JAX's own,
and every key is a stream of its own. Choices (``categorical``, ``bernoulli``, ``choice``,
``randint``) are decided by weight; ``uniform``, ``exponential`` and ``gumbel`` are numbers, which
need probe mode. A uniform is k/2^m for the m mantissa bits of its format (jax/_src/random, JAX
0.10, ``_uniform``): 23 in float32.

While a function is compiled, a draw becomes a call back to the host, in order, so the compiled code
runs as it is. What was compiled before is forgotten, because its draws would not be seen.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from importlib import import_module
from typing import Any
from unittest.mock import patch

from specdist.audit.context import Context, drawing
from specdist.audit.draw import choose_index, exact_shares
from specdist.audit.grid import Grid
from specdist.audit.jax_keys import CURRENT, drawn, refuse

_OF_KEYS = frozenset(
    ("PRNGKey", "key", "split", "fold_in", "clone", "key_data", "key_dtype", "key_impl")
) | {"wrap_key_data"}
_BITS = ("jax._src.random.prng", "jax._src.prng")
"""Where JAX, by version, makes the bits that every sampler of its own asks for."""


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers ``jax.random`` until the block ends."""
    jax: Any = import_module("jax")
    answers: dict[str, Callable[..., Any]] = {
        "uniform": _uniform, "bernoulli": _bernoulli, "categorical": _categorical,
        "choice": _choice, "randint": _randint, "exponential": _exponential, "gumbel": _gumbel,
    }  # fmt: skip
    with ExitStack() as stack:
        for name in dir(jax.random):
            function = getattr(jax.random, name)
            if name in _OF_KEYS or name.startswith("_") or not callable(function):
                continue
            answer = answers.get(name) or _refused(f"jax.random.{name}")
            stack.enter_context(patch.object(jax.random, name, answer))
        for module in [sys.modules[name] for name in _BITS if name in sys.modules]:
            stack.enter_context(
                patch.object(module, "random_bits", _refused("a sampler of JAX from elsewhere"))
            )
        jax.clear_caches()
        stack.callback(jax.clear_caches)
        yield


def _refused(what: str) -> Callable[..., Any]:
    def answer(*_: Any, **__: Any) -> Any:
        raise refuse(what, "call it as jax.random.NAME, or draw with specdist.audit.draw")

    return answer


def _format(dtype: Any) -> Any:
    """The numpy format of a draw."""
    jax: Any = import_module("jax")
    return jax.dtypes.canonicalize_dtype(float if dtype is None else dtype)


def _grid(dtype: Any) -> Grid:
    jax: Any = import_module("jax")
    return Grid(int(jax.numpy.finfo(dtype).nmant))


def _shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if hasattr(shape, "__index__") else tuple(int(size) for size in shape)


def _require_probe(run: Context, what: str) -> None:
    if not run.probing:
        raise refuse(f"{what} in traced mode", "audit it as a black box: --mode probe")


def _filled(shape: Sequence[int], dtype: Any, one: Callable[[Any], Any]) -> Any:
    """An array of ``one(index)`` for every index of the shape."""
    numpy: Any = import_module("numpy")
    made = numpy.empty(shape, dtype=dtype)
    for index in numpy.ndindex(*shape):
        made[index] = one(index)
    return made


def _uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, **_: Any
) -> Any:
    made, size = _format(dtype), _shape(shape)

    def draw(run: Context) -> Any:
        _require_probe(run, "jax.random.uniform")
        grid = _grid(made)
        return _filled(size, made, lambda _: grid.number(run.point(grid, "jax.random.uniform")))

    jax: Any = import_module("jax")
    floats = drawn(key, "uniform", (size, made), draw)
    low, high = (jax.numpy.asarray(end, dtype=made) for end in (minval, maxval))
    return jax.numpy.maximum(low, floats * (high - low) + low)


def _bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", **_: Any) -> Any:
    numpy: Any = import_module("numpy")
    jax: Any = import_module("jax")
    given = jax.numpy.asarray(p)
    size = given.shape if shape is None else _shape(shape)
    points = _grid(given.dtype).size ** (2 if mode == "high" else 1)

    def draw(run: Context, below: Any) -> Any:
        bounds = numpy.broadcast_to(below.astype(numpy.float64), size)

        def one(index: Any) -> bool:
            bound = float(bounds[index]) * points
            hits = 0 if math.isnan(bound) else math.ceil(max(0.0, min(float(points), bound)))
            shares = (Fraction(points - hits), Fraction(hits))
            return choose_index(run, shares, "jax.random.bernoulli") == 1

        return _filled(size, bool, one)

    return drawn(key, "bernoulli", (size, numpy.dtype(bool)), draw, given)


def _categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, **_: Any
) -> Any:
    if not replace:
        raise refuse("jax.random.categorical without replacement", "draw one token at a time")
    numpy: Any = import_module("numpy")
    jax: Any = import_module("jax")
    rows = jax.numpy.moveaxis(jax.numpy.asarray(logits), axis, -1)
    batch = rows.shape[:-1]
    size = batch if shape is None else _shape(shape)

    def draw(run: Context, given: Any) -> Any:
        def one(index: Any) -> int:
            row = given[index[len(size) - len(batch) :]].astype(numpy.float64)
            weights = exact_shares(numpy.exp(row - row.max()))
            return choose_index(run, weights, "jax.random.categorical")

        return _filled(size, numpy.int32, one)

    return drawn(key, "categorical", (size, numpy.dtype(numpy.int32)), draw, rows)


def _choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0, **_: Any
) -> Any:
    numpy: Any = import_module("numpy")
    jax: Any = import_module("jax")
    items = jax.numpy.arange(a) if hasattr(a, "__index__") else jax.numpy.asarray(a)
    size = _shape(shape)
    weights = jax.numpy.ones(items.shape[axis]) if p is None else jax.numpy.asarray(p)

    def draw(run: Context, given: Any) -> Any:
        left = list(exact_shares(given))

        def one(_: Any) -> int:
            index = choose_index(run, left, "jax.random.choice")
            if not replace:
                left[index] = Fraction(0)
            return index

        return _filled(size, numpy.int32, one)

    asked = f"choice, replace={replace}"
    places = drawn(key, asked, (size, numpy.dtype(numpy.int32)), draw, weights)
    return jax.numpy.take(items, places, axis=axis)


def _randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, **_: Any) -> Any:
    numpy: Any = import_module("numpy")
    low, high, size = int(minval), int(maxval), _shape(shape)
    shares = (Fraction(1),) * (high - low)

    def draw(run: Context) -> Any:
        def one(_: Any) -> int:
            return low + choose_index(run, shares, "jax.random.randint")

        return _filled(size, made, one)

    made = numpy.dtype(dtype or numpy.int32)
    return drawn(key, f"randint {low} {high}", (size, made), draw)


def _noise(name: str, key: Any, shape: Any, dtype: Any, change: Callable[[Any], Any]) -> Any:
    """Rows of standard exponentials along the last axis, and a function of them."""
    numpy: Any = import_module("numpy")
    made, size = _format(dtype), _shape(shape)

    def draw(run: Context) -> Any:
        _require_probe(run, f"jax.random.{name}")
        rows = numpy.empty(size or (1,), dtype=numpy.float64)
        for index in numpy.ndindex(*rows.shape[:-1]):
            rows[index] = run.noise(rows.shape[-1], f"jax.random.{name}")
        with numpy.errstate(divide="ignore"):
            return numpy.asarray(change(rows.reshape(size))).astype(made)

    return drawn(key, name, (size, made), draw)


def _exponential(key: Any, shape: Any = (), dtype: Any = None, **_: Any) -> Any:
    return _noise("exponential", key, shape, dtype, lambda rows: rows)


def _gumbel(key: Any, shape: Any = (), dtype: Any = None, **_: Any) -> Any:
    numpy: Any = import_module("numpy")
    return _noise("gumbel", key, shape, dtype, lambda rows: -numpy.log(rows))


def begin() -> None:
    """A run begins: it is the one that compiled code calls back to."""
    CURRENT[:] = [drawing("jax")]


def state() -> object:
    """JAX has no generators of its own: keys are all there is."""
    return None
