"""Tables: target and draft rows after every prefix, exactly representable in any float format.

Every probability is a multiple of 1/64, so float16 and wider hold it as it is. Rows depend on the
prefix, so a row that is read at a wrong place shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256

Tokens = tuple[int, ...]
Law = tuple[Fraction, ...]
_PARTS = 64


@dataclass(frozen=True)
class Table:
    """The laws of both models. ``target(prefix)`` and ``draft(prefix)`` are rows over ``vocab``
    tokens; ``name`` says what is special about them."""

    name: str
    vocab: int
    target: Callable[[Tokens], Law]
    draft: Callable[[Tokens], Law]


class Chance:
    """Numbers that follow from a text: not those of `random`, which an audit answers."""

    def __init__(self, text: str) -> None:
        self._text, self._count = text, 0

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1."""
        self._count += 1
        digest = sha256(f"{self._text} {self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % bound

    def shuffle(self, items: list[int]) -> None:
        """Reorders a list in place."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def law(weights: Sequence[int]) -> Law:
    """Multiples of 1/64. Raises ValueError for weights that do not sum to 64."""
    if sum(weights) != _PARTS:
        raise ValueError(f"{weights} do not sum to {_PARTS}")
    return tuple(Fraction(weight, _PARTS) for weight in weights)


def tables(vocab: int, count: int, seed: int = 0) -> list[Table]:
    """``count`` tables: the adversarial ones first, then random ones.

    Adversarial are, in this order: a residual of several tokens, a zero in the target, a zero in
    the draft, a residual of one token, equal rows, peaked rows. Raises ValueError for fewer than
    two tokens.
    """
    if not 2 <= vocab <= _PARTS // 2:
        raise ValueError(f"{vocab} tokens, where 2 to {_PARTS // 2} are possible")
    kinds = [*_ADVERSARIAL]
    made = [_made(kinds[i], vocab, seed) for i in range(min(count, len(kinds)))]
    made += [_made("random rows", vocab, seed + i) for i in range(count - len(made))]
    return made


def _made(kind: str, vocab: int, seed: int) -> Table:
    """The rows of a prefix follow from kind, seed and prefix alone."""

    @lru_cache(maxsize=4096)
    def pair(prefix: Tokens) -> tuple[Law, Law]:
        chance = Chance(f"{kind} {vocab} {seed} {prefix}")
        build = _ADVERSARIAL.get(kind, _random)
        target, draft = build(vocab, chance)
        return law(target), law(draft)

    name = kind if kind in _ADVERSARIAL else f"{kind} {seed}"
    return Table(name, vocab, lambda prefix: pair(prefix)[0], lambda prefix: pair(prefix)[1])


Weights = list[int]


def _spread(total: int, slots: int, chance: Chance, least: int = 1) -> Weights:
    """``total`` parts over ``slots``, at least ``least`` each where that fits."""
    least = min(least, total // slots)
    weights = [least] * slots
    for _ in range(total - least * slots):
        weights[min(chance.below(slots), chance.below(slots))] += 1
    chance.shuffle(weights)
    return weights


def _random(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    return _spread(_PARTS, vocab, chance), _spread(_PARTS, vocab, chance)


def _several(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    """The draft is heavier at the target's first choice only, so every other token has residual
    mass, and each another share of it: a residual of r P - Q shows where it should be P - Q."""
    target = _spread(_PARTS, vocab, chance, 4)
    heavy = target.index(max(target))
    draft = [max(1, weight * (1 + chance.below(7)) // 8) for weight in target]
    draft[heavy] += _PARTS - sum(draft)
    return target, draft


def _target_zero(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    return _with_zero(vocab, chance), _spread(_PARTS, vocab, chance, 2)


def _draft_zero(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    return _spread(_PARTS, vocab, chance, 2), _with_zero(vocab, chance)


def _with_zero(vocab: int, chance: Chance) -> Weights:
    zero = chance.below(vocab)
    rest = _spread(_PARTS, vocab - 1, chance, 2)
    return [*rest[:zero], 0, *rest[zero:]]


def _single(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    """The target exceeds the draft at one token only."""
    others = vocab - 1
    target = _spread(max(others, (_PARTS - 2 - others) // 2), others, chance)
    draft = [weight + 1 for weight in target]
    chosen = chance.below(vocab)
    rows = [[*row[:chosen], _PARTS - sum(row), *row[chosen:]] for row in (target, draft)]
    return rows[0], rows[1]


def _equal(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    target = _spread(_PARTS, vocab, chance)
    return target, list(target)


def _peaked(vocab: int, chance: Chance) -> tuple[Weights, Weights]:
    """Nearly all mass on one token each, not the same one."""
    rows = []
    top = chance.below(vocab)
    for place in (top, (top + 1) % vocab):
        row = [1] * vocab
        row[place] = _PARTS - (vocab - 1)
        rows.append(row)
    return rows[0], rows[1]


_ADVERSARIAL: dict[str, Callable[[int, Chance], tuple[Weights, Weights]]] = {
    "a residual of several tokens": _several,
    "a zero in the target": _target_zero,
    "a zero in the draft": _draft_zero,
    "a residual of one token": _single,
    "equal rows": _equal,
    "peaked rows": _peaked,
}
