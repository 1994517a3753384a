"""The settings of `--specdist`: those of `specdist check`, run in pytest's root folder."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from specdist.errors import SettingsError

if TYPE_CHECKING:
    from specdist.cli.settings import Effective

_OF_THE_COMMAND = ("texts", "format", "export", "exit_zero", "color", "no_progress", "workers")
"""Options that belong to a run of the command: what it writes, forgives and does besides."""


_EMPTY: tuple[Any, ...] = (None, False, (), [])


def read_options(*layers: tuple[str, str]) -> tuple[Effective, dict[str, Any]]:
    """Settings and option values from texts such as ``--engine vllm-v1 -T 0.8`` with their origins,
    the later ones on top. Raises SpecdistError for what `specdist check` would refuse."""
    from specdist.cli.settings import effective

    values = _parsed("", "")
    for text, origin in layers:
        given = _parsed(text, origin)
        values |= {name: value for name, value in given.items() if value is not None}
    return effective(values), values


def _parsed(text: str, origin: str) -> dict[str, Any]:
    import typer.main

    from specdist.cli.app import USAGE_ERROR, app, usage_error

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise SettingsError(f"{text[:60]!r} cannot be split: {error}", place=origin) from None
    command: Any = typer.main.get_command(app)
    try:
        values = command.commands["check"].make_context("check", words).params
    except USAGE_ERROR as error:
        complaint = usage_error(error, ["check"])
        complaint.place = origin
        raise complaint from None
    _refuse(values, origin)
    return {name: None if value in _EMPTY else value for name, value in values.items()}


def _refuse(values: dict[str, Any], origin: str) -> None:
    if values.get("captures"):
        raise SettingsError(
            f"{values['captures'][0]!r} is a capture",
            place=origin,
            expected="options only",
            advice="captures are named by --specdist PATH",
        )
    for name in _OF_THE_COMMAND:
        if values.get(name) not in _EMPTY:
            raise SettingsError(
                f"--{name.replace('_', '-')} is an option of a whole run of specdist check",
                place=origin,
                expected="how rows are read and checked",
                advice="pytest reports by itself (--junit-xml), and fails what is undecided",
            )
