"""Random arithmetic on a uniform of 256 points in torch, against running every point."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch

from specdist.audit.context import Setup
from specdist.audit.measure import measure
from specdist.audit.program import Program
from specdist.audit.refusals import RefusalError
from specdist.audit.tables import tables

BITS = 8
Tensor = torch.Tensor
Step = Callable[[Tensor], Tensor]


def _changes(dice: random.Random) -> list[Step]:
    """A chain of functions, with numbers of its own."""
    number = dice.choice([0.25, 0.3, 1.5, 2.0, 3.0])
    row = torch.tensor([dice.choice([0.1, 0.5, 0.75, 1.0]), dice.choice([0.2, 0.9])])
    kinds: list[Step] = [
        lambda u: u * number, lambda u: number * u, lambda u: u / number, lambda u: u + number,
        lambda u: number - u, lambda u: u - number, lambda u: -u, lambda u: u * -number,
        lambda u: u.float(), lambda u: u.double(), lambda u: u.to(torch.float16),
        lambda u: u.clamp(0.2, 0.8), lambda u: torch.clamp(u, min=0.1), lambda u: u.exp(),
        lambda u: torch.sigmoid(u), lambda u: u.tanh(), lambda u: torch.log(u),
        lambda u: torch.log1p(-u), lambda u: u.sqrt(), lambda u: 1 / u, lambda u: u.reciprocal(),
        lambda u: u * row, lambda u: row / u, lambda u: u / row, lambda u: u.flip(0),
        lambda u: u[[1, 0]], lambda u: u.reshape(2, 1).squeeze(1), lambda u: u.repeat(1),
        lambda u: torch.minimum(u, row), lambda u: torch.maximum(u, torch.tensor(0.3)),
        lambda u: u.pow(2), lambda u: torch.stack([u[1], u[0]]), lambda u: u.mul_(number),
        lambda u: u.add_(row[0]), lambda u: u.sub(row), lambda u: torch.rsub(u, number),
    ]  # fmt: skip
    return [dice.choice(kinds) for _ in range(dice.randint(0, 4))]


def _end(dice: random.Random) -> Step:
    bound = torch.tensor([dice.choice([-1.0, 0.1, 0.5, 0.75, 2.0]) for _ in range(2)])
    edges = torch.tensor(sorted(dice.uniform(-1, 3) for _ in range(3)))
    return dice.choice([
        lambda u: u < bound, lambda u: u <= bound, lambda u: u > bound, lambda u: bound >= u,
        lambda u: bound > u, lambda u: ~(u >= bound), lambda u: torch.le(u, bound[0]),
        lambda u: torch.searchsorted(edges, u.float()), lambda u: torch.bucketize(u.float(), edges),
        lambda u: (u * 3).floor().clamp(0, 3), lambda u: (u * 2).long().clamp(0, 3),
    ])  # fmt: skip


def _chain(seed: int) -> Step:
    dice = random.Random(seed)
    changes, end = _changes(dice), _end(dice)

    def run(uniforms: Tensor) -> Tensor:
        for change in changes:
            uniforms = change(uniforms)
        return end(uniforms).long()

    return run


def _alone(chain: Step, place: int) -> dict[int, Counter[int]]:
    """What the element at every place becomes, point by point, the other being in the middle."""
    found: dict[int, Counter[int]] = {0: Counter(), 1: Counter()}
    for k in range(2**BITS):
        numbers = torch.full((2,), 0.5, dtype=torch.bfloat16)
        numbers[place] = k / 2**BITS
        for at, token in enumerate(chain(numbers).tolist()):
            found[at][token] += 1
    return found


@pytest.mark.parametrize("block", range(2))
def test_the_law_is_that_of_running_every_point(block: int) -> None:
    followed = 0
    for seed in range(18 * block, 18 * block + 18):
        chain = _chain(seed)

        def step(chain: Step = chain) -> list[int]:
            tokens = chain(torch.rand(2, dtype=torch.bfloat16)).tolist()
            return [token % 4 for token in tokens]

        setup = Setup(vocab=4, gamma=1, steps=1, framework="torch")
        try:
            found = measure(Program(step, setup, tables(4, 1)[0]), 200)
        except RefusalError:
            continue
        if found.unexplored:  # whole numbers of many values
            continue
        followed += 1
        assert found.emitted == _by_points(chain), seed
    assert followed > 6


def _by_points(chain: Step) -> dict[tuple[int, ...], Fraction]:
    """The elements are independent, and each is a function of one of the two uniforms."""
    alone = [_alone(chain, place) for place in range(2)]
    moved = [max(range(2), key=lambda place, at=at: len(alone[place][at])) for at in range(2)]
    if moved[0] == moved[1]:  # one of them is constant, or both are
        moved = [0, 1] if len(alone[0][0]) > 1 or len(alone[1][1]) > 1 else [1, 0]
    law: dict[tuple[int, ...], Fraction] = {}
    for first, many in alone[moved[0]][0].items():
        for second, more in alone[moved[1]][1].items():
            key = (first % 4, second % 4)
            law[key] = law.get(key, Fraction(0)) + Fraction(many * more, 4**BITS)
    return law
