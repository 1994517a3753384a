"""The page for kernel authors is executed as a reader would: its files written, its commands run.

`UPDATE_GOLDEN=1 pytest tests/test_docs_kernel_authors.py` writes the outputs anew. The test with
torch is run in tests/engines.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli import ROOT
from tests.console import matches
from tests.doc_sessions import File, refreshed_story, story, told

PAGE = ROOT / "docs" / "kernel-authors.md"


def test_every_command_prints_what_is_shown(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")
    if os.environ.get("UPDATE_GOLDEN"):  # writes the outputs anew: read the difference
        (tmp_path / "before").mkdir()
        text = refreshed_story(text, tmp_path / "before")
        PAGE.write_text(text, "utf-8")
    (tmp_path / "now").mkdir()
    count = 0
    for session, result in told(text, tmp_path / "now"):
        assert result.code == session.code, result.stdout + result.stderr
        if session.output is not None:
            assert matches(session.output, result.stdout), result.stdout
        count += 1
    assert count >= 6


def test_every_file_is_used() -> None:
    text = PAGE.read_text("utf-8")
    commands = [part.command for part in story(text) if not isinstance(part, File)]
    files = {part.name: part.text for part in story(text) if isinstance(part, File)}
    run = " ".join([*commands, *files.values()])
    assert len(files) >= 7
    for name in files:
        if name != "test_torch_kernel.py":
            assert name in run or f"from {name.removesuffix('.py')} import" in run


@pytest.mark.parametrize("name", ["MisuseError", "assert_lossless"])
def test_the_names_exist(name: str) -> None:
    from specdist import testing

    assert name in testing.__all__
    assert f"specdist.testing import {name}" in PAGE.read_text("utf-8") or (
        f"specdist.testing.{name}" in PAGE.read_text("utf-8")
    )
