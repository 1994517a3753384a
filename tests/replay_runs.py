"""Runs `replay` over captures and over steps that tests have changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from specdist.model.replay_report import ReplayFinding, ReplayReport
from specdist.model.settings import CheckSettings, ReadingSettings
from specdist.model.trace_evidence import Explanation, Hypothesis
from specdist.readers.traces.opening import open_trace
from specdist.verify.replay.run import replay, selected

CAPTURES = Path(__file__).parent / "data" / "captures"


def replayed(
    path: Path,
    rows: Path | None = None,
    select: str | None = None,
    reading: ReadingSettings | None = None,
    settings: CheckSettings | None = None,
    causes: bool = False,
) -> ReplayReport:
    """The report of a trace; what would explain it, which takes long, only with ``causes``."""
    trace = open_trace(str(path), reading or ReadingSettings(), None if rows is None else str(rows))
    trace = selected(trace, select)
    if causes:
        return replay(trace, settings or CheckSettings())
    nothing = Explanation(Hypothesis("", "", ""), contradicted=True)
    with patch("specdist.verify.replay.verdict.explain", lambda *_: nothing):
        return replay(trace, settings or CheckSettings())


def changed(folder: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """A copy of a capture with other steps."""
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    path = copy / "steps.jsonl"
    steps = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(steps)
    write_steps(path, steps)
    return copy


def write_steps(path: Path, steps: Sequence[dict[str, Any]]) -> Path:
    """A file of steps."""
    path.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    return path


def loud(report: ReplayReport) -> list[str]:
    """The idents of errors and warnings."""
    return [each.finding.ident for each in report.findings if each.finding.severity.value != "note"]


def named(report: ReplayReport, ident: str) -> list[ReplayFinding]:
    """The findings of an ident."""
    return [each for each in report.findings if each.finding.ident == ident]


def counts(report: ReplayReport, name: str) -> tuple[int, int, int]:
    """Agreed, differed and undecided of a check."""
    (check,) = [check for check in report.checks if check.name == name]
    return check.agreed, check.differed, check.undecided
