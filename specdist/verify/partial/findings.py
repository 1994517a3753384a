"""What is said of positions and bonus rows that are known in part."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.exact.partial_law import PartialLaw
from specdist.model.capture import Vocab
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.model.role import Role
from specdist.model.verdict import Verdict
from specdist.verify.cause_words import repair_words
from specdist.verify.mismatch import BONUS
from specdist.verify.partial.causes import PartialCause
from specdist.verify.partial.position import BoundedCheck
from specdist.verify.wording import at_least, at_most, interval, joined, named, span

_ROLES = "every role is filled as in a correct engine"
_DIFFERS = "output differs from the reference, whatever the unlisted tokens hold"
_MESSAGES = {
    "lossless-for-another-target": "output is exact, but for another target than the reference",
}


def truncated_finding(check: BoundedCheck) -> Finding:
    """`truncated-row`: what is proven of a position, what stays open, and what would close it."""
    result = check.result
    tolerated = result.verdict is Verdict.WITHIN_TOLERANCE
    return Finding(
        "truncated-row",
        Severity.NOTE if tolerated else Severity.WARNING,
        f"rows known in part: acceptance rate {interval(result.acceptance_rate)}"
        if not check.left_open
        else f"rows known in part: {check.left_open}",
        result.index,
        notes=(*_proven(check), *_open(result), *_closing(check)),
    )


def mismatch_findings(
    check: BoundedCheck, cause: PartialCause, vocab: Vocab | None
) -> list[Finding]:
    """The finding of a position that differs whatever the unlisted tokens hold, and of the tokens
    that show it."""
    result = check.result
    main = Finding(
        cause.ident,
        Severity.ERROR,
        _MESSAGES.get(cause.ident, _DIFFERS),
        result.index,
        notes=tuple(_difference_notes(check, cause)),
        repairs=cause.repairs,
        cause=tuple(repair_words(repair, result.roles, "") for repair in cause.repairs),
    )
    return [main, *_overshoot(result, vocab)]


def _difference_notes(check: BoundedCheck, cause: PartialCause) -> Iterator[str]:
    result = check.result
    variation, rate = result.total_variation, result.acceptance_rate
    honest = result.reference_acceptance_rate
    yield (
        f"rows known in part: total variation at least {at_least(variation.least)}, at most "
        f"{at_most(variation.most)}, whatever the unlisted tokens hold"
    )
    above = rate.least - honest.most
    if above > 0:
        yield (
            f"the acceptance rate {interval(rate)} is at least {at_least(above)} above the honest "
            f"{interval(honest)}"
        )
    else:
        yield f"acceptance rate {interval(rate)}, where a correct engine has {interval(honest)}"
    for repair in cause.enough:
        if repair not in cause.repairs:
            words = repair_words(repair, result.roles, "")
            yield f"equality returns, for any rows: {words}; whether less is enough stays open"


def _overshoot(result: BoundedPosition, vocab: Vocab | None) -> Iterator[Finding]:
    """`impossible-acceptance`: tokens that are accepted more often than they may be emitted."""
    over = [token for token in result.tokens if token.accepted.least > token.reference.most]
    if not over:
        return
    most = max(over, key=lambda token: token.accepted.least - token.reference.most)
    name = named(most.id, vocab, result.vocab_size or 1 << 20)
    yield Finding(
        "impossible-acceptance",
        Severity.NOTE,
        f"{name} is accepted above the reference, by at least "
        f"{at_least(most.accepted.least - most.reference.most)}: no recovery can repair that",
        result.index,
        shown=Shown.INSIDE,
    )


def bonus_findings(bonus: BoundedBonus) -> list[Finding]:
    """What is said of a bonus row that is known in part."""
    variation = interval(bonus.total_variation)
    if bonus.verdict is Verdict.DIFFERENT:
        repair = (Role.BONUS_FROM.value,)
        least = at_least(bonus.total_variation.least)
        return [
            Finding(
                "bonus-mismatch",
                Severity.ERROR,
                "the bonus token's law differs from the reference at its row",
                BONUS,
                notes=(
                    f"rows known in part: total variation at least {least}, whatever the unlisted "
                    "tokens hold, on the steps that accept every draft token",
                ),
                repairs=(repair,),
                cause=(repair_words(repair, bonus.roles, ""),),
            )
        ]
    if bonus.by_identity:
        message = "bonus row known in part: its law is the reference, whatever is not listed"
    else:
        message = f"bonus row known in part: total variation {variation}"
    note = f"left open: which of the unlisted tokens have {span(bonus.rest)} of the target"
    return [
        Finding(
            "truncated-row",
            Severity.WARNING,
            message,
            BONUS,
            notes=(note,) if bonus.rest.most else (),
        )
    ]


def _proven(check: BoundedCheck) -> Iterator[str]:
    result = check.result
    if check.left_open:
        return
    variation = result.total_variation
    if result.by_identity:
        yield f"proven whatever the unlisted tokens hold: output equals the reference, for {_ROLES}"
    elif check.rule.sufficient:
        yield (
            "proven whatever the unlisted tokens hold: total variation at most "
            f"{at_most(variation.most)}, a step of the random numbers, for {_ROLES}"
        )
    else:
        yield (
            f"total variation from the reference {interval(variation)}: what is listed proves "
            "neither equality nor a difference"
        )


def _open(result: BoundedPosition) -> Iterator[str]:
    parts = [
        f"{span(rest)} of the {side}"
        for side, rest in (("target", result.target_rest), ("draft", result.draft_rest))
        if rest.most
    ]
    if parts:
        yield f"left open: which of the unlisted tokens have {joined(parts)}"
    if result.half_width:
        yield f"the listed numbers are known within {at_most(result.half_width)} each"


def _closing(check: BoundedCheck) -> Iterator[str]:
    """Which tokens, or which dump, would close the interval."""
    result, laws = check.result, check.rule.laws
    counts, sides = result.counts, ((Role.REFERENCE, "target"), (Role.DRAFTED_FROM, "draft"))
    missing = [
        f"{_count(law)} of the {side}"
        for role, side in sides
        if (law := laws[role]).others != 0 and (law.others is None or law.others > 1)
    ]
    one_sided = counts.target_only + counts.draft_only
    most = min(result.target_rest.most, result.draft_rest.most)
    narrower = not check.left_open and laws.same(Role.DRAFTED_FROM, Role.ACCEPT_DRAFT)
    if narrower and one_sided and not result.half_width and most < result.acceptance_rate.width:
        yield (
            f"with the {one_sided} token{'s' if one_sided > 1 else ''} that one side alone lists "
            f"on both sides, the interval is at most {at_most(most)} wide"
        )
    if missing:
        yield (
            f"to close it: {joined(missing)}; whole rows, or rows after top-k or top-p of which "
            "every possible token is listed"
        )
    elif result.half_width:
        yield "to close it: rows in the number format that the engine samples from"


def _count(law: PartialLaw) -> str:
    """How many tokens of a law are still to be listed; the last one has what is left."""
    if law.others is None:
        return "the other tokens"
    more = law.others - (1 if law.scale.closed else 0)
    return f"{more:,} more token{'s' if more != 1 else ''}"
