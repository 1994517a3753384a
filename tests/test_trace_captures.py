"""Recorded steps as a capture: every step is there, said to be left out, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli import SAMPLES, run

TRACE = SAMPLES / "traces" / "recovered_from_target"


def folder(path: Path, lines: list[dict[str, Any]]) -> str:
    text = "\n".join(json.dumps(line) for line in lines) + "\n"
    (path / "steps.jsonl").write_text(text, encoding="utf-8")
    (path / "config.json").write_text((TRACE / "config.json").read_text(), encoding="utf-8")
    return str(path)


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TRACE / "steps.jsonl").read_text().splitlines()]


def test_every_step_is_checked(tmp_path: Path) -> None:
    report = run("check", folder(tmp_path, recorded()), "--format", "json").json()
    assert report["verdict"] == "equal"
    assert [step["id"] for step in report["steps"]] == [f"0.{i}" for i in range(6)]
    notes = [f["message"] for f in report["steps"][0]["findings"]]
    assert any("specdist replay" in note for note in notes)


def test_a_step_without_rows_among_others_is_refused(tmp_path: Path) -> None:
    lines = recorded()
    del lines[2]["target"], lines[2]["draft"]
    result = run("check", folder(tmp_path, lines))
    assert result.code == 2
    assert "line 3" in " ".join(result.stderr.split())
