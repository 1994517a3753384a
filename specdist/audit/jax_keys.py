"""What a key of JAX gives in a run, on the host or from compiled code."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from importlib import import_module
from typing import Any

from specdist.audit.context import Context
from specdist.audit.refusals import RefusalError
from specdist.audit.whereabouts import whereabouts

CURRENT: list[Context] = []
"""The run that is going on: compiled code calls back from a thread that knows of none."""
REUSED = "reused randomness: one JAX key was drawn from twice"
Draw = Callable[..., Any]
"""The numbers for a key that is new: of the run, and of what the draw depends on (a row of
probabilities, say) as numpy arrays."""


def refuse(what: str, advice: str) -> RefusalError:
    """The error for a draw that cannot be followed, at the line of the audited code."""
    return RefusalError(
        f"{what} cannot be followed",
        place=whereabouts(),
        expected="jax.random.uniform, bernoulli, categorical, choice, randint, exponential or "
        "gumbel, with one key at a time",
        advice=advice,
    )


def drawn(
    key: Any, asked: Hashable, of: tuple[tuple[int, ...], Any], draw: Draw, *given: Any
) -> Any:
    """The array of shape and format ``of`` that a key gives, by a call back where a function is
    being compiled. Raises RefusalError under vmap, and for a key that gave something else."""
    jax: Any = import_module("jax")
    shape, dtype = of
    typed = jax.numpy.issubdtype(key.dtype, jax.dtypes.prng_key)
    staged = (jax.random.key_data(key) if typed else jax.numpy.asarray(key)) + 0

    def host(data: Any, *arrays: Any) -> Any:
        numpy: Any = import_module("numpy")
        listed = [numpy.asarray(array) for array in arrays]
        name = (asked, shape, str(dtype), *(array.tobytes() for array in listed))
        return _of_key(numpy.asarray(data).tobytes(), name, lambda run: draw(run, *listed))

    if not isinstance(staged, jax.core.Tracer):
        return jax.numpy.asarray(host(staged, *given))
    callback: Any = import_module("jax.experimental").io_callback
    try:
        made = jax.ShapeDtypeStruct(shape, dtype)
        return callback(host, made, staged, *given, ordered=True)
    except ValueError as error:
        raise refuse(f"jax.random inside vmap ({error})", "draw the whole array at once") from None


def _of_key(data: bytes, asked: Hashable, draw: Callable[[Context], Any]) -> Any:
    run = CURRENT[0]
    known = run.streams.get(("jax", data))
    if known is None:
        known = run.streams["jax", data] = (asked, draw(run))
    elif known[0] == asked:
        run.notes.add(REUSED)
    else:
        raise refuse("one key that is drawn from in two ways", "split the key")
    return known[1]
