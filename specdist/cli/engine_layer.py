"""The engine that a run is asked about, as the lowest layer of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from specdist.cli.layers import Layer, Layered

if TYPE_CHECKING:
    from specdist.model.preset import Preset
    from specdist.model.settings import CheckSettings


def chosen_preset(chosen: Layered) -> Preset | None:
    """The preset of the engine that the layers name; None without one.

    Raises `SettingsError` with the nearest names and the origin for an unknown engine.
    """
    from specdist.engines import preset_named

    def read(name: str, text: str) -> Preset:
        return preset_named(text)

    preset: Preset | None = chosen.get("engine", read)
    return preset


def with_preset(chosen: Layered, preset: Preset) -> Layered:
    """The layers above what the engine does by itself; the engine under its own name.

    A recipe replaces the engine's values of unset options, so these are left out beside one.
    """
    values: dict[str, Any] = {**preset.numerics, "rule": preset.rule}
    if not any("recipe" in layer.values for layer in chosen.layers):
        values |= preset.unset
    named = [Layer(layer.origin, _renamed(layer.values, preset.name)) for layer in chosen.layers]
    return Layered([*named, Layer(f"engine {preset.name}", values)])


_warned: ContextVar[set[str] | None] = ContextVar("warned", default=None)


@contextmanager
def warned_once() -> Iterator[None]:
    """Inside, every warning is written once, for however many settings it holds."""
    token = _warned.set(set())
    try:
        yield
    finally:
        _warned.reset(token)


def warn_of_refused(checking: CheckSettings) -> None:
    """Says on stderr which options the engine refuses when it speculates: the law is then that of
    its code, which no request reaches."""
    from specdist.cli import console
    from specdist.processing import resolve_recipes
    from specdist.reports import layout

    layers = (checking.defaults, checking.overrides)
    said = _warned.get()
    for sentence in resolve_recipes(layers, checking.preset).refused:
        if said is not None:
            if sentence in said:
                continue
            said.add(sentence)
        console.err("\n".join(layout.wrap(f"warning: {sentence}", rest="    ")) + "\n")


def _renamed(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {**values, "engine": name} if "engine" in values else values
