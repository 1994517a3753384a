"""The pages of docs/ are executed: commands, Python, config files, captures; links lead somewhere.

`UPDATE_GOLDEN=1 pytest tests/test_docs.py` writes the outputs of commands anew.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.cli import ROOT, run
from tests.console import Session, matches, refreshed, sessions, too_wide

DOCS = ROOT / "docs"
ELSEWHERE = {"kernel-authors.md", "gate.md", "audit.md"}
"""Pages whose sessions are not only of specdist: tests of their own run them."""
PAGES = sorted(path for path in DOCS.glob("*.md") if path.name not in ELSEWHERE)
ALL = sorted(DOCS.rglob("*.md"))


def _run(arguments: list[str]) -> tuple[str, int]:
    result = run(*arguments)
    return result.stdout, result.code


if os.environ.get("UPDATE_GOLDEN"):  # writes the outputs anew: read the difference
    for _page in PAGES:  # run in the project's folder: sessions that write leave files there
        _page.write_text(refreshed(_page.read_text("utf-8"), _run), "utf-8")


def _sessions() -> list[tuple[Path, Session]]:
    shown = [page for page in PAGES if "```console" in page.read_text("utf-8")]
    return [(page, session) for page in shown for session in sessions(page)]


def _blocks(page: Path, kind: str) -> list[str]:
    pattern = rf"^```{kind}\n(.*?)^```$"
    return re.findall(pattern, page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def _in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the samples, where a session may write."""
    os.symlink(ROOT / "sample_inputs", tmp_path / "sample_inputs")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("images"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_in_a_copy")
@pytest.mark.parametrize(
    ("page", "session"), _sessions(), ids=lambda item: getattr(item, "command", None) or item.stem
)
def test_every_command_prints_what_is_shown(page: Path, session: Session) -> None:
    result = run(*session.arguments)
    assert result.code == session.code, result.stderr
    if session.output is not None:
        assert matches(session.output, result.stdout), result.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_on_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in _blocks(page, "python"):
        exec(compile(block, str(page), "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_captures_on_a_page_are_captures(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, block in enumerate(_blocks(page, "json")):
        path = tmp_path / f"{number}.json"
        path.write_text(block, "utf-8")
        result = run("check", path)
        assert (result.code, result.stderr) == (0, "")
        assert "1 step checked: 1 equal" in result.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_config_files_on_a_page_are_config_files(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in _blocks(page, "toml"):
        Path("specdist.toml").write_text(block, "utf-8")
        result = run("config")
        assert (result.code, result.stderr) == (0, "")
        keys = re.findall(r"^(?:\[(\w+)\]|([\w-]+) =)", re.sub(r"\n(?!\[).*", "", block), re.M)
        assert all(f"{key or table}  " in result.stdout for table, key in keys)


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    for link, _, anchor in (
        match.partition("#") for match in re.findall(r"\]\((?!https?:)([^)]+)\)", text)
    ):
        target = (page.parent / link).resolve() if link else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            titles = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in slugs, f"{page.name}: {link}#{anchor}"


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    assert [
        p.name for p in DOCS.glob("*.md") if p.name != "README.md" and p.name not in index
    ] == []


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)
def test_lines_fit(page: Path) -> None:
    assert too_wide(page) == []


def test_the_forms_are_those_of_the_program() -> None:
    from specdist.reports.forms.registry import FORMS

    listed = re.findall(
        r"^\| `(\w+)` \|[^|]*\| (yes|no) \| (yes|no) \| (yes|no) \|$",
        (DOCS / "reference.md").read_text("utf-8"),
        re.MULTILINE,
    )
    words = {True: "yes", False: "no"}
    assert listed == [(f.name, words[f.printed], words[f.replays], words[f.audits]) for f in FORMS]


def test_the_commands_are_those_of_the_program() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `specdist ([\w-]+)` \|", text, re.MULTILINE))
    from specdist.cli.app import app

    assert listed == {command.name for command in app.registered_commands}


def test_exit_codes_are_those_of_the_program() -> None:
    from specdist.cli.exit_codes import ExitCode

    text = (DOCS / "reference.md").read_text("utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert listed == {int(code) for code in ExitCode}
