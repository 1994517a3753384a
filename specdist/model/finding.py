"""Findings and notes: data that the renderers translate and never compute."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from specdist.model.figure import Figure


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Shown(StrEnum):
    """Where a text report shows a finding: by itself, with the main finding of its position, or
    there when everything is unfolded."""

    ALONE = "alone"
    INSIDE = "inside"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest set of tokens to which the rows were cut and that still shows the finding: the
    total variation of the cut position, and the line that shows it again."""

    tokens: tuple[int, ...]
    total_variation: Figure
    reproduce: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say about a step, under an ident of the catalogue.

    ``notes`` are full sentences shown below the finding; ``repairs`` are the inclusion-minimal
    sets of parts whose repair restores equality (empty until a cause is proven), ``cause`` the same
    in words, a sentence a set, and ``restores`` what they bring back; ``reproduce`` is a command
    line to paste; ``smallest`` is the position cut to few tokens; ``position`` is the index it is
    about, -1 for the bonus row.
    """

    ident: str
    severity: Severity
    message: str
    position: int | None = None
    notes: tuple[str, ...] = ()
    repairs: tuple[tuple[str, ...], ...] = ()
    reproduce: str | None = None
    allowed: bool = False
    cause: tuple[str, ...] = ()
    restores: str = "equality"
    shown: Shown = Shown.ALONE
    smallest: Smallest | None = None
