"""Presets as text: the list of engines, and the page of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specdist.model.preset import Preset
from specdist.processing.preset_recipes import read_place
from specdist.processing.registry import processor_named
from specdist.reports import layout

_LABEL = 16
_FILLED = "Capital letters stand for your values; a step without one is left out."


def engine_list(presets: Sequence[Preset]) -> list[str]:
    """Name, version and rule of every engine, and a line about it."""
    lines = []
    for preset in presets:
        names = ", ".join((preset.name, *preset.aliases))
        lines += layout.wrap(f"{names}: {preset.title}", rest="    ")
        lines += layout.wrap(f"rule {preset.rule}; version {preset.version}", "    ")
    return lines


def engine_page(preset: Preset) -> list[str]:
    """All that a preset says, at 80 columns."""
    lines = [*layout.wrap(f"{preset.name}: {preset.title}", rest="  "), ""]
    lines += _entry("other names", ", ".join(preset.aliases))
    lines += _entry("version", preset.version)
    for number, source in enumerate(preset.sources):
        lines += _entry("" if number else "sources", source)
    lines += _entry("rule", preset.rule)
    for name, text in preset.numerics.items():
        lines += _entry(name, text)
    if preset.uniform != "real":
        lines += _entry("uniform", f"{preset.uniform} (applied only as --uniform)")
    lines += _entry("left unset", _values(preset.unset))
    lines += _entry("front end", _sent(preset))
    for name, reason in preset.refuses.items():
        lines += _entry("refuses", f"{name}: {reason}")
    lines += ["", "roles", *_roles(preset), *layout.wrap(_FILLED, "  ")]
    if preset.notes:
        lines += ["", "notes"]
        for note in preset.notes:
            lines += layout.wrap(note, "  - ")
    return lines


def _roles(preset: Preset) -> list[str]:
    tested = preset.tested
    target = {
        "reference": _template(preset.ordinary),
        "accept_target": _template(preset.verified),
        "residual_target": _template(preset.verified),
        "bonus_from": _template(preset.bonus),
    }
    draft = {
        "drafted_from": _template(preset.drafted),
        "accept_draft": tested if isinstance(tested, str) else _template(tested),
        "residual_draft": tested if isinstance(tested, str) else _template(tested),
    }
    return _side(target) + _side(draft)


def _side(written: Mapping[str, str]) -> list[str]:
    """The roles of one side; a long recipe that stands twice is written once."""
    lines: list[str] = []
    first: dict[str, str] = {}
    for role, recipe in written.items():
        same = first.setdefault(recipe, role) if len(recipe) > _LABEL else role
        lines += _entry(f"  {role}", recipe if same == role else f"as {same}", _LABEL + 3)
    return lines


def _template(entries: Sequence[str]) -> str:
    """A recipe with capital letters where the user's values go."""
    return ", ".join(map(_step_template, entries)) or "raw"


def _step_template(entry: str) -> str:
    place = read_place(entry)
    if place.step is not None:
        return place.step.text
    processor = processor_named(place.name)
    text = f"{processor.name}:{processor.metavar}"
    needed = (key for key in processor.required if key not in place.conventions)
    options = [*(f"{key}=..." for key in needed)]
    options += [f"{key}={value}" for key, value in place.conventions.items()]
    return ":".join([text, *options])


def _values(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text}" for name, text in values.items())


def _sent(preset: Preset) -> str:
    sent = _values(preset.engine_defaults)
    return f"sends {sent} by default (not applied here)" if sent else ""


def _entry(label: str, text: str, width: int = _LABEL) -> list[str]:
    """``label   text``, wrapped; nothing for an empty text."""
    return layout.wrap(text, f"{label:<{width}}") if text else []
