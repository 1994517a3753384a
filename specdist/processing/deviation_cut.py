"""The cut of top-n-sigma: logits at least ``max z - n * deviation``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from specdist.processing.cut_remarks import cut_remarks
from specdist.processing.logit import Logit, as_decimal, decimal_context, enclosed, exact_sum
from specdist.processing.working_row import Remark

_DIGITS = (40, 80, 160, 320)


def within_deviations(
    logits: Mapping[int, Logit], count: Fraction
) -> tuple[set[int], tuple[Remark, ...]]:
    """Tokens with ``(max z - z)^2 <= count^2 * variance``, the variance that of all ``logits``.

    Exact for rational logits. For probabilities, whose logits are logarithms, by enclosures of up
    to 320 digits; what they do not separate counts as equal and stays.
    """
    if all(not logit.power for logit in logits.values()):
        return _rational({token: logit.shift for token, logit in logits.items()}, count)
    for digits in _DIGITS:
        kept, undecided, remarks = _enclosed(logits, count, digits)
        if not undecided:
            break
    return kept | undecided, remarks


def _rational(values: dict[int, Fraction], count: Fraction) -> tuple[set[int], tuple[Remark, ...]]:
    mean = exact_sum(values.values()) / len(values)
    variance = exact_sum((value - mean) ** 2 for value in values.values()) / len(values)
    largest = max(values.values())
    limit = count**2 * variance
    kept = {token for token, value in values.items() if (largest - value) ** 2 <= limit}
    gaps = {largest - value for value in values.values()} - {0}
    return kept, _remarks(gaps, limit)


def _enclosed(
    logits: Mapping[int, Logit], count: Fraction, digits: int
) -> tuple[set[int], set[int], tuple[Remark, ...]]:
    """Kept and undecided tokens at a precision.

    All values are taken exactly as enclosed, each off by at most e; gap and mean are then off by
    at most 2e, so ``gap^2`` and the variance by at most ``8 e m`` with m the largest gap + e.
    """
    values = {token: enclosed(logit, digits) for token, logit in logits.items()}
    error = Fraction(max(off for _, off in values.values()))
    exact = {token: Fraction(value) for token, (value, _) in values.items()}
    largest = max(exact.values())
    mean = exact_sum(exact.values()) / len(exact)
    variance = exact_sum((value - mean) ** 2 for value in exact.values()) / len(exact)
    limit = count**2 * variance
    reach = largest - min(exact.values()) + error
    slack = 8 * error * reach * (1 + count**2)
    margins = {token: limit - (largest - value) ** 2 for token, value in exact.items()}
    kept = {token for token, margin in margins.items() if margin > slack}
    undecided = {token for token, margin in margins.items() if abs(margin) <= slack}
    return kept, undecided, _remarks({largest - value for value in exact.values()} - {0}, limit)


def _remarks(gaps: set[Fraction], limit: Fraction) -> tuple[Remark, ...]:
    """``limit`` is the squared threshold; a gap that squares to it lies exactly on it."""
    if not gaps or not limit:
        return ()
    context = decimal_context(_DIGITS[0])
    root = Fraction(as_decimal(limit, context).sqrt(context))
    nearest = min(gaps, key=lambda gap: abs(gap - root))
    threshold = nearest if nearest**2 == limit else root
    return cut_remarks(
        "top-n-sigma", "distance to the largest logit", threshold, nearest, Fraction(0)
    )
