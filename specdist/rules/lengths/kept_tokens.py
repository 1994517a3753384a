"""Keep rules over a chain: the length is the number of leading draft tokens that are all kept.

Law, with k(x | z) the keep probability of x after z, as in `keep_rules`:

    Pr(l >= k | x) = k(x_1) k(x_2 | x_1) .. k(x_k | x_<k)

The first token that is not kept is dropped, and the target is sampled in its place; so this is
`--keep` at every position. Rules that look at the row or the past stop before the draw and are
lossless. Those that look at the token drop what they have seen (`own-probability`, `only`,
`tokens`), which is not.
"""

from __future__ import annotations

from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.bounded import OpenComparisonError, error_of, plain
from specdist.exact.rational_vector import RationalVector
from specdist.model.conditional import Prefix
from specdist.model.recipe import RecipeStep
from specdist.rules.keep_rules import KEEP_RULES, KeepRule
from specdist.rules.lengths.length_rule import Chances, LengthRule, LooksAt, Request, draft_law

ALIASES = {
    "own-probability": ("drop-below",),
    "top-probability": ("stop-before",),
}
_LOOKS_AT: dict[str, LooksAt] = {"past": "past", "row": "row", "token": "token"}


def _chances_of(rule: KeepRule) -> Chances:
    def chances(
        prefix: Prefix, tokens: tuple[int, ...], request: Request, use: RecipeStep
    ) -> tuple[Fraction, ...]:
        law = draft_law(prefix, request.laws)
        rounding = sum(map(error_of, law), Fraction(0))
        confidences = RationalVector(tuple(map(plain, law)), rounding)
        ones = RationalVector((Fraction(1),) * confidences.size)
        kept = rule.share(use, confidences)(ones)
        if rounding and kept.error:
            raise OpenComparisonError("whether a draft token is kept is within its rounding")
        if not isinstance(kept, RationalVector) or kept.error:
            raise SettingsError(
                f"{use.text}: whether a draft token is kept is closer than can be decided",
                expected="a threshold that is not on the edge of a row",
            )
        return tuple(kept.entries[token] for token in tokens)

    return chances


KEPT_TOKENS: tuple[LengthRule, ...] = tuple(
    LengthRule(
        rule.name,
        rule.metavar,
        _LOOKS_AT[rule.looks_at],
        f"{rule.summary}; verify up to the first that is not kept",
        chances=_chances_of(rule),
        value=rule.value,
        options=rule.options,
        required=rule.required,
        aliases=ALIASES.get(rule.name, ()),
    )
    for rule in KEEP_RULES
)
