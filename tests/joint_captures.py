"""Conditional models as captures, drawn at random, and what a report says of them as numbers.

Models have a row for every prefix that a step of their depth can reach; three tokens or four, many
zeros, many ties. Nothing here computes a law.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.cli import Result, exact, run
from tests.oracle_joint import Model, Models, Prefix, Row, Step, marginal, prefixes

ROLES = (
    "accept_target", "residual_target", "bonus_from", "drafted_from", "accept_draft",
    "residual_draft",
)  # fmt: skip


def table(model: Model) -> dict[str, Any]:
    rows = {",".join(map(str, z)): [str(value) for value in law] for z, law in model.items()}
    return {"rows": rows}


def models_of(models: Models) -> dict[str, Any]:
    """The member "models" of a step, and recipes of its roles beside it."""
    drafts = [table(draft) for draft in models.drafts]
    found = {"target": table(models.target), "draft": drafts if len(drafts) > 1 else drafts[0]}
    own = {name: table(model) for name, model in models.roles.items() if not _is_text(model)}
    recipes = {name: model for name, model in models.roles.items() if _is_text(model)}
    return {"models": {**found, **own}, **({"roles": recipes} if recipes else {})}


def _is_text(model: Model | str) -> bool:
    return isinstance(model, str)


def document(steps: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"schema": "specdist.capture/1", "kind": "probabilities", "steps": list(steps)}


def checked(steps: Sequence[dict[str, Any]], folder: Path, *options: object) -> Result:
    """``specdist check`` of one capture with these steps, the JSON report on stdout."""
    path = folder / "joint.json"
    path.write_text(json.dumps(document(steps)), encoding="utf-8")
    return run("check", path, *options, "--workers", 1, "--format", "json", "--exact")


# ---- random models ---------------------------------------------------------------------------

WEIGHTS = (0, 0, 1, 1, 2, 3)


def random_row(chance: random.Random, size: int, possible: int = 1) -> Row:
    """At least ``possible`` tokens have a probability above 0."""
    while True:
        weights = [
            chance.choice(WEIGHTS) if chance.random() < 0.8 else chance.randint(1, 30)
            for _ in range(size)
        ]
        if sum(weight > 0 for weight in weights) >= possible:
            return tuple(Fraction(weight, sum(weights)) for weight in weights)


def full_row(chance: random.Random, size: int) -> Row:
    weights = [chance.randint(1, 12) for _ in range(size)]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def random_model(
    chance: random.Random, size: int, depth: int, possible: int = 1, full: bool = False
) -> dict[Prefix, Row]:
    """Rows after every prefix of at most ``depth`` tokens, some of them equal."""
    found: dict[Prefix, Row] = {}
    for z in prefixes(size, depth):
        if found and chance.random() < 0.15:
            found[z] = chance.choice(list(found.values()))
        elif full:
            found[z] = full_row(chance, size)
        else:
            found[z] = random_row(chance, size, possible)
    return found


def random_models(
    chance: random.Random,
    size: int,
    depth: int,
    *,
    ranks: int = 1,
    possible: int = 1,
    full: bool = False,
) -> Models:
    """Target and draft; near-equal and equal rows among the independent ones."""
    target = random_model(chance, size, depth, full=full)
    drafts = []
    for _ in range(ranks):
        draft = random_model(chance, size, depth - 1, possible, full)
        for z in draft:
            copied = chance.random() < 0.12 and sum(p > 0 for p in target[z]) >= possible
            draft[z] = target[z] if copied else draft[z]
        drafts.append(draft)
    return Models(target, tuple(drafts))


# ---- what a report says ----------------------------------------------------------------------


def numbers(values: Iterable[dict[str, Any]]) -> list[Fraction | None]:
    return [exact(value) for value in values]


def sequences(joint: dict[str, Any], column: str) -> dict[tuple[int, ...], Fraction]:
    """The law of whole outputs, those of probability 0 left out."""
    found = {tuple(line["tokens"]): exact(line[column]) for line in joint["sequences"]}
    return {tokens: mass for tokens, mass in found.items() if mass}


def compare(report: dict[str, Any], step: Step, size: int) -> None:
    """Every figure of a step of a report against the oracle, with ``==``."""
    joint = report["joint"]
    assert exact(joint["total_variation"]) == step.total_variation
    assert exact(joint["expected_accepted"]) == step.expected_accepted
    assert exact(joint["expected_tokens"]) == step.expected_tokens
    assert numbers(joint["survival"]) == step.survival
    assert numbers(joint["accepted_length"]) == step.lengths
    assert report["verdict"] == ("different" if step.total_variation else "equal")
    bonus = joint["bonus"]
    drawn = None if bonus is None else (bonus["probability"], bonus["total_variation"])
    assert (None if drawn is None else tuple(map(exact, drawn))) == step.bonus
    horizon = joint["horizon"]
    assert {len(tokens) for tokens in step.law} == {horizon}
    for place in joint["marginals"]:
        for column, law in (("output", step.law), ("reference", step.reference)):
            found = [exact(token[column]) for token in place["tokens"]]
            assert tuple(found) == marginal(law, place["index"], size)
    if len({*step.law, *step.reference}) <= 64:
        assert len(joint["marginals"]) == horizon
        assert sequences(joint, "output") == step.law
        assert sequences(joint, "reference") == step.reference
    else:
        for line in joint["sequences"]:
            tokens = tuple(line["tokens"])
            if len(tokens) == horizon:
                assert exact(line["output"]) == step.law.get(tokens, 0)
                assert exact(line["reference"]) == step.reference.get(tokens, 0)
