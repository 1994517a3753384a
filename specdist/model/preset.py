"""An engine's preset as data: what its rows go through, place by place, and which rule it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ONE_HOT = "one-hot"


@dataclass(frozen=True, slots=True)
class Preset:
    """One engine, as read from its sources. Flat: an engine that needs an "if" is two presets.

    The lists hold step entries in order: a processor's name with options but no value
    (``top-k:ties=lowest-id``) is the place and the convention for the user's value of that name,
    a whole step (``temperature:0``) stands whatever the user says. A processor may stand twice.
    ``ordinary`` fills `reference`, ``verified`` fills `accept_target` and `residual_target`,
    ``bonus`` fills `bonus_from`, ``drafted`` fills `drafted_from`, ``tested`` fills `accept_draft`
    and `residual_draft`, or is the word ``one-hot``.

    ``numerics`` are texts under the names of `specdist.model.numerics`. ``uniform`` is the grid of
    the random numbers of the test, stated and not applied: on any grid every law is off by its
    rounding, so that no engine would be equal; ``--uniform`` asks about it. ``unset`` are the
    values in force where the user leaves an option out. ``engine_defaults`` are what the engine's
    own front end sends: information, never applied. ``refuses`` maps an option to the reason why
    the engine does not take it when it speculates. ``notes`` are facts that a user must know.
    """

    name: str
    title: str
    version: str
    sources: tuple[str, ...]
    rule: str
    ordinary: tuple[str, ...]
    verified: tuple[str, ...]
    bonus: tuple[str, ...]
    drafted: tuple[str, ...]
    tested: tuple[str, ...] | str
    aliases: tuple[str, ...] = ()
    uniform: str = "real"
    numerics: Mapping[str, str] = field(default_factory=dict)
    unset: Mapping[str, str] = field(default_factory=dict)
    engine_defaults: Mapping[str, str] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def tests_one_hot(self) -> bool:
        """Whether the drafted token is tested as a point mass."""
        return self.tested == ONE_HOT

    @property
    def target_entries(self) -> tuple[str, ...]:
        """The entries of all rows of the target."""
        return self.ordinary + self.verified + self.bonus

    @property
    def draft_entries(self) -> tuple[str, ...]:
        """The entries of all rows of the draft."""
        return self.drafted + (self.tested if isinstance(self.tested, tuple) else ())
