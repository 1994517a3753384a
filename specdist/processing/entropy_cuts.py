"""Cuts that need the entropy ``H = -sum p ln p``: typical-p and eta, decided by enclosure.

``H`` is transcendental, or a logarithm of an algebraic number, so a comparison with it is decided
by enclosures of 40 digits, then 80, 160 and 320. Equality is proven where the powers are small:
``exp(-2H) = x`` iff ``x^D = prod p^(2 D p)`` with D the common denominator. What 320 digits do not
separate and no power proves counts as equal, and is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from specdist.exact.entropy import Logarithms, entropy_of, exp_entropy_is
from specdist.processing.cut_remarks import NEAR_CUT, cut_remarks, prefix_remarks, written
from specdist.processing.logit import as_decimal, decimal_context
from specdist.processing.working_row import Remark

DIGITS = (40, 80, 160, 320)
_DISPLAYED = Fraction(1, 10**30)
"""Relative error that the threshold computed with 40 digits stays within."""
Cut = tuple[set[int], tuple[Remark, ...]]


class _Masses:
    """Probabilities by token, grouped by value."""

    def __init__(self, masses: Mapping[int, Fraction]) -> None:
        self.tokens: dict[Fraction, list[int]] = {}
        for token, value in masses.items():
            self.tokens.setdefault(value, []).append(token)

    @property
    def counts(self) -> dict[Fraction, int]:
        """How many tokens have each probability."""
        return {value: len(tokens) for value, tokens in self.tokens.items()}

    def enclosed(self, digits: int) -> Logarithms:
        """``ln p`` per distinct value, H, and how far off any of them may be."""
        return entropy_of(self.counts, digits)

    def exp_minus_twice_entropy_is(self, x: Fraction) -> bool:
        """Whether ``prod p^(2p) = x``, where exact powers of a bearable size can tell."""
        return exp_entropy_is(self.counts, x, times=2)


def typical(masses: Mapping[int, Fraction], bound: Fraction, mass: Fraction, boundary: str) -> Cut:
    """Tokens by rising ``|-ln p - H|`` until their mass is ``>= mass`` ("reach") or ``> mass``.

    Tokens of equal shift stay or go together. ``bound`` is the relative bound of the weights.
    """
    grouped = _Masses(masses)
    groups, digits = _by_shift(grouped)
    kept: set[int] = set()
    before = reached = Fraction(0)
    last = 0
    for last, group in enumerate(groups):  # noqa: B007
        tokens = [token for value in group for token in grouped.tokens[value]]
        kept.update(tokens)
        before, reached = reached, reached + sum(masses[token] for token in tokens)
        if reached > mass or (reached == mass and boundary == "reach"):
            break
    everything = last == len(groups) - 1
    remarks = prefix_remarks("typical-p", mass, before, None if everything else reached, bound)
    remarks += _tie_remarks(groups[last], bound)
    if not everything:
        remarks += _gap_remarks(grouped.enclosed(digits), groups[last], groups[last + 1], bound)
    return kept, remarks


def _shift(enclosed: Logarithms, value: Fraction) -> Decimal:
    context = enclosed.context
    return context.abs(context.add(enclosed.by_value[value], enclosed.entropy))


def _by_shift(grouped: _Masses) -> tuple[list[list[Fraction]], int]:
    """Distinct probabilities in groups of equal shift, rising, and the digits that it took."""
    tied: set[tuple[Fraction, Fraction]] = set()
    order: list[Fraction] = []
    for digits in DIGITS:
        enclosed = grouped.enclosed(digits)
        order = sorted(grouped.tokens, key=lambda value, e=enclosed: _shift(e, value))  # type: ignore[misc]
        close = [
            (one, other)
            for one, other in pairwise(order)
            if _shift(enclosed, other) - _shift(enclosed, one) <= 4 * enclosed.error
        ]
        tied = {pair for pair in close if grouped.exp_minus_twice_entropy_is(pair[0] * pair[1])}
        if len(tied) == len(close) or digits == DIGITS[-1]:
            tied = set(close)
            break
    groups: list[list[Fraction]] = []
    for value in order:
        if groups and (groups[-1][-1], value) in tied:
            groups[-1].append(value)
        else:
            groups.append([value])
    return groups, digits


def _tie_remarks(kept: list[Fraction], bound: Fraction) -> tuple[Remark, ...]:
    """Remarks about different probabilities of equal shift where the list ends."""
    if len(kept) < 2:
        return ()
    message = (
        f"typical-p: probabilities {written(kept[0])} and {written(kept[1])} have equal shifts "
        "at the cut and both stay; a float32 sampler may keep only one"
    )
    remarks = (Remark("near-cut", message),)
    return (*remarks, _undecided_shifts(Fraction(0))) if bound else remarks


def _undecided_shifts(gap: Fraction) -> Remark:
    return Remark(
        "undecided-precision",
        f"typical-p: the shifts at the cut differ by {written(gap)}, within the rounding bound "
        "of the weights",
    )


def _gap_remarks(
    enclosed: Logarithms, kept: list[Fraction], dropped: list[Fraction], bound: Fraction
) -> tuple[Remark, ...]:
    """Remarks about a first dropped shift that is within rounding of the last kept one."""
    entropy = Fraction(enclosed.entropy)
    surprise = max(abs(Fraction(enclosed.by_value[value])) for value in (*kept, *dropped))
    gap = Fraction(_shift(enclosed, dropped[0])) - Fraction(_shift(enclosed, kept[-1]))
    remarks = []
    if gap <= NEAR_CUT * (entropy + surprise):
        remarks.append(
            Remark(
                "near-cut",
                f"typical-p: the first dropped shift is {written(gap)} above the last kept one; "
                "a float32 sampler may order them otherwise",
            )
        )
    if bound and gap <= 8 * bound * (1 + entropy):
        remarks.append(_undecided_shifts(gap))
    return tuple(remarks)


def eta(masses: Mapping[int, Fraction], bound: Fraction, epsilon: Fraction) -> Cut:
    """Tokens with ``p >= min(epsilon, sqrt(epsilon) * exp(-H))``; equality stays.

    The most likely token always does: ``exp(-H)`` is at most its probability, and epsilon below 1.
    """
    grouped = _Masses(masses)
    enclosed = grouped.enclosed(DIGITS[0])
    context = decimal_context(DIGITS[0])
    root = as_decimal(epsilon, context).sqrt(context)
    scaled = context.multiply(root, context.minus(enclosed.entropy).exp(context))
    threshold = min(epsilon, Fraction(scaled))
    reaches = _reaches(grouped, epsilon)
    kept = {
        token
        for value, tokens in grouped.tokens.items()
        if value >= epsilon or reaches(value)
        for token in tokens
    }
    others = sorted(grouped.tokens)[:-1]
    if not others:
        return kept, ()
    nearest = min(others, key=lambda value: abs(value - threshold))
    close = nearest < epsilon and abs(nearest - threshold) <= _DISPLAYED * threshold
    if close and grouped.exp_minus_twice_entropy_is(nearest * nearest / epsilon):
        threshold = nearest
    entropy = Fraction(enclosed.entropy)
    slack = 2 * bound / (1 - bound) * (nearest + 2 * threshold * (1 + entropy))
    return kept, cut_remarks("eta", "probability", threshold, nearest, slack)


def _reaches(grouped: _Masses, epsilon: Fraction) -> Callable[[Fraction], bool]:
    """Decides ``p >= sqrt(epsilon) * exp(-H)`` as ``2 (ln p + H) - ln epsilon >= 0``."""
    enclosures: dict[int, tuple[Logarithms, Decimal]] = {}

    def decide(value: Fraction) -> bool:
        for digits in DIGITS:
            if digits not in enclosures:
                context = decimal_context(digits)
                logarithm = as_decimal(epsilon, context).ln(context)
                enclosures[digits] = (grouped.enclosed(digits), logarithm)
            enclosed, logarithm = enclosures[digits]
            context = decimal_context(digits)
            doubled = context.multiply(
                Decimal(2), context.add(enclosed.by_value[value], enclosed.entropy)
            )
            margin = context.subtract(doubled, logarithm)
            error = enclosed.error * 8 + abs(logarithm) * Decimal(10) ** (2 - digits)
            if abs(margin) > error:
                return margin > 0
            if grouped.exp_minus_twice_entropy_is(value * value / epsilon):
                return True
        return True

    return decide
