"""JSON captures: every form, exact numbers, and a schema that agrees with the reader."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import SpecdistError
from specdist.model.capture import Step
from specdist.model.options import ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import Kind, NumberFormat, PointMass, RationalValues, Row, Stage
from specdist.readers.json_numbers import to_format
from tests.reader_files import ROOT, read_one, values, write

GOOD = ["1/2", "3/10", "1/5"]
DRAFT = ["1/5", "1/2", "3/10"]
EXACT = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
SCHEMA = ROOT.parent / "specdist" / "schemas" / "capture.schema.json"


def steps_of(folder: Path, document: Any, **reading: Any) -> list[Step]:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_one(write(folder, "capture.json", text), **reading)[1]


def target_of(folder: Path, row: Any, **members: Any) -> Row:
    return steps_of(folder, {"target": row, "draft": row, **members})[0].positions[0].target


def test_the_short_form(tmp_path: Path) -> None:
    (step,) = steps_of(tmp_path, {"target": GOOD, "draft": DRAFT})
    (position,) = step.positions
    assert values(position.target) == EXACT
    assert values(position.draft) == [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]
    assert (step.id, step.bonus, step.context, step.findings) == ("0", None, None, ())
    assert (position.target.kind, position.target.stage) == (Kind.PROBABILITIES, Stage.RAW)
    assert position.target.numbers is NumberFormat.DECIMAL
    assert position.target.place == f"{tmp_path}/capture.json, target"


def test_the_full_form(tmp_path: Path) -> None:
    document = {
        "schema": "specdist.capture/1",
        "numbers": "decimal",
        "kind": "logits",
        "stage": "temperature",
        "vocab": ["A", "B", "C"],
        "settings": {
            "temperature": "4/5",
            "top_p": 0.95,
            "min-p": 1e-3,
            "draft_top_k": 2,
            "draft": {"top_p": "9/10", "recipe": "top-k:3"},
            "rule": "token",
            "banned": [1, 2],
            "logit_bias": {"0": "3/2", "2": -1},
            "roles": {"accept-draft": "raw"},
        },
        "steps": [
            {
                "id": "first",
                "context": [1, 2, 77],
                "prompt_length": 2,
                "draft_tokens": [0, 2],
                "settings": {"temperature": 1},
                "roles": {"residual_draft": "top-k:2"},
                "positions": [
                    {"target": [1, 0.1, "-inf"], "draft": [1, 2, 3]},
                    {
                        "target": {"1": "1/3"},
                        "draft": {"one_hot": 2},
                        "roles": {"drafted_from": "top-p:9/10", "bonus_from": [1, 2, 3]},
                    },
                ],
                "bonus": {"target": [3, 2, 1]},
            },
            {"id": 7, "target": [1, 2, 3], "draft_token": 1},
        ],
    }
    first, second = steps_of(tmp_path, document)
    one, two = first.positions
    assert values(one.target) == [Fraction(1), Fraction(1, 10), None]
    assert values(two.target) == [None, Fraction(1, 3), None]
    assert two.draft.values == PointMass(2, 3)
    assert (one.draft_token, two.draft_token) == (0, 2)
    assert first.draft_tokens == (0, 2)
    assert (first.id, first.context, first.prompt_length) == ("first", (1, 2, 77), 2)
    assert first.bonus is not None
    assert values(first.bonus) == [3, 2, 1]
    assert first.bonus.place.endswith("steps[0].bonus.target")
    assert two.roles[Role.DRAFTED_FROM] == "top-p:9/10"
    assert Role.BONUS_FROM not in two.roles
    explicit = first.bonus_from
    assert isinstance(explicit, Row)
    assert (values(explicit), explicit.stage) == ([1, 2, 3], Stage.PROCESSED)
    assert first.options == ProcessingOptions(
        target={
            "temperature": "1",
            "top-p": "0.95",
            "min-p": "0.001",
            "banned": "1+2",
            "logit-bias": "0=3/2+2=-1",
        },
        draft={"top-k": "2", "top-p": "9/10"},
        draft_recipe="top-k:3",
        roles={Role.ACCEPT_DRAFT: "raw", Role.RESIDUAL_DRAFT: "top-k:2"},
        rule="token",
    )
    assert second.options.target["temperature"] == "4/5"
    assert second.id == "7"
    assert second.positions[0].draft.values == PointMass(1, 3)
    assert second.positions[0].target.stage is Stage.TEMPERATURE
    assert first.vocab is not None
    assert first.vocab.text(2) == "C"


def test_numbers_are_exact(tmp_path: Path) -> None:
    text = (
        '{"kind": "logits", "target": [0.1, 1e-400, 123456789012345678901234567890.5, -0.0, "7/3"],'
        ' "draft": [0.30000000000000004, 1E+2, ".5", "2.", "-1e3"]}'
    )
    (step,) = steps_of(tmp_path, text)
    assert values(step.positions[0].target) == [
        Fraction(1, 10),
        Fraction(1, 10**400),
        Fraction(246913578024691357802469135781, 2),
        Fraction(0),
        Fraction(7, 3),
    ]
    assert values(step.positions[0].draft) == [
        Fraction(30000000000000004, 10**17),
        Fraction(100),
        Fraction(1, 2),
        Fraction(2),
        Fraction(-1000),
    ]


def test_maps_leave_out_what_is_zero(tmp_path: Path) -> None:
    row = target_of(tmp_path, {"0": "1/2", "3": "1/2"}, vocab_size=5)
    assert values(row) == [Fraction(1, 2), 0, 0, Fraction(1, 2), 0]
    row = target_of(tmp_path, {"0": -1, "3": -1}, vocab_size=5, kind="logprobs")
    assert values(row) == [Fraction(-1), None, None, Fraction(-1), None]
    row = target_of(tmp_path, {"A": "1/2", "1": "1/2"}, vocab=["A", "B", "B"])
    assert values(row) == [Fraction(1, 2), Fraction(1, 2), 0]
    (step,) = steps_of(tmp_path, {"target": GOOD, "draft": {"2": 1}})
    assert values(step.positions[0].draft) == [0, 0, 1]
    (step,) = steps_of(tmp_path, {"target": {"2": 1}, "draft": {"2": 1}}, vocab_size=4)
    assert step.positions[0].target.size == 4


def test_json_lines_with_a_header(tmp_path: Path) -> None:
    lines = [
        {"schema": "specdist.capture/1", "kind": "logits", "settings": {"top_k": 2, "top_p": 1}},
        {"target": [1, 2, 3], "draft": [1, 2, 3]},
        {"id": "x", "positions": [{"target": [1, 2, 3], "draft": [1, 2, 3]}]},
        {"kind": "probabilities", "settings": {"top_k": 1}, "target": GOOD, "draft": DRAFT},
        {"steps": [{"target": [1, 2, 3], "draft": [3, 2, 1]}] * 2},
    ]
    text = "\n\n".join(map(json.dumps, lines)) + "\n"
    for data in (text.encode(), gzip.compress(text.encode()), b"\xef\xbb\xbf" + text.encode()):
        capture, steps = read_one(write(tmp_path, "some.name", data))
        assert capture.reader == "jsonl"
        assert capture.step_count == 5
        assert [step.id for step in steps] == ["0", "x", "2", "3", "4"]
        kinds = [step.positions[0].target.kind for step in steps]
        assert kinds == [Kind.LOGITS] * 2 + [Kind.PROBABILITIES] + [Kind.LOGITS] * 2
        assert steps[2].options.target == {"top-k": "1", "top-p": "1"}
        assert steps[2].source == f"{tmp_path}/some.name, line 7"
        assert steps[4].positions[0].target.place.endswith("line 9, steps[1].target")
        assert list(capture.steps()) == steps


def test_large_files_of_lines_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdist.readers.jsonl_capture.EAGER_BYTES", 10)
    line = json.dumps({"target": GOOD, "draft": DRAFT})
    path = write(tmp_path, "c.jsonl", f"{line}\n{line}\n{{broken\n")
    from specdist.model.capture import Capture
    from specdist.model.settings import ReadingSettings
    from specdist.readers import open_captures

    (capture,) = open_captures([path], ReadingSettings())
    assert isinstance(capture, Capture)
    assert capture.step_count is None
    steps = capture.steps()
    assert [next(steps).id, next(steps).id] == ["0", "1"]
    with pytest.raises(SpecdistError, match="not valid JSON") as error:
        next(steps)
    assert "line 3" in error.value.place


def test_a_document_over_several_lines_is_no_json_lines(tmp_path: Path) -> None:
    text = json.dumps({"target": GOOD, "draft": DRAFT}, indent=1)
    assert read_one(write(tmp_path, "c", text))[0].reader == "json"
    assert read_one(write(tmp_path, "c", gzip.compress(text.encode())))[0].reader == "json"


def test_the_command_line_wins_and_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, "c.json", json.dumps({"kind": "logits", "target": GOOD, "draft": DRAFT}))
    capture, (step,) = read_one(path, kind=Kind.PROBABILITIES, stage=Stage.PROCESSED)
    assert step.positions[0].target.kind is Kind.PROBABILITIES
    assert ("kind", "probabilities (command line; the capture says logits)") in capture.facts
    assert ("stage", "processed (command line)") in capture.facts


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_float32_literals_come_back(value: float) -> None:
    exact = Fraction(float(np.float32(value)))
    for text in (repr(float(value)), str(np.float32(value))):
        assert to_format(Fraction(text), NumberFormat.FLOAT32) == exact


@given(st.fractions(), st.integers(-60, 60))
def test_rounding_agrees_with_numpy(value: Fraction, power: int) -> None:
    value = value * Fraction(2) ** power
    for numbers, kind in ((NumberFormat.FLOAT64, np.float64),):
        assert to_format(value, numbers) == Fraction(float(kind(float(value))))
    double = Fraction(float(value))
    if abs(double) < 60000:
        assert to_format(double, NumberFormat.FLOAT16) == Fraction(float(np.float16(float(double))))
    assert to_format(double, NumberFormat.FLOAT32) == Fraction(float(np.float32(float(double))))


def test_no_double_rounding(tmp_path: Path) -> None:
    """Just above the middle of two float32 values: through float64 it would round down."""
    middle = Fraction(1) + Fraction(1, 2**24)
    text = str(middle.numerator / middle.denominator)
    literal = text + "0" * (60 - len(text)) + "1"
    row = target_of(tmp_path, [f"{literal}", "0", "0"], numbers="float32", kind="logits")
    assert values(row)[0] == 1 + Fraction(1, 2**23)
    assert row.numbers is NumberFormat.FLOAT32
    assert isinstance(row.values, RationalValues)


def test_bfloat16_literals_round_by_hand(tmp_path: Path) -> None:
    row = target_of(tmp_path, [0.1, 1.00390625, 1.01171875], numbers="bfloat16", kind="logits")
    assert values(row) == [Fraction(205, 2048), Fraction(1), Fraction(65, 64)]


def test_a_masked_token_as_python_writes_it(tmp_path: Path) -> None:
    row = target_of(tmp_path, [0, 1.5, float("-inf")], kind="logits")
    assert values(row) == [Fraction(0), Fraction(3, 2), None]


@cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def position(**members: Any) -> dict[str, Any]:
    return {"target": GOOD, "draft": DRAFT, **members}


def long(**members: Any) -> dict[str, Any]:
    return {"positions": [position()], **members}


VALID: list[Any] = [
    position(),
    position(schema="specdist.capture/1", kind="probabilities", stage="raw", numbers="decimal"),
    position(vocab=["A", "B", "C"], vocab_size=3),
    position(settings={"temperature": 0.5, "top-p": "9/10", "draft-min-p": 1, "rule": "token"}),
    position(settings={"allowed": [1, 2], "logit_bias": {"1": "1/2"}, "draft": {"recipe": "raw"}}),
    position(roles={"drafted_from": "raw", "accept-draft": {"one_hot": 1}, "reference": GOOD}),
    position(id="a", context=[5, 6], prompt_length=1, draft_tokens=[1], bonus=GOOD),
    position(context=None, prompt_length=None, draft_tokens=None, bonus=None),
    position(bonus={"target": {"0": 1}}),
    position(bonus={"0": 1}),
    {"target": GOOD, "draft_token": 1},
    {"target": GOOD, "draft_tokens": [1]},
    {"target": {"0": "1/2", "1": 0.5}, "draft": {"one_hot": 1}, "vocab_size": 3},
    position(keep=[1, "1/2", 0], accept=[1, 0.5, 0], recovery={"2": 1}),
    position(keep=None, accept=None, recovery=None, draft_map=None),
    position(draft=["1/2", "1/2"], draft_map=[0, -1]),
    position(draft=["1/2", "1/2"], draft_map={"offsets": [0, 1]}, draft_vocab=["x", "y"]),
    position(draft=["1/2", "1/2"], draft_map={"ids": [2, 0]}),
    position(
        settings={"uniform": 8, "ratio_epsilon": 1e-9, "unnormalised": True, "keep": "share:1"}
    ),
    position(settings={"vocab_size": 3, "draft": {"vocab-map": "given", "cast": "float16"}}),
    long(),
    long(draft_map=[2, 1, 0]),
    long(roles={"drafted_from": "top-p:9/10"}, draft_tokens=[None]),
    long(draft_tokens=[0], positions=[{"target": GOOD}]),
    {"steps": []},
    {"steps": [long(id="x"), position(id=3)], "settings": {"recipe": "temperature:2"}},
]
INVALID: list[Any] = [
    position(schema="specdist.capture/2"),
    position(kind="probs"),
    position(kind=None),
    position(stage="cooked"),
    position(numbers="float8"),
    position(vocab=[]),
    position(vocab=[1, 2, 3]),
    position(vocab=None),
    position(vocab_size=0),
    position(vocab_size="3"),
    position(setting={}),
    position(settings=[]),
    position(settings={"top_pp": 1}),
    position(settings={"temperature": True}),
    position(settings={"uniform": True}),
    position(settings={"keep": [1, 0, 1]}),
    position(draft_map=[0, 1, "2"]),
    position(draft_map={"offset": [0, 0, 0]}),
    position(draft_map=[]),
    position(draft_vocab="abc"),
    position(keep="share:1"),
    position(settings={"temperature": None}),
    position(settings={"allowed": [[1]]}),
    position(settings={"draft": {"rule": "token"}}),
    position(settings={"roles": {"drafted": "raw"}}),
    position(settings={"roles": {"drafted_from": True}}),
    position(roles={"drafting": "raw"}),
    position(roles={"drafted_from": None}),
    position(id=""),
    position(id=1.5),
    position(context=5),
    position(context=[1.5]),
    position(context=[-1]),
    position(prompt_length="1"),
    position(draft_token="1"),
    position(draft_tokens=[-1]),
    position(bonus=3),
    position(bonus={"target": GOOD, "x": 1}),
    position(target=[]),
    position(target={}),
    position(target=[True, 0, 0]),
    position(target=[None, 0, 1]),
    position(target=["one", 0, 0]),
    position(target=["1/0", 0, 0]),
    position(target=["nan", 0, 0]),
    position(target=["inf", 0, 0]),
    position(target="1/2"),
    position(target=0.5),
    position(draft={"one_hot": "1"}),
    position(draft={"one_hot": -1}),
    position(draft=None),
    {"target": GOOD},
    {"target": GOOD, "draft_token": None},
    {"draft": GOOD},
    long(positions=[]),
    long(positions={}),
    long(positions=[5]),
    long(positions=[position(id="x")]),
    long(target=GOOD),
    long(roles={"drafted_from": GOOD and {"a": [1]}}),
    {"steps": [position()], "target": GOOD},
    {"steps": [position()], "id": "x"},
    {"steps": [position(steps=[])]},
    {"steps": [position(kind="logits")]},
    {"steps": {}, "schema": "specdist.capture/1"},
    {"steps": [5], "schema": "specdist.capture/1"},
    {"steps": [{}], "schema": "specdist.capture/1"},
    {"schema": "specdist.capture/1"},
]


@pytest.mark.parametrize("document", VALID, ids=str)
def test_schema_and_reader_accept(document: Any, tmp_path: Path) -> None:
    validator().validate(document)
    steps_of(tmp_path, document)


@pytest.mark.parametrize("document", INVALID, ids=str)
def test_schema_and_reader_refuse(document: Any, tmp_path: Path) -> None:
    assert not validator().is_valid(document)
    with pytest.raises(SpecdistError) as error:
        steps_of(tmp_path, document)
    assert error.value.place.startswith(f"{tmp_path}/capture.json")


def test_shipped_samples_fit_the_schema() -> None:
    found = sorted((ROOT.parent / "sample_inputs").glob("*.json"))
    assert len(found) >= 4
    for path in found:
        validator().validate(json.loads(path.read_text(encoding="utf-8")))


def test_settings_know_every_processor() -> None:
    from specdist.processing import PROCESSORS
    from specdist.readers.json_settings import PROCESSOR_KEYS

    assert set(PROCESSOR_KEYS) == {processor.name for processor in PROCESSORS}
    text = SCHEMA.read_text(encoding="utf-8")
    assert all(name.replace("-", "[_-]") in text for name in PROCESSOR_KEYS)


def test_json_needs_no_numpy(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = write(tmp_path, "c.json", json.dumps(position()))
    code = (
        "import sys; from specdist.readers import open_captures\n"
        "from specdist.model.settings import ReadingSettings\n"
        f"(c,) = open_captures([{path!r}], ReadingSettings()); list(c.steps())\n"
        "print([m for m in ('numpy', 'zipfile', 'gzip', 'pickle') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
