"""Annotations as GitHub's own toolkit writes them: the same findings, byte for byte."""

from __future__ import annotations

import json
import re
from pathlib import Path

from specdist.reports.forms import github
from tests.form_samples import HOSTILE
from tests.formats.outside import NODE_MODULES, documents, found, node

SCRIPT = """
const {issueCommand} = require(process.argv[2])
for (const [level, properties, message] of JSON.parse(require('fs').readFileSync(process.argv[3])))
  issueCommand(level, properties, message)
"""
COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def toolkit(told: list[tuple[str, dict[str, str], str]], tmp_path: Path) -> str:
    script, given = tmp_path / "say.js", tmp_path / "told.json"
    script.write_text(SCRIPT)
    given.write_text(json.dumps(told))
    return node(script, found(NODE_MODULES / "@actions" / "core" / "lib" / "command.js"), given)


def test_commands_are_escaped_as_the_toolkit_does(tmp_path: Path) -> None:
    texts = ["plain", "100%", "a\nb", "a,b:c", "%0A", "::error::x", "é 漢", "##[error]"]
    told = [
        (level, {"file": one, "title": two}, three)
        for level, one, two, three in zip(
            ["error", "warning", "notice"] * 3, texts, texts[1:], texts[2:], strict=False
        )
    ]
    ours = [github.command(*each) for each in told]
    # A line break in a property is shown as \\n, for a title of two lines is cut at the first.
    theirs = toolkit(
        [
            (level, {k: v.replace("\n", "\\n") for k, v in properties.items()}, text)
            for level, properties, text in told
        ],
        tmp_path,
    )
    assert ours == theirs.splitlines()


def test_every_line_is_read_back_and_written_the_same(tmp_path: Path) -> None:
    told, lines = [], []
    for _, text in documents("github", tmp_path):
        for line in text.splitlines():
            match = COMMAND.fullmatch(line)
            assert match is not None, line
            level, properties, message = match.groups()
            pairs = dict(pair.split("=", 1) for pair in properties.split(","))
            told.append((level, {k: plain(v) for k, v in pairs.items()}, plain(message)))
            lines.append(line)
    assert len(lines) > 40
    assert toolkit(told, tmp_path).splitlines() == lines


def plain(text: str) -> str:
    """The escapes undone, as the runner does it."""
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_nothing_hostile_survives() -> None:
    command = github.command("error", {"file": HOSTILE}, HOSTILE)
    assert len(command.splitlines()) == 1
