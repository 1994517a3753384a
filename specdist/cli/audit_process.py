"""What audited code must not take from the process that audits it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn
from unittest.mock import patch


@contextmanager
def survived() -> Iterator[None]:
    """``os._exit`` of the audited code is an exception, as ``sys.exit`` is: it would end this
    program with an exit code of its own, and 0 would read as a pass. Children may use it."""
    own, ends = os.getpid(), os._exit

    def instead(status: int) -> NoReturn:
        if os.getpid() == own:
            raise SystemExit(status)
        ends(status)

    with kept(), patch.object(os, "_exit", instead):
        yield


@contextmanager
def kept() -> Iterator[None]:
    """After the block Python can still import, and call as deeply as before: what the code took
    away is put back, what it added stays."""
    depth, finders, folders = sys.getrecursionlimit(), list(sys.meta_path), list(sys.path)
    try:
        yield
    finally:
        sys.setrecursionlimit(max(depth, sys.getrecursionlimit()))
        sys.meta_path.extend(each for each in finders if each not in sys.meta_path)
        sys.path.extend(each for each in folders if each not in sys.path)
