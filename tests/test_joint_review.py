"""Steps over models: outputs behind forbidden tokens, large vocabularies, bounds of what is listed.

Every number is by hand from the definitions: three tokens or more, one step.
"""

from __future__ import annotations

import io
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from specdist.rules.joint.outcomes import Outcome
from specdist.verify.joint import given_drafts
from specdist.verify.joint.gathering import LostMassError, gather
from tests.cli import exact, run
from tests.joint_captures import checked, sequences

HALF = Fraction(1, 2)
FIRST, SECOND, THIRD = (["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"])
EVEN = ["1/2", "1/2", "0"]


def forbidden_step(**roles: Any) -> dict[str, Any]:
    """The reference begins with token 0; what is emitted is 1, 2 and then a bonus token."""
    target = {"rows": {"": FIRST}, "default": EVEN}
    draft = {"rows": {"": SECOND}, "default": THIRD}
    models = {"target": target, "draft": draft, **roles}
    return {"models": models, "draft_length": 2, "settings": {"rule": "always"}}


def only_step(step: dict[str, Any], folder: Path, *options: object) -> dict[str, Any]:
    (found,) = checked([step], folder, *options).json()["steps"]
    return found  # type: ignore[no-any-return]


def test_outputs_go_on_as_emitted_behind_a_token_that_the_reference_forbids(
    tmp_path: Path,
) -> None:
    found = only_step(forbidden_step(), tmp_path)
    joint = found["joint"]
    assert sequences(joint, "output") == {(1, 2, 0): HALF, (1, 2, 1): HALF}
    assert sequences(joint, "reference") == {
        (0, y, z): Fraction(1, 4) for y in (0, 1) for z in (0, 1)
    }
    output = [[exact(token["output"]) for token in place["tokens"]] for place in joint["marginals"]]
    assert output == [[0, 1, 0], [0, 0, 1], [HALF, HALF, 0]]
    variation = [exact(place["total_variation"]) for place in joint["marginals"]]
    assert variation == [1, 1, 0]
    messages = {finding["ident"]: finding["message"] for finding in found["findings"]}
    message = "mass 1 on outputs that the target never emits, as token 1"
    assert messages["impossible-token"] == message


def test_a_table_without_rows_behind_forbidden_tokens_leaves_the_rest_unlisted(
    tmp_path: Path,
) -> None:
    """After token 1 the reference has no row, and mass ends there as well as goes on."""
    step = forbidden_step(
        accept_target={"rows": {"": ["1/2", "1/4", "1/4"]}, "default": THIRD},
        residual_target=SECOND,
    )
    step["models"]["target"] = {"rows": {"": FIRST, "0": EVEN, "0,0": EVEN, "0,1": EVEN}}
    step["models"]["draft"] = EVEN
    step["settings"]["rule"] = "token-chain"
    found = only_step(step, tmp_path)
    # token 1 is accepted with 1/2 1/2, and follows on as many rejections
    assert exact(found["joint"]["forbidden_mass"]) == HALF
    assert len(found["joint"]["marginals"]) == 1


def test_a_wrong_bonus_is_the_cause_behind_a_forbidden_token_too(tmp_path: Path) -> None:
    found = only_step(forbidden_step(bonus_from=THIRD), tmp_path)
    main = found["findings"][0]
    assert (main["ident"], main["repairs"]) == ("bonus-mismatch", [["bonus_from"]])
    assert main["cause"] == ["draw the bonus token from the reference"]


@pytest.mark.parametrize("rule", ["token", "always"])
def test_more_outputs_than_are_listed(rule: str, tmp_path: Path) -> None:
    """41 tokens and 3 places: the blocks are of different lengths."""
    draft = ["1/2", "1/2"] + ["0"] * 39
    step = {"models": {"target": ["1/41"] * 41, "draft": draft}, "draft_length": 2}
    found = only_step({**step, "settings": {"rule": rule}}, tmp_path)
    (first,) = found["joint"]["marginals"]
    assert exact(first["total_variation"]) == (0 if rule == "token" else Fraction(39, 41))


def test_one_place_says_nothing_of_the_others(tmp_path: Path) -> None:
    """The bonus token is wrong, which the first of three places cannot show."""
    draft = ["1/2", "1/2"] + ["0"] * 39
    models = {"target": ["1/41"] * 41, "draft": draft, "bonus_from": draft}
    found = only_step({"models": models, "draft_length": 2}, tmp_path)
    assert exact(found["joint"]["total_variation"]) == Fraction(4 * 39, 41**3)
    assert not any("every single token" in note for note in found["findings"][0]["notes"])


def test_listed_outputs_carry_the_bound_of_rows_that_only_they_need(tmp_path: Path) -> None:
    """Token 1 is always rejected, so that no rounded row decides what the step emits."""
    target = {"rows": {"": FIRST, "1": SECOND}, "default": ["1/4", "1/4", "1/2"]}
    step = {"models": {"target": target, "draft": SECOND}, "draft_length": 2}
    joint = only_step(step, tmp_path, "-T", "3/2", "--rule", "one-hot")["joint"]
    assert joint["total_variation"] == {"exact": "0", "approx": 0.0}
    for token in joint["marginals"][1]["tokens"]:
        # (1/4)^(2/3) and (1/2)^(2/3) are as 1 to the cube root of 4
        root = Fraction(15874010519681994748, 10**19)
        share = (root if token["id"] == 2 else 1) / (2 + root)
        off = abs(Fraction(token["output"]["exact"]) - share)
        assert 0 < off <= Fraction(token["output"]["bound"]) < Fraction(1, 10**12)


@pytest.mark.parametrize("rule", ["token", "token-chain", "block"])
def test_a_cut_chain_draws_no_bonus_token(rule: str) -> None:
    """With one of two draft tokens verified, no token follows a full acceptance."""
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10", "--draft-length", "2")
    done = run("what-if", *rows, "--length", "fixed:1", "--rule", rule, "--format", "json")
    (step,) = json.loads(done.stdout)["steps"]
    assert step["joint"]["bonus"] is None
    assert step["joint"]["expected_accepted"]["exact"] == "7/10"


def test_early_stop_has_no_choice_among_equal_theta() -> None:
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10", "--draft-length", "2")
    done = run(
        "what-if", *rows, "--length", "scheduler:early-stop:scores=own-probability:equal=more"
    )
    assert (done.code, done.stdout) == (2, "")
    assert "equal Theta" in " ".join(done.stderr.split())


def test_what_the_options_say_of_target_over_0_holds_for_repairs_too() -> None:
    """Token 2 is drafted and tested with probability 0. Were it accepted, test and residual would
    give the target back exactly; it is rejected, so that the bonus row alone is no cause."""
    target = ["1/2", "1/4", "1/4"]
    roles = {"accept_draft": ["3/5", "2/5", "0"], "residual_draft": ["5/12", "5/32", "41/96"]}
    models = {"target": target, "draft": target, "bonus_from": ["1/4", "1/4", "1/2"], **roles}
    text = json.dumps({"models": models, "draft_length": 1})
    alone = {}
    for reading in ("accept", "reject"):
        with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))):
            done = run("check", "-", "--zero-draft", reading, "--format", "json")
        (step,) = json.loads(done.stdout)["steps"]
        alone[reading] = ["bonus_from"] in step["findings"][0]["repairs"]
    assert alone == {"accept": True, "reject": False}


def test_a_law_that_loses_mass_is_never_a_pass() -> None:
    """Half of what follows a kept token is missing, and nothing emitted is above the target."""
    outcomes = [Outcome(Fraction(1), (1,), (HALF, Fraction(0), Fraction(0)))]
    with pytest.raises(LostMassError):
        gather(outcomes, 3, 10)


@pytest.mark.parametrize("rule", ["token", "token-chain", "block"])
def test_a_batch_is_never_equal_for_mass_without_a_token(rule: str, tmp_path: Path) -> None:
    """Token 2 is rejected with 1/12, the residual is empty, and nothing emitted is above the
    target: until an option says what follows, there is no verdict."""
    target = ["1/2", "1/4", "1/4"]
    models = {"target": target, "draft": target, "accept_draft": ["1/2", "1/8", "3/8"]}
    request = {"models": {**models, "residual_draft": target}, "draft_length": 1}
    path = tmp_path / "batch.json"
    path.write_text(json.dumps({"requests": [request, request], "schedule": "fixed:1"}), "utf-8")
    done = run("check", path, "--rule", rule)
    assert (done.code, done.stdout) == (2, "")
    assert "empty residual" in " ".join(done.stderr.split())
    says = ("--empty-residual", "token:0") if rule == "token" else ()
    named = rule if rule == "token" else f"{rule}:empty=first"
    done = run("check", path, "--rule", named, *says, "--horizon", "1", "--format", "json")
    (step,) = json.loads(done.stdout)["steps"]
    assert [line["total_variation"]["exact"] for line in step["joint"]["requests"]] == ["1/12"] * 2
    assert step["joint"]["total_variation"]["exact"] == "19/144"


def test_a_batch_refuses_a_position_that_loses_mass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rejections of all draft tokens in place of those of the one that was drafted."""
    monkeypatch.setattr(given_drafts, "replace", lambda laws, **_: laws)
    models = {"target": ["1/2", "1/4", "1/4"], "draft": ["1/4", "1/4", "1/2"]}
    request = {"models": models, "draft_length": 1}
    path = tmp_path / "batch.json"
    path.write_text(json.dumps({"requests": [request], "schedule": "fixed:1"}), "utf-8")
    done = run("check", path)
    assert done.code == 70
    assert "sum to 2.0" in " ".join(done.stderr.split())
