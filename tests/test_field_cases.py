"""Field reports and vectors through the command line: laws with ``==``, verdicts, causes.

``tests/field_cases/CASE.json`` holds runs: a command (``CAPTURE`` stands for the capture of the
run) and what its JSON report must hold. At the first position, or anywhere in the step:

- ``exit``, ``verdict`` and the columns ``output``, ``accepted``, ``recovered``, ``residual`` (null
  where a rejection is impossible), ``reference``, ``drafted``, ``tested``;
- figures such as ``acceptance_rate``, and ``bonus`` for the bonus row;
- ``finds`` and ``lacks``: idents; ``clean``: neither errors nor warnings; ``repairs``: sets of
  repairs that some finding must name; ``says``: words of a finding;
- ``error`` and ``error_lacks``: words of the message on stderr, with nothing on stdout;
- ``tolerance`` where softmax makes a number irrational;
- ``bounded`` for the first position that is known in part: ends of intervals in order, counts of
  listed tokens (both, target only, draft only, neither), other members as they are;
- ``joint`` for a step over conditional models, ``path`` for a captured block, ``costs`` for cost
  lines by name: see `tests.joint_facts`.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests import joint_facts
from tests.cli import Result, exact, run

CASES = Path(__file__).parent / "field_cases"
COLUMNS = ("output", "accepted", "recovered", "residual", "reference", "drafted", "tested")
FIGURES = (
    "acceptance_rate",
    "reference_acceptance_rate",
    "rejected_mass",
    "total_variation",
)
KNOWN = {
    *COLUMNS, *FIGURES, "exit", "verdict", "bonus", "finds", "lacks", "clean", "repairs", "says",
    "error", "error_lacks", "tolerance", "joint", "path", "costs", "bounded",
}  # fmt: skip
DOCUMENTS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.json"))
}
RUNS = [(case, entry) for case, document in DOCUMENTS.items() for entry in document["runs"]]


def arguments(entry: dict[str, Any], folder: Path) -> list[str]:
    if "capture" in entry or "text" in entry:
        text = entry["text"] if "text" in entry else json.dumps(entry["capture"])
        (folder / "capture.json").write_text(text, encoding="utf-8")
    named = {"CAPTURE": str(folder / "capture.json")}
    return [*(named.get(word, word) for word in entry["command"]), "--format", "json", "--exact"]


@pytest.mark.parametrize(
    ("case", "entry"), RUNS, ids=[f"{case}: {entry['name']}" for case, entry in RUNS]
)
def test_field_case(case: str, entry: dict[str, Any], tmp_path: Path) -> None:
    expect = entry["expect"]
    result = run(*arguments(entry, tmp_path))
    assert result.code == expect["exit"], result.stderr or result.stdout[-2000:]
    if "error" in expect:
        refused(result, expect)
        return
    report = result.json()
    if "cost" in report:
        joint_facts.costs(report["cost"], expect["costs"])
        return
    assert report["verdict"] == expect["verdict"]
    (step,) = report["steps"]
    if step["positions"]:
        masses(step["positions"][0], expect)
    if "bounded" in expect:
        intervals(step["bounded"][0], expect["bounded"])
    joint_facts.compare(step, expect)
    if "bonus" in expect:
        assert step["bonus"]["verdict"] == expect["bonus"]["verdict"]
        masses(step["bonus"], expect["bonus"])
    findings(step["findings"], expect)


def refused(result: Result, expect: dict[str, Any]) -> None:
    message = " ".join(result.stderr.split())
    assert result.stdout == ""
    assert "Traceback" not in message
    for word in expect["error"]:
        assert word in message
    for word in expect.get("error_lacks", ()):
        assert word not in message


def masses(place: dict[str, Any], expect: dict[str, Any]) -> None:
    close = Fraction(expect.get("tolerance", 0))
    for name in (*COLUMNS, *FIGURES):
        if name not in expect:
            continue
        if name in COLUMNS:
            tokens = sorted(place["tokens"], key=lambda token: token["id"])
            found = [exact(token[name]) for token in tokens]
            wanted = expect[name] or [None] * len(found)
        else:
            found, wanted = [exact(place[name])], [expect[name]]
        assert len(found) == len(wanted), name
        for value, text in zip(found, wanted, strict=True):
            if close and value is not None:
                assert abs(value - Fraction(text)) <= close, (name, found)
            else:
                assert value == (None if text is None else Fraction(text)), (name, found)


def intervals(place: dict[str, Any], expect: dict[str, Any]) -> None:
    for name, wanted in expect.items():
        found = place[name]
        if isinstance(found, dict) and "least" in found:
            ends = [exact(found[end]) for end in ("least", "most")]
            assert ends == [Fraction(text) for text in wanted], name
        elif name == "listed":
            order = ("both", "target_only", "draft_only", "neither")
            assert [found[side] for side in order] == wanted
        else:
            assert found == wanted, name


def findings(found: list[dict[str, Any]], expect: dict[str, Any]) -> None:
    idents = {finding["ident"] for finding in found}
    assert idents >= set(expect.get("finds", ()))
    assert not idents & set(expect.get("lacks", ()))
    loud = {finding["ident"] for finding in found if finding["severity"] != "note"}
    if expect.get("clean"):
        assert not loud
    elif expect["verdict"] == "different":
        assert loud, "a step that differs has a finding that says so"
    repairs = [sorted(repair) for finding in found for repair in finding.get("repairs", ())]
    for repair in expect.get("repairs", ()):
        assert sorted(repair) in repairs
    text = json.dumps(found)
    for word in expect.get("says", ()):
        assert word in text


def test_the_cases_are_well_formed() -> None:
    assert len(RUNS) > 200
    for case, entry in RUNS:
        assert entry["expect"].keys() <= KNOWN, case
        assert ("CAPTURE" in entry["command"]) == ("capture" in entry or "text" in entry), case
    names = [(case, entry["name"]) for case, entry in RUNS]
    assert len(set(names)) == len(names)
