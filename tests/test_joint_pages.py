"""The pages of rules over proposals: sections, width, and every example run for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.registry import JOINT_RULES
from tests.cli import run
from tests.page_examples import does_what_it_shows, fenced, sections_of
from tests.test_rules_pages import CLAIMS, SECTIONS

rules = pytest.mark.parametrize("rule", JOINT_RULES, ids=lambda rule: rule.name)


@rules
def test_a_page_has_every_section(rule: JointRule) -> None:
    text = rule.page
    assert text.startswith(f"# {rule.name}\n\n")
    sections = sections_of(text)
    assert list(sections) == SECTIONS
    assert f"--rule {rule.name}" in sections["Law"]
    assert CLAIMS.get(rule.kind, "Observed") in sections["What it claims"]
    assert [option.name for option in rule.options if f"{option.name}=" not in text] == []
    assert any(rule.name in example.script for example in fenced(text))
    assert run("explain", rule.name).stdout.startswith(text)


@rules
def test_examples_of_a_rule_do_what_they_show(rule: JointRule, tmp_path: Path) -> None:
    for example in fenced(rule.page):
        does_what_it_shows(example, tmp_path)
