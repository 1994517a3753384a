"""The steps that make an exact row anew: cut tokens, casts, grids, mixtures."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction
from math import ceil, lcm
from typing import TYPE_CHECKING, NamedTuple

from specdist.errors import RowError
from specdist.model.row import NumberFormat
from specdist.processing.cut_remarks import blurred_remark, own_sum_remark, share_slack
from specdist.processing.exact_signs import ExactSigns, signs_of
from specdist.processing.grid_cdf import grid_edges
from specdist.processing.grid_race import race, refuse_long_race
from specdist.processing.logit import ONE, ZERO, exact_sum, of_logit
from specdist.processing.number_rounding import distance_to_midpoint, quantum, rounded_to
from specdist.processing.working_row import Remade, Remark

if TYPE_CHECKING:
    from specdist.processing.rational_row import RationalRow

HALF = Fraction(1, 2)
"""A relative bound that says nothing about the weights any more."""


class CutShare(NamedTuple):
    """What each of the last tokens of a prefix keeps, and the relative bound of the new row."""

    weight: Fraction
    bound: Fraction


def cut_share(before: Fraction, wanted: Fraction, tokens: int, bound: Fraction) -> CutShare:
    """The weight ``(wanted - before) / tokens`` of the tokens that cross a prefix.

    Sums of weights with the relative ``bound`` are off by as much, so the difference is off by at
    most ``b / (1 - b) * (wanted + before)``. The bound returned is that of the new probabilities.
    """
    rest = wanted - before
    if bound >= HALF:
        return CutShare(rest / tokens, HALF)
    error = bound / (1 - bound) * (wanted + before)
    relative = max(bound, error / (rest - error)) if rest > error else HALF
    return CutShare(rest / tokens, share_error(relative) if bound else ZERO)


def share_error(bound: Fraction) -> Fraction:
    """The relative error of a share for a relative ``bound`` of the weights."""
    return min(share_slack(ONE, bound), HALF)


def power_error(bound: Fraction, power: Fraction) -> Fraction:
    """The relative error of ``w ** power``: ``(1 + b)^n - 1 <= n b / (1 - n b)``, n >= power."""
    grown = bound * max(ceil(power), 1)
    if not bound or power <= 1:
        return bound
    return min(grown / (1 - grown), HALF) if grown < HALF else HALF


def mass_outside(row: RationalRow, inside: Callable[[int], bool]) -> Fraction:
    """The probability of the kept tokens that are not inside."""
    outside = [x for x in row.logits if not inside(x)]
    if not outside:
        return ZERO
    by_token = row.weights().by_token
    return exact_sum(by_token[x] for x in outside) / exact_sum(by_token.values())


def rounded_logits(row: RationalRow, numbers: NumberFormat) -> RationalRow:
    """See `WorkingRow.rounded_logits`. What rounds to minus infinity is dropped."""
    if any(z.power for z in row.logits.values()):
        raise not_logits(row.place)
    rounded = {}
    for x, z in row.logits.items():
        value = rounded_to(z.shift, numbers)
        if value is not None:
            rounded[x] = of_logit(value)
        elif z.shift > 0:
            raise RowError(
                f"the logit of token {x} overflows {numbers}",
                place=row.place,
                expected=f"logits in the range of {numbers}",
            )
    return replace(row.kept(rounded.keys()), logits=rounded, mass=ONE)


def not_logits(place: str) -> RowError:
    """The complaint about a cast of logits on a row that holds none."""
    return RowError(
        "the row holds probabilities, so there are no logits to round",
        place=place,
        expected="a row of logits or log-probabilities, and no step that makes it anew",
        advice="of=probabilities rounds the probabilities",
    )


def rounded_probabilities(row: RationalRow, numbers: NumberFormat) -> RationalRow:
    """See `WorkingRow.rounded_probabilities`. What rounds to 0 is dropped."""
    shares, bound = row.shares()
    signs = signs_of(row.logits) if bound and row.mass == 1 else None
    rounded: dict[int, Fraction] = {}
    close = False
    for x, share in shares.items():
        value = row.mass * share
        made = _rounded(value, numbers)
        if bound and distance_to_midpoint(value, numbers) <= 2 * share_slack(value, bound):
            if signs is None:
                close = True
            else:
                made = _rounded_by_signs(signs, x, value, numbers)
        if made:
            rounded[x] = made
    if not rounded:
        raise RowError(f"every probability rounds to 0 in {numbers}", place=row.place)
    total = exact_sum(rounded.values())
    remarks = cast_remarks(numbers, total)
    if close:
        remarks += (blurred_remark("cast", "a rounding"),)
    return row.remade(Remade(rounded, row.size, ZERO, ("cast", numbers), total, remarks))


def cast_remarks(numbers: NumberFormat, total: Fraction) -> tuple[Remark, ...]:
    """What the sum of rounded probabilities has to be said about."""
    return own_sum_remark(f"probabilities in {numbers}", total - 1, "rounded, as cast asks")


def _rounded(value: Fraction, numbers: NumberFormat) -> Fraction:
    made = rounded_to(value, numbers)
    if made is None:
        raise RowError(f"a probability of {float(value):.6g} overflows {numbers}")
    return made


def _rounded_by_signs(
    signs: ExactSigns, token: int, value: Fraction, numbers: NumberFormat
) -> Fraction:
    """The rounding of a probability that is transcendental, so never on a midpoint itself."""
    unit = Fraction(2) ** quantum(value, numbers)
    middle = (value / unit).__floor__() * unit + unit / 2
    return middle + (unit if signs.mass_minus([token], middle) > 0 else -unit) / 2


def drawn_on_grid(row: RationalRow, points: int) -> RationalRow:
    """See `WorkingRow.drawn_on_grid`."""
    shares, bound = row.shares()
    common = lcm(*(share.denominator for share in shares.values()))
    whole = [share.numerator * (common // share.denominator) for share in shares.values()]
    after, close = grid_edges(whole, points, share_slack(ONE, bound))
    tokens = list(shares)
    signs = signs_of(row.logits) if bound else None
    remarks: tuple[Remark, ...] = ()
    if signs is not None:
        for entry in close:
            after[entry] = _exact_edge(signs, tokens[: entry + 1], after[entry], points)
    elif close:
        remarks = (blurred_remark("inverse-cdf", "a cumulative probability at a grid point"),)
    edges = zip(tokens, [0, *after], after, strict=False)
    counts = {x: Fraction(edge - before) for x, before, edge in edges if edge > before}
    return row.remade(Remade(counts, row.size, ZERO, ("inverse-cdf", points), remarks=remarks))


def _exact_edge(signs: ExactSigns, tokens: list[int], edge: int, points: int) -> int:
    """``ceil(C N)`` for the exact cumulative probability C of some tokens, from a guess on."""
    while signs.mass_minus(tokens, Fraction(edge, points)) > 0:
        edge += 1
    while signs.mass_minus(tokens, Fraction(edge - 1, points)) <= 0:
        edge -= 1
    return edge


def raced_on_grid(row: RationalRow, points: int) -> RationalRow:
    """See `WorkingRow.raced_on_grid`."""
    refuse_long_race(len(row.logits), points)
    law, close = race(row.logits, points, share_error(row.weight_error))
    remarks = (blurred_remark("gumbel-race", "the order of two noises"),) if close else ()
    return row.remade(Remade(law, row.size, ZERO, ("gumbel-race", points), remarks=remarks))


def mixed(row: RationalRow, other: RationalRow, tokens: Collection[int]) -> RationalRow:
    """See `WorkingRow.mixed`. A sum of shares is off by no more than the worst of them."""
    (first, bound), (second, other_bound) = row.shares(), other.shares()
    inside = {x: share for x, share in first.items() if x in tokens}
    refused = 1 - exact_sum(inside.values())
    if not refused:
        return row.kept(inside.keys())
    made = {x: refused * share for x, share in second.items()}
    for x, share in inside.items():
        made[x] = made.get(x, ZERO) + share
    error = min((1 + share_error(bound)) * (1 + share_error(other_bound)) - 1, HALF)
    step = ("lazy-allowed", tuple(sorted(tokens)), other.identity())
    remarks = tuple(remark for remark in other.remarks if remark not in row.remarks)
    return row.remade(Remade(made, row.size, error, step, remarks=remarks))
