"""The pickle inside a torch file, as data: an interpreter of the few opcodes that build
containers and tensors. It imports nothing, calls nothing and knows eight global names.

A pickle is a program for a stack machine; Python's own loader would import and call whatever the
program names. Here a global is only a name on the stack, and ``REDUCE`` only accepts the names
that rebuild a tensor or a container. Everything else is refused with the name it asked for.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specdist.errors import CaptureError
from specdist.readers.naming import shorten

OPCODE_LIMIT = 20_000_000


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


class _Mark:
    """The stack mark."""


_MARK = _Mark()


class _State:
    """Stack and memo of the machine."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def pop(self) -> Any:
        if not self.stack:
            raise _damaged(self.place)
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        for index in range(len(self.stack) - 1, -1, -1):
            if self.stack[index] is _MARK:
                items = self.stack[index + 1 :]
                del self.stack[index:]
                return items
        raise _damaged(self.place)

    def top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise _damaged(self.place)
        return self.stack[-1]


def load_tensor_pickle(data: bytes, place: str) -> Any:
    """Containers, numbers, texts and ``TensorRef`` from a pickle. Raises CaptureError."""
    state = _State(place)
    count = 0
    try:
        for opcode, argument, _ in pickletools.genops(data):
            count += 1
            if count > OPCODE_LIMIT:
                raise CaptureError("the pickle is too long", place=place)
            if opcode.name == "STOP":
                return state.pop()
            action = _ACTIONS.get(opcode.name)
            if action is None:
                raise CaptureError(
                    f"the pickle uses {opcode.name}, which no tensor needs", place=place
                )
            action(state, argument)
    except (ValueError, UnicodeError, OverflowError, RecursionError, TypeError):
        raise _damaged(place) from None
    raise _damaged(place)


def _damaged(place: str) -> CaptureError:
    return CaptureError("the pickle is damaged", place=place, expected="tensors and containers")


def _push(state: _State, argument: Any) -> None:
    state.stack.append(argument)


def _constant(make: Callable[[], Any]) -> Callable[[_State, Any], None]:
    return lambda state, _: state.stack.append(make())


def _tuple_of(count: int) -> Callable[[_State, Any], None]:
    def build(state: _State, _: Any) -> None:
        items = [state.pop() for _ in range(count)]
        state.stack.append(tuple(reversed(items)))

    return build


def _append(state: _State, _: Any) -> None:
    item = state.pop()
    state.top(list).append(item)


def _appends(state: _State, _: Any) -> None:
    items = state.pop_to_mark()
    state.top(list).extend(items)


def _set(state: _State, pairs: list[Any]) -> None:
    if len(pairs) % 2:
        raise _damaged(state.place)
    target = state.top(dict)
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        if not isinstance(key, str | int | float | bool | None.__class__):
            raise CaptureError("a key that is neither text nor number", place=state.place)
        target[key] = value


def _set_item(state: _State, _: Any) -> None:
    value, key = state.pop(), state.pop()
    _set(state, [key, value])


def _set_items(state: _State, _: Any) -> None:
    pairs = state.pop_to_mark()
    _set(state, pairs)


def _put(state: _State, argument: Any) -> None:
    if not state.stack:
        raise _damaged(state.place)
    state.memo[int(argument)] = state.stack[-1]


def _memoise(state: _State, _: Any) -> None:
    _put(state, len(state.memo))


def _get(state: _State, argument: Any) -> None:
    if int(argument) not in state.memo:
        raise _damaged(state.place)
    state.stack.append(state.memo[int(argument)])


def _global(state: _State, argument: Any) -> None:
    module, _, name = str(argument).partition(" ")
    state.stack.append(_allowed(Global(module, name), state.place))


def _stack_global(state: _State, _: Any) -> None:
    name, module = state.pop(), state.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise _damaged(state.place)
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


def _persistent(state: _State, _: Any) -> None:
    found = state.pop()
    if not isinstance(found, tuple) or len(found) != 5 or found[0] != "storage":
        raise _damaged(state.place)
    _, kind, key, _device, count = found
    if not isinstance(kind, Global) or not isinstance(key, str) or type(count) is not int:
        raise _damaged(state.place)
    state.stack.append(StorageRef(kind.name, key, count))


def _reduce(state: _State, _: Any) -> None:
    arguments, function = state.pop(), state.pop()
    if not isinstance(function, Global) or not isinstance(arguments, tuple):
        raise _damaged(state.place)
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


def _build(state: _State, _: Any) -> None:
    """Attributes of a dict (``_metadata`` of a state dict) say nothing about numbers."""
    attributes = state.pop()
    state.top(dict)
    if not isinstance(attributes, dict):
        raise _damaged(state.place)


def _drop(state: _State, _: Any) -> None:
    state.pop()


def _drop_to_mark(state: _State, _: Any) -> None:
    state.pop_to_mark()


_ACTIONS: dict[str, Callable[[_State, Any], None]] = {
    "PROTO": lambda state, argument: None,
    "FRAME": lambda state, argument: None,
    "MARK": lambda state, argument: state.stack.append(_MARK),
    "POP": _drop,
    "POP_MARK": _drop_to_mark,
    "NONE": _constant(lambda: None),
    "NEWTRUE": _constant(lambda: True),
    "NEWFALSE": _constant(lambda: False),
    "EMPTY_DICT": _constant(dict),
    "EMPTY_LIST": _constant(list),
    "EMPTY_TUPLE": _constant(tuple),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "TUPLE": lambda state, argument: state.stack.append(tuple(state.pop_to_mark())),
    "LIST": lambda state, argument: state.stack.append(state.pop_to_mark()),
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "BINPERSID": _persistent,
    "REDUCE": _reduce,
    "BUILD": _build,
    "MEMOIZE": _memoise,
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
    **dict.fromkeys(
        ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        _push,
    ),
    **dict.fromkeys(
        ("UNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "STRING", "BINSTRING"), _push
    ),
    **dict.fromkeys(("SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"), _push),
}
