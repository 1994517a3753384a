"""Single numbers out of a tensor of uniforms: they stay uniforms, as Python objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specdist.audit.context import Context
from specdist.audit.torch_state import Tensor, Traced, state_of
from specdist.audit.uniform import Uniform, refuse


def _number(tensor: Tensor, state: Traced, place: int) -> Any:
    """The element at a place of the flattened tensor."""
    element = int(state.index.flatten()[place])
    if element < 0:
        return state.at().flatten()[place].item()
    atom = state.atom(element)
    grid = atom.grid

    at = state.along(element)

    def value(x: float) -> float:
        return float(at(int(x * grid.size) - grid.shift).flatten()[place].item())

    return Uniform(atom, value)


def item(run: Context, tensor: Tensor) -> Any:
    """``tensor.item()``: a uniform that can be compared."""
    state = state_of(tensor)
    assert state is not None
    if tensor.numel() != 1:
        raise RuntimeError(f"a Tensor with {tensor.numel()} elements cannot be converted to Scalar")
    return _number(tensor, state, 0)


def array(run: Context, tensor: Tensor, *_: Any, **__: Any) -> Any:
    """``tensor.numpy()``: an array of objects. The tensor counts as one that numpy looks into."""
    tensor.detach().numpy()
    return _objects(tensor)


def _objects(tensor: Tensor) -> Any:
    state = state_of(tensor)
    assert state is not None
    made = np.empty(tensor.numel(), dtype=object)
    for place in range(tensor.numel()):
        made[place] = _number(tensor, state, place)
    return made.reshape(tuple(tensor.shape))


def listed(run: Context, tensor: Tensor) -> Any:
    """``tensor.tolist()``."""
    return _objects(tensor).tolist()


def described(run: Context, tensor: Tensor, *_: Any, **__: Any) -> str:
    """``repr(tensor)``."""
    return f"<tensor of uniforms, shape {tuple(tensor.shape)}>"


def _value(run: Context, tensor: Tensor, *_: Any) -> Any:
    raise refuse(
        "the value of a uniform", "compare it where it is, .item() it, or take --mode probe"
    )


VALUES: dict[str, Callable[..., Any]] = {
    "item": item, "tolist": listed, "numpy": array, "__array__": array, "__repr__": described,
    "__format__": described, "__str__": described, "__float__": _value, "__int__": _value,
    "__bool__": _value, "__index__": _value, "data_ptr": _value, "__dlpack__": _value,
}  # fmt: skip
"""Functions that take numbers out of a tensor."""
