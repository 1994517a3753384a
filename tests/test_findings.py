"""The catalogue and its pages: complete, readable, and every example run for real."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from specdist.findings import catalogue
from specdist.model.finding import Severity
from tests.cli import ROOT, SAMPLES, run, scrubbed

PAGES = ROOT / "specdist/findings/pages"
EXPLAINED = [entry.ident for entry in catalogue.CATALOGUE if entry.explained]
SECTIONS = ["What it means", "Why it matters", "Smallest example", "How to repair"]
DESIGNED = """output-mismatch drafted-mismatch residual-mismatch target-mismatch
lossless-for-another-target bonus-mismatch rule-mismatch support-hole impossible-token
impossible-acceptance row-not-normalised numeric-rounding invalid-row truncated-row
context-mismatch shifted-rows wrong-decision recovered-outside-residual reused-randomness
off-grid-uniform metric-mismatch acceptance-below-floor baseline-regression undecided-precision
undecided-budget configuration-needed unreadable-capture lossy-by-design anticipating-length-rule
near-cut context-not-verified invalid-input invalid-settings missing-extra"""


def test_the_catalogue_is_complete_and_has_no_ident_twice() -> None:
    assert sorted(catalogue.idents()) == sorted(DESIGNED.split())
    assert {entry.severity for entry in catalogue.CATALOGUE} == {s.value for s in Severity}
    for entry in catalogue.CATALOGUE:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", entry.ident)
        assert entry.summary[0].islower()
        assert not entry.summary.endswith(".")
        assert len(entry.summary) <= 72


def test_pages_and_explained_idents_are_the_same() -> None:
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(EXPLAINED)
    assert all(catalogue.page(ident) for ident in EXPLAINED)
    assert catalogue.page("no-such-ident") is None


def test_every_ident_that_the_code_raises_is_explained() -> None:
    calls = re.compile(r'(?:Finding|Remark)\(\s*"([a-z-]+)"|^\s+ident = "([a-z-]+)"', re.MULTILINE)
    raised = {
        name
        for path in (ROOT / "specdist").rglob("*.py")
        for pair in calls.findall(path.read_text(encoding="utf-8"))
        for name in pair
        if name
    }
    assert {"output-mismatch", "near-cut", "invalid-settings"} <= raised
    assert raised - {"invalid-input", "missing-extra"} <= set(EXPLAINED)


@pytest.mark.parametrize("ident", EXPLAINED)
def test_pages_have_their_sections_and_fit_the_terminal(ident: str) -> None:
    text = (PAGES / f"{ident}.md").read_text(encoding="utf-8")
    title, summary = text.split("\n\n")[:2]
    assert title == f"# {ident}"
    assert summary.endswith(".")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "```console\n$ " in text
    assert run("explain", ident).stdout == text


def examples(ident: str) -> list[str]:
    text = (PAGES / f"{ident}.md").read_text(encoding="utf-8")
    return re.findall(r"```console\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the samples and a ``specdist`` on the path."""
    (tmp_path / "sample_inputs").symlink_to(SAMPLES, target_is_directory=True)
    script = tmp_path / "bin" / "specdist"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdist "$@"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return tmp_path


@pytest.mark.parametrize("ident", EXPLAINED)
def test_examples_do_what_they_show(ident: str, folder: Path) -> None:
    env = scrubbed()
    env["PATH"] = f"{folder / 'bin'}{os.pathsep}{env['PATH']}"
    for example in examples(ident):
        session = _session(example)
        shown = session.pop()
        script = "\n".join(session)
        done = subprocess.run(
            ["sh", "-c", script], cwd=folder, env=env, capture_output=True, timeout=60, text=True
        )
        *lines, code = shown.splitlines()
        assert code == f"[exit {done.returncode}]", done.stderr
        seen = iter((done.stdout + done.stderr).splitlines())
        for line in lines:
            assert line in seen, f"{line!r} is not in\n{done.stdout}{done.stderr}"


def _session(example: str) -> list[str]:
    """The commands of an example, then all the output that it shows."""
    commands: list[str] = []
    shown: list[str] = []
    unfinished = False
    for line in example.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif unfinished:
            commands[-1] += f"\n{line}"
        else:
            shown.append(line)
            continue
        text = commands[-1]
        unfinished = text.endswith(("\\", "|")) or text.count("'") % 2 == 1
    return [*commands, "\n".join(shown)]


def test_explain_lists_everything_it_can_explain() -> None:
    listed = run("explain").stdout
    names = [*EXPLAINED, "token", "temperature", "top-p", "drafted_from", "exit-codes"]
    for name in names:
        assert f"\n  {name} " in listed
        page = run("explain", name)
        assert page.code == 0
        assert page.stdout.strip()
    assert all(len(line) <= 80 for line in listed.splitlines())


def test_topics_have_pages_and_names_may_be_written_with_underscores() -> None:
    from specdist.cli.topics import TOPICS

    assert {"roles", "recipe", "penalties", "one-hot", "raw", "scope"} <= set(TOPICS)
    for name in TOPICS:
        text = run("explain", name).stdout
        assert text.startswith(f"{name}: ")
        assert all(len(line) <= 80 for line in text.splitlines())
    assert run("explain", "top_p").stdout == run("explain", "top-p").stdout
    assert run("explain", "drafted-from").stdout == run("explain", "drafted_from").stdout
    assert run("explain", "OUTPUT_MISMATCH").stdout == run("explain", "output-mismatch").stdout


@pytest.mark.parametrize("name", ["bogus", "speed", "vllm", "zzz"])
def test_explain_makes_no_wild_guess(name: str) -> None:
    result = run("explain", name)
    assert (result.code, result.stdout) == (2, "")
    assert "did you mean" not in result.stderr
    assert "= help: specdist explain\n" in result.stderr


def test_allow_names_what_can_be_found_once() -> None:
    found = re.compile(r'(?:Finding|Remark)\(\s*"([a-z-]+)"')
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "specdist").rglob("*.py")]
    assert sorted(catalogue.FOUND) == sorted(
        {name for text in code for name in found.findall(text)}
    )
    result = run("what-if", "--target", "1,0", "--draft", "1,0", "--allow", "bogus")
    assert result.code == 2
    shown = " ".join(result.stderr.split())
    assert all(shown.count(ident) == 1 for ident in catalogue.FOUND)
    assert "shifted-rows" not in shown


def test_explain_knows_every_ident_and_suggests_the_nearest() -> None:
    for entry in catalogue.CATALOGUE:
        assert entry.summary.split()[0] in run("explain", entry.ident).stdout.lower()
    result = run("explain", "output-mismach")
    assert (result.code, result.stdout) == (2, "")
    assert "did you mean output-mismatch" in result.stderr
    assert run("explain", "nucleus").stdout == run("explain", "top-p").stdout
