"""Stages, supports and texts of vLLM's files: what was filtered, and where a row stands."""

from __future__ import annotations

import math
from typing import Any

import pytest

from specdist.errors import CaptureError, RowError, SettingsError
from specdist.model.row import ListedValues, Stage
from tests.answer_files import (
    by_id,
    by_text,
    cap_of,
    chat,
    completion,
    law_of,
    objects,
    read,
    rows_of,
)


def mask_choice(entries: list[tuple[int, float]], mask: list[int], rank: int) -> dict[str, Any]:
    tops = [{"token_id": x, "logprob": value, "rank": None} for x, value in entries]
    own = {"token_id": entries[0][0], "logprob": entries[0][1], "rank": rank}
    content = [own | {"top_logprobs": tops}]
    return {"token_ids": [entries[0][0]], "sampling_mask": [mask], "logprobs": {"content": content}}


def test_a_list_shorter_than_the_mask_keeps_support_and_cap() -> None:
    (row,) = rows_of(mask_choice([(5, -1.0), (7, -1.25)], [1, 5, 7, 9], rank=1))
    assert isinstance(row.values, ListedValues)
    assert row.values.support == (1, 5, 7, 9)
    assert (row.values.others, cap_of(row)) == (2, -1.25)
    (row,) = rows_of(mask_choice([(5, -1.0), (7, -1.25)], [1, 5, 7, 9], rank=2) | {})
    assert cap_of(row) is None  # rank 2 with nothing likelier listed: no list of the likeliest


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ([1, 7], "was sampled, and the mask lacks it"),
        ([5, 5, 7], "stands in the mask twice"),
        ([5, 9], "outside the sampling mask"),
    ],
)
def test_masks_that_contradict(mask: list[int], said: str) -> None:
    with pytest.raises((CaptureError, RowError), match=said):
        read(mask_choice([(5, -1.0), (7, -1.25)], mask, rank=1))


def test_a_complete_support_must_have_all_mass() -> None:
    with pytest.raises(RowError, match="only possible tokens have a mass"):
        read(mask_choice([(5, -1.0), (7, -1.25)], [5, 7], rank=1))


def test_a_processed_law_ends_at_its_first_zero() -> None:
    half = math.log(0.5)
    content = [
        by_id(2, half, [(2, half), (4, half), (0, -9999.0)]),
        by_id(1, half, [(1, half), (3, half), (0, -9999.0)]),
    ]
    file = read(chat(content), vocab_size=7)
    rows = list(file.rows())
    assert (file.stage, file.assumed) == (Stage.PROCESSED, True)
    assert ("-9999.0", "probability 0, 2 times") in file.shown
    assert "filter was applied" in file.stage_evidence
    for row, support in zip(rows, [(2, 4), (1, 3)], strict=True):
        assert isinstance(row.values, ListedValues)
        assert (row.values.support, row.values.others, row.values.cap) == (support, 0, None)
        assert row.stage is Stage.PROCESSED
    assert read(chat(content), stage=Stage.PROCESSED).assumed is False


def test_the_same_tokens_banned_in_every_complete_row_say_nothing_of_filters() -> None:
    third = math.log(1 / 3)
    top = {"token_id:0": third, "token_id:1": third, "token_id:2": third, "token_id:3": -9999.0}
    answer = completion([top, top], ["token_id:0", "token_id:1"], [third, third])
    assert read(answer, vocab_size=4).stage is Stage.RAW
    assert read(answer).stage is Stage.PROCESSED
    other = {"token_id:0": third, "token_id:1": third, "token_id:3": third, "token_id:2": -9999.0}
    answer = completion([top, other], ["token_id:0", "token_id:1"], [third, third])
    assert read(answer, vocab_size=4).stage is Stage.PROCESSED


def test_lists_with_all_mass_are_taken_for_processed() -> None:
    half = math.log(0.5)
    answer = chat([by_id(2, half, [(2, half), (4, half)])])
    file = read(answer)
    assert (file.stage, file.assumed) == (Stage.PROCESSED, True)
    assert read(answer, stage=Stage.RAW).stage is Stage.RAW


def test_prompt_and_answer_in_one_file() -> None:
    """Rows of the prompt are raw in every mode; the index goes on where the prompt ends."""
    law = law_of(4, 3, 2, 1)
    top = {f"token_id:{x}": law[x] for x in (3, 0, 1)}
    answer = completion([top], ["token_id:3"], [law[3]])
    body = answer["choices"][0]
    body["prompt_logprobs"] = [None, objects(law, 1, 2)]
    rows = rows_of(answer, stage=Stage.PROCESSED)
    assert [(row.index, row.stage) for row in rows] == [(1, Stage.RAW), (2, Stage.PROCESSED)]
    body["prompt_token_ids"] = [7, 1]
    assert read(answer).tokens == {0: (7, 1, 3)}
    body["logprobs"] = {"tokens": [" d"], "token_logprobs": [law[3]], "top_logprobs": None}
    file = read(answer)
    assert [row.index for row in file.rows()] == [1]
    assert any("left out" in text for text in file.warnings)
    with pytest.raises(SettingsError, match="prompt log-probabilities are raw"):
        read(answer, stage=Stage.PROCESSED)


def test_echoed_prompts_begin_with_a_token_without_a_row() -> None:
    law = law_of(4, 3, 2, 1)
    top = {f"token_id:{x}": law[x] for x in (1, 0)}
    tokens = ["token_id:9", "token_id:1", "token_id:1"]
    answer = completion([None, top, top], tokens, [None, law[1], law[1]])
    answer["usage"] = {"prompt_tokens": 2}
    file = read(answer, stage=Stage.PROCESSED)
    assert file.tokens == {0: (9, 1, 1)}
    assert [(row.index, row.stage) for row in file.rows()] == [
        (1, Stage.RAW), (2, Stage.PROCESSED)
    ]  # fmt: skip


def test_texts_of_vllm_chat_answers_are_labels() -> None:
    content = [by_text(" b", -2.0, [(" b", -2.0), (" a", -0.5)])]
    answer = chat(content, stop_reason=None, token_ids=None)
    answer |= {"prompt_logprobs": None, "kv_transfer_params": None}
    (row,) = rows_of(answer)
    assert (row.labels, row.token) == ((b" b", b" a"), 0)
    assert cap_of(row) == -0.5
    # The same lists without vLLM's fields: the same bound, for the order is not said.
    (row,) = rows_of(chat(content))
    assert cap_of(row) == -0.5


def test_several_choices_are_several_sequences() -> None:
    content = [by_id(2, -1.0, [(2, -1.0), (4, -2.0)])]
    answer = chat(content)
    answer["choices"] *= 2
    rows = rows_of(answer)
    assert [(row.sequence, row.index) for row in rows] == [(0, 0), (1, 0)]
    assert [row.place for row in rows] == [
        f"answer.json, choices[{i}].logprobs.content[0]" for i in (0, 1)
    ]
