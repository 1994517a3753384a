"""Small speculative engines over fractions, right and wrong, that record what they do.

Imports nothing of specdist. An engine is a table: what each place reads (row shift and processing),
how it tests, recovers, prunes, and which uniforms it uses twice. `record` runs it on random rows;
`emitted_law` is the law of the next token at one position from the definition, by enumeration.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Row = tuple[Fraction, ...]
TEMPERATURE, TOP_P = "temperature", "top-p"
PLAIN = (TEMPERATURE, TOP_P)
"""The declared processing: squares (temperature 1/2), then top-p 9/10."""
_BITS = 53


@dataclass(frozen=True)
class Place:
    """What one place of an engine reads."""

    side: str
    steps: tuple[str, ...] = PLAIN
    shift: int = 0


def right_places() -> dict[str, Place]:
    """The places of a right engine, by the names of the roles."""
    target = ("accept_target", "residual_target", "bonus_from")
    draft = ("drafted_from", "accept_draft", "residual_draft")
    places = {name: Place("target") for name in target}
    return places | {name: Place("draft") for name in draft}


@dataclass(frozen=True)
class Engine:
    """``recovery``: residual, target, argmax, rest (the target without the rejected token).
    ``test``: ratio, always, first (unchecked). ``one_hot``: the test takes the draft for one-hot.
    ``reuse``: accepts, draft-accept, accept-final, draft-final. ``keep``: (measure, threshold) of a
    pruning rule; ``dropped``: target or residual. ``grid``: accept uniforms are rounded down to
    multiples of 1/grid."""

    places: dict[str, Place] = field(default_factory=right_places)
    recovery: str = "residual"
    test: str = "ratio"
    one_hot: bool = False
    reuse: str = ""
    keep: tuple[str, Fraction] | None = None
    dropped: str = "target"
    grid: int | None = None
    chance: Callable[[Fraction, Fraction], Fraction] | None = None


def processed(row: Row, steps: Sequence[str]) -> Row:
    """Squares renormalised; the shortest prefix by falling probability, ties by rising id, whose
    mass is at least 9/10, renormalised."""
    law = tuple(value / sum(row) for value in row)
    for step in steps:
        if step == TEMPERATURE:
            law = tuple(value * value for value in law)
        elif step == TOP_P:
            order = sorted(range(len(law)), key=lambda token: (-law[token], token))
            kept, mass = set(), Fraction(0)
            for token in order:
                if mass >= Fraction(9, 10):
                    break
                kept.add(token)
                mass += law[token]
            law = tuple(value if token in kept else Fraction(0) for token, value in enumerate(law))
        elif step == "greedy":
            top = max(range(len(law)), key=lambda token: (law[token], -token))
            law = tuple(Fraction(int(token == top)) for token in range(len(law)))
        total = sum(law)
        law = tuple(value / total for value in law)
    return law


def drawn(law: Sequence[Fraction], uniform: Fraction) -> int | None:
    """The smallest x with ``u * total < p(0) + ... + p(x)``; None where everything is 0."""
    total, mass = sum(law), Fraction(0)
    for token, value in enumerate(law):
        mass += value
        if uniform * total < mass:
            return token
    return None


@dataclass(frozen=True)
class Rows:
    """Raw rows of one step: one target row more than draft rows."""

    target: tuple[Row, ...]
    draft: tuple[Row, ...]

    def law(self, place: Place, index: int) -> Row:
        rows = self.target if place.side == "target" else self.draft
        return processed(rows[min(max(index + place.shift, 0), len(rows) - 1)], place.steps)


def random_rows(rng: random.Random, gamma: int, size: int) -> Rows:
    def row() -> Row:
        weights = [Fraction(rng.randint(1, 997)) for _ in range(size)]
        return tuple(weight / sum(weights) for weight in weights)

    return Rows(tuple(row() for _ in range(gamma + 1)), tuple(row() for _ in range(gamma)))


def chance_of(engine: Engine, rows: Rows, index: int, token: int) -> Fraction:
    """Probability that the token is accepted, for a uniform of its own."""
    if engine.test == "always" or (engine.test == "first" and not index):
        return Fraction(1)
    target = rows.law(engine.places["accept_target"], index)[token]
    tested = (
        Fraction(1) if engine.one_hot else rows.law(engine.places["accept_draft"], index)[token]
    )
    if engine.chance is not None:
        return engine.chance(target, tested)
    if not tested:
        return Fraction(int(target > 0))
    return min(Fraction(1), target / tested)


def recovered_law(engine: Engine, rows: Rows, index: int, rejected: int) -> list[Fraction]:
    """Weights of the token that follows a rejection."""
    target = list(rows.law(engine.places["residual_target"], index))
    if engine.recovery == "target":
        return target
    if engine.recovery == "argmax":
        top = max(range(len(target)), key=lambda token: (target[token], -token))
        return [Fraction(int(token == top)) for token in range(len(target))]
    if engine.recovery == "rest":
        return [value if token != rejected else Fraction(0) for token, value in enumerate(target)]
    draft = rows.law(engine.places["residual_draft"], index)
    return [max(p - q, Fraction(0)) for p, q in zip(target, draft, strict=True)]


def kept(engine: Engine, rows: Rows, index: int, token: int) -> bool:
    """Whether the pruning rule submits the token."""
    if engine.keep is None:
        return True
    measure, threshold = engine.keep
    law = rows.law(engine.places["accept_draft"], index)
    value = {"own": law[token], "top": max(law), "position": Fraction(-index)}[measure]
    return value >= threshold


def record(rng: random.Random, engine: Engine, rows: Rows) -> dict[str, object] | None:
    """One step as it would be recorded; None where the engine finds no token to emit."""
    gamma = len(rows.draft)

    def uniform() -> Fraction:
        return Fraction(rng.getrandbits(_BITS), 1 << _BITS)

    u_draft, proposed = [], []
    for index in range(gamma):
        u_draft.append(uniform())
        token = drawn(rows.law(engine.places["drafted_from"], index), u_draft[-1])
        assert token is not None
        proposed.append(token)
        if not kept(engine, rows, index, token):
            break
    dropped = not kept(engine, rows, len(proposed) - 1, proposed[-1])
    drafted = proposed[:-1] if dropped else proposed
    u_accept = [uniform() for _ in drafted]
    if engine.reuse == "accepts":
        u_accept = u_accept[:1] * len(u_accept)
    if engine.reuse == "draft-accept":
        u_accept = u_draft[: len(drafted)]
    if engine.grid is not None:
        u_accept = [Fraction(int(u * engine.grid), engine.grid) for u in u_accept]
    accepted = []
    for index, token in enumerate(drafted):
        accepted.append(u_accept[index] < chance_of(engine, rows, index, token))
        if not accepted[-1]:
            break
    u_final, count = uniform(), sum(accepted)
    rejected = count < len(drafted)
    if rejected and engine.reuse == "accept-final":
        u_final = u_accept[count]
    if rejected and engine.reuse == "draft-final":
        u_final = u_draft[count]
    law: Sequence[Fraction] = rows.law(engine.places["bonus_from"], len(drafted))
    if rejected:
        law = recovered_law(engine, rows, count, drafted[count])
    elif dropped and engine.dropped == "residual":
        law = recovered_law(engine, rows, len(drafted), proposed[-1])
    final = drawn(law, u_final)
    if final is None:
        return None
    return {
        "drafted": drafted, "proposed": proposed if engine.keep else None, "u_draft": u_draft,
        "u_accept": u_accept, "u_final": u_final, "accepted": accepted, "n_accepted": count,
        "final_token": final, "rejected": rejected, "emitted": [*drafted[:count], final],
    }  # fmt: skip


def emitted_law(engine: Engine, rows: Rows, index: int, path: Sequence[int]) -> list[Fraction]:
    """The law of the token at a drafted position that was reached along ``path``; rejected mass
    whose residual is empty is left out. By enumeration of drafted and recovered tokens."""
    law = rows.law(engine.places["drafted_from"], index)
    size, fresh = len(law), rows.law(engine.places["bonus_from"], index)
    out = [Fraction(0)] * size
    smallest = min([Fraction(1), *(chance_of(engine, rows, j, x) for j, x in enumerate(path))])
    start = Fraction(0)
    for token, mass in enumerate(law):
        begin, start = start, start + mass
        if not mass:
            continue
        if not kept(engine, rows, index, token) and engine.dropped == "target":
            out = [have + mass * more for have, more in zip(out, fresh, strict=True)]
            continue
        chance = chance_of(engine, rows, index, token)
        if not kept(engine, rows, index, token):
            chance = Fraction(0)
        if engine.reuse == "accepts":
            chance = min(Fraction(1), chance / smallest)
        if engine.reuse == "draft-accept":
            chance = max(min(start, chance) - begin, Fraction(0)) / mass
        out[token] += mass * chance
        weights = recovered_law(engine, rows, index, token)
        total, before = sum(weights), Fraction(0)
        for other, weight in enumerate(weights if total else ()):
            low, before = before, before + weight / total
            if engine.reuse == "accept-final":
                out[other] += mass * (max(before, chance) - max(low, chance))
            elif engine.reuse == "draft-final":
                inside = max(min(before, start) - max(low, begin), Fraction(0))
                out[other] += (1 - chance) * inside
            else:
                out[other] += mass * (1 - chance) * (before - low)
    return out


def total_variation(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Half the sum of absolute differences, with what the laws miss of one as an outcome."""
    apart = sum((abs(a - b) for a, b in zip(first, second, strict=True)), Fraction(0))
    return (apart + abs(sum(first) - sum(second))) / 2
