"""The parts of a probe: break points, weights of races, completions, grids by name, the tree."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from fractions import Fraction

import pytest

from specdist.audit.grid import FLOAT32, FLOAT64, Grid
from specdist.audit.named_grids import NAMED, grid_of
from specdist.audit.probe.break_points import break_points, probe_points
from specdist.audit.probe.completions import faithful, recorded, scattered, spread
from specdist.audit.probe.explore import Explorer
from specdist.audit.probe.questions import Answer, Question, Trace
from specdist.audit.probe.race_weights import NotARaceError, simplest, weighed
from specdist.audit.probe.runs import Runs
from specdist.audit.probe.splits import Split, walk
from specdist.audit.refusals import NotAFunctionError
from specdist.audit.tables import Chance
from specdist.audit.tree import Session

POINT = Question("u", grid=FLOAT32)
ROW = Question("e", count=3)
CHOICE = Question("c", masses=(Fraction(1, 2), Fraction(0), Fraction(1, 2)))


def coming_to(outcome: Callable[[Answer], object]) -> Callable[[Answer], Trace]:
    return lambda answer: Trace((), (), outcome(answer))


@pytest.mark.parametrize("size", [2, 3, 256, 2**24, 2**53])
def test_probes_hold_both_ends(size: int) -> None:
    points = probe_points(size)
    assert points == sorted(set(points))
    assert (points[0], points[-1]) == (0, size - 1)


@pytest.mark.parametrize("seed", range(20))
def test_break_points_of_several_completions_are_exact(seed: int) -> None:
    chance = random.Random(seed)
    size = 2**53
    cuts = [sorted({chance.randrange(1, size) for _ in range(2)}) for _ in range(3)]
    along = [coming_to(lambda k, c=c: sum(cut <= k for cut in c)) for c in cuts]
    assert break_points(0, size - 1, along) == sorted({cut for c in cuts for cut in c})


def test_a_break_that_closes_again_is_found_where_a_probe_is_inside() -> None:
    along = [coming_to(lambda k: 100 <= k < 200)]
    assert break_points(0, 150, along) == [100]
    assert break_points(150, 255, along) == [200]
    assert break_points(0, 255, along) == []


def racing(weights: tuple[int, ...], seen: Callable[[int], object]) -> Callable[[Answer], Trace]:
    def outcome(row: Answer) -> object:
        assert isinstance(row, tuple)
        runners = [i for i in range(len(weights)) if weights[i]]
        return seen(min(runners, key=lambda i: row[i] / weights[i]))

    return coming_to(outcome)


@pytest.mark.parametrize(
    "weights", [(1, 2, 3), (3, 2, 1), (1, 1, 1), (0, 5, 1), (5, 0, 0, 62), (1, 64), (7, 7, 0, 7)]
)
def test_weights_are_their_ratio_to_the_heaviest(weights: tuple[int, ...]) -> None:
    found = weighed(len(weights), [racing(weights, lambda i: i)])
    assert found.weights == tuple(Fraction(w, max(weights)) for w in weights)


@pytest.mark.parametrize("heavy", [0, 1, 2, 3])
def test_runners_that_look_alike_are_weighed_too(heavy: int) -> None:
    weights = tuple(9 if i == heavy else i + 1 for i in range(4))
    found = weighed(4, [racing(weights, lambda i: i in (0, 3))])
    assert found.weights == tuple(Fraction(w, 9) for w in weights)
    assert heavy in found.alike


def test_a_row_without_effect_has_no_weights() -> None:
    assert weighed(3, [racing((1, 2, 3), lambda i: "a")]).weights == ()


@pytest.mark.parametrize(
    "outcome",
    [
        lambda row: round(sum(row), 3),
        lambda row: row.index(max(row)),
        lambda row: (row.index(min(row)), racing((1, 2, 3), lambda i: i)(row).outcome),
    ],
)
def test_what_is_no_race_is_known(outcome: Callable[[tuple[float, ...]], object]) -> None:
    with pytest.raises(NotARaceError):
        weighed(3, [coming_to(outcome)])  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(50))
def test_the_simplest_fraction_of_an_interval(seed: int) -> None:
    """The first denominator of which a multiple lies in the interval."""
    chance = random.Random(seed)
    low = Fraction(chance.randrange(1, 400), chance.randrange(1, 400))
    high = low + Fraction(1, chance.randrange(2, 5000))
    found = simplest(low, high)
    assert low <= found <= high
    for denominator in range(1, found.denominator):
        assert -(-low * denominator // 1) > high * denominator


def test_completions_cover_every_single_answer() -> None:
    answers = {
        question: {spread(j, 3)(0, question) for j in range(3)} for question in (CHOICE, ROW)
    }
    assert answers[CHOICE] == {0, 2}
    assert {row.index(min(row)) for row in answers[ROW]} == {0, 1, 2}  # type: ignore[union-attr]
    assert {spread(j, 3)(0, POINT) for j in (0, 2)} == {0, FLOAT32.size - 1}


def test_completions_are_pure_and_replays_are_not() -> None:
    assert scattered(1)(4, ROW) == scattered(1)(4, ROW) != scattered(1)(5, ROW)
    draws = faithful(Chance("x"))
    assert draws(0, ROW) != draws(0, ROW)
    assert {faithful(Chance(str(i)))(0, CHOICE) for i in range(20)} == {0, 2}


def test_a_record_answers_only_what_it_was_asked() -> None:
    trace = Trace((POINT, CHOICE), (77, 2), "a")
    assert recorded(trace)(0, POINT) == 77
    assert recorded(trace)(1, CHOICE) == 2
    assert recorded(trace)(0, Question("u", grid=FLOAT64)) != 77
    other = Question("c", masses=(Fraction(1, 3), Fraction(2, 3), Fraction(0)))
    assert recorded(trace)(1, other) in (0, 1)


def test_a_run_is_made_once_and_compared() -> None:
    made = []

    def program(session: Session) -> int:
        made.append(session.point(FLOAT32, "u"))
        return len(made) if len(made) > 2 else 0

    runs = Runs(program, 10)
    for _ in range(2):
        runs.run({0: 5}, scattered(0))
    assert made == [5]
    runs.run({0: 6}, scattered(0))
    with pytest.raises(NotAFunctionError, match="gave 0 and then 3"):
        runs.fresh(lambda _, question: 5)


def test_a_mispredicted_run_mends_the_node_at_fault() -> None:
    """The sliver is next to no probe; the run in it cuts it out, and what is beside it stays."""
    grid = Grid(24)
    low, high = 1_000_003, 1_000_103

    def program(session: Session) -> str:
        inside = low <= session.point(grid, "u") < high
        return "in" if inside else session.choose("c", (Fraction(1, 2), Fraction(1, 2))) * "b"

    explorer = Explorer(Runs(program, 1000))
    trace = explorer.runs.fresh(lambda _, question: low + 50)
    for _ in range(2):  # the choice was thought to come always, then the sliver is cut out
        assert not walk(explorer.tree, trace).predicts(trace)
        explorer.mend(trace)
    assert walk(explorer.tree, trace).predicts(trace)
    assert isinstance(explorer.tree, Split)
    bounds = [(branch.first, branch.last) for branch in explorer.tree.branches]
    assert bounds == [(0, low - 1), (low, high - 1), (high, grid.size - 1)]
    assert sum(branch.mass for branch in explorer.tree.branches) == 1


def float32(number: float) -> float:
    return struct.unpack("f", struct.pack("f", number))[0]


def test_grids_are_those_of_their_generators() -> None:
    """CUDA's x 2^-32 + 2^-33 in float32, and Triton's |x| times a constant in float32."""
    for x in (0, 1, 2**31 - 1, 2**32 - 1, 123_456_789):
        assert NAMED["curand"].value(x) == Fraction(float32(float32(x) * 2.0**-32 + 2.0**-33))
    for x in (0, 1, 2**24 + 1, 2**31 - 1):
        constant = float32(4.6566127342e-10)
        assert NAMED["tl.rand"].value(x) == Fraction(float32(float32(x) * constant))
    assert NAMED["curand"].value(2**32 - 1) == 1
    assert NAMED["tl.rand"].value(2**31 - 1) < 1
    assert grid_of(24) == NAMED["float32"] == FLOAT32
