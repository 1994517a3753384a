"""Recorded steps as they are read: names, fields, arrays, and every way of being broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, RowError, SettingsError, SpecdistError
from specdist.model.row import FloatValues, ListedValues, NumberFormat, RationalValues, Stage
from specdist.model.settings import ReadingSettings
from specdist.model.trace import Trace
from specdist.readers.traces.opening import open_trace
from tests.oracle_replay import load_steps
from tests.replay_runs import CAPTURES, write_steps

STEP: dict[str, Any] = {
    "sequence": 0,
    "step": 0,
    "prompt_len": 2,
    "context": [1, 2],
    "drafted": [3, 4],
    "u_draft": [0.1, 0.2],
    "u_accept": [0.3, 0.4],
    "accepted": [True, False],
    "n_accepted": 1,
    "u_final": 0.5,
    "final_kind": "recovered",
    "final_token": 5,
    "emitted": [3, 5],
    "next_context": [1, 2, 3, 5],
    "p_drafted": [0.5, 0.1],
    "q_drafted": [0.25, 0.5],
}
WRAPPED: dict[str, Any] = {
    "step": 0,
    "u": [0.25],
    "final_law_support": 3,
    "last_token": 4,
    "draft_ids": [2],
    "q_of_draft": [0.5],
    "p_of_draft": [0.25],
    "n_accepted": 1,
    "emitted": [2, 4],
    "context_len": 7,
}


def opened(path: Path, rows: Path | None = None, **reading: Any) -> Trace:
    return open_trace(str(path), ReadingSettings(**reading), None if rows is None else str(rows))


def written(tmp_path: Path, *steps: dict[str, Any]) -> Path:
    return write_steps(tmp_path / "steps.jsonl", steps)


def test_every_field_of_a_step(tmp_path: Path) -> None:
    (step,) = opened(written(tmp_path, STEP)).steps()
    assert step.id == "0.0"
    assert step.source.endswith("steps.jsonl, line 1")
    assert (step.drafted, step.emitted, step.n_accepted) == ((3, 4), (3, 5), 1)
    assert step.accepted == (True, False)
    assert step.mask is None
    assert [float(u) for u in step.u_accept or ()] == [0.3, 0.4]
    assert float(step.u_final or 0) == 0.5
    assert (step.tests, step.rejected, step.final_token) == (2, True, 5)
    assert (step.context_length, step.prompt_length) == (2, 2)


def test_a_raw_mask_is_taken_and_counted_to_the_first_rejection(tmp_path: Path) -> None:
    step = {"drafted": [1, 2, 3, 4], "accepted": [1, 0, 1, 1], "n_accepted": 3, "emitted": [1, 9]}
    (read,) = opened(written(tmp_path, step)).steps()
    assert (read.n_accepted, read.reported_accepted) == (1, 3)
    assert (read.accepted, read.mask) == ((True, False), (True, False, True, True))
    assert read.final_token == 9


def test_the_other_spelling_is_that_of_transformers(tmp_path: Path) -> None:
    trace = opened(written(tmp_path, WRAPPED))
    assert not trace.conventions.strict
    assert trace.conventions.quotient is NumberFormat.FLOAT32
    assert trace.conventions.uniforms is NumberFormat.FLOAT32
    (step,) = trace.steps()
    assert (step.drafted, step.final_token, step.final_support) == ((2,), 4, 3)
    assert (step.context, step.context_length) == (None, 7)
    assert step.id == "0"


def test_settings_of_the_configuration_are_in_force() -> None:
    trace = opened(CAPTURES / "good/a")
    assert trace.options.target == {"temperature": "0.8", "top-p": "0.95", "top-k": "off"}
    assert trace.vocab_size == 4096
    assert trace.step_count == 12
    facts = dict(trace.facts)
    assert facts["stage"] == "raw (the configuration says so)"
    assert "target.npy" in facts["rows"]
    assert facts["not used"].startswith("of config.json: target, draft, model_dtype")


def test_rows_are_those_of_the_numbers() -> None:
    trace = opened(CAPTURES / "good/a")
    target = np.load(CAPTURES / "good/a/target.npy")
    for step, line in zip(trace.steps(), load_steps(CAPTURES / "good/a"), strict=True):
        for row, number in zip(step.target_rows, line["target_rows"], strict=True):
            assert isinstance(row.values, FloatValues)
            assert np.array_equal(row.values.array, target[number])
            assert row.place.endswith(f"array[{number}]")
            assert row.stage is Stage.RAW


def test_what_the_verifying_function_got_is_processed_already() -> None:
    trace = opened(CAPTURES / "hf/top_k_off")
    assert trace.options.target == {}
    assert "what the rows have been through is not repeated" in dict(trace.facts)["settings"]
    step = next(trace.steps())
    assert step.target_rows[0].stage is Stage.PROCESSED
    assert step.final_noise is not None
    (reported,) = trace.reported
    assert sum(reported.step_accepted or ()) == 19


def test_hidden_top_k_is_in_force(tmp_path: Path) -> None:
    assert opened(CAPTURES / "hf/raw_rows").options.target["top-k"] == "off"
    config = json.loads((CAPTURES / "hf/top_k_unset/config.json").read_text("utf-8"))
    assert "top_k" not in config["sampling"]
    (tmp_path / "config.json").write_text(json.dumps({**config, "summary": {}}))
    assert opened(written(tmp_path, WRAPPED)).options.target["top-k"] == "50"


def test_blocks_are_numbered_by_their_lengths(tmp_path: Path) -> None:
    second = {**WRAPPED, "step": 1, "draft_ids": [1, 2], "u": [0.5], "n_accepted": 0}
    second |= {"q_of_draft": [0.5, 0.5], "p_of_draft": [0.25, 0.5], "emitted": [4]}
    path = written(tmp_path, WRAPPED, second)
    rows = tmp_path / "blocks.npz"
    target, draft = np.arange(25.0).reshape(5, 5), np.arange(15.0).reshape(3, 5)
    np.savez(rows, target_scores=target, draft_scores=draft, draft_len=np.array([1, 2]))
    one, two = opened(path, rows).steps()
    assert [row.place.rpartition("[")[2] for row in one.target_rows] == ["0]", "1]"]
    assert [row.place.rpartition("[")[2] for row in two.target_rows] == ["2]", "3]", "4]"]
    assert [row.place.rpartition("[")[2] for row in two.draft_rows] == ["1]", "2]"]
    np.savez(rows, target_scores=target, draft_scores=draft, draft_len=np.array([2, 1]))
    with pytest.raises(CaptureError, match=r"1 tokens are drafted, .* has 2 rows") as caught:
        opened(path, rows)
    assert caught.value.place.endswith("line 1")
    np.savez(rows, target_scores=target, draft_scores=draft, draft_len=np.array([1, 2, 1]))
    with pytest.raises(CaptureError, match="3 steps have rows, 2 are recorded"):
        opened(path, rows)


def test_rows_in_the_line_are_exact(tmp_path: Path) -> None:
    step = {"drafted": [0], "accepted": [True], "emitted": [0, 1]}
    step |= {"target": [["1/3", "2/3"], [1, 0]], "draft": [["1/2", "1/2"]]}
    (read,) = opened(written(tmp_path, step)).steps()
    (row, bonus), (draft,) = read.target_rows, read.draft_rows
    assert isinstance(row.values, RationalValues)
    assert str(row.values.values[0]) == "1/3"
    assert row.place.endswith("steps.jsonl, line 1, target[0]")
    assert bonus.size == draft.size == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [["1/2", "1/2"]]}, "1 target rows and 1 draft rows for 1 drafted tokens"),
        ({"draft": None}, "draft is no list of rows"),
        ({"emitted": [0, 2]}, "token 2 is outside the rows"),
        ({"target": [["1/2", "1/2"], ["1/2", "1/4", "1/4"]]}, "3 numbers, the vocabulary 2"),
        ({"target": [["1/2", "-1/2"], ["1/2", "1/2"]]}, "negative"),
    ],
)
def test_broken_rows_in_the_line(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    step = {"drafted": [0], "accepted": [True], "emitted": [0, 1]}
    step |= {"target": [["1/3", "2/3"], [1, 0]], "draft": [["1/2", "1/2"]]}
    with pytest.raises((CaptureError, RowError), match=message) as caught:
        opened(written(tmp_path, {**step, **change}))
    assert "steps.jsonl, line 1" in caught.value.place


BROKEN = [
    ({"draftd": [1]}, "unknown field 'draftd'"),
    ({"drafted": None}, "the field drafted is missing"),
    ({"emitted": None}, "the field emitted is missing"),
    ({"accepted": None, "n_accepted": None}, "the field accepted or n_accepted or n_matches"),
    ({"drafted": "3"}, "drafted is a text"),
    ({"drafted": [3, 4.5]}, "drafted holds a number"),
    ({"drafted": [3, True]}, "drafted holds true"),
    ({"drafted": [3, -1]}, "drafted holds token -1, outside the vocabulary"),
    ({"drafted": [3, 9]}, "drafted holds token 9, outside the vocabulary"),
    ({"context": [1, 10]}, "context holds token 10"),
    ({"next_context": [1, 2, 3, 77]}, "next_context holds token 77"),
    ({"u_accept": [0.3]}, "u_accept holds 1 items"),
    ({"u_accept": [0.3, 1.0]}, "u_accept holds 1"),
    ({"u_accept": [0.3, 1]}, "u_accept holds 1"),
    ({"u_accept": [0.3, 0.99999999999999999]}, "u_accept holds 1"),
    ({"u_accept": [0.3, -0.1]}, "u_accept holds -0.1"),
    ({"u_accept": [0.3, None]}, "u_accept: expected a number, not null"),
    ({"u_accept": [0.3, "x"]}, "u_accept: 'x' is not a number"),
    ({"u_accept": [0.3, "-inf"]}, "u_accept holds -inf"),
    ({"u_final": 1.5}, "u_final holds 1.5"),
    ({"u_draft": [0.1]}, "u_draft holds 1 items"),
    ({"u_draft": [0.1, 0.2, 0.3]}, "u_draft holds 3 items"),
    ({"accepted": [True]}, "1 decisions for 2 drafted tokens"),
    ({"accepted": [True, False, True]}, "3 decisions for 2 drafted tokens"),
    ({"accepted": [True, 2]}, "accepted holds 2"),
    ({"n_accepted": 3}, "n_accepted is 3, 2 tokens are drafted"),
    ({"n_accepted": -1}, "n_accepted holds -1"),
    ({"final_kind": "bonus"}, "the final token is bonus, and a drafted token is rejected"),
    ({"final_kind": "other"}, "final_kind is 'other'"),
    ({"final_kind": 3}, "final_kind is a number"),
    ({"p_drafted": [0.5, 1.5]}, "p_drafted holds 1.5"),
    ({"p_drafted": [0.5]}, "p_drafted holds 1 items"),
    ({"q_drafted": [0.5, -0.5]}, "q_drafted holds -0.5"),
    ({"proposed": [3, 5, 6]}, "the submitted ids are not the first of the proposed ones"),
    ({"candidate_length": 3}, "candidate_length is 3, 2 tokens are drafted"),
    ({"prompt_len": 5}, "prompt_len is 5, the context holds 4 tokens"),
    ({"context_len": 3}, "context_len is 3, the context holds 4 tokens"),
    ({"step": -1}, "step holds -1"),
    ({"draft_ids": [3]}, "drafted and draft_ids are one field"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=lambda value: str(value)[:40])
def test_a_broken_step_names_its_line(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"sampling": {}, "vocab_size": 9, "gamma": 3}')
    broken = {**STEP, "step": 1, "context": [1, 2, 3, 5], "next_context": [1, 2, 3, 5, 3, 5]}
    path = written(tmp_path, STEP, {**broken, **change})
    with pytest.raises(CaptureError) as caught:
        opened(path)
    assert message in caught.value.message
    assert caught.value.place.endswith("steps.jsonl, line 2")
    assert caught.value.expected


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "no step is recorded", ""),
        ("\n\n", "no step is recorded", ""),
        ("[1, 2]\n", "this line is an array", "line 1"),
        ('{"drafted": [1],\n', "ends too early", "line 1"),
        ('{"drafted": [NaN], "emitted": [], "accepted": []}\n', "NaN is not JSON", ""),
        ('{"drafted": [1], "drafted": [2]}\n', "occurs twice", ""),
    ],
)
def test_text_that_is_no_step(text: str, message: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    path.write_text(text)
    with pytest.raises(CaptureError, match=message) as caught:
        opened(path)
    assert line in caught.value.place


def test_steps_out_of_order(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="step 0 of sequence 0 follows step 0") as caught:
        opened(written(tmp_path, STEP, STEP))
    assert caught.value.place.endswith("line 2")


def test_more_tokens_than_gamma(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"sampling": {}, "gamma": 1}')
    with pytest.raises(CaptureError, match="2 tokens are drafted") as caught:
        opened(written(tmp_path, STEP))
    assert "gamma = 1" in caught.value.expected


def arrays(tmp_path: Path, **changed: Any) -> Path:
    rows = {"target": np.ones((3, 9)), "draft": np.ones((2, 9)), **changed}
    rows["target"][0, 0] = rows["draft"][0, 0] = -1.0
    np.savez(tmp_path / "logits.npz", **rows)
    return tmp_path


def test_row_numbers_outside_the_arrays(tmp_path: Path) -> None:
    numbered = {**STEP, "draft_rows": [0, 1], "target_rows": [0, 1, 3]}
    written(tmp_path, numbered)
    with pytest.raises(CaptureError, match="target_rows holds row 3, the array has 3") as caught:
        opened(arrays(tmp_path))
    assert caught.value.place.endswith("steps.jsonl, line 1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "the field target_rows is missing"),
        ({"target_rows": [0, 1]}, "target_rows holds 2 items"),
        ({"target_rows": [0, 1, 2], "draft_rows": [0]}, "draft_rows holds 1 items"),
        ({"target_rows": [0, 1, -2], "draft_rows": [0, 1]}, "target_rows holds -2"),
        (
            {"target_rows": [0, 1, 2], "draft_rows": [0, 1], "emitted": [3, 9], "final_token": 9},
            "outside the vocabulary",
        ),
    ],
)
def test_rows_that_do_not_fit(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    written(tmp_path, {**STEP, **change})
    with pytest.raises(CaptureError, match=message) as caught:
        opened(arrays(tmp_path))
    assert "line 1" in caught.value.place


def test_a_nan_in_a_row_is_named_while_rows_are_read(tmp_path: Path) -> None:
    target = np.ones((3, 9))
    target[2, 4] = np.nan
    target[0, 1] = -3.0
    written(tmp_path, {**STEP, "draft_rows": [0, 1], "target_rows": [0, 1, 2]})
    with pytest.raises(RowError, match="NaN in a row") as caught:
        list(opened(arrays(tmp_path, target=target)).steps())
    assert caught.value.place.endswith("logits.npz, target[2, 4]")


def test_noise_must_be_positive_and_there(tmp_path: Path) -> None:
    written(tmp_path, {**STEP, "draft_rows": [0, 1], "target_rows": [0, 1, 2]})
    with pytest.raises(RowError, match="noise of a race that is not positive"):
        list(opened(arrays(tmp_path, final_noise=np.zeros((1, 9)))).steps())
    with pytest.raises(CaptureError, match="step 0 has no row of final_noise"):
        opened(arrays(tmp_path, final_noise=np.zeros((0, 9))))


@pytest.mark.parametrize(
    ("config", "message", "place"),
    [
        ('{"sampling": 3}', "sampling is a number", "config.json, sampling"),
        ('{"sampling": {"top_p": [1]}}', "an array as a setting", "sampling.top_p"),
        ('{"sampling": {}, "vocab_size": 0}', "vocab_size is a number", "vocab_size"),
        ('{"sampling": {}, "rows": 1}', "rows is a number", "rows"),
        ('{"sampling": {}, "format": "parquet"}', "format is 'parquet'", "format"),
        ('{"sampling": {}, "stored_dtype": "int8"}', "stored_dtype is 'int8'", "stored_dtype"),
        ('{"sampling": {}, "applied_to": ["draft"]}', "applied to draft", "applied_to"),
        ('{"sampling": {}, "stop_tokens": [-1]}', "end token -1", "config.json"),
        ('{"sampling": {}, "eos_token_id": "a"}', "eos_token_id is a text", "eos_token_id"),
        ('{"sampling": {}, "metrics": []}', "metrics is an array", "metrics"),
        ('{"sampling": {}', "ends too early", "config.json"),
    ],
)
def test_a_broken_configuration(config: str, message: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(CaptureError, match=message) as caught:
        opened(written(tmp_path, STEP))
    assert place in caught.value.place


def test_settings_for_one_side_only(tmp_path: Path) -> None:
    config = {"sampling": {"temperature": 0.5}, "applied_to": ["target"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    options = opened(written(tmp_path, STEP)).options
    assert (options.target, options.draft) == ({"temperature": "0.5"}, {"temperature": "off"})


def test_a_configuration_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    trace = opened(written(tmp_path, STEP))
    assert trace.options.target == {}
    assert dict(trace.facts)["settings"].startswith("no config.json beside the steps")


def test_names_that_are_no_trace(tmp_path: Path) -> None:
    (tmp_path / "rows.npz").write_bytes(b"")
    with pytest.raises(CaptureError, match=r"this folder has no steps\.jsonl: rows\.npz"):
        opened(tmp_path)
    with pytest.raises(CaptureError, match="no such file"):
        opened(tmp_path / "none.jsonl")
    path = written(tmp_path, STEP)
    with pytest.raises(SpecdistError, match="no file of arrays"):
        opened(path, path)
    step = {"drafted": [0], "accepted": [True], "emitted": [0, 1]}
    step |= {"target": [["1/3", "2/3"], [1, 0]], "draft": [["1/2", "1/2"]]}
    with pytest.raises(SettingsError, match="the lines hold their rows"):
        opened(written(tmp_path, step), path)


def test_an_archive_needs_both_sides(tmp_path: Path) -> None:
    np.savez(tmp_path / "logits.npz", target=np.ones((3, 9)))
    written(tmp_path, STEP)
    with pytest.raises(CaptureError, match="rows of both sides are not among target"):
        opened(tmp_path)


def test_copies_that_are_rounded_are_known_by_name_or_by_format(tmp_path: Path) -> None:
    numbered = {**STEP, "draft_rows": [0, 1], "target_rows": [0, 1, 2]}
    written(tmp_path, numbered)
    rows = arrays(tmp_path)
    for config, lossy in (
        ({}, False),
        ({"lossy_copies": ["logits.npz"]}, True),
        ({"stored_dtype": "float64"}, False),
    ):
        (tmp_path / "config.json").write_text(json.dumps({"sampling": {}, **config}))
        assert opened(rows).lossy is lossy
    np.savez(
        tmp_path / "logits.npz",
        target=np.full((3, 9), 5.0, "f2") - np.eye(3, 9, dtype="f2") * 9,
        draft=np.full((2, 9), 5.0, "f2") - np.eye(2, 9, dtype="f2") * 9,
    )
    (tmp_path / "config.json").write_text('{"sampling": {}, "stored_dtype": "float32"}')
    trace = opened(rows)
    assert trace.lossy
    values = next(trace.steps()).target_rows[0].values
    assert isinstance(values, ListedValues)
    assert float(values.half_width) == 2.0**-9  # half a unit of float16 from 4 to 8
    assert "rounded copies" in dict(trace.facts)["precision"]


def test_the_stage_is_told_or_shown_or_assumed(tmp_path: Path) -> None:
    numbered = {**STEP, "draft_rows": [0, 1], "target_rows": [0, 1, 2]}
    written(tmp_path, numbered)
    cut = np.full((3, 9), 2.0)
    cut[0, 1] = cut[1, 2] = -np.inf
    assert dict(opened(arrays(tmp_path, target=cut)).facts)["stage"].startswith("processed (-inf")
    assert "assumed" in dict(opened(arrays(tmp_path)).facts)["stage"]
    trace = opened(arrays(tmp_path), stage=Stage.PROCESSED)
    assert dict(trace.facts)["stage"] == "processed (as told (--stage))"


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("the stored rows, widened exactly to float64", NumberFormat.FLOAT64),
        ("float16 rows, softmax in float32.", NumberFormat.FLOAT32),
        ("the stored rows", NumberFormat.FLOAT32),
    ],
)
def test_the_arithmetic_of_the_run_is_float32_unless_it_is_said(
    said: str, numbers: NumberFormat, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"sampling": {}, "decisions_from": said}))
    assert opened(written(tmp_path, STEP)).conventions.arithmetic is numbers
