"""Commands whose option values stay the texts that were typed.

typer makes a pydantic adapter for each option of a command, which takes longer than a small check
itself. Every option here is a text, a list of texts or a flag, and `settings` reads the texts, so
the conversion is replaced by none. Versions of typer without such adapters are left alone.

An option of one value that is typed twice is refused: which one was meant cannot be known.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from specdist.errors import SettingsError


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


def _refuse_repeated(order: list[Any]) -> None:
    """``order`` holds the parameters as often as they were typed."""
    seen = []
    for parameter in order:
        single = parameter.param_type_name == "option" and not parameter.multiple
        if single and not parameter.is_flag and parameter in seen:
            name = max(parameter.opts, key=len)
            raise SettingsError(
                f"{name} is given twice", place="command line", expected="one value"
            )
        seen.append(parameter)


class PlainCommand(TyperCommand):
    """One command."""

    def make_parser(self, ctx: Any) -> Any:
        """The parser, which refuses what is typed twice."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            values, rest, order = parse(args)
            if not ctx.resilient_parsing:
                _refuse_repeated(order)
            return values, rest, order

        vars(parser)["parse_args"] = parse_once
        return parser

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of the command, ``--help`` included."""
        return _unconverted(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The command that holds the others."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters before the command's name."""
        return _unconverted(super().get_params(ctx))
