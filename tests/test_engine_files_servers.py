"""Answers of small servers: mlx-lm, llama-cpp-python, LMDeploy, FastDeploy; and of none."""

from __future__ import annotations

from typing import Any

import pytest

from specdist.errors import CaptureError, NotACaptureError, SettingsError
from specdist.model.row import Kind, Stage
from tests.answer_files import (
    FACTS,
    by_text,
    cap_of,
    chat,
    content_of,
    listed,
    pair,
    plain,
    read,
    reader_of,
    rows_of,
)


def test_numbers_in_quotes_are_read_and_told() -> None:
    name = "llamacpp/llama_cpp_python_completion.json"
    file, facts = read(name), FACTS[name]
    assert (file.reader, file.stage, file.assumed) == ("llama-cpp-python", Stage.RAW, False)
    rows = list(file.rows())
    assert [len(listed(row)) for row in rows] == facts["entries"]
    own = [listed(row)[row.labels[row.token]] for row in rows]  # type: ignore[index]
    assert own == facts["token_logprobs"]
    logprobs = plain(name)["choices"][0]["logprobs"]
    assert [listed(row) for row in rows] == logprobs["top_logprobs"]
    document = plain(name)
    arrays = document["choices"][0]["logprobs"]
    arrays["token_logprobs"] = [str(x) for x in arrays["token_logprobs"]]
    arrays["top_logprobs"] = [
        {key: str(value) for key, value in top.items()} for top in arrays["top_logprobs"]
    ]
    quoted = read(document)
    assert [listed(row) for row in quoted.rows()] == [listed(row) for row in rows]
    assert any("17 numbers stand in quotes" in text for text in quoted.warnings)
    with pytest.raises(SettingsError, match="whatever the sampling"):
        read(name, stage=Stage.PROCESSED)


def test_fastdeploy_holds_both_sides() -> None:
    document = chat([by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])])
    draft = [by_text("b", -0.5, [("b", -0.5), ("c", -1.5)])]
    document["choices"][0]["draft_logprobs"] = {"content": draft}
    file = read(document)
    assert (file.reader, file.count) == ("fastdeploy", 1)
    assert file.draft is not None
    (row,) = file.draft.rows()
    assert listed(row) == {b"b": -0.5, b"c": -1.5}
    assert (row.token, file.draft.title) == (None, "chat answer of FastDeploy, draft")
    assert any("draft_logprobs" in text for text in file.warnings)
    document["choices"][0]["draft_logprobs"]["content"] = draft * 2
    with pytest.raises(CaptureError, match="1 positions of the target and 2 of the draft"):
        read(document)


def test_lmdeploy_leaves_the_sampled_token_out() -> None:
    file = read(chat([by_text("b", -1.5, [("a", -1.0), ("c", -2.0)])]))
    (row,) = file.rows()
    assert listed(row) == {b"a": -1.0, b"b": -1.5, b"c": -2.0}
    assert cap_of(row) == -2.0
    assert ("outside their list", "1 sampled tokens") in file.shown


def test_lmdeploy_lists_without_their_token_are_not_short() -> None:
    """Three were asked for; the sampled one, second of them, is missing from the first list."""
    first = by_text("b", -1.5, [("a", -1.0), ("c", -2.0)])
    second = by_text("a", -4.0, [("b", -1.0), ("c", -2.0), ("d", -3.0)])
    assert [cap_of(row) for row in rows_of(chat([first, second]))] == [-2.0, -3.0]
    third = by_text("b", -2.5, [("a", -1.0), ("c", -2.0)])
    assert [cap_of(row) for row in rows_of(chat([third, second]))] == [None, -3.0]


def test_lmdeploy_generate_has_one_value_a_position() -> None:
    document = {
        "text": "x",
        "output_ids": [5, 6],
        "meta_info": {"output_token_logprobs": [[-1.5, 5], [-0.5, 6]], "prompt_tokens": 3},
    }
    file = read(document)
    assert (file.reader, file.stage, file.assumed) == ("lmdeploy-generate", Stage.RAW, False)
    assert [(row.token, listed(row)) for row in file.rows()] == [(5, {5: -1.5}), (6, {6: -0.5})]
    document["meta_info"]["output_token_logprobs"] = [[3.5, 5], [2.5, 6]]  # type: ignore[index]
    assert [row.kind for row in read(document).rows()] == [Kind.LOGITS] * 2
    document["output_ids"] = [5, 7]
    with pytest.raises(CaptureError, match="token 6 is not the one of output_ids"):
        read(document)


def test_sglang_endpoints_are_known_by_their_matched_stop() -> None:
    file = read(chat([by_text("a", -1.0, [("a", -1.0), ("b", -2.0)])], matched_stop=None))
    assert (file.stage, file.assumed) == (Stage.TEMPERATURE, True)


def test_mlx_lists_are_sets_and_their_tokens_are_lost() -> None:
    name = "mlx/chat_top4.json"
    file, facts = read(name), FACTS[name]
    content = content_of(name)
    assert [item["id"] for item in content] == facts["headline_ids"]
    rows = list(file.rows())
    for row, item, law, best, ids in zip(
        rows, content, pair(3, 9), facts["argmax"], facts["listed"], strict=True
    ):
        values = listed(row)
        assert values == {x["id"]: x["logprob"] for x in item["top_logprobs"]}
        assert [x["id"] for x in item["top_logprobs"]] == ids
        assert max(values, key=lambda x: values[x]) == best == max(range(64), key=lambda x: law[x])
        assert row.token is None
        cap = cap_of(row)
        assert cap == min(values.values())
        assert cap is not None
        assert all(law[x] <= cap + 1e-6 for x in range(64) if x not in values)
    assert facts["sampled"] != facts["headline_ids"]
    assert any("sampled tokens are not in the file" in text for text in file.warnings)
    assert (file.stage, file.assumed) == (Stage.RAW, False)


def test_mlx_logprobs_alone_are_the_sampled_tokens() -> None:
    name = "mlx/chat_logprobs_only.json"
    rows = rows_of(name)
    assert [row.token for row in rows] == FACTS["mlx/chat_top4.json"]["sampled"]
    assert [listed(row) for row in rows] == [{x["id"]: x["logprob"]} for x in content_of(name)]
    assert [cap_of(row) for row in rows] == [None] * 6


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"},
            "Anthropic's service, which returns no log-probabilities",
        ),
        (
            {"object": "chat.completion.chunk", "choices": [{"delta": {}}]},
            "one piece of a streamed answer",
        ),
        (
            {"object": "chat.completion", "choices": [{"message": {}, "logprobs": None}]},
            "an answer without log-probabilities",
        ),
        ({"candidates": [{"content": {}}]}, "an answer of Gemini without log-probabilities"),
    ],
)
def test_answers_without_log_probabilities_say_so(document: Any, said: str) -> None:
    with pytest.raises(NotACaptureError, match=said):
        read(document)


def test_counts_of_a_speculative_run_are_no_answer_without_log_probabilities() -> None:
    counts = {"metrics": {"speculative_decoding": {}}}
    assert reader_of({"choices": [{"index": 0, "text": "x"}]} | counts) is None
