"""Processed rows of rational logits as closed forms, and the exact decisions of cuts.

Law of a row: ``exp(z(x) / T) / sum over kept y of exp(z(y) / T)`` for kept x, else 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from specdist.errors import RowError, SettingsError
from specdist.exact.symbolic_budget import SymbolicBudgetError
from specdist.exact.symbolic_ratio import ONE, ZERO, ExponentialRatio
from specdist.exact.symbolic_sum import ExponentialSum

MAX_SUPPORT = 512

Logits = Sequence[Fraction | None]
SymbolicLaw = tuple[ExponentialRatio, ...]


@dataclass(frozen=True, slots=True)
class SymbolicRow:
    """Logits (None = minus infinity), the temperature, and the ids a cut left (None = all).

    ``temperature`` 0 is the point mass at the lowest id among the largest kept logits.
    """

    logits: tuple[Fraction | None, ...]
    temperature: Fraction = Fraction(1)
    kept: frozenset[int] | None = None

    def law(self) -> SymbolicLaw:
        """The probabilities, one per token."""
        return tuple(symbolic_law(self.logits, self.temperature, self.kept))


def symbolic_law(
    logits: Logits, temperature: Fraction, kept: Collection[int] | None = None
) -> list[ExponentialRatio]:
    """Probabilities [V] over one common denominator.

    Raises RowError when no kept token has a finite logit, SettingsError for a temperature below 0
    or an id outside the row, SymbolicBudgetError for more than `MAX_SUPPORT` possible tokens.
    """
    exponents = _exponents(logits, temperature, kept)
    if not temperature:
        best = min(exponents)  # all that are left are tied
        return [ONE if x == best else ZERO for x in range(len(logits))]
    if len(exponents) > MAX_SUPPORT:
        raise SymbolicBudgetError(
            f"{len(exponents)} possible tokens are too many for closed forms",
            expected=f"at most {MAX_SUPPORT}",
            advice="check the row without --symbolic, or keep fewer tokens",
        )
    weights = {x: ExponentialSum.exp(r) for x, r in exponents.items()}
    whole = ExponentialSum.total(weights.values())
    return [
        ExponentialRatio.divide(weights[x], whole) if x in weights else ZERO
        for x in range(len(logits))
    ]


def rational_law(values: Sequence[Fraction]) -> list[ExponentialRatio]:
    """Probabilities that are rational already, such as an explicit row or a point mass."""
    return [ExponentialRatio.of(value) for value in values]


def point_mass(token: int, size: int) -> list[ExponentialRatio]:
    """All mass on one token."""
    return [ONE if x == token else ZERO for x in range(size)]


def compare_mass(
    logits: Logits,
    temperature: Fraction,
    prefix: Collection[int],
    mass: Fraction,
    kept: Collection[int] | None = None,
) -> int:
    """Sign (-1, 0, 1) of ``probability of prefix - mass``, exact, for a rational mass.

    The sign of ``sum over prefix of exp(z / T) - mass * sum over kept of exp(z / T)``. It decides
    top-p (``>= 0`` reaches, ``> 0`` exceeds) and, for a prefix of one token, an epsilon cutoff.
    """
    exponents = _exponents(logits, temperature, kept)
    if not temperature:
        held = Fraction(int(min(exponents) in prefix))
        return (held > mass) - (held < mass)
    inside = set(prefix)
    terms = (ExponentialSum.exp(r, (1 if x in inside else 0) - mass) for x, r in exponents.items())
    return ExponentialSum.total(terms).sign()


def compare_relative(difference: Fraction, fraction: Fraction) -> int:
    """Sign of ``exp(difference) - fraction``, exact: min-p with the difference of two logits
    over T, which compares the ratio of two probabilities with a rational."""
    return (ExponentialSum.exp(difference) - ExponentialSum.constant(fraction)).sign()


def shortest_prefix(
    logits: Logits,
    temperature: Fraction,
    mass: Fraction,
    kept: Collection[int] | None = None,
    *,
    exceed: bool = False,
) -> list[int]:
    """Ids of the shortest prefix, falling logit and then rising id, with probability >= mass
    (``exceed``: > mass; the whole support if none), by bisection on exact signs."""
    exponents = _exponents(logits, temperature, kept)
    if not temperature:
        return [min(exponents)]
    order = sorted(exponents, key=lambda x: (-exponents[x], x))
    low, high = 1, len(order)
    while low < high:
        middle = (low + high) // 2
        sign = compare_mass(logits, temperature, order[:middle], mass, kept)
        if sign > 0 or (sign == 0 and not exceed):
            high = middle
        else:
            low = middle + 1
    return order[:low]


def _exponents(
    logits: Logits, temperature: Fraction, kept: Collection[int] | None
) -> dict[int, Fraction]:
    """z / T of every possible token; at temperature 0 the tied largest ones only."""
    if temperature < 0:
        raise SettingsError(f"temperature {temperature}", expected="0 or above")
    allowed = set(range(len(logits)))
    if kept is not None:
        outside = set(kept) - allowed
        if outside:
            raise SettingsError(
                f"token {min(outside)} is kept, but the row has {len(logits)} tokens",
                expected=f"ids from 0 to {len(logits) - 1}",
            )
        allowed = set(kept)
    finite = {x: z for x, z in enumerate(logits) if z is not None and x in allowed}
    if not finite:
        raise RowError("every token of the row is masked", expected="one finite logit or more")
    if temperature:
        return {x: Fraction(z) / temperature for x, z in finite.items()}
    best = max(finite.values())
    return {x: z for x, z in finite.items() if z == best}
