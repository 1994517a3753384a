"""Settings that a capture brings along: when they cannot be used, the capture is to blame.

A bad option of the command line is the same for every capture and ends the run. A bad setting
inside a capture makes that capture unreadable and leaves the others alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from specdist.errors import CaptureError, SettingsError
from specdist.model.capture import Position, Step
from specdist.model.numerics import read_numerics
from specdist.model.options import NO_OPTIONS
from specdist.model.proposal import read_proposal
from specdist.model.settings import CheckSettings
from specdist.processing import build_recipe, parse_recipe, resolve_recipes, role_recipe
from specdist.rules.any_rule import check_rule
from specdist.rules.keep_rules import read_keep

Trial = tuple[str, Callable[[], object]]
"""A place, and what raises SettingsError when the setting there is bad."""


def capture_fault(step: Step, settings: CheckSettings, error: SettingsError) -> CaptureError | None:
    """``error`` as an error of the capture, with file and JSON path; None when the command line
    or the config file has a part in it."""
    for place, attempt in _trials(step):
        try:
            attempt()
        except SettingsError as found:
            return _at(place, found)
    brought = step.options != NO_OPTIONS or any(
        p.roles or p.given or p.keep is not None or p.draft_map is not None for p in step.positions
    )
    others = settings.overrides != NO_OPTIONS or settings.defaults != NO_OPTIONS
    return _at(error.place or step.source, error) if brought and not others else None


def _trials(step: Step) -> Iterator[Trial]:
    options = step.options
    for side, named in (("", options.target), ("draft_", options.draft)):
        for name, text in named.items():
            place = f"{step.source}, settings.{side}{name.replace('-', '_')}"
            yield place, partial(build_recipe, {name: text})
    for key, recipe in (("recipe", options.recipe), ("draft_recipe", options.draft_recipe)):
        if recipe is not None:
            yield f"{step.source}, settings.{key}", partial(parse_recipe, recipe)
    for role, text in options.roles.items():
        yield f"{step.source}, roles.{role}", partial(role_recipe, role, text)
    if options.rule is not None:
        yield f"{step.source}, settings.rule", partial(check_rule, options.rule)
    for name, text in options.numerics.items():
        place = f"{step.source}, settings.{name.replace('-', '_')}"
        yield place, partial(read_numerics, {name: text})
    if "keep" in options.proposal:
        yield f"{step.source}, settings.keep", partial(read_keep, options.proposal["keep"])
    for name, text in options.proposal.items():
        place = f"{step.source}, settings.{name.replace('-', '_')}"
        yield place, partial(read_proposal, None, {name: text})
    if options.proposal:
        yield f"{step.source}, settings", partial(read_proposal, None, options.proposal)
    yield f"{step.source}, settings", partial(resolve_recipes, [options])
    for position in step.positions:
        yield from _position_trials(position)
    for request in step.requests:
        if request.options != options:
            yield from _trials(request)


def _position_trials(position: Position) -> Iterator[Trial]:
    path = position.target.place.removesuffix("target")
    for role, entry in position.roles.items():
        if isinstance(entry, str):
            yield f"{path}roles.{role}", partial(role_recipe, role, entry)


def _at(place: str, error: SettingsError) -> CaptureError:
    return CaptureError(error.message, place=place, expected=error.expected, advice=error.advice)
