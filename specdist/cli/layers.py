"""Layers of settings: where a value was found, and the highest layer that has one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from specdist.cli.option import Option
from specdist.errors import SpecdistError

_VARIABLES = (
    ("engine", "SPECDIST_ENGINE"),
    ("format", "SPECDIST_FORMAT"),
    ("color", "SPECDIST_COLOR"),
)


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place, by option name."""

    origin: str
    values: Mapping[str, Any]


class Layered:
    """Looks a value up in the layers, highest first; complaints name the layer."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        self.layers = tuple(layers)

    def shown(self, option: Option) -> tuple[object, str]:
        """Value and origin; the default when no layer has it."""
        for layer in self.layers:
            if option.name in layer.values:
                return layer.values[option.name], layer.origin
        return option.default, "default"

    def get(self, name: str, convert: Any, *arguments: Any) -> Any:
        """``convert(name, text, *arguments)`` of the highest layer's text; None without one."""
        for layer in self.layers:
            if name in layer.values:
                with placed(layer.origin):
                    return convert(name, layer.values[name], *arguments)
        return None

    def flag(self, name: str) -> bool:
        """Whether any layer sets the flag."""
        return any(layer.values.get(name) for layer in self.layers)


class placed:  # noqa: N801 - reads as a word: with placed("specdist.toml")
    """Fills in the origin of a setting in every error raised inside."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SpecdistError):
            error.at(self.origin)


def environment(variables: Mapping[str, str]) -> list[Layer]:
    """One layer for each variable that is set."""
    return [
        Layer(f"environment {variable}", {name: variables[variable]})
        for name, variable in _VARIABLES
        if variables.get(variable)
    ]
