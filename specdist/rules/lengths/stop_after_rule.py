"""Stop after a token of low draft probability, and verify that token.

Law. With Q the tested draft law, x_k is verified iff all tokens before it scored at least T:

    Pr(l >= k | x) = [s_1 >= T] .. [s_(k-1) >= T]

where s_i is ``Q(x_i | x_<i)`` (score=own-probability) or ``max Q(. | x_<i)`` (top-probability).
Lossless: whether x_k is verified depends on the tokens before it only. Sources: transformers
5.24.0, `assistant_confidence_threshold`, which keeps the token (huggingface/transformers #33258);
SpecDec++ and DISCO stop in the same way.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.model.conditional import Prefix
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, number_within, one_of
from specdist.rules.joint.draws import top_of
from specdist.rules.lengths.length_rule import LengthRule, Request, draft_law

_SHARE = number_within(Interval(low=Fraction(0), high=Fraction(1)))


def _chances(
    prefix: Prefix, tokens: tuple[int, ...], request: Request, use: RecipeStep
) -> tuple[Fraction, ...]:
    goes_on = not prefix or _goes_on(prefix, request, use)
    return (Fraction(goes_on),) * len(tokens)


def _goes_on(prefix: Prefix, request: Request, use: RecipeStep) -> bool:
    law = draft_law(prefix[:-1], request.laws)
    score = law[prefix[-1]] if use.word("score") == "own-probability" else law[top_of(law)]
    return score > use.number() or (score == use.number() and use.word("strict") == "no")


STOP_AFTER = LengthRule(
    "stop-after",
    "T",
    "past",
    "verify up to the first token whose draft probability is below T, that token included",
    chances=_chances,
    value=_SHARE,
    options=(
        Option(
            "score",
            one_of("own-probability", "top-probability"),
            "own-probability",
            "the probability of the drawn token, or the largest of its row",
        ),
        Option("strict", one_of("yes", "no"), "no", "whether equality stops"),
    ),
)
