"""Stand-ins for functions and generators that modules took hold of before the audit.

``from random import random`` and ``rng = np.random.default_rng()`` at the top of a file keep what
is intercepted elsewhere. Where such a reference is the value of a dictionary (a module's names, an
object's or a class's attributes), of a closure, of a list or the default of an argument, it is
replaced during the audit.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import CellType, FrameType, FunctionType
from typing import Any


@contextmanager
def swapped(pairs: Sequence[tuple[object, object]], owners: Sequence[str]) -> Iterator[None]:
    """Replaces each original by its stand-in, until the block ends. ``owners`` are the modules of
    the library itself, which are left alone."""
    table = {id(original): (original, stand_in) for original, stand_in in pairs}
    ours = [id(vars(sys.modules[name])) for name in owners if name in sys.modules]
    known = set(sys.modules)
    gc.unfreeze()  # a library may have hidden its objects from the collector
    with ExitStack() as undo:
        originals = [original for original, _ in table.values()]
        own = [originals, table, pairs, *pairs, *table.values()]
        skipped = {*map(id, own), *ours}
        holders = [item for item in gc.get_referrers(*originals) if id(item) not in skipped]
        _swap_defaults([item for item in holders if type(item) is tuple], table, undo)
        for holder in holders:
            if type(holder) not in (tuple, FrameType):
                _swap_in(holder, table, undo)
        undo.callback(_give_back, known, pairs)
        yield


def _give_back(known: set[str], pairs: Sequence[tuple[object, object]]) -> None:
    """Modules that were imported meanwhile took hold of stand-ins: they get the originals."""
    originals = {id(stand_in): original for original, stand_in in pairs}
    for name in sys.modules.keys() - known:
        names = vars(sys.modules[name])
        for key, value in list(names.items()):
            if id(value) in originals:
                names[key] = originals[id(value)]


def _swap_in(holder: Any, table: Mapping[int, tuple[object, object]], undo: ExitStack) -> None:
    if isinstance(holder, dict):
        _swap_names(holder, table, undo)
    elif isinstance(holder, CellType):
        stand_in = _stand_in(holder.cell_contents, table)
        if stand_in is not None:
            undo.callback(setattr, holder, "cell_contents", holder.cell_contents)
            holder.cell_contents = stand_in
    elif isinstance(holder, list):
        for i, value in enumerate(holder):
            stand_in = _stand_in(value, table)
            if stand_in is not None:
                undo.callback(_put_back, holder, i, value, stand_in)
                holder[i] = stand_in
    elif hasattr(holder, "__dict__") and isinstance(vars(holder), dict):
        _swap_names(vars(holder), table, undo)


def _swap_defaults(
    holders: Sequence[tuple[Any, ...]],
    table: Mapping[int, tuple[object, object]],
    undo: ExitStack,
) -> None:
    """Default values of a function's arguments; other tuples cannot be changed. One search for all
    of them: it goes through every object that lives."""
    wanted = {id(holder): holder for holder in holders}
    for function in gc.get_referrers(*holders) if holders else ():
        holder = function.__defaults__ if isinstance(function, FunctionType) else None
        if holder is not None and id(holder) in wanted:
            found = [_stand_in(value, table) for value in holder]
            pairs = zip(found, holder, strict=True)
            undo.callback(setattr, function, "__defaults__", holder)
            function.__defaults__ = tuple(old if new is None else new for new, old in pairs)


def _swap_names(
    holder: dict[Any, Any], table: Mapping[int, tuple[object, object]], undo: ExitStack
) -> None:
    for name, value in list(holder.items()):
        stand_in = _stand_in(value, table)
        if stand_in is None:
            continue
        owner = _class_of(holder) if "__module__" in holder else None
        if owner is None:
            undo.callback(_put_back, holder, name, value, stand_in)
            holder[name] = stand_in
        else:
            undo.callback(setattr, owner, name, value)
            setattr(owner, name, stand_in)


def _stand_in(value: object, table: Mapping[int, tuple[object, object]]) -> Any:
    found = table.get(id(value))
    return None if found is None or found[0] is not value else found[1]


def _put_back(holder: Any, name: Any, value: object, stand_in: object) -> None:
    """Unless the audited code put something else there."""
    try:
        if holder[name] is stand_in:
            holder[name] = value
    except (KeyError, IndexError):
        return


def _class_of(names: dict[Any, Any]) -> Any:
    """The class whose attributes these are; None for those of an object."""
    for owner in gc.get_referrers(names):
        if isinstance(owner, type):
            return owner
    return None


def living(kinds: tuple[type, ...], but: Callable[[Any], bool]) -> list[Any]:
    """Every object of these classes, but for those that are the audit's own."""
    wanted = frozenset(kinds)
    return [item for item in gc.get_objects() if type(item) in wanted and not but(item)]
