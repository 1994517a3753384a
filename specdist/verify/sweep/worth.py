"""What a setting is worth: tokens of a step at a draft length, and what its costs make of them.

Over rows of single positions a draft length is a model: every draft token is accepted with the mean
acceptance rate of the setting, whatever was accepted before. Source: Leviathan et al.,
arXiv 2211.17192, equation 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from specdist.cost.acceptance import (
    Acceptances,
    Context,
    expected_tokens_iid,
    tokens_law,
)
from specdist.cost.lines import cost_lines
from specdist.cost.stated import MOST_BITS, best_lines, longest_draft
from specdist.exact.interval import Interval
from specdist.model.cost import CostSettings
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine
from specdist.model.sweep import Worth
from specdist.verify.sweep.checked import Checked
from specdist.verify.sweep.floor import rate_of_summary

_BITS = 64
_ZERO, _ONE = Fraction(0), Fraction(1)


def worth(found: Checked, length: int | None, costs: CostSettings | None) -> Worth:
    """The worth of a checked setting: of its steps as they are, or at a draft ``length`` over rows
    of single positions. Raises SettingsError where the costs do not cover it."""
    expected, shape = found.tokens, found.shape
    counted = bool(found.report.summary.positions)
    if length is not None and counted:
        expected, shape = tokens_at(found, length), (length, length)
    if costs is None or not counted:
        return Worth(expected)
    lines: tuple[CostLine, ...] = ()
    if isinstance(expected, Figure) and expected.exact is not None and shape is not None:
        law = None if found.joint else _law(found, shape[0])
        lines = cost_lines(expected, law, shape[0], costs, draft_tokens=shape[1])
    best = () if found.joint else best_length_lines(found, length, costs)
    return Worth(expected, (*lines, *best), _factor(lines), _length(best))


def tokens_at(found: Checked, length: int) -> Figure | Interval:
    """Expected tokens of a step of that draft length, bonus token included; an interval where rows
    are known in part."""
    rates = _rates(found, length)
    if rates.closed:
        return Figure.of(expected_tokens_iid(rates.least, length))
    least, most = (expected_tokens_iid(end, length) for end in (rates.least, rates.most))
    if found.report.summary.acceptance_bounds is not None:
        return Interval(least, most)
    middle = _down((least + most) / 2)
    return Figure.of(middle, max(most - middle, middle - least))


def best_length_lines(
    found: Checked, length: int | None, costs: CostSettings
) -> tuple[CostLine, ...]:
    """The draft length of largest factor; without a number where rounding leaves it open."""
    if costs.draft_cost is None and costs.roofline is None:
        return ()
    rates = _rates(found, 1)
    if found.report.summary.acceptance_bounds is not None:
        return ()
    ends = [_best(rate, length, costs) for rate in {rates.least, rates.most}]
    return tuple(_between(pair) for pair in zip(*ends, strict=True)) if len(ends) > 1 else ends[0]


def _best(rate: Fraction, length: int | None, costs: CostSettings) -> tuple[CostLine, ...]:
    acceptances = Acceptances((Context(_ONE, (rate,)),))
    survivals = acceptances.survivals(longest_draft(acceptances))
    lines, _ = best_lines(acceptances, survivals, length, costs)
    return tuple(lines)


def _between(pair: tuple[CostLine, CostLine]) -> CostLine:
    """One line of the lines at both ends of a rounding bound."""
    first, second = pair
    if first == second:
        return first
    values = [line.value.exact for line in pair if line.value is not None]
    numbers = [value for value in values if value is not None]
    if first.name != second.name or len(numbers) < 2 or "factor" not in first.name:
        return CostLine(first.name, None, "not determined: rounding leaves it open", first.assumes)
    middle = _down(sum(numbers, _ZERO) / 2)
    slack = max(abs(number - middle) for number in numbers)
    return CostLine(first.name, Figure.of(middle, slack), first.text, first.assumes)


def _law(found: Checked, length: int) -> Mapping[int, Fraction] | None:
    """The law of tokens of a step; None where the rate is not known exactly."""
    rates = _rates(found, length)
    if not rates.closed:
        return None
    return tokens_law(Acceptances((Context(_ONE, (rates.least,)),)).survivals(length))


def _rates(found: Checked, length: int) -> Interval:
    """The acceptance rate: the exact number where its powers stay short, else ends on a grid of
    2^-64 around it."""
    rate = rate_of_summary(found.report.summary)
    if rate is None:
        raise ValueError("no draft token was checked")
    rate = rate.within(_ZERO, _ONE)
    if rate.closed and length * rate.least.denominator.bit_length() <= MOST_BITS // 20:
        return rate
    return Interval(_down(rate.least), min(_ONE, _down(rate.most) + Fraction(1, 1 << _BITS)))


def _down(value: Fraction) -> Fraction:
    return Fraction((value.numerator << _BITS) // value.denominator, 1 << _BITS)


def _factor(lines: tuple[CostLine, ...]) -> Figure | None:
    """The walltime factor of relative costs, else that of a roofline's first batch."""
    named = [line for line in lines if line.name.endswith("walltime factor")]
    return named[0].value if named else None


def _length(lines: tuple[CostLine, ...]) -> int | None:
    named = [line.value for line in lines if line.name.endswith("best draft length")]
    value = named[0].exact if named and named[0] is not None else None
    return None if value is None else int(value)
