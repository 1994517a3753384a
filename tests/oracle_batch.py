"""Batches of requests with length rules, output by output, from the definitions.

Independent on purpose: nothing here imports specdist, and outputs are not built forwards from
outcomes (as `oracle_joint` does) but asked for one by one: how probable is it that a request emits
exactly z? A model is a dict from prefixes to rows; a policy gives the law of the lengths of all
requests, given what was drafted for each.

Sources: 2607.05147, section 3 (scheduler) and appendix A; Leviathan et al. 2211.17192, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

Row = Sequence[Fraction]
Prefix = tuple[int, ...]
Model = Mapping[Prefix, Row]
Policy = Callable[[tuple[Prefix, ...]], Mapping[tuple[int, ...], Fraction]]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Request:
    """Target and draft by prefix, and how many tokens are drafted."""

    target: Model
    draft: Model
    length: int

    @property
    def size(self) -> int:
        return len(self.target[()])

    def blocks(self) -> Iterator[tuple[Prefix, Fraction]]:
        for block in product(range(self.size), repeat=self.length):
            if mass := path(self.draft, block):
                yield block, mass


def path(model: Model, tokens: Prefix) -> Fraction:
    return prod((model[tokens[:i]][x] for i, x in enumerate(tokens)), start=ONE)


def emits(request: Request, z: Prefix, verified: Prefix) -> Fraction:
    """Pr(the first tokens are z) if exactly the tokens ``verified`` are tested, in order."""

    def at(place: int) -> Fraction:
        if place == len(z):
            return ONE
        seen = z[:place]
        target = request.target[seen]
        rest = prod((request.target[z[:i]][z[i]] for i in range(place + 1, len(z))), start=ONE)
        if place == len(verified):
            return target[z[place]] * rest
        draft, x = request.draft[seen], verified[place]
        accept = min(ONE, target[x] / draft[x])
        found = accept * at(place + 1) if z[place] == x else ZERO
        if accept < 1:
            left = [max(p - q, ZERO) for p, q in zip(target, draft, strict=True)]
            found += (1 - accept) * left[z[place]] / sum(left, ZERO) * rest
        return found

    return at(0)


def accepts(request: Request, verified: Prefix) -> Fraction:
    """Expected accepted tokens of those that are tested."""
    kept, total = ONE, ZERO
    for i, x in enumerate(verified):
        z = verified[:i]
        kept *= min(ONE, request.target[z][x] / request.draft[z][x])
        total += kept
    return total


@dataclass
class Batch:
    """What a policy does to a batch: TV of the joint law of the first K tokens of all requests, of
    each request by itself, and the expected accepted tokens of each."""

    joint: Fraction
    alone: list[Fraction]
    accepted: list[Fraction]


def batch(requests: Sequence[Request], policy: Policy, horizon: int) -> Batch:
    cases = list(scheduled(requests, policy))
    outputs = [list(product(range(r.size), repeat=horizon)) for r in requests]
    joint = ZERO
    marginals: list[dict[Prefix, Fraction]] = [{} for _ in requests]
    known: dict[tuple[int, Prefix, Prefix], Fraction] = {}

    def chance(r: int, z: Prefix, verified: Prefix) -> Fraction:
        if (r, z, verified) not in known:
            known[r, z, verified] = emits(requests[r], z, verified)
        return known[r, z, verified]

    for whole in product(*outputs):
        mass = sum(
            (
                case * prod((chance(r, z, verified[r]) for r, z in enumerate(whole)), start=ONE)
                for verified, case in cases
            ),
            ZERO,
        )
        reference = prod(
            (path(r.target, z) for r, z in zip(requests, whole, strict=True)), start=ONE
        )
        joint += abs(mass - reference)
        for r, z in enumerate(whole):
            marginals[r][z] = marginals[r].get(z, ZERO) + mass
    alone = [
        sum((abs(mass - path(requests[r].target, z)) for z, mass in found.items()), ZERO) / 2
        for r, found in enumerate(marginals)
    ]
    accepted = [
        sum((case * accepts(request, verified[r]) for verified, case in cases), ZERO)
        for r, request in enumerate(requests)
    ]
    return Batch(joint / 2, alone, accepted)


def scheduled(
    requests: Sequence[Request], policy: Policy
) -> Iterator[tuple[tuple[Prefix, ...], Fraction]]:
    """The verified tokens of all requests and the probability of that case."""
    for drafted in product(*(list(request.blocks()) for request in requests)):
        blocks = tuple(block for block, _ in drafted)
        mass = prod((chance for _, chance in drafted), start=ONE)
        for lengths, share in policy(blocks).items():
            cut = tuple(block[:n] for block, n in zip(blocks, lengths, strict=True))
            yield cut, mass * share


def profile(requests: Sequence[Request], policy: Policy, r: int) -> dict[Prefix, Fraction]:
    """Pr(l_r >= k | x_1 .. x_k) of request r, averaged over everything else."""
    found: dict[Prefix, Fraction] = {}
    for drafted in product(*(list(request.blocks()) for request in requests)):
        blocks = tuple(block for block, _ in drafted)
        mass = prod((chance for _, chance in drafted), start=ONE)
        for lengths, share in policy(blocks).items():
            for k in range(1, requests[r].length + 1):
                z = blocks[r][:k]
                admitted = mass * share if lengths[r] >= k else ZERO
                found[z] = found.get(z, ZERO) + admitted / path(requests[r].draft, z)
    return found


def looks_ahead(found: Mapping[Prefix, Fraction]) -> bool:
    families: dict[Prefix, set[Fraction]] = {}
    for z, mass in found.items():
        families.setdefault(z[:-1], set()).add(mass)
    return any(len(values) > 1 for values in families.values())


# ---- length rules of one chain ---------------------------------------------------------------


def leading(chances: Callable[[Prefix, int], Fraction]) -> Policy:
    """Tokens are kept one after the other, each by a coin of its own; the first that is not kept
    ends the block. ``chances(x_<k, x_k)``."""

    def policy(blocks: tuple[Prefix, ...]) -> Mapping[tuple[int, ...], Fraction]:
        (block,) = blocks
        law: dict[tuple[int, ...], Fraction] = {}
        for n in range(len(block) + 1):
            kept = prod((chances(block[:i], block[i]) for i in range(n)), start=ONE)
            goes_on = chances(block[:n], block[n]) if n < len(block) else ZERO
            if mass := kept * (1 - goes_on):
                law[(n,)] = mass
        return law

    return policy


def scheduler(
    confidences: Sequence[Mapping[Prefix, Fraction]],
    speed: Mapping[int, Fraction],
    search: str,
    *,
    budget: int = 0,
    ties: str = "position-first",
    scores: Sequence[Callable[[Prefix, int], Fraction]] | None = None,
    equal: str = "fewer",
) -> Policy:
    """Slots are admitted by falling survival score until the budget is spent. ``scores[r](x_<k,
    x_k)`` are the factors of request r where they are not captured confidences."""

    def factor(r: int, z: Prefix, x: int) -> Fraction:
        return confidences[r][z] if scores is None else scores[r](z, x)

    def policy(blocks: tuple[Prefix, ...]) -> Mapping[tuple[int, ...], Fraction]:
        left = {
            (r, j): prod((factor(r, b[:i], b[i]) for i in range(j + 1)), start=ONE)
            for r, b in enumerate(blocks)
            for j in range(len(b))
        }
        order: list[tuple[int, int]] = []
        survival = dict(left)
        while left:
            top = max(left.values())
            tied = [slot for slot, score in left.items() if score == top]
            if ties == "position-first":
                first = min(tied, key=lambda slot: (slot[1], slot[0]))
            elif ties == "reverse":
                first = min(tied, key=lambda slot: (-slot[1], slot[0]))
            else:
                first = min(tied)
            order.append(first)
            del left[first]
        admitted = order[: size(order, survival, len(blocks))]
        return {tuple(sum(r == q for r, _ in admitted) for q in range(len(blocks))): ONE}

    def size(
        order: list[tuple[int, int]], survival: Mapping[tuple[int, int], Fraction], requests: int
    ) -> int:
        if search == "fixed":
            return budget

        def theta(m: int) -> Fraction:
            expected = sum((survival[slot] for slot in order[:m]), Fraction(requests))
            return expected * speed[requests + m]

        if search == "early-stop":
            m = 0
            while m < len(order) and theta(m + 1) > theta(m):
                m += 1
            return m
        values = [theta(m) for m in range(len(order) + 1)]
        best = [m for m, value in enumerate(values) if value == max(values)]
        return best[0] if equal == "fewer" else best[-1]

    return policy
