"""Torch tensors that hold no numbers yet: uniforms and noise of an audit, as a state beside them.

The tensor itself keeps its shape and type and is filled with nan. Its state says which draw each
element came from, how torch computes the element from it, and, for noise, which race it is in.
Results are computed by torch itself, so their rounding is that of the audited code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor as Tensor  # modules beside this one take it from here

from specdist.audit.grid import Atom, Grid
from specdist.audit.noise_algebra import Noise
from specdist.audit.race import Row
from specdist.audit.uniform import refuse

Points = Mapping[int, Tensor]
"""The values of the draws, by the first id of each `Source`."""
_NAME = "_specdist_traced"


def number_at(grid: Grid, k: int) -> float:
    """The k-th point of a grid as a float; all grids of torch are exact in theirs."""
    return (k + grid.shift) / grid.size


class TracedTensor(torch.Tensor):
    """The class of a tensor with a state. It is followed by the mode of the audit's thread; what
    another thread does with it is refused (see `specdist.audit.torch_guards`)."""


@dataclass(eq=False)
class Source:
    """One draw call: elements ``first`` .. ``first + count - 1``. ``atoms`` are its uniforms, none
    for exponentials; ``rows`` the races along its last axis, made when they are decided;
    ``turned`` whether a row was raced in the order of 1 - U."""

    first: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    atoms: Sequence[Atom] = ()
    rows: dict[int, tuple[Row, bool]] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many elements a row has."""
        return self.shape[-1] if self.shape else 1

    def values(self, highest: bool = False) -> Tensor:
        """The uniforms at the least (or highest) points that they can still be."""
        numbers = [
            number_at(atom.grid, atom.most - 1 if highest else atom.least) for atom in self.atoms
        ]
        return torch.tensor(numbers, dtype=self.dtype).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class Traced:
    """``index`` [...] is the element that each value came from, -1 for plain numbers; ``compute``
    gives the tensor at given values of the draws; ``noise`` [...] what it is as noise, or None."""

    sources: tuple[Source, ...]
    index: Tensor
    compute: Callable[[Points], Tensor] | None
    noise: Noise | None

    def at(self, highest: bool = False) -> Tensor:
        """The tensor with all draws at their least (or highest) points."""
        return self._computed()({s.first: s.values(highest) for s in self.sources})

    def along(self, element: int) -> Callable[[int], Tensor]:
        """The tensor as a function of the grid point of one draw, the others at their least."""
        compute = self._computed()
        values = {source.first: source.values() for source in self.sources}
        source = self.source(element)
        place = element - source.first
        grid, flat = source.atoms[place].grid, values[source.first].view(-1)

        def at(k: int) -> Tensor:
            flat[place] = number_at(grid, k)
            return compute(values)

        return at

    def _computed(self) -> Callable[[Points], Tensor]:
        if self.compute is None:
            raise refuse(
                "the value of exponential noise", "race it (argmax of w / E), or take --mode probe"
            )
        return self.compute

    def source(self, element: int) -> Source:
        """The draw that an element came from."""
        for source in self.sources:
            if source.first <= element < source.first + max(1, int(np.prod(source.shape))):
                return source
        raise LookupError(element)

    def atom(self, element: int) -> Atom:
        """The uniform of an element. Raises RefusalError where it was raced against others."""
        source = self.source(element)
        place = element - source.first
        if not source.atoms:
            raise refuse(
                "the value of exponential noise", "race it (argmax of w / E), or take --mode probe"
            )
        if place // source.width in source.rows:
            raise refuse("a comparison of noise that was raced", "draw new noise for it")
        return source.atoms[place]


def state_of(value: Any) -> Traced | None:
    """The state of a tensor; None for a plain one and for anything else."""
    return value.__dict__.get(_NAME) if isinstance(value, torch.Tensor) else None


def attach(tensor: Tensor, state: Traced) -> Tensor:
    """Gives a tensor a state."""
    tensor.__dict__[_NAME] = state
    if type(tensor) is torch.Tensor:
        tensor.__class__ = TracedTensor
    return tensor


def forget(tensor: Tensor) -> None:
    """Makes a tensor plain again: it was overwritten with numbers."""
    tensor.__dict__.pop(_NAME, None)
    if type(tensor) is TracedTensor:
        tensor.__class__ = torch.Tensor  # type: ignore[assignment]


def copied(tensor: Tensor) -> Tensor:
    """A tensor of its own with the same numbers or state."""
    state = state_of(tensor)
    copy = tensor.detach().clone()
    return copy if state is None else attach(copy, state)


def overwritten(tensor: Tensor, made: Tensor) -> Tensor:
    """The tensor, with the numbers or the state of another one."""
    forget(tensor)
    tensor.detach().copy_(made)
    state = state_of(made)
    return tensor if state is None else attach(tensor, state)


def is_shared(tensor: Tensor) -> bool:
    """Whether another tensor, or an array of numpy, looks into the same memory."""
    storage = tensor.untyped_storage()
    used: int = torch._C._storage_Use_Count(storage._cdata)
    return tensor._base is not None or used > 2 or not storage.resizable()


def substituted(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """An argument with every traced tensor replaced, in lists and tuples too."""
    if isinstance(value, list | tuple):
        return type(value)(substituted(item, change) for item in value)
    return value if state_of(value) is None else change(value)


def traced_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """Every traced tensor among the arguments of a call."""
    found: list[Tensor] = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            if _NAME in value.__dict__:
                found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(traced_arguments(value, {}))
    return found


def united(states: Sequence[Traced]) -> tuple[Source, ...]:
    """The draws of several tensors, each once."""
    return tuple({source.first: source for state in states for source in state.sources}.values())
