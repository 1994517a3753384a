"""JSON captures of rows known in part, and what their reports say."""

from __future__ import annotations

import json
from contextlib import chdir
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from tests.cli import ROOT, Result, exact, run

HALVES = {
    "target": {"listed": {"0": "1/2", "1": "1/4"}},
    "draft": {"listed": {"0": "2/5", "2": "2/5"}},
}
"""The target leaves 1/4 open, the draft 1/5."""


@cache
def _schema() -> Any:
    path = ROOT / "specdist" / "schemas" / "report.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8")))


def check(folder: Path, document: dict[str, Any], *options: object) -> tuple[Result, Any]:
    """``specdist check`` of a document: the result, and its JSON report, valid by the schema."""
    path = folder / "capture.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    result = run("check", path, "--format", "json", "--exact", "--workers", "1", *options)
    if not result.stdout:
        return result, None
    report = result.json()
    _schema().validate(report)
    return result, report


def text_of(folder: Path, document: dict[str, Any], *options: object) -> str:
    """The text report of a document, blanks and line breaks as one blank."""
    (folder / "capture.json").write_text(json.dumps(document), encoding="utf-8")
    with chdir(folder):
        result = run("check", "capture.json", *options)
    for line in result.stdout.splitlines():
        assert len(line) <= 80 or "-q" in options, line
    return " ".join((result.stdout + result.stderr).split())


def ends(interval: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Both ends of an interval of a report."""
    least, most = exact(interval["least"]), exact(interval["most"])
    assert least <= most
    return least, most


def bounded(report: Any, index: int = 0) -> Any:
    """A position of the first step that is known in part."""
    return next(part for part in report["steps"][0]["bounded"] if part["index"] == index)


def idents(report: Any) -> list[str]:
    return [finding["ident"] for step in report["steps"] for finding in step["findings"]]


def finding(report: Any, ident: str) -> Any:
    found = [x for step in report["steps"] for x in step["findings"] if x["ident"] == ident]
    assert found, idents(report)
    return found[0]
