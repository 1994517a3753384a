"""Options of numeric model, dropped tokens and draft ids: where they hold and which one wins."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.cli.model_options import MODEL, NUMERICS, PROPOSAL
from specdist.cli.settings import effective
from specdist.errors import SettingsError
from specdist.model import numerics, proposal
from tests.cli import column, exact, help_of, only_position, run

ROWS = ("--target", "1/2,3/10,1/5", "--draft", "1/5,3/10,1/2")
SIX = ("--target", "3/10,1/20,1/4,1/20,1/10,1/4", "--draft", "1/2,1/4,1/4")
MAPPED = [Fraction(text) for text in ("1/2", "0", "1/4", "0", "0", "1/4")]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def position(*arguments: object) -> dict[str, Any]:
    return only_position(run(*arguments, "--format", "json").json())


def capture(**members: Any) -> str:
    Path("c.json").write_text(json.dumps(members), encoding="utf-8")
    return "c.json"


def test_every_option_of_the_models_has_a_text() -> None:
    assert {option.name for option in NUMERICS} == set(numerics.NAMES)
    assert {option.name for option in PROPOSAL} == set(proposal.NAMES)
    for command in ("check", "what-if", "compare"):
        text = help_of(command)
        for option in MODEL:
            assert f"--{option.name} " in text
        for panel in ("Engine: numeric model", "Engine: dropped draft tokens", "Engine: draft ids"):
            assert f"─ {panel} ─" in text


def test_texts_reach_the_settings() -> None:
    checking = effective(
        {"uniform": "8", "unnormalised": True, "keep": "share:1/2", "keep_when": "after"}
    ).settings.checking
    assert checking.overrides.numerics == {"uniform": "8", "unnormalised": "yes"}
    assert checking.overrides.proposal == {"keep": "share:1/2", "keep-when": "after"}


@pytest.mark.parametrize(
    ("values", "message", "expected"),
    [
        ({"uniform": "0"}, "uniform=0", "2^24"),
        ({"uniform": "1:ends=neither"}, "has no point", "at least 2"),
        ({"inequality": "loose"}, "inequality=loose", "strict, inclusive"),
        ({"ratio": "none"}, "ratio=none", "capped, uncapped"),
        ({"ratio_epsilon": "2"}, "ratio-epsilon=2 is out of range", "at most 1"),
        ({"residual_floor": "-1"}, "residual-floor=-1 is out of range", "at least 0"),
        ({"zero_draft": "skip"}, "zero-draft=skip", "accept-all"),
        ({"empty_residual": "token:x"}, "empty-residual=token:x", "token:ID"),
        ({"keep": "share:2"}, "share=2 is out of range", "at most 1"),
        ({"keep": "share"}, "share needs a number", "such as 1"),
        ({"dropped": "redraw-x"}, "dropped=x", "number"),
        ({"proposal": "real"}, "proposal=real", "declared, effective"),
        ({"keep_when": "never"}, "keep-when=never", "before, after"),
        ({"keep_when": "after", "dropped": "redraw"}, "after its test", "--dropped target"),
        ({"draft_map": "none.json"}, "no such file", ""),
    ],
)
def test_a_wrong_value_is_refused_at_once(
    values: dict[str, str], message: str, expected: str
) -> None:
    done = run("what-if", *ROWS, *(f"--{n.replace('_', '-')}={v}" for n, v in values.items()))
    assert (done.code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())
    assert expected in " ".join(done.stderr.split())


def test_a_config_file_holds_models_but_no_maps() -> None:
    Path("specdist.toml").write_text('uniform = 8\nunnormalised = true\nkeep = "share:1/2"\n')
    defaults = effective({}).settings.checking.defaults
    assert defaults.numerics == {"uniform": "8", "unnormalised": "yes"}
    assert defaults.proposal == {"keep": "share:1/2"}
    Path("specdist.toml").write_text('draft-map = "d2t.npy"\n')
    with pytest.raises(SettingsError, match="unknown key 'draft-map'"):
        effective({})


def test_the_command_line_wins_over_the_capture_and_that_over_the_file() -> None:
    Path("specdist.toml").write_text('uniform = 4\ninequality = "inclusive"\n')
    rows = {"target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "3/10", "1/2"]}
    path = capture(**rows, settings={"uniform": 8})
    step = run("check", path, "--ratio", "uncapped", "--format", "json").json()["steps"][0]
    assert step["options"] == {"uniform": "8", "inequality": "inclusive", "ratio": "uncapped"}
    step = run("check", path, "--uniform", "real", "--format", "json").json()["steps"][0]
    assert step["options"]["uniform"] == "real"


def test_a_map_comes_first_on_the_draft_side() -> None:
    Path("map.json").write_text("[0, 2, 5]")
    found = position("what-if", *SIX, "--draft-map", "map.json", "--top-k", "4")
    recipes = {use["role"]: use["recipe"] for use in found["roles"]}
    assert recipes["reference"] == "top-k:4"
    assert recipes["drafted_from"] == "vocab-map:given,top-k:4"
    found = position("what-if", *SIX, "--draft-map", "map.json")
    assert column(found, "drafted") == MAPPED
    assert exact(found["acceptance_rate"]) == Fraction(4, 5)


def test_a_recipe_with_a_map_and_a_role_of_its_own_stay_as_they_are() -> None:
    Path("map.json").write_text("[0, 2, 5]")
    options = ("--draft-map", "map.json", "--draft-recipe", "temperature:1,vocab-map:given")
    recipes = {use["role"]: use["recipe"] for use in position("what-if", *SIX, *options)["roles"]}
    assert recipes["drafted_from"] == "temperature:1,vocab-map:given"
    role = ("--role", "accept_draft=vocab-map:0+1+2", "--zero-draft", "accept")
    found = position("what-if", *SIX, "--draft-map", "map.json", *role)
    recipes = {use["role"]: use["recipe"] for use in found["roles"]}
    assert recipes["accept_draft"] == "vocab-map:0+1+2"
    assert recipes["residual_draft"] == "vocab-map:given"


def test_the_map_of_the_command_line_wins_over_that_of_the_capture() -> None:
    path = capture(target=["1/2", "1/4", "1/4"], draft=["1/2", "1/2"], draft_map=[1, 2])
    assert exact(position("check", path)["acceptance_rate"]) == Fraction(1, 2)
    Path("map.txt").write_text("0\n1\n")
    found = position("check", path, "--draft-map", "map.txt", "--draft-map-form", "offsets")
    assert exact(found["acceptance_rate"]) == Fraction(3, 4)


def test_dumps_of_a_head_with_ids_of_its_own() -> None:
    generator = np.random.default_rng(5)
    np.save("t.npy", generator.normal(size=(4, 12)).astype(np.float32))
    np.save("d.npy", generator.normal(size=(4, 3)).astype(np.float32))
    np.save("d2t.npy", np.array([1, 3, 7]))
    pair = ("check", "--target", "t.npy", "--draft", "d.npy", "--kind", "logits")
    done = run(*pair)
    assert (done.code, done.stdout) == (2, "")
    assert "drafted_from is a row of 3, the reference of 12 tokens" in done.stderr
    assert "--draft-map FILE" in done.stderr
    assert "--draft-vocab-size 12" in " ".join(done.stderr.split())
    options = ("--draft-map", "d2t.npy", "--draft-map-form", "offsets", "-T", "0.8")
    one = run(*pair, *options, "--workers", "1", "--format", "json")
    two = run(*pair, *options, "--workers", "2", "--format", "json")
    assert (one.code, one.json()["verdict"]) == (0, "equal")
    assert one.json()["steps"] == two.json()["steps"]
    drafted = {t["id"] for t in one.json()["steps"][0]["positions"][0]["tokens"]
               if t["drafted"]["approx"]}  # fmt: skip
    assert drafted == {1, 4, 9}


def test_padding_is_cut_by_a_step() -> None:
    np.save("t.npy", np.zeros((1, 6), np.float32))
    np.save("d.npy", np.zeros((1, 4), np.float32))
    pair = ("check", "--target", "t.npy", "--draft", "d.npy", "--kind", "logits")
    found = position(*pair, "--draft-vocab-size", "6")
    assert exact(found["acceptance_rate"]) == Fraction(2, 3)
    found = position(*pair, "--recipe", "vocab-size:4")
    assert exact(found["acceptance_rate"]) == 1
    assert found["vocab_size"] == 4
    done = run(*pair, "--vocab-size", "4")
    assert done.code == 2
    assert "vocab-size:4 of a recipe" in " ".join(done.stderr.split())


def test_rows_of_the_given_rule_select_it() -> None:
    given = ("--accept", "1,1,2/5", "--recovery", "1,0,0")
    report = run("what-if", *ROWS, *given, "--format", "json").json()
    assert (report["verdict"], report["steps"][0]["rule"]) == ("equal", "given")
    report = run("what-if", *ROWS, *given, "--rule", "token", "--format", "json").json()
    assert report["steps"][0]["rule"] == "token"


def test_keep_probabilities_by_token_and_a_keep_rule_exclude_each_other() -> None:
    done = run("what-if", *ROWS, "--keep-row", "1,1,0", "--keep", "share:1/2")
    assert (done.code, done.stdout) == (2, "")
    assert "keep is given twice" in done.stderr
    done = run("what-if", *ROWS, "--dropped", "redraw")
    assert "dropped without a keep rule" in done.stderr


def test_a_given_rule_whose_right_residual_is_empty() -> None:
    roles = {
        "accept_draft": "top-p:1/2",
        "accept_target": "top-p:1/2",
        "reference": "temperature:2",
    }
    rows = {"target": [1, 0], "draft": ["1/2", "1/2"], "accept": ["1/2", 1], "recovery": [0, 1]}
    done = run("check", capture(**rows, roles=roles))
    assert (done.code, done.stderr) == (1, "")
