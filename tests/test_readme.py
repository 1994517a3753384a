"""The README is executed: every console block is run and its output compared.

`UPDATE_GOLDEN=1 pytest tests/test_readme.py` writes the outputs anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli import ROOT, run_here, run_process
from tests.console import Session, matches, refreshed, sessions, too_wide

README = ROOT / "README.md"


def _run(arguments: list[str]) -> tuple[str, int]:
    result = run_here(*arguments)
    return result.stdout, result.code


if os.environ.get("UPDATE_GOLDEN"):  # writes the outputs anew: read the difference
    README.write_text(refreshed(README.read_text(encoding="utf-8"), _run), encoding="utf-8")
TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("session", sessions(README), ids=lambda session: session.command)
def test_every_command_prints_what_is_shown(session: Session) -> None:
    result = run_here(*session.arguments)
    assert result.code == session.code, result.stderr
    if session.output is not None:
        assert matches(session.output, result.stdout), result.stdout


def test_an_ellipsis_stands_for_lines_only() -> None:
    assert matches("a\n...\nd", "a\nb\nc\nd\n")
    assert matches("a\n...\nd", "a\nd\n")
    assert not matches("a\n...\nd", "a\nb\nc\n")
    assert not matches("a\nd", "a\nb\nd\n")
    assert not matches("a.c", "abc")


def test_it_opens_with_the_two_lines() -> None:
    block = re.search(r"```\w*\n(.*?)```", TEXT, re.DOTALL)
    assert block
    assert [line.split("#")[0].strip() for line in block.group(1).strip().splitlines()] == [
        "make demo",
        "make test",
    ]
    assert TEXT.index("make demo") < 700


def test_the_names_of_distribution_and_command() -> None:
    assert "pip install specdist-verifier" in TEXT
    assert "pip install specdist\n" not in TEXT


def test_the_python_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})


def test_the_config_example_is_a_gate(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    (tmp_path / "specdist.toml").write_text(block, encoding="utf-8")
    (tmp_path / "sample_inputs").symlink_to(ROOT / "sample_inputs")
    result = run_process("check", "--quiet", cwd=tmp_path)
    assert (result.code, result.stderr) == (0, "")
    assert "2 steps checked: 2 equal" in result.stdout
    assert (tmp_path / "specdist.xml").is_file()
    assert (tmp_path / "specdist.html").is_file()


def test_every_preset_is_in_the_table() -> None:
    from specdist.engines import loading

    table = TEXT[TEXT.index("| engine | presets |") : TEXT.index("## Formats")]
    assert set(re.findall(r"`([^`]+)`", table)) == set(loading.engine_names())


def test_the_files_to_add_to_exist() -> None:
    table = TEXT[TEXT.index("| to add |") :]
    paths = re.findall(r"`(specdist/[\w/]+(?:\.py)?/?)", table)
    known = [path for path in paths if not re.search(r"[A-Z]{3}", path)]
    assert len(known) > 6
    assert [path for path in known if not (ROOT / path).exists()] == []


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_exit_codes_are_those_of_the_program() -> None:
    from specdist.cli.exit_codes import ExitCode

    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)}
    assert listed == {int(code) for code in ExitCode}


def test_the_lines_fit() -> None:
    assert too_wide(README) == []
