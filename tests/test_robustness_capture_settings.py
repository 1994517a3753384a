"""Bad settings inside a capture: file and path are named, and the other captures are checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import SAMPLES, run

GOOD = SAMPLES / "three_tokens.json"
ROWS = {"target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "1/2", "3/10"]}
POSITION = {**ROWS, "roles": {"accept_target": "top-p:2"}}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({**ROWS, "settings": {"top_p": 2}}, "settings.top_p"),
        ({**ROWS, "settings": {"draft_top_p": 2}}, "settings.draft_top_p"),
        ({**ROWS, "settings": {"recipe": "top-q:1"}}, "settings.recipe"),
        ({**ROWS, "settings": {"rule": "blok"}}, "settings.rule"),
        ({**ROWS, "settings": {"recipe": "raw", "top_p": "1/2"}}, "settings"),
        ({**ROWS, "settings": {"logit_bias": {"0": "1e1999"}}}, "settings.logit_bias"),
        ({**ROWS, "settings": {"allowed": [7]}}, "target"),
        ({**ROWS, "settings": {"uniform": 0}}, "settings.uniform"),
        ({**ROWS, "settings": {"ratio_epsilon": 2}}, "settings.ratio_epsilon"),
        ({**ROWS, "settings": {"unnormalised": "true"}}, "settings.unnormalised"),
        ({**ROWS, "settings": {"keep": "shares:1"}}, "settings.keep"),
        ({**ROWS, "settings": {"keep": "only:0", "dropped": "again"}}, "settings.dropped"),
        ({**ROWS, "settings": {"keep-when": "later"}}, "settings.keep_when"),
        ({**ROWS, "settings": {"dropped": "redraw"}}, "draft"),
        ({**ROWS, "keep": [1, 1, 0], "settings": {"keep": "only:0"}}, "draft"),
        ({**ROWS, "settings": {"keep": "only:7"}}, "target"),
        ({**ROWS, "settings": {"rule": "lenience:2"}}, "settings.rule"),
        ({**ROWS, "draft": [1, 0], "draft_map": [0, 3]}, "draft_map"),
        ({**ROWS, "settings": {"draft_vocab_map": "0+1"}}, "draft"),
        ({**ROWS, "roles": {"reference": "top-p:2"}}, "roles.reference"),
        ({"steps": [{"positions": [POSITION]}]}, "steps[0].positions[0].roles.accept_target"),
        ({"steps": [{**ROWS, "settings": {"top_p": 2}}]}, "steps[0], settings.top_p"),
    ],
)
def test_the_place_is_named_and_the_other_captures_are_checked(
    tmp_path: Path, document: Any, place: str
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(document), "utf-8")
    alone = run("check", bad)
    assert (alone.code, alone.stdout) == (2, "")
    assert f"bad.json, {place}" in " ".join(alone.stderr.split())
    among = run("check", GOOD, bad, GOOD, "--format", "json")
    assert among.code == 1
    assert among.json()["summary"]["steps"] == 2
    assert "bad.json" in among.stdout


def test_a_bad_option_of_the_command_line_still_stops_the_run() -> None:
    done = run("check", GOOD, GOOD, "--top-p", "2")
    assert (done.code, done.stdout) == (2, "")
    done = run("check", GOOD, GOOD, "--allowed", "7")
    assert (done.code, done.stdout) == (2, "")


def test_inspect_names_the_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({**ROWS, "settings": {"top_p": 2}}), "utf-8")
    done = run("inspect", bad)
    assert done.code == 2
    assert "bad.json" in done.stderr
