"""Which value of a swept option loses the floor: against brute force, and long decimals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.cli.typed_rows import typed_capture
from specdist.exact.interval import Interval
from specdist.model.capture import Capture
from specdist.model.options import ProcessingOptions
from specdist.model.report import Summary
from specdist.model.settings import CheckSettings, ReadingSettings, Settings
from specdist.model.sweep_crossing import Crossing, Direction, FloorAnswer, Place, Side
from specdist.verify.run import check
from specdist.verify.sweep import breakpoints, cells, crossing, narrowing, probe
from specdist.verify.sweep.crossing import crossings, floor_answer
from specdist.verify.sweep.floor import floor_along
from specdist.verify.sweep.kept import kept
from tests import strategies, sweep_oracle

F = Fraction
TENTHS = [F(i, 10) for i in range(21)]
TWENTIETHS = [F(i, 20) for i in range(1, 21)]


def settings_at(axis: str, **more: str) -> Callable[[F], Settings]:
    def at(value: F) -> Settings:
        target, draft = dict(more), dict[str, str]()
        (draft if axis.startswith("draft-") else target)[axis.removeprefix("draft-")] = str(value)
        options = ProcessingOptions(target=target, draft=draft)
        return Settings(checking=CheckSettings(overrides=options, show=0, workers=1))

    return at


def summary(capture: Capture, settings: Settings) -> Summary:
    run = check([capture], settings)
    list(run.results())
    return run.report().summary


def along(
    axis: str, values: Sequence[F], floor: F, rows: dict[str, str], **more: str
) -> FloorAnswer:
    capture = typed_capture(rows)
    at = settings_at(axis, **more)
    summaries = [summary(capture, at(value)) for value in values]
    answer = floor_along(values, summaries, at, kept([capture], ReadingSettings()), floor)
    assert answer is not None
    return answer


def typed(target: Sequence[F], draft: Sequence[F]) -> dict[str, str]:
    return {"target": ",".join(map(str, target)), "draft": ",".join(map(str, draft))}


def as_changes(found: Sequence[Crossing]) -> list[sweep_oracle.Change]:
    changes = []
    for one in found:
        assert one.place is Place.JUMP
        assert one.low == one.high
        assert not one.rounding
        assert one.value_reaches is not None
        changes.append(
            sweep_oracle.Change(one.low, one.direction is Direction.FALLS, one.value_reaches)
        )
    return changes


# Piecewise constant rates: every crossing, by brute force.


@st.composite
def cut_sweeps(draw: st.DrawFn) -> tuple[str, strategies.Pair, F]:
    axis = draw(st.sampled_from(["top-p", "draft-top-p", "min-p", "draft-min-p", "epsilon"]))
    pair = draw(strategies.pairs(max_size=5))
    floor = draw(
        st.one_of(
            st.sampled_from([F(1, 2), F(4, 5), F(1), F(2, 3)]),
            st.sampled_from(TWENTIETHS[:-1]).map(lambda v: sweep_oracle.rate(axis, *pair, v)),
        )
    )
    return axis, pair, floor


@given(cut_sweeps())
def test_every_crossing_of_a_cut_is_found(case: tuple[str, strategies.Pair, F]) -> None:
    axis, pair, floor = case
    values = TWENTIETHS if axis != "epsilon" else TWENTIETHS[:-1]
    answer = along(axis, values, floor, typed(*pair))
    wanted = sweep_oracle.changes(axis, *pair, values[0], values[-1], floor)
    assert as_changes(answer.crossings) == wanted
    assert answer.complete
    assert not answer.open_at
    rates = [sweep_oracle.rate(axis, *pair, value) for value in values]
    assert answer.reaching == sum(rate >= floor for rate in rates)
    assert answer.below == len(values) - answer.reaching
    assert list(answer.equal_at) == [v for v, r in zip(values, rates, strict=True) if r == floor]


@given(cut_sweeps())
def test_one_exact_crossing_between_neighbours_where_not_all_are_tried(
    case: tuple[str, strategies.Pair, F],
) -> None:
    axis, pair, floor = case
    ends = [F(1, 20), F(19, 20)]

    def rate_at(value: F) -> F:
        return sweep_oracle.rate(axis, *pair, value)

    def places(low: F, high: F) -> list[F]:
        return sorted(v for v in sweep_oracle.candidates(axis, pair) if low <= v <= high)

    answer = floor_answer(ends, [rate_at(v) for v in ends], rate_at, floor, places, most=0)
    wanted = sweep_oracle.changes(axis, *pair, ends[0], ends[1], floor)
    assert len(answer.crossings) == (rate_at(ends[0]) >= floor) ^ (rate_at(ends[1]) >= floor)
    if len(places(*ends)) > 1:
        assert not answer.complete
    assert set(as_changes(answer.crossings)) <= set(wanted)


def test_by_hand_top_p_of_three_tokens() -> None:
    """P <= 1/2 keeps A against B, P <= 4/5 keeps AB against BC: overlap 3/8 at B; then 7/10."""
    rows = {"target": "1/2,3/10,1/5", "draft": "1/5,1/2,3/10"}
    answer = along("top-p", TWENTIETHS, F(3, 5), rows)
    assert as_changes(answer.crossings) == [sweep_oracle.Change(F(4, 5), False, False)]
    assert (answer.crossings[0].before, answer.crossings[0].after) == (
        Interval.of(F(3, 8)),
        Interval.of(F(7, 10)),
    )
    assert (answer.complete, answer.places, answer.reaching) == (True, 3, 4)
    exceed = along("top-p", [F(1, 2), F(9, 10)], F(3, 5), rows)
    assert as_changes(exceed.crossings) == [sweep_oracle.Change(F(4, 5), False, False)]


def test_by_hand_a_rate_equal_to_the_floor_reaches_it() -> None:
    """The overlap 3/8 holds for 1/2 < P <= 4/5; at 1/2 the rows have no common token left."""
    rows = {"target": "1/2,3/10,1/5", "draft": "1/5,1/2,3/10"}
    answer = along("top-p", [F(1, 4), F(3, 5), F(3, 4)], F(3, 8), rows)
    assert as_changes(answer.crossings) == [sweep_oracle.Change(F(1, 2), False, False)]
    assert (answer.reaching, answer.equal_at) == (2, (F(3, 5), F(3, 4)))


def test_by_hand_min_p_keeps_the_tie() -> None:
    """Ratios 3/5 and 2/5 on both sides: M <= 2/5 keeps all, M <= 3/5 two, then one."""
    rows = {"target": "1/2,3/10,1/5", "draft": "1/5,1/2,3/10"}
    found = along("min-p", [F(0), F(1)], F(3, 5), rows).crossings
    assert as_changes(found) == [sweep_oracle.Change(F(2, 5), True, True)]


def test_whole_numbers_of_top_k() -> None:
    rows = {"target": "1/2,3/10,1/5", "draft": "1/5,1/2,3/10"}
    answer = along("top-k", [F(1), F(3)], F(3, 5), rows)
    assert [(c.place, c.direction, c.low, c.high) for c in answer.crossings] == [
        (Place.WHOLE, Direction.RISES, F(2), F(3))
    ]
    assert answer.complete
    assert answer.whole
    assert answer.places == 3


def test_a_long_range_of_whole_numbers_is_halved() -> None:
    tried: list[F] = []

    def rate_at(value: F) -> F:
        tried.append(value)
        return F(1) if value < 77_777 else F(0)

    ends = [F(1), F(100_000)]
    answer = floor_answer(ends, [F(1), F(0)], rate_at, F(1, 2), whole=True)
    (one,) = answer.crossings
    assert (one.low, one.high, one.place) == (F(77_776), F(77_777), Place.WHOLE)
    assert not answer.complete
    assert len(tried) < 25


# Temperature: certified ends, against long decimals.


def tempered(row: Sequence[F], temperature: F) -> list[mpmath.mpf]:
    power = mpmath.mpf(temperature.denominator) / temperature.numerator
    weights = [
        (mpmath.mpf(v.numerator) / v.denominator) ** power if v else mpmath.mpf(0) for v in row
    ]
    return [weight / mpmath.fsum(weights) for weight in weights]


def true_rate(target: Sequence[F], draft: Sequence[F], temperature: F) -> mpmath.mpf:
    pairs = zip(tempered(target, temperature), tempered(draft, temperature), strict=True)
    return mpmath.fsum(min(pair) for pair in pairs)


@given(strategies.pairs(), st.sampled_from([F(1, 2), F(4, 5), F(3, 4), F(9, 10), F(99, 100)]))
def test_ends_of_temperature_are_on_the_sides_that_are_claimed(
    pair: strategies.Pair, floor: F
) -> None:
    values = TENTHS[1:]
    answer = along("temperature", values, floor, typed(*pair))
    assert not answer.complete
    with mpmath.workdps(60):
        goal = mpmath.mpf(floor.numerator) / floor.denominator
        rates = [true_rate(*pair, value) - goal for value in values]
        sure = [rate > 0 for rate in rates if abs(rate) > 1e-9]
        if len(sure) == len(values):
            assert len(answer.crossings) == sum(a != b for a, b in pairwise(sure))
        for one in answer.crossings:
            if one.place is Place.EQUAL:
                assert abs(true_rate(*pair, one.low) - goal) < mpmath.mpf(10) ** -50
                continue
            assert one.place is Place.BETWEEN
            assert one.high - one.low <= F(1, 10**9)
            falls = one.direction is Direction.FALLS
            first, second = (true_rate(*pair, end) - goal for end in (one.low, one.high))
            assert (first >= 0, second >= 0) == (falls, not falls)


def test_the_root_of_two_tokens_is_inside() -> None:
    """Target (9/10, 1/10) against (1/2, 1/2): rate 1/2 + 1/(1 + 9^(1/T))."""
    rows = {"target": "9/10,1/10", "draft": "1/2,1/2"}
    for floor in (F(5, 8), F(2, 3), F(7, 10)):
        (one,) = along("temperature", TENTHS[1:], floor, rows).crossings
        with mpmath.workdps(40):
            odds = 1 / (mpmath.mpf(floor.numerator) / floor.denominator - mpmath.mpf(1) / 2) - 1
            root = mpmath.log(9) / mpmath.log(odds)
            low, high = (mpmath.mpf(v.numerator) / v.denominator for v in (one.low, one.high))
            assert low < root < high
        assert one.direction is Direction.RISES
        assert one.high - one.low == F(1, 10**9 if root > 1 else 10**10)


def test_the_root_of_typed_logits_is_inside() -> None:
    rows = {"target-logits": "2,1,0", "draft-logits": "0,1,0"}
    (one,) = along("temperature", TENTHS[5:], F(1, 2), rows).crossings
    with mpmath.workdps(40):

        def rate(temperature: mpmath.mpf) -> mpmath.mpf:
            laws = []
            for logits in ((2, 1, 0), (0, 1, 0)):
                weights = [mpmath.exp(z / temperature) for z in logits]
                laws.append([weight / mpmath.fsum(weights) for weight in weights])
            return mpmath.fsum(map(min, *laws))

        root = mpmath.findroot(
            lambda t: rate(t) - mpmath.mpf(1) / 2,
            mpmath.mpf(one.low.numerator) / one.low.denominator,
        )
        assert mpmath.mpf(one.low.numerator) / one.low.denominator < root
        assert root < mpmath.mpf(one.high.numerator) / one.high.denominator


@pytest.mark.parametrize("temperature", [F(1), F(1, 2), F(1, 3)])
def test_a_temperature_that_meets_the_floor_exactly_is_named(temperature: F) -> None:
    """Target (9/10, 1/10) against (1/2, 1/2) at T = 1/n: rate 1/2 + 1/(1 + 9^n)."""
    floor = F(1, 2) + 1 / (1 + F(9) ** temperature.denominator)
    answer = along("temperature", TENTHS[1:], floor, {"target": "9/10,1/10", "draft": "1/2,1/2"})
    (one,) = answer.crossings
    assert (one.place, one.low, one.high) == (Place.EQUAL, temperature, temperature)
    assert (one.direction, one.value_reaches) == (Direction.RISES, True)
    assert answer.equal_at == ((temperature,) if temperature in TENTHS else ())


def test_a_rate_within_its_bound_of_the_floor_is_left_open() -> None:
    """9^(1/2) is 3, which float64 weights do not say: at T = 2 the rate is 3/4."""
    answer = along("temperature", TENTHS[1:], F(3, 4), {"target": "9/10,1/10", "draft": "1/2,1/2"})
    assert answer.open_at == (F(2),)
    assert answer.crossings == ()
    assert answer.below == 19
    more = along(
        "temperature",
        [*TENTHS[1:], F(21, 10)],
        F(3, 4),
        {"target": "9/10,1/10", "draft": "1/2,1/2"},
    )
    (one,) = more.crossings
    assert one.rounding
    assert one.low < 2 < one.high
    assert one.high - one.low < F(1, 10**8)


# The search itself, on functions that are known.


def test_a_root_takes_few_values() -> None:
    tried: list[F] = []

    def rate_at(value: F) -> F:
        tried.append(value)
        return 1 - value * value / 2

    (one,) = crossings(TENTHS, [1 - v * v / 2 for v in TENTHS], rate_at, F(4, 5))
    assert one.low**2 < F(2, 5) < one.high**2
    assert one.high - one.low == F(1, 10**10)
    assert len(tried) < 14


def test_the_order_of_the_values_does_not_matter() -> None:
    def rate_at(value: F) -> F:
        return abs(value - 1)

    shuffled = [*TENTHS[::2], *TENTHS[1::2]]
    found = crossings(shuffled, [rate_at(v) for v in shuffled], rate_at, F(3, 7))
    assert [one.direction for one in found] == [Direction.FALLS, Direction.RISES]
    assert [(one.place, one.low) for one in found] == [
        (Place.EQUAL, F(4, 7)),
        (Place.EQUAL, F(10, 7)),
    ]


@given(
    st.lists(st.tuples(st.fractions(0, 2, max_denominator=50), st.booleans()), max_size=4),
    st.sampled_from([F(0), F(1, 10**7), F(1, 1000)]),
)
def test_steps_without_known_places_are_narrowed(jumps: list[tuple[F, bool]], bound: F) -> None:
    """The rate is 9/10 or 7/10, changing at some places; sides are those of the very ends."""

    def level(value: F) -> bool:
        passed = sum(value >= at if closed else value > at for at, closed in jumps)
        return passed % 2 == 0

    def rate_at(value: F) -> Interval:
        middle = F(9, 10) if level(value) else F(7, 10)
        return Interval(middle - bound, middle + bound)

    found = crossings(TENTHS, [rate_at(v) for v in TENTHS], rate_at, F(4, 5))
    wanted = [level(a) != level(b) for a, b in pairwise(TENTHS)]
    assert len(found) == sum(wanted)
    for one in found:
        falls = one.direction is Direction.FALLS
        assert (level(one.low), level(one.high)) == (falls, not falls)
        assert 0 < one.high - one.low <= F(1, 10**9)
        assert not one.rounding
        assert any(one.low <= at <= one.high for at, _ in jumps)


def test_a_bound_that_holds_the_floor_widens_the_answer() -> None:
    def rate_at(value: F) -> Interval:
        return Interval(1 - value / 4 - F(1, 10**4), 1 - value / 4 + F(1, 10**4))

    (one,) = crossings(TENTHS, [rate_at(v) for v in TENTHS], rate_at, F(4, 5))
    assert one.rounding
    assert rate_at(one.low).least >= F(4, 5) > rate_at(one.high).most
    assert F(8, 10**4) <= one.high - one.low < F(8, 10**4) + F(2, 10**8)


def test_rates_that_were_told_are_worked_out_again_before_they_count() -> None:
    """A check that told nothing of a cut within rounding: at 1/2 the rate is anything."""

    def rate_at(value: F) -> F | Interval:
        return Interval(F(0), F(1)) if value == F(1, 2) else 1 - value

    told = [F(1), F(1, 2), F(0)]
    answer = floor_answer([F(0), F(1, 2), F(1)], told, rate_at, F(9, 20))
    assert answer.open_at == (F(1, 2),)
    assert answer.reaching == 1
    (one,) = answer.crossings
    assert one.low <= F(11, 20) <= one.high


def test_a_stretch_that_is_left_open_may_hide_crossings() -> None:
    def rate_at(value: F) -> F | Interval:
        return Interval(F(7, 10), F(9, 10)) if F(1, 3) < value < F(2, 3) else F(1)

    def places(low: F, high: F) -> list[F]:
        return [at for at in (F(1, 3), F(2, 3)) if low <= at <= high]

    answer = floor_answer([F(0), F(1)], [F(1), F(1)], rate_at, F(4, 5), places)
    assert answer.crossings == ()
    assert not answer.complete


def test_places_that_are_wrong_prove_nothing() -> None:
    def rate_at(value: F) -> F:
        return 1 - value / 2

    answer = floor_answer(TENTHS, list(map(rate_at, TENTHS)), rate_at, F(4, 5), lambda a, b: [F(1)])
    assert not answer.complete
    assert [(one.place, one.low) for one in answer.crossings] == [(Place.EQUAL, F(2, 5))]


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(F(1, 3), F(1, 2), F(1, 2)), (F(3, 10), F(4, 10), F(1, 3)), (F(0), F(1), F(0)),
     (F(31, 10), F(32, 10), F(16, 5)), (F(-2, 5), F(-3, 10), F(-1, 3)),
     (F(5, 2), F(5, 2), F(5, 2))],
)  # fmt: skip
def test_the_simplest_fraction(low: F, high: F, wanted: F) -> None:
    assert narrowing.simplest(low, high) == wanted


# Planted bugs: the tests above must see them.


def _fails(test: Callable[[], None]) -> bool:
    try:
        test()
    except AssertionError:
        return True
    return False


def test_a_strict_floor_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(rate: Interval, floor: F) -> Side:
        if rate.least > floor:
            return Side.REACHES
        return Side.BELOW if rate.most <= floor else Side.OPEN

    monkeypatch.setattr(probe, "side_of", strict)
    assert _fails(test_by_hand_a_rate_equal_to_the_floor_reaches_it)


def test_a_cut_that_is_closed_on_the_wrong_side_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = cells.crossing_of

    def wrong(*arguments: object) -> Crossing:
        found = right(*arguments)  # type: ignore[arg-type]
        return replace(found, value_reaches=not found.value_reaches)

    monkeypatch.setattr(cells, "crossing_of", wrong)
    assert _fails(test_by_hand_top_p_of_three_tokens)
    assert _fails(test_by_hand_min_p_keeps_the_tie)


def test_masses_before_the_token_instead_of_with_it_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def before(shares: list[F]) -> list[F]:
        return [F(0), *sorted(shares, reverse=True)[:-1]]

    monkeypatch.setitem(breakpoints._MASSES, "top-p", (before, {}))
    assert _fails(test_by_hand_top_p_of_three_tokens)


def test_a_bracket_that_keeps_the_wrong_end_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = narrowing.narrowed

    def wrong(*arguments: object) -> narrowing.Narrowed:
        found = right(*arguments)  # type: ignore[arg-type]
        return found._replace(low=found.high, high=found.high + F(1, 10**10))

    monkeypatch.setattr(crossing, "narrowed", wrong)
    assert _fails(test_a_root_takes_few_values)
    assert _fails(test_the_root_of_typed_logits_is_inside)
