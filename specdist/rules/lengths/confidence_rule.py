"""Stop before a draft token whose captured confidence is too low.

Law, with the captured confidence c_k, known from the tokens before x_k:

    confidence:T   Pr(l >= k | x) = [c_1 >= T] .. [c_k >= T]
    survival:T     Pr(l >= k | x) = [c_1 c_2 .. c_k >= T]

Lossless: both look at the past only. Sources: AdaEDL (entropy of the draft row) and the acceptance
estimators of vLLM 0.33.0 (`v1/worker/gpu/spec_decode/acceptance_estimator.py`), whose scores a
capture brings as numbers.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

from specdist.model.conditional import Prefix
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.rules.lengths.length_rule import LengthRule, Request, confidence

_SHARE = number_within(Interval(low=Fraction(0), high=Fraction(1)))
_STRICT = Option("strict", one_of("yes", "no"), "no", "whether equality stops")


def _by_confidence(
    prefix: Prefix, tokens: tuple[int, ...], request: Request, use: RecipeStep
) -> tuple[Fraction, ...]:
    return _all_alike(confidence(prefix, request.tables), tokens, use)


def _by_survival(
    prefix: Prefix, tokens: tuple[int, ...], request: Request, use: RecipeStep
) -> tuple[Fraction, ...]:
    starts = (prefix[:index] for index in range(len(prefix) + 1))
    survival = prod((confidence(start, request.tables) for start in starts), start=Fraction(1))
    return _all_alike(survival, tokens, use)


def _all_alike(score: Fraction, tokens: tuple[int, ...], use: RecipeStep) -> tuple[Fraction, ...]:
    kept = score > use.number() or (score == use.number() and use.word("strict") == "no")
    return (Fraction(kept),) * len(tokens)


CONFIDENCE = LengthRule(
    "confidence",
    "T",
    "past",
    "verify up to the first token whose captured confidence is below T, that token excluded",
    chances=_by_confidence,
    value=_SHARE,
    options=(_STRICT,),
    tables=("confidence",),
)
SURVIVAL = LengthRule(
    "survival",
    "T",
    "past",
    "verify while the product of the captured confidences is >= T",
    chances=_by_survival,
    value=_SHARE,
    options=(_STRICT,),
    tables=("confidence",),
)
