"""The catalogue of idents, and what `specdist explain` finds by which name."""

from __future__ import annotations

import re

import pytest

from specdist.findings import catalogue
from specdist.model.finding import Severity
from tests.cli import ROOT, run

PAGES = ROOT / "specdist/findings/pages"
DESIGNED = """output-mismatch drafted-mismatch residual-mismatch target-mismatch
lossless-for-another-target bonus-mismatch rule-mismatch support-hole impossible-token
impossible-acceptance row-not-normalised numeric-rounding invalid-row truncated-row
context-mismatch shifted-rows wrong-decision recovered-outside-residual reused-randomness
off-grid-uniform metric-mismatch acceptance-below-floor baseline-regression undecided-precision
undecided-budget configuration-needed unreadable-capture lossy-by-design anticipating-length-rule
near-cut context-not-verified invalid-input invalid-settings missing-extra"""


def test_the_catalogue_is_complete_and_has_no_ident_twice() -> None:
    assert sorted(catalogue.idents()) == sorted(DESIGNED.split())
    assert {entry.severity for entry in catalogue.CATALOGUE} == {s.value for s in Severity}
    for entry in catalogue.CATALOGUE:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", entry.ident)
        assert entry.summary[0].islower()
        assert not entry.summary.endswith(".")
        assert len(entry.summary) <= 72


def test_every_ident_has_a_page() -> None:
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(catalogue.idents())
    assert all(catalogue.page(ident) for ident in catalogue.idents())
    assert catalogue.page("no-such-ident") is None


def named_in_code(*files_left_out: str) -> set[str]:
    """The idents that stand in quotes anywhere but in the catalogue."""
    texts = (
        path.read_text(encoding="utf-8")
        for path in (ROOT / "specdist").rglob("*.py")
        if path.name not in ("catalogue.py", *files_left_out)
    )
    quoted = re.compile(r'"([a-z]+(?:-[a-z]+)+)"')
    return {name for text in texts for name in quoted.findall(text)} & set(catalogue.idents())


def test_idents_of_later_versions_are_those_that_no_code_raises() -> None:
    kinds_of_errors = {"invalid-input"}
    later = {entry.ident for entry in catalogue.CATALOGUE if entry.later}
    assert later - named_in_code() | kinds_of_errors == later
    assert later | named_in_code() == set(catalogue.idents())


def test_explain_lists_everything_it_can_explain() -> None:
    listed = run("explain").stdout
    names = [*catalogue.idents(), "token", "temperature", "top-p", "drafted_from", "exit-codes"]
    for name in names:
        assert f"\n  {name} " in listed
        page = run("explain", name)
        assert page.code == 0
        assert page.stdout.strip()
    assert all(len(line) <= 80 for line in listed.splitlines())


def test_names_of_pages_may_be_written_in_other_ways() -> None:
    assert run("explain", "top_p").stdout == run("explain", "top-p").stdout
    assert run("explain", "drafted-from").stdout == run("explain", "drafted_from").stdout
    assert run("explain", "OUTPUT_MISMATCH").stdout == run("explain", "output-mismatch").stdout


@pytest.mark.parametrize("name", ["bogus", "speed", "warp", "zzz"])
def test_explain_makes_no_wild_guess(name: str) -> None:
    result = run("explain", name)
    assert (result.code, result.stdout) == (2, "")
    assert "did you mean" not in result.stderr
    assert "= help: specdist explain\n" in result.stderr


def test_allow_names_what_can_be_found_once() -> None:
    assert len(set(catalogue.FOUND)) == len(catalogue.FOUND)
    errors = {"unreadable-capture", "invalid-input", "invalid-settings"}
    assert set(catalogue.FOUND) == named_in_code("errors.py") - errors
    result = run("what-if", "--target", "1,0", "--draft", "1,0", "--allow", "bogus")
    assert result.code == 2
    shown = " ".join(result.stderr.split())
    assert all(shown.count(ident) == 1 for ident in catalogue.FOUND)
    assert "invalid-settings" not in shown.split("expected", 1)[1]


def test_explain_knows_every_ident_and_suggests_the_nearest() -> None:
    for entry in catalogue.CATALOGUE:
        assert entry.summary.split()[0] in run("explain", entry.ident).stdout.lower()
    result = run("explain", "output-mismach")
    assert (result.code, result.stdout) == (2, "")
    assert "did you mean output-mismatch" in result.stderr
    assert run("explain", "nucleus").stdout == run("explain", "top-p").stdout
