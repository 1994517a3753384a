"""Answers that are broken, contradict themselves or hold nothing: each is refused by its place."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from specdist.errors import CaptureError, RowError, SettingsError, SpecdistError
from specdist.model.row import Kind, NumberFormat
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.registry import answer_format
from specdist.readers.strict_json import parse
from tests.answer_files import (
    by_id,
    by_text,
    cap_of,
    chat,
    completion,
    listed,
    objects,
    plain,
    read,
    rows_of,
)

SMALLEST = -3.4028234663852886e38
Change = Callable[[Any], None]


def ids_answer() -> dict[str, Any]:
    """Two positions of vLLM's completions, ids."""
    tops = [
        {"token_id:5": -1.5, "token_id:2": -1.0, "token_id:7": -2.0},
        {"token_id:2": -0.5, "token_id:1": -2.5, "token_id:9": -3.0},
    ]
    return completion(tops, ["token_id:5", "token_id:2"], [-1.5, -0.5])


def logprobs(document: Any) -> Any:
    return document["choices"][0]["logprobs"]


def put(path: str, value: Any) -> Change:
    """Sets ``a.b[0]`` (written ``a.b.0``) below the first choice's ``logprobs``."""

    def change(document: Any) -> None:
        *above, last = path.split(".")
        node = logprobs(document)
        for key in above:
            node = node[int(key) if isinstance(node, list) else key]
        node[int(last) if isinstance(node, list) else last] = value

    return change


def drop(path: str) -> Change:
    def change(document: Any) -> None:
        *above, last = path.split(".")
        node = logprobs(document)
        for key in above:
            node = node[int(key) if isinstance(node, list) else key]
        del node[int(last) if isinstance(node, list) else last]

    return change


SHAPES: list[tuple[Change, str, str]] = [
    (drop("token_logprobs"), "choices[0].logprobs", "there is no token_logprobs"),
    (drop("tokens.1"), "choices[0].logprobs.token_logprobs", "2 items beside the 1"),
    (drop("top_logprobs.1"), "choices[0].logprobs.top_logprobs", "1 items beside the 2"),
    (put("tokens.1", 7), "choices[0].logprobs.tokens[1]", "a text belongs here"),
    (put("tokens.1", "hello"), "choices[0].logprobs.tokens[1]", "beside tokens written as ids"),
    (put("top_logprobs.1", []), "choices[0].logprobs.top_logprobs[1]", "an object belongs here"),
    (
        put("top_logprobs.1.token_id:-4", -4.0),
        "choices[0].logprobs.top_logprobs[1].token_id:-4",
        "beside tokens written as ids",
    ),
    (
        put("top_logprobs.0.token_id:2", "-1.0"),
        "choices[0].logprobs.top_logprobs[0].token_id:2",
        "cannot be the text '-1.0'",
    ),
    (
        put("top_logprobs.0.token_id:2", True),
        "choices[0].logprobs.top_logprobs[0].token_id:2",
        "cannot be true",
    ),
    (
        put("top_logprobs.0.token_id:2", [1]),
        "choices[0].logprobs.top_logprobs[0].token_id:2",
        "cannot be an array",
    ),
    (
        put("token_logprobs.0", -1.25),
        "choices[0].logprobs.token_logprobs[0]",
        "has the values -1.25 and -1.5",
    ),
]


@pytest.mark.parametrize(("change", "path", "said"), SHAPES)
def test_broken_shapes_name_their_path(change: Change, path: str, said: str) -> None:
    document = ids_answer()
    change(document)
    with pytest.raises(CaptureError) as caught:
        read(document)
    assert caught.value.place == f"answer.json, {path}"
    assert said in caught.value.message


def test_one_id_in_two_spellings_is_an_id_twice() -> None:
    document = ids_answer()
    put("top_logprobs.0.token_id:02", -2.5)(document)
    with pytest.raises(CaptureError, match="token id 2 is listed twice"):
        read(document)
    position = {"7": {"logprob": -1.0, "rank": 1}, "07": {"logprob": -2.0, "rank": 2}}
    with pytest.raises(CaptureError, match="written in two ways"):
        read([position])
    twice = [by_id(3, -1.0, [(3, -1.0), (4, -2.0), (4, -2.0)])]
    with pytest.raises(CaptureError, match="token id 4 is listed twice"):
        read(chat(twice))


def test_keys_twice_and_nan_are_refused_before_any_format() -> None:
    with pytest.raises(CaptureError, match="occurs twice"):
        parse('{"choices": [{"logprobs": {"top_logprobs": [{"a": -1, "a": -2}]}}]}', "a.json")
    with pytest.raises(CaptureError, match="NaN is not JSON"):
        parse(json.dumps({"logprob": math.nan}), "a.json")


@pytest.mark.parametrize("value", [0.3, -0.1])
def test_a_value_that_no_log_probability_has(value: float) -> None:
    """0.3 is above 0; -0.1 lifts the listed mass above 1. The other position is plain."""
    document = ids_answer()
    put("top_logprobs.0.token_id:2", value)(document)
    with pytest.raises(CaptureError, match="1 of 2 positions cannot be log-probabilities"):
        read(document)
    del logprobs(document)["top_logprobs"][1]
    for key in ("tokens", "token_logprobs"):
        del logprobs(document)[key][1]
    assert [row.kind for row in rows_of(document)] == [Kind.LOGITS]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("1e999", "1e999 is no finite log-probability"),
        ("-1e999", "-1e999 is below every float64"),
        ("1" + "0" * 400, "is no finite log-probability"),
    ],
)
def test_numbers_beyond_float64(written: str, said: str) -> None:
    document = ids_answer()
    put("top_logprobs.0.token_id:2", "HERE")(document)
    value = parse(json.dumps(document).replace('"HERE"', written), "answer.json")
    found = answer_format(value)
    assert found is not None
    with pytest.raises(CaptureError, match=said):
        found.read(value, "answer.json", ReadingSettings())


def test_a_mass_just_above_one_is_refused() -> None:
    half = math.log(0.5)
    document = chat([by_id(3, half, [(3, half), (4, half + 0.0008)])])
    with pytest.raises(RowError, match=r"a mass of 1\.0004"):
        read(document)
    with pytest.raises(RowError, match=r"mass of 1\.2"):
        read(plain_gemini([-0.5, -0.5]))


def plain_gemini(values: list[float]) -> dict[str, Any]:
    entries = [{"token": "x", "tokenId": i, "logProbability": x} for i, x in enumerate(values)]
    result = {"topCandidates": [{"candidates": entries}], "chosenCandidates": entries[:1]}
    return {"candidates": [{"logprobsResult": result}]}


ZEROS: list[tuple[Any, str]] = [
    (-9999.0, "-9999.0"),
    (SMALLEST, "-3.4028234663852886e+38"),
    (-1000.0, "-1000.0"),
    ("-inf", "-inf"),
    (-math.inf, "-inf"),
]


@pytest.mark.parametrize(("spelling", "told"), ZEROS)
def test_every_spelling_of_probability_zero(spelling: Any, told: str) -> None:
    """The field case of six encodings: (1/2, 1/2, 0), whatever the zero is written as."""
    half = math.log(0.5)
    top = {"token_id:0": half, "token_id:1": half, "token_id:2": spelling}
    document = completion([top], ["token_id:0"], [half])
    file = read(document, vocab_size=3)
    (row,) = file.rows()
    assert listed(row) == {0: half, 1: half}
    assert row.values is not None
    assert row.values.support == (0, 1)  # type: ignore[union-attr]
    assert (told, "probability 0, once") in file.shown
    assert bool(file.warnings) == (spelling == -1000.0)


def test_minus_100_is_kept_and_told() -> None:
    top = {"token_id:0": -0.5, "token_id:1": -1.5, "token_id:2": -100.0}
    file = read(completion([top], ["token_id:0"], [-0.5]))
    (row,) = file.rows()
    assert listed(row)[2] == -100.0
    assert any("kept as exp(-100)" in text for text in file.warnings)


def test_null_is_no_number() -> None:
    document = ids_answer()
    put("top_logprobs.0.token_id:2", None)(document)
    first, second = rows_of(document)
    assert (first.values, second.refused) == (None, "")
    assert "null" in first.refused


NOTHING: list[tuple[list[Any], str]] = [
    ([by_id(3, -9999.0, [])], "had no data"),
    ([by_id(3, -9999.0, [(3, -9999.0)])], "had no data"),
    ([by_id(3, 0.0, [])], "log-probability 0 and no alternatives"),
    ([by_id(3, 0.0)], "log-probability 0 and no alternatives"),
    ([by_id(3, -9999.0, [(3, -9999.0), (4, -0.5)])], "probability 0 in its own row"),
    ([by_id(3, None, [(3, None), (4, -0.5)])], "null"),
    ([by_text("a", -9999.0, [])], "had no data"),
    ([by_text("a", 0.0, [])], "log-probability 0 and no alternatives"),
    (
        [by_text("a", -1.0, [("a", -1.0), ("b", -2.0), ("b", -3.0)])],
        "two listed tokens have the same text",
    ),
]


@pytest.mark.parametrize(("content", "said"), NOTHING)
def test_positions_without_data_are_not_used(content: list[Any], said: str) -> None:
    with pytest.raises(CaptureError, match="no position can be used") as caught:
        read(chat(content))
    assert said in caught.value.message
    good = (
        by_id(3, -1.0, [(3, -1.0), (4, -2.0)])
        if content[0]["bytes"] is None
        else by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])
    )
    first, second = rows_of(chat([*copy.deepcopy(content), good]))
    assert (first.values, said in first.refused) == (None, True)
    assert second.values is not None


def test_a_huge_rank_or_id_is_read_or_refused_at_once() -> None:
    (row,) = rows_of([{"5": {"logprob": -1.0, "rank": 1}, "2": {"logprob": -2.0, "rank": 10**30}}])
    assert cap_of(row) is None
    with pytest.raises(CaptureError, match="larger than any vocabulary"):
        read([{str(2**31): {"logprob": -1.0, "rank": 1}}])
    with pytest.raises(CaptureError, match="larger than any vocabulary"):
        read(chat([by_id(2**31, -1.0, [])]))


def test_a_value_beside_a_zero_of_the_same_token() -> None:
    with pytest.raises(CaptureError, match="has the values -1 and -inf"):
        read(chat([by_id(3, -1.0, [(4, -0.5), (3, -9999.0)])]))


def test_ids_without_lists_beside_a_number() -> None:
    answer = completion(1, ["a"], [-1.0])  # type: ignore[arg-type]
    logprobs(answer)["token_ids"] = [3.0]
    with pytest.raises(CaptureError, match="an array belongs here") as caught:
        read(answer)
    assert caught.value.place == "answer.json, choices[0].logprobs.top_logprobs"


def test_an_empty_list_beside_a_value_lists_one_token() -> None:
    (row,) = rows_of(chat([by_id(3, -1.0, [])]))
    assert listed(row) == {3: -1.0}
    assert cap_of(row) is None


def test_keys_that_collapsed_are_fewer_than_asked_for() -> None:
    tops = [{" a": -1.0, " b": -2.0, " c": -3.0}, {" a": -1.0, " b": -2.5}]
    first, second = rows_of(completion(tops, [" a", " a"], [-1.0, -1.0]))
    assert not first.refused
    assert "2 keys where 3 tokens were asked for" in second.refused
    assert f"{math.exp(-1) + math.exp(-2.5):.6g}" in second.refused


def test_a_shorter_list_of_ids_bounds_nothing() -> None:
    document = ids_answer()
    drop("top_logprobs.1.token_id:9")(document)
    first, second = rows_of(document)
    assert (cap_of(first), cap_of(second)) == (-2.0, None)


def test_ids_outside_the_vocabulary() -> None:
    with pytest.raises(RowError, match="token 9 in a vocabulary of 8"):
        read(ids_answer(), vocab_size=8)
    with pytest.raises(RowError, match="2 tokens in a vocabulary of 1"):
        read(chat([by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])]), vocab_size=1)


FIELDS: list[tuple[Any, str]] = [
    ({"token_id": -1, "logprob": -1.0, "rank": 1}, "token id -1 is negative"),
    ({"token_id": 1.5, "logprob": -1.0, "rank": 1}, "a token id cannot be 1.5"),
    ({"token_id": "3", "logprob": -1.0, "rank": 1}, "a token id cannot be a text"),
    ({"token_id": 3, "logprob": -1.0, "rank": 0}, "this is no rank"),
    ({"token_id": 3, "logprob": -1.0, "rank": "1"}, "this is no rank"),
    ({"token_id": 3, "rank": 1}, "there is no logprob"),
]


@pytest.mark.parametrize(("entry", "said"), FIELDS)
def test_entries_of_the_generate_server(entry: Any, said: str) -> None:
    document = {"logprobs": {"content": [entry | {"top_logprobs": []}]}}
    with pytest.raises(CaptureError) as caught:
        read(document)
    assert said in caught.value.message
    assert caught.value.place.startswith("answer.json, logprobs.content[0]")


def test_ids_beside_other_ids() -> None:
    entry = {"token_id": 3, "logprob": -1.0, "rank": 1, "top_logprobs": []}
    document = {"token_ids": [4], "logprobs": {"content": [entry]}}
    with pytest.raises(CaptureError, match="where token_ids has 4"):
        read(document)
    with pytest.raises(CaptureError, match="packed arrays"):
        read({"logprobs": None, "compact_logprobs": {"num_positions": 1}})
    prompt = {"prompt_token_ids": [1, 9], "prompt_logprobs": [None, objects([-1.0, -0.5], 0, 2)]}
    with pytest.raises(CaptureError, match="token 9 stands here, and its own list lacks it"):
        read(prompt)
    prompt["prompt_token_ids"] = [1]
    with pytest.raises(CaptureError, match="2 elements for a prompt of 1 tokens"):
        read(prompt)
    with pytest.raises(CaptureError, match="is no token id"):
        read([objects([-1.0, -0.5], 0, 2) | {"x": {"logprob": -1.0, "rank": 3}}])


FLAT: list[tuple[str, Any, str]] = [
    ("start_indices", [0, 3, 8, 12, 16, 20], "the indices do not follow each other"),
    ("end_indices", [4, 8, 12, 16, 20, 25], "the indices do not follow each other"),
    ("end_indices", [4, 8, 12, 16, 20, 23], "1 entries belong to no position"),
    ("ranks", [1], "1 items beside the 24"),
    ("logprobs", [-1.0] * 24, "a mass of 1.47"),
]


@pytest.mark.parametrize(("key", "value", "said"), FLAT)
def test_flat_arrays_that_do_not_fit(key: str, value: Any, said: str) -> None:
    flat = plain("vllm/offline_flat_logprobs.json") | {key: value}
    with pytest.raises((CaptureError, RowError), match=said):
        read(flat, kind=Kind.LOGPROBS)


def test_flat_arrays_with_two_values_of_one_token() -> None:
    flat = plain("vllm/offline_flat_logprobs.json")
    flat["logprobs"][10] -= 1  # the sampled token of position 2, where it stands again
    with pytest.raises(CaptureError, match="token id 55 has several values"):
        read(flat)


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ({"kind": Kind.PROBABILITIES}, "--kind probabilities with a file of log-prob"),
        ({"numbers": NumberFormat.BFLOAT16}, "--numbers bfloat16"),
        ({"axes": "batch,position,vocab"}, "--axes"),
    ],
)
def test_options_that_contradict_the_format(reading: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read(ids_answer(), **reading)


def test_kind_as_told() -> None:
    assert [row.kind for row in rows_of(ids_answer(), kind=Kind.LOGITS)] == [Kind.LOGITS] * 2
    with pytest.raises(RowError, match="above 0"):
        read("vllm/completions_raw_logits_mode_top3.json", kind=Kind.LOGPROBS)
    with pytest.raises(SettingsError, match="--kind logits with a file of log-prob"):
        read(plain_gemini([-0.5, -2.0]), kind=Kind.LOGITS)


def test_files_without_positions() -> None:
    for document in (chat([]), completion([], [], []), {"prompt_logprobs": [None]}):
        with pytest.raises(SpecdistError) as caught:
            read(document)
        assert "log-probabilities" in caught.value.message
