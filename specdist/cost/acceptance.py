"""Expected tokens of a step from acceptance probabilities that are stated, not computed.

Source: Leviathan et al., arXiv 2211.17192, equation 1 (one acceptance for every position); the
forms by position and by context are the same sum without that assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Context:
    """One kind of context: its share, and the acceptance at each position given that all earlier
    draft tokens were accepted."""

    share: Fraction
    acceptances: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Acceptances:
    """Kinds of contexts whose shares sum to 1. With one acceptance for a kind, it holds at every
    position; with several there is one for each position, the same number for every kind."""

    contexts: tuple[Context, ...]

    @property
    def constant(self) -> bool:
        """Whether every kind has one acceptance for all positions."""
        return self.positions is None

    @property
    def positions(self) -> int | None:
        """How many positions are described; None where one number holds for all."""
        count = len(self.contexts[0].acceptances)
        return None if count == 1 else count

    @property
    def first(self) -> Fraction:
        """The acceptance of the first draft token, over all contexts."""
        return sum((c.share * c.acceptances[0] for c in self.contexts), Fraction(0))

    def mean(self, length: int) -> Fraction:
        """The plain mean of the acceptances over contexts and over ``length`` positions."""
        total = Fraction(0)
        for context in self.contexts:
            numbers = context.acceptances
            mean = numbers[0] if self.constant else sum(numbers[:length], Fraction(0)) / length
            total += context.share * mean
        return total

    def survivals(self, length: int) -> tuple[Fraction, ...]:
        """``Pr(at least j draft tokens are accepted)`` for j = 1 .. ``length``:
        ``sum over kinds of share * a_1 * ... * a_j``."""
        total = [Fraction(0)] * length
        for context in self.contexts:
            alive = context.share
            for j in range(length):
                alive *= context.acceptances[0 if self.constant else j]
                total[j] += alive
        return tuple(total)


def expected_tokens(survivals: Sequence[Fraction]) -> Fraction:
    """Tokens of a step, bonus token included: ``1 + sum_j Pr(at least j are accepted)``.

    With conditional acceptances a_j that is ``1 + sum_i prod_{j <= i} a_j``.
    """
    return 1 + sum(survivals, Fraction(0))


def expected_tokens_iid(acceptance: Fraction, draft_length: int) -> Fraction:
    """``(1 - a^(g+1)) / (1 - a)``, which is ``1 + a + ... + a^g``; ``g + 1`` where a = 1.

    a: the acceptance at every position, whatever happened before; g: the draft length. Source:
    arXiv 2211.17192, equation 1.
    """
    if acceptance == 1:
        return Fraction(draft_length + 1)
    return (1 - acceptance ** (draft_length + 1)) / (1 - acceptance)


def tokens_law(survivals: Sequence[Fraction]) -> dict[int, Fraction]:
    """``Pr(a step emits k tokens)`` for k = 1 .. g + 1, from the survivals S_1 .. S_g:
    ``S_{k-1} - S_k`` with ``S_0 = 1`` and ``S_{g+1} = 0``."""
    edges = [Fraction(1), *survivals, Fraction(0)]
    return {k: edges[k - 1] - edges[k] for k in range(1, len(edges))}
