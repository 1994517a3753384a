"""What was not written as it is applied is said: presets, assumed maps, rows that no rule reads."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli import run

ROWS = ("--target", "1/2,3/10,1/5", "--draft", "1/5,3/10,1/2")


def test_a_preset_names_itself_and_the_recipe_of_every_role() -> None:
    options = ("--engine", "vllm-v1", "-T", "7/10", "--top-k", "2", "--format", "json")
    lines = run("what-if", *ROWS, *options).json()["in_force"]
    assert lines[0].startswith("engine vllm-v1: ")
    assert "0.33.0" in lines[0]
    assert any(line.startswith("reference") and "top-k:2:ties=lowest-id" in line for line in lines)
    assert "accept_draft, residual_draft: one-hot" in lines
    assert run("what-if", *ROWS, "--format", "json").json()["in_force"] == []


def test_the_form_of_a_draft_map_is_said_where_it_was_assumed(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps([2, 0]), encoding="utf-8")
    command = ("what-if", "--target", "1/2,3/10,1/5", "--draft", "3/5,2/5", "--draft-map", path)
    assert "draft map: target ids (assumed;" in run(*command).stdout
    assert "(assumed;" not in run(*command, "--draft-map-form", "ids").stdout


def test_captured_rows_that_the_rule_does_not_read_are_named() -> None:
    given = (*ROWS, "--accept", "1,1,1/2", "--recovery", "1,0,0")
    assert "captured accept and recovery: not used" in run("what-if", *given, "--rule=token").stdout
    assert "not used" not in run("what-if", *given).stdout


def test_all_missing_options_of_a_rule_are_named_at_once() -> None:
    result = run("what-if", *ROWS, "--rule", "typical:3/10")
    assert result.code == 2
    assert "'delta' and 'recovery'" in result.stderr
