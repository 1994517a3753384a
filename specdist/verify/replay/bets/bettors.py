"""Distributions that a bettor may put in place of a declared law.

    as declared, tempered   weights w^(1/2) and w^2: a temperature twice as high, half as high
    uniform                 on the tokens that are possible
    argmax                  the likeliest token, the lowest id of several

Weights are float64 numbers; a chance is ``w(x) / sum w`` with the exact sum over the tokens that
the declared law holds possible. So each is a distribution on them that sums to one exactly, and its
quotient has mean exactly 1: what lies beside them needs no bet, it would be a proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.model.recipe import Recipe
from specdist.verify.replay.faults.recipe_variants import variants
from specdist.verify.replay.recorded_rows import RowLaw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHAPES = ("as declared, tempered up", "as declared, tempered down", "uniform", "argmax")
_NEAR = ("without", "processed twice", "processed as")


def near_recipes(recipe: Recipe, other: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Recipes that an engine may have used instead: a step is missing, or all are made twice."""
    for text, made in variants(recipe, other):
        if text.startswith(_NEAR):
            yield text, made


def shape_chances(
    ids: NDArray[np.intp], weights: NDArray[np.float64], token: int
) -> dict[str, Fraction]:
    """What the bettors of `SHAPES` give a token, from the weights of a law on ``ids`` (rising)."""
    import numpy as np

    positive = weights > 0
    ids, scaled = ids[positive], weights[positive]
    entry = int(np.searchsorted(ids, token))
    if not len(ids) or entry >= len(ids) or ids[entry] != token:
        return dict.fromkeys(SHAPES, Fraction(0))
    scaled = scaled / scaled.max()
    top = int(scaled.argmax())
    return dict(
        zip(
            SHAPES,
            (
                _share(np.sqrt(scaled), entry),
                _share(scaled * scaled, entry),
                Fraction(1, len(ids)),
                Fraction(int(entry == top)),
            ),
            strict=True,
        )
    )


def chance_on(law: RowLaw, ids: NDArray[np.intp], token: int) -> Fraction | None:
    """What a bettor on another law gives a token, given that it is among ``ids`` (rising); None
    where the law has nothing there, so that there is no bet."""
    import numpy as np

    weights = law.dense()[ids]
    entry = int(np.searchsorted(ids, token))
    return _share(weights, entry) if weights.any() else None


def _share(weights: NDArray[np.float64], entry: int) -> Fraction:
    from specdist.exact.float_sum import exact_sum

    return Fraction(float(weights[entry])) / exact_sum(weights)


class Bets:
    """The chances that bettors on other laws give one token among the possible ``ids``."""

    def __init__(self, ids: NDArray[np.intp], token: int) -> None:
        self.chances: dict[str, Fraction] = {}
        self._ids, self._token = ids, token

    def on(self, name: str, law: RowLaw) -> None:
        """The bet of a bettor who puts ``law`` in place of the declared one."""
        if law.law.size > int(self._ids[-1]):
            chance = chance_on(law, self._ids, self._token)
            if chance is not None:
                self.chances[name] = chance


class Urns:
    """Bettors on contexts that come again: after counts n the token x has
    ``(n(x) + a p(x)) / (sum n + a)``, the predictive law of a Dirichlet mixture with weights a p.
    In a context that is met once it is the declared law itself."""

    NAME = "the counts of the same context"

    def __init__(self, weight: int = 2) -> None:
        self._weight = Fraction(weight)
        self._counts: dict[int, dict[int, int]] = {}

    def chance(self, context: int, token: int, declared: Fraction) -> Fraction:
        """Of the next token in a context (any hash of it), which is then counted."""
        counts = self._counts.setdefault(context, {})
        before, total = counts.get(token, 0), sum(counts.values())
        counts[token] = before + 1
        return (before + self._weight * declared) / (total + self._weight)
