"""Complete rows, what a capture may tell of them, and recipes for both: seeded, by the thousand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

import numpy as np

from specdist.model.row import (
    FloatValues,
    Kind,
    ListedValues,
    NumberFormat,
    RationalValues,
    Row,
    Stage,
)
from tests import oracle_partial as oracle
from tests import oracle_processing as whole

F = Fraction
PLACE = "cap.json, steps[0].positions[0].target"


def complete_row(random: Random) -> list[Fraction]:
    """Three to eight tokens, many zeros, many ties; multiples of a power of two."""
    size = random.randint(3, 8)
    parts = 1 << random.choice([4, 5, 6, 10])
    pool = random.choice([[0, 1, 1, 2, 3], [0, 1, 2, 4, 8], list(range(10)), [1, 2]])
    weights = [random.choice(pool) for _ in range(size)]
    weights = [min(weight, parts // size) for weight in weights]
    weights[random.randrange(size)] += parts - sum(weights)
    return [F(weight, parts) for weight in weights]


def long_row(random: Random) -> list[Fraction]:
    """70 to 140 tokens, a few of them likely or one far above all others."""
    size, parts = random.randint(70, 140), 1 << 20
    pool = [random.choice([1, 2, 3, 5, 9, 40, 200, 1000]) for _ in range(30)]
    weights = [random.choice(pool) if random.random() < 0.95 else 0 for _ in range(size)]
    weights[random.randrange(size)] += parts - sum(weights)
    if random.random() < 0.6:
        top = weights.index(max(weights))
        for _ in range(random.randint(2, 9)):
            moved = weights[top] // 3
            weights[top] -= moved
            weights[random.randrange(size)] += moved
    return [F(weight, parts) for weight in weights]


@dataclass(frozen=True)
class Known:
    """A row that is known in part, and the complete law that is behind it."""

    row: Row
    truth: list[Fraction]
    complete: Row
    penalised: bool
    """Whether a repetition penalty works on logarithms of the truth."""


def truncated(row: list[Fraction], random: Random) -> Known:
    """One of the ways in which formats list part of a row, about as likely as ``row``."""
    kind = random.choice(["probabilities", "probabilities", "logprobs", "logits"])
    floats = random.random() < 0.5
    shift = F(random.randint(-3, 3)) if kind == "logits" else F(0)
    if kind != "logits" and random.random() < 0.3:
        shift = F(random.randint(-8, 8), 1600)
    numbers = [_number(p, kind, shift, floats) for p in row]
    weights = [_weight(u, kind) for u in numbers]
    truth = whole.renormalised(weights)
    ids, cap, support = _listed(numbers, random)
    half_width = random.choice([F(0), F(0), F(0), F(1, 100), F(1, 30)])
    stored = [_stored(numbers[x], kind, half_width, floats, random) for x in ids]
    near = [abs(v - u) for v, u in zip(stored, (numbers[x] for x in ids), strict=True)
            if v is not None and u is not None]  # fmt: skip
    half_width = max(half_width, *near) if near and half_width else half_width
    unit = None if cap is None else cap + half_width
    if unit is not None and kind != "probabilities" and random.random() < 0.2:
        unit += F(1, 7)
    known = ListedValues(
        ids=tuple(ids) if random.random() < 0.5 else np.array(ids, dtype=np.intp),
        values=_values(stored, floats),
        size=len(row),
        open_ended=support is None and random.random() < 0.2,
        cap=unit,
        half_width=half_width,
        slack=_slack(weights, kind, random),
        support=support,
    )
    stored_as = NumberFormat.FLOAT64 if floats else NumberFormat.DECIMAL
    made = Row(known, Kind(kind), Stage.RAW, stored_as, PLACE)
    read_as = Kind.PROBABILITIES if kind == "probabilities" else Kind.LOGITS  # one law, no sum
    complete = replace(made, values=_values(numbers, floats), kind=read_as)
    return Known(made, truth, complete, kind == "probabilities")


def _number(p: Fraction, kind: str, shift: Fraction, floats: bool) -> Fraction | None:
    """What the engine has for a token: a probability, or a logarithm (None: minus infinity)."""
    if kind == "probabilities":
        value = p * oracle.exponential(shift) if shift else p
    elif not p:
        return None
    else:
        value = oracle.logarithm(p) + shift
    if floats:
        return F(float(value))
    return value if value.denominator < 10**6 else F(round(value * 10**20), 10**20)


def _weight(number: Fraction | None, kind: str) -> Fraction:
    if number is None:
        return F(0)
    return number if kind == "probabilities" else oracle.exponential(number)


def _slack(weights: list[Fraction], kind: str, random: Random) -> Fraction:
    total = sum(weights, F(0))
    if kind == "logits":
        return F(0)
    needed = abs(oracle.logarithm(total)) + F(1, 10**40) if total != 1 else F(0)
    return random.choice([needed, max(needed, F(1, 200))])


def _stored(
    number: Fraction | None, kind: str, half_width: Fraction, floats: bool, random: Random
) -> Fraction | None:
    if number is None or not half_width:
        return number
    value = number + half_width * F(random.randint(-4, 4), 4)
    if kind == "probabilities":
        value = max(value, F(0))
    return F(float(value)) if floats else value


def _values(stored: list[Fraction | None], floats: bool) -> FloatValues | RationalValues:
    if not floats:
        return RationalValues(tuple(stored))
    return FloatValues(np.array([-np.inf if v is None else float(v) for v in stored]))


def _listed(
    numbers: list[Fraction | None], random: Random
) -> tuple[list[int], Fraction | None, tuple[int, ...] | None]:
    """Ids, the cap on unlisted numbers, and the possible tokens, where they are known."""
    size = len(numbers)
    keys = [F(-(10**6)) if u is None else u for u in numbers]
    order = sorted(range(size), key=lambda x: (-keys[x], random.random()))
    way = random.choice(["top", "top", "top", "sampled", "named", "support", "all"])
    count = random.randint(1, size - 1)
    if way == "all":
        return list(range(size)), None, None
    if way == "named":
        ids = random.sample(range(size), count)
        if not any(_possible(numbers[x]) for x in ids):
            ids = [order[0]]
        caps = [keys[x] for x in range(size) if x not in ids]
        return sorted(ids), random.choice([None, max(caps), max(caps) + F(1, 50)]), None
    ids, cap = order[:count], keys[order[count - 1]]
    if way == "sampled":
        ids = list({*ids, random.choice(order)})
    if way == "support":
        possible = [x for x in range(size) if _possible(numbers[x]) or random.random() < 0.2]
        ids = [x for x in possible if _possible(numbers[x]) and random.random() < 0.8]
        ids = ids or order[:1]
        caps = [keys[x] for x in possible if x not in ids]
        cap_of = max(caps) if caps and random.random() < 0.5 else None
        return sorted(ids), cap_of, tuple(possible)
    return sorted(ids), cap, None


def _possible(number: Fraction | None) -> bool:
    return number is not None and number != 0


@dataclass(frozen=True)
class Step:
    """A step as a recipe writes it, and by its naive definition; ``size``: of the vocabulary
    behind it."""

    text: str
    apply: Callable[[list[Fraction]], list[Fraction]]
    size: int


def steps(size: int, random: Random, penalised: bool) -> list[Step]:
    """One to three steps for a row of ``size`` tokens."""
    made: list[Step] = []
    for _ in range(random.choice([1, 1, 2, 2, 3])):
        step = _step(size, random)
        if step.text.startswith("repetition") and (made or not penalised):
            break
        made.append(step)
        size = step.size
    return made


def processed(row: list[Fraction], made: list[Step]) -> list[Fraction] | None:
    """The row after the steps; None where one leaves nothing."""
    for step in made:
        row = step.apply(row)
        if not any(row):
            return None
        row = whole.renormalised(row)
    return row


def _step(size: int, random: Random) -> Step:
    name = random.choice(
        ["temperature", "temperature", "greedy", "top-k", "top-p", "min-p", "epsilon", "banned",
         "allowed", "logit-bias", "repetition-penalty", "vocab-size", "vocab-map"]
    )  # fmt: skip
    share = random.choice([F(random.randint(1, 31), 32), F(random.randint(1, 9), 10)])
    if name == "temperature":
        value = random.choice([F(1, 2), F(1, 3), F(2), F(3, 2), F(7, 10), F(3)])
        return Step(f"temperature:{value}", lambda row: oracle.tempered(row, value), size)
    if name == "greedy":
        if random.random() < 0.3:
            return Step("temperature:0:greedy=all", whole.all_argmax, size)
        return Step("temperature:0", whole.argmax, size)
    if name == "top-k":
        count, ties = random.randint(1, size), random.choice(["all", "all", "lowest-id"])
        text = f"top-k:{count}:ties={ties}"
        return Step(text, lambda row: whole.top_k(row, count, ties), size)
    if name == "top-p":
        return _top_p(share, size, random)
    if name == "min-p":
        value = random.choice([share, F(1, 2), F(1)])
        equal = "keep" if value == 1 else random.choice(["keep", "keep", "drop"])
        text = f"min-p:{value}:equal={equal}"
        return Step(text, lambda row: whole.min_p(row, value, equal), size)
    if name == "epsilon":
        return Step(f"epsilon:{share}", lambda row: whole.epsilon(row, share), size)
    return _named_step(name, size, random)


def _top_p(share: Fraction, size: int, random: Random) -> Step:
    ties = random.choice(["all", "lowest-id", "highest-id"])
    boundary = random.choice(["reach", "exceed", "partial"])
    text = f"top-p:{share}:boundary={boundary}:ties={ties}"
    if boundary == "partial":
        return Step(text, lambda row: whole.top_p_partial(row, share, ties), size)
    return Step(text, lambda row: whole.top_p(row, share, boundary, ties), size)


def _named_step(name: str, size: int, random: Random) -> Step:
    ids = sorted(random.sample(range(size), random.randint(1, min(3, size))))
    listed = "+".join(map(str, ids))
    if name in ("banned", "allowed"):
        keep = name == "allowed"
        return Step(
            f"{name}:{listed}",
            lambda row: [p if (x in ids) is keep else F(0) for x, p in enumerate(row)],
            size,
        )
    if name == "logit-bias":
        changes = {x: random.choice([F(1), F(-1, 2), F(2), F(-3)]) for x in ids}
        text = "+".join(f"{x}={change}" for x, change in changes.items())
        return Step(f"logit-bias:{text}", lambda row: oracle.biased(row, changes), size)
    if name == "repetition-penalty":
        factor = random.choice([F(2), F(1, 2), F(6, 5)])
        text = f"repetition-penalty:{factor}:history={listed}"
        return Step(text, lambda row: oracle.repeated(row, ids, factor), size)
    if name == "vocab-size":
        length = random.randint(max(1, size - 2), size + 2)
        return Step(f"vocab-size:{length}", lambda row: _resized(row, length), length)
    goals = [x if random.random() < 0.9 else -1 for x in random.sample(range(size + 1), size)]
    length = max(0, *goals) + 1
    text = "+".join(map(str, goals))
    return Step(f"vocab-map:{text}", lambda row: _mapped(row, goals, length), length)


def _resized(row: list[Fraction], length: int) -> list[Fraction]:
    return [row[x] if x < len(row) else F(0) for x in range(length)]


def _mapped(row: list[Fraction], goals: list[int], length: int) -> list[Fraction]:
    made = [F(0)] * length
    for p, goal in zip(row, goals, strict=True):
        if goal >= 0:
            made[goal] = p
    return made
