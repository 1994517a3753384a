"""Engines as presets: one flat TOML file each, named like the engine."""

from specdist.engines.loading import (
    engine_names,
    found_preset,
    preset_named,
    presets,
    read_preset,
)

__all__ = ["engine_names", "found_preset", "preset_named", "presets", "read_preset"]
