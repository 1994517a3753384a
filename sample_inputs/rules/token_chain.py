"""Token verification of a chain of draft tokens, as a user writes it.

specdist what-if --target 1/2,3/10,1/5 --draft 1/5,1/2,3/10 --draft-length 2 \
    --rule sample_inputs/rules/token_chain.py:TokenChain
"""

from fractions import Fraction


class TokenChain:
    """Each token is accepted with probability min(1, target / draft)."""

    def outcomes(self, proposal, models):
        mass, accepted = Fraction(1), ()
        for token in proposal.tokens:
            target = models.law("accept_target", accepted)
            draft = models.law("accept_draft", accepted)
            chance = min(Fraction(1), target[token] / draft[token])
            if chance < 1:
                rest = [max(t - d, Fraction(0)) for t, d in zip(target, draft, strict=True)]
                yield mass * (1 - chance), accepted, [r / sum(rest) for r in rest]
            mass, accepted = mass * chance, (*accepted, token)
        yield mass, accepted, models.law("bonus_from", accepted), True
