"""Results of uniforms that are whole numbers or truths: where they change is found and decided.

Every element of the result is a monotone function of one uniform. Between the least and the highest
grid point that the uniform can still be, each change is found by bisection on the grid, through
torch's own arithmetic, and the run takes one of the pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import torch

from specdist.audit.grid import Atom
from specdist.audit.torch_state import Points, Tensor, Traced
from specdist.audit.uniform import refuse

MOST_LEVELS = 64
"""How many values a whole number made of one uniform may take."""


def settled(state: Traced, compute: Callable[[Points], Tensor]) -> Tensor:
    """The result of a function of the tensor, decided element by element in their order."""
    asked = replace(state, compute=compute)
    while True:
        low, high = asked.at(), asked.at(highest=True)
        differ = low != high
        if low.is_floating_point():
            differ &= ~(low.isnan() & high.isnan())
        changes = differ.flatten().nonzero()
        if not len(changes):
            return low
        place = int(changes[0])
        element = int(state.index.flatten()[place])
        _decide(state.atom(element), _levels_of(asked, element, place))


def _levels_of(asked: Traced, element: int, place: int) -> Callable[[int], Any]:
    at = asked.along(element)
    return lambda k: at(k).view(-1)[place].item()


def _decide(atom: Atom, level: Callable[[int], Any]) -> None:
    """Narrows a uniform to one of the pieces on which the level is the same."""
    first, last = atom.least, atom.most - 1
    starts = [first]
    _split(level, (first, level(first)), (last, level(last)), starts)
    ends = [*starts[1:], atom.most]
    size = atom.most - atom.least
    masses = [Fraction(end - start, size) for start, end in zip(starts, ends, strict=True)]
    asked = f"{atom.name} below points {ends[:-1]}"
    piece = atom.session.choose(asked, masses)
    atom.least, atom.most = starts[piece], ends[piece]


def _split(
    level: Callable[[int], Any], low: tuple[int, Any], high: tuple[int, Any], starts: list[int]
) -> None:
    """Adds to ``starts`` the first point of every further level, in rising order."""
    if low[1] == high[1]:
        return
    if len(starts) >= MOST_LEVELS:
        raise refuse(
            f"a whole number of more than {MOST_LEVELS} values made of one uniform",
            "compare the uniform, or draw an index with draw.categorical",
        )
    if high[0] - low[0] == 1:
        starts.append(high[0])
        return
    middle = (low[0] + high[0]) // 2
    between = (middle, level(middle))
    _split(level, low, between, starts)
    _split(level, between, high, starts)


def sign_is_certain(values: Tensor, others: Tensor) -> bool:
    """Whether elements at the ends of their uniforms lie on one side of 0."""
    return bool(torch.all(((values >= 0) & (others >= 0)) | ((values <= 0) & (others <= 0))))
