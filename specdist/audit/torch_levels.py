"""Results of uniforms that are whole numbers or truths: where they change is found and decided.

Every element of the result is a monotone function of one uniform. Between the least and the highest
grid point that the uniform can still be, each change is found by bisection on the grid, through
torch's own arithmetic, and the run takes one of the pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from specdist.audit.torch_state import Points, Tensor, Traced
from specdist.audit.uniform import refuse


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
        try:
            state.atom(element).piece(_level_of(asked, element, place))
        except OverflowError as error:
            raise refuse(
                f"a whole number of {error} made of one uniform",
                "compare the uniform, or draw an index with draw.categorical",
            ) from None


def _level_of(asked: Traced, element: int, place: int) -> Callable[[int], Any]:
    at = asked.along(element)
    return lambda k: at(k).view(-1)[place].item()


def sign_is_certain(values: Tensor, others: Tensor) -> bool:
    """Whether elements at the ends of their uniforms lie on one side of 0."""
    return bool(torch.all(((values >= 0) & (others >= 0)) | ((values <= 0) & (others <= 0))))
