"""The ``settings`` of a JSON capture: processing options as texts, by side and role."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specdist.errors import CaptureError
from specdist.model import numerics, proposal
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.readers.json_numbers import type_name
from specdist.readers.naming import nearest, shorten
from specdist.readers.strict_json import Literal, join

PROCESSOR_KEYS = (
    "temperature",
    "top-k",
    "top-p",
    "min-p",
    "typical-p",
    "top-n-sigma",
    "epsilon",
    "eta",
    "logit-bias",
    "allowed",
    "banned",
    "repetition-penalty",
    "presence-penalty",
    "frequency-penalty",
    "min-tokens",
    "vocab-map",
    "vocab-size",
    "retokenise",
    "lazy-allowed",
    "cast",
    "inverse-cdf",
    "gumbel-race",
)
"""Names of processing options; a test compares them with the registry of processors."""

MODEL_KEYS = numerics.NAMES + proposal.NAMES
"""Names of the options of the numeric model and of dropped draft tokens."""

_OTHER_KEYS = ("draft", "recipe", "draft-recipe", "rule", "roles")


def read_settings(value: Any, path: str, file: str) -> ProcessingOptions:
    """The options of one ``settings`` object. Raises CaptureError with the JSON path."""
    members = object_at(value, path, file)
    target: dict[str, str] = {}
    draft: dict[str, str] = {}
    model: dict[str, str] = {}
    other: dict[str, tuple[Any, str]] = {}
    seen: set[str] = set()
    for key, item in members.items():
        name = key.replace("_", "-")
        if name in seen:
            raise _twice(key, path, file)
        seen.add(name)
        if name in PROCESSOR_KEYS:
            target[name] = text_of(item, join(path, key), file)
        elif name.removeprefix("draft-") in PROCESSOR_KEYS:
            draft[name.removeprefix("draft-")] = text_of(item, join(path, key), file)
        elif name in MODEL_KEYS:
            model[name] = _model_text(name, item, join(path, key), file)
        elif name in _OTHER_KEYS:
            other[name] = (item, join(path, key))
        else:
            raise unknown_key(key, path, file, _spelled(PROCESSOR_KEYS + MODEL_KEYS + _OTHER_KEYS))
    return replace(
        _options(target, draft, other, file),
        numerics={name: model[name] for name in numerics.NAMES if name in model},
        proposal={name: model[name] for name in proposal.NAMES if name in model},
    )


def _model_text(name: str, value: Any, path: str, file: str) -> str:
    """An option of the numeric model or of dropped draft tokens: a number or a text."""
    if name == "unnormalised" and isinstance(value, bool):
        return "yes" if value else "no"
    if name == "keep" and isinstance(value, list | dict):
        raise CaptureError(
            "keep cannot be " + type_name(value),
            place=f"{file}, {path}",
            expected='a keep rule such as "own-probability:3/10"',
            advice="keep probabilities by token stand beside the rows of a position",
        )
    return _scalar(value, path, file)


def _options(
    target: dict[str, str], draft: dict[str, str], other: dict[str, tuple[Any, str]], file: str
) -> ProcessingOptions:
    def optional(name: str) -> str | None:
        return text_of(other[name][0], other[name][1], file) if name in other else None

    draft_recipe = optional("draft-recipe")
    if "draft" in other:
        members, path = other["draft"]
        for key, item in object_at(members, path, file).items():
            name = key.replace("_", "-")
            if name in draft or (name == "recipe" and draft_recipe is not None):
                raise _twice(key, path, file)
            if name == "recipe":
                draft_recipe = text_of(item, join(path, key), file)
            elif name in PROCESSOR_KEYS:
                draft[name] = text_of(item, join(path, key), file)
            else:
                raise unknown_key(key, path, file, _spelled((*PROCESSOR_KEYS, "recipe")))
    roles = {}
    if "roles" in other:
        roles = read_role_recipes(other["roles"][0], other["roles"][1], file)
    return ProcessingOptions(
        target, draft, optional("recipe"), draft_recipe, roles, optional("rule")
    )


def read_role_recipes(value: Any, path: str, file: str) -> dict[Role, str]:
    """A map of role to recipe text. Raises CaptureError."""
    return {
        role_of(key, path, file): text_of(item, join(path, key), file)
        for key, item in object_at(value, path, file).items()
    }


def role_of(key: str, path: str, file: str) -> Role:
    """The role of that name, hyphens and underscores alike. Raises CaptureError."""
    try:
        return Role(key.replace("-", "_"))
    except ValueError:
        raise CaptureError(
            f"there is no role {shorten(key)!r}",
            place=f"{file}, {join(path, key)}",
            advice=nearest(key, [role.value for role in Role]),
        ) from None


def merged(below: ProcessingOptions, above: ProcessingOptions) -> ProcessingOptions:
    """One layer out of a capture's options and a step's own, which win."""
    return ProcessingOptions(
        {**below.target, **above.target},
        {**below.draft, **above.draft},
        above.recipe if above.recipe is not None else below.recipe,
        above.draft_recipe if above.draft_recipe is not None else below.draft_recipe,
        {**below.roles, **above.roles},
        above.rule if above.rule is not None else below.rule,
        {**below.numerics, **above.numerics},
        {**below.proposal, **above.proposal},
    )


def text_of(value: Any, path: str, file: str) -> str:
    """An option's value as a text: lists are joined with "+", maps written ``5=3/2+7=-1``."""
    if isinstance(value, str):
        return str(value)
    if type(value) is int:
        return str(value)
    if isinstance(value, list):
        return "+".join(_scalar(item, f"{path}[{i}]", file) for i, item in enumerate(value))
    if isinstance(value, dict):
        return "+".join(
            f"{key}={_scalar(item, join(path, key), file)}" for key, item in value.items()
        )
    raise CaptureError(
        f"an option cannot be {type_name(value)}",
        place=f"{file}, {path}",
        expected='a number, a text such as "4/5", or a list of token ids',
    )


def _scalar(value: Any, path: str, file: str) -> str:
    if isinstance(value, str | Literal) or type(value) is int:
        return str(value)
    raise CaptureError(
        f"expected a number or a text, not {type_name(value)}", place=f"{file}, {path}"
    )


def object_at(value: Any, path: str, file: str) -> dict[str, Any]:
    """``value`` if it is an object. Raises CaptureError."""
    if isinstance(value, dict):
        return value
    raise CaptureError(
        f"expected an object, not {type_name(value)}", place=f"{file}, {path or 'top level'}"
    )


def unknown_key(key: str, path: str, file: str, known: tuple[str, ...]) -> CaptureError:
    """The error for a key that means nothing here, with the nearest one that does."""
    return CaptureError(
        f"unknown key {shorten(key)!r}",
        place=f"{file}, {path or 'top level'}",
        advice=nearest(key, known),
    )


def _twice(key: str, path: str, file: str) -> CaptureError:
    return CaptureError(f"{shorten(key)!r} is set twice, in two spellings", place=f"{file}, {path}")


def _spelled(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.replace("-", "_") for name in names)
