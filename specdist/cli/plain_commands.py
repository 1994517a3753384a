"""Commands whose option values stay the texts that were typed.

typer makes a pydantic adapter for each option of a command, which takes longer than a small check
itself. Every option here is a text, a list of texts or a flag, and `settings` reads the texts, so
the conversion is replaced by none. Versions of typer without such adapters are left alone.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class _AsTyped:
    """Takes the place of typer's conversion."""

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """The value itself; an empty tuple for a repeatable option that was not given."""
        return () if value is None and (param.multiple or param.nargs == -1) else value


def _unconverted(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if hasattr(parameter, "_runtime_param"):
            parameter._runtime_param = _AsTyped
    return parameters


class PlainCommand(TyperCommand):
    """One command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of the command, ``--help`` included."""
        return _unconverted(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The command that holds the others."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters before the command's name."""
        return _unconverted(super().get_params(ctx))
