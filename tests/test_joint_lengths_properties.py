"""Length rules and batches over random conditional models, against the joint oracle.

Every figure with ``==``: the law of whole outputs, admission profiles, each request by itself. With
a target of full support a step is lossless exactly where its profile is constant.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.cli import exact
from tests.joint_captures import checked, compare, models_of, random_models, sequences
from tests.oracle_joint import (
    ONE,
    ZERO,
    Lengths,
    Models,
    Prefix,
    admission,
    anticipating,
    batch_law,
    best_budget,
    corrected,
    early_stop,
    independent,
    marginal,
    plain,
    prefixes,
    step,
    surely,
    threshold,
    top_slots,
    total,
    total_variation,
    verified,
)

SIZE = 3
SHARES = [Fraction(n, 4) for n in range(5)]
EDGES = ("1/4", "1/3", "1/2")


@dataclass(frozen=True)
class Given:
    """What a capture says of lengths, and what the oracle makes of it."""

    length: Any
    lengths: Lengths


Made = Callable[[random.Random, Models, int], Given]


def _text(value: Fraction) -> str:
    return str(value)


def _key(z: Prefix) -> str:
    return ",".join(map(str, z))


def by_threshold(name: str, when: str) -> Made:
    def make(chance: random.Random, models: Models, length: int) -> Given:
        edge = chance.choice(EDGES)
        return Given(f"{name}:{edge}", threshold(models, Fraction(edge), when))

    return make


def fixed(chance: random.Random, models: Models, length: int) -> Given:
    count = chance.randint(0, length)
    return Given(f"fixed:{count}", lambda tokens: surely(count))


def confidences(chance: random.Random, length: int) -> dict[Prefix, Fraction]:
    """A captured confidence for every prefix; 1 and 0 among them."""
    return {z: chance.choice(SHARES) for z in prefixes(SIZE, length - 1)}


def survivals(captured: Mapping[Prefix, Fraction], tokens: Prefix) -> list[Fraction]:
    found, alive = [], ONE
    for k in range(len(tokens)):
        alive *= captured[tokens[:k]]
        found.append(alive)
    return found


def by_confidence(name: str, product_of_all: bool) -> Made:
    def make(chance: random.Random, models: Models, length: int) -> Given:
        captured, edge = confidences(chance, length), chance.choice(SHARES)

        def lengths(tokens: Prefix) -> Mapping[int, Fraction]:
            scores = [captured[tokens[:k]] for k in range(length)]
            scores = survivals(captured, tokens) if product_of_all else scores
            return surely(next((k for k, s in enumerate(scores) if s < edge), length))

        table = {_key(z): _text(c) for z, c in captured.items()}
        return Given({"rule": f"{name}:{edge}", "confidence": table}, lengths)

    return make


def speeds(chance: random.Random, most: int) -> dict[int, Fraction]:
    """Steps per unit of time, falling with the tokens, now and then in a jump."""
    found, current = {}, ONE
    for tokens in range(1, most + 1):
        found[tokens] = current
        current *= Fraction(chance.choice([2, 3, 5, 9]), 10) if chance.random() < 0.4 else ONE
        current *= Fraction(chance.choice([8, 9, 10]), 10)
    return found


def by_scheduler(search: str) -> Made:
    def make(chance: random.Random, models: Models, length: int) -> Given:
        captured, speed = confidences(chance, length), speeds(chance, length + 1)
        budget = chance.randint(0, length)
        choose = early_stop if search == "early-stop" else best_budget

        def lengths(tokens: Prefix) -> Mapping[int, Fraction]:
            if search == "fixed":
                return surely(budget)
            return surely(choose([survivals(captured, tokens)], speed))

        return Given(
            {
                "rule": f"scheduler:{search}" + f":budget={budget}" * (search == "fixed"),
                "confidence": {_key(z): _text(c) for z, c in captured.items()},
                "throughput": {str(n): _text(s) for n, s in speed.items()},
            },
            lengths,
        )

    return make


def by_profile(chance: random.Random, models: Models, length: int) -> Given:
    """Chances that fall along a block; now and then the same for all siblings."""
    profile: dict[Prefix, Fraction] = {(): ONE}
    for z in prefixes(SIZE, length - 1):
        shared = chance.choice(SHARES) if chance.random() < 0.5 else None
        for y in range(SIZE):
            share = chance.choice(SHARES) if shared is None else shared
            profile[*z, y] = profile[z] * share

    def lengths(tokens: Prefix) -> Mapping[int, Fraction]:
        reached = [profile[tokens[:k]] for k in range(length + 1)] + [ZERO]
        return {k: reached[k] - reached[k + 1] for k in range(length + 1)}

    table = {_key(z): _text(share) for z, share in profile.items() if z}
    return Given({"profile": table}, lengths)


def by_block(chance: random.Random, models: Models, length: int) -> Given:
    """A law of the length for every whole block."""
    laws: dict[Prefix, dict[int, Fraction]] = {}
    for tokens in product(range(SIZE), repeat=length):
        first, second = (chance.randint(0, length) for _ in range(2))
        share = chance.choice(SHARES)
        law = {first: share}
        law[second] = law.get(second, ZERO) + 1 - share
        laws[tokens] = law
    table = {
        _key(tokens): {str(n): _text(share) for n, share in law.items()}
        for tokens, law in laws.items()
    }
    return Given({"blocks": table}, lambda tokens: laws[tokens])


RULES: dict[str, Made] = {
    "fixed": fixed,
    "stop-after": by_threshold("stop-after", "keep"),
    "own-probability": by_threshold("own-probability", "drop"),
    "drop-below": by_threshold("drop-below", "drop"),
    "top-probability": by_threshold("top-probability", "top"),
    "confidence": by_confidence("confidence", False),
    "survival": by_confidence("survival", True),
    "scheduler global": by_scheduler("global"),
    "scheduler early-stop": by_scheduler("early-stop"),
    "scheduler fixed": by_scheduler("fixed"),
    "profile": by_profile,
    "blocks": by_block,
}
NEVER_LOOK = {
    "fixed", "stop-after", "top-probability", "confidence", "survival", "scheduler fixed",
    "scheduler early-stop",
}  # fmt: skip


#: Rules that look at later draft tokens may accept more than their correction.
LOOK_AHEAD = {"blocks", "scheduler global"}


@pytest.mark.parametrize("full", [True, False], ids=["full support", "zeros"])
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("name", RULES)
def test_length_rules(name: str, length: int, full: bool, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {length} {full}")
    steps, expected = [], []
    for _ in range(8 if length < 3 else 3):
        models = random_models(chance, SIZE, length, full=full)
        given = RULES[name](chance, models, length)
        steps.append({**models_of(models), "draft_length": length, "length": given.length})
        outcomes = verified(models, length, given.lengths)
        profile = admission(models, length, given.lengths)
        better = step(corrected(models, length, profile), models.target, length)
        expected.append((step(outcomes, models.target, length), profile, better))
    for found, (wanted, profile, better) in zip(
        checked(steps, tmp_path).json()["steps"], expected, strict=True
    ):
        compare(found, wanted, SIZE)
        said = found["joint"]["admission"]
        assert {
            tuple(line["prefix"]): exact(line["probability"]) for line in said["lines"]
        } == profile
        leaks = anticipating(profile)
        assert said["constant"] == (not leaks)
        assert (said["witness"] is None) == (not leaks)
        if leaks:
            ends = [tuple(said[name]["prefix"]) for name in ("witness", "against")]
            assert ends[0][:-1] == ends[1][:-1]
            assert profile[ends[0]] != profile[ends[1]]
        if full:
            assert found["verdict"] == ("different" if leaks else "equal")
        assert not leaks or name not in NEVER_LOOK
        assert better.law == better.reference
        if name not in LOOK_AHEAD:
            assert better.expected_accepted >= wanted.expected_accepted
        correction = found["joint"]["correction"]
        assert (correction is None) == (found["verdict"] == "equal")
        if correction is not None:
            assert exact(correction["total_variation"]) == 0
            assert exact(correction["expected_accepted"]) == better.expected_accepted
        idents = {one["ident"] for one in found["findings"]}
        assert ("anticipating-length-rule" in idents) == (found["verdict"] == "different")


# ---- batches ---------------------------------------------------------------------------------

Split = Callable[[tuple[Prefix, ...]], Mapping[tuple[int, ...], Fraction]]


@dataclass(frozen=True)
class Batch:
    """Two requests of a capture, and what the oracle makes of their schedule."""

    document: dict[str, Any]
    models: Sequence[Models]
    length: int
    split: Split


def _requests(models: Sequence[Models], length: int, tables: Sequence[Any]) -> list[Any]:
    return [
        {**models_of(one), "draft_length": length, **table}
        for one, table in zip(models, tables, strict=True)
    ]


def scheduled(
    chance: random.Random, models: Sequence[Models], length: int, search: str, ties: str
) -> Batch:
    captured = [confidences(chance, length) for _ in models]
    speed = speeds(chance, len(models) * (length + 1))
    budget = chance.randint(0, 2 * length)

    def split(xs: tuple[Prefix, ...]) -> Mapping[tuple[int, ...], Fraction]:
        scores = [survivals(c, x) for c, x in zip(captured, xs, strict=True)]
        count = budget
        if search != "fixed":
            count = (early_stop if search == "early-stop" else best_budget)(scores, speed)
        return {top_slots(scores, count, ties): ONE}

    rule = f"scheduler:{search}" + f":budget={budget}" * (search == "fixed")
    tables = [{"confidence": {_key(z): _text(c) for z, c in one.items()}} for one in captured]
    schedule = {
        "rule": rule + ":ties=reverse" * (ties == "reverse"),
        "throughput": {str(n): _text(s) for n, s in speed.items()},
    }
    return Batch(
        {"requests": _requests(models, length, tables), "schedule": schedule},
        models, length, split,
    )  # fmt: skip


def own_scores(chance: random.Random, models: Sequence[Models], length: int, which: str) -> Batch:
    """Slots go to the largest products of draft probabilities."""
    budget = chance.randint(1, 2 * length - 1)

    def split(xs: tuple[Prefix, ...]) -> Mapping[tuple[int, ...], Fraction]:
        scores = []
        for one, x in zip(models, xs, strict=True):
            alive, row = ONE, []
            for k in range(length):
                law = one.D(x[:k])
                alive *= law[x[k]] if which == "own-probability" else max(law)
                row.append(alive)
            scores.append(row)
        return {top_slots(scores, budget): ONE}

    schedule = f"scheduler:fixed:budget={budget}:scores={which}"
    requests = _requests(models, length, [{}, {}])
    return Batch({"requests": requests, "schedule": schedule}, models, length, split)


def by_blocks(chance: random.Random, models: Sequence[Models], length: int) -> Batch:
    """A law of both lengths for every pair of blocks."""
    laws: dict[tuple[Prefix, ...], dict[tuple[int, ...], Fraction]] = {}
    for xs in product(product(range(SIZE), repeat=length), repeat=2):
        share = chance.choice(SHARES)
        law: dict[tuple[int, ...], Fraction] = {}
        for mass in (share, 1 - share):
            ns = (chance.randint(0, length), chance.randint(0, length))
            law[ns] = law.get(ns, ZERO) + mass
        laws[xs] = law
    table = {
        "|".join(map(_key, xs)): {_key(ns): _text(share) for ns, share in law.items()}
        for xs, law in laws.items()
    }
    requests = _requests(models, length, [{}, {}])
    document = {"requests": requests, "schedule": {"blocks": table}}
    return Batch(document, models, length, lambda xs: laws[xs])


BATCHES: dict[str, Callable[[random.Random, Sequence[Models], int], Batch]] = {
    **{
        f"{search}, ties {ties}": (
            lambda chance, models, length, search=search, ties=ties: scheduled(
                chance, models, length, search, ties
            )
        )
        for search in ("fixed", "early-stop", "global")
        for ties in ("position", "reverse")
    },
    "own probability": lambda chance, models, length: own_scores(
        chance, models, length, "own-probability"
    ),
    "top probability": lambda chance, models, length: own_scores(
        chance, models, length, "top-probability"
    ),
    "by blocks": by_blocks,
}
LOSSLESS_BATCHES = {"fixed, ties position", "early-stop, ties position", "top probability"}


@pytest.mark.parametrize(("length", "horizon"), [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("name", BATCHES)
def test_batches(name: str, length: int, horizon: int, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {length} {horizon}")
    batches = []
    for _ in range(4):
        models = [random_models(chance, SIZE, max(length, horizon - 1)) for _ in range(2)]
        batches.append(BATCHES[name](chance, models, length))
    result = checked([batch.document for batch in batches], tmp_path, "--horizon", horizon)
    for found, batch in zip(result.json()["steps"], batches, strict=True):
        law, accepted = batch_law(batch.models, length, batch.split, horizon)
        alone = [plain(one.target, horizon) for one in batch.models]
        right = independent(alone)
        variation, joint = total_variation(law, right), found["joint"]
        assert exact(joint["total_variation"]) == variation
        assert found["verdict"] == ("different" if variation else "equal")
        assert exact(joint["expected_accepted"]) == sum(accepted)
        if len({*law, *right}) <= 64:
            assert sequences(joint, "output") == law
            assert sequences(joint, "reference") == right
        for r, line in enumerate(joint["requests"]):
            mine: dict[Prefix, Fraction] = {}
            for tokens, mass in law.items():
                part = tokens[r * horizon : (r + 1) * horizon]
                mine[part] = mine.get(part, ZERO) + mass
            own = total_variation(mine, alone[r])
            assert exact(line["total_variation"]) == own
            assert line["verdict"] == ("different" if own else "equal")
            assert exact(line["expected_accepted"]) == accepted[r]
        for place in joint["marginals"]:
            found_law = tuple(exact(token["output"]) for token in place["tokens"])
            assert found_law == marginal(law, place["index"], SIZE)
        assert total(law.values()) == 1
        assert not variation or name not in LOSSLESS_BATCHES
