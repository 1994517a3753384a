"""The model of a table for transformers: which prefix every row is read for.

Needs the extra ``engines``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from specdist.audit import case
from specdist.audit.context import Context, Setup, running
from specdist.audit.measure import measure
from specdist.audit.program import Program
from specdist.audit.refusals import AdapterError
from specdist.audit.tables import Table, tables
from specdist.audit.tree import Session

TABLE = tables(3, 1)[0]


@pytest.fixture
def model() -> Iterator[Any]:
    with running(Context(Setup(vocab=3, framework="torch"), TABLE, Session([]))):
        yield case.model("target").for_transformers()


def rows(*prefixes: tuple[int, ...], table: Table = TABLE) -> torch.Tensor:
    return torch.tensor([[float(mass) for mass in table.target(prefix)] for prefix in prefixes])


def law(output: Any) -> torch.Tensor:
    probabilities: torch.Tensor = output.logits[0].softmax(-1)
    return probabilities


def close(found: torch.Tensor, expected: torch.Tensor) -> bool:
    return found.shape == expected.shape and bool(torch.allclose(found, expected, atol=1e-6))


def test_a_row_is_that_of_the_tokens_after_the_first_one(model: Any) -> None:
    found = law(model(model.prompt((1, 2))))
    assert close(found, rows((), (1,), (1, 2)))
    assert close(law(model(model.prompt((1, 2)), logits_to_keep=1)), rows((1, 2)))


def test_zeros_are_impossible() -> None:
    table = tables(3, 2)[1]
    with running(Context(Setup(vocab=3, framework="torch"), table, Session([]))):
        model = case.model("target").for_transformers()
        assert torch.isneginf(model(model.prompt()).logits).sum() == 1


def test_the_prefix_is_read_out_of_the_cache(model: Any) -> None:
    cache = DynamicCache(config=model.config)
    model(model.prompt((1, 2)), cache=cache)
    assert close(law(model(torch.tensor([[0]]), cache=cache)), rows((1, 2, 0)))
    cache.crop(-2)
    assert close(law(model(torch.tensor([[0]]), cache=cache)), rows((1, 0)))


def test_a_position_that_does_not_follow_is_another_row(model: Any) -> None:
    cache = DynamicCache(config=model.config)
    model(model.prompt((1,)), cache=cache)
    found = law(model(torch.tensor([[2]]), cache=cache, position_ids=torch.tensor([[1]])))
    assert not close(found, rows((1, 2)))
    shifted = torch.arange(5, 8)[None]
    assert close(law(model(model.prompt((1, 2)), position_ids=shifted)), rows((), (1,), (1, 2)))


def test_masked_tokens_are_not_seen(model: Any) -> None:
    """Padding at the left, and one row of a mask for every query."""
    ids = torch.tensor([[2, 2, 0, 1]])
    mask = torch.tensor([[0, 0, 1, 1]])
    positions = torch.tensor([[0, 0, 0, 1]])
    found = law(model(ids, attention_mask=mask, position_ids=positions))
    assert close(found[-2:], rows((), (1,)))
    seen = torch.tensor([[0, 0, 1, 0], [0, 0, 1, 1]], dtype=torch.bool)[None, None]
    wide = torch.cat([torch.zeros_like(seen), seen], dim=2)
    assert close(law(model(ids, attention_mask=wide, position_ids=positions))[-2:], found[-2:])
    floats = torch.where(wide, 0.0, -1e9)
    assert close(law(model(ids, attention_mask=floats, position_ids=positions))[-2:], found[-2:])


def test_a_token_outside_of_the_vocabulary_is_an_error(model: Any) -> None:
    with pytest.raises(AdapterError, match="outside the vocabulary"):
        model(torch.tensor([[0, 3]]))


@pytest.mark.parametrize("options", [{}, {"use_cache": False}, {"cache_implementation": "static"}])
def test_plain_sampling_has_the_law_of_the_table(options: dict[str, Any]) -> None:
    def step() -> list[int]:
        model = case.model("target").for_transformers()
        ids = model.generate(model.prompt((2,)), do_sample=True, max_new_tokens=2, **options)
        tokens: list[int] = ids[0, 2:].tolist()
        return tokens

    found = measure(Program(step, Setup(vocab=3, steps=1), TABLE), 100).emitted
    for first in range(3):
        for second in range(3):
            mass = TABLE.target((2,))[first] * TABLE.target((2, first))[second]
            assert abs(found[first, second] - mass) < 1e-6


def test_a_library_that_calls_the_cache_otherwise_is_refused(
    monkeypatch: pytest.MonkeyPatch, model: Any
) -> None:
    """Its caches would go unread, and every row would be that of the last token alone."""
    monkeypatch.delitem(sys.modules, "specdist.audit.transformers_model")
    monkeypatch.setattr("transformers.modeling_outputs.CausalLMOutputWithPast", object)
    with pytest.raises(AdapterError, match=r"transformers 5\.24 or later"):
        case.model("draft").for_transformers()
