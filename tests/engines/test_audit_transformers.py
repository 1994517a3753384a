"""transformers' `_speculative_sampling` under audit: right, rounded, and with planted faults.

Needs the extra ``engines``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import torch
from transformers.generation import utils

from specdist.audit.context import Setup
from specdist.audit.measure import measure
from specdist.audit.program import Program
from specdist.audit.run import Audit
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import AuditReport
from specdist.model.finding import Severity
from specdist.model.verdict import Verdict
from tests.audit_transformers import Tokens, loaded, output_law, variation

ROUNDING = Fraction(1, 2**20)
function = loaded("transformers_function")
#: Two tokens that the draft overrates and one that it underrates.
TARGET = tuple(Fraction(n, 64) for n in (10, 34, 20))
DRAFT = tuple(Fraction(n, 64) for n in (20, 14, 30))


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def audited(gamma: int, count: int = 2) -> AuditReport:
    setup = Setup(vocab=3, gamma=gamma, steps=1)
    return Audit(function.step, "transformers_function.py:step", setup, count=count).report()


def patterns(gamma: int) -> int:
    """Leaves of a test of all uniforms at once: draft tokens, what each comparison says where it is
    open, and the tokens that the last draw can give."""
    open_ones = [p < q for p, q in zip(TARGET, DRAFT, strict=True)]
    recovered = sum(p > q for p, q in zip(TARGET, DRAFT, strict=True))
    found = 0
    for drafted in product(range(3), repeat=gamma):
        for accepted in product((True, False), repeat=gamma):
            if all(yes or open_ones[x] for x, yes in zip(drafted, accepted, strict=True)):
                found += 3 if all(accepted) else recovered
    return found


@pytest.mark.parametrize(("gamma", "count"), [(1, 11), (2, 43), (3, 179)])
def test_one_run_a_leaf_and_every_leaf(gamma: int, count: int) -> None:
    table = Table("constant rows", 3, lambda _: TARGET, lambda _: DRAFT)
    found = measure(Program(function.step, Setup(gamma=gamma, steps=1), table), 1000)
    assert found.leaves == count == patterns(gamma)
    assert sum(found.emitted.values()) == 1


def test_lossless_up_to_float32() -> None:
    report = audited(gamma=2, count=4)
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    for result in report.tables:
        assert 0 < result.total_variation.exact < ROUNDING
        assert result.verdict is Verdict.WITHIN_TOLERANCE


def test_two_steps_are_one_law() -> None:
    setup = Setup(vocab=3, gamma=1, steps=2)
    report = Audit(function.step, "transformers_function.py:step", setup, count=1).report()
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert report.tables[0].length == 4


def test_a_token_without_target_mass_is_accepted_by_the_uniform_0() -> None:
    """``r_i <= probability_ratio`` holds at 0 <= 0, which is one of the 2^24 uniforms."""
    table = tables(3, 2)[1]
    (zero,) = (token for token, mass in enumerate(table.target(())) if not mass)
    report = audited(gamma=1)
    assert report.tables[1].outside.exact == table.draft(())[zero] / 2**24
    (leak,) = (finding for finding in report.findings if finding.ident == "impossible-token")
    assert leak.severity is Severity.WARNING
    assert report.verdict is Verdict.WITHIN_TOLERANCE


RESIDUAL = "torch.clamp((p_n_plus_1 - q_n_plus_1), min=0)"
LEFT = "left"
#: What is wrong, the text of the function, what stands there instead, the same for the oracle.
FAULTS: dict[str, tuple[str, str, dict[str, Callable[..., Any]]]] = {
    "recovers from |p - q|": (
        RESIDUAL, "(p_n_plus_1 - q_n_plus_1).abs()",
        {LEFT: lambda target, draft: [abs(p - q) for p, q in zip(target, draft, strict=True)]},
    ),
    "recovers from the target": (
        RESIDUAL, "p_n_plus_1.clone()", {LEFT: lambda target, draft: target},
    ),
    "accepts what is to be rejected": (
        "r_i <= probability_ratio", "r_i >= probability_ratio",
        {"accept": lambda p, q: 1 - min(Fraction(1), p / q)},
    ),
    "ratio upside down": (
        "probability_ratio = p_i / q_i", "probability_ratio = q_i / p_i",
        {"accept": lambda p, q: min(Fraction(1), q / p) if p else Fraction(1)},
    ),
    "last token by the first row": (
        "p[:, n_matches, :]", "p[:, 0, :]", {"last_row": lambda prefix: ()},
    ),
}  # fmt: skip


def changed(before: str, after: str) -> Callable[..., Any]:
    """The function of the installed library with one place of its text changed."""
    text = inspect.getsource(utils._speculative_sampling)
    assert text.count(before) == 1
    names = dict(vars(utils))
    exec(compile(text.replace(before, after), "<changed>", "exec"), names)
    made: Callable[..., Any] = names["_speculative_sampling"]
    return made


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_with_its_variation(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after, rule = FAULTS[fault]
    monkeypatch.setattr(function, "_speculative_sampling", changed(before, after))
    report = audited(gamma=2)
    assert report.verdict is Verdict.DIFFERENT
    for table, result in zip(tables(3, 2), report.tables, strict=True):
        wrong = output_law(table.target, table.draft, 2, **rule)
        right = output_law(table.target, table.draft, 2)
        assert variation(right, target_law(table)) == 0
        assert abs(result.total_variation.exact - variation(wrong, right)) < ROUNDING
        assert result.verdict is Verdict.DIFFERENT


def target_law(table: Table) -> dict[Tokens, Fraction]:
    """Three tokens of the target alone."""
    found = {}
    for tokens in product(range(3), repeat=3):
        mass = Fraction(1)
        for i, token in enumerate(tokens):
            mass *= table.target(tokens[:i])[token]
        found[tokens] = mass
    return found
