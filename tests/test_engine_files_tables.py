"""Tables of likely tokens in JSON lines and parquet: samples, shift, caps, rounding, kinds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from specdist.model.row import FloatValues, Stage
from tests.listed_files import (
    FACTS,
    FIELD,
    cap,
    listed,
    mass,
    of_lines,
    of_value,
    refuses,
    rows_of,
)
from tests.table_samples import drawn, jsonl, of_parquet, parquet, plain, top

MAPS = "distill/id_to_logprob_maps.jsonl"
LISTS = "distill/topk_parallel_lists.parquet"
TEXT = [1, 5, 9, 12, 41, 16, 55, 9, 52, 56]


# --- samples ---------------------------------------------------------------------------------


def test_id_maps_hold_the_facts_of_the_manifest() -> None:
    text = (FIELD / MAPS).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    file = of_lines(text)
    rows = rows_of(file)
    for row, line, total in zip(rows, lines, FACTS[MAPS]["sum"], strict=True):
        assert isinstance(row.values, FloatValues), "complete"
        assert listed(row) == {int(key): value for key, value in line["logprobs"].items()}
        assert mass(row) == pytest.approx(total, abs=1e-12)
        assert (row.index, row.token, row.sequence) == (line["position"], line["token_id"], 0)
    assert (file.vocab_size, file.count, file.stage, file.assumed) == (64, 6, Stage.RAW, True)
    assert "exact" in file.concludes
    assert not any("nothing declares" in warning for warning in file.warnings)


def test_parallel_lists_hold_the_facts_of_the_manifest() -> None:
    facts = FACTS[LISTS]
    columns = pq.read_table(FIELD / LISTS).to_pydict()
    file = of_parquet(FIELD / LISTS)
    rows = rows_of(file)
    assert (len(columns["input_ids"]), len(rows)) == (facts["rows"], facts["T"])
    for i, row in enumerate(rows):
        ids, values = columns["topk_ids"][0][i], columns["topk_logprobs"][0][i]
        assert listed(row) == dict(zip(ids, values, strict=True))
        assert len(listed(row)) == facts["k"]
        assert mass(row) == pytest.approx(facts["mass"][i], abs=1e-7)
        assert row.index == i + 1, "row i predicts token i + 1"
        assert row.token == (TEXT[i + 1] if i < 9 else None)
        assert cap(row) == (values[-2] if row.token == ids[-1] else values[-1])
    assert file.tokens == {0: tuple(TEXT)}
    assert "6 of 9 rows, token i in 1" in dict(file.shown)["shift"]
    assert any(warning.startswith("--shift 1 is assumed") for warning in file.warnings)


def test_the_same_table_in_json_lines_has_the_same_rows() -> None:
    records = pq.read_table(FIELD / LISTS).to_pylist()
    for ours in (of_lines(jsonl([*records, *records])), of_value(records), of_value(records[0])):
        theirs = rows_of(of_parquet(FIELD / LISTS))
        for our, their in zip(rows_of(ours)[:10], theirs, strict=True):
            assert (listed(our), cap(our)) == (listed(their), cap(their))
            assert (our.index, our.token) == (their.index, their.token)
        assert ours.tokens[0] == tuple(TEXT)


# --- shift -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_the_data_show_the_shift(shift: int, form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    text, laws = drawn(rng, 40, 300)
    tops = [top(values, 6) for values in laws]
    if shift == 0:
        tops = [tops[0], *tops[:-1]]
    record = {
        "input_ids": text,
        "topk_ids": [ids for ids, _ in tops],
        "topk_logprobs": [values for _, values in tops],
    }
    if form == "jsonl":
        file = of_lines(jsonl([record]))
    else:
        file = of_parquet(parquet(tmp_path, {name: [x] for name, x in record.items()}))
    rows = rows_of(file)
    assert rows[5].index == 5 + shift
    assert rows[5].token == text[5 + shift]
    assert ("i + 1" if shift else "token i:") in dict(file.shown)["shift"]


def test_the_other_shift_can_be_told_and_the_evidence_stays() -> None:
    file = of_parquet(FIELD / LISTS, shift=0)
    assert [row.index for row in rows_of(file)] == list(range(10))
    assert dict(file.shown)["shift"].startswith("row i is the law of token i: as told; token i + 1")


def undecided(count: int = 12) -> dict[str, Any]:
    """Rows that list neither of their tokens."""
    return {
        "input_ids": list(range(count)),
        "topk_ids": [[100, 101, 102]] * count,
        "topk_logprobs": [[-1.0, -2.0, -3.0]] * count,
    }


def test_rows_that_do_not_show_the_shift_are_asked_about() -> None:
    refuses(lambda: of_value(undecided()), "listed in 0 of 11 rows", "--shift 1 if", "--shift 0 if")
    assert rows_of(of_value(undecided(), shift=1))[0].index == 1
    few = undecided()
    few["topk_ids"][3] = [4, 101, 102]
    refuses(lambda: of_value(few), "listed in 1 of 11 rows, token i in 0")


def test_without_the_text_rows_are_numbered_and_that_is_said() -> None:
    record = undecided()
    del record["input_ids"]
    file = of_value(record)
    assert [row.index for row in rows_of(file)] == list(range(12))
    assert any("without the ids of the text" in text for text in file.warnings)


def test_rows_beside_a_text_of_another_length_are_refused() -> None:
    record = undecided()
    record["input_ids"] = record["input_ids"][:7]
    refuses(lambda: of_value(record, shift=1), "7 ids beside 12 rows")


# --- caps, padding, masks --------------------------------------------------------------------


def test_only_declared_and_falling_lists_have_caps() -> None:
    record = plain()
    assert {cap(row) is None for row in rows_of(of_value(record))} == {False}
    named = {
        "input_ids": record["input_ids"],
        "token_ids": record["topk_ids"],
        "target_logprobs": record["topk_logprobs"],
    }
    file = of_value(named)
    assert {cap(row) for row in rows_of(file)} == {None}
    assert any("nothing declares" in text for text in file.warnings)
    for name in ("topk_ids", "topk_logprobs"):
        record[name][4] = record[name][4][::-1]
    file = of_value(record)
    assert [i for i, row in enumerate(rows_of(file)) if cap(row) is None] == [4]
    assert any("1 of the 20 rows" in text and "falling" in text for text in file.warnings)


def test_padding_is_dropped_and_said() -> None:
    record = plain()
    record["topk_ids"][2] = [*record["topk_ids"][2][:5], 0, 1, 2]
    record["topk_logprobs"][2] = [*record["topk_logprobs"][2][:5], *[-math.inf] * 3]
    record["topk_logprobs"][3] = [-math.inf] * 8
    file = of_value(record)
    rows = rows_of(file)
    assert len(listed(rows[2])) == 5
    assert rows[3].refused == "every value is -inf: the row is padding"
    assert any("padding" in text for text in file.warnings)


def test_masked_and_null_positions_are_marked(tmp_path: Path) -> None:
    record = plain(target_mask=[0, 0, *[1] * 18])
    record["topk_logprobs"][7] = None
    in_parquet = parquet(tmp_path, {name: [x] for name, x in record.items()})
    for file in (of_value(record), of_parquet(in_parquet)):
        refused = {i: row.refused for i, row in enumerate(rows_of(file)) if row.refused}
        assert refused == {
            0: "target_mask is 0 here",
            1: "target_mask is 0 here",
            7: "null stands here",
        }


# --- lists as vLLM makes them ----------------------------------------------------------------


def entries(*pairs: tuple[int, float]) -> list[dict[str, Any]]:
    return [{"token": f"token_id:{token}", "logprob": value} for token, value in pairs]


def vllm_lists() -> list[Any]:
    return [
        None,
        entries((5, -1.0), (7, -2.0), (9, -3.0)),
        entries((4, -5.0), (7, -1.0), (9, -2.0)),
        entries((4, -1.5), (7, -1.0), (9, -2.0)),
        entries((4, -1.5), (7, -3.0), (9, -2.0)),
    ]


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: {"llm_text_generation_vllm_logprobs": x}])
def test_entries_begin_with_the_token_of_the_text(wrap: Callable[[Any], Any]) -> None:
    for file in (of_value(wrap(vllm_lists())), of_lines(jsonl([wrap(vllm_lists())] * 2))):
        rows = rows_of(file)[:4]
        assert [row.index for row in rows] == [1, 2, 3, 4]
        assert [cap(row) for row in rows] == [-3.0, -2.0, -2.0, None]
        assert [row.token for row in rows] == [None, 4, 4, None]
        assert listed(rows[1]) == {4: -5.0, 7: -1.0, 9: -2.0}
        assert (file.stage, file.assumed) == (Stage.RAW, True)


def test_entries_beside_a_text_are_shifted_as_the_data_show() -> None:
    record = plain()
    lists = [
        entries(*zip(ids, values, strict=True))
        for ids, values in zip(record["topk_ids"], record["topk_logprobs"], strict=True)
    ]
    rows = rows_of(of_value({"input_ids": record["input_ids"], "logprobs_field": lists}))
    assert (rows[3].index, rows[3].token) == (4, record["input_ids"][4])


def test_texts_in_place_of_ids_are_refused() -> None:
    value = vllm_lists()
    value[1][0]["token"] = " the"
    refuses(lambda: of_value(value), "' the'", "token_id:N")


# --- maps ------------------------------------------------------------------------------------


def test_maps_without_a_place_are_numbered_and_have_no_cap() -> None:
    rows = rows_of(of_lines(jsonl([{"3": -0.5, "9": -1.5}, {"3": -0.25, "8": -3.5}])))
    assert [(row.index, row.sequence, cap(row)) for row in rows] == [(0, 0, None), (1, 0, None)]
    lists = {"rows": [None, {"3": -0.5, "9": -1.5}, {"4": -0.5, "9": -1.5}]}
    assert [row.index for row in rows_of(of_value(lists))] == [1, 2]


def test_a_place_that_does_not_rise_begins_another_text() -> None:
    lines = [
        {"position": place, "token_id": place, "lp": {"3": -0.5, "9": -1.5}}
        for place in (4, 5, 6, 2, 3)
    ]
    rows = rows_of(of_lines(jsonl(lines)))
    assert [(row.sequence, row.index) for row in rows] == [(0, 4), (0, 5), (0, 6), (1, 2), (1, 3)]
