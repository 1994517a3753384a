"""What a command line or a file must not be able to do: be ignored, accuse, or stop specdist."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, ContextMismatchError
from specdist.model.settings import ReadingSettings
from specdist.readers.counters import open_counters
from specdist.readers.engine_files.registry import answer_formats, lines_formats
from specdist.readers.traces.opening import open_trace
from tests.cli import run

FIELD = Path(__file__).parent / "data" / "field"
COUNTERS = FIELD / "counters"
CHAT = json.dumps({"target": ["1/2", "1/2"], "draft": ["1/4", "3/4"], "kind": "probabilities"})
NAMES = sorted({form.name for form in (*answer_formats(), *lines_formats())})
STEP: dict[str, Any] = {
    "drafted": [1], "accepted": [True], "emitted": [1, 0], "u_accept": [0.25], "u_final": 0.5,
    "target": [["1/2", "1/2"]] * 2, "draft": [["1/4", "3/4"]],
}  # fmt: skip


def refused(*arguments: object, words: str = "") -> None:
    result = run(*arguments)
    assert result.code == 2, result.stdout + result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("error[")
    assert words in " ".join(result.stderr.split())
    parents = [str(Path(str(item)).parent) for item in arguments if "/" in str(item)]
    for line in result.stderr.splitlines():
        assert len(line) <= 80 or any(parent in line for parent in parents)


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_of_answers_is_not_replaced_by_another(name: str, tmp_path: Path) -> None:
    """An array, counters and a capture, each named as an answer."""
    np.save(tmp_path / "rows.npy", np.zeros((2, 3)))
    refused("inspect", tmp_path / "rows.npy", "--reader", name, words=f"{name} is a format of JSON")
    refused("inspect", COUNTERS / "vllm_metrics.prom", "--reader", name)
    refused("inspect", COUNTERS / "vllm_bench_serve.json", "--reader", name)
    refused("inspect", written(tmp_path / "capture.json", CHAT), "--reader", name)
    refused("check", written(tmp_path / "lines.jsonl", f"{CHAT}\n{CHAT}\n"), "--reader", name)


def test_a_format_of_lines_reads_no_document(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", {"model": "m", "message": {"content": "a"}, "done": True})
    refused("inspect", path, "--reader", "ollama-stream", words="a format of JSON lines")


@pytest.mark.parametrize("name", ["npy", "npz", "torch", "safetensors", "parquet", "llama-kld"])
def test_a_named_reader_is_not_replaced_by_counters(name: str) -> None:
    refused("inspect", COUNTERS / "llamacpp_metrics.prom", "--reader", name)


def test_counters_do_not_hide_a_broken_answer(tmp_path: Path) -> None:
    answer = {
        "text": "a", "output_ids": [3],
        "meta_info": {
            "spec_verify_ct": 2, "completion_tokens": 6,
            "output_token_logprobs": [[-0.5, -3, None]],
            "output_top_logprobs": [[[-0.5, -3, None]]],
        },
    }  # fmt: skip
    refused("inspect", written(tmp_path / "x.json", answer), words="token id -3 is negative")


@pytest.mark.parametrize(
    "name", ["vllm_bench_serve.json", "per_request_spec_metrics_detailed.json"]
)
def test_counts_of_a_request_are_no_running_totals(name: str, tmp_path: Path) -> None:
    """Less an earlier file only some counts would fall: the others would accuse the engine."""
    capture = written(tmp_path / "capture.json", CHAT)
    file = COUNTERS / name
    arguments = ("check", capture, "--counters", file, "--counters-before", file)
    refused(*arguments, words="do not go on from an earlier scrape")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"spec_decode_acceptance_rate": [50.0, 1]}, "an array stands for"),
        ({"spec_decode_acceptance_length": []}, "an array stands for"),
        ({"spec_decode_per_position_acceptance_rates": 0}, "a number stands for"),
        ({"spec_decode_per_position_acceptance_rates": {}}, "an object stands for"),
        ({"spec_decode_per_position_acceptance_rates": [[0.5]]}, "an array is not a rate"),
        ({"spec_decode_acceptance_rate": 10**300}, "is not a rate"),
        ({"spec_decode_draft_tokens": None}, "none of them is here"),
    ],
)
def test_a_bench_result_of_wrong_types(members: dict[str, Any], words: str, tmp_path: Path) -> None:
    found = {"num_prompts": 3, "spec_decode_draft_tokens": 9, **members}
    with pytest.raises(CaptureError, match=words):
        open_counters(str(written(tmp_path / "x.json", found)))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"metrics": {"speculative_decoding": {}}}, "none of them is here"),
        ({"engine": "e", "acceptance_histogram": {"1": 2, "01": 3}}, "a histogram cannot be"),
        ({"engine": "e", "acceptance_histogram": {"٣": 2}}, "a histogram cannot be"),
        ('sglang:spec_accept_rate{m="x"} 1e999999999\n', "is not a rate"),
        ('sglang:spec_accept_rate{m="x"} -1\n', "is not a rate"),
        ("vllm:spec_decode_num_drafts_total 3\n"
         "vllm:spec_decode_num_accepted_tokens_per_pos_total 3\n", "has no position"),
    ],
)  # fmt: skip
def test_counters_that_say_nothing_or_two_things(value: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=words):
        open_counters(str(written(tmp_path / "x", value)))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1", "-0.5", "1e-2001", "9" * 3000])
@pytest.mark.parametrize("field", ["u_final", "u_accept", "p_drafted"])
def test_numbers_of_a_step_that_no_float_holds(field: str, number: str, tmp_path: Path) -> None:
    if field == "p_drafted" and number == "1":
        return  # a probability may be 1
    step = {**STEP, field: "@" if field == "u_final" else ["@"]}
    path = written(tmp_path / "steps.jsonl", json.dumps(step).replace('"@"', number) + "\n")
    refused("replay", path, words=field)


@pytest.mark.parametrize("field", ["drafted", "emitted", "sequence", "target_rows"])
def test_huge_whole_numbers_of_a_step(field: str, tmp_path: Path) -> None:
    step = {**STEP, field: 10**3000 if field == "sequence" else [-(10**3000)]}
    refused("replay", written(tmp_path / "steps.jsonl", step), words=f"{field} holds")


def test_rows_of_two_sizes_are_no_trace(tmp_path: Path) -> None:
    """A token that only the larger vocabulary has would be looked for outside the other row."""
    step = {key: value for key, value in STEP.items() if key not in ("target", "draft")}
    written(tmp_path / "steps.jsonl", {**step, "target_rows": [0, 1], "draft_rows": [0]})
    target, draft = np.arange(10.0).reshape(2, 5) - 4, np.arange(4.0)[None] - 2
    np.savez(tmp_path / "logits.npz", target=target, draft=draft)
    with pytest.raises(ContextMismatchError, match="the target rows have 5 tokens"):
        open_trace(str(tmp_path), ReadingSettings())


@pytest.mark.parametrize("support", [2, True, "01", {"0": 1}, 0.5, [[0]], [None], ["0"], [-1]])
def test_a_support_that_is_no_list_of_ids(support: Any, tmp_path: Path) -> None:
    row = {"listed": {"0": "1/2"}, "cap": "1/4", "support": support}
    value = {"kind": "probabilities", "target": row, "draft": row}
    refused("check", written(tmp_path / "capture.json", value), words="support")


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "f8"])
def test_a_signalling_nan_is_refused_without_a_warning(dtype: str, tmp_path: Path) -> None:
    bits = {"f2": 0x7C01, "f4": 0x7F800001, ">f4": 0x7F800001, "f8": 0x7FF0000000000001}[dtype]
    rows = np.zeros((2, 4), dtype)
    rows.view(dtype.replace("f", "u"))[1, 2] = bits
    np.save(tmp_path / "rows.npy", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = str(tmp_path / "rows.npy")
        refused("check", "--target", file, "--draft", file)


@pytest.mark.parametrize(
    ("option", "number"),
    [("--temperature", x) for x in ("0", "-1", "1e999", "1e-400", "nan")]
    + [(name, x) for name in ("--top-p", "--min-p") for x in ("2", "-0.5", "1e999", "x")],
)
def test_a_capture_that_generate_cannot_run(option: str, number: str, tmp_path: Path) -> None:
    """Said before a model is loaded."""
    models = ("--target", tmp_path, "--draft", tmp_path, "--prompt-ids", "1")
    refused("capture", tmp_path / "out", *models, option, number, words=option[2:])
    assert not (tmp_path / "out").exists()
