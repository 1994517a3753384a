"""Why the law of a batch differs: the first token that its schedule looks at too early, and a
schedule that does not."""

from __future__ import annotations

from fractions import Fraction

from specdist.errors import SpecdistError
from specdist.model.capture import Step, Vocab
from specdist.model.figure import Figure
from specdist.model.joint_report import Admission, AdmissionLine, JointCorrection
from specdist.rules.lengths.chosen_length import chosen_length
from specdist.rules.lengths.safer_rules import safer_rules
from specdist.verify.joint.admission import admission
from specdist.verify.joint.batch_law import batch_law
from specdist.verify.joint.batch_setup import Batch
from specdist.verify.joint.figures import figure
from specdist.verify.joint.revealing import Reveal, TooManyStatesError, unrevealed


def batch_admission(batch: Batch, step: Step) -> Admission:
    """The profiles of all requests. The witness is the first request's own that looks at its last
    token, or else the token at which no order of revealing goes on."""
    vocabs = [request.vocab for request in step.requests]
    found = [admission(batch.profile(r), vocabs[r], r) for r in range(len(batch.setups))]
    lines = tuple(line for each in found for line in each.lines)
    own = next((each for each in found if not each.constant), None)
    if own is not None:
        return Admission(lines, False, own.witness, own.against)
    try:
        reveal = unrevealed(batch)
    except TooManyStatesError:
        reveal = None
    if reveal is None:
        return Admission(lines, True)
    vocab = vocabs[reveal.request]
    return Admission(
        lines,
        False,
        _line(reveal, reveal.least, vocab),
        _line(reveal, reveal.most, vocab),
        reveal.revealed,
    )


def _line(reveal: Reveal, token: int, vocab: Vocab | None) -> AdmissionLine:
    prefix = (*reveal.revealed[reveal.request], token)
    texts = tuple(None if vocab is None else vocab.text(each) for each in prefix)
    return AdmissionLine(prefix, texts, Figure.of(reveal.densities[token]), reveal.request)


def batch_correction(batch: Batch, horizon: int) -> JointCorrection | None:
    """The first of the `safer_rules` under which the joint law is the target's, by enumeration."""
    mean = sum((sum(e.lengths) * e.mass for e in batch.scheduled), Fraction(0))
    for text in safer_rules(batch.schedule, int(mean)):
        try:
            schedule = chosen_length(text, batch.schedule.tables)
            if schedule is None:
                continue
            other = Batch(batch.setups, batch.requests, schedule, batch.limit)
            law = batch_law(other, horizon)
        except SpecdistError:
            continue
        if not law.total_variation:
            accepted = sum((i * m for i, m in enumerate(law.accepted)), Fraction(0))
            return JointCorrection(
                expected_accepted=figure(accepted),
                total_variation=figure(law.total_variation),
                options=f"--length {text}",
            )
    return None
