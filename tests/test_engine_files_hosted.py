"""Answers of hosted services: labels, sentinels, padding, numbers that are left out."""

from __future__ import annotations

import math
from typing import Any

import pytest

from specdist.errors import CaptureError
from specdist.model.row import ListedValues, Stage
from tests.answer_files import (
    FACTS,
    by_text,
    cap_of,
    chat,
    completion,
    content_of,
    listed,
    pair,
    plain,
    read,
    rows_of,
)

LAST = (52, -3.278292655944824)
"""The sampled token of position 4, which is outside its list."""


def token_of(label: Any) -> int:
    """The id that the samples' texts stand for: ``' t41'``."""
    text = label.decode() if isinstance(label, bytes) else label
    return int(text.removeprefix(" t"))


def mass(values: dict[Any, float]) -> float:
    return math.fsum(map(math.exp, values.values()))


def test_openai_chat_lists_are_bounded_over_an_open_vocabulary() -> None:
    name = "hosted/openai_chat_top5.json"
    file, facts = read(name), FACTS[name]
    assert (file.reader, file.vocab_size, file.stage) == ("openai-chat", None, Stage.RAW)
    assert file.assumed
    assert "draft" in file.concludes
    for row, law, item, total in zip(
        file.rows(), pair(3, 9), content_of(name), facts["listed_mass"], strict=True
    ):
        assert isinstance(row.values, ListedValues)
        assert (row.values.open_ended, row.values.others) == (True, None)
        tops = {x["token"]: x["logprob"] for x in item["top_logprobs"]}
        assert math.fsum(map(math.exp, tops.values())) == pytest.approx(total, abs=1e-12)
        values = {token_of(label): value for label, value in listed(row).items()}
        expected = {token_of(text): value for text, value in tops.items()}
        assert values == expected | {token_of(item["token"]): item["logprob"]}
        assert row.labels is not None
        assert row.token is not None
        assert row.labels[row.token] == bytes(item["bytes"])
        cap = cap_of(row)
        assert cap is not None
        assert cap == min(
            value for x, value in values.items() if x != token_of(item["token"])
        ) or cap == min(values.values())
        assert all(law[x] <= cap + 1e-6 for x in range(64) if x not in values)
    closed = rows_of(name, vocab_size=64)
    counts = [row.values.others for row in closed if isinstance(row.values, ListedValues)]
    assert counts == [59, 59, 59, 59, 58, 59]


def test_minus_9999_is_a_token_outside_the_list_and_no_zero() -> None:
    name = "hosted/openai_chat_sentinel.json"
    file, facts = read(name), FACTS[name]
    assert facts["sentinels"] == 1
    assert ("-9999.0", "outside the list, value unknown, once") in file.shown
    row = list(file.rows())[4]
    assert not row.refused
    assert row.labels is not None
    assert row.token is not None
    assert token_of(row.labels[row.token]) == LAST[0]
    values = {token_of(label): value for label, value in listed(row).items()}
    assert LAST[0] not in values
    assert len(values) == 5
    cap = cap_of(row)
    assert cap == min(values.values())
    assert LAST[1] <= cap  # what the other sample says of the same position
    assert isinstance(row.values, ListedValues)
    assert row.values.support is None


def test_completions_by_text_take_the_sampled_token_from_beside_the_list() -> None:
    name = "hosted/openai_completions_top3.json"
    file = read(name)
    logprobs = plain(name)["choices"][0]["logprobs"]
    assert file.reader == "openai-completions"
    for row, top, token, value, law in zip(
        file.rows(),
        logprobs["top_logprobs"],
        logprobs["tokens"],
        logprobs["token_logprobs"],
        pair(3, 9),
        strict=True,
    ):
        assert listed(row) == top | {token: value}
        assert row.labels is not None
        assert row.token is not None
        assert row.labels[row.token] == token
        assert cap_of(row) is None
        assert mass(listed(row)) < 1
        assert all(abs(law[token_of(x)] - found) < 2e-6 for x, found in listed(row).items())


def test_two_values_of_one_text_are_two_tokens() -> None:
    answer = completion([{" a": -1.0, " b": -2.0}], [" b"], [-2.5])
    with pytest.raises(CaptureError, match="stands for two tokens"):
        read(answer)


def test_fireworks_reads_the_raw_law_and_says_so() -> None:
    name = "hosted/fireworks_new_logprobs.json"
    file = read(name)
    assert (file.reader, file.stage, file.assumed) == ("fireworks-chat", Stage.RAW, False)
    told = dict(file.shown)["sampling_logprob"]
    assert told.startswith("at 6 positions, other than logprob at 6")
    for row, law, item in zip(file.rows(), pair(3, 9), content_of(name), strict=True):
        values = listed(row)
        tops = {x["token_id"]: x["logprob"] for x in item["top_logprobs"]}
        assert values == tops | {item["token_id"]: item["logprob"]}
        assert row.token == item["token_id"]
        assert item["sampling_logprob"] not in values.values()
        assert all(abs(law[x] - value) < 2e-6 for x, value in values.items())
        cap = cap_of(row)
        assert cap is not None
        assert all(law[x] <= cap + 1e-6 for x in range(64) if x not in values)


def test_fireworks_padding_is_left_out() -> None:
    pad = {"token": "", "logprob": -99999.0, "token_id": 0}
    tops = [{"token": "a", "logprob": -0.5, "token_id": 4}, pad, pad]
    own = {"token": "a", "logprob": -0.5, "token_id": 4, "top_logprobs": tops}
    file = read(chat([own]))
    (row,) = file.rows()
    assert listed(row) == {4: -0.5}
    assert ("padding entries", "2 of token 0 with -99999.0, left out") in file.shown


def test_together_writes_ids_as_floats() -> None:
    answer = completion(
        [{" a": -1.0, " b": -2.0}, {" b": -0.5, " c": -1.5}], [" a", " b"], [-1.0, -0.5]
    )
    logprobs = answer["choices"][0]["logprobs"]
    logprobs["token_ids"] = [128.0, 7.0]
    file = read(answer)
    assert file.reader == "together"
    assert [listed(row) for row in file.rows()] == logprobs["top_logprobs"]
    logprobs["top_logprobs"] = None
    rows = rows_of(answer)
    assert [(row.token, listed(row)) for row in rows] == [(128, {128: -1.0}), (7, {7: -0.5})]
    assert [cap_of(row) for row in rows] == [None, None]
    logprobs["token_ids"] = [128.5, 7]
    with pytest.raises(CaptureError, match=r"token_ids\[0\]: a token id cannot be 128\.5"):
        read(answer)
    logprobs["token_ids"] = [128.0]
    with pytest.raises(CaptureError, match="1 items beside the 2"):
        read(answer)


def gemini(camel: bool, **change: Any) -> dict[str, Any]:
    """Two positions; the first chosen token is outside its list."""
    names = ("token", "tokenId", "logProbability") if camel else (
        "token", "token_id", "log_probability"
    )  # fmt: skip

    def item(*values: Any) -> dict[str, Any]:
        return {k: v for k, v in zip(names, values, strict=True) if v is not None}

    lists = [[item("a", 1, -0.5), item("b", 2, -1.5)], [item("c", 3, -0.25), item("a", 1, -2.5)]]
    chosen = [item("d", 4, -3.0), item("a", 1, change.get("second", -2.5))]
    top, picked, result = (
        ("topCandidates", "chosenCandidates", "logprobsResult")
        if camel
        else ("top_candidates", "chosen_candidates", "logprobs_result")
    )
    tops = [{"candidates": found} for found in lists]
    return {"candidates": [{"content": {}, result: {top: tops, picked: chosen}}]}


@pytest.mark.parametrize("camel", [True, False])
def test_gemini_chooses_outside_its_list(camel: bool) -> None:
    file = read(gemini(camel))
    assert file.reader == "gemini"
    first, second = file.rows()
    assert listed(first) == {1: -0.5, 2: -1.5, 4: -3.0}
    assert (first.token, cap_of(first)) == (4, -1.5)
    assert listed(second) == {1: -2.5, 3: -0.25}
    assert (second.token, cap_of(second)) == (1, -0.25)


def test_gemini_numbers_that_are_left_out_are_not_read_as_zero() -> None:
    file = read(gemini(True, second=None))
    first, second = file.rows()
    assert first.values is not None
    assert second.values is None
    assert "may stand for 0" in second.refused


def test_gemini_without_ids_is_read_by_text() -> None:
    document = gemini(True)
    result = document["candidates"][0]["logprobsResult"]
    for item in [
        *result["chosenCandidates"],
        *(x for y in result["topCandidates"] for x in y["candidates"]),
    ]:
        del item["tokenId"]
    first, _ = rows_of(document)
    assert (first.labels, first.token) == (("a", "b", "d"), 2)


def test_responses_hold_lists_in_their_parts() -> None:
    part = {
        "type": "output_text",
        "text": "x",
        "logprobs": [by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])],
    }
    document = {
        "object": "response", "temperature": 0.7, "top_p": 1.0, "top_logprobs": 2,
        "output": [{"type": "reasoning"}, {"type": "message", "content": [part, part]}],
    }  # fmt: skip
    file = read(document)
    assert file.reader == "openai-responses"
    assert dict(file.settings) == {"temperature": "0.7", "top_p": "1.0"}
    assert ("alternatives asked for", "2") in file.shown
    assert [(row.sequence, row.index) for row in file.rows()] == [(0, 0), (1, 0)]
    part["logprobs"] = []
    with pytest.raises(CaptureError, match="are empty"):
        read(document)


def test_undecoded_bytes_stand_for_no_token() -> None:
    """U+FFFD is what any byte becomes: two such entries may be two tokens of one model, or of
    two. They count as unlisted, and lift the cap to their own value."""
    content = [by_text("a", -1.0, [("\ufffd", -0.75), ("a", -1.0), ("\ufffd", -2.0), ("b", -2.5)])]
    file = read(chat(content))
    (row,) = file.rows()
    assert listed(row) == {b"a": -1.0, b"b": -2.5}
    assert cap_of(row) == -0.75
    assert any("2 entries show U+FFFD" in text for text in file.warnings)
    content = [by_text("\ufffd", -0.75, [("\ufffd", -0.75), ("a", -1.0)])]
    (row,) = rows_of(chat(content))
    assert (row.labels, row.token) == ((b"a",), None)
    twice = [by_text("\ufffd", -2.0, [("\ufffd", -0.75), ("a", -1.0), ("\ufffd", -2.0)])]
    with pytest.raises(CaptureError, match="no position can be used"):
        read(chat(twice))


def test_shorter_lists_bound_nothing() -> None:
    """OpenAI may return fewer tokens than asked for, and does not say which are missing."""
    full = by_text("a", -1.0, [("a", -1.0), ("b", -2.0), ("c", -3.0)])
    short = by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])
    file = read(chat([full, short]))
    assert [cap_of(row) for row in file.rows()] == [-3.0, None]
    assert any("shorter than the 3 tokens" in text for text in file.warnings)


def test_lists_in_no_order_bound_nothing() -> None:
    file = read(chat([by_text("a", -1.0, [("c", -3.0), ("a", -1.0), ("b", -2.0)])]))
    assert [cap_of(row) for row in file.rows()] == [None]
    assert any("no falling order" in text for text in file.warnings)


def test_labels_are_bytes_or_the_text_where_there_are_none() -> None:
    """Special tokens have no bytes; an entry with neither stands for no token."""
    special = {"token": "<|eot|>", "bytes": [], "logprob": -2.0}
    unknown = {"token": "", "bytes": [], "logprob": -3.0}
    null = {"token": "<|pad|>", "bytes": None, "logprob": -4.0}
    item = by_text("a", -1.0, [("a", -1.0)])
    item["top_logprobs"] += [special, unknown, null]
    (row,) = rows_of(chat([item]))
    assert row.labels == (b"a", "<|eot|>", "<|pad|>")
    assert (cap_of(row), list(listed(row).values())) == (-3.0, [-1.0, -2.0, -4.0])


def test_last_bits_of_two_kernels_are_one_value() -> None:
    near = -1.0 - 2.0**-20
    (row,) = rows_of(chat([by_text("a", near, [("a", -1.0), ("b", -2.0)])]))
    assert isinstance(row.values, ListedValues)
    assert row.values.half_width == 2**-20
    assert row.values.cap == -2 + row.values.half_width
    with pytest.raises(CaptureError, match=r"has the values -1\.01 and -1"):
        read(chat([by_text("a", -1.01, [("a", -1.0), ("b", -2.0)])]))


def test_predicted_outputs_are_no_drafts() -> None:
    answer = chat([by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])])
    answer["usage"] = {"completion_tokens_details": {"accepted_prediction_tokens": 3}}
    assert any("no draft model's tokens" in text for text in read(answer).warnings)
