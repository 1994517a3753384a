"""The line to paste of a joint finding shows the same finding again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import run
from tests.test_shrinking import pasted

TARGET, DRAFT = ["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]
TABLE = {"rows": {"": TARGET, "0": DRAFT}, "after": {"1": ["1/4", "1/4", "1/2"]}, "default": TARGET}
MODELS = {"target": TABLE, "draft": DRAFT}
CONFIDENCE = {"": "4/5", "0": "1", "default": "0"}
REQUEST = {"models": MODELS, "draft_length": 2, "confidence": CONFIDENCE}

CASES: dict[str, dict[str, Any]] = {
    "role table": {"models": {**MODELS, "accept_draft": TARGET}, "draft_length": 2},
    "recipe of a role": {
        "models": MODELS,
        "draft_length": 2,
        "roles": {"drafted_from": "top-k:1"},
    },
    "tree": {
        "models": {**MODELS, "draft": [DRAFT, TARGET]},
        "tree": {"children": [2, 1]},
        "settings": {"rule": "rrs"},
        "roles": {"accept_target": "temperature:1/2"},
    },
    "given tokens": {
        "models": MODELS,
        "draft_length": 2,
        "siblings": "given",
        "draft_tokens": [1, 0],
    },
    "length rule": {"models": MODELS, "draft_length": 2, "length": "drop-below:1/4"},
    "scheduler": {
        "models": MODELS,
        "draft_length": 2,
        "length": {
            "rule": "scheduler:global",
            "confidence": CONFIDENCE,
            "throughput": {"1": "1", "2": "1/2", "3": "9/20"},
        },
    },
    "profile": {
        "models": MODELS,
        "draft_length": 1,
        "length": {"profile": {"0": "1", "1": "1/2", "2": "0"}},
    },
    "blocks": {"models": MODELS, "draft_length": 1, "length": {"blocks": {"0": 1, "1": 0, "2": 1}}},
    "batch": {
        "requests": [REQUEST, REQUEST],
        "schedule": "scheduler:fixed:budget=1:ties=reverse",
    },
    "batch by blocks": {
        "requests": [
            {"models": {"target": TARGET, "draft": DRAFT}, "draft_length": 1},
            {"models": {"target": DRAFT, "draft": TARGET}, "draft_length": 1},
        ],
        "schedule": {
            "blocks": {
                f"{a}|{b}": [1, 0] if a == b else {"0,1": "1/2", "1,0": "1/2"}
                for a in range(3)
                for b in range(3)
            }
        },
    },
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_shows_the_same_again(case: str, tmp_path: Path) -> None:
    path = tmp_path / "capture.json"
    path.write_text(json.dumps(CASES[case]), encoding="utf-8")
    first = run("check", path, "--format", "json", "--exact")
    assert first.code == 1, first.stdout + first.stderr
    (step,) = json.loads(first.stdout)["steps"]
    line = step["findings"][0]["reproduce"]
    again = pasted(line, "--format", "json", "--exact")
    (repeated,) = json.loads(again.stdout)["steps"]
    assert [f["ident"] for f in repeated["findings"]] == [f["ident"] for f in step["findings"]]
    assert repeated["joint"]["total_variation"] == step["joint"]["total_variation"]
    assert repeated["joint"]["sequences"] == step["joint"]["sequences"]
    assert repeated["joint"]["expected_accepted"] == step["joint"]["expected_accepted"]
