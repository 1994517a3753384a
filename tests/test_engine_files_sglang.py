"""SGLang replies: every fact of the samples, stages, and replies that are not what they say."""

from __future__ import annotations

import base64
import copy
import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.model.row import FloatValues, Kind, NumberFormat, Stage
from specdist.readers.engine_files.ranked_list import sum_slack
from tests.listed_files import (
    FACTS,
    FIELD,
    cap,
    document,
    listed,
    mass,
    of_sample,
    of_value,
    partial,
    recognised,
    refuses,
    rows_of,
)

TOP4 = "sglang/generate_top4.json"
FLAT = "sglang/generate_full_flat_b64.json"
SUPPORT = "sglang/generate_sampling_support.json"
SENTINEL = -3.4028234663852886e38


def raw_laws() -> np.ndarray:
    """The raw laws that the samples were made from: a forward pass over ten tokens."""
    with np.load(FIELD / "hf" / "pair_target_draft.npz") as archive:
        rows = archive["target_logits"].astype(np.float64)
    rows = rows.reshape(-1, rows.shape[-1])
    shifted = rows - rows.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def tempered(law: np.ndarray, temperature: float) -> np.ndarray:
    scaled = law / temperature
    scaled -= scaled.max()
    return scaled - math.log(np.exp(scaled).sum())


# --- triples -----------------------------------------------------------------------------------


def test_triples_hold_the_facts_of_the_manifest() -> None:
    facts, meta = FACTS[TOP4], document(TOP4)["meta_info"]
    output = [row for row in rows_of(of_sample(TOP4)) if row.index >= 4]
    assert len(output) == len(facts["entries"]) == 6
    for i, row in enumerate(output):
        tops = {token: value for value, token, _ in meta["output_top_logprobs"][i]}
        own = meta["output_token_logprobs"][i]
        assert len(tops) == facts["entries"][i]
        assert math.fsum(map(math.exp, tops.values())) == pytest.approx(facts["top_mass"][i])
        assert listed(row) == {**tops, own[1]: own[0]}
        assert cap(row) == min(tops.values())
        assert (row.token, row.index, row.sequence) == (own[1], 4 + i, 0)
        assert (row.kind, row.numbers) == (Kind.LOGPROBS, NumberFormat.FLOAT32)
        assert (partial(row).open_ended, partial(row).half_width) == (True, 0)


def test_a_sampled_token_outside_the_list_is_one_more_and_no_cap() -> None:
    row = rows_of(of_sample(TOP4))[3 + 3]
    assert len(listed(row)) == 5
    assert row.token == 9
    assert listed(row)[9] < cap(row) == -2.6440939903259277


def test_the_true_law_is_within_what_the_triples_say() -> None:
    """Rows 3 to 8 of the forward pass at temperature 0.7, and the prompt's rows as they are."""
    laws = raw_laws()
    for row in rows_of(of_sample(TOP4, vocab_size=64)):
        law = laws[row.index - 1]
        if row.stage is Stage.TEMPERATURE:
            law = tempered(law, FACTS[TOP4]["temperature"])
        found, values = listed(row), partial(row)
        for token, value in enumerate(law):
            if token in found:
                assert value == pytest.approx(found[token], abs=2e-6)
            else:
                assert value <= float(values.cap) + 2e-6
        assert values.others == 64 - len(found)


def test_the_stage_is_assumed_and_can_be_told() -> None:
    file = of_sample(TOP4)
    assert (file.stage, file.assumed) == (Stage.TEMPERATURE, True)
    assert "SGLANG_RETURN_ORIGINAL_LOGPROB" in file.stage_evidence
    assert any("must not be applied again" in text for text in file.warnings)
    told = of_sample(TOP4, stage=Stage.RAW)
    assert (told.stage, told.assumed) == (Stage.RAW, False)
    assert {row.stage for row in rows_of(told)} == {Stage.RAW}


def test_prompt_rows_are_raw_and_the_first_token_has_none() -> None:
    meta = document(TOP4)["meta_info"]
    rows = [row for row in rows_of(of_sample(TOP4)) if row.index < 4]
    assert [(row.index, row.token) for row in rows] == [(1, 5), (2, 9), (3, 12)]
    assert {row.stage for row in rows} == {Stage.RAW}
    for row in rows:
        tops = {token: value for value, token, _ in meta["input_top_logprobs"][row.index]}
        value, token, _ = meta["input_token_logprobs"][row.index]
        assert listed(row) == {**tops, token: value}
        assert cap(row) == min(tops.values())


def test_text_counters_and_the_vocabulary_of_the_reply() -> None:
    file = of_sample(TOP4)
    assert file.tokens == {0: (1, 5, 9, 12, 41, 16, 55, 9, 52, 56)}
    assert (file.vocab_size, file.count) == (None, 9)
    shown = dict(file.shown)
    assert shown["spec_verify_ct"] == "3"
    assert float(shown["spec_accept_rate"]) == 4 / 9


@pytest.mark.parametrize(
    ("beside", "stage"),
    [
        ({"env": {"SGLANG_RETURN_ORIGINAL_LOGPROB": "1"}}, Stage.RAW),
        ({"env": {"SGLANG_RETURN_ORIGINAL_LOGPROB": "0"}}, Stage.TEMPERATURE),
        ({"sampling_params": {"temperature": 0}}, Stage.RAW),
        ({"sampling_params": {"temperature": 0.7}}, Stage.TEMPERATURE),
    ],
)
def test_settings_that_stand_beside_a_reply_decide_the_stage(
    beside: dict[str, Any], stage: Stage
) -> None:
    file = of_value({**document(TOP4), **beside})
    assert file.stage is stage
    told = beside.get("sampling_params", {}).get("temperature")
    assert file.settings == ({} if told is None else {"temperature": str(told)})


@pytest.mark.parametrize(("said", "stage"), [(True, Stage.TEMPERATURE), (False, Stage.RAW)])
def test_builds_that_say_the_stage_are_believed(said: bool, stage: Stage) -> None:
    value = document(TOP4)
    value["meta_info"]["output_top_logprobs_temperature_scaled"] = said
    file = of_value(value)
    assert (file.stage, file.assumed) == (stage, False)


def test_lossy_thresholds_are_told_and_simulated_acceptance_is_refused() -> None:
    beside = {"server_args": {"speculative_accept_threshold_single": 0.9}}
    warnings = of_value({**document(TOP4), **beside}).warnings
    assert any("speculative_accept_threshold_single is 0.9" in text for text in warnings)
    strict = {"server_args": {"speculative_accept_threshold_single": 1.0}}
    assert not any("threshold" in x for x in of_value({**document(TOP4), **strict}).warnings)
    simulated = {**document(TOP4), "env": {"SGLANG_SIMULATE_ACC_LEN": "3"}}
    refuses(lambda: of_value(simulated), "simulated", "follows no model")


def test_replies_of_a_batch_are_sequences() -> None:
    file = of_value([document(TOP4), document(TOP4)])
    assert [row.sequence for row in rows_of(file)] == [0] * 9 + [1] * 9
    assert file.tokens[1] == file.tokens[0]
    assert "[1].meta_info" in rows_of(file)[-1].place


def test_chosen_ids_are_listed_and_bound_nothing() -> None:
    value = document(TOP4)
    meta = value["meta_info"]
    meta["output_token_ids_logprobs"] = [[[-9.5, 63, None], [-8.25, 0, None]]] * 6
    meta["output_token_ids_logprobs"][1] = [[-9.5, 63, None], [-1.415710210800171, 0, None]]
    meta["output_token_ids_logprobs"][2] = [[-2.5579309463500977, 63, None]]
    meta["output_token_ids_logprobs"][5] = None
    rows = [row for row in rows_of(of_value(value)) if row.index >= 4]
    assert listed(rows[0])[63] == -9.5
    assert [cap(row) for row in rows] == [
        cap(row) for row in rows_of(of_sample(TOP4)) if row.index >= 4
    ]
    del meta["output_top_logprobs"]
    alone = [row for row in rows_of(of_value(value)) if row.index >= 4]
    assert {cap(row) for row in alone} == {None}
    assert len(listed(alone[0])) == 3
    assert partial(alone[0]).slack == sum_slack(256)


def test_a_last_bit_between_two_kernels_becomes_a_half_width() -> None:
    value = document(TOP4)
    own = value["meta_info"]["output_token_logprobs"]
    own[1][0] = float(np.nextafter(np.float32(own[1][0]), np.float32(0)))
    row = next(row for row in rows_of(of_value(value)) if row.index == 5)
    width = Fraction(own[1][0]) - Fraction(-2.48584246635437)
    assert 0 < partial(row).half_width == width < Fraction(1, 2**20)
    assert partial(row).cap == Fraction(-2.48584246635437) + width
    own[1][0] = -2.4
    refuses(lambda: of_value(value), "token 16 has two values")


# --- flat lists --------------------------------------------------------------------------------


def flat_numbers() -> tuple[np.ndarray, np.ndarray]:
    meta = document(FLAT)["meta_info"]
    rows, width = meta["output_top_logprobs_shape"]
    values = base64.b64decode(meta["output_top_logprobs_val_flat_b64"])
    ids = base64.b64decode(meta["output_top_logprobs_idx_flat_b64"])
    count = rows * width
    return (
        np.array(struct.unpack(f"<{count}f", values)).reshape(rows, width),
        np.array(struct.unpack(f"<{count}i", ids)).reshape(rows, width),
    )


def test_flat_base64_holds_the_facts_of_the_manifest() -> None:
    facts, (values, ids) = FACTS[FLAT], flat_numbers()
    file = of_sample(FLAT)
    rows = rows_of(file)
    assert [len(rows), file.vocab_size] == facts["shape"]
    for i, row in enumerate(rows):
        assert isinstance(row.values, FloatValues), "complete"
        assert listed(row) == dict(zip(ids[i].tolist(), values[i].tolist(), strict=True))
        assert mass(row) == pytest.approx(facts["sum"][i], abs=1e-12)
        assert int(np.argmax(row.values.array)) == facts["argmax"][i]
    assert "exact" in file.concludes


def plain_flat(prefix: int = 0, counted: bool = False) -> dict[str, Any]:
    values, ids = flat_numbers()
    return {
        "output_ids": [41] * (6 + prefix),
        "meta_info": {
            "output_top_logprobs_val_flat": values[:, :3].ravel().tolist(),
            "output_top_logprobs_idx_flat": ids[:, :3].ravel().tolist(),
            "output_top_logprobs_shape": [6 + (prefix if counted else 0), 3],
            "output_top_logprobs_null_prefix": prefix,
        },
    }


@pytest.mark.parametrize("counted", [False, True])
def test_flat_arrays_and_both_ways_to_count_positions_without_a_list(counted: bool) -> None:
    values, ids = flat_numbers()
    rows = rows_of(of_value(plain_flat(2, counted)))
    assert [bool(row.refused) for row in rows] == [True, True] + [False] * 6
    for i, row in enumerate(rows[2:]):
        assert listed(row) == dict(zip(ids[i, :3].tolist(), values[i, :3].tolist(), strict=True))
        assert cap(row) == values[i, 2]


def test_the_lowest_float32_is_probability_0_and_closes_the_list() -> None:
    value = plain_flat()
    value["meta_info"]["output_top_logprobs_val_flat"][:3] = [
        math.log(0.75), math.log(0.25), SENTINEL,
    ]  # fmt: skip
    first = rows_of(of_value(value))[0]
    ids = sorted(value["meta_info"]["output_top_logprobs_idx_flat"][:2])
    assert (partial(first).support, partial(first).others) == (tuple(ids), 0)
    assert sorted(listed(first)) == ids


def swapped(data: str) -> str:
    raw = base64.b64decode(data)
    return base64.b64encode(np.frombuffer(raw, "<u4").astype(">u4").tobytes()).decode()


def change_flat(key: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    value = document(FLAT)
    value["meta_info"][key] = change(value["meta_info"].get(key))
    return value


VAL, IDX = "output_top_logprobs_val_flat_b64", "output_top_logprobs_idx_flat_b64"
BROKEN_FLAT: dict[str, tuple[str, Callable[[Any], Any], tuple[str, ...]]] = {
    "cut inside a group": (VAL, lambda x: x[:-3], ("ends too early",)),
    "cut inside a number": (
        VAL, lambda x: base64.b64encode(base64.b64decode(x)[:-2]).decode(), ("4 bytes a number",)
    ),
    "a number short": (
        VAL, lambda x: base64.b64encode(base64.b64decode(x)[:-4]).decode(), ("383", "6 x 64 = 384")
    ),
    "ids short": (
        IDX, lambda x: base64.b64encode(base64.b64decode(x)[:-4]).decode(), ("383", "6 x 64 = 384")
    ),
    "no base64": (VAL, lambda x: "*" + x[1:], ("base64",)),
    "not a text": (VAL, lambda x: [1.0], ("a text belongs here",)),
    "wrong shape": ("output_top_logprobs_shape", lambda x: [5, 64], ("5 x 64",)),
    "no shape": ("output_top_logprobs_shape", lambda x: [6], ("this is no shape",)),
    "other numbers": (f"{VAL}_dtype", lambda x: "float16", ("'float16'", "float32")),
    "swapped ids": (IDX, swapped, ("ids from 0 to", "little-endian")),
    "swapped values": (VAL, swapped, ()),
    "prefix of its own": ("output_top_logprobs_null_prefix", lambda x: -1, ("negative",)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_FLAT)
def test_flat_lists_that_are_not_what_they_say(name: str) -> None:
    key, change, words = BROKEN_FLAT[name]
    error = refuses(lambda: of_value(change_flat(key, change)), *words)
    assert error.place.startswith("answer.json, meta_info")


# --- replies that are not what they say ----------------------------------------------------------


def top(meta: dict[str, Any]) -> list[Any]:
    return meta["output_top_logprobs"][0]


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], Any], tuple[str, ...]]] = {
    "an id twice": (lambda m: top(m).__setitem__(1, top(m)[0]), ("token 35 is listed twice",)),
    "a negative id": (lambda m: top(m)[0].__setitem__(1, -1), ("negative",)),
    "an id with a point": (lambda m: top(m)[0].__setitem__(1, 35.0), ("token id",)),
    "rising": (lambda m: top(m).reverse(), ("less likely token",)),
    "null inside": (lambda m: top(m)[0].__setitem__(0, None), ("null stands for",)),
    "a text": (lambda m: top(m)[0].__setitem__(0, "-0.8"), ("cannot be the text",)),
    "above 0": (lambda m: top(m)[0].__setitem__(0, 2.5), ("above 0", "--kind logits")),
    "too much mass": (
        lambda m: [entry.__setitem__(0, -0.5) for entry in top(m)[:2]], ("a mass of 1.",)
    ),
    "a position short": (lambda m: m["output_top_logprobs"].pop(), ("5 positions", "6 in another")),
    "other tokens": (
        lambda m: m["output_token_logprobs"][2].__setitem__(1, 7), ("these are not the tokens",)
    ),
    "sampled above the list": (
        lambda m: m["output_token_logprobs"].__setitem__(3, [-0.95, 9, None]),
        ("more likely than the last of the 4",),
    ),
    "four parts": (lambda m: top(m)[0].append(1), ("4 parts",)),
    "a chunk": (
        lambda m: m.__setitem__("output_token_logprobs_length", 60), ("6 positions", "says 60")
    ),
    "more prompt than tokens": (lambda m: m.__setitem__("prompt_tokens", 3), ("4 positions",)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_triples_that_are_not_what_they_say(name: str) -> None:
    change, words = BROKEN[name]
    value = copy.deepcopy(document(TOP4))
    change(value["meta_info"])
    refuses(lambda: of_value(value), *words)


def test_positions_without_data_are_marked() -> None:
    value = document(TOP4)
    meta = value["meta_info"]
    meta["output_top_logprobs"][2] = None
    assert cap(rows_of(of_value(value))[5]) is None
    meta["output_token_logprobs"][2][0] = None
    assert rows_of(of_value(value))[5].refused == "null stands here"


def test_hidden_states_alone_are_refused_with_the_reason() -> None:
    value = {"text": "x", "meta_info": {"id": "r", "hidden_states": [[0.1, 0.2]]}}
    refuses(lambda: of_value(value), "hidden states", "top_logprobs_num")


def test_what_is_no_such_reply() -> None:
    assert recognised({"meta_info": {"id": "r", "spec_verify_ct": 3}}) is None
    assert recognised({"meta_info": {"output_token_logprobs": [[-0.5, 7]]}}) != "sglang"
    assert recognised([document(TOP4)]) == "sglang"


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ({"kind": Kind.LOGITS}, ("--kind says logits",)),
        ({"vocab_size": 50}, ("in a vocabulary of 50",)),
    ],
)
def test_options_that_contradict_the_format(
    reading: dict[str, Any], words: tuple[str, ...]
) -> None:
    refuses(lambda: of_sample(TOP4, **reading), *words)
