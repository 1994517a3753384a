"""The per-token tables of a position: all tokens of a small vocabulary, else those that matter."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from specdist.exact.vector import ExactVector
from specdist.model.capture import Vocab
from specdist.model.figure import Figure
from specdist.model.report import BonusToken, TokenLine
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.verify.comparison import Comparison, probability

ALL_TOKENS_UP_TO = 64


def listed_tokens(
    comparison: Comparison, reference: ExactVector, size: int, show: int
) -> list[int]:
    """Token ids to list: all up to 64, else the largest differences, then the likeliest."""
    if size <= ALL_TOKENS_UP_TO:
        return list(range(size))
    chosen = [] if comparison.difference.is_zero() else comparison.difference.largest(show)
    chosen = [token for token in chosen if comparison.difference.value(token)]
    for token in reference.largest(show):
        if len(chosen) < show and token not in chosen:
            chosen.append(token)
    return chosen


def token_lines(
    tokens: list[int],
    laws: RoleLaws,
    outcomes: Outcomes,
    comparison: Comparison,
    vocab: Vocab | None,
) -> tuple[TokenLine, ...]:
    """One line per listed token."""
    one = Figure.of(1)
    unreachable = not outcomes.rejected or bool(comparison.unassigned)
    tested = None if Role.ACCEPT_DRAFT in laws.one_hot else laws[Role.ACCEPT_DRAFT]
    lines = []
    for token in tokens:
        recovered = outcomes.recovered.value(token)
        residual = None if unreachable else recovered / outcomes.rejected
        lines.append(
            TokenLine(
                id=token,
                text=vocab.text(token) if vocab else None,
                reference=_of_law(laws[Role.REFERENCE], token),
                drafted=_of_law(laws[Role.DRAFTED_FROM], token),
                tested=one if tested is None else _of_law(tested, token),
                accepted=probability(outcomes.accepted.value(token), outcomes.accepted.error),
                residual=None if residual is None else _residual(residual, outcomes),
                recovered=probability(recovered, outcomes.recovered.error),
                output=probability(comparison.output.value(token), comparison.output.error),
                difference=Figure.of(
                    comparison.difference.value(token), comparison.bound and comparison.bound * 2
                ),
            )
        )
    return tuple(lines)


def bonus_tokens(
    tokens: list[int], reference: ExactVector, comparison: Comparison, vocab: Vocab | None
) -> tuple[BonusToken, ...]:
    """One line per listed token of the bonus row."""
    value: Callable[[int], Fraction] = comparison.difference.value
    return tuple(
        BonusToken(
            id=token,
            text=vocab.text(token) if vocab else None,
            reference=_of_law(reference, token),
            output=_of_law(comparison.output, token),
            difference=Figure.of(value(token), comparison.bound and comparison.bound * 2),
        )
        for token in tokens
    )


def _of_law(law: ExactVector, token: int) -> Figure:
    # The L1 bound of a law is also the relative bound of each of its probabilities.
    value = law.value(token)
    return probability(value, value * law.error)


def _residual(value: Fraction, outcomes: Outcomes) -> Figure:
    error = (outcomes.recovered.error + outcomes.accepted.error) / abs(outcomes.rejected)
    return probability(value, error)
