"""The pages of length rules: their sections, their width, and every example run for real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from specdist.rules.lengths.registry import LENGTH_RULES
from tests.cli import run, scrubbed
from tests.page_examples import fenced
from tests.test_rules_pages import SECTIONS

PAGES = {
    path.name.removesuffix(".md"): path.read_text("utf-8")
    for path in files("specdist.rules.lengths").joinpath("pages").iterdir()
}
RULES = {rule.name: rule for rule in LENGTH_RULES}
pages = pytest.mark.parametrize("name", PAGES)


@pages
def test_a_page_has_every_section(name: str) -> None:
    text, rule = PAGES[name], RULES[name]
    assert text.startswith(f"# {name}\n\n")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    assert list(sections) == SECTIONS
    assert all(sections.values()), "a section is empty"
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert f"--length {name}" in sections["Law"]
    assert "Lossless" in sections["What it claims"]
    assert [option.name for option in rule.options if f"{option.name}=" not in text] == []
    assert run("explain", name).stdout.startswith(text)


@pages
def test_examples_of_a_rule_do_what_they_show(name: str, tmp_path: Path) -> None:
    script = tmp_path / "bin" / "specdist"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdist "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    env = scrubbed()
    env["PATH"] = f"{script.parent}{os.pathsep}{env['PATH']}"
    examples = fenced(PAGES[name])
    assert any(name in example.script for example in examples)
    for example in examples:
        done = subprocess.run(
            ["sh", "-c", example.script],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            timeout=60,
            text=True,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert example.shown, "an example shows something"
        assert example.misses(printed) == [], printed
        assert done.returncode == example.code, printed


@pytest.mark.parametrize("rule", LENGTH_RULES, ids=lambda rule: rule.name)
def test_every_length_rule_is_explained(rule: object) -> None:
    for name in (rule.name, *rule.aliases):  # type: ignore[attr-defined]
        told = run("explain", name)
        assert told.code == 0
        assert f"{name}:" in told.stdout or f"  {name} " in told.stdout, name
