"""What is said of a position before its verdict is explained: remarks, and what is left open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.role import Role
from specdist.verify.position import Checked
from specdist.verify.position_laws import CloseCut, Noted, PositionLaws
from specdist.verify.wording import figure, named_share, written

_SEVERITIES = {"near-cut": Severity.NOTE, "row-not-normalised": Severity.NOTE}


def remarks(found: PositionLaws, index: int) -> list[Finding]:
    """What the rows of a position had to say, as findings."""
    return remark_findings(found.noted, index)


def remark_findings(remarked: Iterable[Noted], index: int | None = None) -> list[Finding]:
    """Remarks about rows as findings."""
    return [
        Finding(
            noted.remark.ident,
            _SEVERITIES.get(noted.remark.ident, Severity.WARNING),
            f"{noted.side}: {noted.remark.message}",
            index,
        )
        for noted in remarked
    ]


def undecided_finding(index: int, variation: Figure, cuts: Sequence[CloseCut]) -> Finding:
    """`undecided-precision`: the difference is within its own bound, or hangs on a close cut."""
    bound = variation.bound or Fraction(0)
    if cuts:
        message = "the verdict hangs on a cut that is closer than the weights are rounded"
        notes = tuple(f"{cut.side}: {cut.message}" for cut in cuts[:3])
    else:
        message = (
            f"total variation {written(variation.exact)} is not above its rounding bound "
            f"{written(bound)}"
        )
        notes = (_why_open(bound),)
    return Finding("undecided-precision", Severity.WARNING, message, index, notes=notes)


def _why_open(bound: Fraction) -> str:
    if bound > Fraction(1, 2**20):
        return (
            "so wide a bound comes from weights far below float64's range, or from a tiny "
            "temperature: their quotients may be anything"
        )
    return (
        "equality is proven where all roles of a side share one recipe; "
        "two recipes that round to the same weights need more precision than float64"
    )


def unassigned_finding(index: int, checked: Checked) -> Finding:
    """`configuration-needed`: a rejection is possible, and the residual is empty."""
    mass = written(checked.comparison.unassigned)
    return Finding(
        "configuration-needed",
        Severity.WARNING,
        f"mass {mass} is rejected, and the residual that should replace it is empty",
        index,
        notes=(
            "residual_target is nowhere above residual_draft, so max(target - draft, 0) is 0 "
            "everywhere; engines emit token 0, the last token, the target's law, or stop",
            "total variation is the least that any of these choices could reach; "
            "--empty-residual says which one the engine takes",
        ),
    )


def zero_draft_finding(index: int, checked: Checked) -> Finding:
    """`configuration-needed`: tokens are drafted whose tested probability is 0."""
    drafted, tested = checked.laws[Role.DRAFTED_FROM], checked.laws[Role.ACCEPT_DRAFT]
    outside = drafted.positive_where_zero(tested)
    reading = checked.other_reading
    if outside is None or reading is None:
        raise ValueError("no token is drafted outside the tested support")
    return Finding(
        "configuration-needed",
        Severity.WARNING,
        f"{named_share(outside, None, drafted.size)} is drafted with mass "
        f"{figure(Figure.of(outside.mass))} and tested with probability 0: engines differ in "
        "target/0",
        index,
        notes=(
            "the figures read it as infinite (accepted where the target is above 0); read as 0 "
            f"(never accepted) the total variation is {written(reading.total_variation)}",
            "--zero-draft accept or --zero-draft reject says which reading the engine has",
        ),
    )
