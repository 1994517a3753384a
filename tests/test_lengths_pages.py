"""The pages of length rules: their sections, their width, and every example run for real."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from specdist.rules.lengths.registry import LENGTH_RULES
from tests.cli import run
from tests.page_examples import does_what_it_shows, fenced, sections_of
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
    sections = sections_of(text)
    assert list(sections) == SECTIONS
    assert f"--length {name}" in sections["Law"]
    assert "Lossless" in sections["What it claims"]
    assert [option.name for option in rule.options if f"{option.name}=" not in text] == []
    assert run("explain", name).stdout.startswith(text)


@pages
def test_examples_of_a_rule_do_what_they_show(name: str, tmp_path: Path) -> None:
    examples = fenced(PAGES[name])
    assert any(name in example.script for example in examples)
    for example in examples:
        does_what_it_shows(example, tmp_path)


@pytest.mark.parametrize("rule", LENGTH_RULES, ids=lambda rule: rule.name)
def test_every_length_rule_is_explained(rule: object) -> None:
    for name in (rule.name, *rule.aliases):  # type: ignore[attr-defined]
        told = run("explain", name)
        assert told.code == 0
        assert f"{name}:" in told.stdout or f"  {name} " in told.stdout, name
