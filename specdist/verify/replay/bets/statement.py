"""One statement of the declared engine, and the capital of those who bet against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from specdist.exact.e_values import Mixture
from specdist.model.trace_evidence import TraceFact


class Statement:
    """``subject`` is a short name, ``ident`` that of the finding when it is refuted, ``text`` the
    statement as a sentence. ``proof`` is the first fact that has probability 0 under it."""

    def __init__(self, subject: str, ident: str, text: str, bettors: Iterable[str]) -> None:
        self.subject, self.ident, self.text = subject, ident, text
        names = list(dict.fromkeys(bettors))
        self.mixture = Mixture(dict.fromkeys(names, Fraction(1, max(len(names), 1))))
        self.proof: TraceFact | None = None

    @property
    def draws(self) -> int:
        """How many draws were bet on."""
        return self.mixture.draws

    @property
    def value(self) -> Fraction:
        """A proven lower bound of the e-value; 1 before the first draw."""
        return self.mixture.value if self.draws else Fraction(1)

    @property
    def favourite(self) -> str:
        """The bettor that gained the most."""
        return self.mixture.favourite

    def bet(self, null: Fraction, slack: Fraction, chances: Mapping[str, Fraction]) -> None:
        """One draw: its null probability, off by at most the relative ``slack``, and what each
        bettor gave it. A bettor that is not named does not bet."""
        self.mixture.bet(min(null * (1 + slack), Fraction(1)), chances)

    def disprove(self, fact: TraceFact) -> None:
        """Takes a fact of probability 0; the first is kept."""
        self.proof = self.proof or fact
