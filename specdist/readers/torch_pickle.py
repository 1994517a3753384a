"""The pickle inside a torch file, as data: containers and references to tensors.

A global is only a name on the stack here. Four names may be "called", because they rebuild a
tensor or a container, and names of storage types may stand in a persistent id. Everything else
is refused with the name it asked for; nothing is imported and nothing in the file runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.naming import shorten
from specdist.readers.pickle_machine import Action, PickleState, damaged, run_pickle


@dataclass(frozen=True, slots=True)
class Global:
    """A name the pickle mentions; never imported."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class StorageRef:
    """A persistent id: storage type, member key and element count."""

    kind: str
    key: str
    count: int


@dataclass(frozen=True, slots=True)
class TensorRef:
    """A view of a storage as the pickle describes it; nothing about it is checked yet."""

    storage: StorageRef
    offset: Any
    shape: Any
    strides: Any


_REBUILD = ("torch._utils", "_rebuild_tensor_v2")
_PARAMETER = ("torch._utils", "_rebuild_parameter")
_ORDERED = ("collections", "OrderedDict")
_SIZE = ("torch", "Size")
_CALLABLE = {_REBUILD, _PARAMETER, _ORDERED, _SIZE}

_ADVICE = {
    "numpy": "save tensors, or save the arrays with np.savez",
    "transformers": "save the rows alone: torch.save(out.logits, ...) or a dict of tensors",
    "torch._utils": "save plain dense tensors (no quantised, sparse, float8 or nested ones)",
}


def _global(state: PickleState, argument: Any) -> None:
    module, _, name = str(argument).partition(" ")
    state.stack.append(_allowed(Global(module, name), state.place))


def _stack_global(state: PickleState, _: Any) -> None:
    name, module = state.pop(), state.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise damaged(state.place)
    state.stack.append(_allowed(Global(module, name), state.place))


def _allowed(found: Global, place: str) -> Global:
    pair = (found.module, found.name)
    if pair in _CALLABLE or (found.module == "torch" and found.name.endswith("Storage")):
        return found
    start = next((key for key in _ADVICE if found.module.startswith(key)), "")
    raise CaptureError(
        f"the pickle asks for {shorten(str(found))}, which is not a tensor or a container",
        place=place,
        expected="tensors, lists, tuples and dicts; nothing in a file is ever run",
        advice=_ADVICE.get(start, "save plain tensors, or use safetensors"),
    )


def _persistent(state: PickleState, _: Any) -> None:
    found = state.pop()
    if not isinstance(found, tuple) or len(found) != 5 or found[0] != "storage":
        raise damaged(state.place)
    _, kind, key, _device, count = found
    if not isinstance(kind, Global) or not isinstance(key, str) or type(count) is not int:
        raise damaged(state.place)
    state.stack.append(StorageRef(kind.name, key, count))


def _reduce(state: PickleState, _: Any) -> None:
    arguments, function = state.pop(), state.pop()
    if not isinstance(function, Global) or not isinstance(arguments, tuple):
        raise damaged(state.place)
    pair = (function.module, function.name)
    if pair == _ORDERED and not arguments:
        state.stack.append({})
    elif pair == _SIZE and len(arguments) == 1 and isinstance(arguments[0], list | tuple):
        state.stack.append(tuple(arguments[0]))
    elif pair == _REBUILD and len(arguments) >= 6 and isinstance(arguments[0], StorageRef):
        state.stack.append(TensorRef(*arguments[:4]))
    elif pair == _PARAMETER and arguments and isinstance(arguments[0], TensorRef):
        state.stack.append(arguments[0])
    else:
        raise CaptureError(f"the pickle calls {shorten(str(function))}", place=state.place)


def _build(state: PickleState, _: Any) -> None:
    """Attributes of a dict (``_metadata`` of a state dict) say nothing about numbers."""
    attributes = state.pop()
    state.top(dict)
    if not isinstance(attributes, dict):
        raise damaged(state.place)


def load_tensor_pickle(data: bytes, place: str) -> Any:
    """Containers, numbers, texts and ``TensorRef`` from a pickle. Raises CaptureError."""
    return run_pickle(data, place, _ACTIONS)


_ACTIONS: dict[str, Action] = {
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "BINPERSID": _persistent,
    "REDUCE": _reduce,
    "BUILD": _build,
}
