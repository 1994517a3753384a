"""What a capture says about the bonus row and about earlier draft tokens is used or refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.cli import run

HALVES = ["1/2", "1/2"]
THIRDS = ["1/3", "2/3"]
ROW = {"target": HALVES, "draft": THIRDS}


@pytest.mark.parametrize(
    "capture",
    [
        {**ROW, "bonus": HALVES, "roles": {"bonus_from": THIRDS}},
        {"positions": [{**ROW, "roles": {"bonus_from": THIRDS}}], "bonus": HALVES},
        {"positions": [ROW], "bonus": HALVES, "roles": {"bonus_from": THIRDS}},
        {"positions": [ROW], "bonus": {"target": HALVES}, "roles": {"bonus-from": THIRDS}},
    ],
)
def test_a_row_for_the_bonus_is_compared(capture: dict, tmp_path) -> None:  # type: ignore[no-untyped-def, type-arg]
    (tmp_path / "capture.json").write_text(json.dumps(capture))
    done = run("check", str(tmp_path / "capture.json"), "--format", "json")
    assert done.code == 1
    (step,) = json.loads(done.stdout)["steps"]
    assert step["positions"][0]["verdict"] == "equal"
    assert Fraction(step["bonus"]["total_variation"]["exact"]) == Fraction(1, 6)
    assert [finding["ident"] for finding in step["findings"]] == ["bonus-mismatch"]


@pytest.mark.parametrize(
    ("capture", "words"),
    [
        ({**ROW, "roles": {"bonus_from": THIRDS}}, "no bonus row"),
        ({**ROW, "roles": {"bonus_from": "temperature:0"}}, "no bonus row"),
        ({"positions": [ROW], "roles": {"bonus_from": "temperature:0"}}, "no bonus row"),
        (
            {
                "positions": [{**ROW, "roles": {"bonus_from": THIRDS}}],
                "roles": {"bonus_from": HALVES},
                "bonus": HALVES,
            },
            "more than once",
        ),
    ],
)
def test_a_law_for_a_bonus_that_is_not_there_is_refused(
    capture: dict,
    words: str,
    tmp_path,  # type: ignore[no-untyped-def, type-arg]
) -> None:
    (tmp_path / "capture.json").write_text(json.dumps(capture))
    done = run("check", str(tmp_path / "capture.json"))
    assert (done.code, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())


def test_a_role_for_the_bonus_needs_a_bonus_row() -> None:
    row = ("--target", "1/2,1/2", "--draft", "1/3,2/3")
    done = run("what-if", *row, "--role", "bonus_from=temperature:0")
    assert (done.code, done.stdout) == (2, "")
    assert "bonus_from" in done.stderr


def test_penalties_refuse_draft_tokens_they_do_not_know(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rows = {"target": [1, 0, -1], "draft": [0, 1, -1]}
    step = {"kind": "logits", "context": [0], "positions": [rows, rows]}
    path = tmp_path / "capture.json"

    def rates(extra: dict, penalty: str) -> list[float]:  # type: ignore[type-arg]
        path.write_text(json.dumps({**step, **extra}))
        done = run("check", str(path), "--repetition-penalty", penalty, "--format", "json")
        assert done.code == 0, done.stderr
        (found,) = json.loads(done.stdout)["steps"]
        return [position["acceptance_rate"]["approx"] for position in found["positions"]]

    path.write_text(json.dumps(step))
    done = run("check", str(path), "--repetition-penalty", "2")
    assert (done.code, done.stdout) == (2, "")
    assert "drafts=frozen" in done.stderr
    frozen = rates({}, "2:drafts=frozen")
    assert frozen[0] == frozen[1]
    counted = rates({"draft_tokens": [1, 1]}, "2")
    assert counted[0] == frozen[0]
    assert counted[1] != frozen[1]


def test_notes_speak_of_the_whole_row_whatever_is_listed() -> None:
    target = ",".join(["1/2"] + ["1/138"] * 69)
    draft = ",".join(["1/70"] * 70)
    rows = ("--target", target, "--draft", draft, "--role", "drafted_from=top-k:10:ties=lowest-id")
    for show in ("0", "1", "70"):
        done = run("what-if", *rows, "--show", show, "--format", "json")
        assert done.code == 1
        (step,) = json.loads(done.stdout)["steps"]
        (hole,) = [f for f in step["findings"] if f["ident"] == "support-hole"]
        assert hole["message"] == (
            "token 10 and 59 more, 10/23 of the reference, can never be emitted; token 10: it is "
            "never drafted, and the residual gives it max(0, 1/138 - 1/70) = 0"
        )
        assert len(step["positions"][0]["tokens"]) == int(show)
