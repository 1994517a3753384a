"""Tables of likely tokens: kinds of values, rounding, and tables that no longer hold the law."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from specdist.model.row import Kind, NumberFormat, Stage
from specdist.readers.engine_files.engine_file import EngineRow
from tests.listed_files import listed, of_value, partial, refuses, rows_of
from tests.table_samples import law, of_parquet, parquet, plain, top


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda x: x, Kind.LOGPROBS),
        (math.exp, Kind.PROBABILITIES),
        (lambda x: x + 9.0, Kind.LOGITS),
        (lambda x: x / 40, Kind.LOGITS),
    ],
)
def test_values_of_an_open_name_say_their_kind(
    change: Callable[[float], float], kind: Kind
) -> None:
    record = plain()
    values = [[change(x) for x in row] for row in record.pop("topk_logprobs")]
    file = of_value({**record, "top_values": values})
    assert {row.kind for row in rows_of(file)} == {kind}
    assert file.kind_evidence.startswith(kind.value)
    assert listed(rows_of(file)[0])[record["topk_ids"][0][0]] == values[0][0]


def test_a_name_and_values_that_disagree_are_asked_about() -> None:
    record = plain()
    record["topk_logprobs"] = [[x + 9.0 for x in row] for row in record["topk_logprobs"]]
    refuses(lambda: of_value(record), "the column says logprobs, the values are logits", "--kind")
    assert rows_of(of_value(record, kind=Kind.LOGITS))[0].kind is Kind.LOGITS
    refuses(lambda: of_value(record, kind=Kind.LOGPROBS), "above 0")


def to_bfloat16(value: float) -> float:
    """The nearest bfloat16, ties to even, by integers."""
    bits = int(np.float32(value).view(np.uint32))
    return float(np.uint32((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).view(np.float32))


ROUNDED: dict[str, tuple[Callable[[float], float], str]] = {
    "float16": (lambda x: float(np.float16(x)), "float16"),
    "bfloat16": (to_bfloat16, "bfloat16"),
    "2 decimals": (lambda x: round(x, 2), "2 decimals"),
    "4 decimals": (lambda x: round(x, 4), "4 decimals"),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_values_have_a_half_width_that_holds_the_law(name: str) -> None:
    """Thousands of rows, each cut to eight tokens and rounded: the law lies within."""
    change, said = ROUNDED[name]
    rng = np.random.default_rng(21)
    laws = [law(rng, 64).astype(np.float32).astype(np.float64) for _ in range(1500)]
    tops = [top(values, 8) for values in laws]
    record = {
        "topk_ids": [ids for ids, _ in tops],
        "topk_logprobs": [[change(x) for x in values] for _, values in tops],
    }
    file = of_value(record, vocab_size=64)
    assert dict(file.shown)["rounding"] == f"stored in {said}"
    for values, row in zip(laws, rows_of(file), strict=True):
        assert_holds(row, values)


def test_numbers_that_are_told_to_be_exact_are_taken_so() -> None:
    record = plain()
    record["topk_logprobs"] = [
        [float(np.float16(x)) for x in row] for row in record["topk_logprobs"]
    ]
    exact = of_value(record, numbers=NumberFormat.FLOAT32)
    assert {partial(row).half_width for row in rows_of(exact)} == {Fraction(0)}
    assert partial(rows_of(of_value(record))[0]).half_width > 0


def assert_holds(row: EngineRow, values: np.ndarray) -> None:
    """A law is one of those that a row allows, with the scale 1."""
    found, known = listed(row), partial(row)
    width = known.half_width
    for token, value in enumerate(values.tolist()):
        if token in found:
            assert abs(Fraction(value) - Fraction(found[token])) <= width
        elif known.cap is not None:
            assert Fraction(value) <= known.cap


def test_a_half_precision_column_is_rounded_whatever_it_holds(tmp_path: Path) -> None:
    record = plain()
    halves = [[np.float16(x) for x in row] for row in record["topk_logprobs"]]
    columns = {**{name: [x] for name, x in record.items()}, "topk_logprobs": [halves]}
    kind = pa.list_(pa.list_(pa.float16()))
    file = of_parquet(parquet(tmp_path, columns, {"topk_logprobs": kind}))
    row = rows_of(file)[0]
    largest = max(abs(value) for value in listed(row).values())
    assert partial(row).half_width == Fraction(2) ** (math.floor(math.log2(largest)) - 11)
    assert list(listed(row)) == sorted(record["topk_ids"][0])


def test_float32_values_are_taken_as_they_are() -> None:
    record = plain()
    record["topk_logprobs"] = [[float(np.float32(x)) for x in y] for y in record["topk_logprobs"]]
    file = of_value(record)
    assert {partial(row).half_width for row in rows_of(file)} == {Fraction(0)}
    assert "rounding" not in dict(file.shown)


# --- tables that no longer hold the law ------------------------------------------------------


def renormalised() -> dict[str, Any]:
    record = plain()
    record["topk_logprobs"] = [
        [x - math.log(math.fsum(map(math.exp, row))) for x in row]
        for row in record["topk_logprobs"]
    ]
    return record


def test_renormalised_lists_are_refused_as_conditional() -> None:
    refuses(lambda: of_value(renormalised()), "conditional on the list", "--stage processed")
    file = of_value(renormalised(), stage=Stage.PROCESSED)
    assert {row.stage for row in rows_of(file)} == {Stage.PROCESSED}
    one_honest = renormalised()
    one_honest["topk_logprobs"][3] = plain()["topk_logprobs"][3]
    assert of_value(one_honest).count == 20


def test_peaked_lists_of_all_mass_are_no_such_lists() -> None:
    """The tail of a sure model is small, and its lists hold all mass without being touched."""
    values = [math.log1p(-3e-9), -20.0, -21.0, -22.0]
    record = {"topk_ids": [[1, 2, 3, 4]] * 9, "topk_logprobs": [values] * 9}
    assert of_value(record).count == 9


def test_renormalised_half_precision_is_seen_through_its_rounding() -> None:
    record = renormalised()
    record["topk_logprobs"] = [
        [float(np.float16(x)) for x in row] for row in record["topk_logprobs"]
    ]
    refuses(lambda: of_value(record), "conditional on the list")
