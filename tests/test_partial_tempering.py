"""The sum of weights at another temperature, where part of a row is known: proven and tight."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from specdist.exact.partial_law import PartialLaw
from specdist.model.row import Kind, ListedValues, NumberFormat, RationalValues, Row, Stage
from specdist.processing import RowContext, parse_recipe
from specdist.processing.box_powers import Range, power_sum
from specdist.processing.float_box_powers import Ranges, array_power_sum
from specdist.processing.partial_row import apply_partial
from specdist.processing.spans import Span, exponential, logarithm_above, power
from tests import oracle_partial as oracle
from tests.truncated_rows import PLACE

F = Fraction
CLOSE = F(1, 10**30)
EXPONENTS = [F(2), F(3), F(1, 2), F(2, 3), F(10, 7), F(1, 3)]


def listed_row(values: dict[int, Fraction], size: int, cap: Fraction | None, **more: object) -> Row:
    known = ListedValues(
        tuple(sorted(values)),
        RationalValues(tuple(values[x] for x in sorted(values))),
        size,
        cap=cap,
        **more,  # type: ignore[arg-type]
    )
    return Row(known, Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, PLACE)


def partial(recipe: str, row: Row) -> PartialLaw:
    law = apply_partial(parse_recipe(recipe), row, RowContext()).law
    assert isinstance(law, PartialLaw)
    return law


def random_boxes(random: Random, ordered: bool) -> list[tuple[Fraction, Fraction]]:
    count = random.randint(1, 5)
    if ordered:
        ends = sorted(F(random.randint(0, 12), 12) for _ in range(count))
        width = F(random.randint(0, 6), 12)
        return [(low, low + width) for low in ends]
    pairs = [sorted((F(random.randint(0, 12), 12), F(random.randint(0, 12), 12)))
             for _ in range(count)]  # fmt: skip
    return [(low, high) for low, high in pairs]


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
@pytest.mark.parametrize("ordered", [True, False])
def test_extremes_are_those_of_every_arrangement(exponent: Fraction, ordered: bool) -> None:
    random = Random(f"{exponent} {ordered}")
    for _ in range(60):
        boxes = random_boxes(random, ordered)
        lowest, highest = (sum((box[end] for box in boxes), F(0)) for end in (0, 1))
        total = lowest + (highest - lowest) * F(random.randint(0, 8), 8)
        least, most = oracle.extreme_sums(boxes, total, exponent)
        found = power_sum([Range(*box) for box in boxes], Span.of(total), exponent)
        assert found.most is not None
        assert found.least <= least + CLOSE
        assert most <= found.most + CLOSE
        level, far = (found.most - most, least - found.least)
        if exponent > 1:
            level, far = far, level
        assert abs(level) <= CLOSE  # as equal as the boxes allow: always exact
        if ordered:
            assert abs(far) <= CLOSE
        if exponent.denominator == 1 and ordered:
            assert (found.least, found.most) == (least, most)


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_many_ranges_are_bounded_as_closely_as_few(exponent: Fraction) -> None:
    random = np.random.default_rng(7)
    for cap, count in ((None, None), (F(1, 10**6), 1000), (F(1, 10**6), None), (F(1, 10), 3)):
        centre = np.exp(-16 * random.random(60))
        low, high = centre * np.exp(-1.25e-4), centre * np.exp(1.25e-4)
        group = None if cap is None else Range(F(0), cap, count)
        ranges = [Range(F(float(a)), F(float(b))) for a, b in zip(low, high, strict=True)]
        rest = [] if group is None else [group]
        room = F(0) if cap is None else min(cap * (count or 100), F(1, 50))
        total = F(float(centre.sum())) + room * F(3, 7)
        exact = power_sum([*ranges, *rest], Span.of(total), exponent)
        power_of = float(exponent)
        many = Ranges(low, high, low**power_of, high**power_of, F(1, 2**50))
        found = array_power_sum(many, group, Span.of(total), exponent)
        # the dual fills no token in part: one of the group may stand between its ends
        close = F(1, 10**5) * exact.least + (oracle.powered(cap, exponent) if cap else 0)
        assert found.least <= exact.least <= found.least + close
        if exact.most is None:
            assert found.most is None
        else:
            assert found.most is not None
            assert exact.most <= found.most <= exact.most + close


@pytest.mark.parametrize("temperature", ["1/2", "1/3", "2", "3/2", "7/10"])
def test_shares_are_the_extremes_over_completions(temperature: str) -> None:
    random = Random(temperature)
    power_of = 1 / F(temperature)
    for _ in range(40):
        count, missing = random.randint(1, 3), random.randint(2, 4)
        parts = [random.randint(1, 9) for _ in range(count + missing)]
        listed = {x: F(parts[x], sum(parts)) for x in range(count)}
        rest = 1 - sum(listed.values(), F(0))
        cap = max(rest / missing, rest / random.randint(1, missing))
        law = partial(f"temperature:{temperature}", listed_row(listed, count + missing, cap))
        rows = list(oracle.completions(count + missing, listed, cap))
        shares = [oracle.tempered(row, F(temperature))[0] for row in rows]
        low, high = law.low[0] * law.scale.least, law.high[0] * law.scale.most
        assert low <= min(shares) + CLOSE
        assert max(shares) <= high + CLOSE
        close = F(0) if power_of.denominator == 1 else F(1, 10**12)
        assert min(shares) - low <= close  # both extremes are among the completions
        assert high - max(shares) <= close


def test_any_number_of_tokens_may_share_the_rest() -> None:
    listed = {0: F(1, 2), 4: F(1, 4)}
    colder = partial("temperature:1/2", listed_row(listed, 5, F(1, 8), open_ended=True))
    assert (colder.scale.least, colder.scale.most) == (1 / F(22, 64), 1 / F(20, 64))
    hotter = partial("temperature:2", listed_row(listed, 5, F(1, 8), open_ended=True))
    assert hotter.scale.least == 0  # only quotients are known
    assert hotter.scale.most > 0
    assert hotter.others is None


def test_the_largest_number_of_tokens_at_the_cap_is_whole() -> None:
    law = partial("temperature:1/2", listed_row({0: F(1, 2), 1: F(1, 5)}, 9, F(1, 5)))
    # 3/10 is left: one token at 1/5 and one of 1/10 at most, seven of 3/70 at least
    most = F(1, 4) + F(1, 25) + F(1, 25) + F(1, 100)
    least = F(1, 4) + F(1, 25) + 7 * F(3, 70) ** 2
    assert (law.scale.least, law.scale.most) == (1 / most, 1 / least)


def test_powers_are_rounded_outwards() -> None:
    random = Random(3)
    for _ in range(300):
        value = F(random.randint(1, 10**6), random.randint(1, 10**6))
        exponent = F(random.randint(1, 50), random.randint(1, 50))
        found = power(value, exponent)
        exact = oracle.powered(value, exponent)
        assert found.most is not None
        assert found.least * (1 - CLOSE) <= exact <= found.most * (1 + CLOSE)
        assert found.most - found.least <= F(1, 10**30) * found.most
        if exponent.denominator == 1:
            assert found.closed
        assert found.least == 0 or exact / found.least < 1 + F(1, 10**30)
        above = logarithm_above(value)
        logarithm = oracle.logarithm(value)
        assert logarithm - CLOSE <= above <= logarithm + F(1, 10**20)
        grown = exponential(value / 100)
        assert grown.most is not None
        assert grown.least <= oracle.exponential(value / 100) <= grown.most
