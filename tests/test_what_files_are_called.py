"""What a file that is no capture is told to be, and the command that its error names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from specdist.model.capture import Unreadable
from specdist.model.settings import ReadingSettings
from specdist.readers.opening import open_captures
from specdist.readers.refusals import is_prometheus


@pytest.mark.parametrize("text", ["d: 64\nk: 16\n", "exact_k: 4\n", "a:b: 1\n", "d:{x} 1\n"])
def test_keys_of_yaml_are_no_metrics(text: str) -> None:
    assert not is_prometheus(text.encode())


@pytest.mark.parametrize(
    "text",
    ["up 1\n", "vllm:spec_decode_num_drafts_total 8.0\n", 'a:b{x="1"} 2e3\n', "# TYPE a counter\n"],
)
def test_metrics_are_metrics(text: str) -> None:
    assert is_prometheus(text.encode())


def _refusal(path: Path) -> Unreadable:
    (found,) = open_captures([str(path)], ReadingSettings())
    assert isinstance(found, Unreadable)
    return found


@pytest.mark.parametrize("drafted", ["drafted", "draft_ids"])
def test_recorded_steps_are_sent_to_replay(drafted: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    step = {"step": 0, drafted: [1, 2], "n_accepted": 1, "emitted": [1, 3]}
    path.write_text(json.dumps(step) + "\n" + json.dumps(step) + "\n")
    error = _refusal(path)
    assert "recorded steps" in error.message
    assert "specdist replay" in error.advice


def test_inputs_of_the_verifier_are_named_in_their_roles(tmp_path: Path) -> None:
    rows = np.zeros((3, 4), np.float32)
    rows[:, 0] = 2
    path = tmp_path / "spec_inputs.npz"
    np.savez(path, candidate_logits=rows[:2], new_logits=rows, final_noise=rows)
    advice = _refusal(path).advice
    assert "--target" in advice
    assert advice.index("::new_logits") < advice.index("::candidate_logits")
    assert "final_noise" not in advice
