"""Faulty samplers as adapters, in float code as engineers write it.

Draws are those of ``random`` and numpy; a few go through `draw` with exact numbers. Their laws are
those of `tests.audit_mutant_laws`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from specdist.audit import case, draw

Array = Any
Adapter = Callable[[], Any]


def propose() -> list[int]:
    """The draft tokens of a step, sampled from the draft rows."""
    return [draw.categorical(case.draft()) for _ in range(case.gamma)]


def sample(weights: Array) -> int:
    """A token, by numpy's legacy generator."""
    return int(np.random.choice(len(weights), p=weights / weights.sum()))


def clipped(target: Array, draft: Array) -> Array:
    return np.clip(target - draft, 0, None)


# ---- the acceptance test ----


def verify(test: Callable[[Array, Array, int], bool], again: Callable[..., Array]) -> list[int]:
    """The textbook's loop; ``again(target, draft, token)`` are the weights of the recovered one."""
    tokens = propose()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if not test(target[i], draft[i], token):
            return [*tokens[:i], sample(again(target[i], draft[i], token))]
    return [*tokens, sample(target[-1])]


def right_test(target: Array, draft: Array, token: int) -> bool:
    return bool(random.random() < target[token] / draft[token])


def right_again(target: Array, draft: Array, token: int) -> Array:
    return clipped(target, draft)


def token_rule() -> list[int]:
    return verify(right_test, right_again)


def accepts_everything() -> list[int]:
    tokens = propose()
    return [*tokens, sample(case.target_rows()[-1])]


def fixed_at_zero() -> list[int]:
    """In logs, with the uniform forgotten at 0."""

    def test(target: Array, draft: Array, token: int) -> bool:
        with np.errstate(divide="ignore"):
            return bool(np.log(target[token]) - np.log(draft[token]) > -math.inf)

    return verify(test, right_again)


def upside_down(target: Array, draft: Array, token: int) -> bool:
    if target[token] == 0:
        return True
    return bool(np.random.rand() <= min(1.0, draft[token] / target[token]))


def inverted() -> list[int]:
    return verify(upside_down, right_again)


def both_inverted() -> list[int]:
    return verify(upside_down, lambda target, draft, token: clipped(draft, target))


def one_hot_test_dense_residual() -> list[int]:
    return verify(lambda target, draft, token: bool(random.random() < target[token]), right_again)


def draws_again() -> list[int]:
    """Compares with a target sample, and draws another one where it is not the same."""
    tokens = propose()
    rows = case.target_rows()
    for i, token in enumerate(tokens):
        if sample(rows[i]) != token:
            return [*tokens[:i], sample(rows[i])]
    return [*tokens, sample(rows[-1])]


def typical() -> list[int]:
    def test(target: Array, draft: Array, token: int) -> bool:
        entropy = -sum(float(x) * math.log(x) for x in target if x > 0)
        return bool(target[token] > min(0.09, 0.3 * math.exp(-entropy)))

    return verify(test, lambda target, draft, token: np.eye(len(target))[np.argmax(target)])


class FirstUnchecked:
    """Compares from the second draft token on."""

    def __call__(self) -> list[int]:
        tokens = propose()
        target, draft = case.target_rows(), case.draft_rows()
        accepted = 1
        while accepted < len(tokens):
            x = tokens[accepted]
            if random.random() >= target[accepted][x] / draft[accepted][x]:
                return [*tokens[:accepted], sample(clipped(target[accepted], draft[accepted]))]
            accepted += 1
        return [*tokens, sample(target[accepted])]


# ---- the recovered token ----


def again_from(weights: Callable[..., Array]) -> Adapter:
    return lambda: verify(right_test, weights)


def without_drafted(target: Array, draft: Array, token: int) -> Array:
    row = target.copy()
    row[token] = 0
    return row


def exp_of_residual(target: Array, draft: Array, token: int) -> Array:
    return np.exp(clipped(target, draft))


def largest_of_residual(target: Array, draft: Array, token: int) -> Array:
    return np.eye(len(target))[np.argmax(clipped(target, draft))]


def from_another_row(place: Callable[[int], int]) -> Adapter:
    def step() -> list[int]:
        tokens = propose()
        target, draft = case.target_rows(), case.draft_rows()
        residuals = clipped(target[:-1], draft)
        for i, token in enumerate(tokens):
            if random.random() > target[i, token] / draft[i, token]:
                return [*tokens[:i], sample(residuals[place(i)])]
        return [*tokens, sample(target[-1])]

    return step


# ---- drafts that are not drawn from the row of the test ----


def drafted_by(pick: Callable[[Array], int], tested: Callable[[Array], Array]) -> Adapter:
    def step() -> list[int]:
        tokens: list[int] = []
        for _ in range(case.gamma):
            tokens.append(pick(case.draft(tokens)))
        case.propose(tokens)
        target = case.target_rows()
        for i, token in enumerate(tokens):
            draft = tested(case.draft(tokens[:i]))
            if random.random() >= target[i][token] / draft[token]:
                return [*tokens[:i], sample(clipped(target[i], draft))]
        return [*tokens, sample(target[-1])]

    return step


def largest_two(row: Array) -> Array:
    """Top-k with k = 2, ties kept."""
    return np.where(row >= np.sort(row)[-2], row, 0.0)


# ---- the bonus ----


def bonus_of(weights: Callable[[list[int], Array], Array]) -> Adapter:
    def step() -> list[int]:
        tokens = propose()
        target, draft = case.target_rows(), case.draft_rows()
        for i, token in enumerate(tokens):
            if np.random.uniform() >= target[i, token] / draft[i, token]:
                return [*tokens[:i], sample(clipped(target[i], draft[i]))]
        return [*tokens, sample(weights(tokens, target))]

    return step


def untempered(tokens: list[int], target: Array) -> Array:
    """The target rows are logits 2 log p at temperature 2; the bonus forgets the temperature."""
    with np.errstate(divide="ignore"):
        logits = 2 * np.log(target)
    return np.exp(logits[-1] - logits[-1].max())


def above_half_of_largest(row: Array) -> Array:
    """Min-p with 1/2."""
    return np.where(row >= row.max() / 2, row, 0.0)


# ---- rows of another position ----


def shifted_targets() -> list[int]:
    """The rows of the target begin one late."""
    tokens = propose()
    target, draft = case.target_rows()[1:], case.draft_rows()
    for i, token in enumerate(tokens):
        if random.random() >= target[i][token] / draft[i][token]:
            return [*tokens[:i], sample(clipped(target[i], draft[i]))]
    return [*tokens, sample(target[-1])]


# ---- block verification ----


def block(
    capped: bool = True, scaled: bool = True, weighed: bool = True, coins: str = "last heads"
) -> Adapter:
    def step() -> list[int]:
        tokens = propose()
        target, draft = case.target_rows(), case.draft_rows()
        running, ratios, keep = 1.0, [1.0], 0
        shared = random.random() if coins == "one number" else None
        for i, token in enumerate(tokens, 1):
            running *= float(target[i - 1][token]) / float(draft[i - 1][token])
            running = min(running, 1.0) if capped else running
            ratios.append(running)
            threshold = running
            if i < len(tokens) and weighed:
                mass = float(clipped(running * target[i], draft[i]).sum())
                threshold = mass / (mass + 1 - running) if mass + 1 != running else 1.0
            if (random.random() if shared is None else shared) < threshold:
                keep = i
            elif coins == "first tails":
                break
        if keep == len(tokens):
            return [*tokens, sample(target[-1])]
        factor = ratios[keep] if scaled else 1.0
        return [*tokens[:keep], sample(clipped(factor * target[keep], draft[keep]))]

    return step


# ---- random numbers used twice ----


def lookup(row: Array, number: Any) -> int:
    """Inverse distribution function."""
    end = 0.0
    ends = [end := end + float(x) / float(row.sum()) for x in row]
    return next((y for y, x in enumerate(ends[:-1]) if number < x), len(row) - 1)


def one_number_a_step() -> list[int]:
    number = random.random()
    return verify(lambda target, draft, token: bool(number < target[token] / draft[token]),
                  right_again)  # fmt: skip


class NumbersDrawnOnce:
    """The acceptance numbers are made with the sampler, and every step reads them from the top."""

    def __init__(self) -> None:
        self.numbers = [random.random() for _ in range(case.gamma)]

    def __call__(self) -> list[int]:
        tokens = propose()
        target, draft = case.target_rows(), case.draft_rows()
        for i, token in enumerate(tokens):
            if not self.numbers[i] < target[i][token] / draft[i][token]:
                return [*tokens[:i], sample(clipped(target[i], draft[i]))]
        return [*tokens, sample(target[-1])]


class OneNumber:
    """One acceptance number for everything."""

    def __init__(self) -> None:
        self.number = np.random.default_rng().random()

    def __call__(self) -> list[int]:
        return verify(lambda target, draft, token: bool(self.number < target[token] / draft[token]),
                      right_again)  # fmt: skip


def number_of_test_recovers() -> list[int]:
    tokens = propose()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        number = random.random()
        if not number < target[i][token] / draft[i][token]:
            return [*tokens[:i], lookup(clipped(target[i], draft[i]), number)]
    return [*tokens, sample(target[-1])]


class DraftsReseeded:
    """The draft model draws from the same numbers in every step."""

    def __init__(self) -> None:
        self.numbers = [random.random() for _ in range(case.gamma)]

    def __call__(self) -> list[int]:
        tokens: list[int] = []
        for number in self.numbers:
            tokens.append(lookup(case.draft(tokens), number))
        case.propose(tokens)
        target, draft = case.target_rows(), case.draft_rows()
        for i, token in enumerate(tokens):
            if not random.random() < target[i][token] / draft[i][token]:
                return [*tokens[:i], sample(clipped(target[i], draft[i]))]
        return [*tokens, sample(target[-1])]


# ---- caches ----


class StaleCache:
    """A table model behind a key-value cache, which ``kept`` leaves wrong after a rejection."""

    def __init__(self, kept: Callable[[list[int], int, int], list[int]], both: bool) -> None:
        self.kept, self.both = kept, both
        self.cache: list[int] = []

    def __call__(self) -> list[int]:
        target, draft = case.model("target"), case.model("draft")
        own = self.cache if self.both else list(case.context)
        tokens: list[int] = []
        for _ in range(case.gamma):
            tokens.append(sample(np.exp(draft.row([*own, *tokens]))))
        accepted = 0
        while accepted < len(tokens):
            x = tokens[accepted]
            rows = (target.row([*self.cache, *tokens[:accepted]]),
                    draft.row([*own, *tokens[:accepted]]))  # fmt: skip
            if np.log(1 - random.random()) >= rows[0][x] - rows[1][x]:
                last = sample(clipped(np.exp(rows[0]), np.exp(rows[1])))
                break
            accepted += 1
        else:
            last = sample(np.exp(target.row([*self.cache, *tokens])))
        self.cache += self.kept(tokens, accepted, last)
        return [*tokens[:accepted], last]


def never_rolled_back(tokens: list[int], accepted: int, last: int) -> list[int]:
    return [*tokens, last]


def rejected_stays(tokens: list[int], accepted: int, last: int) -> list[int]:
    """Rolled back by one too few; the recovered token is never written."""
    return tokens[: accepted + 1] if accepted < len(tokens) else [*tokens, last]


def stale(kept: Callable[[list[int], int, int], list[int]], both: bool) -> type[StaleCache]:
    class Adapted(StaleCache):
        def __init__(self) -> None:
            super().__init__(kept, both)

    return Adapted


# ---- lengths ----


def drops_unlikely_drafts() -> list[int]:
    """A draft token with draft probability below 3/10 is not verified."""
    tokens = propose()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if draft[i][token] < 0.3:
            return [*tokens[:i], sample(target[i])]
        if random.random() >= target[i][token] / draft[i][token]:
            return [*tokens[:i], sample(clipped(target[i], draft[i]))]
    return [*tokens, sample(target[-1])]


def cut_to_one() -> list[int]:
    """No more than one accepted token is kept; the next is drawn from the target."""
    tokens = propose()
    target, draft = case.target_rows(), case.draft_rows()
    for i, token in enumerate(tokens):
        if random.random() >= target[i][token] / draft[i][token]:
            return [*tokens[:i], sample(clipped(target[i], draft[i]))]
    return [tokens[0], sample(target[1])]


def goes_on_after_rejection() -> list[int]:
    tokens = propose()
    target, draft = case.target_rows(), case.draft_rows()
    kept = [random.random() < target[i][x] / draft[i][x] for i, x in enumerate(tokens)]
    out = [
        token if ok else sample(clipped(target[i], draft[i]))
        for i, (token, ok) in enumerate(zip(tokens, kept, strict=True))
    ]
    return [*out, sample(target[-1])]


def sums_the_mask() -> list[int]:
    tokens = propose()
    target, draft = case.target_rows(), case.draft_rows()
    mask = [random.random() < target[i][x] / draft[i][x] for i, x in enumerate(tokens)]
    count = int(sum(mask))
    row = target[-1] if count == len(tokens) else clipped(target[count], draft[count])
    return [*tokens[:count], sample(row)]


# ---- exact numbers through draw ----


def exact(row: Array) -> list[Fraction]:
    return [Fraction(float(x)) for x in row]


def exact_chain(recover: Callable[..., list[Fraction]], bonus: Callable[..., Any]) -> Adapter:
    def step() -> list[int]:
        tokens = propose()
        for i, token in enumerate(tokens):
            target, draft = exact(case.target(i)), exact(case.draft(i))
            if not draw.bernoulli(min(Fraction(1), target[token] / draft[token])):
                return [*tokens[:i], draw.categorical(recover(target, draft))]
        return [*tokens, draw.categorical(bonus())]

    return step


def exact_residual(target: list[Fraction], draft: list[Fraction]) -> list[Fraction]:
    return [max(a - b, Fraction(0)) for a, b in zip(target, draft, strict=True)]
