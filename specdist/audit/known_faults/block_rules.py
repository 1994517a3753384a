"""Block verification (2403.10444, algorithm 2) with a part of it wrong.

``r_0 = 1, r_i = min(1, r_{i-1} P(x_i)/Q(x_i))``; for i < gamma ``Z_i = sum max(r_i P - Q, 0)`` over
the rows after i draft tokens and ``h_i = Z_i / (Z_i + 1 - r_i)``, ``h_gamma = r_gamma``. Coin i is
heads with h_i, independent of the others; the last heads says how many tokens stay; then a token of
max(r P - Q, 0) there, or the bonus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

from specdist.audit.known_faults.rows import Emitted, Fault, Rows, stateless
from specdist.audit.known_faults.token_chain import ONE, ZERO, positive


class Coins(Enum):
    """How the coins of a block are looked at."""

    LAST_HEADS = auto()
    FIRST_TAILS = auto()
    SHARED = auto()


@dataclass(frozen=True)
class Block:
    """One step of block verification. ``capped``: the running ratio is at most 1; ``weighed``: h_i
    and not r_i itself is the bias of coin i; ``scaled``: the residual has the running ratio."""

    coins: Coins = Coins.LAST_HEADS
    capped: bool = True
    weighed: bool = True
    scaled: bool = True

    def __call__(self, rows: Rows) -> Iterator[Emitted]:
        """Yields what the step emits."""
        ratios = self._ratios(rows)
        kept = self._kept(rows, self._biases(rows, ratios))
        yield from rows.tokens(rows.gamma)[:kept]
        if kept == rows.gamma:
            if rows.bonus:
                yield rows.law(rows.target(kept))
            return
        yield rows.law(_over(rows, kept, ratios[kept] if self.scaled else ONE))

    def _ratios(self, rows: Rows) -> list[Fraction]:
        """r_0 .. r_gamma."""
        ratios = [ONE]
        for i, token in enumerate(rows.tokens(rows.gamma)):
            running = ratios[-1] * rows.target(i)[token] / rows.draft(i)[token]
            ratios.append(min(ONE, running) if self.capped else running)
        return ratios

    def _biases(self, rows: Rows, ratios: list[Fraction]) -> list[Fraction]:
        """h_0 .. h_gamma, h_0 being 1: no token stays where every coin is tails."""
        biases = [ONE]
        for i in range(1, rows.gamma):
            weight = sum(_over(rows, i, ratios[i]), ZERO)
            below = weight + 1 - ratios[i]
            bias = weight / below if below else ONE
            biases.append(bias if self.weighed else ratios[i])
        return [*biases, ratios[-1]]

    def _kept(self, rows: Rows, biases: list[Fraction]) -> int:
        """How many draft tokens stay."""
        places = range(1, rows.gamma + 1)
        if self.coins is Coins.FIRST_TAILS:
            return next((i - 1 for i in places if not rows.coin(biases[i])), rows.gamma)
        if self.coins is Coins.SHARED:
            shared = rows.unit()
            return next((i for i in reversed(places) if shared.below(biases[i])), 0)
        return next((i for i in reversed(places) if rows.coin(biases[i])), 0)


def _over(rows: Rows, i: int, ratio: Fraction) -> tuple[Fraction, ...]:
    """max(r P - Q, 0) after i draft tokens."""
    return positive(tuple(ratio * mass for mass in rows.target(i)), rows.draft(i))


BLOCK_RULES = (
    stateless("block rule that stops at the first failure", Block(Coins.FIRST_TAILS)),
    stateless("block rule whose running ratio is not capped at 1", Block(capped=False)),
    stateless("block rule with the token rule's residual (target - draft)", Block(scaled=False)),
    stateless("block rule with one uniform for all positions", Block(Coins.SHARED)),
    stateless("block rule that keeps a prefix with its joint ratio", Block(weighed=False)),
    stateless(
        "block rule that keeps a prefix with its joint ratio, with the token rule's residual",
        Block(weighed=False, scaled=False),
    ),
    stateless(
        "block rule that stops at the first failure, with the token rule's residual",
        Block(Coins.FIRST_TAILS, scaled=False),
    ),
    stateless(
        "block rule that tests joint ratios and stops at the first failure",
        Block(Coins.FIRST_TAILS, weighed=False),
    ),
    stateless(
        "block rule whose running ratio is not capped, with the token rule's residual",
        Block(capped=False, scaled=False),
    ),
)


def joint_ratio(rows: Rows) -> Iterator[Emitted]:
    """The token rule, tested with the running ratio instead of each position's own."""
    running = ONE
    for i, token in enumerate(rows.tokens(rows.gamma)):
        running *= rows.target(i)[token] / rows.draft(i)[token]
        if not rows.coin(running):
            yield rows.law(positive(rows.target(i), rows.draft(i)))
            return
        yield token
    if rows.bonus:
        yield rows.law(rows.target(rows.gamma))


JOINT_RATIO: tuple[Fault, ...] = (
    stateless("token rule that tests the joint ratio of the prefix", joint_ratio),
)
