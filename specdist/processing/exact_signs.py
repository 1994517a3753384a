"""Cuts of hand-written logits that rounded weights cannot place, decided exactly.

The weights of rational logits are exponentials of rationals, so whether a mass reaches a rational
threshold is a sign that `symbolic_law` decides (Lindemann-Weierstrass and certified enclosures).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from specdist.processing.logit import Logit
from specdist.processing.working_row import Remark

_MOST_TOKENS = 128


class ExactSigns:
    """Exact comparisons for one row of rational logits; build it with `exact_signs`."""

    def __init__(self, logits: Mapping[int, Fraction]) -> None:
        self._entry = {token: entry for entry, token in enumerate(logits)}
        self._logits = list(logits.values())

    def mass_minus(self, tokens: Collection[int], mass: Fraction) -> int:
        """Sign of the probability of some tokens minus ``mass``."""
        from specdist.exact.symbolic_law import compare_mass

        prefix = [self._entry[token] for token in tokens]
        return compare_mass(self._logits, Fraction(1), prefix, mass)

    def ratio_minus(self, token: int, best: int, fraction: Fraction) -> int:
        """Sign of the ratio of two probabilities minus ``fraction``."""
        from specdist.exact.symbolic_law import compare_relative

        difference = self._logits[self._entry[token]] - self._logits[self._entry[best]]
        return compare_relative(difference, fraction)


def exact_signs(logits: Mapping[int, Logit], remarks: Sequence[Remark]) -> ExactSigns | None:
    """Exact comparisons where a remark asks for them and the logits are rational, else None."""
    asked = any(remark.ident == "undecided-precision" for remark in remarks)
    return signs_of(logits) if asked else None


def signs_of(logits: Mapping[int, Logit]) -> ExactSigns | None:
    """Exact comparisons where the logits are rational and not too many, else None."""
    if len(logits) > _MOST_TOKENS or any(z.power for z in logits.values()):
        return None
    return ExactSigns({token: logit.shift for token, logit in logits.items()})


def decided(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """The remarks without those about precision."""
    return tuple(remark for remark in remarks if remark.ident != "undecided-precision")


def prefix_length(
    signs: ExactSigns, units: Sequence[Sequence[int]], length: int, mass: Fraction, reach: bool
) -> int:
    """How many units the shortest prefix takes, starting from a ``length`` that rounding gave."""

    def reached(count: int) -> bool:
        sign = signs.mass_minus([token for unit in units[:count] for token in unit], mass)
        return sign > 0 or (sign == 0 and reach)

    while length > 1 and reached(length - 1):
        length -= 1
    while length < len(units) and not reached(length):
        length += 1
    return length
