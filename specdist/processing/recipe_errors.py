"""What is wrong with a recipe's text, and what was probably meant by it."""

from __future__ import annotations

import re

from specdist.errors import SettingsError
from specdist.model.value_texts import shortened
from specdist.processing.processor import Option, Processor
from specdist.processing.registry import PROCESSORS, nearest_names, processor_named

SYNTAX = 'NAME:VALUE[:OPTION=VALUE], steps separated by ","'
_APART = re.compile(r"\s*[=\s]\s*")


def not_a_step(text: str, part: str) -> SettingsError:
    """``raw``, ``one-hot`` or nothing among the steps of a recipe."""
    return SettingsError(
        f"recipe {shortened(text)!r} has {shortened(part.strip())!r} where a step belongs",
        expected=f"'raw', 'one-hot', or {SYNTAX}, such as 'temperature:0.8,top-p:0.95'",
    )


def no_value(part: str, before: str) -> SettingsError:
    """A part without a colon: an option after a comma, a value after ``=`` or a blank, a name
    alone. ``before`` is the part in front of it."""
    part = part.strip()
    pieces = _APART.split(part, maxsplit=1)
    owners = [p for p in PROCESSORS if "=" in part and pieces[0] in _names(p.options)]
    if owners:
        return _stray_option(part, before, owners)
    processor = processor_named(pieces[0])
    if len(pieces) == 1 or not pieces[1]:
        return SettingsError(
            f"step {processor.name!r} has no value",
            expected=f"{processor.name}:{processor.metavar}",
            advice=f"write {SYNTAX}",
        )
    return SettingsError(
        f"step {shortened(part)!r} has no ':' between name and value",
        expected=SYNTAX,
        advice=f"did you mean {shortened(f'{processor.name}:{pieces[1]}')!r}?",
    )


def unknown_option(processor: Processor, assignment: str) -> SettingsError:
    """An option that the processor does not have, or a value of one without its name."""
    key = assignment.partition("=")[0].strip()
    meant = [] if "=" in assignment else _options_taking(processor, key)
    names = _names(processor.options)
    advice = (
        f"did you mean {meant[0] + '=' + key!r}?" if len(meant) == 1 else nearest_names(key, names)
    )
    return SettingsError(
        f"{processor.name} has no option {shortened(assignment)!r}",
        expected=f"options of {processor.name}: "
        + (", ".join(f"{name}=..." for name in names) or "none"),
        advice=advice or f"write {SYNTAX}",
    )


def wrong_value(processor: Processor, value: str, error: SettingsError) -> SettingsError:
    """The complaint about a value, with advice where an option was joined to it."""
    option = next((o for o in _names(processor.options) if f"{o}=" in value), "")
    if option and not error.advice:
        start, _, rest = value.partition(f"{option}=")
        meant = f"{start.strip(' ,;+')}:{option}={rest}"
        error.advice = f"options follow a ':'; did you mean {shortened(meant)!r}?"
    return error


def _stray_option(part: str, before: str, owners: list[Processor]) -> SettingsError:
    previous = _known(before.partition(":")[0])
    owner = previous if previous in owners else None
    example = f"{before.strip()}:{part}" if owner else f"{owners[0].name}:VALUE:{part}"
    return SettingsError(
        f"{shortened(part)!r} is an option, not a step",
        expected=SYNTAX,
        advice=f"options follow a ':'; did you mean {shortened(example)!r}?"
        if owner
        else f"options follow a ':', as in {shortened(example)!r}",
    )


def _known(name: str) -> Processor | None:
    written = name.strip().replace("_", "-")
    return next((p for p in PROCESSORS if written in (p.name, *p.aliases)), None)


def _names(options: tuple[Option, ...]) -> list[str]:
    return [option.name for option in options]


def _options_taking(processor: Processor, word: str) -> list[str]:
    """The options for which ``word`` is a valid value."""
    fitting = []
    for option in processor.options:
        try:
            option.read(option.name, word)
        except SettingsError:
            continue
        fitting.append(option.name)
    return fitting
