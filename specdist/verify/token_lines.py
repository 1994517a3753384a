"""The per-token tables of a position: all tokens of a small vocabulary, else those that matter."""

from __future__ import annotations

from fractions import Fraction

from specdist.exact.rational_vector import rounded_up
from specdist.exact.vector import ExactVector
from specdist.model.capture import Vocab
from specdist.model.figure import Figure
from specdist.model.report import BonusToken, TokenLine
from specdist.model.role import Role
from specdist.rules.outcomes import Outcomes, RoleLaws
from specdist.verify.comparison import Comparison

_ZERO = Fraction(0)
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
    residual = _residuals(tokens, outcomes, comparison)
    columns = _Columns(tokens)
    reference = columns.of(laws[Role.REFERENCE])
    drafted = columns.of(laws[Role.DRAFTED_FROM])
    one_hot = Role.ACCEPT_DRAFT in laws.one_hot
    tested = [Figure.of(1)] * len(tokens) if one_hot else columns.of(laws[Role.ACCEPT_DRAFT])
    accepted = columns.of(outcomes.accepted)
    recovered = columns.of(outcomes.recovered)
    same = comparison.difference.vanishes_identically()
    output = reference if same else columns.of(comparison.output)
    difference = columns.of(comparison.difference)
    return tuple(
        TokenLine(
            id=token,
            text=vocab.text(token) if vocab else None,
            reference=reference[i],
            drafted=drafted[i],
            tested=tested[i],
            accepted=accepted[i],
            residual=residual[i],
            recovered=recovered[i],
            output=output[i],
            difference=difference[i],
        )
        for i, token in enumerate(tokens)
    )


def bonus_tokens(
    tokens: list[int], reference: ExactVector, comparison: Comparison, vocab: Vocab | None
) -> tuple[BonusToken, ...]:
    """One line per listed token of the bonus row."""
    columns = _Columns(tokens)
    expected, output = columns.of(reference), columns.of(comparison.output)
    difference = columns.of(comparison.difference)
    return tuple(
        BonusToken(
            id=token,
            text=vocab.text(token) if vocab else None,
            reference=expected[i],
            output=output[i],
            difference=difference[i],
        )
        for i, token in enumerate(tokens)
    )


class _Columns:
    """The figures of some tokens, vector by vector; equal vectors share their figures."""

    def __init__(self, tokens: list[int]) -> None:
        self._tokens = tokens
        self._made: list[tuple[ExactVector, list[Figure]]] = []

    def of(self, vector: ExactVector) -> list[Figure]:
        for known, figures in self._made:
            if known.same_as(vector):
                return figures
        error = _ZERO if vector.vanishes_identically() else vector.error
        bound = rounded_up(min(error, Fraction(1))) if error else None
        figures = [Figure.deferred(parts, bound) for parts in vector.parts(self._tokens)]
        self._made.append((vector, figures))
        return figures


def _residual_bound(outcomes: Outcomes) -> Fraction | None:
    error = outcomes.recovered.error + outcomes.accepted.error
    return rounded_up(min(error / abs(outcomes.rejected), Fraction(1))) if error else None


def _residuals(
    tokens: list[int], outcomes: Outcomes, comparison: Comparison
) -> list[Figure] | list[None]:
    """Recovered mass over rejected mass; None where no rejection leads to a token."""
    if not outcomes.rejected or comparison.unassigned:
        return [None] * len(tokens)
    bound = _residual_bound(outcomes)
    rejected = outcomes.rejected
    return [Figure.deferred(parts, bound, rejected) for parts in outcomes.recovered.parts(tokens)]
