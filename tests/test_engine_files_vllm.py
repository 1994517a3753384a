"""Answers and objects of vLLM: the facts of the samples, a second route to every value, caps."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, SettingsError
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, Stage
from tests.answer_files import (
    FACTS,
    FIELD,
    by_id,
    cap_of,
    chat,
    completion,
    law_of,
    listed,
    objects,
    pair,
    plain,
    read,
    reader_of,
    rows_of,
)

SAMPLED = [41, 16, 55, 9, 52, 56]


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
        file.rows(), pair(3, 9), tops, facts["entries"], facts["sum_of_probs"], strict=True
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
    every = zip(rows, facts["entries"][1:], facts["sum"][1:], pair(0, 9), strict=True)
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
    for row, law, top in zip(
        rows, pair(3, 9), choice(name)["logprobs"]["top_logprobs"], strict=True
    ):
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
    for row, law, top, best in zip(
        rows, pair(3, 9), facts["tops"], facts["true_top3"], strict=True
    ):
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
    for row, dense in zip(rows, logits[3:9], strict=True):
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
    assert ("whole support listed", "at 6 of 6 positions") in file.shown
    rows = list(file.rows())
    every = zip(rows, document["sampling_mask"], facts["support"], pair(3, 9), strict=True)
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


def test_flat_logprobs_count_the_sampled_token_once() -> None:
    name = "vllm/offline_flat_logprobs.json"
    file, facts, flat = read(name), FACTS[name], plain(name)
    rows = list(file.rows())
    assert (file.count, len(flat["token_ids"])) == (facts["positions"], facts["total"])
    assert ("listed twice", "2 sampled tokens") in file.shown
    assert [row.token for row in rows] == SAMPLED
    for row, law, start in zip(rows, pair(3, 9), flat["start_indices"], strict=True):
        values = listed(row)
        assert set(values) == set(flat["token_ids"][start : start + 4])
        own, rank = flat["logprobs"][start], flat["ranks"][start]
        others = [value for token, value in values.items() if token != row.token]
        cap = cap_of(row)
        assert cap == (min(own, *others) if rank <= len(values) else min(others))
        assert cap is not None
        assert all(law[x] <= cap + 1e-6 for x in range(64) if x not in values)
        assert values[SAMPLED[row.index]] == own


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


def test_lists_without_ranks_or_token_leave_out_one_more() -> None:
    """The least likely entry may be there only because it was sampled."""
    entries = {"5": -1.0, "2": -2.0, "7": -3.0}
    (row,) = rows_of([{key: {"logprob": value} for key, value in entries.items()}])
    assert (row.token, cap_of(row)) == (None, -2.0)


def test_ties_are_counted_in_the_rank_of_the_sampled_token() -> None:
    """Four equal tokens, the three likeliest asked for: the sampled one has rank 4 by vLLM's count
    and place 2 in its list."""
    quarter = math.log(0.25)
    flat = {
        "start_indices": [0], "end_indices": [4], "token_ids": [1, 0, 1, 2],
        "logprobs": [quarter] * 4, "ranks": [4, 1, 2, 3], "decoded_tokens": [None] * 4,
    }  # fmt: skip
    (row,) = rows_of(flat)
    assert (set(listed(row)), cap_of(row)) == ({0, 1, 2}, quarter)


def test_a_rank_of_one_below_another_token_bounds_nothing() -> None:
    (row,) = rows_of([{"5": {"logprob": -2.0, "rank": 1}, "2": {"logprob": -1.0, "rank": 2}}])
    assert cap_of(row) is None


def test_requests_prove_how_many_alternatives_they_asked_for() -> None:
    """Both sampled tokens are last: four entries are three alternatives or four, so a list of two
    lacks some."""
    tops = [
        {f"token_id:{x}": value for x, value in ((9, -5.0), (1, -1.0), (2, -2.0), (3, -3.0))},
        {"token_id:9": -5.0, "token_id:1": -1.0},
    ]
    file = read(completion(tops, ["token_id:9"] * 2, [-5.0] * 2))
    assert [cap_of(row) for row in file.rows()] == [-3.0, None]
    assert any("1 lists are shorter" in text for text in file.warnings)
    assert "alternatives asked for" not in dict(file.shown)


def test_values_just_above_zero_are_no_log_probabilities() -> None:
    assert [row.kind for row in rows_of(chat([by_id(3, 5e-4, [(3, 5e-4), (4, -9.0)])]))] == [
        Kind.LOGITS
    ]
    (row,) = rows_of(chat([by_id(3, 5e-7, [(3, 5e-7), (4, -16.0)])]))
    assert row.kind is Kind.LOGPROBS  # rounding lifts a probability of 1 that far


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
    assert any("asked for by name: nothing bounds" in text for text in file.warnings)


def test_too_few_lists_to_know_that_they_are_the_likeliest() -> None:
    """Chosen tokens in falling order look like the likeliest: said where nothing tells them."""
    entry = by_id(3, -1.0, [(3, -1.0), (4, -2.0), (5, -3.0)])
    other = by_id(3, -1.0, [(3, -1.0), (4, -2.0), (6, -3.0)])
    told = {
        count: any("would look the same" in text for text in read(chat(content)).warnings)
        for count, content in enumerate([[entry], [entry] * 2, [entry, other], [entry] * 3])
    }
    assert told == {0: True, 1: True, 2: False, 3: False}
    assert [cap_of(row) for row in rows_of(chat([entry, other]))] == [-3.0, -3.0]
    assert [cap_of(row) for row in rows_of(chat([entry] * 3))] == [None] * 3
