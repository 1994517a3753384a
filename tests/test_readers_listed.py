"""Rows of JSON captures that are known in part: what they hold, and what they are refused for."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specdist.errors import SpecdistError
from specdist.model.role import Role
from specdist.model.row import Kind, ListedValues, NumberFormat, RationalValues, Row, Stage
from tests.cli import run
from tests.reader_files import ROOT, read_one, values, write

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
DRAFT = {"listed": {"0": "2/5", "2": "2/5"}}


def read(folder: Path, row: Any, draft: Any = DRAFT, **members: Any) -> Any:
    document = {"target": row, "draft": draft, "vocab_size": 5, **members}
    document = {key: value for key, value in document.items() if value is not None}
    return read_one(write(folder, "capture.json", json.dumps(document)))[1][0]


def target(folder: Path, row: Any, **members: Any) -> Row:
    return read(folder, row, **members).positions[0].target


def listed(row: Row) -> ListedValues:
    assert isinstance(row.values, ListedValues)
    return row.values


@cache
def schema() -> Any:
    path = ROOT.parent / "specdist" / "schemas" / "capture.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8")))


def test_what_is_listed_and_what_is_said_of_the_rest(tmp_path: Path) -> None:
    row = {
        "listed": {"3": "1/4", "0": "1/2"},
        "cap": "1/8",
        "half_width": "1/1000",
        "slack": 0.001,
        "support": [0, 1, 3, 4],
    }
    found = target(tmp_path, row)
    part = listed(found)
    assert part.ids == (0, 3)
    assert part.values == RationalValues((HALF, QUARTER))
    assert (part.size, part.open_ended, part.others) == (5, False, 2)
    assert (part.cap, part.half_width, part.slack) == (
        Fraction(1, 8),
        Fraction(1, 1000),
        Fraction(1, 1000),
    )
    assert part.support == (0, 1, 3, 4)
    assert (found.kind, found.stage) == (Kind.PROBABILITIES, Stage.RAW)
    assert found.place == f"{tmp_path}/capture.json, target"


def test_tokens_by_text(tmp_path: Path) -> None:
    row = {"listed": {"B": "1/4", "0": "1/2"}, "support": ["B", 0, "D", 4]}
    part = listed(target(tmp_path, row, vocab=["A", "B", "C", "D", "E"]))
    assert (part.ids, part.support) == ((0, 1), (0, 1, 3, 4))


def test_numbers_are_of_the_format_of_the_document(tmp_path: Path) -> None:
    row = {"listed": {"0": -0.7}, "cap": -2.3, "half_width": 0.1}
    found = target(tmp_path, row, kind="logprobs", numbers="float32", draft={"listed": {"1": -1}})
    part = listed(found)
    assert found.numbers is NumberFormat.FLOAT32
    assert part.values == RationalValues((Fraction(-11744051, 2**24),))
    assert part.cap == Fraction(-9646899, 2**22)
    assert part.half_width == Fraction(1, 10)


def test_a_listed_logprob_of_minus_infinity(tmp_path: Path) -> None:
    row = {"listed": {"0": "-1/2", "1": "-inf"}}
    part = listed(target(tmp_path, row, kind="logprobs", draft={"listed": {"1": -1}}))
    assert part.values == RationalValues((Fraction(-1, 2), None))


def test_a_cap_of_minus_infinity_leaves_the_listed_tokens(tmp_path: Path) -> None:
    row = {"listed": {"0": 1, "1": 2}, "cap": "-inf"}
    found = target(tmp_path, row, kind="logits", draft={"listed": {"1": -1}})
    assert found.values == RationalValues((Fraction(1), Fraction(2), None, None, None))


@pytest.mark.parametrize(
    ("row", "whole"),
    [
        ({"listed": {"0": "1/2", "1": "1/4", "2": "1/8", "3": "1/16"}}, "1/2 1/4 1/8 1/16 1/16"),
        ({"listed": {"0": "1/2", "1": "1/4"}, "support": [0, 1, 4]}, "1/2 1/4 0 0 1/4"),
        ({"listed": {"0": "3/4", "1": "1/4"}, "cap": 0}, "3/4 1/4 0 0 0"),
        ({"listed": {"0": "3/4", "1": "1/4"}, "support": [1, 0]}, "3/4 1/4 0 0 0"),
        (
            {"listed": {"0": "1/2", "1": "1/4", "2": 0, "3": "1/16"}, "cap": "3/16"},
            "1/2 1/4 0 1/16 3/16",
        ),
    ],
)
def test_a_row_that_leaves_nothing_open_is_whole(tmp_path: Path, row: Any, whole: str) -> None:
    assert values(target(tmp_path, row)) == [Fraction(text) for text in whole.split()]


def test_one_unlisted_logit_is_not_known(tmp_path: Path) -> None:
    row = {"listed": {"0": 1, "1": 2, "2": 3, "3": 4}}
    found = target(tmp_path, row, kind="logits", draft={"listed": {"1": -1}})
    assert listed(found).others == 1


@pytest.mark.parametrize("member", [{"half_width": "1/100"}, {"slack": "1/100"}])
def test_rounded_numbers_make_no_whole_row(tmp_path: Path, member: dict[str, str]) -> None:
    row = {"listed": {str(token): "1/5" for token in range(5)}, **member}
    assert listed(target(tmp_path, row)).others == 0


def test_without_a_size_the_vocabulary_is_open_ended(tmp_path: Path) -> None:
    step = read(
        tmp_path,
        {"listed": {"0": "1/2", "1": "1/4"}, "support": [0, 1, 9]},
        {"listed": {"0": "2/5", "6": "2/5"}},
        vocab_size=None,
        roles={"accept_draft": {"listed": {"11": "1/2"}}},
        bonus={"listed": {"2": "1/2"}},
        draft_tokens=[12],
    )
    (position,) = step.positions
    own = position.roles[Role.ACCEPT_DRAFT]
    rows = [position.target, position.draft, own, step.bonus]
    assert [listed(row).size for row in rows] == [13] * 4
    assert all(listed(row).open_ended for row in rows)
    assert [listed(row).others for row in rows] == [1, None, None, None]
    assert own.stage is Stage.PROCESSED


def test_an_array_beside_it_says_the_size(tmp_path: Path) -> None:
    step = read(tmp_path, {"listed": {"0": "1/2"}}, ["1/4"] * 4, vocab_size=None)
    part = listed(step.positions[0].target)
    assert (part.size, part.open_ended) == (4, False)


def test_a_draft_vocabulary_of_its_own_is_closed(tmp_path: Path) -> None:
    draft = {"listed": {"0": "1/2"}}
    step = read(tmp_path, {"listed": {"4": "1/2"}}, draft, draft_map=[4, 2, 0])
    part = listed(step.positions[0].draft)
    assert (part.size, part.open_ended) == (3, False)


BROKEN = {
    "above one": ({"listed": {"0": "3/4", "1": "1/2"}}, "sum to 5/4", "target.listed"),
    "above one, half widths taken off": (
        {"listed": {"0": "3/4", "1": "1/2"}, "half_width": "1/10"},
        "sum to 5/4",
        "target.listed",
    ),
    "no room": (
        {"listed": {"0": "1/2"}, "cap": "1/16"},
        "1/2 is left, and there are 4 unlisted tokens of at most 1/16 each",
        "target",
    ),
    "no room in the support": (
        {"listed": {"0": "1/2"}, "cap": "1/8", "support": [0, 1, 2, 3]},
        "1/2 is left, and there are 3 unlisted tokens of at most 1/8 each",
        "target",
    ),
    "everything listed, within half widths": (
        {"listed": {str(x): "1/8" for x in range(5)}, "half_width": "1/100"},
        "there are 0 unlisted tokens",
        "target",
    ),
    "negative": ({"listed": {"0": "-1/2"}}, "a negative probability", "target.listed, token 0"),
    "negative cap": ({"listed": {"0": "1/2"}, "cap": "-1/8"}, "cap is -1/8", "target.cap"),
    "negative half width": (
        {"listed": {"0": "1/2"}, "half_width": "-1/8"},
        "half_width is below 0",
        "target.half_width",
    ),
    "infinite half width": (
        {"listed": {"0": "1/2"}, "half_width": "-inf"},
        "half_width is below 0",
        "target.half_width",
    ),
    "-inf": ({"listed": {"0": "-inf"}}, "-inf as a probability", "target.listed, token 0"),
    "null": ({"listed": {"0": None}}, "null", 'target.listed["0"]'),
    "an empty list": ({"listed": {}}, "the row is empty", "target.listed"),
    "outside support": (
        {"listed": {"0": "1/2", "3": "1/4"}, "support": [0, 1]},
        "token 3 is listed, and is not in support",
        "target.listed",
    ),
    "empty support": ({"listed": {"0": "1/2"}, "support": []}, "an empty list", "target.support"),
    "support twice": (
        {"listed": {"0": "1/2"}, "support": [0, 1, 0]},
        "support names a token twice",
        "target.support",
    ),
    "support beyond": (
        {"listed": {"0": "1/2"}, "support": [0, 7]},
        "token id 7 is outside",
        "target.support[1]",
    ),
    "beyond the vocabulary": (
        {"listed": {"5": "1/2"}},
        "token id 5 is outside",
        'target.listed["5"]',
    ),
    "another key": ({"listed": {"0": "1/2"}, "caps": 1}, "unknown key 'caps'", "target"),
    "no number": ({"listed": {"0": "half"}}, "'half' is not a number", 'target.listed["0"]'),
    "no cap": ({"listed": {"0": "1/2"}, "cap": "x"}, "'x' is not a number", "target.cap"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    row, message, place = BROKEN[name]
    with pytest.raises(SpecdistError) as caught:
        read(tmp_path, row)
    assert message in caught.value.message
    assert caught.value.place == f"{tmp_path}/capture.json, {place}"


def test_one_token_by_id_and_by_text(tmp_path: Path) -> None:
    row = {"listed": {"A": "1/2", "0": "1/4"}}
    with pytest.raises(SpecdistError, match="token 0 occurs twice"):
        read(tmp_path, row, vocab=["A", "B", "C", "D", "E"])


def test_a_logprob_above_zero(tmp_path: Path) -> None:
    with pytest.raises(SpecdistError, match="a log-probability above 0"):
        read(tmp_path, {"listed": {"0": "1/2"}}, kind="logprobs", draft={"listed": {"1": -1}})


def test_a_duplicate_key(tmp_path: Path) -> None:
    text = '{"vocab_size": 3, "target": {"listed": {"0": 0.5, "0": 0.25}}, "draft": [1, 0, 0]}'
    with pytest.raises(SpecdistError, match="twice"):
        read_one(write(tmp_path, "capture.json", text))


@pytest.mark.parametrize("member", ["keep", "accept", "recovery"])
def test_numbers_by_token_are_whole(member: str, tmp_path: Path) -> None:
    with pytest.raises(SpecdistError, match="known in part cannot stand here"):
        read(tmp_path, ["1/5"] * 5, draft=["1/5"] * 5, **{member: {"listed": {"0": "1/2"}}})


def test_models_are_whole(tmp_path: Path) -> None:
    part = {"listed": {"0": "1/2"}}
    document = {"vocab_size": 3, "models": {"target": {"default": part}, "draft": ["1/3"] * 3}}
    with pytest.raises(SpecdistError, match="known in part cannot stand here"):
        read_one(write(tmp_path, "capture.json", json.dumps({**document, "draft_length": 1})))


def test_the_schema_knows_the_form() -> None:
    good = [row for row, message, _ in BROKEN.values() if "sum to" in message or "left" in message]
    shapes = ["another key", "null", "an empty list", "empty support"]
    document = {"vocab_size": 5, "draft": DRAFT}
    assert all(schema().is_valid({**document, "target": row}) for row in good)
    for name in shapes:
        assert not schema().is_valid({**document, "target": BROKEN[name][0]}), name


def test_inspect_says_what_is_listed(tmp_path: Path) -> None:
    document = {
        "steps": [
            {"target": {"listed": {"0": "1/2"}}, "draft": {"one_hot": 3}},
            {"target": {"listed": {"0": "1/2", "1": "1/4"}}, "draft": {"listed": {"1": "1/4"}}},
        ]
    }
    path = write(tmp_path, "capture.json", json.dumps(document))
    said = run("inspect", str(path)).stdout
    lines = {" ".join(line.split()) for line in said.splitlines()}
    assert "vocabulary size not known, at least 4" in lines
    assert "target rows 1 to 2 tokens listed" in lines
    assert "draft rows 1 token listed, 1 of one token" in lines
