"""Calls of torch on tensors of uniforms or noise: followed, decided, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from specdist.audit import torch_names as names
from specdist.audit.context import Context
from specdist.audit.torch_levels import settled, sign_is_certain
from specdist.audit.torch_noise import arithmetic, restructured, winners
from specdist.audit.torch_state import (
    Points,
    Tensor,
    Traced,
    attach,
    copied,
    is_shared,
    overwritten,
    state_of,
    substituted,
    traced_arguments,
    united,
)
from specdist.audit.torch_values import VALUES
from specdist.audit.uniform import refuse

Call = Callable[..., Any]


def followed(run: Context, function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call of which at least one argument is traced.

    Raises RefusalError for what cannot be followed.
    """
    name = names.name_of(function)
    if name in names.PLAIN:
        return function(*args, **kwargs)
    if kwargs.get("out") is not None:
        raise refuse(f"torch.{name} into a given tensor", "let it make a new one")
    if name in VALUES:
        return VALUES[name](run, *args, **kwargs)
    if name in ("argmax", "argmin", "max", "min", "topk"):
        return _ends(run, name, args, kwargs)
    if name in ("__setitem__", "set.data") or (name.endswith("_") and not name.endswith("__")):
        return _in_place(run, name, args, kwargs)
    return _result(run, function, name, args, kwargs)


def _result(
    run: Context, function: Call, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    swapped = name.startswith("reversed ")
    plain = name.removeprefix("reversed ")
    if plain in names.STRUCTURE:
        return _restructured(function, args, kwargs)
    if plain in names.SAME:
        whole = plain == "to" and not function(*args, **kwargs).is_floating_point()
        return _decided(function, args, kwargs) if whole else _moved(function, args, kwargs)
    if plain in names.TRUTHS or plain in names.WHOLE:
        return _decided(function, args, kwargs)
    if plain in names.MONOTONE:
        return _elementwise(function, plain, args, kwargs, swapped)
    raise refuse(f"torch.{plain} of a uniform", "compare the uniform, or race noise by argmax")


def _compute(
    function: Call, args: Sequence[Any], kwargs: Mapping[str, Any], states: Sequence[Traced]
) -> Callable[[Points], Any] | None:
    """The call as a function of the values of the draws."""
    if any(state.compute is None for state in states):
        return None

    kept = [_kept(argument) for argument in args]
    slots = {i: state.compute for i, value in enumerate(kept) if (state := state_of(value))}
    simple = len(slots) == len(states)

    def value(tensor: Tensor, points: Points) -> Tensor:
        state = state_of(tensor)
        assert state is not None
        assert state.compute is not None
        return state.compute(points)

    def compute(points: Points) -> Any:
        with torch.no_grad():
            given = list(kept)
            for i, part in slots.items():
                assert part is not None
                given[i] = part(points)
            if simple:
                return function(*given, **kwargs)
            whole = [substituted(item, lambda t: value(t, points)) for item in given]
            named = {k: substituted(v, lambda t: value(t, points)) for k, v in kwargs.items()}
            return function(*whole, **named)

    return compute


def _kept(argument: Any) -> Any:
    """A plain tensor as it is now: the audited code may write into it before it is asked for."""
    if isinstance(argument, list | tuple):
        return type(argument)(map(_kept, argument))
    if not isinstance(argument, torch.Tensor):
        return argument
    return copied(argument)


def _only(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Traced:
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


def _decided(function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
    state = _only(args, kwargs)
    compute = _compute(function, args, kwargs, [state])
    if compute is None:
        raise refuse("the value of exponential noise", "race it: argmax of w / E")
    shape = tuple(function(*args, **kwargs).shape)
    return settled(replace(state, index=state.index.expand(shape)), compute)


def _elementwise(
    function: Call, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], swapped: bool
) -> Tensor:
    state = _only(args, kwargs)
    _refuse_poles(state, name, args, swapped)
    shell = function(*args, **kwargs)
    given = list(reversed(args)) if swapped and len(args) == 2 else args
    made = Traced(
        state.sources,
        state.index.expand(shell.shape),
        None if "softmax" in name else _compute(function, args, kwargs, [state]),
        arithmetic(state.noise, name, given, kwargs),
    )
    if made.noise is None and made.compute is None:
        raise refuse(f"torch.{name} of noise", "race w / E or log w + Gumbel noise by argmax")
    return attach(_emptied(shell), made)


def _emptied(shell: Tensor) -> Tensor:
    """A tensor of that shape and type which holds no numbers."""
    return torch.full_like(shell.detach(), torch.nan)


def _refuse_poles(state: Traced, name: str, args: Sequence[Any], swapped: bool) -> None:
    """Refuses a function where it is not monotone on what the uniform can be."""
    dividing = name == "reciprocal" or (
        name == "divide" and state_of(args[0 if swapped else -1]) is not None
    )
    if state.compute is None or not (dividing or name in names.POSITIVE):
        return
    if name == "power" and state_of(args[1 if swapped else 0]) is None:
        return
    low, high = state.at(), state.at(highest=True)
    known = sign_is_certain(low, high) if dividing else bool((low >= 0).all() & (high >= 0).all())
    if not known:
        raise refuse(f"torch.{name} of a uniform across 0", "keep it on one side of 0")


def _moved(function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
    state = _only(args, kwargs)
    shell = function(*args, **kwargs).detach().clone()
    compute = _compute(function, args, kwargs, [state])
    return attach(shell, replace(state, compute=compute))


def _restructured(function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Moves the elements, their draws and their numbers alike. Plain tensors that are joined with
    them have no draw."""
    given = traced_arguments(args, kwargs)
    states = [state for tensor in given if (state := state_of(tensor)) is not None]
    shell = function(*args, **kwargs)
    index = _along(function, args, kwargs, lambda state: state.index, -1)
    numbers = [None] * (len(shell) if isinstance(shell, tuple | list) else 1)
    noises = {id(state.noise): state.noise for state in states}
    noise = next(iter(noises.values())) if len(noises) == 1 else None
    if noise is not None:
        numbers = _along(function, args, kwargs, _numbers_of, None)
    compute = _compute(function, args, kwargs, states)
    sources = united(states)
    if not isinstance(shell, tuple | list):
        moved = restructured(noise, numbers) if isinstance(numbers, torch.Tensor) else None
        return attach(shell, Traced(sources, index, compute, moved))
    parts = []
    for i, part in enumerate(shell):
        part_numbers = numbers[i]
        moved = None if part_numbers is None else restructured(noise, part_numbers)
        parts.append(attach(part, Traced(sources, index[i], _part(compute, i), moved)))
    return type(shell)(parts)


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


def _in_place(run: Context, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Work in place: the first tensor takes the state of the result."""
    target = args[0]
    if is_shared(target):
        raise refuse(
            "work in place in a tensor that another one looks into",
            "write into a tensor of its own",
        )
    before = _kept(target)
    if name == "copy_":
        made = args[1].to(target.dtype).expand(target.shape)
    elif name in ("__setitem__", "set.data"):
        made = _with_item(before, args[1:]) if name == "__setitem__" else args[1]
    else:
        function = getattr(torch, name[:-1], None) or getattr(torch.Tensor, name[:-1])
        made = followed(run, function, [before, *args[1:]], kwargs)
    overwritten(target, made)
    return None if name in ("__setitem__", "set.data") else target


def _with_item(before: Tensor, item: Sequence[Any]) -> Tensor:
    """The tensor with a part replaced."""

    def replaced(tensor: Tensor, place: Any, value: Any) -> Tensor:
        changed = tensor.clone()
        changed[place] = value
        return changed

    made: Tensor = _restructured(replaced, [before, *item], {})
    return made


def _ends(run: Context, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """argmax, argmin, max, min and topk(1) of noise."""
    state = _only(args, kwargs)
    given = dict(
        zip(("k", "dim") if name == "topk" else ("dim", "keepdim"), args[1:], strict=False)
    )
    given.update(kwargs)
    if isinstance(given.get("dim"), torch.Tensor) or "other" in given:
        bound = given.get("dim", given.get("other"))
        function = torch.maximum if name == "max" else torch.minimum
        return _elementwise(function, f"{name}imum", [args[0], bound], {}, False)
    if name == "topk" and given.get("k") != 1:
        raise refuse("the order of noise beyond its first", "ask for argmax")
    largest = name in ("argmax", "max") or (name == "topk" and given.get("largest", True))
    axis = given.get("dim", -1 if name == "topk" else None)
    won = winners(run, state, largest, axis)
    if (given.get("keepdim") or name == "topk") and axis is not None:
        won = won.unsqueeze(-1)
    if name.startswith("arg"):
        return won
    if axis is None:
        raise refuse(f"the {name} of noise", "ask for its argmax")
    values = torch.full(won.shape, torch.nan, dtype=args[0].dtype)
    blank = Traced(state.sources, torch.full(won.shape, -1), None, None)
    return getattr(torch.return_types, name)((attach(values, blank), won))
