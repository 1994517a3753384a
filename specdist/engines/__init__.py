"""Engines as presets: one flat TOML file each, named like the engine."""

from specdist.engines.loading import engine_names, preset_named, presets, read_preset

__all__ = ["engine_names", "preset_named", "presets", "read_preset"]
