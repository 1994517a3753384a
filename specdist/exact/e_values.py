"""E-values: evidence against a law that may be looked at after every draw.

An e-value E is not negative and has mean at most 1 under the null hypothesis. A product of bets,
``E_n = prod_t a_t(x_t) / p_t(x_t)``, has mean exactly 1 at every n where each ``a_t`` is a
distribution over the tokens with ``p_t > 0`` that is fixed before x_t is drawn:
``E[a_t(x) / p_t(x)] = sum_x p_t(x) a_t(x) / p_t(x) = 1`` whatever came before. So is every mixture
``sum_k w_k E^k_n`` with weights ``w_k >= 0`` of sum 1 that are fixed in advance. By Ville's
inequality the probability that E ever reaches ``1 / level`` is at most ``level``. A draw with
``p_t(x_t) = 0`` is no e-value but a proof.

The Dirichlet mixture with prior weights a over counts n of draws from one law p is such a product,
``E = prod_i (a_i)_{n_i} / (sum a)_n / prod_i p_i^{n_i}`` with rising factorials ``(a)_n``: the bet
after counts n is ``(a_i + n_i) / (sum a + n)``. Source: Lindon, Malek 2011.03567 (multinomial).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb, factorial, log10, prod

_ZERO, _ONE = Fraction(0), Fraction(1)
_SHORT = 512
"""Bits up to which a capital is kept exactly; a longer one is rounded down to `_KEPT` bits."""
_KEPT = 128
_MOST = 2_000_000
"""Count vectors that an exact p-value enumerates at most."""


def dirichlet_e_value(
    law: Sequence[Fraction], counts: Sequence[int], weights: Sequence[Fraction] | None = None
) -> Fraction:
    """The Dirichlet mixture e-value of ``counts`` against ``law``; ``weights`` default to 1 each.

    Its null mean is 1 where the weights are positive on the support of ``law`` and 0 beside it.
    Raises ValueError for a count where the law has 0.
    """
    prior = [_ONE] * len(law) if weights is None else list(weights)
    value = 1 / rising(sum(prior, _ZERO), sum(counts))
    for probability, count, weight in zip(law, counts, prior, strict=True):
        if count and not probability:
            raise ValueError("a draw of probability 0 is a proof, no e-value")
        value *= rising(weight, count) / probability**count if count else _ONE
    return value


def rising(start: Fraction, count: int) -> Fraction:
    """``start (start + 1) ... (start + count - 1)``."""
    return prod((start + k for k in range(count)), start=_ONE)


def multinomial_p_value(law: Sequence[Fraction], counts: Sequence[int]) -> Fraction:
    """The sum of the null probabilities of all count vectors that are not likelier than ``counts``.

    Raises ValueError where there are too many of them to enumerate.
    """
    total, size = sum(counts), len(law)
    if comb(total + size - 1, size - 1) > _MOST:
        raise ValueError("too many count vectors for an exact p-value")
    observed = _probability(law, counts)
    every = (_probability(law, other) for other in _count_vectors(total, size))
    return sum((chance for chance in every if chance <= observed), _ZERO)


def pearson_statistic(law: Sequence[Fraction], counts: Sequence[int]) -> Fraction:
    """``sum (n_i - n p_i)^2 / (n p_i)`` over the tokens with ``p_i > 0``."""
    total = sum(counts)
    pairs = zip(law, counts, strict=True)
    return sum(((n - total * p) ** 2 / (total * p) for p, n in pairs if p), _ZERO)


def _probability(law: Sequence[Fraction], counts: Sequence[int]) -> Fraction:
    arrangements = factorial(sum(counts)) // prod(map(factorial, counts))
    return arrangements * prod((p**n for p, n in zip(law, counts, strict=True)), start=_ONE)


def _count_vectors(total: int, size: int) -> Iterator[tuple[int, ...]]:
    if size == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _count_vectors(total - first, size - 1):
            yield (first, *rest)


class Capital:
    """A product of non-negative numbers, exact while it is short, else rounded down: a proven lower
    bound of the real product."""

    __slots__ = ("_exponent", "_value")

    def __init__(self) -> None:
        self._value = _ONE
        self._exponent = 0

    def multiply(self, factor: Fraction) -> None:
        """Takes one factor into the product."""
        value = self._value * factor
        if value.numerator.bit_length() + value.denominator.bit_length() > _SHORT:
            shift = _KEPT - value.numerator.bit_length() + value.denominator.bit_length()
            above = value.numerator << max(shift, 0)
            below = value.denominator << max(-shift, 0)
            value, self._exponent = Fraction(above // below), self._exponent - shift
        self._value = value

    @property
    def value(self) -> Fraction:
        """The lower bound."""
        return self._value * Fraction(2) ** self._exponent


class Mixture:
    """``sum_k w_k E^k`` over named bettors with prior weights fixed before the first draw.

    Every bettor plays twice, with half of its weight each: its distribution a as it is, and
    ``(7 a + p) / 8``, which survives a draw that a alone rules out.
    """

    def __init__(self, weights: Mapping[str, Fraction]) -> None:
        """``weights``: positive, of sum 1."""
        self._weights = dict(weights)
        self._capitals = {name: (Capital(), Capital()) for name in weights}
        self.draws = 0

    def bet(self, null: Fraction, alternatives: Mapping[str, Fraction]) -> None:
        """One draw: its null probability (or an upper bound, above 0), and what each bettor's
        distribution gave it (or a lower bound). A bettor that is not named does not bet."""
        self.draws += 1
        for name, chance in alternatives.items():
            bold, careful = self._capitals[name]
            factor = chance / null
            bold.multiply(factor)
            careful.multiply((7 * factor + 1) / 8)

    @property
    def value(self) -> Fraction:
        """A lower bound of the e-value; exact while the numbers are short."""
        return sum((self._share(name) for name in self._weights), _ZERO)

    @property
    def favourite(self) -> str:
        """The bettor that gained the most; the first of several."""
        return max(self._weights, key=self._share)

    def _share(self, name: str) -> Fraction:
        bold, careful = self._capitals[name]
        return self._weights[name] * (bold.value + careful.value) / 2


def decimal_logarithm(value: Fraction) -> float:
    """``log10(value)`` in float64, rounded down in the ninth digit; minus infinity for 0."""
    if not value:
        return float("-inf")
    above, below = value.numerator, value.denominator
    shift = above.bit_length() - below.bit_length()
    scaled = Fraction(above << max(-shift, 0), below << max(shift, 0))
    exact = log10(float(scaled)) + shift * log10(2.0)
    return exact - 1e-9 * max(1.0, abs(exact))
