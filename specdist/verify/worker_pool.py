"""A pool of worker processes that never outlives the run, however the run ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any

from specdist.errors import SettingsError

if TYPE_CHECKING:
    from concurrent.futures import Executor, ProcessPoolExecutor


@contextmanager
def worker_pool(
    workers: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[Executor]:
    """A pool of that many processes, each of which begins with ``begin(*given)``. Whatever is
    raised inside the block, a keyboard interrupt included, ends the workers at once. Raises
    SettingsError when a worker was killed."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, get_context("spawn"), begin_worker, (begin, given))
    try:
        yield pool
    except BrokenProcessPool:
        _end(pool)
        raise SettingsError(
            "a worker process was killed before it had finished, probably for want of memory",
            place="--workers",
            expected=f"memory for {workers} processes",
            advice="--workers 1 checks one step at a time, without further processes",
        ) from None
    except BaseException:
        _end(pool)
        raise
    pool.shutdown()


def begin_worker(begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()) -> None:
    """Leaves Ctrl-C to the main process, and ends this one when the main process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    if begin is not None:
        begin(*given)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until the block ends, so that no process is half started.

    Processes that are started inside inherit a blocked SIGINT: Ctrl-C reaches the whole group of
    processes, also a worker that has not come to `begin_worker` yet.
    """
    if current_thread() is not main_thread():
        yield
        return
    arrived: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: arrived.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if arrived:
            signal.raise_signal(arrived[0])


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(pool: ProcessPoolExecutor) -> None:
    """Ends the workers without waiting for what they are doing. Pending tasks are not cancelled:
    the pool marks them as failed itself, and trips over cancelled ones."""
    with interrupts_held():
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(wait=False)
