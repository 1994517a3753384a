"""What the command line promises in one table: each line a test, every figure with ``==``."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli import SAMPLES, column, exact, only_position, run


def fractions(text: str) -> list[Fraction]:
    return [Fraction(part) for part in text.split()]


def test_three_tokens() -> None:
    result = run("check", SAMPLES / "three_tokens.json", "--format", "json")
    report = result.json()
    position = only_position(report)
    assert (result.code, report["verdict"]) == (0, "equal")
    assert exact(position["acceptance_rate"]) == Fraction(7, 10)
    assert exact(position["rejected_mass"]) == Fraction(3, 10)
    assert column(position, "accepted") == fractions("1/5 3/10 1/5")
    assert column(position, "residual") == fractions("1 0 0")
    assert column(position, "output") == fractions("1/2 3/10 1/5")
    assert exact(report["steps"][0]["mean_acceptance_length"]) == Fraction(17, 10)


def test_equal_rows_have_no_residual() -> None:
    rows = ("--target", "1/3,1/3,1/3", "--draft", "1/3,1/3,1/3")
    result = run("what-if", *rows, "--format", "json")
    position = only_position(result.json())
    assert (result.code, position["verdict"]) == (0, "equal")
    assert exact(position["acceptance_rate"]) == 1
    assert column(position, "residual") == [None, None, None]


def test_half_the_temperature_squares() -> None:
    rows = ("--target", "1/2,1/3,1/6", "--draft", "1/3,1/2,1/6")
    result = run("what-if", *rows, "-T", "1/2", "--format", "json")
    position = only_position(result.json())
    assert result.code == 0
    assert column(position, "reference") == fractions("9/14 2/7 1/14")
    assert exact(position["acceptance_rate"]) == Fraction(9, 14)


def test_drafted_with_top_p_and_tested_without() -> None:
    rows = ("--target", "1/2,1/4,3/16,1/16", "--draft", "1/4,1/2,3/16,1/16")
    role = ("--role", "drafted_from=top-p:9/10")
    result = run("what-if", *rows, *role, "--format", "json")
    position = only_position(result.json())
    assert (result.code, position["verdict"]) == (1, "different")
    assert exact(position["total_variation"]) == Fraction(1, 16)
    assert exact(position["acceptance_rate"]) == Fraction(11, 15)
    assert exact(position["reference_acceptance_rate"]) == Fraction(169, 240)
    assert column(position, "output") == fractions("8/15 4/15 1/5 0")


def test_a_closed_form() -> None:
    result = run(
        "what-if", "--target-logits", "1,0,-1/2", "--draft-logits", "0,1,-1/2", "-T", "1/2",
        "--symbolic", "--format", "json",
    )  # fmt: skip
    rate = only_position(result.json())["acceptance_rate"]
    assert result.code == 0
    assert f"{rate['approx']:.6f}" == "0.270400"
    assert rate["symbolic"]


def test_an_empty_folder(tmp_path: Path) -> None:
    result = run("check", tmp_path)
    assert result.code == 2
    assert result.stdout == ""
    assert str(tmp_path) in result.stderr


def test_a_selection_that_matches_nothing() -> None:
    result = run(
        "check", SAMPLES / "three_tokens.json", "--select", "no-such-step", "--format", "json"
    )
    assert result.code == 3
    assert result.json()["verdict"] == "nothing-checked"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--max-tv", "1/16"), 0),
        (("--max-tv", "1/17"), 1),
        (("--exit-zero",), 0),
    ],
)
def test_a_declared_tolerance(options: tuple[str, ...], code: int) -> None:
    assert run("check", SAMPLES / "draft_top_p_untested.json", *options).code == code


@pytest.mark.parametrize(("floor", "code"), [("7/10", 0), ("0.7", 0), ("0.7000000001", 1)])
def test_a_floor_on_the_acceptance_rate(floor: str, code: int) -> None:
    assert run("check", SAMPLES / "three_tokens.json", "--min-acceptance", floor).code == code


def test_an_unreadable_file_among_readable_ones(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema": "specdist.capture/1", "steps": [', encoding="utf-8")
    result = run("check", SAMPLES / "three_tokens.json", broken)
    assert result.code == 1
    assert "broken.json" in result.stdout + result.stderr
