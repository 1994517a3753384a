"""What a position that differs shows beside its cause: forbidden tokens, holes, overshoot."""

from __future__ import annotations

from collections.abc import Iterator

from specdist.exact.vector import ExactVector, Share
from specdist.model.capture import Vocab
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.role import Role
from specdist.verify.position import Checked
from specdist.verify.wording import figure, named, named_share, written


def companions(
    checked: Checked, vocab: Vocab | None, by_design: bool, overshoot: Shown
) -> Iterator[Finding]:
    """Findings about the support of the output, shown with the main one of their position."""
    index, output = checked.result.index, checked.comparison.output
    reference = checked.laws[Role.REFERENCE]
    severity = Severity.WARNING if by_design else Severity.ERROR
    yield from impossible_token(output, reference, vocab, severity, index)
    holes = reference.positive_where_zero(output)
    if holes is not None:
        message = _hole(checked, holes, vocab)
        yield Finding("support-hole", Severity.NOTE, message, index, shown=Shown.INSIDE)
    if not by_design:
        yield from _overshoot(checked, vocab, overshoot)


def impossible_token(
    output: ExactVector,
    reference: ExactVector,
    vocab: Vocab | None,
    severity: Severity,
    index: int,
) -> Iterator[Finding]:
    """`impossible-token`: what is emitted although the reference forbids it."""
    share = output.positive_where_zero(reference)
    if share is None:
        return
    name = named(share.token, vocab, output.size)
    if share.size == 1:
        message = f"{name} is emitted with mass {written(share.mass)}, and the reference forbids it"
    else:
        message = (
            f"mass {written(share.mass)} on {share.size:,} tokens that the reference forbids, most "
            f"of it on {name}"
        )
    yield Finding("impossible-token", severity, message, index, shown=Shown.INSIDE)


def _overshoot(checked: Checked, vocab: Vocab | None, shown: Shown) -> Iterator[Finding]:
    """`impossible-acceptance`: a token is accepted more often than it may be emitted."""
    accepted, reference = checked.outcomes.accepted, checked.laws[Role.REFERENCE]
    over = (accepted - reference).positive_share()
    if over is None or over.mass <= accepted.error + reference.error:
        return
    several = over.size > 1
    message = (
        f"{named_share(over, vocab, reference.size)} {'are' if several else 'is'} accepted above "
        f"the reference, by {figure(Figure.of(over.mass))}{' in all' if several else ''}: no "
        "recovery can repair that"
    )
    yield Finding(
        "impossible-acceptance", Severity.NOTE, message, checked.result.index, shown=shown
    )


def _hole(checked: Checked, holes: Share, vocab: Vocab | None) -> str:
    """Why a token of the reference has no way into the output."""
    laws = checked.laws
    size = laws[Role.REFERENCE].size
    drafted = laws[Role.DRAFTED_FROM].value(holes.token)
    way = "it is never accepted" if drafted else "it is never drafted"
    reason = f"{way}, and {_not_recovered(checked, holes.token)}"
    name = named(holes.token, vocab, size)
    if holes.size == 1:
        return f"{name} can never be emitted: {reason}"
    return (
        f"{name} and {holes.size - 1:,} more, {written(holes.mass)} of the reference, can never "
        f"be emitted; {name}: {reason}"
    )


def _not_recovered(checked: Checked, token: int) -> str:
    setup, laws = checked.setup, checked.laws
    if not checked.outcomes.rejected:
        return "nothing is ever rejected"
    plain = setup.rule.name == "token" and setup.rule.lossless(setup.use)
    if not plain or setup.one_hot or setup.proposal is not None or laws.numerics.residual_floor:
        return "no recovery emits it"
    target = written(laws[Role.RESIDUAL_TARGET].value(token))
    draft = written(laws[Role.RESIDUAL_DRAFT].value(token))
    return f"the residual gives it max(0, {target} - {draft}) = 0"
