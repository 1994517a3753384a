"""Standard output belongs to the report: what audited code writes there goes to stderr.

Its ``print`` is redirected, and so is the descriptor itself, for compiled code and child processes
write past Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def apart() -> Iterator[None]:
    """Until the block ends nothing but this program's own report can reach standard output."""
    from specdist.rules.joint.user_code import ToStderr

    real = sys.stdout is sys.__stdout__
    with _descriptor_apart() if real else _as_it_is(), redirect_stdout(ToStderr()):
        yield


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@contextmanager
def _descriptor_apart() -> Iterator[None]:
    """Descriptor 1 is that of stderr meanwhile."""
    _flush()
    try:
        kept = os.dup(1)
    except OSError:  # closed: there is nothing to keep clean
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """What Python and the C library still hold for standard output."""
    with suppress(OSError, ValueError, AttributeError):
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    with suppress(ImportError, OSError, TypeError, AttributeError):  # where C has no such door
        import ctypes

        ctypes.CDLL(None).fflush(None)
