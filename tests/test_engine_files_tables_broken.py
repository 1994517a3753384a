"""Tables in JSON that are not what they say, and documents that are no tables."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specdist.errors import CaptureError
from specdist.model.row import Stage
from specdist.readers.engine_files.table_layouts import Form, layout_of
from specdist.readers.strict_json import parse
from tests.cli import run
from tests.listed_files import listed, of_lines, of_text, of_value, recognised, refuses, rows_of

LISTS: dict[str, Any] = {
    "input_ids": [4, 1, 2, 3, 5, 1, 7],
    "topk_ids": [[1, 8], [2, 8], [3, 8], [5, 8], [1, 8], [7, 8], [0, 8]],
    "topk_logprobs": [[-0.5, -1.5]] * 7,
}
ENTRIES = [None] + [
    [{"token": "token_id:3", "logprob": -0.5}, {"token": "token_id:9", "logprob": -2.0}]
] * 3
MAPS = [{"position": 4 + i, "token_id": 3, "logprobs": {"3": -0.5, "9": -1.5}} for i in range(3)]

CHANGES: dict[str, tuple[Any, Callable[[Any], Any], tuple[str, ...]]] = {
    "an id twice": (LISTS, lambda v: v["topk_ids"].__setitem__(2, [3, 3]), ("3 is listed twice",)),
    "a negative id": (LISTS, lambda v: v["topk_ids"].__setitem__(2, [3, -8]), ("negative",)),
    "an id with a point": (LISTS, lambda v: v["topk_ids"].__setitem__(2, [3, 8.0]), ("token id",)),
    "an id short": (LISTS, lambda v: v["topk_ids"].__setitem__(2, [3]), ("beside the 1",)),
    "a row short": (LISTS, lambda v: v["topk_ids"].pop(), ("7 items beside the 6",)),
    "a text": (LISTS, lambda v: v["topk_logprobs"].__setitem__(2, ["x", "y"]), ("'x'",)),
    "mass": (LISTS, lambda v: v["topk_logprobs"].__setitem__(2, [-0.1, -0.2]), ("mass of 1.7",)),
    "no rows": (
        LISTS, lambda v: [v.pop("input_ids"), v.update(topk_ids=[[]], topk_logprobs=[[]])],
        ("no row lists a token",),
    ),
    "an entry without value": (
        ENTRIES, lambda v: v.__setitem__(2, [{"token": "token_id:3"}]), ("there is no logprob",)
    ),
    "an entry by text": (
        ENTRIES, lambda v: v[2][0].update(token="x"), ("'x'", "token_id:N")
    ),
    "an object for a list": (ENTRIES, lambda v: v.__setitem__(2, {}), ("an array belongs here",)),
    "a word as id": (MAPS, lambda v: v[1]["logprobs"].update(the=-3.0), ("'the'",)),
    "no map": (MAPS, lambda v: v[1].pop("logprobs"), ("there is no logprobs",)),
    "a place below 0": (MAPS, lambda v: v[1].update(position=-2), ("negative",)),
}  # fmt: skip


def broken(name: str) -> tuple[Any, tuple[str, ...]]:
    value, change, words = CHANGES[name]
    changed = copy.deepcopy(value)
    change(changed)
    return changed, words


@pytest.mark.parametrize("name", CHANGES)
def test_tables_that_are_not_what_they_say(name: str) -> None:
    value, words = broken(name)
    error = refuses(lambda: of_value(value, shift=1), *words)
    assert error.place.startswith("answer.json")


def test_errors_in_lines_name_the_line() -> None:
    value, _ = broken("an id twice")
    text = json.dumps(LISTS) + "\n" + json.dumps(value) + "\n"
    error = refuses(lambda: of_lines(text, shift=1), "token 3 is listed twice")
    assert error.place == "rows.jsonl, line 2, topk_logprobs[2]"


@pytest.mark.parametrize("literal", ["NaN", "Infinity"])
def test_numbers_that_json_lacks_are_refused(literal: str) -> None:
    text = json.dumps(LISTS).replace("-1.5", literal, 1)
    refuses(lambda: of_text(text), literal)


def test_a_key_twice_is_refused_before_it_is_a_map() -> None:
    with pytest.raises(CaptureError, match="occurs twice"):
        parse('{"3": -0.5, "3": -1.5}', "f")


def test_nulls_mark_their_rows() -> None:
    value = copy.deepcopy(LISTS)
    value["topk_logprobs"][2] = [-0.5, None]
    value["topk_ids"][3] = None
    refused = [row.refused for row in rows_of(of_value(value, shift=1))]
    assert [bool(text) for text in refused] == [False, False, True, True, False, False, False]
    assert "NaN" in refused[2]
    maps = copy.deepcopy(MAPS)
    maps[1]["logprobs"]["9"] = None
    assert [bool(row.refused) for row in rows_of(of_value(maps))] == [False, True, False]


def test_numbers_in_a_document_keep_their_digits() -> None:
    text = '{"3": -0.1000000000000000055511151231257827, "9": -2}'
    row = rows_of(of_text(text))[0]
    assert listed(row) == {3: -0.1, 9: -2.0}


def test_the_stage_is_assumed_and_can_be_told() -> None:
    assert (of_value(MAPS).stage, of_value(MAPS).assumed) == (Stage.RAW, True)
    told = of_value(MAPS, stage=Stage.TEMPERATURE)
    assert (told.stage, told.assumed) == (Stage.TEMPERATURE, False)
    assert {row.stage for row in rows_of(told)} == {Stage.TEMPERATURE}


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (LISTS, Form.LISTS),
        ({"input_ids": [1], "target_token_ids": [[1]], "top_values": [[-1.0]]}, Form.LISTS),
        (ENTRIES, Form.ENTRIES),
        ({"id": 7, "any_name": ENTRIES}, Form.ENTRIES),
        ({"3": -0.5, "9": -1.5}, Form.MAP),
        (MAPS[0], Form.MAP),
        ({"rows": [None, {"3": -0.5}]}, Form.MAPS),
        ({"3": {"logprob": -0.5}}, None),
        ({"3": "-1/2"}, None),
        ({}, None),
        ([], None),
        ([[]], None),
        ([None], None),
        ({"a": {"3": -0.5}, "b": {"3": -0.5}}, None),
        ({"topk_ids": [1, 2], "topk_logprobs": [-1.0, -2.0]}, None),
        ({"²": -0.5}, None),
    ],
)
def test_layouts_are_known_by_their_keys(value: Any, form: Form | None) -> None:
    found = layout_of(parse(json.dumps(value), "f"))
    assert (None if found is None else found.form) == form


def test_captures_and_other_documents_are_no_tables() -> None:
    assert recognised({"a": 1}) is None
    assert recognised([1, 2, 3]) is None
    assert recognised(LISTS) == "top-k-table"
    assert recognised([LISTS]) == "top-k-table"


@pytest.mark.parametrize("value", [{"a": 1}, {"input_ids": [1]}, [1, 2], 5])
def test_a_forced_reader_on_another_document_is_no_table(value: object, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    result = run("inspect", str(path), "--reader", "top-k-table")
    assert result.code == 2
    assert result.stdout == ""
