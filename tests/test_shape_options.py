"""Options that shape proposals: typed rows as constant models, shapes over those of captures."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests import oracle_joint as oracle
from tests.cli import Result, exact, run
from tests.reader_files import write

TARGET, DRAFT = ("1/2", "3/10", "1/5", "0"), ("1/5", "1/2", "0", "3/10")
ROWS = ("--target", ",".join(TARGET), "--draft", ",".join(DRAFT))
P, Q = oracle.row(*TARGET), oracle.row(*DRAFT)


def what_if(*options: object) -> Result:
    return run("what-if", *ROWS, "--format", "json", "--exact", *options)


def joint(result: Result) -> dict[str, Any]:
    assert result.code in (0, 1), result.stderr
    return result.json()["steps"][0]["joint"]


def flat(result: Result) -> str:
    return " ".join(result.stderr.split())


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_typed_rows_are_constant_models(length: int) -> None:
    models = oracle.pair(oracle.constant(P, length + 1), oracle.constant(Q, length + 1))
    expected = oracle.accepted_lengths(oracle.token_chain(models, length), length)
    found = joint(what_if("--draft-length", length))
    assert [exact(value) for value in found["accepted_length"]] == expected
    assert (found["nodes"], found["depth"], found["horizon"]) == (length, length, length + 1)
    assert exact(found["total_variation"]) == 0


def test_a_tree_of_one_child_a_level_is_a_chain() -> None:
    assert joint(what_if("--tree", "1,1,1")) == joint(what_if("--draft-length", 3))


def test_typed_logits_are_constant_models_too() -> None:
    shown = run("what-if", "--target-logits", "1,0,-inf", "--draft-logits", "0,1,-1",
                "--draft-length", 2, "--format", "json")  # fmt: skip
    report = shown.json()
    assert (shown.code, report["verdict"]) == (0, "equal")
    assert report["steps"][0]["joint"]["depth"] == 2


def test_a_rule_over_proposals_on_typed_rows() -> None:
    models = oracle.pair(oracle.constant(P, 3), oracle.constant(Q, 3))
    expected = oracle.accepted_lengths(oracle.block(models, 2), 2)
    found = joint(what_if("--draft-length", 2, "--rule", "block"))
    assert [exact(value) for value in found["accepted_length"]] == expected


def test_draft_tokens_are_given_siblings() -> None:
    """Token 3 is impossible for the target and is never accepted; token 0 always is."""
    named = what_if("--draft-length", 2, "--draft-tokens", "0,3", "--rule", "one-hot")
    said = what_if("--draft-length", 2, "--draft-tokens", "0,3", "--rule", "one-hot",
                   "--siblings", "given")  # fmt: skip
    assert joint(named) == joint(said)
    lengths = [exact(value) for value in joint(named)["accepted_length"]]
    assert lengths == [Fraction(1, 2), Fraction(1, 2), 0]


def test_the_horizon() -> None:
    short = joint(what_if("--draft-length", 3, "--horizon", 1))
    assert short["horizon"] == 1
    assert len(short["marginals"]) == 1
    assert len(short["accepted_length"]) == 4


def test_the_size_of_an_enumeration_is_stated_and_bounded() -> None:
    result = what_if("--draft-length", 3, "--rule", "token-chain", "--max-outcomes", 10)
    assert result.code == 2
    assert "--max-outcomes" in flat(result)
    assert "10" in flat(result)
    assert what_if("--draft-length", 3, "--rule", "token-chain").code == 0


BAD: list[tuple[tuple[object, ...], str]] = [
    (("--draft-length", 0), "draft-length=0 is out of range"),
    (("--draft-length", "two"), "draft-length=two is not a whole number"),
    (("--draft-length", 129), "drafts more than 128 tokens"),
    (("--tree", "2,0"), "tree=0 is out of range"),
    (("--tree", "2,-1"), "tree=-1 is out of range"),
    (("--tree", ""), "tree= is not a whole number"),
    (("--tree", "2;1"), "tree=2;1 is not a whole number"),
    (("--tree", "16,16"), "drafts more than 128 tokens"),
    (("--tree", "999999999999,999999999999"), "drafts more than 128 tokens"),
    (("--tree", 2, "--draft-length", 1), "draft-length and tree are given together"),
    (("--tree", 2, "--siblings", "without-replacment"), "did you mean without-replacement?"),
    (("--tree", 2, "--duplicates", "both"), "duplicates=both is not a value"),
    (("--draft-length", 2, "--draft-tokens", "0,x"), "draft-tokens=x is not a whole number"),
    (("--draft-length", 2, "--draft-tokens", ""), "draft-tokens is empty"),
    (("--draft-length", 2, "--draft-tokens", "0"), "2 nodes, and 1 draft tokens are given"),
    (("--draft-length", 2, "--draft-tokens", "0,4"), "draft token 4 of node 1 is outside"),
    (("--draft-length", 2, "--siblings", "given"), "siblings are given, and there are no draft"),
    (("--draft-length", 2, "--draft-tokens", "0,1", "--siblings", "top"), "siblings=top are given"),
    (("--draft-length", 2, "--horizon", 0), "horizon=0 is out of range"),
    (("--draft-length", 2, "--max-outcomes", 0), "max-outcomes=0 is out of range"),
    (("--siblings", "iid"), "--siblings is about whole proposals, and nothing says how many"),
    (("--horizon", 3), "--horizon is about whole proposals"),
    (("--draft-tokens", "0,1"), "is about whole proposals"),
    (("--rule", "block"), "rule block is about whole proposals, and nothing says how many"),
    (("--draft-length", 2, "--symbolic"), "symbolic: closed forms are those of one position"),
    (("--draft-length", 2, "--draft-token", 1), "--draft-token is about one position"),
    (("--draft-length", 2, "--keep-row", "1,1,1,1"), "--keep-row is about one position"),
    (("--tree", 2, "--rule", "k-seq"), "k-seq needs a number"),
    (("--draft-length", 2, "--length", "own-probability"), "own-probability needs a number"),
    (("--draft-length", 2, "--rule", "blok"), "did you mean 'block'?"),
    (("--draft-length", 2, "--rule", "block:coins=three"), "coins"),
    (("--tree", 2, "--rule", "token"), "a chain, or a rule over trees"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), BAD, ids=str)
def test_options_that_cannot_be_used(options: tuple[object, ...], message: str) -> None:
    result = what_if(*options)
    assert (result.code, result.stdout) == (2, "")
    assert message in flat(result)
    assert "= expected:" in result.stderr


def test_rows_of_two_sizes() -> None:
    result = run("what-if", "--target", "1,0", "--draft", "1,0,0", "--draft-length", 1)
    assert result.code == 2
    assert "the target row has 2 tokens, the draft row 3" in flat(result)


# ---- over what a capture says ------------------------------------------------------------------


@pytest.fixture
def capture(tmp_path: Path) -> str:
    document = {
        "models": {"target": list(TARGET), "draft": list(DRAFT)},
        "tree": {"children": [2]},
        "siblings": "without-replacement",
        "settings": {"rule": "rrs"},
    }
    return write(tmp_path, "capture.json", json.dumps(document))


def shape(result: Result) -> tuple[str, int]:
    found = joint(result)
    return found["shape"], found["nodes"]


def test_options_win_over_the_capture_one_by_one(capture: str) -> None:
    def checked(*options: object) -> Result:
        return run("check", capture, "--format", "json", *options)

    own = "a tree of 2 draft tokens, siblings without-replacement"
    assert shape(checked()) == (own, 2)
    assert shape(checked("--siblings", "iid")) == ("a tree of 2 draft tokens, siblings iid", 2)
    wide = "a tree of 3 draft tokens, siblings without-replacement"
    assert shape(checked("--tree", 3)) == (wide, 3)
    assert shape(checked("--draft-length", 2, "--rule", "token"))[1] == 2


def test_what_if_and_compare_take_the_options(capture: str) -> None:
    assert shape(run("what-if", capture, "--tree", 3, "--format", "json"))[1] == 3
    result = run("compare", capture, "--rule", "rrs", "--rule", "target-only", "--tree", 3)
    assert result.code == 0
    typed = run("compare", *ROWS, "--draft-length", 2, "--rule", "token", "--rule", "block")
    assert typed.code == 0
    assert typed.stdout.count("equal") >= 2
    none = run("compare", *ROWS, "--rule", "token", "--rule", "block")
    assert none.code == 2
    assert "rule block is about whole proposals" in flat(none)


def test_a_config_file_bounds_the_enumeration_and_gives_no_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "specdist.toml", "max-outcomes = 10\n")
    result = what_if("--draft-length", 3, "--rule", "token-chain")
    assert result.code == 2
    assert "--max-outcomes" in flat(result)
    write(tmp_path, "specdist.toml", "draft-length = 2\n")
    refused = what_if()
    assert refused.code == 2
    assert "unknown key 'draft-length'" in flat(refused)


def test_rules_over_proposals_need_models(tmp_path: Path) -> None:
    position = {"target": list(TARGET), "draft": list(DRAFT)}
    path = write(tmp_path, "c.json", json.dumps({"positions": [position] * 2}))
    result = run("check", path, "--rule", "token-chain")
    assert result.code == 2
    assert "rule token-chain is about whole proposals, and this step has rows" in flat(result)
