"""Calls of torch on tensors of uniforms or noise: followed, decided, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from specdist.audit import torch_names as names
from specdist.audit.context import Context
from specdist.audit.torch_levels import settled, sign_is_certain
from specdist.audit.torch_noise import arithmetic, winners
from specdist.audit.torch_state import (
    Tensor,
    Traced,
    attach,
    is_shared,
    overwritten,
    state_of,
    traced_arguments,
)
from specdist.audit.torch_structure import computed, kept, only, restructured
from specdist.audit.torch_values import VALUES
from specdist.audit.uniform import refuse

Call = Callable[..., Any]


def followed(run: Context, function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call of which at least one argument is traced.

    Raises RefusalError for what cannot be followed.
    """
    name = names.name_of(function)
    if name in names.PLAIN:
        if name != "result_type" and traced_arguments(args[1:], kwargs):
            raise refuse(f"torch.{name} with a uniform", "put it into a tensor by itself")
        return function(*args, **kwargs)
    if name == "type" and len(args) == 1 and not kwargs:
        return function(*args)
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
        if any(isinstance(value, torch.dtype) for value in (*args, *kwargs.values())):
            raise refuse("the bits of a uniform", "convert it with to()")
        return restructured(function, args, kwargs)
    if plain in names.SAME:
        whole = not function(*args, **kwargs).is_floating_point()
        return _decided(function, args, kwargs) if whole else _moved(function, args, kwargs)
    if plain in names.TRUTHS or plain in names.WHOLE:
        return _decided(function, args, kwargs)
    if plain in names.MONOTONE:
        return _elementwise(function, plain, args, kwargs, swapped)
    raise refuse(
        f"torch.{plain} of a uniform", "compare it, race noise by argmax, or take --mode probe"
    )


def _decided(function: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
    state = only(args, kwargs)
    compute = computed(function, args, kwargs, [state])
    if compute is None:
        raise refuse(
            "the value of exponential noise", "race it (argmax of w / E), or take --mode probe"
        )
    shape = tuple(function(*args, **kwargs).shape)
    return settled(replace(state, index=state.index.expand(shape)), compute)


def _elementwise(
    function: Call, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], swapped: bool
) -> Tensor:
    state = only(args, kwargs)
    _refuse_poles(state, name, args, swapped)
    shell = function(*args, **kwargs)
    given = list(reversed(args)) if swapped and len(args) == 2 else args
    made = Traced(
        state.sources,
        state.index.expand(shell.shape),
        None if "softmax" in name else computed(function, args, kwargs, [state]),
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
    state = only(args, kwargs)
    shell: Tensor = function(*args, **kwargs)
    if any(shell is value for value in args):
        return shell
    if all(shell.data_ptr() != given.data_ptr() for given in traced_arguments(args, kwargs)):
        shell = shell.detach().clone()
    return attach(shell, replace(state, compute=computed(function, args, kwargs, [state])))


def _in_place(run: Context, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Work in place: the first tensor takes the state of the result."""
    target = args[0]
    if is_shared(target):
        raise refuse(
            "work in place in a tensor that another one looks into",
            "write into a tensor of its own",
        )
    overwritten(target, _written(run, name, args, kwargs))
    return None if name in ("__setitem__", "set.data") else target


def _written(run: Context, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
    """What the first argument holds after work in place."""
    target, before = args[0], kept(args[0])
    made: Tensor
    if name in ("copy_", "set.data"):
        made = kept(args[1])
    elif name == "__setitem__":
        made = _with_item(before, args[1:])
    elif name in ("zero_", "fill_") and not traced_arguments(args[1:], kwargs):
        made = getattr(torch.empty_like(before.detach()), name)(*args[1:], **kwargs)
    else:
        function = getattr(torch, name[:-1], None) or getattr(torch.Tensor, name[:-1], None)
        if function is None:
            raise refuse(f"torch.{name} of a uniform", "make a tensor of its own")
        made = followed(run, function, [before, *args[1:]], kwargs)
    if state_of(made) is not None and made.dtype != target.dtype:
        made = _result(run, torch.Tensor.to, "to", [made, target.dtype], {})
    if name == "copy_" and state_of(made) is not None and made.shape != target.shape:
        made = restructured(torch.Tensor.expand, [made, target.shape], {})
    if made.shape != target.shape and name != "copy_":
        raise refuse(f"torch.{name} to another shape", "make a tensor of its own")
    return made


def _with_item(before: Tensor, item: Sequence[Any]) -> Tensor:
    """The tensor with a part replaced."""

    def replaced(tensor: Tensor, place: Any, value: Any) -> Tensor:
        changed = tensor.clone()
        changed[place] = value
        return changed

    made: Tensor = restructured(replaced, [before, *item], {})
    return made


def _ends(run: Context, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """argmax, argmin, max, min and topk(1) of noise."""
    state = only(args, kwargs)
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
