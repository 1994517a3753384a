"""Right samplers as adapters: each has the target's law, up to float rounding."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from specdist.audit import case, draw
from tests import audit_mutants as code


def no_bonus() -> list[int]:
    """The textbook without the extra token: g tokens at most."""
    tokens = code.propose()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if random.random() >= target[i][token] / draft[i][token]:
            return [*tokens[:i], code.sample(code.clipped(target[i], draft[i]))]
    return tokens


def greedy_draft() -> list[int]:
    """An argmax draft tested as what it is: accept with p(x), else p without x."""
    tokens: list[int] = []
    for _ in range(case.gamma):
        tokens.append(int(np.argmax(case.draft(tokens))))
    case.propose(tokens)
    rows = case.target_rows()
    for i, token in enumerate(tokens):
        if not random.random() < rows[i][token]:
            return [*tokens[:i], code.sample(code.without_drafted(rows[i], rows[i], token))]
    return [*tokens, code.sample(rows[-1])]


def exact_match() -> list[int]:
    """The target draws every token; the draft only says how far it goes."""
    tokens = code.propose()
    rows = case.target_rows()
    for i, token in enumerate(tokens):
        own = code.sample(rows[i])
        if own != token:
            return [*tokens[:i], own]
    return [*tokens, code.sample(rows[-1])]


def two_candidates() -> list[int]:
    """Recursive rejection with two candidates for the first token, drawn with replacement."""
    target, draft = case.target(0), case.draft(0)
    row = target
    for _ in range(2):
        token = code.sample(draft)
        if random.random() < row[token] / draft[token]:
            return [token, code.sample(case.target([token]))]
        row = code.clipped(row, draft)
        row = row / row.sum()
    return [code.sample(row)]


def gumbel() -> list[int]:
    """The recovered token by exponential noise, in every step new."""
    tokens = code.propose()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if np.random.rand() >= target[i, token] / draft[i, token]:
            noise = np.random.default_rng().exponential(size=case.vocab)
            return [*tokens[:i], int(np.argmax(code.clipped(target[i], draft[i]) / noise))]
    return [*tokens, draw.categorical(target[-1])]


class FreshNumbers:
    """Numbers drawn ahead for each step by itself."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng()

    def __call__(self) -> list[int]:
        tokens = code.propose()
        numbers = self.rng.random(len(tokens))
        target, draft = case.target_rows(), case.draft_rows()
        for i, token in enumerate(tokens):
            if not numbers[i] < target[i][token] / draft[i][token]:
                return [*tokens[:i], code.sample(code.clipped(target[i], draft[i]))]
        return [*tokens, code.sample(target[-1])]


RIGHT: dict[str, Callable[[], Any]] = {
    "token rule": code.token_rule,
    "block verification": code.block(),
    "no bonus": no_bonus,
    "greedy draft, one-hot test": greedy_draft,
    "exact match": exact_match,
    "two candidates": two_candidates,
    "exponential noise": gumbel,
    "fresh numbers": FreshNumbers,
    "draft cache stale": code.stale(
        lambda tokens, accepted, last: [*tokens[:accepted], last], True
    ),
}
