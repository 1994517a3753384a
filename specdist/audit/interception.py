"""Which libraries' draws are answered during an audit: those that are loaded.

The draws are intercepted once around a whole walk, not for every run: a run costs nothing more than
its own code. So each library's module has ``intercepted()``, a context manager without arguments,
and its answers ask `specdist.audit.context.drawing` for the run at the time of the draw.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

_FOLLOWED = {
    "random": "specdist.audit.random_draws",
    "numpy": "specdist.audit.numpy_draws",
    "torch": "specdist.audit.torch_draws",
}
"""Library -> module whose ``intercepted()`` answers its draws while it is entered."""

_ENTERED: dict[str, ExitStack] = {}


@contextmanager
def intercepted() -> Iterator[None]:
    """Answers every draw of the loaded libraries until the outermost block ends. Blocks nest: an
    inner one only adds the libraries that were loaded since."""
    with ExitStack() as stack:
        answering = {library: import_module(_FOLLOWED[library]) for library in unfollowed()}
        for library, module in answering.items():
            stack.enter_context(module.intercepted())
            stack.callback(_ENTERED.pop, library)
            _ENTERED[library] = stack
        yield


def begin_run() -> None:
    """Tells every library that is answered that a run begins: those that have ``begin()``."""
    for library in _ENTERED:
        begin = getattr(import_module(_FOLLOWED[library]), "begin", None)
        if begin is not None:
            begin()


def unfollowed() -> list[str]:
    """Libraries that are loaded, and whose draws are not answered."""
    return [name for name in _FOLLOWED if name in sys.modules and name not in _ENTERED]
