"""Calls that are recorded: numbers as a function of the draws, and elements that move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from specdist.audit.torch_noise import restructured as renumbered
from specdist.audit.torch_state import (
    Points,
    Tensor,
    Traced,
    attach,
    copied,
    state_of,
    substituted,
    traced_arguments,
    united,
)
from specdist.audit.uniform import refuse

Call = Callable[..., Any]


def only(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Traced:
    """The state of the only traced argument."""
    given = traced_arguments(args, kwargs)
    if len(given) > 1:
        raise refuse(
            "arithmetic or comparison of two uniforms",
            "the event is no product of intervals: draw what is compared by itself",
        )
    state = state_of(given[0])
    assert state is not None
    return state


def computed(
    function: Call, args: Sequence[Any], kwargs: Mapping[str, Any], states: Sequence[Traced]
) -> Callable[[Points], Any] | None:
    """The call as a function of the values of the draws; None for noise, which has no values."""
    if any(state.compute is None for state in states):
        return None

    given = [kept(argument) for argument in args]
    slots = {i: state.compute for i, value in enumerate(given) if (state := state_of(value))}
    simple = len(slots) == len(states)

    def value(tensor: Tensor, points: Points) -> Tensor:
        state = state_of(tensor)
        assert state is not None
        assert state.compute is not None
        return state.compute(points)

    def compute(points: Points) -> Any:
        with torch.no_grad():
            now = list(given)
            for i, part in slots.items():
                assert part is not None
                now[i] = part(points)
            if simple:
                return function(*now, **kwargs)
            whole = [substituted(item, lambda t: value(t, points)) for item in now]
            named = {k: substituted(v, lambda t: value(t, points)) for k, v in kwargs.items()}
            return function(*whole, **named)

    return compute


def kept(argument: Any) -> Any:
    """A plain tensor as it is now: the audited code may write into it before it is asked for."""
    if isinstance(argument, list | tuple):
        return type(argument)(map(kept, argument))
    if not isinstance(argument, torch.Tensor):
        return argument
    return copied(argument)


def restructured(function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Moves the elements, their draws and their numbers alike. Plain tensors that are joined with
    them have no draw."""
    given = traced_arguments(args, kwargs)
    states = [state for tensor in given if (state := state_of(tensor)) is not None]
    shell = function(*args, **kwargs)
    joined, named = _as_floats(function, args, kwargs)
    index = _along(function, joined, named, lambda state: state.index, -1)
    numbers = [None] * (len(shell) if isinstance(shell, tuple | list) else 1)
    noises = {id(state.noise): state.noise for state in states}
    noise = next(iter(noises.values())) if len(noises) == 1 else None
    if noise is not None:
        numbers = _along(function, joined, named, _numbers_of, None)
    compute = computed(function, args, kwargs, states)
    sources = united(states)
    if not isinstance(shell, tuple | list):
        moved = renumbered(noise, numbers) if isinstance(numbers, torch.Tensor) else None
        return attach(shell, Traced(sources, index, compute, moved))
    parts = []
    for i, part in enumerate(shell):
        part_numbers = numbers[i]
        moved = None if part_numbers is None else renumbered(noise, part_numbers)
        parts.append(attach(part, Traced(sources, index[i], _part(compute, i), moved)))
    return type(shell)(parts)


_JOINED = {
    "where": (1, 2), "masked_fill": (2,), "index_put": (2,), "replaced": (2,), "cat": (0,),
    "concat": (0,), "concatenate": (0,), "stack": (0,), "hstack": (0,), "vstack": (0,),
}  # fmt: skip
"""Functions that put numbers beside random ones: which arguments are such numbers."""
_JOINED_NAMES = frozenset(["input", "other", "value", "values", "tensors"])


def _as_floats(
    function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with whole numbers that are joined with random ones as floats, so that they are
    told from places and masks."""

    def changed(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(changed, value))
        if isinstance(value, torch.Tensor):
            return value if value.is_floating_point() else value.double()
        return float(value) if hasattr(value, "__float__") else value

    places = _JOINED.get(getattr(function, "__name__", ""), ())
    joined = [changed(value) if i in places else value for i, value in enumerate(args)]
    named = {k: changed(v) if places and k in _JOINED_NAMES else v for k, v in kwargs.items()}
    return joined, named


def _numbers_of(state: Traced) -> Tensor:
    assert state.noise is not None
    shape = tuple(state.index.shape)
    return torch.from_numpy(np.broadcast_to(state.noise.numbers, shape).copy())


def _part(compute: Callable[[Points], Any] | None, i: int) -> Callable[[Points], Any] | None:
    return None if compute is None else lambda points: compute(points)[i]


def _along(
    function: Call,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    part: Callable[[Traced], Tensor],
    filler: int | None,
) -> Any:
    """The same movement of another part of the state. ``filler`` stands for plain float tensors and
    numbers; None keeps them as they are."""

    def changed(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(changed, value))
        state = state_of(value)
        if state is not None:
            return part(state)
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            if filler is None:
                return value.double()
            return torch.full_like(value, filler, dtype=torch.long)
        return filler if isinstance(value, float) and filler is not None else value

    return function(*map(changed, args), **{name: changed(v) for name, v in kwargs.items()})
