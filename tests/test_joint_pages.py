"""The pages of rules over proposals: sections, width, and every example run for real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.registry import JOINT_RULES
from tests.cli import run, scrubbed
from tests.page_examples import fenced
from tests.test_rules_pages import CLAIMS, SECTIONS

rules = pytest.mark.parametrize("rule", JOINT_RULES, ids=lambda rule: rule.name)


@rules
def test_a_page_has_every_section(rule: JointRule) -> None:
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
    assert any(rule.name in example.script for example in fenced(text))
    assert run("explain", rule.name).stdout.startswith(text)


@rules
def test_examples_of_a_rule_do_what_they_show(rule: JointRule, tmp_path: Path) -> None:
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
