"""`specdist.testing.assert_lossless`: what passes, what fails with which text, what is misuse."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import specdist
from specdist.errors import SpecdistError
from specdist.model.verdict import Verdict
from specdist.reports.terminal import render
from specdist.reports.view import View
from specdist.testing import MisuseError, assert_lossless
from tests import oracle

P, Q = ["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"]
F = Fraction


def exact_kernel(target: Sequence[F], draft: Sequence[F]) -> tuple[list[F], list[F]]:
    accept = [min(F(1), p / q) if q else F(0) for p, q in zip(target, draft, strict=True)]
    residual = [max(p - q, F(0)) for p, q in zip(target, draft, strict=True)]
    total = sum(residual, F(0))
    return accept, [r / total for r in residual] if total else residual


def unsubtracted(target: Sequence[F], draft: Sequence[F]) -> tuple[list[F], list[F]]:
    return exact_kernel(target, draft)[0], list(target)


def float_kernel(target: Any, draft: Any) -> tuple[Any, Any]:
    residual = np.maximum(target - draft, 0)
    return np.minimum(target / draft, 1), residual / residual.sum()


def float_rows(dtype: str, size: int = 8) -> tuple[Any, Any]:
    weights = np.random.default_rng(size).integers(1, 99, (2, size))
    target, draft = (weights / weights.sum(axis=1, keepdims=True)).astype(dtype)
    return target, draft


def test_a_correct_kernel_passes_and_gives_its_report() -> None:
    report = assert_lossless(P, Q, sampler=exact_kernel)
    assert report.verdict is Verdict.EQUAL
    assert report.summary.acceptance_rate is not None
    assert report.summary.acceptance_rate.exact == F(7, 10)


def test_the_failure_is_what_check_prints() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_lossless(P, Q, sampler=unsubtracted)
    accept, recovery = unsubtracted([F(p) for p in P], [F(q) for q in Q])
    report = specdist.check(P, Q, accept=accept, recovery=recovery)
    assert str(failed.value) == render(report, View())
    law = [
        F(q) * a + F(3, 10) * r for q, a, r in zip(Q, accept, recovery, strict=True)
    ]  # by hand: 3/10 is rejected
    size = oracle.total_variation([F(p) for p in P], law)
    assert size == F(3, 20)
    assert "error[residual-mismatch]" in str(failed.value)
    assert "total variation 3/20" in str(failed.value)
    assert "--accept 1,3/5,2/3 --recovery 1/2,3/10,1/5" in str(failed.value)
    assert failed.value.__cause__ is None


@pytest.mark.parametrize(
    "kernel",
    [
        unsubtracted,
        lambda p, q: (exact_kernel(p, q)[0], list(q)),
        lambda p, q: (exact_kernel(q, p)[0], exact_kernel(p, q)[1]),
        lambda p, q: ([F(1)] * 3, exact_kernel(p, q)[1]),
        lambda p, q: (exact_kernel(p, q)[0], exact_kernel(q, p)[1]),
    ],
)
def test_planted_mistakes_fail(kernel: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError, match=r"^error\["):
        assert_lossless(P, Q, sampler=kernel)


def test_a_kernel_gets_rows_as_they_were_given() -> None:
    seen: list[tuple[Any, Any]] = []

    def kernel(target: Any, draft: Any) -> tuple[Any, Any]:
        seen.append((target, draft))
        return [1, 0, 0], ["1/2", "1/4", "1/4"]

    target = np.array([[0.5, 0.25, 0.25]] * 2, dtype=np.float32)
    with pytest.raises(AssertionError):
        assert_lossless(target, [1, 0], sampler=kernel)
    assert [draft for _, draft in seen] == [1, 0]
    assert all(row.dtype == np.float32 and row.shape == (3,) for row, _ in seen)
    seen.clear()
    with pytest.raises(AssertionError):
        assert_lossless([["0", "-inf", "1/2"]], [[0, 1, 2]], kind="logits", sampler=kernel)
    assert seen == [([F(0), float("-inf"), F(1, 2)], [F(0), F(1), F(2)])]
    assert type(seen[0][1][0]) is Fraction


def test_rows_that_can_be_read_only_once_are_read_once() -> None:
    rows = iter([P, P])
    report = assert_lossless(rows, iter([Q, Q]), sampler=exact_kernel)
    assert report.summary.steps == 2


@pytest.mark.parametrize(("dtype", "tolerated"), [("float32", 1e-6), ("float64", 1e-15)])
def test_rounding_is_said_and_tolerated(dtype: str, tolerated: float) -> None:
    target, draft = float_rows(dtype)
    with pytest.raises(AssertionError, match="by its size it may be") as failed:
        assert_lossless(target, draft, sampler=float_kernel)
    assert f"roundings of {dtype}" in " ".join(str(failed.value).split())
    assert max(len(line) for line in str(failed.value).splitlines()) <= 80
    report = assert_lossless(target, draft, sampler=float_kernel, max_tv=tolerated)
    assert report.verdict is Verdict.WITHIN_TOLERANCE


def test_the_tolerance_that_is_proposed_is_enough() -> None:
    target, draft = float_rows("float32")
    with pytest.raises(AssertionError) as failed:
        assert_lossless(target, draft, sampler=float_kernel)
    proposed = str(failed.value).split("max_tv=")[1].split()[0]
    assert float(proposed) <= 1e-6
    assert_lossless(target, draft, sampler=float_kernel, max_tv=proposed)


def test_a_mistake_in_floats_is_no_rounding() -> None:
    target, draft = float_rows("float32")
    with pytest.raises(AssertionError) as failed:
        assert_lossless(target, draft, sampler=lambda p, q: (float_kernel(p, q)[0], p), max_tv=1e-6)
    assert "by its size it may be" not in str(failed.value)
    assert "the target's own law" in str(failed.value)


def test_rows_without_a_call() -> None:
    accept, recovery = exact_kernel([F(p) for p in P], [F(q) for q in Q])
    assert assert_lossless(P, Q, accept=accept, recovery=recovery).verdict is Verdict.EQUAL


@pytest.mark.parametrize(
    "sampler",
    [
        None,
        "temperature:1/2,top-k:2",
        {"temperature": 0.5, "top_p": 0.9, "top_k": -1, "min_p": 0.0},
        {"temperature": "0.5", "top-p": Fraction(9, 10), "min_p": None},
        {},
    ],
)
def test_sampling_options_are_applied_to_both_sides(sampler: Any) -> None:
    assert assert_lossless(P, Q, sampler=sampler).verdict is Verdict.EQUAL


def test_sampling_options_are_those_of_the_command_line() -> None:
    P4 = ["1/2", "1/4", "3/16", "1/16"]  # noqa: N806
    Q4 = ["1/4", "1/2", "3/16", "1/16"]  # noqa: N806
    with pytest.raises(AssertionError, match="drafted-mismatch"):
        assert_lossless(P4, Q4, sampler={}, roles={"drafted_from": "top-p:9/10"})
    for sampler in ({"top_p": 0.9}, "top-p:0.9"):
        rate = assert_lossless(P4, Q4, sampler=sampler).summary.acceptance_rate
        assert rate == specdist.check(P4, Q4, top_p="0.9").summary.acceptance_rate
    off = {"top_k": 0, "top_p": 1.0, "min_p": 0, "typical_p": 1.0}
    rate = assert_lossless(P4, Q4, sampler=off).summary.acceptance_rate
    assert rate == specdist.check(P4, Q4).summary.acceptance_rate
    draft_only = assert_lossless(P4, Q4, sampler={"draft_top_p": 0.9}).summary.acceptance_rate
    assert draft_only == specdist.check(P4, Q4, draft_recipe="top-p:0.9").summary.acceptance_rate


def test_undecided_and_nothing_checked_fail_with_their_words() -> None:
    row = np.array([2.0, 1.0, -1.0, 0.5], dtype=np.float32)
    roles = {"accept_target": "temperature:0.80000000000000000000000001"}
    with pytest.raises(AssertionError, match="undecided-precision"):
        assert_lossless(row, row[::-1], kind="logits", sampler="temperature:0.8", roles=roles)
    with pytest.raises(AssertionError, match="nothing checked"):
        assert_lossless(np.zeros((0, 3)), np.zeros((0, 3)), sampler=exact_kernel)


def test_floors_and_allowed_findings() -> None:
    assert_lossless(P, Q, min_acceptance="0.7")
    with pytest.raises(AssertionError, match="acceptance-below-floor"):
        assert_lossless(P, Q, min_acceptance="0.71")
    report = assert_lossless(P, Q, sampler=unsubtracted, allow=["residual-mismatch"])
    assert report.summary.allowed == 1
    with pytest.raises(AssertionError, match="residual-mismatch"):
        assert_lossless(P, Q, sampler=unsubtracted, allow=["rule-mismatch"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": "tokn"}, "did you mean 'token'"),
        ({"engine": "vlm"}, "unknown engine 'vlm'"),
        ({"kind": "logit"}, "kind=logit is unknown"),
        ({"kind": "logit", "sampler": exact_kernel}, "kind=logit is unknown"),
        ({"sampler": exact_kernel, "rule": "token"}, "which is the rule itself, and rule is given"),
        ({"sampler": exact_kernel, "accept": [1, 1, 1]}, "and accept is given too"),
        ({"sampler": "top-p:0.9", "recipe": "top-p:0.9"}, "sampler and recipe are given together"),
        ({"sampler": lambda p, q: [1, 0, 0]}, "the sampler returned [1, 0, 0]"),
        ({"sampler": lambda p, q: (p, q, q)}, "expected: a pair"),
        ({"sampler": lambda p, q: (p[:2], q)}, "2 numbers, the target row has 3"),
        ({"sampler": lambda p, q: ([2, 1, 1], q)}, "token 0 has 2.0"),
        ({"sampler": lambda p, q: ([1, 1, 1], [1, 1, 1])}, "the numbers sum to 3.0"),
        ({"sampler": lambda p, q: (np.array([1, np.nan, 1]), q)}, "token 1 has no finite number"),
        ({"sampler": lambda p, q: ([0.5, 1, 1], q)}, "0.5 is not an exact number"),
        ({"sampler": {"top_q": 0.9}}, "did you mean 'top-p'"),
        ({"sampler": {"top_p": True}}, "top-p=True is no number"),
        ({"sampler": {"top_p": float("nan")}}, "top-p=nan is no number"),
        ({"sampler": {"top_p": 0.9, "nucleus": 0.8}}, "top-p is given twice"),
        ({"sampler": 3}, "3 holds no sampling options"),
        ({"accept": [1, 1, 1]}, "recovery is missing"),
        ({"accept": [1, 1, 1], "recovery": [0, 0, 0], "rule": "token"}, "rule='token' is given"),
        ({"max_tv": -1}, "max_tv=-1 is out of range"),
        ({"min_acceptance": 2}, "min_acceptance=2 is out of range"),
        ({"allow": ["residual-mismatches"]}, "did you mean 'residual-mismatch'"),
    ],
)
def test_misuse_is_a_value_error_and_no_failure(options: dict[str, Any], said: str) -> None:
    with pytest.raises(MisuseError) as misused:
        assert_lossless(P, Q, **options)
    assert said in " ".join(str(misused.value).split())
    assert str(misused.value).startswith("error[")
    assert isinstance(misused.value, ValueError)
    assert isinstance(misused.value, SpecdistError)
    assert not isinstance(misused.value, AssertionError)
    again = pickle.loads(pickle.dumps(misused.value))
    assert str(again).splitlines()[1:] == str(misused.value).splitlines()[1:]


def test_rows_that_do_not_fit_are_misuse() -> None:
    with pytest.raises(MisuseError, match=r"pass floats as a numpy array"):
        assert_lossless([0.5, 0.5, 0], Q, sampler=exact_kernel)
    with pytest.raises(MisuseError, match=r"sum to 1 \+ 1/10"):
        assert_lossless(["1/2", "3/10", "3/10"], Q)
    with pytest.raises(MisuseError, match="2 target rows and 1 draft rows"):
        assert_lossless([P, P], [Q])
    with pytest.raises(MisuseError, match="outside the vocabulary"):
        assert_lossless(P, 3)


def test_what_a_kernel_raises_goes_through() -> None:
    def kernel(target: Any, draft: Any) -> Any:
        raise SpecdistError("of the kernel")

    with pytest.raises(SpecdistError, match="of the kernel") as raised:
        assert_lossless(P, Q, sampler=kernel)
    assert not isinstance(raised.value, MisuseError)
