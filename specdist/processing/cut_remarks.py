"""The remarks that both kinds of row make about cuts, ties and sums, from exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.processing.working_row import Remark

NEAR_CUT = Fraction(8, 2**24)
"""Relative distance to a threshold that float32 rounding may bridge: 8 units of 2^-24 (a softmax
entry is a few units off, and a cumulative sum a few more)."""


def cut_remarks(
    step: str, quantity: str, threshold: Fraction, nearest: Fraction, slack: Fraction
) -> tuple[Remark, ...]:
    """Remarks about a cut at ``threshold`` when the value nearest to it is ``nearest``.

    ``step`` names the processor, ``quantity`` what is compared with the threshold ("mass"),
    ``slack`` how far rounding of the row's own weights may move the value (0: nothing rounded).
    `near-cut` when the distance is within `NEAR_CUT` of the threshold, equality included;
    `undecided-precision` in addition when it is within ``slack``.
    """
    distance = abs(nearest - threshold)
    remarks = []
    if distance <= NEAR_CUT * threshold:
        place = "exactly on" if not distance else f"{written(distance)} from"
        remarks.append(
            Remark(
                "near-cut",
                f"{step}: a {quantity} lies {place} the threshold {written(threshold)}; "
                "a float32 sampler may cut on the other side",
            )
        )
    if slack and distance <= slack:
        remarks.append(
            Remark(
                "undecided-precision",
                f"{step}: a {quantity} lies {written(distance)} from the threshold "
                f"{written(threshold)}, within the rounding bound {written(slack)} of the weights",
                step,
                slack / threshold,
            )
        )
    return tuple(remarks)


def prefix_remarks(
    step: str,
    mass: Fraction,
    before: Fraction,
    reached: Fraction | None,
    bound: Fraction,
) -> tuple[Remark, ...]:
    """Remarks about a prefix cut: the mass ``before`` the last kept unit, and ``reached`` with it.

    ``reached`` is None when everything was kept, so that it decided nothing. ``bound`` is the
    relative bound of the weights; a share c of the total moves by at most ``2 b / (1 - b) * c``.
    """
    margins = [before] if reached is None else [before, reached]
    nearest = min(margins, key=lambda value: abs(value - mass))
    return cut_remarks(step, "cumulative mass", mass, nearest, share_slack(nearest, bound))


def share_slack(share: Fraction, bound: Fraction) -> Fraction:
    """How far a share of the total may move when each weight is off by a relative ``bound``; from
    1/2 on, which says nothing about the weights, it may be anything."""
    if bound >= Fraction(1, 2):
        return Fraction(1)
    return 2 * bound / (1 - bound) * share


def tie_remark(tokens: Sequence[int]) -> tuple[Remark, ...]:
    """The remark of temperature 0 about the tokens (rising ids) that tie for the largest value."""
    if len(tokens) < 2:
        return ()
    message = (
        f"temperature 0: tokens {_listed(tokens)} tie for the largest value; the lowest id, "
        f"{tokens[0]}, is taken"
    )
    return (Remark("near-cut", message),)


def unspecified_remark(tied: Sequence[int], kept: int) -> tuple[Remark, ...]:
    """The remark of top-k about tokens (rising ids) that tie at the cut, ``kept`` of which stay."""
    if kept in (0, len(tied)):
        return ()
    message = (
        f"top-k: tokens {_listed(tied)} tie at the cut and {kept} of them "
        f"{'stays' if kept == 1 else 'stay'}; which is unspecified, the lowest ids are taken"
    )
    return (Remark("near-cut", message),)


def _listed(tokens: Sequence[int]) -> str:
    return ", ".join(str(token) for token in tokens[:5]) + (", ..." if len(tokens) > 5 else "")


def sum_remark(what: str, deviation: Fraction, repaired: bool) -> Remark:
    """The remark about a row that does not sum to one and is read as weights over its sum."""
    cause = "rescaled, as --normalise asks" if repaired else "within the rounding of its format"
    return Remark(
        "row-not-normalised",
        f"{_off_one(what, deviation)}: {cause}; read as weights over their exact sum",
    )


def own_sum_remark(what: str, deviation: Fraction, cause: str) -> tuple[Remark, ...]:
    """The remark about probabilities that enter test and residual with a sum of their own."""
    if not deviation:
        return ()
    message = f"{_off_one(what, deviation)}: {cause}; this sum enters the test"
    return (Remark("row-not-normalised", message),)


def _off_one(what: str, deviation: Fraction) -> str:
    return f"{what} sum to 1 {'+' if deviation > 0 else '-'} {written(abs(deviation))}"


def lost_mass_remark(step: str, mass: Fraction, where: str) -> tuple[Remark, ...]:
    """The remark about probability that a step leaves ``where`` no token of the new row is."""
    if not mass:
        return ()
    message = f"{step}: mass {written(mass)} {where} is dropped; the rest is renormalised"
    return (Remark("row-not-normalised", message),)


def blurred_remark(step: str, what: str) -> Remark:
    """The remark about something that rounding of the weights leaves open, whatever a threshold."""
    return Remark("undecided-precision", f"{step}: {what} is within the rounding bound")


def written(value: Fraction) -> str:
    """A fraction where it is short (denominator up to four digits), else six digits."""
    if value.denominator < 10_000 and abs(value.numerator) < 10**9:
        return str(value)
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return f"about 10^{len(str(abs(value.numerator))) - len(str(value.denominator))}"
