"""Answers and objects of vLLM: the facts of the samples, a second route to every value, caps."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, RowError, SettingsError
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, Stage
from tests.answer_files import (
    FACTS,
    FIELD,
    by_id,
    by_text,
    cap_of,
    chat,
    completion,
    listed,
    objects,
    plain,
    read,
    reader_of,
    rows_of,
)

FIRST = 3
"""The samples hold the target's rows 3 to 8 of the pair."""
SAMPLED = [41, 16, 55, 9, 52, 56]


def pair(side: str = "target") -> list[list[float]]:
    """Log-probabilities of the pair's rows, float64 from the float32 logits."""
    logits = np.load(FIELD / "hf" / "pair_target_draft.npz")[f"{side}_logits"].astype(float)
    return [[x - math.log(math.fsum(map(math.exp, row))) for x in row] for row in logits.tolist()]


def truth() -> list[list[float]]:
    return pair()[FIRST : FIRST + 6]


def choice(name: str) -> dict[str, Any]:
    found: dict[str, Any] = plain(name)["choices"][0]
    return found


def id_of(text: str) -> int:
    return int(text.removeprefix("token_id:"))


def test_complete_completions_are_the_softmax_of_the_rows() -> None:
    name = "vllm/completions_full_token_ids.json"
    file = read(name)
    facts = FACTS[name]
    assert (file.reader, file.count, file.vocab_size) == ("vllm-completions", 6, 64)
    assert ("alternatives asked for", "64") in file.shown
    tops = choice(name)["logprobs"]["top_logprobs"]
    for row, law, top, entries, total in zip(
        file.rows(), truth(), tops, facts["entries"], facts["sum_of_probs"], strict=True
    ):
        assert isinstance(row.values, FloatValues)
        values = listed(row)
        assert len(values) == entries == 64
        assert values == {id_of(key): value for key, value in top.items()}
        assert math.fsum(map(math.exp, values.values())) == pytest.approx(total, abs=1e-12)
        assert all(abs(values[x] - law[x]) < 2e-6 for x in range(64))
        assert (row.kind, row.stage, row.numbers) == (
            Kind.LOGPROBS,
            Stage.RAW,
            NumberFormat.FLOAT32,
        )
    assert [row.token for row in file.rows()] == SAMPLED
    assert file.assumed
    assert "raw_logprobs" in file.stage_evidence
    assert file.concludes.startswith("exact statements")
    assert any("before 2026" in text for text in file.warnings)


def test_prompt_logprobs_are_forward_rows_shifted_by_one() -> None:
    name = "vllm/prompt_logprobs_full.json"
    file = read(name)
    facts, document = FACTS[name], plain(name)
    rows = list(file.rows())
    assert [row.index for row in rows] == list(range(1, facts["positions"]))
    assert file.tokens == {0: tuple(document["prompt_token_ids"])}
    assert (file.stage, file.assumed) == (Stage.RAW, False)
    every = zip(rows, facts["entries"][1:], facts["sum"][1:], pair()[:9], strict=True)
    for row, entries, total, law in every:
        values = listed(row)
        assert len(values) == entries
        assert math.fsum(map(math.exp, values.values())) == pytest.approx(total, abs=1e-12)
        raw = document["prompt_logprobs"][row.index]
        assert values == {int(key): item["logprob"] for key, item in raw.items()}
        assert all(abs(values[x] - law[x]) < 2e-6 for x in range(64))
        assert row.token == document["prompt_token_ids"][row.index] == int(next(iter(raw)))
    assert document["prompt_logprobs"][0] is None


def test_top3_completions_keep_the_sampled_token_beside_the_likeliest() -> None:
    name = "vllm/completions_top3_token_ids.json"
    file, facts = read(name), FACTS[name]
    rows = list(file.rows())
    assert [len(listed(row)) for row in rows] == facts["entries"]
    assert [f"token_id:{row.token}" for row in rows] == facts["first_keys"]
    # "k+1 entries iff the sampled token is outside the top k"
    assert ("alternatives asked for", "3") in file.shown
    for row, law, top in zip(rows, truth(), choice(name)["logprobs"]["top_logprobs"], strict=True):
        values = listed(row)
        assert values == {id_of(key): value for key, value in top.items()}
        others = [value for token, value in values.items() if token != row.token]
        exact = min(values.values()) if len(values) == 3 else min(others)
        assert cap_of(row) == exact
        assert all(law[x] <= exact + 1e-6 for x in range(64) if x not in values)
    # The last position lists three tokens with the sampled one last: known to be the top three.
    assert cap_of(rows[5]) == listed(rows[5])[56] == min(listed(rows[5]).values())


def test_chat_caps_hold_where_the_naive_bound_is_wrong() -> None:
    name = "vllm/chat_top3_token_ids.json"
    file, facts = read(name), FACTS[name]
    rows, wrong = list(file.rows()), 0
    assert file.reader == "vllm-chat"
    assert [len(listed(row)) for row in rows] == facts["entries"]
    assert [f"token_id:{row.token}" for row in rows] == facts["sampled"]
    for row, law, top, best in zip(rows, truth(), facts["tops"], facts["true_top3"], strict=True):
        values = listed(row)
        assert set(values) == {id_of(text) for text in top}
        assert sorted(range(64), key=lambda x: -law[x])[:3] == best
        unlisted = [law[x] for x in range(64) if x not in values]
        naive, cap = min(values.values()), cap_of(row)
        assert cap is not None
        wrong += any(value > naive + 1e-6 for value in unlisted)
        assert all(value <= cap + 1e-6 for value in unlisted)
        others = [value for token, value in values.items() if token != row.token]
        assert cap == (naive if naive < values[row.token] else min(others))
        assert isinstance(row.values, ListedValues)
        assert row.values.open_ended
        assert 0 < row.values.slack < Fraction(1, 2**15)
    assert wrong == 4


def test_a_logits_mode_shows_in_values_above_zero() -> None:
    name = "vllm/completions_raw_logits_mode_top3.json"
    file = read(name)
    rows = list(file.rows())
    largest = max(max(listed(row).values()) for row in rows)
    assert largest == FACTS[name]["max_value"]
    assert "4.51182 are no log-probabilities" in file.kind_evidence
    logits = np.load(FIELD / "hf" / "pair_target_draft.npz")["target_logits"]
    for row, dense in zip(rows, logits[FIRST : FIRST + 6], strict=True):
        assert row.kind is Kind.LOGITS
        values = listed(row)
        assert all(dense[x] == np.float32(value) for x, value in values.items())
        cap = cap_of(row)
        assert cap is not None
        assert all(dense[x] <= np.float32(cap) for x in range(64) if x not in values)
        assert isinstance(row.values, ListedValues)
        assert row.values.slack == 0
    assert file.concludes.startswith("quotients of listed tokens")


def test_text_keys_that_collide_are_refused_with_the_mass_that_is_left() -> None:
    name = "vllm/completions_full_text_keys_collide.json"
    facts = FACTS[name]
    logprobs = choice(name)["logprobs"]
    everything = zip(
        logprobs["top_logprobs"], logprobs["tokens"], logprobs["token_logprobs"], strict=True
    )
    for (top, token, value), entries, total in zip(
        everything, facts["entries"], facts["sum_of_probs"], strict=True
    ):
        assert math.fsum(map(math.exp, top.values())) == pytest.approx(total, abs=1e-12)
        answer = completion([top], [token], [value])
        answer["choices"][0] |= {"stop_reason": None, "prompt_token_ids": None}
        assert reader_of(answer) == "vllm-completions-text"
        with pytest.raises(CaptureError) as caught:
            read(answer)
        assert f"{entries} keys hold a mass of {total:.6g}; {1 - total:.6g}" in str(caught.value)
        assert "return_tokens_as_token_ids" in caught.value.advice
    with pytest.raises(CaptureError, match=r"listed mass 0\.810965 to 0\.987768"):
        read(name)


def test_text_keys_without_a_proven_collision_bound_nothing_but_the_mass() -> None:
    tops = [{" a": -1.0, " b": -2.0}, {" c": -0.5, " d": -1.5, " a": -3.0}]
    answer = completion(tops, [" a", " a"], [-1.0, -3.0])
    answer["choices"][0] |= {"stop_reason": None, "token_ids": None, "prompt_logprobs": None}
    file = read(answer, vocab_size=5)
    first, second = file.rows()
    assert file.reader == "vllm-completions-text"
    assert (first.labels, second.labels) == ((" a", " b"), (" c", " d", " a"))
    assert (first.token, second.token) == (0, 2)
    for row, others in ((first, 3), (second, 2)):
        assert isinstance(row.values, ListedValues)
        assert (row.values.cap, row.values.others) == (None, others)
    assert any("text alone" in text for text in file.warnings)


def test_a_sampling_mask_makes_the_processed_law_complete() -> None:
    name = "vllm/generate_choice_sampling_mask.json"
    file, facts, document = read(name), FACTS[name], plain(name)
    assert (file.stage, file.assumed) == (Stage.PROCESSED, False)
    assert ("positions with their whole support listed", "6") in file.shown
    rows = list(file.rows())
    every = zip(rows, document["sampling_mask"], facts["support"], truth(), strict=True)
    for row, mask, count, law in every:
        assert isinstance(row.values, ListedValues)
        assert row.values.support == tuple(mask)
        assert (len(mask), row.values.others) == (count, 0)
        # The five likeliest tokens at temperature 7/10.
        total = math.fsum(math.exp(law[x] / 0.7) for x in mask)
        assert sorted(sorted(range(64), key=lambda x: -law[x])[:5]) == mask
        for x, value in listed(row).items():
            assert value == pytest.approx(law[x] / 0.7 - math.log(total), abs=2e-6)
    assert [row.token for row in rows] == document["token_ids"]
    assert facts["complete"] is True
    assert file.concludes == "exact statements: every possible token is listed " + (
        "(of the processed law)"
    )
    with pytest.raises(SettingsError, match="sampling_mask exists"):
        read(name, stage=Stage.RAW)


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


def test_flat_logprobs_count_the_sampled_token_once() -> None:
    name = "vllm/offline_flat_logprobs.json"
    file, facts, flat = read(name), FACTS[name], plain(name)
    rows = list(file.rows())
    assert (file.count, len(flat["token_ids"])) == (facts["positions"], facts["total"])
    assert ("positions that list their token twice", "2") in file.shown
    assert [row.token for row in rows] == SAMPLED
    for row, law, start in zip(rows, truth(), flat["start_indices"], strict=True):
        values = listed(row)
        assert set(values) == set(flat["token_ids"][start : start + 4])
        own, rank = flat["logprobs"][start], flat["ranks"][start]
        others = [value for token, value in values.items() if token != row.token]
        cap = cap_of(row)
        assert cap == (min(own, *others) if rank <= len(values) else min(others))
        assert cap is not None
        assert all(law[x] <= cap + 1e-6 for x in range(64) if x not in values)
        assert values[SAMPLED[row.index]] == own


def law_of(*weights: int) -> list[float]:
    return [math.log(x / sum(weights)) for x in weights]


def test_offline_objects_in_every_shape_they_are_dumped_in() -> None:
    laws = [law_of(4, 3, 2, 1), law_of(1, 1, 5, 2), law_of(2, 6, 1, 3)]
    bare = [objects(law, token, 2) for law, token in zip(laws, (3, 2, 0), strict=True)]
    output = {"index": 0, "token_ids": [3, 2, 0], "logprobs": bare}
    request = {"prompt_token_ids": [9, 8], "outputs": [output, output]}
    prompt = [None, objects(law_of(1, 2, 3, 4), 2, 4)]
    assert [row.index for row in rows_of(bare)] == [0, 1, 2]
    assert [row.index for row in rows_of(output)] == [0, 1, 2]
    assert [row.sequence for row in rows_of([bare, bare])] == [0, 0, 0, 1, 1, 1]
    file = read(request)
    assert [(row.sequence, row.index) for row in file.rows()] == [
        (s, i) for s in (0, 1) for i in (2, 3, 4)
    ]
    assert file.tokens == {0: (9, 8, 3, 2, 0), 1: (9, 8, 3, 2, 0)}
    both = {"prompt_token_ids": [9, 2], "prompt_logprobs": prompt, "outputs": [output]}
    rows = rows_of(both, vocab_size=4)
    assert [row.index for row in rows] == [1, 2, 3, 4]
    assert [row.token for row in rows] == [2, 3, 2, 0]
    (row,) = rows_of(prompt)
    assert (row.index, row.token, row.stage) == (1, 2, Stage.RAW)


def test_sorted_keys_hide_the_token_and_not_the_list() -> None:
    """``json.dump(sort_keys=True)``: ranks still give the order; the token is told apart or not."""
    law = law_of(1, 8, 2, 9)
    found = dict(sorted(objects(law, 0, 2).items()))
    assert list(found) == ["0", "1", "3"]
    (row,) = rows_of([None, found])
    assert row.token == 0  # its rank is not in the order of the others
    full = dict(sorted(objects(law, 2, 4).items()))
    (row,) = rows_of([None, full])
    assert row.token is None
    assert cap_of(row) == min(law)
    (row,) = rows_of({"prompt_token_ids": [1, 2], "prompt_logprobs": [None, full]})
    assert row.token == 2


def test_chosen_tokens_bound_nothing() -> None:
    """logprob_token_ids: vLLM numbers the chosen tokens as if they were the likeliest."""
    law = law_of(5, 1, 4, 2, 3)
    item = {"logprob": law[1], "rank": 1, "decoded_token": None}
    found = {"3": {"logprob": law[3], "rank": 4}, "1": item, "2": {"logprob": law[2], "rank": 2}}
    (row,) = rows_of([found])
    assert cap_of(row) is None
    falling = [
        {"0": {"logprob": -1.0, "rank": 1}, "4": {"logprob": -2.0, "rank": 2},
         "9": {"logprob": -3.0, "rank": 3}}
    ] * 3  # fmt: skip
    file = read(falling)
    assert [cap_of(row) for row in file.rows()] == [None] * 3
    assert any("asked for by name" in text for text in file.warnings)


def test_a_processed_law_ends_at_its_first_zero() -> None:
    half = math.log(0.5)
    content = [
        by_id(2, half, [(2, half), (4, half), (0, -9999.0)]),
        by_id(1, half, [(1, half), (3, half), (0, -9999.0)]),
    ]
    file = read(chat(content), vocab_size=7)
    rows = list(file.rows())
    assert (file.stage, file.assumed) == (Stage.PROCESSED, True)
    assert ("-9999.0 read as probability 0", "2") in file.shown
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
