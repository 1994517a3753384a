"""The JSON reports: the shape of the schema, exact numbers, lines."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from specdist.errors import SettingsError
from specdist.model.figure import Figure
from specdist.model.report import BonusResult, BonusToken
from specdist.model.verdict import Verdict
from specdist.reports.json_numbers import number
from specdist.reports.json_report import to_json
from specdist.reports.jsonl_report import error_line, step_line, summary_line
from tests import report_samples as samples
from tests.cli import ROOT

SCHEMA = json.loads((ROOT / "specdist/schemas/report.schema.json").read_text("utf-8"))


def validate(document: Any, definition: str | None = None) -> None:
    schema = (
        SCHEMA if definition is None else {**SCHEMA["$defs"][definition], "$defs": SCHEMA["$defs"]}
    )
    Draft202012Validator(schema).validate(document)


def test_the_schema_is_a_schema_and_strict() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    def objects(node: Any) -> Any:
        if isinstance(node, dict):
            if "properties" in node:
                yield node
            for child in node.values():
                yield from objects(child)
        elif isinstance(node, list):
            for child in node:
                yield from objects(child)

    found = list(objects(SCHEMA))
    assert len(found) > 10
    assert all(node["additionalProperties"] is False for node in found)


@pytest.mark.parametrize("report", [samples.passing(), samples.failing(), samples.nothing()])
def test_reports_follow_the_schema(report: Any) -> None:
    validate(json.loads(json.dumps(to_json(report, exact=False))))


@pytest.mark.parametrize("key", ["verdict", "summary", "steps", "scope"])
def test_a_missing_key_is_caught(key: str) -> None:
    document = to_json(samples.passing(), exact=False)
    del document[key]
    with pytest.raises(ValidationError):
        validate(document)


def test_an_extra_key_is_caught() -> None:
    document = copy.deepcopy(to_json(samples.passing(), exact=False))
    document["steps"][0]["positions"][0]["extra"] = 1
    with pytest.raises(ValidationError):
        validate(document)


def test_the_numbers_of_the_failing_sample() -> None:
    document = to_json(samples.failing(), exact=False)
    (step,) = document["steps"]
    (position,) = step["positions"]
    assert document["verdict"] == step["verdict"] == position["verdict"] == "different"
    assert position["acceptance_rate"] == {"exact": "11/15", "approx": 11 / 15}
    assert position["reference_acceptance_rate"]["exact"] == "169/240"
    assert [token["output"]["exact"] for token in position["tokens"]] == [
        "8/15",
        "4/15",
        "1/5",
        "0",
    ]
    assert [token["text"] for token in position["tokens"]] == [" the", " a", "[/INST]", " an"]
    assert step["findings"][0]["ident"] == "output-mismatch"
    assert step["mean_acceptance_length"]["exact"] == "26/15"


def test_an_unreachable_residual_is_null() -> None:
    tokens = tuple(replace(token, residual=None) for token in samples.PASSING.tokens)
    document = to_json(samples.report(replace(samples.PASSING, tokens=tokens)), exact=False)
    validate(document)
    assert [t["residual"] for t in document["steps"][0]["positions"][0]["tokens"]] == [None] * 4


def test_long_denominators_need_the_exact_option() -> None:
    short, long = Figure.of(Fraction(1, 10**199)), Figure.of(Fraction(1, 10**200))
    assert number(short, exact=False)["exact"] == f"1/{10**199}"
    assert number(long, exact=False)["exact"] is None
    assert number(long, exact=True)["exact"] == f"1/{10**200}"
    huge = number(Figure.of(Fraction(1, 7**9000)), exact=True)["exact"]
    assert len(huge) > 7000


def test_bounds_never_shrink() -> None:
    bound = Fraction(1, 3)
    shown = number(Figure(0.5, None, bound, "e/(1 + e)"), exact=False)
    assert shown["exact"] is None
    assert Fraction(shown["bound"]) >= bound
    assert shown["symbolic"] == "e/(1 + e)"
    validate(shown, "number")


def test_a_bonus_row_is_reported_on_the_step() -> None:
    half = Figure.of(Fraction(1, 2))
    token = BonusToken(0, None, half, half, Figure.of(0))
    bonus = BonusResult(Verdict.EQUAL, 2, Figure.of(0), (token, replace(token, id=1)), ())
    report = samples.passing()
    report = replace(report, steps=(replace(report.steps[0], bonus=bonus),))
    document = to_json(report, exact=False)
    validate(document)
    assert [t["output"]["exact"] for t in document["steps"][0]["bonus"]["tokens"]] == ["1/2", "1/2"]


def test_lines_are_a_step_each_and_the_summary_last() -> None:
    report = samples.failing()
    step = json.loads(step_line(report.steps[0], exact=False))
    summary = json.loads(summary_line(report, exact=False))
    whole = to_json(report, exact=False)
    validate(step, "line")
    validate(summary, "line")
    assert step == whole["steps"][0]
    assert summary == {key: value for key, value in whole.items() if key != "steps"}


def test_an_error_line_names_the_ident() -> None:
    error = SettingsError("top-p=3/2 is out of range", expected="a number above 0, up to 1")
    line = json.loads(error_line(error))
    validate(line, "line")
    assert line["error"]["ident"] == "invalid-settings"
    assert line["error"]["place"] is None


def test_texts_that_no_encoding_can_write_survive() -> None:
    tokens = tuple(replace(token, text="\ud800\n[/INST]") for token in samples.PASSING.tokens)
    report = samples.report(replace(samples.PASSING, tokens=tokens))
    text = step_line(report.steps[0], exact=False)
    assert text.isascii()
    assert text.count("\n") == 1
    assert json.loads(text)["positions"][0]["tokens"][0]["text"] == "\ud800\n[/INST]"


def test_settings_are_plain() -> None:
    settings = {"max_tv": Fraction(1, 16), "allow": frozenset({"b", "a"}), "steps": (1, None)}
    document = to_json(replace(samples.passing(), settings=settings), exact=False)
    assert document["settings"] == {"max_tv": "1/16", "allow": ["a", "b"], "steps": [1, None]}
