"""Cost models by the longest way: every sequence of coins, every length, every batch.

Independent on purpose: nothing here imports specdist.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product

Law = Mapping[int, Fraction]


def law_of_tokens(acceptances: Sequence[Fraction]) -> dict[int, Fraction]:
    """Pr(k tokens): all coins are thrown, the draft tokens before the first tail are kept, and one
    more token follows."""
    law: dict[int, Fraction] = defaultdict(Fraction)
    for coins in product((True, False), repeat=len(acceptances)):
        mass = Fraction(1)
        for heads, acceptance in zip(coins, acceptances, strict=True):
            mass *= acceptance if heads else 1 - acceptance
        kept = coins.index(False) if False in coins else len(coins)
        law[kept + 1] += mass
    return {k: mass for k, mass in law.items() if mass}


def mixed(kinds: Sequence[tuple[Fraction, Law]]) -> dict[int, Fraction]:
    """The law of a step that meets one of several kinds of context."""
    law: dict[int, Fraction] = defaultdict(Fraction)
    for share, of_kind in kinds:
        for k, mass in of_kind.items():
            law[k] += share * mass
    return dict(law)


def mean(law: Law) -> Fraction:
    return sum((k * mass for k, mass in law.items()), Fraction(0))


def calls_by_tree(law: Law, tokens: int) -> Fraction:
    """Expected steps: every sequence of steps until the output is long enough, with its length."""

    def from_here(left: int, mass: Fraction, steps: int) -> Fraction:
        if left <= 0:
            return mass * steps
        found = Fraction(0)
        for k, share in law.items():
            found += from_here(left - k, mass * share, steps + 1)
        return found

    return from_here(tokens, Fraction(1), 0)


def calls_forwards(law: Law, tokens: int) -> Fraction:
    """sum over t of Pr(fewer than ``tokens`` tokens are out after t steps)."""
    out = {0: Fraction(1)}
    found = Fraction(0)
    while out:
        found += sum(out.values())
        following: dict[int, Fraction] = defaultdict(Fraction)
        for done, mass in out.items():
            for k, share in law.items():
                if done + k < tokens and share:
                    following[done + k] += mass * share
        out = following
    return found


def best_length(costs: Mapping[int, Fraction], laws: Mapping[int, Law]) -> tuple[int, Fraction]:
    """The shortest length of largest E / cost, plain decoding (factor 1) included."""
    factors = {0: Fraction(1), **{g: mean(laws[g]) / cost for g, cost in costs.items()}}
    largest = max(factors.values())
    return min(g for g, factor in factors.items() if factor == largest), largest


def pass_seconds(device: Mapping[str, Fraction], tokens: int, batch: int) -> Fraction:
    moving = (device["weights"] + batch * device.get("kv", Fraction(0))) / device["bandwidth"]
    computing = tokens * device["flops"] / device["peak"]
    return max(moving, computing) + device.get("overhead", Fraction(0))


def step_seconds(
    device: Mapping[str, Fraction], length: int, batch: int, draft_cost: Fraction
) -> Fraction:
    verify = pass_seconds(device, batch * (length + 1), batch)
    return length * draft_cost * pass_seconds(device, batch, batch) + verify


def last_memory_bound_batch(device: Mapping[str, Fraction], each: int, most: int) -> int:
    """The largest batch up to ``most`` at which a pass of ``each`` tokens a sequence moves at least
    as long as it computes."""
    bound = [
        batch
        for batch in range(1, most + 1)
        if (device["weights"] + batch * device.get("kv", Fraction(0))) / device["bandwidth"]
        >= batch * each * device["flops"] / device["peak"]
    ]
    return bound[-1] if bound else 0


def best_budget(requests: int, survivals: Sequence[Fraction], costs: Sequence[Fraction]) -> int:
    """The least budget of largest (N + S_1 + .. + S_B) / costs[B], every budget tried."""
    tokens = accumulate(survivals, initial=Fraction(requests))
    ratios = [expected / cost for expected, cost in zip(tokens, costs, strict=True)]
    return ratios.index(max(ratios))
