"""Rules, numerics and dropped tokens with values that cannot be meant, and at their limits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
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


@pytest.mark.parametrize(
    ("target", "draft", "options", "code"),
    [
        ((0.5, 0.5, 0), (0.375, 0.375, 0.25), "--rule thresholds:single=1/3:acc=3/4", 0),
        ((0, 0, 0.5, 0, 0.5), (0, 0.5, 0.25, 0, 0.25), "--rule thresholds:acc=1/2", 0),
        ((0, 0, 0, 1), (1, 0, 0, 0), "--rule reused-noise", 0),
        ((0.25, 0, 0.75), (0.75, 0.25, 0), "--uniform 8:ends=both --empty-residual last", 0),
        ((0, 0.5, 0.5, 0), (0, 0, 0, 1), "--rule exact-match --keep draft-entropy:0", 0),
        ((0, 0.125, 0.5, 0.375), (0, 1, 0, 0), "--rule synthetic:3/4 --keep draft-entropy:0", 1),
        (
            (0.125, 0.25, 0.375, 0.125, 0.125, 0),
            (0, 0, 1, 0, 0, 0),
            "--rule cascade:1/2:recovery=set --keep draft-entropy:0 --dropped redraw-2",
            1,
        ),
    ],
)
def test_short_dumped_rows_are_decided_where_their_rounding_leaves_it_open(
    tmp_path: Path, target: tuple[float, ...], draft: tuple[float, ...], options: str, code: int
) -> None:
    for side, row in (("t", target), ("d", draft)):
        np.save(tmp_path / f"{side}.npy", np.array([row], "f8"))
    rows = ("--target", tmp_path / "t.npy", "--draft", tmp_path / "d.npy")
    assert run("check", *rows, "--kind", "probabilities", *options.split()).code == code


@pytest.mark.parametrize("kind", ["probabilities", "logits"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize(
    "rule",
    ["always", "cactus:1/4", "lenience:1/3", "mixture:1/3", "divergence-gate:1/2", "synthetic:1"],
)
def test_equal_rows_of_two_files_are_one_law_to_lossy_rules(
    tmp_path: Path, kind: str, dtype: str, rule: str
) -> None:
    """Whatever the rounding of their weights, roots and quotients: all is accepted."""
    for side in "td":
        np.save(tmp_path / f"{side}.npy", np.array([[0.375, 0.25, 0.375, 0]], dtype))
    rows = ("--target", tmp_path / "t.npy", "--draft", tmp_path / "d.npy")
    assert run("check", *rows, "--kind", kind, "--rule", rule).code == 0


def test_a_tested_share_of_the_target_is_not_the_target(tmp_path: Path) -> None:
    """Drafted again until kept, and tested as that: more than the raised target somewhere."""
    np.save(tmp_path / "t.npy", np.array([[0.375, 0.25, 0.375]]))
    rows = ("--target", tmp_path / "t.npy", "--draft", tmp_path / "t.npy", "--kind", "logits")
    kept = ("--keep", "only:0", "--dropped", "redraw", "--proposal", "effective")
    for rule in ("cactus:1/1000", "lenience:9/10"):
        assert run("check", *rows, *kept, "--rule", rule).code == 1


@pytest.mark.parametrize(
    "rule", ["exact-match", "one-hot", "thresholds", "shared-noise:gumbel", "shared-noise:minhash"]
)
def test_a_target_cast_to_a_short_format_is_drawn_from_by_its_own_sum(rule: str) -> None:
    rows = ("--target", "1/3,1/3,1/3", "--draft", "1/5,3/10,1/2", "--rule", rule)
    roles = [f"--role={role}=cast:bfloat16" for role in ("accept_target", "residual_target")]
    result = run("what-if", *rows, *roles)
    assert result.code in (0, 1), result.stderr
