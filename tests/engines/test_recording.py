"""Assisted generation of real transformers models, recorded, replayed and checked.

Needs the extra ``engines``; `make test-engines` installs it and runs this folder.
"""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdist.errors import SettingsError
from specdist.recording import record
from tests.cli import run

VOCAB = 64
SAMPLING: dict[str, Any] = {"temperature": 0.8, "top_p": 0.95}


def tiny(seed: int, layers: int) -> Any:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=128,
        bos_token_id=1,
        eos_token_id=None,
        pad_token_id=0,
        initializer_range=0.2,
    )
    return LlamaForCausalLM(config).eval()


def pair(length: int = 4) -> tuple[Any, Any]:
    target, draft = tiny(0, 2), tiny(1, 1)
    draft.generation_config.num_assistant_tokens = length
    draft.generation_config.num_assistant_tokens_schedule = "constant"
    draft.generation_config.assistant_confidence_threshold = 0.0
    return target, draft


def recorded(folder: Path, **changes: Any) -> tuple[int, list[list[int]]]:
    """Two prompts of a tiny pair; the number of blocks, and the texts that came out."""
    target, draft = pair()
    torch.manual_seed(5)
    texts = []
    with record(folder) as recording:
        for prompt in ([1, 5, 9, 12], [1, 7, 7]):
            out = target.generate(
                torch.tensor([prompt]),
                assistant_model=draft,
                do_sample=True,
                max_new_tokens=24,
                **{**SAMPLING, **changes},
            )
            texts.append(out[0].tolist())
    return recording.steps, texts


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]


def test_a_recording_replays_without_a_finding_and_its_law_is_equal(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    steps, _ = recorded(folder)
    replayed = run("replay", str(folder), "--format", "json")
    assert replayed.code == 0, replayed.stderr or replayed.stdout
    report = replayed.json()
    assert report["steps"], "nothing was replayed"
    assert not [f for f in report["findings"] if f["severity"] != "note"]
    checked = run("check", str(folder), "--format", "json", "--no-progress")
    assert checked.code == 0, checked.stderr
    assert checked.json()["verdict"] == "equal"
    assert checked.json()["summary"]["steps"] == steps


def test_recording_changes_nothing(tmp_path: Path) -> None:
    _, texts = recorded(tmp_path / "run")
    target, draft = pair()
    torch.manual_seed(5)
    for text, prompt in zip(texts, ([1, 5, 9, 12], [1, 7, 7]), strict=True):
        out = target.generate(
            torch.tensor([prompt]), assistant_model=draft, do_sample=True, max_new_tokens=24,
            **SAMPLING,
        )  # fmt: skip
        assert out[0].tolist() == text


def test_what_is_recorded_is_what_happened(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    steps, texts = recorded(folder)
    written = lines(folder)
    assert len(written) == steps
    arrays = np.load(folder / "spec_inputs.npz")
    assert arrays["new_logits"].shape[1] == VOCAB
    for step in written:
        count = len(step["drafted"])
        assert len(step["u_accept"]) == count
        assert len(step["target_rows"]) == count + 1
        assert step["next_context"] == step["context"] + step["emitted"]
        noise = arrays["final_noise"][written.index(step)]
        assert noise.shape == (VOCAB,)
    for sequence, text in enumerate(texts):
        own = [step for step in written if step["sequence"] == sequence]
        assert text[: len(own[-1]["next_context"])] == own[-1]["next_context"]
        for before, after in pairwise(own):
            assert before["next_context"] == after["context"]


def test_the_hidden_top_k_is_in_the_settings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    recorded(folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["sampling"]["top_k"] == 50
    scores = np.load(folder / "spec_inputs.npz")["new_logits"]
    assert np.isneginf(scores).any()


def raw_rows(folder: Path) -> dict[str, np.ndarray]:
    data = (folder / "raw_rows.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        start, end = entry["data_offsets"]
        block = np.frombuffer(data[8 + size + start : 8 + size + end], "<f4")
        found[name] = block.reshape(entry["shape"])
    return found


def test_raw_rows_are_those_before_the_warpers(tmp_path: Path) -> None:
    """Temperature alone: the verifier gets the target's row divided by it, and the draft's divided
    by it once or twice, as the library has it."""
    folder = tmp_path / "run"
    recorded(folder, top_p=None, top_k=0)
    arrays, raw = np.load(folder / "spec_inputs.npz"), raw_rows(folder)
    np.testing.assert_array_equal(arrays["new_logits"], raw["target"] / np.float32(0.8))
    once = raw["draft"] / np.float32(0.8)
    found = arrays["candidate_logits"]
    assert np.array_equal(found, once) or np.array_equal(found, once / np.float32(0.8))


def test_end_tokens_cut_what_is_emitted(tmp_path: Path) -> None:
    """Every token but one ends the text: the step is cut, and the cut is in the recording."""
    target, draft = pair()
    torch.manual_seed(3)
    with record(tmp_path / "run"):
        target.generate(
            torch.tensor([[1, 5]]), assistant_model=draft, do_sample=True, max_new_tokens=40,
            eos_token_id=list(range(2, 40)), top_k=0, **SAMPLING,
        )  # fmt: skip
    last = lines(tmp_path / "run")[-1]
    assert len(last["emitted"]) <= len(last["valid_tokens"])
    assert run("replay", str(tmp_path / "run")).code == 0


def test_greedy_decoding_has_nothing_to_record(tmp_path: Path) -> None:
    target, draft = pair()
    with (
        pytest.raises(SettingsError, match="nothing was recorded"),
        record(tmp_path / "run"),
    ):
        target.generate(torch.tensor([[1, 5]]), assistant_model=draft, do_sample=False,
                        max_new_tokens=8)  # fmt: skip


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(SettingsError, match="not an empty folder"), record(tmp_path):
        raise AssertionError


def test_the_functions_are_put_back(tmp_path: Path) -> None:
    from transformers.generation import utils

    before = utils._speculative_sampling, utils.GenerationMixin._assisted_decoding
    with pytest.raises(RuntimeError, match="stop"), record(tmp_path / "run"):
        raise RuntimeError("stop")
    assert before == (utils._speculative_sampling, utils.GenerationMixin._assisted_decoding)
    assert torch.rand_like.__name__ == "rand_like"


def test_the_command_records_saved_models(tmp_path: Path) -> None:
    target, draft = pair()
    target.save_pretrained(tmp_path / "target")
    draft.save_pretrained(tmp_path / "draft")
    words = ["capture", str(tmp_path / "run"), "--target", str(tmp_path / "target"), "--draft",
             str(tmp_path / "draft"), "--prompt-ids", "1,5,9", "-T", "0.8", "--top-p", "0.95",
             "--draft-length", "3", "--max-new-tokens", "12"]  # fmt: skip
    done = run(*words)
    assert done.code == 0, done.stderr
    assert "specdist replay" in done.stdout
    assert run("replay", str(tmp_path / "run")).code == 0
    again = run(*words)
    assert again.code == 2
    assert "not an empty folder" in again.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--prompt-ids", "1,99"], "outside the vocabulary"),
        (["--target", "nowhere-at-all"], "no model can be loaded"),
        (["--top-k", "x"], "not a whole number"),
        (["--dtype", "float8"], "not a value"),
    ],
)
def test_bad_plans_end_with_exit_2(tmp_path: Path, change: list[str], message: str) -> None:
    target, draft = pair()
    target.save_pretrained(tmp_path / "target")
    draft.save_pretrained(tmp_path / "draft")
    words = {"--target": str(tmp_path / "target"), "--draft": str(tmp_path / "draft"),
             "--prompt-ids": "1,5"}  # fmt: skip
    words |= dict(zip(change[::2], change[1::2], strict=True))
    flat = [item for pair_ in words.items() for item in pair_]
    done = run("capture", str(tmp_path / "run"), *flat)
    assert done.code == 2
    assert message in done.stderr
