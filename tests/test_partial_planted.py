"""Bugs that rows known in part invite, planted: the comparison with complete rows sees each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import pytest

from specdist.errors import SpecdistError
from specdist.processing import (
    box_limits,
    box_order,
    box_powers,
    box_prefix,
    partial_changes,
    partial_reading,
    partial_working_row,
)
from specdist.processing.boxes import Field, Verdict
from specdist.processing.spans import Span
from tests.test_partial_processing import run

SEEDS = range(6_000)
ZERO = Fraction(0)


@dataclass(frozen=True)
class Bug:
    name: str
    owner: Any
    attribute: str
    make: Callable[[Any], Any]


def _listed_alone(original: Any) -> Any:
    """The listed part is divided by its own sum."""

    def total(row: Any) -> Span:
        sharp, low, high = row.listing.sums()
        return sharp.plus(Span(low, high))

    return total


def _below_cap(original: Any) -> Any:
    """No unlisted token is as likely as the least likely listed one."""

    def best(order: Any, sign: float) -> Any:
        key, tie = original(order, sign)
        return (nextafter(key, -inf) if key not in (inf, -inf) else key, tie)

    return best


def _ids_of_ties(original: Any) -> Any:
    """Listed tokens come before unlisted ones of equal weight."""
    return lambda order, sign: (original(order, sign)[0], -inf)


def _no_slack(original: Any) -> Any:
    return lambda kind, largest, slack: original(kind, largest, ZERO)


def _no_width(original: Any) -> Any:
    return lambda row, values: original(row, replace(values, half_width=ZERO))


def _evenly(original: Any) -> Any:
    """What is left is spread evenly, at both ends."""

    def power_sum(ranges: Any, total: Span, exponent: Fraction) -> Span:
        found = original(ranges, total, exponent)
        return Span(found.most, found.most) if exponent < 1 else Span(found.least, found.least)

    return power_sum


def _unlisted_stay_as_they_are(original: Any) -> Any:
    """A bias or penalty on an unlisted token changes nothing."""
    return lambda row, tokens: row


def _banned_leave_their_mass(original: Any) -> Any:
    """A banned unlisted token leaves its mass to the other unlisted ones."""

    def drop(row: Any, tokens: Any) -> Any:
        made = original(row, [x for x in tokens if row.listing.holds(x)])
        return replace(made, unlisted=made.unlisted.without(row.unlisted.among(tokens)))

    return drop


def _lower_ends(original: Any) -> Any:
    """What may be before a token is counted with its lower end."""

    def blurred(order: Any) -> Any:
        found = original(order)
        return [around._replace(maybe=around.sure, maybe_high=around.sure_low) for around in found]

    return blurred


def _whole_mass(original: Any) -> Any:
    """The prefix is measured by the listed tokens."""

    def prefix(field: Field, *rest: Any) -> Verdict:
        listed = sum(box.low for box in field.boxes) * field.unit + field.left_out
        made = replace(field, sums=lambda: (Span.of(listed), field.rest))
        return original(made, *rest)

    return prefix


def _nothing_open(original: Any) -> Any:
    """What is open goes."""

    def verdict(field: Field, kept: Any, undecided: Any, *rest: Any, **more: Any) -> Verdict:
        return original(field, kept, (), *rest, **more)

    return verdict


def _largest_is_listed(original: Any) -> Any:
    """No unlisted token is the most likely one."""
    return lambda self, field: (original(self, field), setattr(self, "group_key", -inf))[0]


BUGS = [
    Bug("the listed part is renormalised", partial_working_row.PartialRow, "sum_within_boxes",
        _listed_alone),
    Bug("no tie with the cap", box_order.Order, "_best_of_group", _below_cap),
    Bug("ties with the cap go to the listed", box_order.Order, "_best_of_group", _ids_of_ties),
    Bug("no slack", partial_reading, "_stored_sum", _no_slack),
    Bug("no half width", partial_reading, "_read", _no_width),
    Bug("the rest is spread evenly", box_powers, "power_sum", _evenly),
    Bug("unlisted tokens keep their cap", partial_changes, "_named", _unlisted_stay_as_they_are),
    Bug("banned tokens leave their mass", partial_changes, "drop", _banned_leave_their_mass),
    Bug("only sure tokens are before", box_order.Order, "_blurred", _lower_ends),
    Bug("the prefix of the listed", box_prefix, "prefix", _whole_mass),
    Bug("open tokens go, top-k", box_order, "verdict", _nothing_open),
    Bug("open tokens go, top-p", box_prefix, "verdict", _nothing_open),
    Bug("open tokens go, min-p and epsilon", box_limits, "verdict", _nothing_open),
    Bug("the largest is listed", box_limits._Largest, "__init__", _largest_is_listed),
]  # fmt: skip


def is_seen() -> bool:
    """Whether some seed disagrees, or is refused."""
    for seed in SEEDS:
        try:
            if run(seed)[1]:
                return True
        except (SpecdistError, ValueError, LookupError, AssertionError):
            return True
    return False


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_seen(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    original = getattr(bug.owner, bug.attribute)
    monkeypatch.setattr(bug.owner, bug.attribute, bug.make(original))
    if bug.attribute == "power_sum":
        from specdist.processing import float_listing, rational_listing

        for owner in (float_listing, rational_listing):
            monkeypatch.setattr(owner, "power_sum", bug.make(original))
    assert is_seen()
