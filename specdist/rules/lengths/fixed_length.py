"""A fixed length: the first N drafted tokens are verified, whatever they are.

Law. ``Pr(l >= k | x) = [k <= N]``. Lossless: it looks at nothing.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import count_from
from specdist.rules.lengths.length_rule import LengthRule, Request


def _chances(
    prefix: Prefix, tokens: tuple[int, ...], request: Request, use: RecipeStep
) -> tuple[Fraction, ...]:
    return (Fraction(len(prefix) < use.count()),) * len(tokens)


FIXED = LengthRule(
    "fixed",
    "N",
    "past",
    "verify the first N drafted tokens",
    chances=_chances,
    value=count_from(0),
)
