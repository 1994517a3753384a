"""What is wrong with a recipe's text, and what was probably meant by it."""

from __future__ import annotations

import re

from specdist.errors import SettingsError
from specdist.model.step_forms import Option
from specdist.model.value_texts import shortened
from specdist.processing.processor import Processor
from specdist.processing.registry import PROCESSORS, processor_named

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
