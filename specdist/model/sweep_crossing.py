"""Where, along one swept option, the acceptance rate falls below a floor or rises to it again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from specdist.exact.interval import Interval


class Side(StrEnum):
    """A rate against a floor: it reaches it (``>=``), is below it, or its bound holds both."""

    REACHES = "reaches"
    BELOW = "below"
    OPEN = "open"


class Direction(StrEnum):
    """What happens to the rate at a crossing, as the swept value rises."""

    FALLS = "falls"
    RISES = "rises"


class Place(StrEnum):
    """How the place of a crossing is known.

    ``equal``: the rate equals the floor at ``low``, exactly, and is below it right beside.
    ``jump``: the rate is constant on both sides of ``low`` and jumps there; ``low`` is exact.
    ``whole``: the option takes whole numbers, and ``low`` and ``high`` are neighbours.
    ``between``: somewhere from ``low`` to ``high``, where it is proven on which side the rate is.
    """

    EQUAL = "equal"
    JUMP = "jump"
    WHOLE = "whole"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class Crossing:
    """One change of side. The rate is proven on one side of the floor at ``low`` and on the other
    at ``high``; at an exact value the two are equal, and the sides are those right beside it.

    ``before`` and ``after`` are the rates there. ``value_reaches``: whether an exact value itself
    reaches the floor. ``rounding``: rates closer to the floor than the rounding bound of their
    weights forbade to go on.
    """

    direction: Direction
    place: Place
    low: Fraction
    high: Fraction
    before: Interval
    after: Interval
    value_reaches: bool | None = None
    rounding: bool = False


@dataclass(frozen=True, slots=True)
class FloorAnswer:
    """All that is known about one floor along one swept option.

    ``grid`` counts the values of the sweep, ``reaching`` those whose rate reaches the floor and
    ``below`` those whose rate does not; ``open_at`` lists the others, ``equal_at`` the values whose
    rate is the floor exactly. ``complete``: the rate is constant between ``places`` values, and was
    worked out at and between all of them, so that no crossing is missed. ``whole``: the option
    takes whole numbers only, which are the places.
    """

    floor: Fraction
    grid: int
    reaching: int
    below: int
    open_at: tuple[Fraction, ...]
    equal_at: tuple[Fraction, ...]
    crossings: tuple[Crossing, ...]
    complete: bool = False
    places: int = 0
    whole: bool = False
