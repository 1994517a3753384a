"""Whole runs: where steps are verified, in what order and in what company changes no digit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import pytest

from specdist.errors import RowError, SettingsError
from specdist.exact import float_filter, float_sum
from specdist.model.capture import Capture, Step, Unreadable
from specdist.model.figure import Figure
from specdist.model.options import ProcessingOptions
from specdist.model.report import StepResult
from specdist.model.role import Role
from specdist.model.row import Kind
from specdist.model.settings import CheckSettings, ReadingSettings, Settings
from specdist.model.verdict import Verdict
from specdist.readers import open_pair
from specdist.verify import spread
from specdist.verify.run import Run, check
from specdist.verify.spread import verify_all
from specdist.verify.summary import Mean

CAPTURES = Path(__file__).parent.parent / "sample_inputs" / "captures"
PROCESSING = ProcessingOptions(target={"temperature": "0.8", "top-p": "0.95"})
CHECKING = CheckSettings(overrides=PROCESSING, workers=1)


@pytest.fixture(scope="module")
def capture() -> Capture:
    reading = ReadingSettings(kind=Kind.LOGITS, draft_lengths="4x4")
    return open_pair(str(CAPTURES / "target.npy"), str(CAPTURES / "draft.npy"), reading)


@pytest.fixture(scope="module")
def steps(capture: Capture) -> list[Step]:
    return list(capture.steps())


@pytest.fixture(scope="module")
def alone(steps: list[Step]) -> list[StepResult]:
    return list(verify_all(steps, CHECKING, workers=1))


def test_processes_and_threads_change_no_digit(
    steps: list[Step], alone: list[StepResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "_BATCH_BYTES", 1)  # one step a batch
    with ThreadPoolExecutor(3) as threads:
        assert list(verify_all(steps, CHECKING, 3, threads)) == alone
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert list(verify_all(steps, CHECKING, 2, processes)) == alone


def test_the_default_pool_takes_over_in_the_middle(
    steps: list[Step], alone: list[StepResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "_ALONE_SECONDS", 0.0)
    assert list(verify_all(steps, CHECKING, workers=2)) == alone


def test_the_order_of_steps_and_the_size_of_blocks_change_no_digit(
    steps: list[Step], alone: list[StepResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    backwards = list(verify_all(reversed(steps), CHECKING, workers=1))
    assert backwards[::-1] == alone
    monkeypatch.setattr(float_sum, "BLOCK", 1_000)
    monkeypatch.setattr(float_filter, "BLOCK", 1_000)
    monkeypatch.setattr(float_filter, "_SCORE_BLOCK", 1_000)
    assert list(verify_all(steps, CHECKING, workers=1)) == alone


def test_an_abandoned_run_cancels_what_is_in_flight(steps: list[Step]) -> None:
    with ThreadPoolExecutor(1) as threads:
        results = verify_all(steps, CHECKING, 1, threads)
        assert next(results).verdict is Verdict.EQUAL
        results.close()  # type: ignore[attr-defined]


def finished(run: Run) -> Run:
    for _ in run.results():
        pass
    return run


def failing_after(steps: list[Step], error: Exception) -> Capture:
    def read() -> Iterator[Step]:
        yield steps[0]
        raise error

    return Capture("broken.npy", "npy", read)


def test_a_capture_that_breaks_is_listed_beside_those_that_do_not(
    capture: Capture, steps: list[Step]
) -> None:
    broken = failing_after(steps, RowError("NaN at token 3", place="broken.npy, row 1[3]"))
    missing = Unreadable("gone.json", "no such file")
    note = Unreadable("README", "not a capture", counts=False)
    report = finished(check([broken, capture, missing, note], Settings(checking=CHECKING))).report()
    assert [item.place or item.source for item in report.unreadable] == [
        "broken.npy, row 1[3]",
        "gone.json",
    ]
    assert report.unreadable[0].ident == "invalid-row"
    assert report.not_captures == ("README",)
    assert report.sources == (capture.source,)


def test_a_setting_that_does_not_fit_stops_the_run(steps: list[Step]) -> None:
    broken = failing_after(steps, SettingsError("top-p=2 is out of range"))
    with pytest.raises(SettingsError, match="top-p=2"):
        finished(check([broken], Settings(checking=CHECKING)))


@pytest.mark.parametrize(
    ("select", "limit", "ids", "filtered"),
    [
        ("row:*", None, ["row:0", "row:4", "row:8", "row:12"], 0),
        ("row:4", None, ["row:4"], 3),
        ("*", 2, ["row:0", "row:4"], 0),
        ("none", None, [], 4),
    ],
)
def test_select_and_limit(
    capture: Capture, select: str, limit: int | None, ids: list[str], filtered: int
) -> None:
    reading = ReadingSettings(select=select, limit=limit)
    report = finished(check([capture], Settings(reading, CHECKING))).report()
    assert [step.id for step in report.steps] == ids
    assert report.filtered_out == filtered
    assert report.verdict is (Verdict.EQUAL if ids else Verdict.NOTHING_CHECKED)


def test_a_spent_budget_is_undecided_never_equal(capture: Capture) -> None:
    checking = replace(CHECKING, budget=Fraction(0))
    report = finished(check([capture], Settings(checking=checking))).report()
    assert report.verdict is Verdict.UNDECIDED
    assert report.summary.steps == 1
    assert [finding.ident for finding in report.findings] == ["undecided-budget"]


def test_a_budget_that_ends_with_a_capture_names_the_next_one(capture: Capture) -> None:
    """Captures that were not reached must not pass silently."""
    one = replace(capture, steps=lambda: iter([next(capture.steps())]), step_count=1)
    captures = [one, replace(one, source="second"), replace(one, source="third")]
    checking = replace(CHECKING, budget=Fraction(0))
    report = finished(check(captures, Settings(checking=checking))).report()
    assert (report.verdict, report.summary.steps) == (Verdict.UNDECIDED, 1)
    (finding,) = report.findings
    assert finding.ident == "undecided-budget"
    assert finding.message == "the time budget ended the run before second"
    in_time = replace(CHECKING, budget=Fraction(1000))
    report = finished(check(captures, Settings(checking=in_time))).report()
    assert (report.verdict, report.summary.steps) == (Verdict.EQUAL, 3)


def test_floors_and_tolerance(capture: Capture) -> None:
    low = replace(CHECKING, min_acceptance=Fraction(99, 100))
    report = finished(check([capture], Settings(checking=low))).report()
    assert len(report.floors_missed) == 1
    roles = {Role.DRAFTED_FROM: "temperature:0.8,top-p:0.9"}
    mixed = replace(PROCESSING, roles=roles)
    strict = replace(CHECKING, overrides=mixed)
    report = finished(check([capture], Settings(checking=strict))).report()
    assert report.verdict is Verdict.DIFFERENT
    largest = report.summary.total_variation_max
    assert largest is not None
    assert largest.exact
    tolerant = replace(strict, max_tv=largest.exact + (largest.bound or 0))
    report = finished(check([capture], Settings(checking=tolerant))).report()
    assert report.verdict is Verdict.WITHIN_TOLERANCE


def test_steps_that_are_equal_need_not_be_kept(capture: Capture) -> None:
    report = finished(check([capture], Settings(checking=CHECKING), retain=False)).report()
    assert report.steps == ()
    assert report.summary.steps == 4


def test_a_mean_is_exact_until_its_denominator_is_useless() -> None:
    mean = Mean()
    values = [Fraction(1, 3), Fraction(2, 7), Fraction(1, 2)]
    for value in values:
        mean.add(Figure.of(value))
    figure = mean.figure()
    assert figure is not None
    assert figure.exact == sum(values) / 3
    assert mean.reaches(sum(values, Fraction(0)) / 3)
    assert mean.reaches(sum(values, Fraction(0)) / 3 + Fraction(1, 10**30)) is False
    for k in range(400):
        values.append(Fraction(1, 2**k * 3 + 1))
        mean.add(Figure.of(values[-1], Fraction(1, 10**9)))
    figure = mean.figure()
    assert figure is not None
    assert figure.exact is None
    exact = sum(values, Fraction(0)) / len(values)
    assert figure.bound is not None
    assert abs(Fraction(figure.approx) - exact) < Fraction(1, 10**15)
    kept = Mean(keep_exact=True)
    for value in values:
        kept.add(Figure.of(value))
    figure = kept.figure()
    assert figure is not None
    assert figure.exact == exact
