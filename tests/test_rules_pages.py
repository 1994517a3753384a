"""The pages of acceptance rules: their sections, their width, and every example run for real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specdist.rules.joint.registry import JOINT_RULES
from specdist.rules.lengths.length_rule import LengthRule
from specdist.rules.lengths.registry import LENGTH_RULES
from specdist.rules.registry import RULES
from specdist.rules.rule import Rule
from tests.cli import run
from tests.page_examples import does_what_it_shows, fenced, sections_of

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
    sections = sections_of(text)
    assert list(sections) == SECTIONS
    assert f"--rule {rule.name}" in sections["Law"]
    assert CLAIMS.get(rule.kind, "Observed") in sections["What it claims"]
    assert [option.name for option in rule.options if f"{option.name}=" not in text] == []
    assert any(f"{rule.name}" in example.script for example in fenced(text))
    assert run("explain", rule.name).stdout.startswith(text)


@rules
def test_examples_of_a_rule_do_what_they_show(rule: Rule, tmp_path: Path) -> None:
    for example in fenced(rule.page):
        does_what_it_shows(example, tmp_path)


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
