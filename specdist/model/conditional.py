"""Conditional models: a row for every prefix that a step may reach, for enumeration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specdist.errors import CaptureError
from specdist.model.role import Role
from specdist.model.row import Row

Prefix = tuple[int, ...]
"""The tokens emitted or drafted since the step began; ``()`` at its start."""


@dataclass(frozen=True, slots=True)
class ConditionalRows:
    """The rows of one model by prefix.

    ``rows`` holds rows for whole prefixes, ``after`` rows by the last token of a prefix (a
    first-order Markov model), ``default`` the row of every other prefix. ``place`` is where the
    table stands, for messages.
    """

    place: str
    rows: Mapping[Prefix, Row] = field(default_factory=dict)
    after: Mapping[int, Row] = field(default_factory=dict)
    default: Row | None = None

    def row(self, prefix: Prefix) -> Row:
        """The row after ``prefix``: the most particular entry. Raises CaptureError without one."""
        found = self.rows.get(prefix)
        if found is None and prefix:
            found = self.after.get(prefix[-1])
        found = found or self.default
        if found is None:
            raise CaptureError(
                f"no row for the prefix {written_prefix(prefix)}",
                place=self.place,
                expected="a row for every prefix that can be reached, or a default row",
            )
        return found

    @property
    def every_row(self) -> tuple[Row, ...]:
        """All rows, each once."""
        more = () if self.default is None else (self.default,)
        return (*self.rows.values(), *self.after.values(), *more)


@dataclass(frozen=True, slots=True)
class Models:
    """Target and draft of a step by prefix. ``drafts`` holds one model, or one for each rank among
    siblings (several drafters); ``roles`` fills single roles with rows of their own by prefix."""

    target: ConditionalRows
    drafts: tuple[ConditionalRows, ...]
    roles: Mapping[Role, ConditionalRows] = field(default_factory=dict)

    def draft(self, rank: int = 0) -> ConditionalRows:
        """The drafter of the child of that rank among its siblings."""
        return self.drafts[rank if len(self.drafts) > 1 else 0]

    @property
    def size(self) -> int:
        """Tokens in the vocabulary of the target."""
        return self.target.every_row[0].size


def written_prefix(prefix: Prefix) -> str:
    """``"0,2"``, as in the keys of a table; the start is ``""``."""
    return '"' + ",".join(map(str, prefix)) + '"'
