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
    """

    target: Mapping[str, str] = field(default_factory=dict)
    draft: Mapping[str, str] = field(default_factory=dict)
    recipe: str | None = None
    draft_recipe: str | None = None
    roles: Mapping[Role, str] = field(default_factory=dict)
    rule: str | None = None


NO_OPTIONS = ProcessingOptions()
