"""llama-server answers: raw and post-sampling lists, runs with a draft model, the old layout."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from specdist.model.row import FloatValues, Kind, Stage
from specdist.readers.engine_files.ranked_list import LARGEST_VOCABULARY, sum_slack
from tests.listed_files import (
    FACTS,
    FIELD,
    cap,
    document,
    listed,
    mass,
    of_sample,
    of_text,
    of_value,
    partial,
    recognised,
    refuses,
    rows_of,
)

FULL = "llamacpp/server_completion_full_vocab.json"
TOP5 = "llamacpp/server_completion_nprobs5.json"
AFTER = "llamacpp/server_completion_post_sampling.json"
BROKEN = "llamacpp/server_completion_spec_decode_broken.json"
SENTINEL = -3.4028234663852886e38


def positions(value: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = value["completion_probabilities"]
    return found


def pairs(position: dict[str, Any], key: str = "logprob") -> dict[int, float]:
    tops = position[f"top_{key}s"]
    return {entry["id"]: entry[key] for entry in tops}


# --- raw lists ---------------------------------------------------------------------------------


def test_a_full_list_holds_the_facts_of_the_manifest() -> None:
    facts = FACTS[FULL]
    file = of_sample(FULL)
    rows = rows_of(file)
    for i, row in enumerate(rows):
        assert isinstance(row.values, FloatValues), "complete"
        assert listed(row) == pairs(positions(document(FULL))[i])
        assert len(listed(row)) == facts["entries"][i]
        assert mass(row) == pytest.approx(facts["sum"][i], abs=1e-12)
        assert int(np.argmax(row.values.array)) == facts["argmax"][i]
    assert (file.vocab_size, file.count, file.stage, file.assumed) == (257, 2, Stage.RAW, False)
    assert "exact" in file.concludes


def test_five_alternatives_hold_the_facts_of_the_manifest() -> None:
    facts, value = FACTS[TOP5], document(TOP5)
    file = of_sample(TOP5)
    rows = rows_of(file)
    assert len(rows) == facts["n_positions"]
    first = positions(value)[0]
    assert (rows[0].token, listed(rows[0])[185]) == (
        facts["pos0_sampled"],
        facts["pos0_sampled_logprob"],
    )
    assert math.fsum(map(math.exp, pairs(first).values())) == pytest.approx(
        facts["pos0_top_mass"], abs=1e-12
    )
    assert (facts["pos0_sampled"] in pairs(first)) is facts["pos0_sampled_in_top"]
    for row, position in zip(rows, positions(value), strict=True):
        assert listed(row) == {**pairs(position), position["id"]: position["logprob"]}
        assert cap(row) == min(pairs(position).values())
        assert (row.kind, row.stage, row.labels) == (Kind.LOGPROBS, Stage.RAW, None)
    assert [row.index for row in rows] == [4, 5, 6, 7]


def test_the_full_list_of_the_same_run_is_within_what_five_say() -> None:
    """The first position of both runs has the same context: here all 257 values are known."""
    full, few = rows_of(of_sample(FULL))[0], rows_of(of_sample(TOP5, vocab_size=257))[0]
    found = listed(few)
    for token, value in listed(full).items():
        if token in found:
            assert value == pytest.approx(found[token], abs=1e-6), "two runs of one server"
        else:
            assert value <= cap(few)
    assert partial(few).others == 257 - 6


def test_the_slack_is_that_of_a_float32_sum_over_the_vocabulary() -> None:
    """Summed term by term, falling, as the server does it, in float32: within the slack."""
    assert partial(rows_of(of_sample(TOP5, vocab_size=257))[0]).slack == sum_slack(257)
    unknown = of_sample(TOP5)
    assert partial(rows_of(unknown)[0]).slack == sum_slack(LARGEST_VOCABULARY)
    assert any("--vocab-size N narrows it" in text for text in unknown.warnings)
    rng = np.random.default_rng(3)
    for size in (257, 4096, 70_000):
        logits = np.sort(rng.normal(0, 2, size).astype(np.float32))[::-1]
        terms = np.exp((logits - logits[0]).astype(np.float32))
        total = np.float32(0)
        for term in terms:
            total = np.float32(total + term)
        exact = math.fsum(terms.astype(np.float64))
        assert abs(math.log(float(total) / exact)) <= float(sum_slack(size))


def test_a_flat_tail_is_lost_in_the_server_s_sum_and_the_slack_covers_it() -> None:
    """Terms of half a unit each vanish one by one: no bound below their number would hold."""
    tail, size = np.float32(2.0**-25), 100_000
    total = np.float32(1)
    for _ in range(size):
        total = np.float32(total + tail)
    assert total == 1
    lost = math.log(1 + size * 2.0**-25)
    assert 2.0**-18 < lost <= float(sum_slack(size + 1))


def test_settings_are_told_and_never_applied() -> None:
    file = of_sample(TOP5)
    assert file.settings["temperature"] == "0.800000011920929"
    assert file.settings["top_k"] == "40"
    assert file.settings["samplers"].split(", ") == FACTS[AFTER]["samplers"]
    assert "repeat_penalty" not in file.settings, "a penalty of 1 does nothing"
    value = document(TOP5)
    value["generation_settings"]["repeat_penalty"] = 1.25
    assert of_value(value).settings["repeat_penalty"] == "1.25"


def test_the_logarithm_of_0_closes_a_list() -> None:
    value = document(TOP5)
    tops = positions(value)[2]["top_logprobs"]
    for entry, share in zip(tops[:2], (0.75, 0.25), strict=True):
        entry["logprob"] = math.log(share)
    for entry in tops[2:]:
        entry["logprob"] = SENTINEL
    positions(value)[2]["logprob"] = tops[0]["logprob"]
    row = rows_of(of_value(value))[2]
    assert sorted(listed(row)) == sorted(entry["id"] for entry in tops[:2])
    assert partial(row).others == 0


# --- post-sampling -----------------------------------------------------------------------------


def test_post_sampling_holds_the_facts_of_the_manifest() -> None:
    facts, value = FACTS[AFTER], document(AFTER)
    file = of_sample(AFTER)
    rows = rows_of(file)
    first = positions(value)[0]
    assert rows[0].token == facts["pos0_sampled"]
    assert math.fsum(pairs(first, "prob").values()) == pytest.approx(
        facts["pos0_listed_mass"], abs=1e-12
    )
    assert value["generation_settings"]["samplers"] == facts["samplers"]
    for row, position in zip(rows, positions(value), strict=True):
        assert listed(row) == {**pairs(position, "prob"), position["id"]: position["prob"]}
        assert cap(row) == min(pairs(position, "prob").values())
        assert (row.kind, row.stage) == (Kind.PROBABILITIES, Stage.PROCESSED)
        assert partial(row).slack == sum_slack(8), "top-k leaves 8 candidates"
    assert (file.stage, file.assumed, file.settings["top_p"]) == (
        Stage.PROCESSED,
        False,
        "0.8999999761581421",
    )


def test_a_list_shorter_than_asked_for_holds_all_that_is_possible() -> None:
    value = document(AFTER)
    position = positions(value)[0]
    position["top_probs"] = [
        {"id": 17, "token": "n", "bytes": [110], "prob": 0.75},
        {"id": 145, "token": " el", "bytes": [32, 101, 108], "prob": 0.25},
    ]
    position["prob"] = 0.25
    row = rows_of(of_value(value))[0]
    assert (partial(row).support, partial(row).others) == ((17, 145), 0)
    position["top_probs"][0]["prob"] = 0.5
    refuses(lambda: of_value(value), "the only possible tokens have a mass of 0.75")


def test_a_list_in_no_order_bounds_nothing() -> None:
    value = document(AFTER)
    positions(value)[0]["top_probs"].reverse()
    rows = rows_of(of_value(value))
    assert [cap(row) is None for row in rows] == [True, False, False, False]


def test_a_grammar_is_said() -> None:
    value = document(AFTER)
    value["generation_settings"]["grammar"] = 'root ::= "a"'
    assert any("grammar" in text for text in of_value(value).warnings)


# --- runs with a draft model -------------------------------------------------------------------


def test_a_speculative_run_keeps_what_was_not_drafted() -> None:
    facts, value = FACTS[BROKEN], document(BROKEN)
    assert [position["logprob"] for position in positions(value)] == facts["logprobs"]
    assert [len(position["top_logprobs"]) for position in positions(value)] == facts["tops"]
    file = of_sample(BROKEN)
    rows = rows_of(file)
    usable = [i for i, count in enumerate(facts["tops"]) if count]
    assert [i for i, row in enumerate(rows) if not row.refused] == usable == [0, 11]
    assert all("0.0 and no alternatives" in row.refused for row in rows if row.refused)
    assert all(row.values is None for row in rows if row.refused)
    assert any("usable: 0, 11" in text for text in file.warnings)
    shown = dict(file.shown)["draft tokens"]
    assert shown.startswith(f"{facts['draft_n']} drafted, {facts['draft_n_accepted']} accepted")


def test_a_run_without_one_usable_position_is_refused() -> None:
    value = document(BROKEN)
    value["completion_probabilities"] = positions(value)[1:11]
    refuses(lambda: of_value(value), "no position can be used", "without a draft model")


def test_certainty_with_its_list_is_no_broken_position() -> None:
    value = document(BROKEN)
    value["completion_probabilities"] = positions(value)[:2]
    value["generation_settings"]["n_probs"] = 1
    position = positions(value)[1]
    del positions(value)[0]["top_logprobs"][1:]
    position["top_logprobs"] = [{"id": 232, "token": "x", "bytes": [1], "logprob": 0.0}]
    row = rows_of(of_value(value))[1]
    assert (row.refused, listed(row)) == ("", {232: 0.0})


def test_a_post_sampling_run_with_a_draft_model_is_broken_too() -> None:
    value = document(AFTER)
    positions(value)[1] |= {"prob": 1.0, "top_probs": []}
    rows = rows_of(of_value(value))
    assert [bool(row.refused) for row in rows] == [False, True, False, False]


# --- chat --------------------------------------------------------------------------------------


def chat(name: str) -> dict[str, Any]:
    value = document(name)
    return {
        "choices": [{"index": 0, "logprobs": {"content": positions(value)}}],
        "object": "chat.completion",
        "usage": {"prompt_tokens": 4},
        "timings": value["timings"],
    }


@pytest.mark.parametrize("name", [TOP5, AFTER, BROKEN])
def test_a_chat_answer_holds_the_same_rows(name: str) -> None:
    assert recognised(chat(name)) == "llama-server"
    ours, theirs = rows_of(of_value(chat(name))), rows_of(of_sample(name))
    assert [(row.index, row.token, row.kind, row.refused) for row in ours] == [
        (row.index, row.token, row.kind, row.refused) for row in theirs
    ]
    for our, their in zip(ours, theirs, strict=True):
        if not our.refused:
            assert (listed(our), cap(our)) == (listed(their), cap(their))
    assert "logprobs.content[0]" in ours[0].place


def test_a_chat_answer_of_all_tokens_is_complete_by_its_size_alone_when_told() -> None:
    assert of_value(chat(FULL)).vocab_size is None
    assert isinstance(rows_of(of_value(chat(FULL), vocab_size=257))[0].values, FloatValues)


def test_answers_to_several_prompts_are_sequences() -> None:
    file = of_value([document(TOP5), document(TOP5)])
    assert [row.sequence for row in rows_of(file)] == [0] * 4 + [1] * 4


# --- answers that are not what they say ----------------------------------------------------------


def first(value: Any) -> dict[str, Any]:
    return positions(value)[0]


CHANGES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "an id twice": (
        lambda v: first(v)["top_logprobs"][1].update(id=17), ("token 17 is listed twice",)
    ),
    "a negative id": (lambda v: first(v)["top_logprobs"][1].update(id=-17), ("negative",)),
    "null": (lambda v: first(v)["top_logprobs"][1].update(logprob=None), ("null",)),
    "rising": (lambda v: first(v)["top_logprobs"].reverse(), ("less likely token",)),
    "sampled above the list": (
        lambda v: first(v).update(logprob=-1.5), ("more likely than the last of the 5",)
    ),
    "two values": (
        lambda v: positions(v)[2].update(logprob=-1.6), ("token 146 has two values",)
    ),
    "above 0": (lambda v: first(v)["top_logprobs"][0].update(logprob=1.5), ("above 0",)),
    "mass": (
        lambda v: [x.update(logprob=-1.25) for x in first(v)["top_logprobs"]], ("a mass of 1.4",)
    ),
    "no id": (lambda v: first(v)["top_logprobs"][0].pop("id"), ("there is no id",)),
    "no list": (lambda v: positions(v)[1].pop("top_logprobs"), ("there is no top_logprobs",)),
    "a number of another kind": (
        lambda v: positions(v)[1].pop("logprob"), ("there is no logprob",)
    ),
    "nothing": (lambda v: v.update(completion_probabilities=[]), ("no position",)),
    "an object": (
        lambda v: v["completion_probabilities"].__setitem__(1, 7), ("an object belongs here",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_answers_that_are_not_what_they_say(name: str) -> None:
    change, words = CHANGES[name]
    value = document(TOP5)
    change(value)
    refuses(lambda: of_value(value), *words)


def test_a_full_list_must_have_every_id() -> None:
    value = document(FULL)
    first(value)["top_logprobs"].pop()
    refuses(lambda: of_value(value), "one list of 256 tokens", "another has 257")
    positions(value)[1]["top_logprobs"].pop(100)
    refuses(lambda: of_value(value), "in a vocabulary of 256")
    refuses(lambda: of_sample(FULL, vocab_size=300), "one list of 257", "--vocab-size says 300")


def test_lists_of_a_backend_that_sampled_are_refused() -> None:
    value = document(TOP5)
    value["generation_settings"]["backend_sampling"] = True
    refuses(lambda: of_value(value), "backend_sampling was on", "post_sampling_probs")
    after = document(AFTER)
    after["generation_settings"]["backend_sampling"] = True
    assert of_value(after).count == 4


def test_text_of_numbers_that_overflow_is_refused() -> None:
    text = (FIELD / TOP5).read_text(encoding="utf-8").replace("-1.5362697839736938", "-1e999", 1)
    value = json.loads(text)
    assert first(value)["top_logprobs"][0]["logprob"] == -math.inf
    refuses(lambda: of_text(text), "below every float64")


@pytest.mark.parametrize("reading", [{"stage": Stage.PROCESSED}, {"kind": Kind.LOGITS}])
def test_options_that_contradict_the_format(reading: dict[str, Any]) -> None:
    refuses(lambda: of_sample(TOP5, **reading), "holds")
