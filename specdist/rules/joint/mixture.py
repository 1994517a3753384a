"""What follows one prefix, added up over several ways to get there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.rules.joint.outcomes import Law, Outcome

_ZERO = Fraction(0)


@dataclass(slots=True)
class Mixture:
    """Laws, token ids or nothing, each with its mass. Laws are added up token by token; one that
    stays alone stays the object that it is."""

    law: Law | None = None
    mass: Fraction = _ZERO
    others: dict[tuple[int | None, bool], Fraction] = field(default_factory=dict)
    _summed: list[Fraction] | None = None

    def add(self, mass: Fraction, then: Law | int | None, unnamed: bool = False) -> None:
        """One more way, of this mass; ``unnamed`` as in `Outcome`."""
        if not mass:
            return
        if not isinstance(then, tuple):
            key = then, unnamed
            self.others[key] = self.others.get(key, _ZERO) + mass
            return
        if self.law is None:
            self.law = then
        elif self._summed is None and then is not self.law and then != self.law:
            self._summed = [self.mass * share for share in self.law]
        if self._summed is not None:
            for token, share in enumerate(then):
                if share:
                    self._summed[token] += mass * share
        self.mass += mass

    def outcomes(self, prefix: Prefix, reach: Fraction, bonus: bool = False) -> Iterator[Outcome]:
        """The outcomes after ``prefix``, their masses times ``reach``."""
        if self._summed is not None:
            self.law = tuple(share / self.mass if share else _ZERO for share in self._summed)
            self._summed = None
        if self.law is not None and self.mass:
            yield Outcome(reach * self.mass, prefix, self.law, bonus)
        for (then, unnamed), mass in self.others.items():
            yield Outcome(reach * mass, prefix, then, bonus, unnamed)
