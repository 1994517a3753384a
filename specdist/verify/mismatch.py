"""The findings of an output law that differs: its cause, how far it is, and a line to paste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdist.exact.vectors import vectors_of_laws
from specdist.findings import catalogue
from specdist.model.capture import Step, Vocab
from specdist.model.finding import Finding, Severity, Shown, Smallest
from specdist.model.report import BonusResult, PositionResult
from specdist.model.role import Role
from specdist.verify.cause_words import repair_words
from specdist.verify.companions import companions, impossible_token
from specdist.verify.correction import keep_notes
from specdist.verify.diagnosis import ROUNDING, SEARCHED, Diagnosis
from specdist.verify.position import Checked
from specdist.verify.position_laws import PositionLaws
from specdist.verify.signatures import rounding_only, signature_notes
from specdist.verify.wording import figure, written

BONUS = -1
_DIFFERS = "output differs from the reference"
_MESSAGES = {
    "lossless-for-another-target": "output is exact, but for another target than the reference",
    "anticipating-length-rule": f"{_DIFFERS}: dropping depends on the draft token",
    "reused-randomness": f"{_DIFFERS}: the recovery reuses the draft's randomness",
    "row-not-normalised": f"{_DIFFERS}: rows enter the test with different sums",
}
_OWN_LAW = "the law that the rule aims at"


@dataclass(frozen=True, slots=True)
class Reproduced:
    """The command line that shows a finding again, and what it shows where rows were cut."""

    line: str | None = None
    smallest: Smallest | None = None


def output_findings(
    checked: Checked, diagnosis: Diagnosis, vocab: Vocab | None, reproduced: Reproduced
) -> list[Finding]:
    """The main finding of a position that differs, then what is shown with it."""
    result, setup = checked.result, checked.setup
    ident, *further = diagnosis.idents
    sets = diagnosis.repairs.sets
    by_design = "lossy-by-design" in diagnosis.idents
    notes = [
        *signature_notes(checked, sets, vocab),
        *_ident_notes(checked, diagnosis, vocab),
        *_size_notes(result, ident),
        *_search_notes(diagnosis),
    ]
    main = Finding(
        ident,
        Severity.ERROR,
        _message(ident, checked, any("residual_floor" in names for names in sets)),
        result.index,
        notes=tuple(notes),
        repairs=sets,
        reproduce=reproduced.line,
        cause=tuple(repair_words(repair, result.roles, setup.rule.kind) for repair in sets),
        restores=_OWN_LAW if diagnosis.of_rule else "equality",
        smallest=reproduced.smallest,
    )
    unexplained = not sets or setup.rule.kind == "observed"
    overshoot = Shown.INSIDE if unexplained else Shown.FOLDED
    return [
        main,
        *(_further(name, checked, sets) for name in further),
        *companions(checked, vocab, by_design, overshoot),
        *_rounding_note(checked, ident, sets),
    ]


def bonus_findings(
    bonus: BonusResult, found: PositionLaws, step: Step, reproduce: str | None
) -> list[Finding]:
    """`bonus-mismatch`: the bonus token has another law than the reference at its row."""
    repair = (Role.BONUS_FROM.value,)
    vectors = vectors_of_laws(found.laws)
    forbidden = impossible_token(
        vectors[Role.BONUS_FROM], vectors[Role.REFERENCE], step.vocab, Severity.ERROR, BONUS
    )
    main = Finding(
        "bonus-mismatch",
        Severity.ERROR,
        "the bonus token's law differs from the reference at its row",
        BONUS,
        notes=(
            f"total variation {figure(bonus.total_variation)}, on the steps that accept every "
            "draft token",
        ),
        repairs=(repair,),
        reproduce=reproduce,
        cause=(repair_words(repair, bonus.roles, ""),),
    )
    return [main, *forbidden]


def _message(ident: str, checked: Checked, leaks: bool = False) -> str:
    if ident == "lossy-by-design":
        return f"rule {checked.setup.use.text} is not meant to keep the reference's law"
    proposal = checked.setup.proposal
    if ident == "anticipating-length-rule" and proposal is not None and proposal.after_test:
        return f"{_DIFFERS}: accepted tokens are cut after their test"
    if ident == "residual-mismatch" and checked.setup.numerics.residual_floor and leaks:
        return f"{_DIFFERS}: the residual's floor leaks mass"
    if ident == "numeric-rounding":
        small = checked.comparison.total_variation <= ROUNDING
        why = "rounding in the test" if small else "coarse arithmetic in the test"
        return f"{_DIFFERS}: {why}"
    return _MESSAGES.get(ident, _DIFFERS)


def _further(ident: str, checked: Checked, sets: Sequence[tuple[str, ...]]) -> Finding:
    """A cause beside that of the main finding, so that allowing one does not hide the other."""
    index = checked.result.index
    if ident == "lossy-by-design":
        message, notes = _message(ident, checked), tuple(_lossy_notes(checked.result))
        return Finding(ident, Severity.ERROR, message, index, notes=notes, shown=Shown.INSIDE)
    entry = catalogue.find(ident)
    message = ident if entry is None else entry.summary
    return Finding(ident, Severity.ERROR, message, index, repairs=tuple(sets), shown=Shown.INSIDE)


def _rounding_note(
    checked: Checked, ident: str, sets: Sequence[tuple[str, ...]]
) -> Iterator[Finding]:
    """`numeric-rounding` beside a cause that is a matter of number formats."""
    index = checked.result.index
    if ident == "drafted-mismatch" and (step := rounding_only(checked.result.roles)):
        message = f"the two draft laws differ by number rounding alone: {step}"
    elif ident == "residual-mismatch" and any("residual_floor" in names for names in sets):
        message = "a floor under the residual is a guard for rounding that leaks mass"
    else:
        return
    yield Finding("numeric-rounding", Severity.NOTE, message, index, shown=Shown.INSIDE)


def _ident_notes(checked: Checked, diagnosis: Diagnosis, vocab: Vocab | None) -> Iterator[str]:
    result, ident = checked.result, diagnosis.idents[0]
    if ident == "lossless-for-another-target":
        yield from _other_target_notes(result)
    elif ident == "reused-randomness":
        yield "every formula is right; the noise that lost the draft's race is no fresh noise"
    if result.proposal is not None:
        yield from keep_notes(checked, result.proposal, diagnosis.correction, vocab)
    if checked.comparison.unassigned and checked.outcomes.raises:
        mass = written(checked.comparison.unassigned)
        yield f"with mass {mass} a rejection meets an empty residual, and no token follows"


def _other_target_notes(result: PositionResult) -> Iterator[str]:
    recipes = {use.role: use.recipe for use in result.roles}
    used, asked = recipes[Role.ACCEPT_TARGET.value], recipes[Role.REFERENCE.value]
    yield f"exact for the target that was used ({_recipe(used)}): total variation 0 from it"
    yield (
        f"total variation {figure(result.total_variation)} from the target that was requested "
        f"({_recipe(asked)})"
    )


def _recipe(text: str) -> str:
    return "a row of its own" if text == "row" else text.replace(":", " ").replace(",", ", ")


def _size_notes(result: PositionResult, ident: str) -> Iterator[str]:
    if ident == "lossy-by-design":
        yield from _lossy_notes(result)
    elif ident == "lossless-for-another-target":
        yield _acceptance(result)
    else:
        yield f"total variation {_size(result)}; {_acceptance(result)}"


def _lossy_notes(result: PositionResult) -> Iterator[str]:
    honest = figure(result.reference_acceptance_rate)
    yield (
        f"acceptance rate {figure(result.acceptance_rate)}, where a lossless rule has {honest}; "
        f"total variation {_size(result)}"
    )
    if result.lossy is not None:
        least = written(result.lossy.least_total_variation.exact)
        excess = result.lossy.excess.exact
        reached = f"is {written(excess)} above it" if excess else "reaches it"
        yield (
            f"no rule that rejects {written(result.rejected_mass.exact)} has a total variation "
            f"below {least}: this one {reached}"
        )


def _size(result: PositionResult) -> str:
    exact = result.total_variation.exact
    return figure(result.total_variation) if exact is None else written(exact)


def _acceptance(result: PositionResult) -> str:
    rate, honest = result.acceptance_rate, result.reference_acceptance_rate
    if rate.exact is None or honest.exact is None:
        return f"the acceptance rate is {figure(rate)}"
    gap = rate.exact - honest.exact
    if not gap or abs(gap) <= (rate.bound or 0) + (honest.bound or 0):
        return f"the acceptance rate {figure(rate)} is what a correct engine would show"
    side = "above" if gap > 0 else "below"
    return (
        f"the acceptance rate {figure(rate)} is {written(abs(gap))} {side} the honest "
        f"{figure(honest)}"
    )


def _search_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """What the search for a cause did not prove."""
    repairs = diagnosis.repairs
    if repairs.cut_off:
        yield f"the search for repairs ended after {repairs.tried} enumerations"
    elif repairs.known_only:
        yield (
            f"only repairs found at earlier positions were tried: the first {SEARCHED} positions "
            "of a step are searched in full"
        )
    elif repairs.tried and not repairs.sets:
        yield (
            f"no cause is proven: of {repairs.tried} combinations of repairs none surely brings "
            "the law back"
        )
