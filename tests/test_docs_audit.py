"""The page of audits is executed as a reader would: its files written, its commands run."""

from __future__ import annotations

import re
from pathlib import Path

from specdist import audit
from tests.cli import ROOT
from tests.console import matches
from tests.doc_sessions import told

PAGE = ROOT / "docs" / "audit.md"


def test_every_command_prints_what_is_shown(tmp_path: Path) -> None:
    count = 0
    for session, result in told(PAGE.read_text("utf-8"), tmp_path):
        assert result.code == session.code, result.stdout + result.stderr
        assert session.output is not None
        assert matches(session.output, result.stdout), result.stdout
        count += 1
    assert count == 4


def test_every_member_on_the_page_exists() -> None:
    text = PAGE.read_text("utf-8")
    members = set(re.findall(r"`(case|draw)\.(\w+)", text))
    assert len(members) >= 14
    for owner, name in members:
        assert hasattr(type(getattr(audit, owner)), name), name


def test_every_sample_says_how_it_is_run() -> None:
    for path in sorted((ROOT / "sample_inputs" / "audit").glob("*.py")):
        text = path.read_text("utf-8")
        if "from specdist.audit import" in text:
            assert f"specdist audit sample_inputs/audit/{path.name}:" in text, path.name
