"""Entropy-gated window (FLy): greedy matching that forgives a mismatch which the target absorbs.

Law. Draft token x_i matches when it is the argmax of P = `accept_target` at its prefix, ties by the
lowest id; the gate at i is open when the entropy of the TOP largest entries of P,
``-sum P(y) ln P(y)``, is at least ENTROPY. A mismatch at i is kept iff the gate at i is open and
none of the positions i+1 .. i+W, the mismatch itself not counted, holds another mismatch. Where
fewer than W positions follow, ``incomplete`` says what becomes of a mismatch that none of them
contradicts. The step keeps everything before the first mismatch that is not kept, and emits the
argmax of S = `residual_target` there, or a bonus token from `bonus_from` behind the last position.

Lossy by design: a kept mismatch is a token that greedy decoding would not have written. Sources:
FLy, 2511.22972, and its code, AMD-AGI/FLy `fly/models/FLy.py` (entropy of the top 3, incomplete
windows rejected; its window length counts the mismatch, so it is W + 1); vLLM 0.33.0, option FLy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.exact.bounded import OpenComparisonError, error_of, plain
from specdist.exact.entropy import entropy_at_most
from specdist.exact.rational_vector import RationalVector
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import Option
from specdist.model.value_texts import Interval, count_from, number_within, one_of
from specdist.rules.joint.draws import top_of
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Drafted, Law, Outcome, PrefixLaws
from specdist.rules.joint.token_chain_rule import require_chain


def window_length(
    matches: Sequence[bool], gates: Sequence[bool], window: int, incomplete: bool
) -> int:
    """How many positions are kept: those before the first mismatch that is not kept.

    ``matches`` and ``gates`` hold a bit for every drafted position, in order. ``incomplete`` is the
    verdict on a mismatch with fewer than ``window`` positions behind it, all of them matches.
    """
    for index, match in enumerate(matches):
        if match:
            continue
        following = matches[index + 1 : index + 1 + window]
        complete = incomplete or len(following) == window
        if not (gates[index] and complete and all(following)):
            return index
    return len(matches)


def window_outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterator[Outcome]:
    """The one outcome of a chain of draft tokens. Raises SettingsError for a tree."""
    require_chain(drafted.tree, laws, use)
    tokens = drafted.tokens
    rows = [laws.law(Role.ACCEPT_TARGET, tokens[:index]) for index in range(len(tokens))]
    matches = [top_of(row) == token for row, token in zip(rows, tokens, strict=True)]
    gates = [
        match or _open(row, tokens[:index], use)
        for index, (match, row) in enumerate(zip(matches, rows, strict=True))
    ]
    kept = window_length(matches, gates, use.count(), use.word("incomplete") == "accept")
    prefix = tokens[:kept]
    if kept == len(tokens):
        yield Outcome(Fraction(1), prefix, laws.law(Role.BONUS_FROM, prefix), bonus=True)
    else:
        yield Outcome(Fraction(1), prefix, top_of(laws.law(Role.RESIDUAL_TARGET, prefix)))


def _open(row: Law, prefix: Prefix, use: RecipeStep) -> bool:
    """Whether the entropy of the largest entries is at least the threshold.

    An entropy that is not 0 is transcendental, so it equals no threshold above 0. Rounding moves
    the entries in order of size by the share by which it moves them in place.
    """
    threshold = use.number("entropy")
    if not threshold:
        return True
    largest = sorted(row, key=plain, reverse=True)
    top = largest[: use.count("top") or len(largest)]
    relative = max(error_of(mass) / plain(mass) for mass in top if mass)
    below = entropy_at_most(RationalVector(tuple(map(plain, top)), relative), threshold)
    if below is None and relative:
        raise OpenComparisonError("an entropy is within rounding of the threshold")
    if below is None:
        raise SettingsError(
            f"{use.text}: the entropy after the prefix {written_prefix(prefix)} agrees with the "
            "threshold to 300 digits",
            expected="a threshold that can be told from it",
        )
    return not below


WINDOW = JointRule(
    "window",
    "entropy-gated window",
    "lossy",
    window_outcomes,
    check=require_chain,
    metavar="W",
    value=count_from(0),
    options=(
        Option(
            "entropy",
            number_within(Interval(low=Fraction(0))),
            Fraction(0),
            "the least entropy, in nats, with which a mismatch may be kept",
        ),
        Option("top", count_from(1), 0, "how many of the largest entries the entropy counts"),
        Option(
            "incomplete",
            one_of("reject", "accept"),
            "reject",
            "a mismatch with fewer than W positions behind it, none of them a mismatch",
        ),
    ),
    open_roles=frozenset({Role.ACCEPT_TARGET}),  # the gate looks at a row before temperature 0
    required=("entropy",),
)
