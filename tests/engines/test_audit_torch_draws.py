"""Draws of torch under audit: every function in and out of place, exact laws, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch

from specdist.audit import draw
from specdist.audit.context import Setup
from specdist.audit.measure import Measured, measure
from specdist.audit.program import Program
from specdist.audit.refusals import AuditError, NotAFunctionError, RefusalError
from specdist.audit.tables import tables

HALF = Fraction(1, 2)
ROW = torch.tensor([0.5, 0.25, 0.25])


def measured(step: Callable[[], Any], steps: int = 1, vocab: int = 4) -> Measured:
    setup = Setup(vocab=vocab, gamma=1, steps=steps, framework="torch")
    return measure(Program(step, setup, tables(vocab, 1)[0]), 100_000)


def law(step: Callable[[], Any], steps: int = 1) -> dict[tuple[int, ...], Fraction]:
    return measured(step, steps).emitted


def first(step: Callable[[], Any]) -> list[Fraction]:
    """The law of the first token."""
    found = law(lambda: [int(step())])
    return [found.get((token,), Fraction(0)) for token in range(3)]


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        (torch.float32, 24), (torch.float64, 53), (torch.float16, 11), (torch.bfloat16, 8),
    ],
)  # fmt: skip
def test_a_uniform_lies_on_the_grid_of_its_format(dtype: torch.dtype, bits: int) -> None:
    size = 2**bits
    for k in (0, 1, size // 3, size - 1):
        bound = torch.tensor(k / size, dtype=dtype)
        below = first(lambda bound=bound: torch.rand((), dtype=dtype) < bound)
        assert below[1] == Fraction(k, size)
        at_most = first(lambda bound=bound: torch.rand((), dtype=dtype) <= bound)
        assert at_most[1] == Fraction(k + 1, size)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.rand(2),
        lambda: torch.rand((2,)),
        lambda: torch.rand(size=(2,)),
        lambda: torch.rand_like(torch.zeros(2)),
        lambda: torch.empty(2).uniform_(),
        lambda: torch.zeros(2).uniform_(0, 1),
        lambda: torch.stack([torch.rand(()), torch.rand(())]),
        lambda: torch.cat([torch.rand(1), torch.rand(1)]),
        lambda: torch.rand(1, 2)[0],
        lambda: torch.rand(2, 1).squeeze(-1),
        lambda: torch.rand(4)[[0, 3]],
        lambda: torch.rand(2).clone().detach().double().float(),
        lambda: 1 - (1 - torch.rand(2)),
    ],
)
def test_uniforms_decide_comparisons_in_any_shape(make: Callable[[], torch.Tensor]) -> None:
    found = law(lambda: (make() < torch.tensor([0.25, 0.5])).long())
    assert found == {
        (1, 1): Fraction(1, 8), (1, 0): Fraction(1, 8), (0, 1): Fraction(3, 8),
        (0, 0): Fraction(3, 8),
    }  # fmt: skip


@pytest.mark.parametrize(
    "accepts",
    [
        lambda u: u < 0.25,
        lambda u: torch.tensor(0.25) > u,
        lambda u: ~(u >= 0.25),
        lambda u: u.item() < 0.25,
        lambda u: u.tolist() < 0.25,
        lambda u: u.numpy()[()] < 0.25,
        lambda u: u * 4 < 1,
        lambda u: u / 0.25 < 1,
        lambda u: 1 - u > 0.75,
        lambda u: -u > -0.25,
        lambda u: u - 0.25 < 0,
        lambda u: torch.lt(u, torch.tensor(0.25)),
        lambda u: u.lt(0.25),
        lambda u: torch.log(u) < math.log(0.25),
        lambda u: u.log() < torch.tensor(0.25).log(),
        lambda u: torch.sqrt(u) < 0.5,
        lambda u: u.clamp(min=0.1) < 0.25,
        lambda u: torch.minimum(u, torch.tensor(0.5)) < 0.25,
        lambda u: u.pow(2) < 0.0625,
        lambda u: 1 / (u + 1) > 0.8,
        lambda u: (u * 4).floor() == 0,
        lambda u: (u * 4).long() == 0,
        lambda u: int((u * 4).to(torch.int64)) == 0,
        lambda u: torch.searchsorted(torch.tensor([0.25, 0.5, 1.0]), u, right=True) == 0,
        lambda u: torch.bucketize(u, torch.tensor([0.25, 1.0]), right=True) == 0,
        lambda u: (u >= torch.tensor([0.25, 0.5])).sum() == 0,
    ],
)
def test_monotone_functions_of_a_uniform_are_followed(accepts: Callable[[Any], Any]) -> None:
    found = first(lambda: accepts(torch.rand(())))
    assert abs(found[1] - Fraction(1, 4)) <= Fraction(2, 2**24)
    assert sum(found) == 1


@pytest.mark.parametrize(
    "token",
    [
        lambda p: torch.multinomial(p, 1),
        lambda p: torch.multinomial(p[None], num_samples=1)[0],
        lambda p: p.multinomial(1, replacement=True),
        lambda p: torch.distributions.Categorical(probs=p).sample(),
        lambda p: torch.distributions.Categorical(logits=p.log()).sample(),
        lambda p: (p / torch.empty(3).exponential_()).argmax(),
        lambda p: (p / torch.empty_like(p).exponential_(1)).argmax(dim=-1),
        lambda p: p.clone().div_(torch.empty_like(p).exponential_()).argmax(dim=-1),
        lambda p: (torch.empty_like(p).exponential_() / p).argmin(),
        lambda p: (p * torch.empty_like(p).exponential_().reciprocal()).argmax(),
        lambda p: (p.log() - torch.empty_like(p).exponential_().log()).argmax(),
        lambda p: (p.log() - torch.log(-torch.log(torch.rand(3)))).argmax(),
        lambda p: (p.log() + -torch.log(-torch.log(torch.rand_like(p) + 1e-10))).argmax(),
        lambda p: (
            (p.log() / 0.5 + -torch.log(-torch.log(torch.rand(3).clamp(min=1e-20))) / 0.5)
            .softmax(dim=-1)
            .argmax(dim=-1)
        ),
        lambda p: torch.max(p / torch.empty(3).exponential_(), dim=-1).indices,
        lambda p: (p / torch.empty(3).exponential_()).topk(1).indices[0],
        lambda p: (p[None] / torch.empty(1, 3).exponential_()).argmax(-1, keepdim=True),
        lambda p: (torch.rand(3) ** (1 / p)).argmax(),
        lambda p: torch.searchsorted(p.cumsum(0), torch.rand(1), right=True),
        lambda p: (torch.rand(1) >= p.cumsum(0)[:-1]).sum(),
        lambda p: draw.categorical(p),
    ],
)
def test_every_way_to_draw_a_token_has_the_law_of_its_row(token: Callable[[Any], Any]) -> None:
    found = first(lambda: token(ROW))
    assert sum(found) == 1
    for mass, share in zip(found, (HALF, HALF / 2, HALF / 2), strict=True):
        assert abs(mass - share) <= Fraction(1, 2**22)


def test_draws_without_replacement_are_drawn_one_after_the_other() -> None:
    found = law(lambda: torch.multinomial(ROW, 2))
    expected = {
        (a, b): Fraction(float(ROW[a])) * Fraction(float(ROW[b])) / (1 - Fraction(float(ROW[a])))
        for a in range(3)
        for b in range(3)
        if a != b
    }
    assert found == expected


def test_bernoulli_in_and_out_of_place() -> None:
    p = torch.tensor([0.25, 1.0])
    expected = {(1, 1): Fraction(1, 4), (0, 1): Fraction(3, 4)}
    assert law(lambda: torch.bernoulli(p).long()) == expected
    assert law(lambda: torch.empty(2).bernoulli_(p).long()) == expected
    quarter = {(1,): Fraction(1, 4), (0,): Fraction(3, 4)}
    assert law(lambda: torch.zeros(1).bernoulli_(0.25).long()) == quarter


def test_uniforms_that_are_written_into_a_tensor_stay_uniforms() -> None:
    def step() -> list[int]:
        numbers = torch.zeros(2)
        numbers[0] = torch.rand(())
        numbers[1] = 0.5
        return (numbers < 0.5).long().tolist()

    assert law(step) == {(1, 0): HALF, (0, 0): HALF}


def test_a_plain_operand_that_changes_afterwards_changes_nothing() -> None:
    def step() -> list[int]:
        bound = torch.tensor([0.25])
        ratio = torch.rand(1) / bound
        bound.fill_(1.0)
        return (ratio < 1).long().tolist()

    assert law(step) == {(1,): Fraction(1, 4), (0,): Fraction(3, 4)}


def test_one_row_of_noise_that_decides_twice_alike_wins_twice_alike() -> None:
    def step() -> list[int]:
        noise = torch.empty(3).exponential_()
        return [int((ROW / noise).argmax()), int((ROW / noise).argmax())]

    assert law(step) == {(0, 0): HALF, (1, 1): HALF / 2, (2, 2): HALF / 2}


def test_masked_logits_never_win() -> None:
    mask = torch.tensor([True, False, False])

    def step() -> list[int]:
        noisy = ROW.log() - torch.empty(3).exponential_().log()
        return [int(noisy.masked_fill(mask, -torch.inf).argmax())]

    found = law(step)
    assert (0,) not in found
    assert abs(found[1,] - HALF) < Fraction(1, 2**50)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda: torch.randn(2), "torch.randn"),
        (lambda: torch.empty(2).normal_(), "torch.normal_"),
        (lambda: torch.randint(0, 3, (1,)), "torch.randint"),
        (lambda: torch.empty(2).geometric_(0.5), "torch.geometric_"),
        (lambda: torch.randperm(3), "torch.randperm"),
        (lambda: torch.nn.functional.dropout(ROW, 0.5), "torch.dropout"),
        (lambda: torch.nn.functional.gumbel_softmax(ROW, hard=True), "gumbel_softmax"),
        (lambda: torch.rand(1) < torch.rand(1), "two uniforms"),
        (lambda: torch.rand(1) * torch.rand(1), "two uniforms"),
        (lambda: torch.rand(3).sum() < 1, "torch.sum"),
        (lambda: torch.rand(1) == 0.5, "torch.__eq__"),
        (lambda: torch.sin(torch.rand(1) * 9) < 0, "torch.sin"),
        (lambda: 1 / (torch.rand(1) - 0.5) < 1, "across 0"),
        (lambda: torch.log(torch.rand(1) - 0.5) < -1, "across 0"),
        (lambda: float(torch.rand(1)), "the value of a uniform"),
        (lambda: bool(torch.rand(1)), "the value of a uniform"),
        (lambda: torch.empty(2, 3)[0].exponential_(), "another one looks into"),
        (lambda: torch.empty(2, 3).unbind()[1].uniform_(), "another one looks into"),
        (lambda: torch.empty(3).exponential_() < 1, "value of exponential noise"),
        (lambda: torch.empty(3).exponential_().argmax(), "the last of a race"),
        (lambda: (ROW / torch.empty(3).exponential_()).sort(), "torch.sort"),
        (lambda: (ROW / torch.empty(3).exponential_()).topk(2), "beyond its first"),
        (lambda: torch.rand(1, out=torch.empty(1)), "into a given tensor"),
        (lambda: (torch.rand(1) * 1000).long(), "more than 64 values"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_line(
    step: Callable[[], Any], said: str
) -> None:
    def adapter() -> list[int]:
        step()
        return [draw.categorical([1, 1])]

    with pytest.raises(RefusalError) as refused:
        law(adapter)
    assert said in str(refused.value)
    assert "test_audit_torch_draws.py, line" in refused.value.place


def test_noise_that_decides_two_different_races_is_refused() -> None:
    def step() -> list[int]:
        noise = torch.empty(3).exponential_()
        return [int((ROW / noise).argmax()), int((ROW.flip(0) / noise).argmax())]

    with pytest.raises(RefusalError, match="two different races"):
        law(step)


def test_errors_of_torch_stay_what_they_are() -> None:
    def step() -> list[int]:
        if torch.rand(()) < 0.25:
            torch.multinomial(torch.tensor([0.0, 0.0]), 1)
        return [1]

    found = measured(step)
    assert found.emitted == {(1,): Fraction(3, 4)}
    assert sum(found.raised.values()) == Fraction(1, 4)


class Reseeded:
    """A generator that is seeded again before every step."""

    def __init__(self) -> None:
        self.generator = torch.Generator()

    def __call__(self) -> list[int]:
        self.generator.manual_seed(7)
        return (torch.rand(1, generator=self.generator) < 0.5).long().tolist()


class SeededOnce(Reseeded):
    """A generator that is seeded once."""

    def __init__(self) -> None:
        super().__init__()
        self.generator.manual_seed(7)

    def __call__(self) -> list[int]:
        return (torch.rand(1, generator=self.generator) < 0.5).long().tolist()


def test_a_generator_is_a_stream_that_its_seed_names() -> None:
    assert law(SeededOnce, steps=2) == dict.fromkeys(
        [(0, 0), (0, 1), (1, 0), (1, 1)], Fraction(1, 4)
    )
    found = measured(Reseeded, steps=2)
    assert found.emitted == {(0, 0): HALF, (1, 1): HALF}
    assert any("reused randomness" in note for note in found.notes)


def test_seeding_torch_inside_makes_constants() -> None:
    torch.manual_seed(3)
    constant = int(torch.rand(1) < 0.5)

    def step() -> list[int]:
        token = draw.categorical([1, 1])
        torch.manual_seed(3)
        return [token, int(torch.rand(1) < 0.5)]

    assert law(step) == {(0, constant): HALF, (1, constant): HALF}


def test_parameters_that_are_made_inside_are_taken_as_they_come() -> None:
    def step() -> list[int]:
        layer = torch.nn.Linear(2, 2)
        with torch.no_grad():
            layer.weight.copy_(torch.eye(2))
            layer.bias.zero_()
        row = layer(torch.tensor([0.25, 0.75]))
        return [int(torch.multinomial(row, 1))]

    found = measured(step)
    assert found.emitted == {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    assert any("parameters" in note for note in found.notes)


def test_state_between_runs_is_found() -> None:
    calls = [0]

    def step() -> list[int]:
        calls[0] += 1
        return torch.multinomial(ROW[: 2 + calls[0] % 2], 1).tolist()

    with pytest.raises(NotAFunctionError):
        law(step)


def test_the_generator_of_torch_is_as_it_was() -> None:
    torch.manual_seed(11)
    before = torch.random.get_rng_state()
    law(lambda: (torch.rand(1) < 0.5).long())
    assert torch.equal(before, torch.random.get_rng_state())


def test_code_that_keeps_a_uniform_between_runs_is_no_function_of_its_draws() -> None:
    kept: list[torch.Tensor] = []

    def step() -> list[int]:
        if not kept:
            kept.append(torch.rand(1))
        return (kept[0] < 0.5).long().tolist()

    with pytest.raises(AuditError):
        law(step)
