"""The pages of acceptance rules: their sections, their width, and every example run for real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from specdist.rules.joint.registry import JOINT_RULES
from specdist.rules.lengths.length_rule import LengthRule
from specdist.rules.lengths.registry import LENGTH_RULES
from specdist.rules.registry import RULES
from specdist.rules.rule import Rule
from tests.cli import run, scrubbed
from tests.page_examples import fenced

SECTIONS = [
    "Law",
    "What it claims",
    "Smallest example",
    "Who uses it",
    "What it does not do",
    "References",
]
CLAIMS = {"lossless": "Lossless", "lossy": "ossy by design", "faulty": "Faulty"}
rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


@rules
def test_a_page_has_every_section(rule: Rule) -> None:
    text = rule.page
    assert text.startswith(f"# {rule.name}\n\n")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    assert list(sections) == SECTIONS
    assert all(sections.values()), "a section is empty"
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert f"--rule {rule.name}" in sections["Law"]
    assert CLAIMS.get(rule.kind, "Observed") in sections["What it claims"]
    assert [option.name for option in rule.options if f"{option.name}=" not in text] == []
    assert any(f"{rule.name}" in example.script for example in fenced(text))
    assert run("explain", rule.name).stdout.startswith(text)


@rules
def test_examples_of_a_rule_do_what_they_show(rule: Rule, tmp_path: Path) -> None:
    script = tmp_path / "bin" / "specdist"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdist "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    env = scrubbed()
    env["PATH"] = f"{script.parent}{os.pathsep}{env['PATH']}"
    for example in fenced(rule.page):
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


def test_explain_lists_rules_by_what_they_decide() -> None:
    listed = run("explain").stdout
    _, over_proposals = listed.split("\nrules over proposals\n")
    over_proposals, lengths = over_proposals.split("\nlength rules\n")
    lengths = lengths.split("\nprocessors\n")[0]
    for rule in JOINT_RULES:
        assert re.search(rf"^  {rule.name} +{re.escape(rule.title)}$", over_proposals, re.MULTILINE)
    for length_rule in LENGTH_RULES:
        assert f"\n  {length_rule.name} " in lengths


@pytest.mark.parametrize("rule", LENGTH_RULES, ids=lambda rule: rule.name)
def test_a_length_rule_is_explained_under_its_name(rule: LengthRule) -> None:
    text = run("explain", rule.name).stdout
    assert re.search(rf"^(# |  (--length )?){rule.name}\b", text, re.MULTILINE)
    assert "--length" in text
    assert [line for line in text.splitlines() if len(line) > 80] == []
