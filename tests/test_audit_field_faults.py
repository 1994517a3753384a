"""Known wrong rules have the laws that are worked out by hand for faults met in the field."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import pytest

from specdist.audit.context import Setup
from specdist.audit.known_faults.fault_law import Shape, fault_law
from specdist.audit.known_faults.registry import faults
from specdist.audit.known_faults.rows import Fault
from specdist.audit.tables import Law, Table, Tokens


def row(text: str) -> Law:
    return tuple(map(Fraction, text.split()))


def constant(target: str, draft: str) -> Table:
    p, q = row(target), row(draft)
    return Table("the same rows everywhere", len(p), lambda z: p, lambda z: q)


def laws(name: str, table: Table, gamma: int, length: int) -> Iterable[dict[Tokens, Fraction]]:
    """Of every member of the library with that name."""
    setup = Setup(table.vocab, gamma, 1)
    uniform = {(y,): Fraction(1, table.vocab) for y in range(table.vocab)}
    members: list[Fault] = [f for f in faults(uniform, table, setup) if f.name == name]
    assert members
    for fault in members:
        law = fault_law(fault, table, Shape(1, gamma), length)
        if law is not None:
            yield {tokens: mass for tokens, mass in law.items() if mass}


P3, Q3 = "1/2 1/4 1/4", "1/4 1/2 1/4"
FIRST_TOKEN = [
    ("accepts every draft token", "1/2 3/10 1/5", "1/5 1/2 3/10", "1/5 1/2 3/10"),
    ("accepts every draft token that the target allows (its uniform is 0)",
     "3/5 2/5 0", "1/5 1/2 3/10", "1/2 1/2 0"),
    ("resamples from the target", "3/5 3/10 1/10", "3/10 3/10 2/5", "12/25 39/100 13/100"),
    ("residual subtracts the draft only at the drafted token (a one-hot residual)",
     "1/2 1/5 3/10", "1/10 3/5 3/10", "7/20 1/5 9/20"),
    ("residual subtracts the draft only at the drafted token (a one-hot residual)",
     P3, Q3, "5/12 1/4 1/3"),
    ("ratio inverted (draft / target)", "1/2 3/10 1/5", "1/5 3/10 1/2", "1/5 3/10 1/2"),
    ("ratio inverted (draft / target)", P3, Q3, "1/4 1/2 1/4"),
    ("ratio and residual inverted (target and draft swapped)",
     "1/2 3/10 1/5", "1/5 3/10 1/2", "2/25 3/10 31/50"),
    ("argmax draft tested with the softmax row", "1/2 1/4 1/4", "3/5 1/5 1/5", "5/6 1/12 1/12"),
    ("argmax draft tested with the softmax row", P3, Q3, "1/2 1/2 0"),
    ("residual is the absolute difference", P3, Q3, "3/8 3/8 1/4"),
    ("residual reversed (draft - target)", P3, Q3, "1/4 1/2 1/4"),
    ("resamples from the target", P3, Q3, "3/8 5/16 5/16"),
    ("drops a draft token because of its own probability, and draws from the target",
     "1/2 3/10 1/5", "2/5 2/5 1/5", "3/5 9/25 1/25"),
    ("cuts the accepted tokens and draws again from the target", "3/5 2/5", "2/5 3/5",
     "17/25 8/25"),
    ("typical acceptance, else the target's argmax",
     "7/10 1/5 1/20 1/20", "3/10 2/5 1/5 1/10", "3/5 2/5 0 0"),
    ("one vector of noise for the draft and the recovered token",
     "1/5 2/5 2/5", "3/5 3/10 1/10", "1/5 16/45 4/9"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "target", "draft", "law"), FIRST_TOKEN)
def test_the_law_of_one_token(name: str, target: str, draft: str, law: str) -> None:
    expected = {(y,): mass for y, mass in enumerate(row(law)) if mass}
    assert expected in laws(name, constant(target, draft), 1, 1)


def test_block_verification_by_joint_ratios_with_the_residual_of_one_token() -> None:
    """Independent numbers: the joint law of two tokens is wrong by 1/8."""
    p = {(): "1/4 3/4", (0,): "3/4 1/4", (1,): "1/2 1/2"}
    q = {(): "1/2 1/2", (0,): "3/8 5/8", (1,): "3/4 1/4"}

    def rows(chain: dict[Tokens, str]) -> dict[Tokens, Law]:
        return {z: row(text) for z, text in chain.items()}

    target, draft = rows(p), rows(q)
    even = row("1/2 1/2")
    table = Table("a chain", 2, lambda z: target.get(z, even), lambda z: draft.get(z, even))
    name = "block rule that keeps a prefix with its joint ratio, with the token rule's residual"
    expected = {(0, 0): "5/16", (1, 0): "5/16", (1, 1): "5/16", (0, 1): "1/16"}
    assert {z: Fraction(m) for z, m in expected.items()} in laws(name, table, 2, 2)


@pytest.mark.parametrize(
    ("name", "off"),
    [
        ("block rule with one uniform for all positions", "1/200"),
        ("block rule with the token rule's residual (target - draft)", "3/1400"),
    ],
)
def test_wrong_blocks_on_the_pair_that_shows_them(name: str, off: str) -> None:
    table = constant("9/20 9/20 1/10", "1/20 3/20 4/5")
    p = table.target(())
    for law in laws(name, table, 2, 3):
        right = {
            (x, y, z): p[x] * p[y] * p[z] for x in range(3) for y in range(3) for z in range(3)
        }
        assert sum(abs(law.get(t, 0) - right[t]) for t in right) / 2 == Fraction(off)
