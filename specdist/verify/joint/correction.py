"""A rule that verifies only some draft tokens made lossless: the effective proposal, verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from specdist.errors import SpecdistError
from specdist.model.capture import Vocab
from specdist.model.joint_report import Admission, AdmissionLine, JointCorrection
from specdist.model.proposal import Proposal
from specdist.rules.lengths.chosen_length import chosen_length
from specdist.rules.lengths.safer_rules import safer_rules
from specdist.verify.joint.admission import draft_masses
from specdist.verify.joint.figures import figure
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.output import joint_law
from specdist.verify.wording import named, written


def corrected(setup: JointSetup, horizon: int) -> JointCorrection | None:
    """The same rule where test and residual use the law of what reaches the test, position by
    position, and a dropped token counts as rejected; None where that does not restore the target.

    With ``q'(x) = q(x) k(x)`` after every prefix: x is emitted with ``min(p, q')(x) / q'(x)`` if it
    is verified, and in all other cases a token comes from ``norm [p - q']_+``. Where that is no
    choice, a length rule near this one that decides earlier (`safer_rules`).
    """
    return _effective(setup, horizon) or _safer(setup, horizon)


def _safer(setup: JointSetup, horizon: int) -> JointCorrection | None:
    if setup.length is None:
        return None
    masses = draft_masses(setup.tree, setup.laws)
    verified = sum((masses[z] * chance for z, chance in setup.profile.items()), Fraction(0))
    for text in safer_rules(setup.length, int(verified)):
        try:
            other = replace(setup, length=chosen_length(text, setup.length.tables))
            gathered = other.gathered()
            law = joint_law(gathered, other.laws, horizon)
        except SpecdistError:
            continue
        if not (law.total_variation or law.unnamed or gathered.error):
            return JointCorrection(
                expected_accepted=figure(gathered.expected_accepted),
                total_variation=figure(law.total_variation),
                options=f"--length {text}",
            )
    return None


def _effective(setup: JointSetup, horizon: int) -> JointCorrection | None:
    if setup.joint is not None or (setup.length is None and setup.proposal is None):
        return None
    own = setup.proposal or Proposal(None)
    if own.after_test or own.effective:
        return None
    dropped = "redraw" if own.dropped == "redraw" else "residual"
    fixed = replace(setup, proposal=replace(own, dropped=dropped, effective=True))
    try:
        gathered = fixed.gathered()
        law = joint_law(gathered, fixed.laws, horizon)
    except SpecdistError:
        return None
    if law.total_variation or law.unnamed or gathered.error:
        return None
    again = "" if own.redraws is None else f"-{own.redraws}"
    return JointCorrection(
        expected_accepted=figure(gathered.expected_accepted),
        total_variation=figure(law.total_variation),
        options=f"--dropped {dropped}{again} --proposal effective",
    )


def admission_notes(
    admission: Admission | None, correction: JointCorrection | None, vocab: Vocab | None, size: int
) -> Iterator[str]:
    """Who is verified, the first prefix that looks at its own last token, and the correction."""
    if admission is not None and admission.witness is not None and admission.against is not None:
        before = _tokens(admission.witness.prefix[:-1], vocab, size)
        where = f"after {before}" if before else "at the start"
        yield (
            f"whether draft token {len(admission.witness.prefix)} is verified depends on that "
            f"token: {where}, {_chance(admission.witness, vocab, size)}, "
            f"{_chance(admission.against, vocab, size)}"
        )
    if correction is not None:
        yield (
            f"corrected with {correction.options}: total variation 0, expected accepted draft "
            f"tokens {written(correction.expected_accepted.exact)} a step"
        )


def _chance(line: AdmissionLine, vocab: Vocab | None, size: int) -> str:
    chance = written(line.probability.exact)
    return f"{named(line.prefix[-1], vocab, size)} with probability {chance}"


def _tokens(prefix: tuple[int, ...], vocab: Vocab | None, size: int) -> str:
    return " ".join(named(token, vocab, size) for token in prefix)
