"""Which libraries' draws are answered during a run: those that are loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

from specdist.audit.context import Context

_FOLLOWED = {
    "random": "specdist.audit.random_draws",
    "numpy": "specdist.audit.numpy_draws",
    "torch": "specdist.audit.torch_draws",
}
"""Library -> module whose ``intercepted(run)`` answers its draws while it is entered."""


@contextmanager
def intercepted(run: Context) -> Iterator[None]:
    """Answers every draw of the loaded libraries until the block ends."""
    with ExitStack() as stack:
        for library, module in _FOLLOWED.items():
            if library in sys.modules:
                stack.enter_context(import_module(module).intercepted(run))
        yield
