"""Presets found by name and read from TOML, checked key by key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from specdist.errors import SettingsError
from specdist.model.numerics import NAMES, read_numerics
from specdist.model.preset import ONE_HOT, Preset
from specdist.model.step_forms import nearest_names
from specdist.processing.preset_recipes import read_place
from specdist.processing.recipe import build_recipe
from specdist.processing.registry import processor_named
from specdist.rules.registry import read_rule

_TEXTS = ("title", "version", "rule", "uniform")
_LISTS = ("aliases", "sources", "notes")
_STEPS = ("ordinary", "verified", "bonus", "drafted", "tested")
_TABLES = ("numerics", "unset", "engine-defaults", "refuses")
_REQUIRED = ("title", "version", "sources", "rule", "ordinary", "drafted")
_KNOWN = (*_TEXTS, *_LISTS, *_STEPS, *_TABLES)
_SUFFIX = ".toml"


def engine_names() -> tuple[str, ...]:
    """The names of all presets, in alphabetical order."""
    found = (entry.name for entry in files("specdist.engines").iterdir())
    return tuple(sorted(n.removesuffix(_SUFFIX) for n in found if n.endswith(_SUFFIX)))


@cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order of `engine_names`."""
    return tuple(_packaged(name) for name in engine_names())


def found_preset(name: str) -> Preset | None:
    """The preset of that name or alias; dots, case, hyphens and underscores are forgiven."""
    meant = next((known for spelled, known in _spellings() if _plain(spelled) == _plain(name)), "")
    return _packaged(meant) if meant else None


def preset_named(name: str) -> Preset:
    """What `found_preset` finds. Raises `SettingsError` with the nearest names for nothing."""
    preset = found_preset(name)
    if preset is not None:
        return preset
    spelled = [spelling for spelling, _ in _spellings()]
    raise SettingsError(
        f"unknown engine {name[:40]!r}",
        expected="one of " + ", ".join(engine_names()),
        advice=nearest_names(name.strip().lower().replace("_", "-"), spelled)
        or "specdist engines lists what each of them does",
    )


def read_preset(name: str, text: str) -> Preset:
    """The preset that a TOML text describes.

    Lists left out: `verified` and `bonus` are `ordinary`, `tested` is `drafted`. Raises
    `SettingsError` naming file and key for unknown keys, wrong types and unknown steps, rules,
    numeric options and values.
    """
    import tomllib

    file = f"engines/{name}{_SUFFIX}"
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise SettingsError(f"not valid TOML: {error}", place=file) from None
    values = {key: _value(key, item, f"{file}, {key}") for key, item in content.items()}
    for key in _REQUIRED:
        if key not in values:
            raise SettingsError(f"the key {key!r} is missing", place=file)
    ordinary, drafted = values["ordinary"], values["drafted"]
    preset = Preset(
        name=name,
        title=values["title"],
        version=values["version"],
        sources=values["sources"],
        rule=values["rule"],
        ordinary=ordinary,
        verified=values.get("verified", ordinary),
        bonus=values.get("bonus", ordinary),
        drafted=drafted,
        tested=values.get("tested", drafted),
        aliases=values.get("aliases", ()),
        uniform=values.get("uniform", "real"),
        numerics=values.get("numerics", {}),
        unset=values.get("unset", {}),
        engine_defaults=values.get("engine-defaults", {}),
        refuses=values.get("refuses", {}),
        notes=values.get("notes", ()),
    )
    _check(preset, file)
    return preset


@cache
def _packaged(name: str) -> Preset:
    return read_preset(name, _text(name))


@cache
def _spellings() -> tuple[tuple[str, str], ...]:
    """Every name and alias, each with the preset that it means."""
    import tomllib

    aliases = {name: tomllib.loads(_text(name)).get("aliases", []) for name in engine_names()}
    return tuple((spelled, name) for name in aliases for spelled in (name, *aliases[name]))


def _text(name: str) -> str:
    return files("specdist.engines").joinpath(f"{name}{_SUFFIX}").read_text("utf-8")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _value(key: str, value: Any, place: str) -> Any:
    """The value of a key in its final form; its type is checked here, its meaning later."""
    if key not in _KNOWN:
        raise SettingsError(
            "unknown key",
            place=place,
            expected=", ".join(_KNOWN),
            advice=nearest_names(key, _KNOWN),
        )
    if key in _TEXTS or (key == "tested" and value == ONE_HOT):
        if isinstance(value, str) and value:
            return value
        raise SettingsError("not a text", place=place, expected="a text")
    if key in _TABLES:
        if isinstance(value, Mapping) and _are_texts(value.values()):
            return dict(value)
        raise SettingsError("not a table of texts", place=place, expected='names = "texts"')
    if isinstance(value, list) and _are_texts(value) and (value or key in _STEPS):
        return tuple(value)
    raise SettingsError("not a list of texts", place=place, expected="a list of texts")


def _are_texts(items: Iterable[object]) -> bool:
    return all(isinstance(item, str) and item for item in items)


def _check(preset: Preset, file: str) -> None:
    """Reads everything that stands in a preset once, so that a mistake is found at once."""
    steps = {
        "ordinary": preset.ordinary,
        "verified": preset.verified,
        "bonus": preset.bonus,
        "drafted": preset.drafted,
        "tested": () if isinstance(preset.tested, str) else preset.tested,
    }
    trials: list[tuple[str, Any]] = [("rule", lambda: read_rule(preset.rule))]
    trials += [(key, lambda e=entry: read_place(e)) for key, es in steps.items() for entry in es]
    trials += [(f"refuses.{name}", lambda n=name: processor_named(n)) for name in preset.refuses]
    trials += [("unset", lambda: build_recipe(preset.unset))]
    trials += [("uniform", lambda: read_numerics({"uniform": preset.uniform}))]
    trials += [("numerics", lambda: read_numerics(preset.numerics))]
    for key, attempt in trials:
        try:
            attempt()
        except SettingsError as error:
            raise error.at(f"{file}, {key}") from None
    for name in preset.numerics:
        if name not in NAMES:
            raise SettingsError(
                f"unknown numeric option {name!r}",
                place=f"{file}, numerics",
                expected=", ".join(NAMES),
                advice=nearest_names(name, NAMES),
            )
