"""SGLang's sampling mask: the processed law as a whole, or one value of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from specdist.model.row import Stage
from tests.listed_files import (
    FACTS,
    document,
    listed,
    mass,
    of_sample,
    of_value,
    partial,
    refuses,
    rows_of,
)

TOP4 = "sglang/generate_top4.json"
SUPPORT = "sglang/generate_sampling_support.json"


def test_a_support_holds_the_facts_of_the_manifest() -> None:
    facts, meta = FACTS[SUPPORT], document(SUPPORT)["meta_info"]
    file = of_sample(SUPPORT)
    for i, row in enumerate(rows_of(file)):
        ids = meta["output_token_sampling_mask"][i]
        values = meta["output_token_sampling_logprobs"][i]
        assert listed(row) == dict(zip(ids, values, strict=True))
        assert len(listed(row)) == facts["support"][i]
        assert mass(row) == pytest.approx(facts["sum"][i], abs=1e-12)
        assert partial(row).support == tuple(sorted(ids))
        assert (partial(row).others, row.stage) == (0, Stage.PROCESSED)
        assert row.token == document(SUPPORT)["output_ids"][i]
    assert (file.stage, file.assumed) == (Stage.PROCESSED, False)
    assert "exact" in file.concludes


def test_the_mode_selected_gives_one_value_and_the_possible_tokens() -> None:
    value = document(SUPPORT)
    meta = value["meta_info"]
    lists = meta["output_token_sampling_logprobs"]
    meta["output_token_sampling_logprobs"] = [values[0] for values in lists]
    lists[1] = [lists[1][0]]
    rows = rows_of(of_value(value))
    assert listed(rows[0]) == {35: lists[0][0]}
    assert partial(rows[0]).support == tuple(sorted(meta["output_token_sampling_mask"][0]))
    assert partial(rows[0]).others == 11
    del value["output_ids"]
    refuses(lambda: of_value(value), "does not name")


def test_the_mask_comes_first_unless_another_stage_is_told() -> None:
    value = document(TOP4)
    value["meta_info"] |= {
        "output_token_sampling_mask": [[41, 35], [16, 0], [55, 2], [9, 16], [52, 21], [56, 62]],
        "output_token_sampling_logprobs": [[math.log(0.5)] * 2] * 6,
    }
    file = of_value(value)
    assert file.stage is Stage.PROCESSED
    assert dict(file.shown)["read"].startswith("output_token_sampling_mask")
    told = of_value(value, stage=Stage.TEMPERATURE)
    assert [len(listed(row)) for row in rows_of(told)][3:] == [4, 4, 4, 5, 5, 4]


BROKEN_SUPPORT: dict[str, tuple[Callable[[dict[str, Any]], None], tuple[str, ...]]] = {
    "sampled outside": (
        lambda meta: meta["output_token_sampling_mask"].__setitem__(0, [1, 2]),
        ("token 35 was sampled",),
    ),
    "a value short": (
        lambda meta: meta["output_token_sampling_logprobs"][0].pop(),
        ("11 values for a mask of 12",),
    ),
    "a position short": (
        lambda meta: meta["output_token_sampling_logprobs"].pop(), ("5 items beside the 6",)
    ),
    "an id twice": (
        lambda meta: meta["output_token_sampling_mask"][0].__setitem__(1, 35), ("listed twice",)
    ),
    "mass missing": (
        lambda meta: meta["output_token_sampling_logprobs"][0].__setitem__(0, -3.0),
        ("the only possible tokens have a mass of 0.56",),
    ),
    "null": (
        lambda meta: meta["output_token_sampling_logprobs"][0].__setitem__(0, None), ("null",)
    ),
    "a chunk": (
        lambda meta: meta.__setitem__("output_token_sampling_mask_length", 60),
        ("6 positions", "says 60"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_SUPPORT)
def test_a_mask_that_is_not_what_it_says(name: str) -> None:
    change, words = BROKEN_SUPPORT[name]
    value = document(SUPPORT)
    change(value["meta_info"])
    refuses(lambda: of_value(value), *words)


def test_an_empty_mask_marks_its_position() -> None:
    value = document(SUPPORT)
    value["meta_info"]["output_token_sampling_mask"][2] = []
    rows = rows_of(of_value(value))
    assert [bool(row.refused) for row in rows] == [False, False, True, False, False, False]
    value["meta_info"]["output_token_sampling_mask"] = [[]] * 6
    refuses(lambda: of_value(value), "no position can be used", "mask is empty")
