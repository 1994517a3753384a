"""Rules, numerics and dropped tokens with values that cannot be meant, and at their limits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from specdist.model.value_texts import read_number, written_number
from tests.cli import SAMPLES, run

CAPTURE = SAMPLES / "three_tokens.json"
F = Fraction


@pytest.mark.parametrize("redraws", ["redraw-101", "redraw-1000000", "redraw-1e9", "redraw-1e100"])
def test_redraws_without_end_are_refused_at_once(redraws: str) -> None:
    done = run("check", CAPTURE, "--keep", "own-probability:1/2", "--dropped", redraws)
    assert done.code == 2
    assert f"dropped={redraws} is out of range" in done.stderr
    assert "at most 100 redraws" in done.stderr


def test_as_many_redraws_as_there_may_be() -> None:
    done = run("check", CAPTURE, "--keep", "own-probability:1/2", "--dropped", "redraw-100")
    assert done.code == 1


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (F(1, 10**100), "1e-100"),
        (F(-1, 10**100), "-1e-100"),
        (F(10) ** 100, "1e100"),
        (F(123, 2 * 10**60), "615e-61"),
        (F(1, 2), "1/2"),
        (3, "3"),
        (F(1, 3**60), f"1/{3**60}"),
    ],
)
def test_numbers_are_written_short_and_exact(number: Fraction, written: str) -> None:
    assert written_number(number) == written
    assert read_number("number", written) == number


@pytest.mark.parametrize(
    "options",
    [
        ("--rule", "lenience:1e-100"),
        ("--rule", "typical:1e-100:delta=1e-100:recovery=target"),
        ("--rule", "cascade:1e-100:recovery=target"),
        ("--rule", "relaxed:1e100:delta=1e-100"),
        ("--rule", "cactus:1e100"),
        ("--rule", "synthetic:1e-100"),
        ("--ratio-epsilon", "1e-100"),
        ("--residual-floor", "1e-100"),
        ("--keep", "tokens:1=1e-100:else=1", "--dropped", "residual"),
    ],
)
def test_tiny_and_huge_parameters_keep_every_line_short(options: tuple[str, ...]) -> None:
    done = run("check", CAPTURE, *options)
    assert done.code == 1
    assert max(map(len, (done.stdout + done.stderr).splitlines())) <= 80


@pytest.mark.parametrize("token", [3, 999_999_999_999])
def test_the_token_of_an_empty_residual_is_one_of_the_vocabulary(token: int) -> None:
    """Whether or not a residual is empty."""
    done = run("check", CAPTURE, "--empty-residual", f"token:{token}")
    assert done.code == 2
    said = " ".join(done.stderr.split())
    assert f"empty-residual=token:{token} is outside the vocabulary" in said
    assert "a token id from 0 to 2" in done.stderr


def test_an_option_without_its_value_is_told_what_it_takes() -> None:
    done = run("check", CAPTURE, "--rule", "typical:1/10:recovery")
    assert done.code == 2
    assert "the option needs a value: recovery:" in " ".join(done.stderr.split())
