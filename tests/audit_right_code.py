"""Six right implementations of speculative sampling, for tests: no audit may accuse one of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from specdist.audit import case

Row = np.ndarray[Any, np.dtype[np.float64]]
Sampler = Callable[[Row], int]


def drafted(sample: Sampler) -> list[int]:
    tokens: list[int] = []
    for _ in range(case.gamma):
        tokens.append(sample(case.draft(tokens)))
    case.propose(tokens)
    return tokens


def textbook() -> list[int]:
    """Leviathan et al. 2023, algorithm 1, with Python's own generator."""

    def sample(row: Row) -> int:
        return random.choices(range(len(row)), weights=row.tolist())[0]

    tokens = drafted(sample)
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if random.random() >= target[i][token] / draft[i][token]:
            return [*tokens[:i], sample(np.maximum(target[i] - draft[i], 0))]
    return [*tokens, sample(target[-1])]


def vectorised() -> list[int]:
    """All tests at once; rows normalised and drawn from with choice."""
    rng = np.random.default_rng()

    def sample(row: Row) -> int:
        return int(rng.choice(len(row), p=row / row.sum()))

    tokens = drafted(sample)
    target, draft = case.target_rows(), case.draft_rows()
    at = (np.arange(len(tokens)), tokens)
    passed = rng.random(len(tokens)) * draft[at] < target[at]
    count = int(np.cumprod(passed).sum())
    padded = np.vstack([draft, np.zeros((1, draft.shape[1]))])
    return [*tokens[:count], sample(np.maximum(target[count] - padded[count], 0))]


def inverted(row: Row) -> int:
    """A uniform that is searched in the cumulated row."""
    ends = np.cumsum(row)
    return int(np.searchsorted(ends / ends[-1], np.random.rand(), side="right"))


def by_inversion() -> list[int]:
    """One uniform for every token and every test."""
    tokens = drafted(inverted)
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if not np.random.rand() < min(1.0, target[i, token] / draft[i, token]):
            return [*tokens[:i], inverted(np.clip(target[i] - draft[i], 0, None))]
    return [*tokens, inverted(target[-1])]


def by_races() -> list[int]:
    """Drafts by Gumbel noise, tests of logarithms, recovery by exponentials."""

    def gumbel(logits: Row) -> int:
        return int(np.argmax(logits - np.log(-np.log(np.random.rand(len(logits))))))

    tokens: list[int] = []
    for _ in range(case.gamma):
        tokens.append(gumbel(case.model("draft").row([*case.context, *tokens])))
    case.propose(tokens)
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        with np.errstate(divide="ignore"):
            bound = np.log(target[i, token]) - np.log(draft[i, token])
        if np.log(np.random.rand()) >= bound:
            noise = np.random.exponential(size=target.shape[1])
            return [*tokens[:i], int((np.maximum(target[i] - draft[i], 0) / noise).argmax())]
    return [*tokens, int(np.argmax(target[-1] / np.random.exponential(size=target.shape[1])))]


def block() -> list[int]:
    """Block verification (Sun et al. 2024, algorithm 2): the longest prefix whose test passes."""
    tokens = drafted(inverted)
    target, draft = case.target_rows(), case.draft_rows()
    shares = [1.0]
    for i, token in enumerate(tokens):
        shares.append(min(1.0, shares[-1] * target[i, token] / draft[i, token]))
    for i in range(len(tokens), 0, -1):
        left = np.maximum(shares[i] * target[i] - draft[i], 0).sum() if i < len(tokens) else 0.0
        open_mass = left + 1 - shares[i]
        bound = shares[i] if i == len(tokens) else (left / open_mass if open_mass else 0.0)
        if random.random() < bound:
            if i == len(tokens):
                return [*tokens, inverted(target[i])]
            return [*tokens[:i], inverted(np.maximum(shares[i] * target[i] - draft[i], 0))]
    return [inverted(np.maximum(target[0] - draft[0], 0))]


class WithState:
    """A generator and a pool of uniforms that live through the steps, and a count of tokens."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.pool: list[Any] = []
        self.emitted = 0

    def uniform(self) -> Any:
        """The next of the pool, each used once."""
        if not self.pool:
            self.pool = list(self.rng.random(3))
        return self.pool.pop()

    def sample(self, row: Row) -> int:
        ends = np.cumsum(row)
        return int((self.uniform() * ends[-1] < ends).argmax())

    def __call__(self) -> list[int]:
        assert len(case.context) == self.emitted
        tokens = drafted(self.sample)
        target, draft = case.target_rows(), case.draft_rows()
        count = 0
        while count < len(tokens):
            token = tokens[count]
            if self.uniform() * draft[count, token] >= target[count, token]:
                break
            count += 1
        rest = target[count] if count == len(tokens) else target[count] - draft[count]
        found = [*tokens[:count], self.sample(np.maximum(rest, 0))]
        self.emitted += len(found)
        return found


RIGHT: dict[str, Callable[[], Any]] = {
    "textbook": textbook, "vectorised": vectorised, "by inversion": by_inversion,
    "by races": by_races, "block verification": block, "with state": WithState,
}  # fmt: skip
