"""What is said of positions and bonus rows that are known in part."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.model.capture import Vocab
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.partial_report import BoundedBonus, BoundedPosition
from specdist.model.role import Role
from specdist.model.verdict import Verdict
from specdist.verify.cause_words import repair_words
from specdist.verify.mismatch import BONUS
from specdist.verify.partial.causes import PartialCause
from specdist.verify.partial.listing import blur
from specdist.verify.partial.position import BoundedCheck
from specdist.verify.wording import at_least, at_most, interval, joined, named, span

_LARGE = 1 << 20
"""The size of a vocabulary whose size is not known, where texts are printed."""
_MANY = 1_000
"""So many tokens are not listed one by one."""
_WHOLE = "whole rows, or rows after top-k or top-p with all that they keep"
_ROLES = "every role is filled as in a correct engine"
_DIFFERS = "output differs from the reference, whatever is left open"
_MESSAGES = {
    "lossless-for-another-target": "output is exact, but for another target than the reference",
}


def truncated_finding(check: BoundedCheck, drafted: int | None, vocab: Vocab | None) -> Finding:
    """`truncated-row`: what is proven of a position, what stays open, and what would close it.
    ``drafted`` is the token that was really drafted, where it is known."""
    result = check.result
    tolerated = result.verdict is Verdict.WITHIN_TOLERANCE
    return Finding(
        "truncated-row",
        Severity.NOTE if tolerated else Severity.WARNING,
        f"rows known in part: acceptance rate {interval(result.acceptance_rate)}"
        if not check.left_open
        else f"rows known in part: {check.left_open}",
        result.index,
        notes=(
            *_proven(check),
            *check.open_cuts,
            *_open(result),
            *_sampled(check, drafted, vocab),
            *_closing(check),
        ),
    )


def mismatch_findings(
    check: BoundedCheck, cause: PartialCause, vocab: Vocab | None
) -> list[Finding]:
    """The finding of a position that differs whatever is left open, and of the tokens
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
    size = f"at least {at_least(variation.least)}, at most {at_most(variation.most)}"
    size = interval(variation) if variation.closed else size
    yield f"rows known in part: total variation {size}, whatever is left open"
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
    name = named(most.id, vocab, result.vocab_size or _LARGE)
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
                    f"rows known in part: total variation at least {least}, whatever is left open, "
                    "on the steps that accept every draft token",
                ),
                repairs=(repair,),
                cause=(repair_words(repair, bonus.roles, ""),),
            )
        ]
    if bonus.by_identity:
        message = "bonus row known in part: its law is the reference, whatever is not listed"
    else:
        message = f"bonus row known in part: total variation {variation}"
    note = f"left open: the split of {span(bonus.rest)} of the target among the unlisted tokens"
    return [
        Finding(
            "truncated-row",
            Severity.NOTE if bonus.verdict is Verdict.WITHIN_TOLERANCE else Severity.WARNING,
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
        yield f"proven whatever is left open: output equals the reference, for {_ROLES}"
    elif check.rule.sufficient:
        yield (
            "proven whatever is left open: total variation at most "
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
        yield f"left open: the split of {joined(parts)} among the unlisted tokens"
    if result.vocab_size is None:
        yield "nothing says how many tokens there are: --vocab-size N may narrow the interval"
    if result.half_width:
        yield f"the listed numbers are known within {at_most(result.half_width)} each"


def _sampled(check: BoundedCheck, drafted: int | None, vocab: Vocab | None) -> Iterator[str]:
    """Says where the drafted token is missing from a list."""
    sides = (("target", check.target_ids), ("draft", check.draft_ids))
    missing = [side for side, ids in sides if ids is not None and drafted not in ids]
    if drafted is not None and missing:
        name = named(drafted, vocab, check.result.vocab_size or _LARGE)
        yield f"the drafted token {name} is not listed by the {joined(missing)}"


def _closing(check: BoundedCheck) -> Iterator[str]:
    """Which tokens, or which dump, would close the interval."""
    result, laws = check.result, check.rule.laws
    counts = result.counts
    one_sided = counts.target_only + counts.draft_only
    most = min(result.target_rest.most, result.draft_rest.most)
    overlap = not check.left_open and check.rule.accepts_overlap
    if overlap and one_sided and 0 < most < result.acceptance_rate.width:
        off = blur(laws[Role.REFERENCE]) + blur(laws[Role.DRAFTED_FROM])
        about = "about " if off else ""
        if most + off < result.acceptance_rate.width:
            yield (
                f"were both sides to list what either lists ({one_sided:,} more "
                f"token{'s' if one_sided > 1 else ''}), the interval would be {about}"
                f"{at_most(most + off, 2)} wide at most"
            )
    missing = list(_missing(check))
    tokens = joined([f"{count:,} more {words}" for count, words in missing if count is not None])
    if missing and max(_MANY if count is None else count for count, _ in missing) < _MANY:
        yield f"to close it: list {tokens}; or dump {_WHOLE}"
    elif missing:
        yield f"to close it: dump {_WHOLE}" + (f" (in all {tokens})" if tokens else "")
    elif result.half_width:
        yield "to close it: rows in the number format that the engine samples from"


def _missing(check: BoundedCheck) -> Iterator[tuple[int | None, str]]:
    """How many tokens of either side are still to be listed, in numbers (None: unknown) and words;
    where listed probabilities are sharp, the last token has what is left."""
    counts = check.result.counts
    sides = (
        ("target", Role.REFERENCE, check.target_ids, counts.draft_only),
        ("draft", Role.DRAFTED_FROM, check.draft_ids, counts.target_only),
    )
    for side, role, ids, elsewhere in sides:
        law = check.rule.laws[role]
        if ids is None:
            continue
        if law.others == 0:
            count: int | None = sum(1 for token in law.ids if int(token) not in ids)
        else:
            count = None if counts.neither is None else counts.neither + elsewhere
        if count is None:
            yield None, f"tokens of the {side}"
        elif (more := count - law.scale.closed) > 0:
            yield more, f"token{'s' if more != 1 else ''} of the {side}"
