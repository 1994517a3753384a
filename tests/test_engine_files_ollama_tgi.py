"""Answers of Ollama and of text-generation-inference."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from specdist.model.row import Kind, Stage
from specdist.readers.engine_files.engine_file import EngineRow
from tests.listed_files import (
    cap,
    document,
    listed,
    of_lines,
    of_sample,
    of_value,
    partial,
    recognised,
    refuses,
    rows_of,
)

OLLAMA = "hosted/ollama_generate_logprobs.json"


def by_label(row: EngineRow) -> dict[Any, float]:
    assert row.labels is not None
    return {row.labels[i]: value for i, value in listed(row).items()}


# --- Ollama ------------------------------------------------------------------------------------


def test_ollama_lists_the_most_likely_tokens_and_the_sampled_one() -> None:
    file = of_sample(OLLAMA)
    rows = rows_of(file)
    entries = document(OLLAMA)["logprobs"]
    assert len(rows) == len(entries) == 6
    for row, entry in zip(rows, entries, strict=True):
        tops = {bytes(x["bytes"]): x["logprob"] for x in entry["top_logprobs"]}
        assert by_label(row) == {**tops, bytes(entry["bytes"]): entry["logprob"]}
        assert cap(row) == min(tops.values()), "the last of the most likely, sampled or not"
        assert row.labels is not None
        assert row.labels[row.token or 0] == bytes(entry["bytes"])
        assert (row.kind, row.stage, partial(row).open_ended) == (Kind.LOGPROBS, Stage.RAW, True)
    assert (file.reader, file.stage, file.assumed) == ("ollama", Stage.RAW, False)
    assert dict(file.shown)["model"] == "m"


def pieces() -> str:
    """The same answer as a stream: one line a token, the last one done."""
    value = document(OLLAMA)
    lines = [
        {"model": "m", "response": "x", "done": False, "logprobs": [entry]}
        for entry in value["logprobs"]
    ]
    lines.append({"model": "m", "response": "", "done": True, "eval_count": 6})
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_stream_is_one_text_until_it_is_done() -> None:
    once, twice = of_lines(pieces()), of_lines(pieces() * 2)
    whole = rows_of(of_sample(OLLAMA))
    assert [by_label(row) for row in rows_of(once)] == [by_label(row) for row in whole]
    assert [(row.sequence, row.index) for row in rows_of(twice)] == [
        (sequence, index) for sequence in (0, 1) for index in range(6)
    ]


def test_two_tokens_with_the_same_bytes_mark_their_position() -> None:
    value = document(OLLAMA)
    value["logprobs"][1]["top_logprobs"][1]["bytes"] = value["logprobs"][1]["top_logprobs"][0][
        "bytes"
    ]
    rows = rows_of(of_value(value))
    assert [bool(row.refused) for row in rows] == [False, True, False, False, False, False]


OLLAMA_CHANGES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "not bytes": (lambda v: v["logprobs"][0].update(bytes=[999]), ("0 to 255",)),
    "a text as number": (lambda v: v["logprobs"][0].update(logprob="x"), ("'x'",)),
    "above 0": (lambda v: v["logprobs"][0]["top_logprobs"][0].update(logprob=2.0), ()),
    "no positions": (lambda v: v.update(logprobs=[]), ("no positions",)),
}


@pytest.mark.parametrize("name", OLLAMA_CHANGES)
def test_ollama_answers_that_are_not_what_they_say(name: str) -> None:
    change, words = OLLAMA_CHANGES[name]
    value = document(OLLAMA)
    change(value)
    refuses(lambda: of_value(value), *words)


def test_what_is_no_answer_of_ollama() -> None:
    assert recognised({"logprobs": [], "response": "x"}) is None
    assert recognised({"logprobs": {}, "response": "x", "done": True}) is None
    assert (
        recognised({**document(OLLAMA), "response": None, "message": {"content": "x"}}) == "ollama"
    )


# --- text-generation-inference -------------------------------------------------------------------


def token(number: int, value: float | None) -> dict[str, Any]:
    return {"id": number, "text": f"t{number}", "logprob": value, "special": False}


def tgi() -> dict[str, Any]:
    half, fifth = math.log(0.5), math.log(0.2)
    return {
        "generated_text": "ab",
        "details": {
            "finish_reason": "length",
            "generated_tokens": 3,
            "prefill": [token(1, None), token(5, -2.5)],
            "tokens": [token(7, half), token(9, fifth), token(2, -4.0)],
            "top_tokens": [
                [token(7, half), token(8, half), token(3, None)],
                [token(4, math.log(0.6)), token(9, fifth), token(2, fifth)],
                [token(4, half), token(6, fifth)],
            ],
        },
    }


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x]])
def test_tgi_lists_the_processed_law(wrap: Callable[[Any], Any]) -> None:
    file = of_value(wrap(tgi()))
    rows = rows_of(file)
    assert (file.reader, file.stage, file.assumed) == ("tgi", Stage.PROCESSED, False)
    assert [(row.index, row.token, row.stage) for row in rows] == [
        (1, 5, Stage.RAW),
        (2, 7, Stage.PROCESSED),
        (3, 9, Stage.PROCESSED),
        (4, 2, Stage.PROCESSED),
    ]
    assert file.tokens == {0: (1, 5, 7, 9, 2)}
    assert (listed(rows[0]), cap(rows[0])) == ({5: -2.5}, None)


def test_tgi_s_null_is_a_probability_of_0_and_ends_the_list() -> None:
    row = rows_of(of_value(tgi()))[1]
    assert (sorted(listed(row)), partial(row).others) == ([7, 8], 0)


def test_tgi_s_ties_are_one_more_entry_and_the_same_cap() -> None:
    rows = rows_of(of_value(tgi()))
    assert (len(listed(rows[2])), cap(rows[2])) == (3, math.log(0.2))
    assert (sorted(listed(rows[3])), cap(rows[3])) == ([2, 4, 6], math.log(0.2))


TGI_CHANGES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "an id twice": (
        lambda d: d["top_tokens"][1].__setitem__(2, token(4, -2.0)), ("4 is listed twice",)
    ),
    "a negative id": (lambda d: d["top_tokens"][1][0].update(id=-4), ("negative",)),
    "a list short": (lambda d: d["top_tokens"].pop(), ("2 items beside the 3",)),
    "two values": (lambda d: d["tokens"][1].update(logprob=-1.0), ("9",)),
    "mass": (
        lambda d: [x.update(logprob=-0.75) for x in d["top_tokens"][1]] and d["tokens"].__setitem__(
            1, token(9, -0.75)), ("a mass of 1.4",)
    ),
    "nothing": (lambda d: d.update(tokens=[], top_tokens=[], prefill=[]), ("no positions",)),
}  # fmt: skip


@pytest.mark.parametrize("name", TGI_CHANGES)
def test_tgi_answers_that_are_not_what_they_say(name: str) -> None:
    change, words = TGI_CHANGES[name]
    value = tgi()
    change(value["details"])
    refuses(lambda: of_value(value), *words)
