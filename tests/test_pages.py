"""Pages of ``specdist explain``: sections, width, examples run (rules: `test_rules_pages`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specdist.cli.model_options import MODEL
from specdist.cli.topics import TOPICS, topic
from specdist.findings import catalogue
from specdist.model.numerics import CHOICES
from specdist.processing.processor import Processor
from specdist.processing.registry import PROCESSORS
from specdist.rules.keep_rules import KEEP_RULES
from tests.cli import SAMPLES, run
from tests.page_examples import Example, does_what_it_shows, fenced, in_shell, plain, results

SECTIONS = [
    "What it checks",
    "Why it matters",
    "Smallest example",
    "How engines come to it",
    "How to fix",
    "What it does not catch",
    "References",
]
NOT_YET = "This version does not raise it yet"


def page(name: str) -> str:
    return catalogue.page(name) or ""


def sections(text: str) -> dict[str, str]:
    """The text below each heading, by heading, in order."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


@pytest.mark.parametrize("entry", catalogue.CATALOGUE, ids=lambda entry: entry.ident)
def test_a_page_of_an_ident_has_every_section(entry: catalogue.Entry) -> None:
    text = page(entry.ident)
    title, summary, first = text.split("\n\n")[:3]
    assert title == f"# {entry.ident}"
    assert summary.endswith(".")
    found = sections(text)
    assert list(found) == SECTIONS
    assert all(found.values()), "a section is empty"
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert first.startswith(NOT_YET) is entry.later
    example = found["Smallest example"]
    assert entry.later or fenced(example), "an ident that is raised shows how"
    assert run("explain", entry.ident).stdout == text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the samples."""
    (tmp_path / "sample_inputs").symlink_to(SAMPLES, target_is_directory=True)
    return tmp_path


@pytest.mark.parametrize("ident", catalogue.idents())
def test_examples_of_an_ident_do_what_they_show(ident: str, folder: Path) -> None:
    for example in fenced(page(ident)):
        does_what_it_shows(example, folder)


@pytest.mark.parametrize("ident", ["drafted-mismatch", "reused-randomness", "bad-json"])
def test_a_shell_prints_the_same(ident: str, folder: Path) -> None:
    """One command, several, a pipe: `results` runs most of them in this process."""
    for example in fenced(page(ident)):
        assert in_shell(example.script, folder) == results(example.commands, folder)


ALSO_ERRORS = {"invalid-row"}
"""Idents of findings whose pages show the error of the same name, which ends the run."""


@pytest.mark.parametrize("ident", catalogue.FOUND)
def test_an_example_of_a_finding_has_it_in_the_json_report(ident: str, folder: Path) -> None:
    reports = [
        results((*others, f"{last} --format json"), folder)
        for *others, last in (example.commands for example in fenced(page(ident)))
    ]
    if ident in ALSO_ERRORS:
        assert any(f"error[{ident}]" in done.stderr for done in reports)
    else:
        assert any(f'"{ident}"' in done.stdout for done in reports)


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda processor: processor.name)
def test_a_page_of_a_processor_has_its_lines_and_its_example_runs(
    processor: Processor, folder: Path
) -> None:
    text = processor.page
    assert text.startswith(f"{processor.name} ")
    starts = {line.split("  ")[0].split("=")[0] for line in text.splitlines()}
    assert {"formula", "value", "empty row", "example", "engines"} <= starts
    assert starts & {"tie rule", "ties"}
    assert [option.name for option in processor.options if f"{option.name}=" not in text] == []
    assert [line for line in text.splitlines() if len(line) > 80] == []
    run_examples(plain(text), processor.name, folder)


def run_examples(examples: list[Example], name: str, folder: Path) -> None:
    """Runs examples; one of them uses what the page is about."""
    assert any(name in example.script for example in examples), "no example"
    for example in examples:
        assert example.shown, "an example shows something"
        done = results(example.commands, folder)
        printed = done.stdout + done.stderr
        assert example.misses(printed) == [], printed
        assert done.code in ((0, 1, 4) if example.code is None else (example.code,)), printed


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_begins_with_its_name_and_runs_what_it_shows(name: str, folder: Path) -> None:
    text = topic(name) or ""
    assert text.startswith(f"{name}: ")
    assert run("explain", name).stdout.endswith(text)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    examples = plain(text)
    if examples:
        run_examples(examples, "specdist", folder)


def test_options_and_other_names_lead_to_topics() -> None:
    wanted = {"roles", "recipe", "penalties", "one-hot", "raw", "scope", "proposal", "numerics"}
    assert wanted | {"vocabulary-maps", "capture", "rules"} <= set(TOPICS)
    for option in MODEL:
        assert run("explain", option.name).code == 0, option.name
    for rule in KEEP_RULES:
        assert f"  {rule.name}:" in run("explain", "keep").stdout
    for name, values in CHOICES.items():
        assert name in run("explain", "numerics").stdout
        assert name == "unnormalised" or set(values) <= set(
            re.findall(r"[a-z-]+", run("explain", name).stdout)
        )
