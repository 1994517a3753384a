"""Which libraries' draws are answered during an audit: those that are loaded.

The draws are intercepted once around a whole walk, not for every run: a run costs nothing more than
its own code. So each library's module has ``intercepted()``, a context manager without arguments,
and its answers ask `specdist.audit.context.drawing` for the run at the time of the draw.
``state()`` is that of the library's real generators, which nothing may draw from; ``begin()``, if
there is one, is called before every run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from specdist.audit.refusals import AdapterError, AuditError

_FOLLOWED = {
    "random": "specdist.audit.random_draws",
    "numpy": "specdist.audit.numpy_draws",
    "torch": "specdist.audit.torch_draws",
    "jax": "specdist.audit.jax_draws",
}
"""Library -> module whose ``intercepted()`` answers its draws while it is entered."""

_ENTERED: dict[str, ExitStack] = {}
_STATES: dict[str, object] = {}


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers every draw of the loaded libraries until the outermost block ends. Blocks nest: an
    inner one only adds the libraries that were loaded since."""
    if not _ENTERED:  # rows are numpy's, and its generators seed themselves from random once
        import_module("numpy.random")
    with ExitStack() as stack:
        answering = {library: import_module(_FOLLOWED[library]) for library in unfollowed()}
        for library, module in answering.items():
            stack.enter_context(module.intercepted())
            stack.callback(_ENTERED.pop, library)
            _ENTERED[library] = stack
        yield


def begin_run() -> None:
    """Tells every library that is answered that a run begins: those that have ``begin()``. Their
    real generators are watched during the run, those of the others during the whole walk."""
    for library, module in _modules():
        if hasattr(module, "begin"):
            module.begin()
            _STATES[library] = module.state()


def moved_since() -> str:
    """The library whose real generator was drawn from since the run began; empty if none."""
    for library, module in _modules():
        if hasattr(module, "begin") and module.state() != _STATES[library]:
            return library
    return ""


@contextmanager
def watched() -> Iterator[None]:
    """Raises AdapterError at the end of a walk in which a real generator was drawn from, instead
    of what came of it."""
    before = {name: m.state() for name, m in _modules() if not hasattr(m, "begin")}
    try:
        yield
    except AuditError as error:
        moved = _moved(before)
        if moved:
            raise unowned(moved) from error
        raise
    moved = _moved(before)
    if moved:
        raise unowned(moved)


def _moved(before: dict[str, object]) -> str:
    modules = dict(_modules())
    return next((name for name in before if modules[name].state() != before[name]), "")


def _modules() -> list[tuple[str, Any]]:
    return [(library, import_module(_FOLLOWED[library])) for library in _ENTERED]


def unowned(library: str) -> AdapterError:
    """The error for draws that went past the audit."""
    return AdapterError(
        f"{library} is drawn from through a generator that the audit does not own",
        expected=f"draws through {library}'s module or a generator that a name refers to",
        advice="call the library's functions by their module, and make generators in the adapter",
    )


def unfollowed() -> list[str]:
    """Libraries that are loaded, and whose draws are not answered."""
    return [name for name in _FOLLOWED if name in sys.modules and name not in _ENTERED]
