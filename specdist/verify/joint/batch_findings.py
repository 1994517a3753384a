"""What is said of a batch whose joint law differs, or is left open."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.errors import SpecdistError
from specdist.model.conditional import written_prefix
from specdist.model.finding import Finding, Severity
from specdist.model.joint_report import Admission, JointResult
from specdist.verify.joint.batch_law import BatchLaw
from specdist.verify.joint.batch_setup import Batch
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.output import joint_law
from specdist.verify.wording import figure, joined, written

_DIFFERS = "the joint law of what a batch emits differs from the targets'"
_VERIFY_ALL = "verify every drafted token"


def batch_findings(
    batch: Batch, law: BatchLaw, result: JointResult, reproduce: str | None
) -> Finding:
    """The finding of a batch that differs. The schedule is its proven cause where every request is
    right once all its draft tokens are verified."""
    wrong = _wrong_by_themselves(batch, law.horizon)
    notes = tuple(_notes(law, result))
    if not wrong:
        message = f"{_DIFFERS}: which draft tokens are verified depends on them"
        return Finding(
            "anticipating-length-rule",
            Severity.ERROR,
            message,
            notes=notes,
            repairs=(("keep",),),
            cause=(_VERIFY_ALL,),
            reproduce=reproduce,
        )
    lossy = all(batch.setups[r].lossy for r in wrong)
    rule = batch.setups[wrong[0]].use.text
    places = joined([str(r) for r in wrong])
    several = len(wrong) > 1
    note = (
        f"request{'s' if several else ''} {places} differ{'' if several else 's'} with every "
        "draft token verified too: check such a step by itself"
    )
    if lossy:
        message = f"rule {rule} is not meant to keep the target's law"
        ident = "lossy-by-design"
    else:
        ident, message = "output-mismatch", _DIFFERS
    return Finding(ident, Severity.ERROR, message, notes=(*notes, note), reproduce=reproduce)


def open_batch() -> Finding:
    """Why rounded rows leave the verdict on a batch open."""
    return Finding(
        "undecided-precision",
        Severity.WARNING,
        "the rows of the batch were rounded, and a schedule may turn on their last digits",
        notes=("rows that are exact (probabilities, temperature 1/n) have no rounding",),
    )


def _wrong_by_themselves(batch: Batch, horizon: int) -> list[int]:
    """The requests whose law is not the target's although all their draft tokens are verified."""
    return [r for r, setup in enumerate(batch.setups) if not _right(setup, horizon)]


def _right(setup: JointSetup, horizon: int) -> bool:
    try:
        law = joint_law(setup.gathered(), setup.laws, horizon)
    except SpecdistError:
        return False
    return not law.total_variation and not law.unnamed


def _notes(law: BatchLaw, result: JointResult) -> Iterator[str]:
    horizon = law.horizon
    tokens = "token" if horizon == 1 else f"{horizon} tokens"
    yield (
        f"total variation {written(law.total_variation)} over the first {tokens} of all requests "
        f"together; expected accepted draft tokens {figure(result.expected_accepted)} a step"
    )
    alone = [figure(line.total_variation) for line in result.requests]
    if any(line.total_variation.exact for line in result.requests):
        each = joined([f"request {r} {value}" for r, value in enumerate(alone)])
        yield f"total variation of each by itself: {each}"
    else:
        yield "each request by itself emits its target's law: only together they do not"
    if result.admission is not None:
        yield from _witness(result.admission)
    if result.correction is not None:
        accepted = written(result.correction.expected_accepted.exact)
        yield (
            f"corrected with {result.correction.options}: total variation 0, expected accepted "
            f"draft tokens {accepted} a step"
        )


def _witness(found: Admission) -> Iterator[str]:
    least, most = found.witness, found.against
    if least is None or most is None:
        return
    chances = (written(least.probability.exact), written(most.probability.exact))
    place, tokens = len(least.prefix), (least.prefix[-1], most.prefix[-1])
    if not found.revealed:
        before = written_prefix(least.prefix[:-1])
        where = "at the start" if place == 1 else f"after {before}"
        yield (
            f"whether draft token {place} of request {least.request} is verified depends on that "
            f"token: {where}, token {tokens[0]} with {chances[0]}, token {tokens[1]} with "
            f"{chances[1]}"
        )
        return
    known = joined(
        [f"{written_prefix(p)} of request {r}" for r, p in enumerate(found.revealed) if p]
    )
    yield (
        f"no order of revealing explains the schedule: once {known} is verified, draft token "
        f"{place} of request {least.request} comes to its test as token {tokens[0]} "
        f"{chances[0]} times as often as it is drafted, as token {tokens[1]} {chances[1]} times"
    )
