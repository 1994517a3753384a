"""The cost report of acceptances that are stated on the command line; no rows, no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from specdist.cost import factors, roofline_lines
from specdist.cost.acceptance import (
    Acceptances,
    expected_tokens,
    expected_tokens_iid,
    tokens_law,
)
from specdist.cost.draft_length import BestLength, best_length
from specdist.cost.length_lines import length_lines
from specdist.cost.lines import cost_lines, verify_cost
from specdist.cost.wording import NOT_MEASURED, brief, relative_costs
from specdist.errors import SettingsError
from specdist.model.cost import CostSettings
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine

MOST_LENGTH = 1000
MOST_BITS = 20_000
"""Of the numbers that acceptances are multiplied to."""


def stated_lines(
    acceptances: Acceptances, length: int | None, best: bool, options: CostSettings
) -> tuple[CostLine, ...]:
    """Expected tokens and their worth at a draft length, and with ``best`` the best draft length.

    Where no ``length`` is given, the best one is taken. Raises `SettingsError` for lengths and
    numbers that are too large, and where costs are missing.
    """
    if length is None and not best:
        length = acceptances.positions
    if length is None and not best:
        raise SettingsError(
            "no draft length is given",
            expected="--draft-length N, --best-draft-length or one acceptance for each position",
        )
    longest = longest_draft(acceptances)
    if length is not None and length > longest:
        raise SettingsError(
            f"draft-length={length} is out of range for this acceptance",
            expected=f"a whole number from 1 to {longest}",
            advice="there is one acceptance for each position"
            if acceptances.positions
            else f"at most {MOST_LENGTH}, fewer for an acceptance of many digits",
        )
    found: list[CostLine] = []
    if best:
        found, chosen = best_lines(acceptances, acceptances.survivals(longest), length, options)
        length = length or (chosen.length if chosen.settled else 0)
    if not length:
        return tuple(found)
    survivals = acceptances.survivals(length)
    expected = expected_tokens(survivals)
    head = _expected(acceptances, length, expected)
    more = cost_lines(expected, tokens_law(survivals), length, options)
    return (*head, *_improvement(acceptances, options), *more, *found)


def longest_draft(acceptances: Acceptances) -> int:
    """The longest draft that may be asked for: work is bounded, and so are listed positions."""
    if acceptances.positions is not None:
        return acceptances.positions
    bits = sum(c.acceptances[0].denominator.bit_length() for c in acceptances.contexts)
    return max(1, min(MOST_LENGTH, MOST_BITS // bits))


def _expected(acceptances: Acceptances, length: int, expected: Fraction) -> list[CostLine]:
    """Expected tokens; where acceptance varies, what the formula for one acceptance makes of it."""
    one = acceptances.constant and len(acceptances.contexts) == 1
    line = CostLine(
        "expected tokens a step",
        Figure.of(expected),
        f"draft length {length}, bonus token included",
        said(acceptances),
    )
    if one:
        return [line]
    mean = acceptances.mean(length)
    value = expected_tokens_iid(mean, length)
    word = "too low" if value < expected else "too high" if value > expected else "the same"
    text = f"{word}: a mean of products is no product of means"
    assumes = f"every draft token is accepted with the mean acceptance {brief(mean)}"
    return [line, CostLine("by one mean acceptance", Figure.of(value), text, assumes)]


def said(acceptances: Acceptances) -> str:
    """How the acceptances are said in a sentence."""
    parts = [_said(context.acceptances) for context in acceptances.contexts]
    if len(parts) == 1:
        before = "whatever was accepted before" if acceptances.constant else "once all before are"
        return f"draft tokens are accepted with probability {parts[0]}, {before}"
    shares = [brief(context.share) for context in acceptances.contexts]
    kinds = "; ".join(f"{share}: {part}" for share, part in zip(shares, parts, strict=True))
    return f"every step meets one kind of context, by share and acceptance ({kinds})"


def _said(numbers: Sequence[Fraction]) -> str:
    shown = ", ".join(brief(number) for number in numbers[:8])
    if len(numbers) == 1:
        return f"{shown} at every position"
    return f"{shown}{', ...' if len(numbers) > 8 else ''} by position"


def _improvement(acceptances: Acceptances, options: CostSettings) -> list[CostLine]:
    """Whether any draft length can pay, where a verification costs one target step."""
    cost = options.draft_cost
    if cost is None or options.verify_cost is not None:
        return []
    first = acceptances.first
    can = factors.can_improve(first, cost)
    text = f"acceptance {brief(first)} {'>' if can else '<='} draft cost {brief(cost)}"
    words = f"{'yes' if can else 'no'}: {text}, {NOT_MEASURED}"
    assumes = f"{relative_costs(cost, factors.ONE)}, and nothing else takes time"
    return [CostLine("improvement possible", None, words, assumes)]


def best_lines(
    acceptances: Acceptances,
    survivals: Sequence[Fraction],
    length: int | None,
    options: CostSettings,
) -> tuple[list[CostLine], BestLength]:
    """The best draft length by relative costs, then at every batch of a roofline. Raises
    `SettingsError` where no cost says what drafting takes."""
    cost, device = options.draft_cost, options.roofline
    if cost is None and device is None:
        raise SettingsError(
            "the best draft length depends on what drafting costs, and no cost is given",
            expected="--draft-cost C, or --roofline",
        )
    listed = acceptances.positions is not None
    found: list[CostLine] = []
    best = BestLength(0, Fraction(1), False)
    if cost is not None:
        best, found = _best_by_cost(survivals, cost, options, listed)
    if device is not None:
        found += roofline_lines.best_lines(survivals, length, device, cost, listed)
    return found, best


def _best_by_cost(
    survivals: Sequence[Fraction], draft_cost: Fraction, options: CostSettings, listed: bool
) -> tuple[BestLength, list[CostLine]]:
    tried = options.verify_cost
    curve = tried is not None and len(tried) > 1
    if curve and tried is not None:
        survivals = survivals[: len(tried)]

    def cost(length: int) -> Fraction:
        return factors.step_cost(length, draft_cost, verify_cost(options, length))

    best = best_length(survivals, cost, convex=not curve, listed=listed or curve)
    assumes = relative_costs(draft_cost, verify_cost(options, 1))
    if curve:
        assumes = f"a draft step costs {brief(draft_cost)}, a verification what --verify-cost lists"
    if listed or curve:
        assumes += f"; draft lengths up to {len(survivals)}"
    return best, length_lines(best, len(survivals), "", assumes)
