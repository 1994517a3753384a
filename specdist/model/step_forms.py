"""How a named thing with a value and options is written: ``name[:value][:option=value...]``.

Processors, acceptance rules and keep rules are all written this way; each says its name, how its
value is read, and which options it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from specdist.errors import SettingsError
from specdist.model.recipe import Argument, RecipeStep
from specdist.model.value_texts import Reader, shortened, written_argument


@dataclass(frozen=True, slots=True)
class Option:
    """A named option, ``name=value``. An option left out has its ``default``."""

    name: str
    read: Reader
    default: Argument
    summary: str


class Form(Protocol):
    """What can be written with a value and options. ``value`` is None where there is no value."""

    @property
    def name(self) -> str: ...

    @property
    def metavar(self) -> str: ...

    @property
    def value(self) -> Reader | None: ...

    @property
    def options(self) -> tuple[Option, ...]: ...

    @property
    def required(self) -> tuple[str, ...]: ...


def nearest_names(
    name: str, valid: Iterable[str], listed: Callable[[str], str] = lambda name: name
) -> str:
    """Advice that names the valid names nearest to ``name``; empty when none is near. ``listed``
    gives the name of an alias that stands in lists."""
    import difflib

    near = difflib.get_close_matches(name[:80], list(valid), n=3, cutoff=0.6)
    names = dict.fromkeys(map(listed, near))
    return f"did you mean {' or '.join(repr(close) for close in names)}?" if names else ""


def read_step(form: Form, text: str) -> RecipeStep:
    """One step from the text after its name: ``[value] (":" option "=" value)*``.

    Raises `SettingsError` that names the value or option and what was expected.
    """
    value, *assignments = text.split(":") if text else [""]
    if form.value is None:
        assignments = [value, *assignments] if value.strip() else assignments
    given = _given(form, assignments)
    missing = [key for key in form.required if key not in given]
    if missing:
        raise SettingsError(
            f"{form.name} needs the option{'s' if len(missing) > 1 else ''} "
            + " and ".join(map(repr, missing)),
            expected=_head(form) + "".join(f":{key}=..." for key in form.required),
            advice="; ".join(_choices(form, key) for key in missing),
        )
    if form.value is None:
        return _step(form, None, given)
    try:
        return _step(form, form.value(form.name, value), given)
    except SettingsError as error:
        raise wrong_value(form, value, error) from None


def _given(form: Form, assignments: Sequence[str]) -> dict[str, Argument]:
    readers = {option.name: option.read for option in form.options}
    given: dict[str, Argument] = {}
    for assignment in assignments:
        key, equals, chosen = assignment.partition("=")
        key = key.strip()
        if not equals or key not in readers:
            raise unknown_option(form, assignment)
        if key in given:
            raise SettingsError(
                f"{form.name}: option {key!r} is given twice", expected="each option once"
            )
        given[key] = readers[key](f"{form.name}:{key}", chosen)
    return given


def _step(form: Form, value: Argument | None, given: dict[str, Argument]) -> RecipeStep:
    chosen = {option.name: given.get(option.name, option.default) for option in form.options}
    text = form.name if value is None else f"{form.name}:{written_argument(value)}"
    for option in form.options:
        if chosen[option.name] != option.default or option.name in form.required:
            text += f":{option.name}={written_argument(chosen[option.name])}"
    arguments = chosen.items() if value is None else (("value", value), *chosen.items())
    return RecipeStep(form.name, tuple(arguments), text)


def unknown_option(form: Form, assignment: str) -> SettingsError:
    """An option that the form does not have, or a value of one without its name."""
    key = assignment.partition("=")[0].strip()
    meant = [] if "=" in assignment else _options_taking(form, key)
    names = [option.name for option in form.options]
    if "=" not in assignment and key in names:
        advice = f"the option needs a value: {_choices(form, key)}"
    elif len(meant) == 1:
        advice = f"did you mean {meant[0] + '=' + key!r}?"
    else:
        advice = nearest_names(key, names)
    return SettingsError(
        f"{form.name} has no option {shortened(assignment)!r}",
        expected=f"options of {form.name}: "
        + (", ".join(f"{name}=..." for name in names) or "none"),
        advice=advice or f"write {_head(form)}[:OPTION=VALUE]",
    )


def wrong_value(form: Form, value: str, error: SettingsError) -> SettingsError:
    """The complaint about a value, with advice where an option was joined to it."""
    names = (option.name for option in form.options)
    option = next((name for name in names if f"{name}=" in value), "")
    if option and not error.advice:
        start, _, rest = value.partition(f"{option}=")
        meant = f"{start.strip(' ,;+')}:{option}={rest}"
        error.advice = f"options follow a ':'; did you mean {shortened(meant)!r}?"
    return error


def _head(form: Form) -> str:
    return form.name if form.value is None else f"{form.name}:{form.metavar}"


def _choices(form: Form, key: str) -> str:
    summary = next(option.summary for option in form.options if option.name == key)
    return f"{key}: {summary}"


def _options_taking(form: Form, word: str) -> list[str]:
    """The options for which ``word`` is a valid value."""
    fitting = []
    for option in form.options:
        try:
            option.read(option.name, word)
        except SettingsError:
            continue
        fitting.append(option.name)
    return fitting
