"""The progress bar: on a terminal only, and only when a run takes long."""

from __future__ import annotations

import io
import sys

import pytest

from specdist.cli import progress
from specdist.cli.progress import Meter
from specdist.model.capture import Capture, Unreadable


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch, patience: float = 0.0) -> Terminal:
    """A terminal as stderr; called inside a test, because capturing resets stderr before it."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def captures(*counts: int | None) -> list[Capture | Unreadable]:
    found = [Capture("x", "json", lambda: iter(()), step_count=count) for count in counts]
    return [*found, Unreadable("y", "broken")]


def test_a_short_run_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch, patience=1.0)
    with Meter(wanted=True) as meter:
        meter.step()
    assert terminal.getvalue() == ""


def test_a_long_run_draws_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with Meter(wanted=True) as meter:
        assert len(list(meter.watch(captures(2, 3)))) == 3
        for _ in range(5):
            meter.step()
    assert "5/5" in terminal.getvalue()


def test_an_unknown_total_is_not_invented(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = open_terminal(monkeypatch)
    with Meter(wanted=True) as meter:
        list(meter.watch(captures(2, None, 3)))
        meter.step()
    assert "1/?" in terminal.getvalue()


def test_no_bar_when_unwanted_or_not_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = open_terminal(monkeypatch)
    with Meter(wanted=False) as meter:
        meter.step()
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with Meter(wanted=True) as meter:
        meter.step()
    assert pipe.getvalue() == ""
