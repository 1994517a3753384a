"""Answers of old llama-servers, which name tokens by their text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from specdist.model.row import Stage
from specdist.readers.engine_files.labels import Labels
from tests.listed_files import cap, of_value, partial, refuses, rows_of


def old() -> dict[str, Any]:
    return {
        "content": " a b",
        "tokens_evaluated": 3,
        "completion_probabilities": [
            {
                "content": " a",
                "probs": [
                    {"tok_str": " a", "prob": 0.5},
                    {"tok_str": " b", "prob": 0.25},
                    {"tok_str": " c", "prob": 0.25},
                    {"tok_str": "x", "prob": 0.0},
                    {"tok_str": "x", "prob": 0.0},
                ],
            },
            {
                "content": " z",
                "probs": [{"tok_str": " a", "prob": 0.5}, {"tok_str": " b", "prob": 0.125}],
            },
        ],
    }


def test_the_old_layout_names_tokens_by_text() -> None:
    file = of_value(old())
    rows = rows_of(file)
    assert (file.reader, file.stage, file.assumed) == ("llama-server-old", Stage.PROCESSED, True)
    assert rows[0].labels == (" a", " b", " c")
    assert (rows[0].index, rows[0].token, rows[1].token) == (3, 0, None)
    assert (partial(rows[0]).support, partial(rows[0]).others) == ((0, 1, 2), 0)
    assert (partial(rows[1]).open_ended, cap(rows[1])) == (True, 0.125)
    joined = Labels(reversed(rows), None).joined(rows[0])
    assert partial(joined).support == partial(joined).ids


def test_texts_that_may_be_two_tokens_mark_their_position() -> None:
    value = old()
    value["completion_probabilities"][1]["probs"][1]["tok_str"] = " a"
    assert "same text" in rows_of(of_value(value))[1].refused
    value["completion_probabilities"][1]["probs"][1]["tok_str"] = "\ufffd"
    assert "U+FFFD" in rows_of(of_value(value))[1].refused
    del value["completion_probabilities"][0]
    refuses(lambda: of_value(value), "no position can be used", "U+FFFD")


def test_old_probabilities_are_checked() -> None:
    value = old()
    value["completion_probabilities"][1]["probs"][0]["prob"] = -0.5
    refuses(lambda: of_value(value), "no probability")
    value["completion_probabilities"][1]["probs"][0]["prob"] = 0.95
    refuses(lambda: of_value(value), "a mass of 1.075")


def test_a_sum_of_quarters_is_exactly_one() -> None:
    assert sum(Fraction(x["prob"]) for x in old()["completion_probabilities"][0]["probs"]) == 1
