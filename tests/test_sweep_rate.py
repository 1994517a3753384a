"""The rate that crossings rest on is that of a whole check; their sentences, and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.cli.typed_rows import typed_capture
from specdist.exact.interval import Interval
from specdist.model.capture import Capture, Position, Step
from specdist.model.options import ProcessingOptions
from specdist.model.report import Summary
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.model.settings import CheckSettings, ReadingSettings, Settings
from specdist.model.sweep_crossing import Crossing, Direction, FloorAnswer, Place
from specdist.readers import open_captures
from specdist.reports.sweep_floor_text import floor_lines, to_json
from specdist.verify.run import check
from specdist.verify.sweep.breakpoints import breakpoints_of
from specdist.verify.sweep.floor import floor_along, rate_of_summary
from specdist.verify.sweep.kept import kept
from specdist.verify.sweep.rate import acceptance
from tests import strategies
from tests.cli import run as specdist

F = Fraction
SAMPLES = Path(__file__).parent.parent / "sample_inputs"


def whole_check(steps: Sequence[Step], settings: CheckSettings) -> Summary:
    capture = Capture("rows", "typed", lambda: iter(steps), step_count=len(steps))
    run = check([capture], Settings(checking=settings))
    list(run.results())
    assert not run.unreadable
    return run.report().summary


def options(target: dict[str, str], draft: dict[str, str], rule: str | None) -> CheckSettings:
    layer = ProcessingOptions(target=target, draft=draft, rule=rule)
    return CheckSettings(overrides=layer, show=0, workers=1, exact=True)


def typed(target: Sequence[Fraction], draft: Sequence[Fraction]) -> Step:
    rows = {"target": ",".join(map(str, target)), "draft": ",".join(map(str, draft))}
    return next(iter(typed_capture(rows).steps()))


def dumped(logits: Sequence[float], number: int = 0) -> Row:
    values = FloatValues(np.array(logits, dtype=np.float32))
    return Row(values, Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT32, f"row {number}")


@given(
    st.lists(strategies.pairs(), min_size=1, max_size=3),
    st.sampled_from(["1", "1/2", "4/5"]),
    st.sampled_from([{}, {"top-p": "3/4"}, {"temperature": "9/10"}]),
    st.sampled_from([None, "lenience:1/2", "exact-match", "cactus:1/10"]),
)
def test_the_rate_is_that_of_a_check(
    pairs: list[strategies.Pair], temperature: str, draft: dict[str, str], rule: str | None
) -> None:
    steps = [typed(*pair) for pair in pairs]
    settings = options({"temperature": temperature}, draft, rule)
    assert acceptance(steps, settings) == rate_of_summary(whole_check(steps, settings))


def test_the_rate_of_dumped_rows_is_that_of_a_check() -> None:
    noise = np.random.default_rng(3)
    steps = []
    for number in range(3):
        target, draft = noise.normal(0, 2, 500), noise.normal(0, 2, 500)
        rows = dumped(target.tolist(), number), dumped((target + draft).tolist(), number)
        steps.append(Step(str(number), "dump", (Position(0, *rows),)))
    for draft_options in ({}, {"temperature": "11/10"}, {"top-p": "9/10"}):
        settings = options({"temperature": "4/5"}, draft_options, None)
        found = acceptance(steps, settings)
        assert found == rate_of_summary(whole_check(steps, settings))
        assert 0 < found.width < F(1, 10**9)


@pytest.mark.parametrize(
    "name", ["top_two_listed.json", "chain_models.json", "tree_models.json", "three_tokens.json"]
)
def test_the_rate_of_other_steps_is_that_of_a_check(name: str) -> None:
    (capture,) = open_captures([str(SAMPLES / name)], ReadingSettings())
    assert isinstance(capture, Capture)
    steps = list(capture.steps())
    settings = CheckSettings(show=0, workers=1, exact=True)
    assert acceptance(steps, settings) == rate_of_summary(whole_check(steps, settings))


def test_a_cut_within_rounding_may_fall_on_either_side() -> None:
    """P is the mass of three tokens for the weights as represented: three stay, or four."""
    logits = [2.0, 1.5, 1.0, 0.25, -1.0, -2.0]
    weights = [Fraction(w) for w in np.exp(np.array(logits) - 2.0).tolist()]
    mass = sum(weights[:3], F(0)) / sum(weights, F(0))
    position = Position(0, dumped(logits), dumped([1.0, 2.0, 0.5, 0.5, -1.0, 0.0]))
    steps = [Step("0", "dump", (position,))]
    less, more = (
        acceptance(steps, _top_p_of_target(mass + move)) for move in (-F(1, 10**6), F(1, 10**6))
    )
    assert max(less.width, more.width) < F(1, 10**9)
    assert less != more
    between = acceptance(steps, _top_p_of_target(mass))
    assert between == less.hull(more)
    assert between.width > F(1, 100)


def _top_p_of_target(mass: Fraction) -> CheckSettings:
    layer = ProcessingOptions(target={"top-p": str(mass)}, draft={"top-p": "off"})
    return CheckSettings(overrides=layer, show=0, workers=1, exact=True)


def test_nothing_checked_has_no_rate() -> None:
    with pytest.raises(ValueError, match="no draft token"):
        acceptance([], CheckSettings())


# Where the rate can change.


def at(axis: str, **more: str):  # type: ignore[no-untyped-def]
    return lambda value: CheckSettings(
        overrides=ProcessingOptions(target={**more, axis: str(value)}), show=0
    )


def listed(places: Sequence[F] | None) -> list[F]:
    assert places is not None
    return list(places)


def test_places_of_several_rows_are_those_of_each() -> None:
    steps = [
        typed([F(1, 2), F(3, 10), F(1, 5)], [F(1, 5), F(1, 2), F(3, 10)]),
        typed([F(1, 3), F(1, 3), F(1, 3)], [F(1), F(0), F(0)]),
    ]
    places = breakpoints_of(steps, at("top-p"), F(1, 4), F(1))
    assert places is not None
    assert listed(places(F(1, 4), F(1))) == [F(1, 3), F(1, 2), F(2, 3), F(4, 5), F(1)]
    assert listed(places(F(1, 2), F(7, 10))) == [F(1, 2), F(2, 3)]


def test_places_follow_the_steps_before() -> None:
    steps = [typed([F(1, 2), F(3, 10), F(1, 5)], [F(1, 2), F(3, 10), F(1, 5)])]
    places = breakpoints_of(steps, at("top-p", temperature="1/2"), F(1, 4), F(1))
    assert places is not None
    assert listed(places(F(0), F(1))) == [F(25, 38), F(34, 38), F(1)]


@pytest.mark.parametrize(
    ("axis", "more"),
    [
        ("temperature", {}),
        ("typical-p", {}),
        ("top-p", {"temperature": "4/5"}),
    ],
)
def test_other_places_are_not_known(axis: str, more: dict[str, str]) -> None:
    steps = [typed([F(1, 2), F(3, 10), F(1, 5)], [F(1, 5), F(1, 2), F(3, 10)])]
    assert breakpoints_of(steps, at(axis, **more), F(1, 4), F(3, 4)) is None


def test_the_mean_over_rows_jumps_where_one_of_them_does() -> None:
    """At P in (1/2, 4/5] the first row has 3/8, the second, equal rows, always 1."""
    even = [F(1, 3), F(1, 3), F(1, 3)]
    steps = [typed([F(1, 2), F(3, 10), F(1, 5)], [F(1, 5), F(1, 2), F(3, 10)]), typed(even, even)]
    capture = Capture("rows", "typed", lambda: iter(steps), step_count=2)
    values = [F(3, 5), F(1)]

    def settings_at(value: F) -> Settings:
        return Settings(checking=at("top-p")(value))

    summaries = [whole_check(steps, settings_at(value).checking) for value in values]
    held = kept([capture], ReadingSettings())
    answer = floor_along(values, summaries, settings_at, held, F(4, 5))
    assert answer is not None
    (one,) = answer.crossings
    assert (one.low, one.direction, one.value_reaches) == (F(4, 5), Direction.RISES, False)
    assert (one.before, one.after) == (Interval.of(F(11, 16)), Interval.of(F(17, 20)))
    assert answer.complete


# Sentences.


def answer_of(crossing: Crossing, **more: object) -> FloorAnswer:
    return FloorAnswer(F(4, 5), 3, 1, 2, (), (), (crossing,), **more)  # type: ignore[arg-type]


FLOOR = Interval.of(F(4, 5))
HIGH, LOW = Interval.of(F(9, 10)), Interval.of(F(7, 10))


@pytest.mark.parametrize(
    ("crossing", "wanted"),
    [
        (
            Crossing(Direction.FALLS, Place.JUMP, F(2, 5), F(2, 5), HIGH, LOW, True),
            "lost above 0.4 (exact; 0.4 itself reaches it); the rate goes from 9/10 = 0.9 to "
            "7/10 = 0.7 there",
        ),
        (
            Crossing(Direction.FALLS, Place.JUMP, F(1, 3), F(1, 3), HIGH, LOW, False),
            "lost from 1/3 = 0.3333 on (exact; 1/3 = 0.3333 itself is below); the rate goes from "
            "9/10 = 0.9 to 7/10 = 0.7 there",
        ),
        (
            Crossing(Direction.RISES, Place.JUMP, F(2, 5), F(2, 5), LOW, HIGH, True),
            "lost below 0.4 (exact; 0.4 itself reaches it); the rate goes from 7/10 = 0.7 to "
            "9/10 = 0.9 there",
        ),
        (
            Crossing(Direction.RISES, Place.JUMP, F(2, 5), F(2, 5), LOW, HIGH, False),
            "lost up to 0.4 (exact; 0.4 itself is below); the rate goes from 7/10 = 0.7 to "
            "9/10 = 0.9 there",
        ),
        (
            Crossing(
                Direction.FALLS, Place.EQUAL, F(1), F(1), FLOOR, FLOOR, True
            ),
            "lost above 1 (exact; at 1 the rate equals the floor)",
        ),
        (
            Crossing(Direction.RISES, Place.WHOLE, F(2), F(3), LOW, HIGH),
            "lost up to 2 (3 reaches it); the rate goes from 7/10 = 0.7 to 9/10 = 0.9 there",
        ),
        (
            Crossing(
                Direction.FALLS, Place.BETWEEN, F(1521260059, 10**9), F(152126006, 10**8),
                FLOOR, FLOOR,
            ),
            "lost above a value between 1.521260059 and 1.521260060",
        ),
        (
            Crossing(
                Direction.RISES, Place.BETWEEN, F(1), F(2), FLOOR, FLOOR,
                rounding=True,
            ),
            "lost below a value between 1 and 2; in between, the floor lies within the bounds of "
            "the rate",
        ),
    ],
)  # fmt: skip
def test_where_the_floor_is_lost_in_words(crossing: Crossing, wanted: str) -> None:
    lines = floor_lines(answer_of(crossing), "top-p", width=300)
    assert lines == [
        "floor 0.8: reached at 1 of 3 values of top-p",
        f"  {wanted}",
        "  between neighbouring values the rate may also cross the floor and come back: 3 values "
        "were checked",
    ]
    assert all(len(line) <= 60 for line in floor_lines(answer_of(crossing), "top-p", width=60))


def test_what_is_missed_in_words() -> None:
    one = Crossing(Direction.RISES, Place.WHOLE, F(2), F(3), LOW, HIGH)
    whole = floor_lines(answer_of(one, complete=True, places=7, whole=True), "top-k", width=300)
    assert whole[-1] == "  no crossing is missed: all 7 whole numbers were checked"
    cuts = floor_lines(answer_of(one, complete=True, places=7), "top-p", width=300)
    assert cuts[-1] == (
        "  no crossing is missed: the rate can change at 7 values of top-p only, and was worked "
        "out at and between all of them"
    )
    nothing = FloorAnswer(F(1, 3), 2, 0, 1, (F(2),), (), ())
    assert floor_lines(nothing, "temperature", width=300)[:2] == [
        "floor 1/3 = 0.3333: reached at none of 2 values of temperature, 1 below, 1 undecided",
        "  undecided at 2: the floor lies within the bounds of the rate",
    ]


def test_the_answer_as_json() -> None:
    one = Crossing(Direction.RISES, Place.WHOLE, F(2), F(3), LOW, HIGH)
    shown = to_json(answer_of(one, complete=True, places=7, whole=True), False)
    assert shown["floor"] == {"exact": "4/5", "approx": 0.8}
    (crossing,) = shown["crossings"]
    assert (crossing["direction"], crossing["place"]) == ("rises", "whole")
    assert crossing["low"]["exact"] == "2"
    assert crossing["rate_before"]["least"]["exact"] == "7/10"
    assert shown["complete"] is True


# Through the command line.

ROWS = ("what-if", "--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10")


def test_which_temperature_loses_the_floor() -> None:
    """The sum of min over the three tokens is 0.8 at T = 1.52126005..., by bisection by hand."""
    ran = specdist(*ROWS, "--sweep", "temperature=0:2:0.1", "--min-acceptance", "0.8")
    assert ran.code == 1
    assert ran.stderr == ""
    assert "floor 0.8: reached at 5 of 21 values of temperature" in ran.stdout
    assert "\n  lost below a value between 1.521260059 and 1.521260060\n" in ran.stdout
    words = " ".join(ran.stdout.split())
    assert "may also cross the floor and come back: 21 values were checked" in words


def test_which_top_p_loses_the_floor() -> None:
    ran = specdist(*ROWS, "--sweep", "top-p=0.5:1:0.05", "--min-acceptance", "0.6")
    words = " ".join(ran.stdout.split())
    assert "lost up to 0.8 (exact; 0.8 itself is below); the rate goes from 3/8 = 0.375" in words
    assert "no crossing is missed: the rate can change at 3 values of top-p only" in words


def test_the_floor_in_json() -> None:
    arguments = ("--sweep", "top-p=0.5:1:0.05", "--min-acceptance", "0.6", "--format", "json")
    floor = json.loads(specdist(*ROWS, *arguments).stdout)["floor"]
    (crossing,) = floor["crossings"]
    assert crossing["direction"] == "rises"
    assert crossing["low"] == {"exact": "4/5", "approx": 0.8}
    assert floor["complete"] is True
