"""A pickle's stack machine without its powers: it builds containers, numbers and texts.

A pickle is a program. Python's own loader would import and call whatever the program names;
here there is no opcode that imports or calls. The few that a format needs are passed in, and
an opcode that neither knows is refused by name.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from typing import Any

from specdist.errors import CaptureError

OPCODE_LIMIT = 4_000_000


class _Mark:
    """The stack mark."""


_MARK = _Mark()


class PickleState:
    """Stack and memo of the machine."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def pop(self) -> Any:
        if not self.stack:
            raise damaged(self.place)
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        for index in range(len(self.stack) - 1, -1, -1):
            if self.stack[index] is _MARK:
                items = self.stack[index + 1 :]
                del self.stack[index:]
                return items
        raise damaged(self.place)

    def top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise damaged(self.place)
        return self.stack[-1]


Action = Callable[[PickleState, Any], None]


def run_pickle(data: bytes, place: str, actions: Mapping[str, Action]) -> Any:
    """The value that the program leaves, with ``actions`` for the opcodes of a format.

    Raises CaptureError for every other opcode and for a damaged program.
    """
    state = PickleState(place)
    count = 0
    try:
        for opcode, argument, _ in pickletools.genops(data):
            count += 1
            if count > OPCODE_LIMIT:
                raise CaptureError("the pickle is too long", place=place)
            if opcode.name == "STOP":
                return state.pop()
            action = actions.get(opcode.name) or _ACTIONS.get(opcode.name)
            if action is None:
                raise CaptureError(
                    f"the pickle uses {opcode.name}, which no tensor needs", place=place
                )
            action(state, argument)
    except (ValueError, UnicodeError, OverflowError, RecursionError, TypeError):
        raise damaged(place) from None
    raise damaged(place)


def damaged(place: str) -> CaptureError:
    return CaptureError("the pickle is damaged", place=place, expected="tensors and containers")


def _push(state: PickleState, argument: Any) -> None:
    state.stack.append(argument)


def _constant(make: Callable[[], Any]) -> Action:
    return lambda state, _: state.stack.append(make())


def _tuple_of(count: int) -> Action:
    def build(state: PickleState, _: Any) -> None:
        items = [state.pop() for _ in range(count)]
        state.stack.append(tuple(reversed(items)))

    return build


def _append(state: PickleState, _: Any) -> None:
    item = state.pop()
    state.top(list).append(item)


def _appends(state: PickleState, _: Any) -> None:
    items = state.pop_to_mark()
    state.top(list).extend(items)


def _set(state: PickleState, pairs: list[Any]) -> None:
    if len(pairs) % 2:
        raise damaged(state.place)
    target = state.top(dict)
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        if not isinstance(key, str | int | float | bool | None.__class__):
            raise CaptureError("a key that is neither text nor number", place=state.place)
        target[key] = value


def _set_item(state: PickleState, _: Any) -> None:
    value, key = state.pop(), state.pop()
    _set(state, [key, value])


def _set_items(state: PickleState, _: Any) -> None:
    pairs = state.pop_to_mark()
    _set(state, pairs)


def _put(state: PickleState, argument: Any) -> None:
    if not state.stack:
        raise damaged(state.place)
    state.memo[int(argument)] = state.stack[-1]


def _memoise(state: PickleState, _: Any) -> None:
    _put(state, len(state.memo))


def _get(state: PickleState, argument: Any) -> None:
    if int(argument) not in state.memo:
        raise damaged(state.place)
    state.stack.append(state.memo[int(argument)])


def _drop(state: PickleState, _: Any) -> None:
    state.pop()


def _drop_to_mark(state: PickleState, _: Any) -> None:
    state.pop_to_mark()


_ACTIONS: dict[str, Action] = {
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
