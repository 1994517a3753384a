"""Counted acceptance beside the exact acceptance of captured steps.

The first position is the cleanest: whatever comes after a step, its first draft token is accepted
with the acceptance rate of its row, and a lossless rule with one draft reaches at most
``sum min(target, drafted)`` there. Over n independent steps with mean rate a, the chance that a
share of r > a or more is accepted is at most ``exp(-n KL(r, a))`` with
``KL(r, a) = r ln(r/a) + (1-r) ln((1-r)/(1-a))`` (Hoeffding 1963, theorem 1, equation 2.1, which
also holds for any numbers in [0, 1] with that mean); likewise below. The steps of counters are
others than those of the capture: the bound holds where the capture's contexts stand for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from specdist.exact.interval import Interval
from specdist.model.counters import CounterComparison, Counters, Rate
from specdist.model.finding import Finding, Severity
from specdist.verify.counters.figures import completed
from specdist.verify.wording import written

LEVEL = 1e-6
"""An acceptance that is less likely than this refutes."""


@dataclass(frozen=True, slots=True)
class FirstPositions:
    """First positions of captured steps: how many, and the sums of their acceptance rates, as
    declared and as a lossless rule with one draft could reach at most."""

    count: int
    expected: Interval
    possible: Interval


def comparisons(counters: Counters, exact: FirstPositions) -> tuple[CounterComparison, ...]:
    """The counted rates that the captured steps say something about."""
    full = completed(counters)
    if full.incomparable or full.interval_only or not exact.count:
        return ()
    found = []
    if full.accepted_at and full.steps:
        share = Fraction(full.accepted_at[0], full.steps)
        found.append(_compared(Rate.FIRST_ACCEPTED, share, full.steps, exact, both_ways=True))
    elif full.accepted is not None and full.draft_tokens and full.steps:
        longest = full.draft_length or -(-full.draft_tokens // full.steps)
        share = Fraction(full.accepted, full.draft_tokens)
        trials = full.draft_tokens // longest
        if trials > 0 and share <= 1:
            found.append(_compared(Rate.ACCEPTED_OF_DRAFTED, share, trials, exact, False))
    return tuple(item for item in found if item is not None)


def comparison_findings(
    counters: Counters, found: tuple[CounterComparison, ...]
) -> tuple[Finding, ...]:
    """`metric-mismatch` for what is refuted: an error above what one draft can reach, a warning
    where the declared rule would accept more or less."""
    return tuple(_finding(counters, item) for item in found if item.refuted)


def tail(share: Fraction, mean: Fraction, trials: int) -> float:
    """``exp(-n KL(share, mean))``, rounded upwards; 1 where the share is the mean."""
    if share == mean:
        return 1.0
    if mean in (0, 1):
        return 0.0
    r, a = float(share), float(mean)
    divergence = (r * log(r / a) if r else 0.0) + ((1 - r) * log((1 - r) / (1 - a)) if r < 1 else 0)
    return min(1.0, exp(-trials * max(divergence, 0.0) * (1 - 1e-9)) * (1 + 1e-9))


def _compared(
    rate: Rate, share: Fraction, trials: int, exact: FirstPositions, both_ways: bool
) -> CounterComparison | None:
    expected = exact.expected.most / exact.count
    possible = exact.possible.most / exact.count
    if share > possible:
        chance = tail(share, possible, trials)
        return CounterComparison(
            rate, share, trials, expected, possible, True, chance, chance < LEVEL
        )
    least = exact.expected.least / exact.count
    if both_ways and share < least:
        chance = tail(share, least, trials)
        return CounterComparison(
            rate, share, trials, least, possible, False, chance, chance < LEVEL
        )
    return CounterComparison(rate, share, trials, expected, possible, share > expected, 1.0, False)


def _finding(counters: Counters, item: CounterComparison) -> Finding:
    contexts = "the contexts of the capture are taken to stand for those that were counted"
    if item.above:
        return Finding(
            "metric-mismatch",
            Severity.ERROR,
            f"{counters.source}: acceptance {written(item.counted)} is above "
            f"{written(item.possible)}, the most that one draft can reach without loss",
            notes=(
                f"the figure is {item.rate.value}",
                f"chance of as much over {item.trials} steps: at most {item.tail:.3g} "
                f"(level {LEVEL:g})",
                contexts,
            ),
        )
    return Finding(
        "metric-mismatch",
        Severity.WARNING,
        f"{counters.source}: acceptance {written(item.counted)} is below {written(item.expected)}, "
        "which these rows give",
        notes=(
            f"the figure is {item.rate.value}",
            f"chance of as little over {item.trials} steps: at most {item.tail:.3g}",
            "ends of texts, short drafts and other contexts lower it; nothing is lost by it",
            contexts,
        ),
    )
