"""Where float64 weights and the real-valued law could disagree: never a wrong verdict."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import specdist
from tests.cli import run

LN2 = "0.69314718055994530942"  # e^-LN2 is 1/2 - 1.4e-21
ROWS = (f"--target-logits=0,-{LN2},-{LN2}", "--draft-logits=0,0,0")


def verdict(*arguments: str) -> int:
    return run("what-if", *arguments).code


TESTED = ("accept_target", "residual_target")
CLOSE = [
    # e^-LN2 is a trifle below 1/2: min-p and epsilon drop tokens 1 and 2, token 0 alone has 1/2.
    ({"accept_target": "min-p:1/2", "residual_target": "min-p:1/2"}, 1),
    ({"reference": "top-k:1", "accept_target": "top-p:1/2", "residual_target": "top-p:1/2"}, 0),
    ({"reference": "top-p:1/2", "accept_target": "min-p:1/2", "residual_target": "min-p:1/2"}, 0),
    (
        {
            "reference": "top-p:1/2",
            "accept_target": "epsilon:1/4",
            "residual_target": "epsilon:1/4",
        },
        0,
    ),
]


@pytest.mark.parametrize(("roles", "code"), CLOSE)
def test_cuts_of_hand_written_logits_are_decided_exactly(roles: dict[str, str], code: int) -> None:
    options = [part for role, recipe in roles.items() for part in ("--role", f"{role}={recipe}")]
    assert verdict(*ROWS, *options) == code


@pytest.mark.parametrize("roles", [roles for roles, _ in CLOSE])
def test_cuts_of_dumps_within_rounding_are_undecided(roles: dict[str, str]) -> None:
    row = np.array([0.0, -np.log(2.0), -np.log(2.0)])
    report = specdist.check(row, np.zeros(3), kind="logits", roles=roles)
    assert report.verdict == "undecided"


def test_one_law_a_side_is_equal_whatever_the_cut() -> None:
    assert verdict(*ROWS, "--recipe", "min-p:1/2") == 0


def test_rows_that_only_round_together_are_not_called_one_law() -> None:
    logits = np.array([2.0, 1.0, -1.0, 0.5], dtype=np.float32)
    draft = np.array([1.0, 2.0, 0.0, -0.5], dtype=np.float32)
    nearly = "temperature:0.80000000000000000000000001"
    roles = {"drafted_from": "temperature:0.8", "accept_draft": nearly, "residual_draft": nearly}
    report = specdist.check(logits, draft, kind="logits", temperature="0.8", roles=roles)
    assert report.verdict == "undecided"


def test_a_threshold_untested_top_p_stays_different() -> None:
    logits = np.array([2.0, 1.0, -1.0, 0.5], dtype=np.float32)
    draft = np.array([1.0, 2.0, 0.0, -0.5], dtype=np.float32)
    roles = {"drafted_from": "top-p:0.8"}
    assert specdist.check(logits, draft, kind="logits", roles=roles).verdict == "different"


def test_quotients_of_underflowed_weights_accuse_nobody() -> None:
    target, draft = np.array([0.0, -2000.0]), np.array([0.0, -800.0])
    roles = {"drafted_from": "temperature:1000"}
    report = specdist.check(target, draft, kind="logits", roles=roles)
    assert report.verdict == "undecided"
    hand = ("--target-logits=0,-2000", "--draft-logits=0,-800")
    assert verdict(*hand, "--role", "drafted_from=temperature:1000") in (1, 4)


def test_orders_blurred_by_rounding_accuse_nobody() -> None:
    row = np.array([0.3, np.nextafter(0.3, 1), 0.4])
    roles = {"accept_target": "temperature:4/5,top-k:2:ties=lowest-id"}
    report = specdist.check(
        row, row, recipe="top-k:2:ties=lowest-id,temperature:4/5", roles=roles, normalise=True
    )
    assert report.verdict in ("equal", "undecided")


@pytest.mark.parametrize("recipe", ["epsilon:9/10", "min-p:1"])
def test_the_largest_token_is_told_by_its_score(recipe: str) -> None:
    row = np.array([1e-20, 0.0, -1.0, -1.0, -1.0, -1.0], dtype=np.float32)
    report = specdist.check(row, row, kind="logits", recipe=recipe, roles={"reference": "top-k:1"})
    assert report.verdict == "equal"


def test_coefficients_far_apart_do_not_overflow() -> None:
    target = np.array([0.0, -7.4, -7.41], dtype=np.float32)
    draft = np.array([0.0, -6.9, -7.35], dtype=np.float32)
    roles = {"drafted_from": "temperature:1"}
    report = specdist.check(target, draft, kind="logits", temperature="1/100", roles=roles)
    assert report.verdict in ("different", "undecided")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_equal_rows_of_two_files_are_compared_at_once(dtype: type) -> None:
    row = np.random.default_rng(1).normal(0, 3, 100_000).astype(dtype)
    report = specdist.check(row, row.copy(), kind="logits", temperature="4/5")
    (position,) = report.steps[0].positions
    assert report.verdict == "equal"
    assert position.acceptance_rate.exact == 1
    assert all(token.residual is None for token in position.tokens)


def test_a_point_mass_at_any_power_is_quick() -> None:
    row = np.zeros(50_000)
    row[7] = 1.0
    report = specdist.check(row, row, temperature=Fraction(1, 10**6))
    assert report.verdict == "equal"


def test_two_spellings_of_one_temperature_are_one_law() -> None:
    row = np.array([2.0, 1.0, -1.0, 0.5], dtype=np.float32)
    report = specdist.check(
        row, row[::-1].copy(), kind="logits", recipe="temperature:0.8",
        roles={"accept_target": "temperature:2,temperature:0.4"},
    )  # fmt: skip
    assert report.verdict == "equal"


def test_a_tolerance_covers_what_rounding_leaves_open() -> None:
    row = np.array([2.0, 1.0, -1.0, 0.5], dtype=np.float32)
    roles = {"accept_target": "temperature:0.80000000000000000000000001"}
    draft = row[::-1].copy()
    known = {"kind": "logits", "recipe": "temperature:0.8", "roles": roles}
    assert specdist.check(row, draft, **known).verdict == "undecided"  # type: ignore[arg-type]
    tolerant = specdist.check(row, draft, max_tv="1e-9", **known)  # type: ignore[arg-type]
    assert tolerant.verdict == "within-tolerance"


@pytest.mark.parametrize("draft_roles", [{"accept_draft": "raw"}, {"drafted_from": "min-p:1/2"}])
def test_a_greedy_target_is_lossless_for_every_draft(draft_roles: dict[str, str]) -> None:
    row = np.array([2.0, 1.0, -1.0, 0.5], dtype=np.float32)
    draft = row[::-1].copy()
    roles = {**draft_roles, "reference": "temperature:0"}
    roles |= dict.fromkeys(TESTED, "temperature:0")
    report = specdist.check(row, draft, kind="logits", temperature="0.8", roles=roles)
    assert report.verdict == "equal"


@pytest.mark.parametrize("reading", ["accept", "reject"])
def test_a_stated_reading_of_target_over_zero_decides(reading: str) -> None:
    rows = ("--target-logits", "2,1,0", "--draft-logits", "0,1,2")
    role = ("--role", "accept_draft=top-k:2", "--zero-draft", reading)
    assert verdict(*rows, *role) == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_typical_p_hits_the_mass_of_dumped_probabilities_exactly(dtype: type) -> None:
    target = np.array([0.125, 0.375, 0.5], dtype=dtype)
    draft = np.array([0.25, 0.25, 0.5], dtype=dtype)
    report = specdist.check(target, draft, recipe="typical-p:7/8")
    (position,) = report.steps[0].positions
    typed = specdist.check(
        ["1/8", "3/8", "1/2"], ["1/4", "1/4", "1/2"], recipe="typical-p:7/8"
    ).steps[0].positions[0]  # fmt: skip
    assert position.acceptance_rate == typed.acceptance_rate
    exact = [token.reference.exact for token in position.tokens]
    assert exact == [Fraction(0), Fraction(3, 7), Fraction(4, 7)]


def test_ties_of_probabilities_stay_ties_at_every_temperature() -> None:
    row = np.full(4, 0.25)
    tested = dict.fromkeys(("accept_draft", "residual_draft"), "temperature:0.8")
    roles = {"drafted_from": "temperature:0.8,top-k:2:ties=lowest-id", **tested}
    report = specdist.check(row, row, temperature="0.8", roles=roles)
    assert report.verdict == "different"
    assert report.steps[0].positions[0].total_variation.exact == Fraction(1, 2)


def test_deviations_beyond_float64_are_decided_with_fractions() -> None:
    row = np.array([1e308, -1e308, 5e307, 0.0])
    typed = [str(Fraction(value)) for value in row.tolist()]
    for count in ("1/2", "1", "2"):
        recipe = f"top-n-sigma:{count},temperature:1e100"
        dumped = specdist.check(row, row, kind="logits", recipe=recipe)
        exact = specdist.check(typed, typed, kind="logits", recipe=recipe)
        positions = [report.steps[0].positions[0] for report in (dumped, exact)]
        assert positions[0].roles[0].support == positions[1].roles[0].support
