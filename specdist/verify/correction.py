"""Keep rules that look at the drafted token: what they do, and the correction, verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdist.errors import SpecdistError
from specdist.exact.vector import ExactVector
from specdist.model.capture import Vocab
from specdist.model.report import Correction, ProposalFigures
from specdist.model.role import Role
from specdist.model.verdict import Verdict
from specdist.rules.outcomes import RoleLaws
from specdist.verify.comparison import compare, probability
from specdist.verify.position import Checked
from specdist.verify.setup import Setup
from specdist.verify.variants import Variants
from specdist.verify.wording import named, written

_PROFILE = 6


def corrected(variants: Variants) -> Correction | None:
    """The same keep rule made lossless, where that is proven: test and residual use the law of
    what reaches the test, and a dropped token counts as rejected or is drawn again.

    With ``q'(x) = q(x) k(x)``: x is emitted with ``min(p, q')(x) / q'(x)`` if kept, in all other
    cases a token comes from ``norm [p - q']_+``. None where this does not restore the target.
    """
    setup = variants.setup
    proposal = setup.proposal
    if proposal is None or proposal.after_test:
        return None
    dropped = "redraw" if proposal.dropped == "redraw" else "residual"
    fixed = replace(setup, proposal=replace(proposal, effective=True, dropped=dropped))
    try:
        laws = variants.laws(fixed)
        outcomes = fixed.outcomes(laws)
    except SpecdistError:
        return None
    compared = compare(outcomes, laws[Role.REFERENCE], fixed.lossless_by_roles)
    if compared.verdict is not Verdict.EQUAL:
        return None
    again = "" if proposal.redraws is None else f"-{proposal.redraws}"
    return Correction(
        acceptance_rate=probability(outcomes.accepted.total(), outcomes.accepted.error),
        total_variation=probability(compared.total_variation, compared.bound),
        options=f"--dropped {dropped}{again} --proposal effective",
    )


def keep_notes(
    checked: Checked, figures: ProposalFigures, correction: Correction | None, vocab: Vocab | None
) -> Iterator[str]:
    """Who is kept, against the mean; what is accepted of it; the correction."""
    setup, laws = checked.setup, checked.laws
    proposal = setup.proposal
    if proposal is None:
        return
    mean = written(figures.reaching_mass.exact)
    if proposal.after_test:
        yield "an accepted token is cut after its test and drawn again: rejections weigh too much"
    if figures.witness is not None and figures.witness_keep is not None:
        name = named(figures.witness, vocab, laws[Role.REFERENCE].size)
        yield (
            f"whether a draft token is kept depends on the token: {name} with probability "
            f"{written(figures.witness_keep.exact)}, a draft token on average with {mean}"
        )
        yield f"kept with probability: {_profile(setup, laws, vocab)}"
    elif proposal.dropped == "residual":
        yield (
            f"a draft token is kept with probability {mean}, whatever it is, and a dropped one "
            "is replaced from a residual that does not know of it"
        )
    rate = figures.accepted_of_reaching
    if rate is not None and not proposal.after_test:
        accepted = written(checked.result.acceptance_rate.exact)
        yield (
            f"{written(rate.exact)} of the tokens that reach the test are accepted, "
            f"{accepted} of all draft tokens"
        )
    if correction is not None:
        yield (
            f"corrected with {correction.options}: total variation "
            f"{written(correction.total_variation.exact)}, acceptance rate "
            f"{written(correction.acceptance_rate.exact)}"
        )


def _profile(setup: Setup, laws: RoleLaws, vocab: Vocab | None) -> str:
    """Keep probabilities of the tokens whose kept mass is farthest from the mean."""
    drafted = laws[Role.DRAFTED_FROM]
    kept = setup.share(laws)(drafted)
    deviation = kept - drafted.scaled(kept.total())
    tokens = sorted(token for token in deviation.largest(_PROFILE) if drafted.value(token))
    shown = [f"{named(t, vocab, drafted.size)}: {_chance(kept, drafted, t)}" for t in tokens]
    return ", ".join(shown)


def _chance(kept: ExactVector, drafted: ExactVector, token: int) -> str:
    return written(kept.value(token) / drafted.value(token))
