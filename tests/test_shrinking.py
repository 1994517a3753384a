"""Lines to paste show the same finding again; rows too large to type are cut to few tokens."""

from __future__ import annotations

import io
import json
import os
import shlex
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import oracle, strategies
from tests.cli import ROOT, Result, exact, run, scrubbed, spell
from tests.test_against_oracle import capture
from tests.test_diagnosis import CASES, SAID, SWAPPED
from tests.test_field_cases import RUNS, arguments

Finding = dict[str, Any]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures") / "capture.json"


def pasted(line: str, *more: str) -> Result:
    """What a line to paste gives, without a shell: a `what-if`, or a capture piped into `check`."""
    words = shlex.split(line)
    if words[0] == "specdist":
        return run(*words[1:], *more)
    assert words[:2] == ["printf", "%s"]
    assert words[3:5] == ["|", "specdist"]
    stdin = io.TextIOWrapper(io.BytesIO(words[2].encode()))
    with patch.object(sys, "stdin", stdin):
        return run(*words[5:], *more)


def place(report: dict[str, Any], finding: Finding) -> dict[str, Any]:
    """The position or bonus row that a finding is about, or a whole step over models."""
    (step,) = report["steps"]
    if step["joint"] is not None:
        return {**step["joint"], "verdict": step["verdict"]}
    if finding["position"] < 0:
        return step["bonus"]  # type: ignore[no-any-return]
    return next(p for p in step["positions"] if p["index"] == finding["position"])


def mains(report: dict[str, Any]) -> list[Finding]:
    """The first error of each position."""
    first: dict[int, Finding] = {}
    for step in report["steps"]:
        for finding in step["findings"]:
            if finding["severity"] == "error":
                first.setdefault(finding["position"], finding)
    return list(first.values())


def shown_again(report: dict[str, Any], finding: Finding) -> None:
    """The line of a finding gives the same verdict, ident and total variation."""
    smallest = finding["smallest"]
    before = place(report, finding)
    wanted = before["total_variation"] if smallest is None else smallest["total_variation"]
    again = pasted(finding["reproduce"], "--format", "json").json()
    (main,) = mains(again)
    after = place(again, main)
    assert main["ident"] == finding["ident"], finding["reproduce"]
    assert after["verdict"] == before["verdict"]
    assert exact(after["total_variation"]) == exact(wanted)
    if smallest is None:
        assert main["repairs"] == finding["repairs"]


TYPED = {**{name: case[1] for name, case in CASES.items()},
         **{name: case[0] for name, case in SAID.items()}}  # fmt: skip


@pytest.mark.parametrize("case", TYPED)
def test_typed_rows_are_shown_again(case: str) -> None:
    report = run("what-if", *TYPED[case], "--format", "json").json()
    (main,) = mains(report)
    assert main["reproduce"].startswith("specdist what-if ")
    assert main["smallest"] is None
    shown_again(report, main)


FIELD = [
    (case, entry)
    for case, entry in RUNS
    if entry["expect"].get("verdict") == "different" and "151,936" not in entry["name"]
]


@pytest.mark.parametrize(("case", "entry"), FIELD, ids=[f"{c}: {e['name']}" for c, e in FIELD])
def test_field_cases_are_shown_again(case: str, entry: dict[str, Any], tmp_path: Path) -> None:
    report = run(*arguments(entry, tmp_path)).json()
    for main in mains(report):
        assert main["reproduce"], "field cases are small"
        shown_again(report, main)


def test_a_tolerated_difference_is_tolerated_again() -> None:
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10", "--uniform", "256")
    report = run("what-if", *rows, "--max-tv", "1/100", "--format", "json").json()
    (main,) = mains(report)
    assert "--max-tv 1/100" in main["reproduce"]
    shown_again(report, main)


NUMERICS = [
    ("--uniform", "12:ends=both"), ("--uniform", "2^11:ends=neither", "--inequality", "inclusive"),
    ("--uniform", "7:ends=one", "--ratio", "uncapped"), ("--ratio-epsilon", "1/7"),
    ("--residual-floor", "1/30"), ("--residual-floor", "1e-9", "--uniform", "16"),
    ("--zero-draft", "reject"), ("--zero-draft", "accept-all", "--empty-residual", "last"),
    ("--normalise",), ("--uniform", "5", "--empty-residual", "target"), (),
]  # fmt: skip
KEEPS = [
    (), (), ("--keep", "share:2/3", "--dropped", "residual"),
    ("--keep", "own-probability:1/3:strict=yes", "--dropped", "redraw-2"),
    ("--keep", "tokens:0=1/2:else=1/3", "--keep-when", "after"),
    ("--keep-row", "1,1/2,0", "--proposal", "effective"),
]  # fmt: skip
FAULTS = [
    (), ("--role", "drafted_from=temperature:1/2"), ("--role", "residual_draft=one-hot"),
    ("-T", "1/2", "--role", "accept_target=raw"), ("--rule", "token:recovery=target"),
    ("--top-p", "2/3", "--draft-top-p", "off"), ("--rule", "lenience:1/2:recovery=target"),
]  # fmt: skip


@given(
    rows=st.tuples(strategies.full_rows(3), strategies.full_rows(3)),
    numerics=st.sampled_from(NUMERICS),
    keep=st.sampled_from(KEEPS),
    fault=st.sampled_from(FAULTS),
)
def test_every_setting_is_in_the_line(
    rows: strategies.Pair, numerics: tuple[str, ...], keep: tuple[str, ...], fault: tuple[str, ...]
) -> None:
    sides = ("--target", spell(rows[0]), "--draft", spell(rows[1]))
    first = run("what-if", *sides, *numerics, *keep, *fault, "--format", "json")
    assume(first.code == 1)
    report = first.json()
    (main,) = mains(report)
    shown_again(report, main)


@given(st.data())
def test_rows_by_role_become_a_capture(path: Path, data: st.DataObject) -> None:
    target, draft = data.draw(strategies.pairs(max_size=4))
    assume(all(len(str(value)) <= 12 for value in (*target, *draft)))
    roles = data.draw(strategies.role_rows(target, draft))
    assume(all(isinstance(row, str) or len(spell(row)) < 60 for row in roles.values()))
    try:
        assume(oracle.token_rule(target, draft, **roles).total_variation)
    except ZeroDivisionError:
        assume(False)
    path.write_text(capture(target, draft, roles), encoding="utf-8")
    report = run("check", path, "--format", "json").json()
    (main,) = mains(report)
    assume(main["reproduce"])
    shown_again(report, main)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment with ``specdist`` on the path."""
    script = tmp_path / "specdist"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdist "$@"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    env = scrubbed()
    return {**env, "PATH": f"{tmp_path}{os.pathsep}{env['PATH']}"}


@pytest.mark.parametrize("roles", [SWAPPED, {"drafted_from": ["1/3", "1/3", "1/3"]}])
def test_the_printed_line_runs_in_a_shell(
    roles: dict[str, Any], path: Path, shell: dict[str, str]
) -> None:
    rows = ["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]
    path.write_text(capture(*rows, roles), encoding="utf-8")
    text = run("check", path).stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    start = text.index("   = reproduce: ") + len("   = reproduce: ")
    script = text[start : text.index("\n   = explain: ")]
    done = subprocess.run(
        ["sh", "-c", script], cwd=ROOT, env=shell, capture_output=True, timeout=60, text=True
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[0] == text.splitlines()[0]
    table = [line for line in text.splitlines() if line.startswith("   |")]
    assert [line for line in done.stdout.splitlines() if line.startswith("   |")] == table


# Rows too large to type.


def dump(folder: Path, rows: int, size: int, seed: int = 3) -> tuple[str, ...]:
    made = np.random.default_rng(seed)
    for side in ("target", "draft"):
        np.save(folder / f"{side}.npy", (made.normal(size=(rows, size)) * 3).astype(np.float32))
    return (
        "--target", str(folder / "target.npy"), "--draft", str(folder / "draft.npy"),
        "--kind", "logits", "--workers", "1",
    )  # fmt: skip


LARGE: dict[str, tuple[str, tuple[str, ...]]] = {
    "top-p in drafting only": (
        "drafted-mismatch", ("-T", "4/5", "--role", "drafted_from=temperature:4/5,top-p:9/10")
    ),
    "temperature missing": (
        "lossless-for-another-target",
        ("-T", "1/2", "--role", "accept_target=raw", "--role", "residual_target=raw"),
    ),
    "one-hot test": ("residual-mismatch", ("--role", "accept_draft=one-hot")),
    "a grid": ("numeric-rounding", ("--uniform", "64")),
    "recovery from the target": ("residual-mismatch", ("--rule", "token:recovery=target")),
    "lenience": ("lossy-by-design", ("--rule", "lenience:1/2")),
    "dropped": ("anticipating-length-rule", ("--keep", "own-probability:1/10")),
}  # fmt: skip


@pytest.mark.parametrize("case", LARGE)
def test_large_rows_are_cut_to_few_tokens(case: str, tmp_path: Path) -> None:
    ident, options = LARGE[case]
    report = run("check", *dump(tmp_path, 1, 2000), *options, "--format", "json").json()
    (main,) = mains(report)
    assert main["ident"] == ident
    tokens = main["smallest"]["tokens"]
    assert tokens == sorted(set(tokens))
    assert 2 <= len(tokens) <= 10
    assert max(tokens) < 2000
    assert main["reproduce"] == main["smallest"]["reproduce"]
    shown_again(report, main)


def test_the_cut_rows_are_the_rows_at_these_tokens(tmp_path: Path) -> None:
    options = LARGE["top-p in drafting only"][1]
    report = run("check", *dump(tmp_path, 1, 500), *options, "--format", "json").json()
    (main,) = mains(report)
    words = shlex.split(main["reproduce"])
    for side in ("target", "draft"):
        text = next(
            word.partition("=")[2] or words[i + 1]
            for i, word in enumerate(words)
            if word.startswith(f"--{side}-logits")
        )
        row = np.load(tmp_path / f"{side}.npy")[0]
        wanted = [Fraction(float(row[token])) for token in main["smallest"]["tokens"]]
        assert [Fraction(value) for value in text.split(",")] == wanted


def test_probabilities_are_normalised_again(tmp_path: Path) -> None:
    made = np.random.default_rng(5)
    for side in ("target", "draft"):
        row = made.dirichlet(np.full(300, 0.3))
        np.save(tmp_path / f"{side}.npy", np.array([row], dtype=np.float64))
    sides = ("--target", tmp_path / "target.npy", "--draft", tmp_path / "draft.npy")
    options = ("--kind", "probabilities", "--role", "drafted_from=top-p:9/10")
    report = run("check", *sides, *options, "--format", "json").json()
    (main,) = mains(report)
    assert main["ident"] == "drafted-mismatch"
    if main["smallest"] is not None:
        shown_again(report, main)


@pytest.mark.parametrize(
    "options",
    [("--role", "accept_draft=logit-bias:3=1/2"), ("--role", "drafted_from=allowed:1+2+3"),
     ("--keep", "only:0+1+2")],
)  # fmt: skip
def test_settings_that_name_tokens_are_not_cut(options: tuple[str, ...], tmp_path: Path) -> None:
    report = run("check", *dump(tmp_path, 1, 200), *options, "--format", "json").json()
    (main,) = mains(report)
    assert main["smallest"] is None
    assert main["reproduce"] is None


def test_small_dumps_are_typed_as_they_are(tmp_path: Path) -> None:
    options = ("--role", "drafted_from=top-k:2")
    report = run("check", *dump(tmp_path, 1, 5), *options, "--format", "json").json()
    (main,) = mains(report)
    assert main["smallest"] is None
    again = pasted(main["reproduce"], "--format", "json").json()
    found, wanted = mains(again)[0], place(report, main)["total_variation"]
    assert found["repairs"] == main["repairs"]
    seen = place(again, found)["total_variation"]
    assert abs(seen["approx"] - wanted["approx"]) <= wanted["bound"] + seen["bound"]


def test_later_steps_and_positions_are_left_whole(tmp_path: Path) -> None:
    rows = dump(tmp_path, 12, 40)
    options = ("--role", "drafted_from=top-p:1/2", "--draft-lengths", "3,3", "--format", "json")
    made = np.random.default_rng(1).normal(size=(14, 40)).astype(np.float32)
    np.save(tmp_path / "target.npy", made[:8])
    np.save(tmp_path / "draft.npy", made[8:])
    with (
        patch("specdist.verify.step.SHRUNK_STEPS", 1),
        patch("specdist.verify.step.SHRUNK_POSITIONS", 2),
    ):
        steps = run("check", *rows, *options).json()["steps"]
    lines = [[bool(main["reproduce"]) for main in mains({"steps": [step]})] for step in steps]
    assert lines == [[True, True, False], [False, False, False]]


def test_a_capture_with_context_has_no_line(path: Path) -> None:
    step = {"target": [1, 0, -1], "draft": [0, 1, -1], "context": [0, 1], "kind": "logits",
            "roles": {"accept_draft": "repetition-penalty:2"}}  # fmt: skip
    path.write_text(json.dumps(step), encoding="utf-8")
    (main,) = mains(run("check", path, "--format", "json").json())
    assert main["reproduce"] is None
