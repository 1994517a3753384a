"""Whole assisted `generate` of transformers under audit: a tiny Llama pair, tables, Gemma 4.

Needs the extra ``engines``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import torch
from transformers.cache_utils import DynamicLayer
from transformers.generation.candidate_generator import AssistedCandidateGenerator

from specdist.audit.context import Setup
from specdist.audit.refusals import NotAFunctionError
from specdist.audit.run import Audit
from specdist.audit.tables import tables
from specdist.model.audit_report import AuditReport
from specdist.model.finding import Severity
from specdist.model.verdict import Verdict
from tests.audit_transformers import Tokens, extended, loaded, output_law, residual, variation

ROUNDING = Fraction(1, 2**20)
llama = loaded("transformers_generate")
of_tables = loaded("transformers_table")
NAMES = [name.removesuffix("_plain") for name in vars(llama) if name.endswith("_plain")]
LOSSY = "ensemble"


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def audited(
    adapter: Callable[[], Any],
    gamma: int,
    reference: Callable[[], Any] | None = None,
    count: int = 1,
) -> AuditReport:
    setup = Setup(vocab=3, gamma=gamma, steps=1)
    return Audit(adapter, "x.py:step", setup, count=count, reference=reference).report()


@pytest.mark.parametrize("name", [name for name in NAMES if name != LOSSY])
def test_two_tokens_of_a_pair_have_the_law_of_plain_sampling(name: str) -> None:
    report = audited(getattr(llama, name), 1, getattr(llama, f"{name}_plain"))
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert report.tables[0].length == 2
    assert 0 < report.tables[0].total_variation.exact < ROUNDING


def test_what_top_k_forbids_has_the_mass_of_the_uniform_0() -> None:
    """Three tokens, of which two are left to the target and another two to the draft."""
    report = audited(llama.top_k, 2, llama.top_k_plain)
    (leak,) = (finding for finding in report.findings if finding.ident == "impossible-token")
    assert leak.severity is Severity.WARNING
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert report.tables[0].sequences > 2**3
    assert 0 < report.tables[0].outside.exact < Fraction(2, 2**24)


def test_a_counter_that_stays_between_runs_is_refused() -> None:
    with pytest.raises(NotAFunctionError, match="not a function of its draws"):
        audited(llama.heuristic_kept, 2, llama.heuristic_plain)


def rows_of(model: Any, temperature: float) -> Callable[[Tokens], Sequence[Fraction]]:
    def row(prefix: Tokens) -> list[Fraction]:
        with torch.no_grad():
            logits = model(torch.tensor([[*llama.PROMPT, *prefix]])).logits[0, -1].double()
        weights = [Fraction(x) for x in (logits / temperature).softmax(-1).tolist()]
        return [weight / sum(weights) for weight in weights]

    return row


def test_drafts_at_a_temperature_that_the_test_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The assistant divides by the temperature twice: once by the processor that is passed on to
    it, once by that of its own config. The test is told one of them."""
    honest = AssistedCandidateGenerator._generate_candidates

    def once(self: Any, arguments: Any) -> Any:
        ids, scores = honest(self, arguments)
        return ids, scores * 0.7

    monkeypatch.setattr(AssistedCandidateGenerator, "_generate_candidates", once)
    report = audited(llama.temperature, 1, llama.temperature_plain)
    target, tested = (rows_of(model, 0.7) for model in llama.MODELS[3])
    draft = rows_of(llama.MODELS[3][1], 0.7 * 0.7)
    wrong = output_law(target, tested, 1, drafted_from=draft)
    assert report.verdict is Verdict.DIFFERENT
    expected = variation(wrong, extended(target, (), 2))
    assert abs(report.tables[0].total_variation.exact - expected) < ROUNDING


def test_what_is_lossy_by_design_is_lossy_by_so_much() -> None:
    """`assistant_ensemble_weight`: tokens are accepted with 1 - w + w p/q, w = 1/2."""
    report = audited(llama.ensemble, 1, llama.ensemble_plain)
    target, draft = (rows_of(model, 1.0) for model in llama.MODELS[3])
    wrong = output_law(target, draft, 1, accept=lambda p, q: min(Fraction(1), (1 + p / q) / 2))
    assert report.verdict is Verdict.DIFFERENT
    expected = variation(wrong, extended(target, (), 2))
    assert abs(report.tables[0].total_variation.exact - expected) < ROUNDING


def test_generate_over_tables_is_lossless() -> None:
    report = audited(of_tables.step, 1, count=3)
    assert report.verdict is Verdict.WITHIN_TOLERANCE
    assert [result.length for result in report.tables] == [2, 2, 2]


#: How many tokens leave the cache instead of one rejected draft token, and the prefix whose row the
#: next token then has, after a rejected and a recovered one: with the rejected one and a position
#: that is there twice; or without anything before.
ROLLED_BACK = [
    (0, lambda rejected, recovered: (rejected, recovered, -1, 0, 1, 1)),
    (2, lambda rejected, recovered: ()),
]


@pytest.mark.parametrize(("removed", "seen"), ROLLED_BACK, ids=["it stays", "one too many"])
def test_a_cache_that_is_rolled_back_wrongly_shows(
    removed: int, seen: Callable[[int, int], Tokens], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = DynamicLayer.crop

    def crop(self: Any, count: int) -> None:
        honest(self, -removed if count else 0)

    monkeypatch.setattr(DynamicLayer, "crop", crop)
    result = audited(of_tables.step, 1).tables[0]
    table = tables(3, 1)[0]
    target, draft = table.target(()), table.draft(())
    left = residual(target, draft)
    wrong: dict[Tokens, Fraction] = {}
    for drafted, first, second in product(range(3), repeat=3):
        stays = min(target[drafted], draft[drafted]) if first == drafted else 0
        mass = stays * table.target((drafted,))[second]
        rejected = max(draft[drafted] - target[drafted], 0) * left[first] / sum(left)
        mass += rejected * table.target(seen(drafted, first))[second]
        wrong[first, second] = wrong.get((first, second), Fraction(0)) + mass
    expected = variation(wrong, extended(table.target, (), 2))
    assert result.verdict is Verdict.DIFFERENT
    assert result.first_variation.exact < ROUNDING
    assert abs(result.total_variation.exact - expected) < ROUNDING


def test_drafts_of_gemma_4_are_tested_as_if_they_were_drawn() -> None:
    gemma = loaded("transformers_gemma4")
    report = audited(gemma.step, 1, gemma.plain)
    assert report.verdict is Verdict.DIFFERENT
    assert abs(report.tables[0].total_variation.exact - Fraction(1, 4)) < ROUNDING
    assert audited(gemma.reported, 1, gemma.plain).verdict is Verdict.WITHIN_TOLERANCE
