"""One option as data, and commands that take whole groups of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import typer

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Option:
    """One option. ``name`` is the long name without dashes, and the key in ``specdist.toml``.

    ``form`` is "value" (one text), "list" (repeatable), "pair" (two texts) or "flag". ``in_config``
    tells whether a config file may set it (input options never: a capture knows best what it
    holds); ``choices`` are all its values, where they are few.
    """

    name: str
    panel: str
    help: str
    metavar: str = "TEXT"
    form: Literal["value", "list", "pair", "flag"] = "value"
    short: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    in_config: bool = True

    @property
    def parameter(self) -> str:
        """The name of the function parameter that receives the value."""
        return self.name.replace("-", "_")


def takes(*groups: Iterable[Option]) -> Callable[[Command], Command]:
    """Gives a command the options of these groups; it receives them through ``**values``."""
    options = [option for group in groups for option in group]

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters = [*own, *(_parameter(option) for option in options)]
        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def described(option: Option) -> str:
    """The help text with the values an option can have and its default."""
    text = option.help
    if option.choices:
        text = f"{text[:-1]}: {', '.join(option.choices[:-1])} or {option.choices[-1]}."
    return text if option.default is None else f"{text[:-1]} (default {option.default})."


def _parameter(option: Option) -> inspect.Parameter:
    kinds: dict[str, Any] = {
        "value": str | None,
        "list": list[str] | None,
        "pair": tuple[str, str] | None,
        "flag": bool,
    }
    flags = [f"--{option.name}", *([f"-{option.short}"] if option.short else [])]
    declared = typer.Option(
        *flags,
        help=described(option),
        metavar="" if option.form == "flag" else option.metavar,
        rich_help_panel=option.panel,
        autocompletion=_completion(option.choices) if option.choices else None,
        show_default=False,
    )
    return inspect.Parameter(
        option.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.form == "flag" else None,
        annotation=Annotated[kinds[option.form], declared],
    )


def _completion(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete
