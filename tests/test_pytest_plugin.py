"""The pytest plugin in runs of pytest of their own: the installed entry point, no user settings."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli import ROOT, SAMPLES, Result, run_process, scrubbed
from tests.doc_sessions import WITHOUT_OTHERS

BAD, GOOD = "draft_top_p_untested.json", "three_tokens.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a test of its own and three captures, one of which differs."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", "utf-8")
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n", "utf-8")
    captures = tmp_path / "captures"
    (captures / "deep").mkdir(parents=True)
    for name, place in ((BAD, "."), (GOOD, "."), ("draft_top_p.json", "deep")):
        shutil.copy(SAMPLES / name, captures / place)
    (captures / "README").write_text("not a capture", "utf-8")
    return tmp_path


def run_pytest(folder: Path, *arguments: str) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        capture_output=True,
        cwd=folder,
        env={**scrubbed(), "PYTEST_ADDOPTS": WITHOUT_OTHERS},
        timeout=200,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


_MANY = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
import pytest
results = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = pytest.main(arguments)
    results.append((int(code), out.getvalue(), err.getvalue()))
print(json.dumps(results))
"""


def run_many(folder: Path, runs: list[tuple[str, ...]]) -> list[Result]:
    """Several runs one after the other in one process, which imports everything once only."""
    done = subprocess.run(
        [sys.executable, "-c", _MANY, json.dumps(runs)],
        capture_output=True,
        cwd=folder,
        env={**scrubbed(), "PYTEST_ADDOPTS": WITHOUT_OTHERS},
        timeout=200,
        check=True,
    )
    return [Result(*result) for result in json.loads(done.stdout)]


def lines_with(text: str, part: str) -> list[str]:
    return [line for line in text.splitlines() if part in line]


def test_steps_are_items_and_fail_in_the_words_of_check(project: Path) -> None:
    result, short = run_many(
        project,
        [("-v", "--specdist", "captures"), ("-vv", "--specdist", f"captures/{BAD}")],
    )
    assert result.code == 1
    assert re.findall(r"^(\S+::\S+) (PASSED|FAILED)", result.stdout, re.MULTILINE) == [
        ("test_own.py::test_own", "PASSED"),
        ("captures/deep/draft_top_p.json::0", "PASSED"),
        (f"captures/{BAD}::0", "FAILED"),
        (f"captures/{GOOD}::0", "PASSED"),
    ]
    checked = run_process("check", f"captures/{BAD}", cwd=project)
    assert checked.code == 1
    assert checked.stdout in result.stdout
    assert lines_with(result.stdout, "specdist: ") == ["specdist: 2 steps equal, 1 different"]
    assert re.search(r"^specdist \d\S*: captures$", result.stdout, re.MULTILINE)
    assert "not a capture, not counted: captures/README" in result.stdout
    assert "Traceback" not in result.stdout
    failed = f"FAILED captures/{BAD}::0 - Failed: error[drafted-mismatch]: output differs from"
    assert failed in short.stdout


def test_under_xdist(project: Path) -> None:
    result = run_pytest(project, "-n", "2", "--specdist", "captures", "-m", "specdist")
    assert result.code == 1
    assert run_process("check", f"captures/{BAD}", cwd=project).stdout in result.stdout
    assert lines_with(result.stdout, "specdist: ") == ["specdist: 2 steps equal, 1 different"]
    assert "1 failed, 2 passed" in result.stdout


def test_one_item_is_chosen_as_everywhere(project: Path) -> None:
    arguments = ("--specdist=captures/deep", f"--specdist=captures/{BAD}")
    chosen, listed, ignored = run_many(
        project,
        [
            (*arguments, "-k", "deep or own"),
            (*arguments, "--collect-only", "-q", "-m", "specdist"),
            ("-p", "no:specdist"),
        ],
    )
    assert (chosen.code, "2 passed, 1 deselected" in chosen.stdout) == (0, True)
    assert listed.stdout.splitlines()[:2] == [
        "captures/deep/draft_top_p.json::0",
        f"captures/{BAD}::0",
    ]
    assert "specdist: " not in listed.stdout
    assert (ignored.code, "1 passed" in ignored.stdout) == (0, True)


def test_what_cannot_be_read_is_an_error(project: Path) -> None:
    (project / "captures" / "broken.json").write_text('{"target": [1', "utf-8")
    arguments = ("--specdist", "captures")
    result, onwards = run_many(
        project, [arguments, (*arguments, "--continue-on-collection-errors")]
    )
    assert result.code == 2
    assert "ERROR collecting captures/broken.json" in result.stdout
    assert "error[unreadable-capture]: the JSON text ends too early" in result.stdout
    assert onwards.code == 1
    assert "1 failed, 3 passed, 1 error" in onwards.stdout


NOTHING_CHECKED = {
    ("--specdist", "empty"): "no capture in empty: nothing would be checked",
    ("--specdist", "gone"): "no such file",
    ("--specdist", "captures", "--specdist", "empty"): "no capture in empty",
    ("--specdist=captures", "--specdist-options=--select none"): "checked: 3 steps filtered out",
    ("--specdist=-",): "no such file",
}
WRONG_USAGE = {
    ("--specdist",): "--specdist names no PATH, and the root folder no\n    captures",
    ("--specdist-options=-T 1",): "--specdist-options is given without --specdist",
    ("--specdist=captures", "--specdist-options=--temperatur 1"): (
        "no such option: --temperatur\n  --> --specdist-options"
    ),
    ("--specdist=captures", "--specdist-options=--format json"): "--format is an option of",
    ("--specdist=captures", "--specdist-options=--exit-zero"): "--exit-zero is an option of",
    ("--specdist=captures", "--specdist-options=other.json"): "'other.json' is a capture",
    ("--specdist=captures", "--specdist-options=--role '"): "cannot be split",
    ("--specdist=captures", "--specdist-options=--engine vlm"): "unknown engine 'vlm'",
    ("--specdist=captures", "--specdist-options=--rule tokn"): "did you mean token?",
}


def test_checking_nothing_is_an_error(project: Path) -> None:
    (project / "empty").mkdir()
    results = run_many(project, list(NOTHING_CHECKED))
    for result, said in zip(results, NOTHING_CHECKED.values(), strict=True):
        assert result.code == 2, result.stdout
        assert said in result.stdout
        assert "1 error" in result.stdout


def test_wrong_usage_stops_before_any_test(project: Path) -> None:
    results = run_many(project, list(WRONG_USAGE))
    for result, said in zip(results, WRONG_USAGE.values(), strict=True):
        assert (result.code, result.stdout) == (4, ""), said
        assert said in result.stderr.replace("'token'", "token")
        assert "Traceback" not in result.stderr


def test_undecided_fails_with_its_words(project: Path) -> None:
    row = ["1/2", "3/10", "1/5"]
    capture = {
        "schema": "specdist.capture/1", "kind": "probabilities",
        "steps": [{"positions": [
            {"target": row, "draft": row[::-1], "roles": {"residual_draft": row}}
        ]}],
    }  # fmt: skip
    (project / "open.json").write_text(json.dumps(capture), "utf-8")
    assert run_process("check", "open.json", cwd=project).code == 4
    result = run_pytest(project, "--specdist", "open.json")
    assert result.code == 1
    assert "configuration-needed" in result.stdout
    assert lines_with(result.stdout, "specdist: ") == ["specdist: 1 step undecided"]


def test_options_and_config_decide_as_on_the_command_line(project: Path) -> None:
    allowed = run_pytest(
        project, "--specdist", "captures", "--specdist-options=--allow drafted-mismatch"
    )
    assert allowed.code == 0
    assert "specdist: 2 steps equal, 1 different (allowed)" in allowed.stdout
    (project / "specdist.toml").write_text(
        'captures = ["captures/*.json"]\nallow = ["drafted-mismatch"]\nmin-acceptance = "0.65"\n',
        "utf-8",
    )
    (project / "deeper").mkdir()
    configured, floor = run_many(
        project / "deeper",
        [("--specdist", "-v"), ("--specdist-options=--min-acceptance 0.9", "--specdist", "-v")],
    )
    assert configured.code == 0, configured.stdout
    assert "specdist::whole run PASSED" in configured.stdout
    assert "specdist: 1 step equal, 1 different (allowed)" in configured.stdout
    assert floor.code == 1
    assert "specdist::whole run FAILED" in floor.stdout
    assert "error[acceptance-below-floor]" in floor.stdout
    assert "output differs" not in floor.stdout


def test_a_pair_of_dumps_and_the_ini_key(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nspecdist_options = --kind logits --temperature 0.8 --draft-lengths 4x4\n",
        "utf-8",
    )
    captures = SAMPLES / "captures"
    options = f"--target {captures / 'target.npy'} --draft {captures / 'draft.npy'} --top-p 0.95"
    junit = tmp_path / "report.xml"
    result = run_pytest(
        tmp_path, "--specdist", f"--specdist-options={options}", f"--junitxml={junit}"
    )
    assert result.code == 0, result.stdout
    assert "specdist: 4 steps equal" in result.stdout
    cases = ElementTree.parse(junit).getroot().findall(".//testcase")
    assert [case.get("name") for case in cases] == ["row:0", "row:4", "row:8", "row:12"]


def test_rows_that_turn_out_bad_fail_in_their_step(project: Path) -> None:
    capture = {
        "schema": "specdist.capture/1", "kind": "probabilities",
        "steps": [
            {"id": "a::b", "positions": [{"target": ["1/2", "1/2"], "draft": ["1/2", "1/2"]}]},
            {"id": "short", "positions": [{"target": ["1/2", "1/4"], "draft": ["1/2", "1/2"]}]},
        ],
    }  # fmt: skip
    (project / "rows.json").write_text(json.dumps(capture), "utf-8")
    result = run_pytest(project, "--specdist", "rows.json", "-v", "-m", "specdist")
    assert result.code == 1
    assert "rows.json::a::b PASSED" in result.stdout
    assert "rows.json::short FAILED" in result.stdout
    assert "error[row-not-normalised]" in result.stdout
    assert "specdist: 1 step equal, 1 unreadable" in result.stdout


def test_the_fixture_shows_the_lesson_and_the_line_of_the_test(project: Path) -> None:
    (project / "test_own.py").write_text(
        "def kernel(p, q):\n"
        "    return [min(1, a / b) for a, b in zip(p, q)], p\n\n"
        "def test_kernel(assert_lossless):\n"
        "    assert_lossless(['1/2', '3/10', '1/5'], ['1/5', '1/2', '3/10'], sampler=kernel)\n\n"
        "def test_misuse(assert_lossless):\n"
        "    assert_lossless([0.5, 0.5], [0.5, 0.5])\n",
        "utf-8",
    )
    result = run_pytest(project)
    assert result.code == 1
    shown = [
        line.removeprefix("E").strip() for line in result.stdout.splitlines() if line[:1] == "E"
    ]
    assert shown[0] == "AssertionError: error[residual-mismatch]: output differs from the reference"
    assert "1 step checked: 0 equal, 1 different, 0 undecided" in shown
    assert any("MisuseError: error[invalid-settings]: 0.5 is not" in line for line in shown)
    assert re.findall(r"^(\S+\.py):\d+: ", result.stdout, re.MULTILINE) == ["test_own.py"] * 2
    assert "specdist/testing.py" not in result.stdout
    assert "specdist: " not in result.stdout


def test_it_costs_nothing_when_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (tmp_path / "test_loaded.py").write_text(
        "import sys\n"
        "def test_loaded(request):\n"
        "    assert request.config.pluginmanager.hasplugin('specdist')\n"
        "    loaded = sorted(n for n in sys.modules if n.split('.')[0] == 'specdist')\n"
        "    assert loaded == ['specdist', 'specdist.pytest_plugin']\n"
        "    heavy = {'numpy', 'sympy', 'mpmath', 'typer', 'rich', 'tomllib'}\n"
        "    assert not heavy & set(sys.modules)\n",
        "utf-8",
    )
    result = run_pytest(tmp_path, "-p", "no:xdist")
    assert result.code == 0, result.stdout
    assert "specdist " not in result.stdout.replace("specdist-verifier", "")


def test_the_marker_and_the_options_are_documented(tmp_path: Path) -> None:
    markers, options = run_many(tmp_path, [("--markers",), ("--help",)])
    assert "@pytest.mark.specdist:" in markers.stdout
    shown = options.stdout
    assert "--specdist=[PATH]" in shown.replace("--specdist [PATH]", "--specdist=[PATH]")
    assert "specdist_options (string):" in shown
    page = (ROOT / "docs" / "kernel-authors.md").read_text("utf-8")
    for name in ("--specdist-options", "specdist_options", "-m specdist"):
        assert name in page


def test_a_program_that_imports_specdist_first_is_not_warned(tmp_path: Path) -> None:
    import specdist

    assert "PYTEST_DONT_REWRITE" in (specdist.__doc__ or "")
