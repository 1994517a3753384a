"""Published packages under audit: verdicts and exact laws, against enumerations by hand.

Needs the extra ``engines``; a package that is not installed is skipped.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import Any

import pytest

from specdist.audit.context import Setup
from specdist.audit.measure import Measured, measure
from specdist.audit.program import Program
from specdist.audit.run import Audit
from specdist.audit.tables import Table
from specdist.model.audit_report import AuditReport
from specdist.model.verdict import Verdict
from tests import oracle_packages as by_hand
from tests.cli import ROOT
from tests.oracle_packages import DRAFT, TARGET, Law, Row

ROUNDING = Fraction(1, 2**20)
VERSIONS = {
    "specdec": "0.2.0",
    "flashspec": "0.3.1",
    "mini-infer": "0.2.5",
    "rotalabs-accel": "1.1.1",
    "sequential-speculative-decoding": "0.1.1",
    "speculative-decoding": "0.2.0",
}
#: What is lossless: file of the adapter, its function, the package.
LOSSLESS = [
    ("package_specdec", "step", "specdec"),
    ("package_mini_infer", "step", "mini-infer"),
    ("package_flashspec", "step", "flashspec"),
    ("package_flashspec", "one_hot", "flashspec"),
    ("package_seqspecdecod", "standard", "sequential-speculative-decoding"),
    ("package_seqspecdecod", "naive_hierarchical", "sequential-speculative-decoding"),
    ("package_speculative_decoding", "two_tokens", "speculative-decoding"),
]
SEQUENTIAL = ("package_seqspecdecod", "sequential-speculative-decoding")
ROTALABS = ("package_rotalabs_accel", "rotalabs-accel")


def adapter(file: str, name: str, package: str) -> Callable[[], Any]:
    """The function of a shipped adapter; skips where its package is not there in this version."""
    try:
        found = version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed: make test-engines installs it")
    if found != VERSIONS[package]:
        pytest.skip(f"{package} {found}, where {VERSIONS[package]} is audited")
    path = ROOT / "sample_inputs" / "audit" / f"{file}.py"
    spec = importlib.util.spec_from_file_location(f"audited_{file}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    step: Callable[[], Any] = getattr(module, name)
    return step


def walked(step: Callable[[], Any], gamma: int, p: Row = TARGET, q: Row = DRAFT) -> Measured:
    """One step over the same rows after every prefix."""
    table = Table("one pair of rows", len(p), lambda _: p, lambda _: q)
    return measure(Program(step, Setup(vocab=len(p), gamma=gamma, steps=1), table), 10_000)


def audited(step: Callable[[], Any], gamma: int, steps: int = 1, count: int = 2) -> AuditReport:
    return Audit(step, "x.py:step", Setup(gamma=gamma, steps=steps), count=count).report()


def close(found: Law, expected: Law) -> bool:
    """Equal but for the rounding of float32 and the grid of its uniforms."""
    both = found.keys() | expected.keys()
    return all(abs(found.get(t, 0) - expected.get(t, 0)) < ROUNDING for t in both)


def first_row(law: Law) -> Row:
    return by_hand.first_token(law, 3)


def near(found: Row, *expected: Fraction) -> bool:
    return all(abs(a - b) < ROUNDING for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(("file", "name", "package"), LOSSLESS)
def test_lossless_packages_are_lossless(file: str, name: str, package: str) -> None:
    gamma = 1 if package == "speculative-decoding" else 2  # a loop of several rounds
    report = audited(adapter(file, name, package), gamma=gamma)
    assert report.verdict in (Verdict.EQUAL, Verdict.WITHIN_TOLERANCE)
    assert report.smallest is None
    for result in report.tables:
        assert result.total_variation.exact is not None
        assert result.total_variation.exact < ROUNDING / 2
        assert not result.raised
    assert {finding.ident for finding in report.findings} <= {
        "numeric-rounding", "impossible-token", "drafted-mismatch",
    }  # fmt: skip


@pytest.mark.parametrize(("file", "name", "package"), LOSSLESS)
def test_lossless_laws_are_those_of_the_rule(file: str, name: str, package: str) -> None:
    """The whole law of a step that tests token by token; that of the tokens for other rules."""
    gamma = 1 if package == "speculative-decoding" else 2
    found = walked(adapter(file, name, package), gamma).emitted
    if name in ("naive_hierarchical", "one_hot") or package == "speculative-decoding":
        length = max(map(len, found))
        target = {
            tokens: by_hand.mass(TARGET, tokens) for tokens in product(range(3), repeat=length)
        }
        assert close(by_hand.continued(found, TARGET, length), target)
    else:
        assert close(found, by_hand.token_rule(TARGET, DRAFT, 2))


@pytest.mark.parametrize("name", ["standard", "naive_hierarchical"])
def test_two_steps_are_lossless(name: str) -> None:
    step = adapter(SEQUENTIAL[0], name, SEQUENTIAL[1])
    report = audited(step, gamma=1, steps=2, count=1)
    assert report.verdict is Verdict.WITHIN_TOLERANCE


def test_rotalabs_takes_the_draft_away_at_one_token_only() -> None:
    """By hand: token 1 is rejected with mass 1/4, and (1/2, 0, 1/4) over 3/4 replaces it."""
    step = adapter(ROTALABS[0], "step", ROTALABS[1])
    found = walked(step, 1).emitted
    assert near(first_row(found), Fraction(5, 12), Fraction(1, 4), Fraction(1, 3))
    assert close(found, by_hand.drafted_token_only(TARGET, DRAFT, 1))
    assert abs(by_hand.variation(found, TARGET) - Fraction(1, 12)) < ROUNDING
    report = audited(step, gamma=1, count=1)
    assert report.verdict is Verdict.DIFFERENT
    assert report.smallest is not None
    assert (report.smallest.vocab, report.smallest.gamma, report.smallest.steps) == (3, 1, 1)


@pytest.mark.parametrize("gamma", [1, 2])
def test_rotalabs_draws_its_bonus_greedily(gamma: int) -> None:
    """top-p is handed on as top-k: 9/10 becomes the one best token."""
    step = adapter(ROTALABS[0], "verified", ROTALABS[1])
    found = walked(step, gamma).emitted
    expected = by_hand.drafted_token_only(TARGET, DRAFT, gamma, greedy_bonus=True)
    assert close(found, expected)
    assert by_hand.variation(expected, TARGET) == (Fraction(3, 8), Fraction(9, 32))[gamma - 1]


def test_typical_acceptance_keeps_the_draft() -> None:
    """P3: every token is within 0.35 of the entropy, so all drafts stand: total variation 1/4."""
    step = adapter("package_flashspec", "typical", "flashspec")
    found = walked(step, 1).emitted
    assert close(found, by_hand.typical_acceptance(TARGET, DRAFT, 1, 0.7))
    assert near(first_row(found), *DRAFT)
    assert audited(step, gamma=1).verdict is Verdict.DIFFERENT


def test_capped_verification_needs_two_draft_tokens_to_be_found() -> None:
    step = adapter(SEQUENTIAL[0], "capped_hierarchical", SEQUENTIAL[1])
    assert close(walked(step, 1).emitted, by_hand.token_rule(TARGET, DRAFT, 1))
    found = walked(step, 2).emitted
    assert close(found, by_hand.first_always_stands(TARGET, DRAFT))
    assert abs(by_hand.variation(found, TARGET) - Fraction(5, 16)) < ROUNDING
    report = audited(step, gamma=2, count=1)
    assert report.verdict is Verdict.DIFFERENT
    assert report.smallest is not None
    assert report.smallest.gamma == 2


def test_capped_verification_raises_where_the_draft_has_a_zero() -> None:
    """By hand: token 1 is rejected with mass 1/4; its weights q (p/q - 1) are 0 where q is, so
    nothing is left to draw from."""
    step = adapter(SEQUENTIAL[0], "capped_hierarchical", SEQUENTIAL[1])
    found = walked(step, 1, q=(Fraction(1, 2), Fraction(1, 2), Fraction(0)))
    assert abs(sum(found.raised.values()) - Fraction(1, 4)) < ROUNDING
    assert all(error.startswith("RuntimeError: probability tensor") for _, error, _ in found.raised)


def test_a_uniform_of_zero_lets_an_impossible_token_pass() -> None:
    """Rejected where u > p / q: with p = 0 the token stays at u = 0, one point of 2^24."""
    step = adapter("package_speculative_decoding", "two_tokens", "speculative-decoding")
    p = (Fraction(1, 2), Fraction(0), Fraction(1, 2))
    found = walked(step, 1, p=p).emitted
    leak = first_row(found)[1]
    assert abs(leak * 2**24 - DRAFT[1]) < ROUNDING
