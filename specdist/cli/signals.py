"""Signals: one interrupt ends the run, further ones do not disturb its end."""

from __future__ import annotations

import signal
from types import FrameType


def end_on_terminate() -> None:
    """SIGTERM ends the run like Ctrl-C does, so that worker processes are ended too."""
    _handle(signal.SIGTERM, _interrupt)


def ignore_all() -> None:
    """From here to the end of the process neither Ctrl-C nor SIGTERM raises anything."""
    _handle(signal.SIGINT, signal.SIG_IGN)
    _handle(signal.SIGTERM, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _handle(number: int, action: object) -> None:
    try:
        signal.signal(number, action)  # type: ignore[arg-type]
    except ValueError:  # not in the main thread: whoever runs us handles signals
        return
