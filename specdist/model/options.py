"""Processing options as written (texts), in layers, before they become recipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdist.model.role import Role


@dataclass(frozen=True, slots=True)
class ProcessingOptions:
    """One layer of processing options: a capture's settings, the command line, a config file.

    ``target`` maps a processor name (``"temperature"``, ``"top-p"``) to its value text and holds
    for both sides; ``draft`` holds what differs on the draft side only. ``recipe`` replaces
    ``target`` as a whole, ``draft_recipe`` the draft side's. ``roles`` maps a role to its recipe.
    ``numerics`` and ``proposal`` hold the options of `model.numerics` and `model.proposal` by name.
    """

    target: Mapping[str, str] = field(default_factory=dict)
    draft: Mapping[str, str] = field(default_factory=dict)
    recipe: str | None = None
    draft_recipe: str | None = None
    roles: Mapping[Role, str] = field(default_factory=dict)
    rule: str | None = None
    numerics: Mapping[str, str] = field(default_factory=dict)
    proposal: Mapping[str, str] = field(default_factory=dict)


NO_OPTIONS = ProcessingOptions()
