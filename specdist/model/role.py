"""The places of a speculative sampler that should use the same distribution, by name."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A place in the sampler that uses a distribution (design: roles)."""

    REFERENCE = "reference"
    ACCEPT_TARGET = "accept_target"
    RESIDUAL_TARGET = "residual_target"
    BONUS_FROM = "bonus_from"
    DRAFTED_FROM = "drafted_from"
    ACCEPT_DRAFT = "accept_draft"
    RESIDUAL_DRAFT = "residual_draft"


TARGET_ROLES = (Role.REFERENCE, Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET, Role.BONUS_FROM)
DRAFT_ROLES = (Role.DRAFTED_FROM, Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT)
ONE_HOT_ROLES = (Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT)
TESTED_ROLES = (Role.ACCEPT_TARGET, Role.RESIDUAL_TARGET, *ONE_HOT_ROLES)
"""What the acceptance test and the residual see, with the sum that a row has where it keeps it."""
