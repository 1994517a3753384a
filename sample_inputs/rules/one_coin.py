"""A faulty rule: one coin for the whole chain, compared with each acceptance probability.

The first token is accepted if u < a_1, the second if also u < a_2, with the same u. Acceptance of
the two is then not independent, and the output law is not the target's.
"""

from fractions import Fraction


class OneCoin:
    """Token verification with a coin that is thrown once."""

    def outcomes(self, proposal, models):
        reached, accepted = Fraction(1), ()  # u is below ``reached``
        for token in proposal.tokens:
            target = models.law("accept_target", accepted)
            draft = models.law("accept_draft", accepted)
            chance = min(reached, target[token] / draft[token])
            if chance < reached:
                rest = [max(t - d, Fraction(0)) for t, d in zip(target, draft, strict=True)]
                yield reached - chance, accepted, [r / sum(rest) for r in rest]
            reached, accepted = chance, (*accepted, token)
        yield reached, accepted, models.law("bonus_from", accepted), True
