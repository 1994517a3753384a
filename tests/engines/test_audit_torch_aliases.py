"""Ways past the audit in torch, each once a wrong law: shared memory, joined numbers, generators
that are set back, threads, scripted code and batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from specdist.audit import draw
from specdist.audit.context import Setup
from specdist.audit.measure import measure
from specdist.audit.program import Program
from specdist.audit.refusals import AuditError
from specdist.audit.tables import tables

HALF = Fraction(1, 2)
ROW = torch.tensor([0.5, 0.25, 0.25])
FIRST = torch.tensor([True, False, False])


def law(step: Callable[[], Any]) -> dict[tuple[int, ...], Fraction]:
    setup = Setup(vocab=4, gamma=1, steps=1, framework="torch")
    return measure(Program(step, setup, tables(4, 1)[0]), 1000).emitted


def _set_back() -> list[int]:
    state = torch.get_rng_state()
    before = torch.rand(1) < 0.5
    torch.set_rng_state(state)
    return [int(before), int(torch.rand(1) < 0.5)]


def _forked() -> list[int]:
    with torch.random.fork_rng(devices=[]):
        before = torch.multinomial(ROW, 1)
    return [int(before), int(torch.multinomial(ROW, 1))]


def _reseeded_once_more() -> list[int]:
    state = torch.get_rng_state()
    torch.rand(1)
    torch.set_rng_state(state)
    first = torch.rand(1) < 0.5
    return [int(first), int(torch.rand(1) < 0.5)]


def test_a_state_that_is_set_again_gives_the_same_draws_again() -> None:
    assert law(_set_back) == {(0, 0): HALF, (1, 1): HALF}
    assert law(_forked) == {(0, 0): HALF, (1, 1): HALF / 2, (2, 2): HALF / 2}
    both = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert law(_reseeded_once_more) == dict.fromkeys(both, HALF / 2)


def _copied() -> Any:
    kept = torch.empty(2)
    kept.copy_(torch.rand(1))
    return kept[1] < 0.5


def _same_tensor() -> Any:
    uniform = torch.rand(1)
    scaled = uniform.float()
    scaled.mul_(2)
    return uniform < 1


def _to_whole() -> Any:
    whole = torch.zeros(1, dtype=torch.long)
    whole.copy_(torch.rand(1) * 2)
    return whole


def _rounded() -> Any:
    """k / 256 times 1 - 2^-9 rounds to 8 bits: half of the points are not below 1/2."""
    uniform = torch.rand(1, dtype=torch.bfloat16)
    uniform.mul_(torch.tensor([1 - 2**-9]))
    return uniform < 0.5


def _zeroed() -> Any:
    uniform = torch.rand(1)
    below = uniform < 0.5
    uniform.zero_()
    return below & (uniform.item() == 0)


@pytest.mark.parametrize(
    "step",
    [
        _copied, _same_tensor, _to_whole, _rounded, _zeroed,
        lambda: torch.rand(1).type(torch.float64) < 0.5,
        lambda: (torch.rand(1) * 2).type(torch.int64),
        lambda: (torch.rand(1) * 2).type_as(torch.zeros(1, dtype=torch.int32)),
    ],
)  # fmt: skip
def test_tensors_that_are_written_or_converted_keep_their_uniforms(step: Callable[[], Any]) -> None:
    assert law(lambda: [int(step())]) == {(0,): HALF, (1,): HALF}


def test_weights_that_need_a_gradient_are_raced() -> None:
    row = ROW.clone().requires_grad_()
    found = law(lambda: [int((row / torch.empty(3).exponential_()).argmax())])
    assert found == {(0,): HALF, (1,): HALF / 2, (2,): HALF / 2}


def test_whole_numbers_are_no_weights_of_multinomial() -> None:
    with pytest.raises(AuditError, match="floating-point"):
        law(lambda: torch.multinomial(torch.tensor([1, 2, 3]), 1).tolist())


def _gumbel() -> torch.Tensor:
    return -torch.log(-torch.log(torch.rand(3)))


def _with_zero() -> Any:
    uniforms = torch.rand(3)
    uniforms[0] = 0
    return uniforms.argmax()


def _number_then_race() -> Any:
    uniforms = torch.rand(3)
    number = uniforms[0].item()
    return uniforms.argmax(), number < 0.5


def _from_array() -> Any:
    array = np.empty(2, dtype=np.float32)
    torch.from_numpy(array).uniform_()
    return array < 0.5


def _below(u: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return u < p


def _scripted() -> Any:
    with warnings.catch_warnings():  # torch calls its script old
        warnings.simplefilter("ignore")
        scripted: Any = torch.jit.script(_below)
    return scripted(torch.rand(3), ROW)


def _uniform() -> torch.Tensor:
    return torch.rand(1)


def _draws_in_a_script() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted: Any = torch.jit.script(_uniform)
    with torch.random.fork_rng(devices=[]):
        return scripted()


def _array_then_in_place() -> Any:
    uniforms = torch.rand(2)
    array = uniforms.numpy()
    uniforms.mul_(0.5)
    return array < 0.5


def _threads() -> Any:
    uniforms = torch.rand(2)
    with ThreadPoolExecutor(1) as pool:
        return list(pool.map(lambda i: bool(uniforms[i] < 0.5), range(2)))


def _one() -> Any:
    return torch.rand(())


def _batch(function: Callable[..., Any], *given: Any) -> Any:
    return torch.func.vmap(function, randomness="different")(*given)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lambda: _gumbel().masked_fill(FIRST, 0).argmax(), "noise with numbers"),
        (lambda: torch.where(FIRST, 0, torch.rand(3)).argmax(), "noise with numbers"),
        (lambda: torch.cat([torch.tensor([0]), torch.rand(3)[1:]]).argmax(), "noise with numbers"),
        (_with_zero, "noise with numbers"),
        (_number_then_race, "that was raced"),
        (lambda: torch.multinomial(ROW, 1, out=torch.zeros(1).long()), "into a given tensor"),
        (lambda: torch.bernoulli(ROW, out=torch.zeros(3)), "into a given tensor"),
        (lambda: torch.bernoulli(torch.rand(3)), "a random law"),
        (lambda: torch.multinomial(torch.softmax(_gumbel(), -1), 1), "a random law"),
        (lambda: torch.multinomial(torch.tensor([1.0, 0, 0]), 2), "fewer weights"),
        (lambda: ROW.new_full((2,), _one()), "with a uniform"),
        (lambda: torch.rand(1, 3).squeeze_(0), "another shape"),
        (lambda: torch.rand(3).apply_(abs), "apply_"),
        (_from_array, "another one looks into"),
        (_scripted, "scripted code on"),
        (_draws_in_a_script, "scripted code that draws"),
        (_array_then_in_place, "another one looks into"),
        (lambda: torch.rand(2).view(torch.int32), "the bits of"),
        (_threads, "another thread"),
        (lambda: _batch(lambda u, p: u < p, torch.rand(3), ROW), "vmap"),
        (lambda: _batch(lambda p: torch.rand(()) < p, ROW), "torch.func"),
    ],
)
def test_ways_past_the_audit_are_refused(step: Callable[[], Any], said: str) -> None:
    def adapter() -> list[int]:
        step()
        return [draw.categorical([1, 1])]

    with pytest.raises(AuditError, match=said):
        law(adapter)
