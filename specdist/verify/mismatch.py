"""The findings of a position: what is wrong, by how much, and a line that shows it again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.exact.vector import Share
from specdist.model.capture import Position, Step, Vocab
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.report import BonusResult, PositionResult
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.verify.position import Checked
from specdist.verify.position_laws import CloseCut, PositionLaws
from specdist.verify.reproduction import what_if_line

BONUS = -1
_SEVERITIES = {"near-cut": Severity.NOTE, "row-not-normalised": Severity.NOTE}


def remarks(found: PositionLaws, index: int) -> list[Finding]:
    """What the rows had to say, as findings."""
    return [
        Finding(
            noted.remark.ident,
            _SEVERITIES.get(noted.remark.ident, Severity.WARNING),
            f"{noted.side}: {noted.remark.message}",
            index,
        )
        for noted in found.noted
    ]


def output_finding(
    step: Step,
    position: Position,
    checked: Checked,
    found: PositionLaws,
    settings: CheckSettings,
) -> Finding:
    """`output-mismatch`, with the notes that teach: support, total variation, acceptance."""
    result = checked.result
    notes = [*_support_notes(checked, step.vocab), _size_note(result), *_acceptance_notes(result)]
    return Finding(
        "output-mismatch",
        Severity.ERROR,
        "output differs from the reference",
        position.index,
        notes=tuple(notes),
        reproduce=what_if_line(step, position, found, settings),
    )


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
            "total variation is the least that any of these choices could reach",
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
        f"{_named(outside, None)} is drafted with mass {_mass(outside)} and tested with "
        "probability 0: engines differ in target/0",
        index,
        notes=(
            "the figures read it as infinite (accepted where the target is above 0); read as 0 "
            f"(never accepted) the total variation is {written(reading.total_variation)}",
            "--zero-draft accept or --zero-draft reject says which reading the engine has",
        ),
    )


def bonus_finding(bonus: BonusResult, step: Step) -> Finding:
    """`bonus-mismatch`: the bonus token has another law than the reference at its row."""
    recipes = {use.role: use.recipe for use in bonus.roles}
    return Finding(
        "bonus-mismatch",
        Severity.ERROR,
        "the bonus token's law differs from the reference at its row",
        BONUS,
        notes=(
            f"bonus drawn from: {recipes[Role.BONUS_FROM.value]}; "
            f"reference: {recipes[Role.REFERENCE.value]}",
            f"total variation {_figure(bonus.total_variation)}, on the steps that accept "
            f"every draft token (step {step.id})",
        ),
    )


def _support_notes(checked: Checked, vocab: Vocab | None) -> list[str]:
    """What the whole row shows, whichever tokens are listed: holes, intruders, overshoot."""
    reference, output = checked.laws[Role.REFERENCE], checked.comparison.output
    notes = []
    holes = reference.positive_where_zero(output)
    if holes:
        notes.append(
            f"{_named(holes, vocab)} can never be emitted, though the reference gives "
            f"{_mass(holes)}"
        )
    forbidden = output.positive_where_zero(reference)
    if forbidden:
        notes.append(
            f"{_named(forbidden, vocab)} can be emitted, with mass {_mass(forbidden)}, though the "
            "reference gives 0"
        )
    over = (checked.outcomes.accepted - reference).positive_share()
    if over and over.mass > checked.outcomes.accepted.error + reference.error:
        notes.append(
            f"{_named(over, vocab)} is accepted above the reference, by {_mass(over)}: no "
            "recovery can repair that"
        )
    return notes


def _named(share: Share, vocab: Vocab | None) -> str:
    text = vocab.text(share.token) if vocab else None
    name = f"token {share.token}" if text is None else f"token {share.token} {text!r}"
    return name if share.size == 1 else f"{name} (and {share.size - 1:,} more)"


def _mass(share: Share) -> str:
    total = "" if share.size == 1 else " in all"
    return _figure(Figure.of(share.mass)) + total


def _size_note(result: PositionResult) -> str:
    return f"total variation {_figure(result.total_variation)}"


def _acceptance_notes(result: PositionResult) -> list[str]:
    rate, honest = result.acceptance_rate, result.reference_acceptance_rate
    if rate.exact is None or honest.exact is None:
        return []
    gap = rate.exact - honest.exact
    if not gap or abs(gap) <= (rate.bound or 0) + (honest.bound or 0):
        return [f"the acceptance rate {_figure(rate)} is what a correct engine would show"]
    side = "above" if gap > 0 else "below"
    return [
        f"the acceptance rate {_figure(rate)} is {written(abs(gap))} {side} the honest "
        f"{_figure(honest)}"
    ]


def _figure(figure: Figure) -> str:
    if figure.exact is None:
        return f"{figure.approx:.6g}"
    text = written(figure.exact)
    if "/" in text:
        text += f" = {figure.approx:.4f}" if figure.approx >= 0.001 else f" = {figure.approx:.4g}"
    return text


def written(value: Fraction | None) -> str:
    """A fraction where it is short (denominator up to four digits), else six digits."""
    if value is None:
        return "unknown"
    if value.denominator < 10_000 and abs(value.numerator) < 10**9:
        return str(value)
    return f"{float(value):.6g}"
