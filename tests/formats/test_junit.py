"""JUnit XML as `junitparser` reads it, and under the schema of Jenkins' xUnit plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite
from lxml import etree

from specdist.model.outcome import Outcome
from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.junit import render
from tests.form_samples import HOSTILE, SAMPLES
from tests.formats.outside import ENVIRONMENT, documents, found


def schema() -> etree.XMLSchema:
    paths = sorted(found(ENVIRONMENT / "junit").glob("*/tests/vendor/**/junit-10.xsd"))
    assert paths, "no schema in the sources that make test-formats downloads"
    return etree.XMLSchema(etree.parse(paths[-1]))


def suites(text: str) -> list[TestSuite]:
    read = JUnitXml.fromstring(text.encode())
    return [suite for suite in read if isinstance(suite, TestSuite)]


def test_every_document_is_valid_by_the_schema(tmp_path: Path) -> None:
    strict = schema()
    names = []
    for name, text in documents("junit", tmp_path):
        assert strict.validate(etree.fromstring(text.encode())), f"{name}: {strict.error_log}"
        names.append(name)
    assert len(names) > 25


@pytest.mark.parametrize(
    ("old", "new"),
    [("<testcase name=", "<testcase nom="), ("tests=", "test="), ("<skipped", "<undecided")],
)
def test_the_schema_sees_what_is_wrong(old: str, new: str) -> None:
    text = render(SAMPLES["mixed"][0], FormOptions())
    assert old in text
    text = text.replace(old, new).replace("</skipped>", f"</{new[1:]}>" if "<sk" in old else "")
    assert not schema().validate(etree.fromstring(text.encode(), etree.XMLParser(recover=True)))


def test_a_reader_counts_what_the_document_says(tmp_path: Path) -> None:
    for name, text in documents("junit", tmp_path):
        read = suites(text)
        told = [(s.tests, s.failures, s.errors, s.skipped) for s in read]
        for suite in read:
            suite.update_statistics()
        assert [(s.tests, s.failures, s.errors, s.skipped) for s in read] == told, name
        assert all(suite.tests for suite in read), name


@pytest.mark.parametrize("name", SAMPLES)
def test_a_reader_sees_red_exactly_where_the_run_does_not_pass(name: str) -> None:
    report, outcome = SAMPLES[name]
    results = [
        result
        for suite in suites(render(report, FormOptions()))
        for case in suite
        for result in case.result
    ]
    red = [result for result in results if isinstance(result, Failure | Error)]
    assert bool(red) is (outcome is not Outcome.PASSED)
    assert all(result.message for result in results)


def test_a_reader_gets_the_lesson_and_the_names() -> None:
    (suite,) = suites(render(SAMPLES["mixed"][0], FormOptions()))
    cases = list(suite)
    assert [type(r) for case in cases for r in case.result] == [Skipped, Failure]
    (failure,) = cases[2].result
    assert failure.type == "output-mismatch"
    assert "reproduce: specdist what-if" in failure.text
    assert {p.name: p.value for p in suite.properties()}["verdict"] == "different"
    (suite,) = suites(render(SAMPLES["hostile"][0], FormOptions()))
    assert next(iter(suite)).name.endswith("]]><x y=\"'&\\u202e@all #1")
    assert HOSTILE.endswith("@all #1")
