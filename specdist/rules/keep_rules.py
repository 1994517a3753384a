"""Keep rules: with which probability k(x) a drafted token x reaches the test.

A keep rule may look at the past (a constant, as far as one position is concerned), at the draft
row, or at the drafted token itself. Sources: theory of effective proposals in 2607.05147, appendix
A (scheduler that looks at the drawn token); llama.cpp 0c1e57098 `common/speculative.cpp` (p_min on
the top probability); vLLM 0.33.0 `v1/core/sched/scheduler.py` (grammar: drafts are cut at the
first token that is refused).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.entropy import entropy_at_most
from specdist.exact.vector import ExactVector
from specdist.model.recipe import RecipeStep
from specdist.model.step_forms import Option, nearest_names, read_step
from specdist.model.value_texts import (
    Interval,
    Reader,
    id_changes,
    id_set,
    number_within,
    one_of,
)
from specdist.rules.outcomes import Share

_ZERO, _ONE = Fraction(0), Fraction(1)
_SHARE = number_within(Interval(low=_ZERO, high=_ONE))


@dataclass(frozen=True, slots=True)
class KeepRule:
    """One kind of keep rule. ``share`` makes k(x) v(x) of v, given the row of confidences, which
    is the tested draft law (the drafted one where the test is one-hot). ``looks_at`` is "past",
    "row" or "token"."""

    name: str
    metavar: str
    looks_at: str
    summary: str
    value: Reader
    share: Callable[[RecipeStep, ExactVector], Share]
    options: tuple[Option, ...] = ()
    required: tuple[str, ...] = ()


def read_keep(text: str) -> RecipeStep:
    """The keep rule that ``name:value[:option=value]`` writes. Raises SettingsError."""
    name, _, rest = text.partition(":")
    return read_step(keep_rule_named(name), rest)


def keep_rule_named(name: str) -> KeepRule:
    """The keep rule of that name. Raises SettingsError with the nearest names."""
    written = name.strip().replace("_", "-")
    known = {rule.name: rule for rule in KEEP_RULES}
    if written in known:
        return known[written]
    raise SettingsError(
        f"keep={name[:40]} is unknown",
        expected="one of: " + ", ".join(known),
        advice=nearest_names(written, known),
    )


def captured_share(chances: Mapping[int, Fraction], default: Fraction) -> Share:
    """``k(x) v(x)`` for keep probabilities by token, ``default`` for all others."""
    groups: dict[Fraction, list[int]] = {}
    for token, chance in chances.items():
        groups.setdefault(chance, []).append(token)

    def share(vector: ExactVector) -> ExactVector:
        kept = vector.scaled(default)
        for chance, tokens in groups.items():
            if chance != default:
                kept = kept + vector.among(tokens).scaled(chance - default)
        return kept.widened(vector.error)

    return share


def _constant(use: RecipeStep, confidences: ExactVector) -> Share:
    return lambda vector: vector.scaled(use.number())


def _own_probability(use: RecipeStep, confidences: ExactVector) -> Share:
    margin = confidences - confidences.constant(use.number())
    keeps_equal = use.word("strict") == "no"
    return lambda vector: vector.where(margin, also_zero=keeps_equal)


def _top_probability(use: RecipeStep, confidences: ExactVector) -> Share:
    top = confidences.value(confidences.largest(1)[0])
    kept = top > use.number() or (top == use.number() and use.word("strict") == "no")
    error = confidences.error
    return _all_or_nothing(kept, sure=not error or abs(top - use.number()) > error)


def _draft_entropy(use: RecipeStep, confidences: ExactVector) -> Share:
    kept = entropy_at_most(confidences, use.number())
    return _all_or_nothing(bool(kept), sure=kept is not None)


def _all_or_nothing(kept: bool, sure: bool) -> Share:
    """Everything is kept, or nothing; where rounding leaves open which, all is uncertain."""

    def share(vector: ExactVector) -> ExactVector:
        found = vector.scaled(_ONE if kept else _ZERO)
        return found if sure else found.widened(vector.error).doubted(vector.total())

    return share


def _by_token(use: RecipeStep, confidences: ExactVector) -> Share:
    chances = use.changes()
    _check(use, chances, confidences.size)
    return captured_share(chances, use.number("else"))


def _only(use: RecipeStep, confidences: ExactVector) -> Share:
    _check(use, dict.fromkeys(use.ids(), _ONE), confidences.size)
    return captured_share(dict.fromkeys(use.ids(), _ONE), _ZERO)


def _check(use: RecipeStep, chances: Mapping[int, Fraction], size: int) -> None:
    for token, chance in chances.items():
        if not 0 <= chance <= 1:
            raise SettingsError(
                f"keep: token {token} is kept with probability {chance}",
                expected="probabilities from 0 to 1",
            )
        if token >= size:
            raise SettingsError(
                f"keep: token {token} is outside the vocabulary",
                expected=f"token ids from 0 to {size - 1}",
            )


_STRICT = Option("strict", one_of("yes", "no"), "no", "whether equality is dropped")

KEEP_RULES: tuple[KeepRule, ...] = (
    KeepRule("share", "K", "past", "keep with probability K", _SHARE, _constant),
    KeepRule(
        "own-probability",
        "T",
        "token",
        "keep a token whose own draft probability is >= T",
        _SHARE,
        _own_probability,
        (_STRICT,),
    ),
    KeepRule(
        "top-probability",
        "T",
        "row",
        "keep where the largest draft probability is >= T",
        _SHARE,
        _top_probability,
        (_STRICT,),
    ),
    KeepRule(
        "draft-entropy",
        "H",
        "row",
        "keep where the entropy of the draft row is <= H (nats)",
        number_within(Interval(low=_ZERO)),
        _draft_entropy,
    ),
    KeepRule(
        "tokens",
        "ID=K+...",
        "token",
        "keep probabilities by token id",
        id_changes,
        _by_token,
        (Option("else", _SHARE, _ONE, "the keep probability of every other token"),),
    ),
    KeepRule("only", "IDS", "token", "keep only these tokens (a grammar)", id_set, _only),
)
