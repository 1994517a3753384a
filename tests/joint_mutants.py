"""Faulty engines over blocks, trees, lengths and batches: each takes random models and gets a step
wrong in one way.

A mutant is a step of a capture and options of the command line, the ident that the report must
hold, and repairs of which one must be named as a proven cause. `tests.mutants` does the same at one
position. Models have three or four tokens, every one possible, so that little hides a fault.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from tests.joint_captures import models_of
from tests.oracle_joint import Models, Outcome, Prefix, Row, block, prefixes
from tests.oracle_trees import levels, rrs, top_down, traversal

WOR = "without-replacement"
CHAIN: Mapping[str, Any] = {"draft_length": 2}
PAIRS: Mapping[str, Any] = {"tree": {"children": [2, 1]}}
DISTINCT: Mapping[str, Any] = {"tree": {"children": [2, 1]}, "siblings": WOR}
BOTH_DRAFTS = ("accept_draft", "residual_draft")
BOTH_TARGETS = ("accept_target", "residual_target")


@dataclass(frozen=True)
class Engine:
    """One step of a capture, and what the command line is told."""

    step: dict[str, Any]
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class JointMutant:
    """``finds``: an ident of the report; ``causes``: sets of repairs, one of which must be named.

    ``hides`` computes the outcomes where the fault may change nothing on some models: the oracle
    must then agree that it does not.
    """

    name: str
    make: Callable[[random.Random], tuple[Models, Engine]]
    finds: str
    causes: tuple[tuple[str, ...], ...] = ()
    hides: Callable[[Models], list[Outcome]] | None = None
    depth: int = field(default=2)


def full_models(chance: random.Random, depth: int = 2, ranks: int = 1) -> Models:
    """Every token possible, no two prefixes with one row, no row equal to that of the other side,
    and distinct probabilities in every row."""
    size = chance.randint(3, 4)

    def model(deep: int) -> dict[Prefix, Row]:
        return {z: _row(chance, size) for z in prefixes(size, deep)}

    return Models(model(depth), tuple(model(depth - 1) for _ in range(ranks)))


def _row(chance: random.Random, size: int) -> Row:
    weights = chance.sample(range(1, 24), size)
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def shifted(model: Mapping[Prefix, Row]) -> dict[Prefix, Row]:
    """Rows shifted by one: after z stands what belongs after z without its last token."""
    return {z: model[z[:-1]] for z in model}


def turned(model: Mapping[Prefix, Row]) -> dict[Prefix, Row]:
    """The laws of the neighbouring tokens: a wrong map of ids."""
    return {z: (*law[1:], law[0]) for z, law in model.items()}


def other_branch(model: Mapping[Prefix, Row]) -> dict[Prefix, Row]:
    """After every token the rows of its neighbour: the key-value cache of another branch."""
    size = len(model[()])
    return {z: model[(*z[:-1], (z[-1] + 1) % size)] if z else law for z, law in model.items()}


def options(
    shape: Mapping[str, Any], *words: str
) -> Callable[[random.Random], tuple[Models, Engine]]:
    """The right rows under options that describe a wrong engine."""

    def make(chance: random.Random) -> tuple[Models, Engine]:
        models = full_models(chance)
        return models, Engine({**models_of(models), **shape}, words)

    return make


def recipes(
    shape: Mapping[str, Any], roles: dict[str, str], *words: str
) -> Callable[[random.Random], tuple[Models, Engine]]:
    """Some roles have recipes of their own."""

    def make(chance: random.Random) -> tuple[Models, Engine]:
        models = full_models(chance)
        return models, Engine({**models_of(models), **shape, "roles": roles}, words)

    return make


def rows(
    shape: Mapping[str, Any],
    wrong: Callable[[Models], dict[str, Mapping[Prefix, Row]]],
    *words: str,
) -> Callable[[random.Random], tuple[Models, Engine]]:
    """Some roles have rows of another place."""

    def make(chance: random.Random) -> tuple[Models, Engine]:
        models = full_models(chance)
        found = Models(models.target, models.drafts, wrong(models))
        return models, Engine({**models_of(found), **shape}, words)

    return make


def _targets(change: Any, *names: str) -> Callable[[Models], dict[str, Mapping[Prefix, Row]]]:
    return lambda models: {name: change(models.target) for name in names}


def _drafts(change: Any, *names: str) -> Callable[[Models], dict[str, Mapping[Prefix, Row]]]:
    return lambda models: {name: change(models.drafts[0]) for name in names}


def _swapped(models: Models) -> dict[str, Mapping[Prefix, Row]]:
    """The ratio upside down."""
    draft = dict(models.drafts[0])
    return {
        "accept_target": {z: draft.get(z, law) for z, law in models.target.items()},
        "accept_draft": {z: models.target[z] for z in draft},
        "residual_draft": draft,
    }


def _one_drafter_for_all(chance: random.Random) -> tuple[Models, Engine]:
    """Two drafters draw the two children; both are tested with the rows of the first."""
    models = full_models(chance, ranks=2)
    first = models.drafts[0]
    found = Models(models.target, models.drafts, dict.fromkeys(BOTH_DRAFTS, first))
    return found, Engine({**models_of(found), **PAIRS}, ("--rule", "rrs"))


def _from_the_root(models: Models) -> list[Outcome]:
    return top_down(models, levels(2, 1), rrs())


def _beam(chance: random.Random) -> tuple[Models, Engine]:
    """The best joint path is drafted, and tested with the model's probabilities."""
    models = full_models(chance)
    draft, size = models.drafts[0], models.size
    best = max(product(range(size), repeat=2), key=lambda z: draft[()][z[0]] * draft[z[:1]][z[1]])
    given = {"siblings": "given", "draft_tokens": list(best)}
    return models, Engine({**models_of(models), **CHAIN, **given}, ("--rule", "block"))


def _dropped(rule: str) -> Callable[[random.Random], tuple[Models, Engine]]:
    """Tokens of low probability are drawn, seen and dropped."""

    def make(chance: random.Random) -> tuple[Models, Engine]:
        models = full_models(chance)
        edge = sorted(models.drafts[0][()])[1]
        step = {**models_of(models), **CHAIN, "length": f"{rule}:{edge}"}
        return models, Engine(step)

    return make


def _global_search(chance: random.Random) -> tuple[Models, Engine]:
    """The verified length is the best one for confidences that follow the drawn tokens."""
    models = full_models(chance)
    sure = {str(y): "1" if y == 0 else "0" for y in range(models.size)}
    length = {
        "rule": "scheduler:global",
        "confidence": {"": "4/5", **sure},
        "throughput": {"1": "1", "2": "1/2", "3": "9/20"},
    }
    return models, Engine({**models_of(models), **CHAIN, "length": length})


def _looks_ahead(chance: random.Random) -> tuple[Models, Engine]:
    """Nothing is verified where the last drafted token is the first of the vocabulary."""
    models = full_models(chance)
    size = models.size
    blocks = {f"{x},{y}": 2 * int(y != x) for x in range(size) for y in range(size)}
    return models, Engine({**models_of(models), **CHAIN, "length": {"blocks": blocks}})


def _batch(
    schedule: Any, confidence: bool = False
) -> Callable[[random.Random], tuple[Models, Engine]]:
    """Two requests that share their verified tokens out."""

    def make(chance: random.Random) -> tuple[Models, Engine]:
        models = full_models(chance)
        request: dict[str, Any] = {**models_of(models), **CHAIN}
        if confidence:
            sure = {str(y): "1" if y == 0 else "0" for y in range(models.size)}
            request["confidence"] = {"": "4/5", **sure}
        found = {"requests": [request, request], "schedule": schedule}
        return models, Engine(found, ("--horizon", "1"))

    return make


def _dip() -> dict[str, Any]:
    speed = {"2": "1", "3": "3/5", "4": "11/20", "5": "27/50", "6": "53/100"}
    return {"rule": "scheduler:global", "throughput": speed}


def _by_the_other(chance: random.Random) -> tuple[Models, Engine]:
    """A request is verified iff the other one drafted the first token."""
    models = full_models(chance)
    request = {**models_of(models), "draft_length": 1}
    size = models.size
    blocks = {f"{x}|{y}": [int(y == 0), int(x == 0)] for x in range(size) for y in range(size)}
    found = {"requests": [request, request], "schedule": {"blocks": blocks}}
    return models, Engine(found, ("--horizon", "1"))


def _block(**mistake: str) -> Callable[[Models], list[Outcome]]:
    return lambda models: block(models, 2, **mistake)


RULE = (("rule",),)
KEEP = (("keep",),)
DRAFTED = (("drafted_from",), BOTH_DRAFTS)
LEAK = "anticipating-length-rule"
MUTANTS = [
    JointMutant("coins of a block in a row", options(CHAIN, "--rule", "block:coins=contiguous"),
                "rule-mismatch", RULE, _block(coins="contiguous")),
    JointMutant("one coin for the whole block", options(CHAIN, "--rule", "block:coins=shared"),
                "rule-mismatch", RULE, _block(coins="shared")),
    JointMutant("a running product of uniforms", options(CHAIN, "--rule", "block:coins=product"),
                "rule-mismatch", RULE, _block(coins="product")),
    JointMutant("the joint ratio as threshold, the residual of token verification",
                options(CHAIN, "--rule", "block:thresholds=ratio:residual=token"),
                "rule-mismatch", RULE, _block(thresholds="ratio", residual="token")),
    JointMutant("the residual of token verification after a block",
                options(CHAIN, "--rule", "block:residual=token"),
                "rule-mismatch", RULE, _block(residual="token")),
    JointMutant("the bonus row of the prefix before",
                rows(CHAIN, _targets(shifted, "bonus_from"), "--rule", "block"),
                "bonus-mismatch", (("bonus_from",),)),
    JointMutant("the bonus row of another branch",
                rows(PAIRS, _targets(other_branch, "bonus_from"), "--rule", "rrs"),
                "bonus-mismatch", (("bonus_from",),)),
    JointMutant("the bonus token at another temperature",
                recipes(CHAIN, {"bonus_from": "temperature:1/2"}),
                "bonus-mismatch", (("bonus_from",),)),
    JointMutant("residual rows shifted by one",
                rows(CHAIN, _targets(shifted, "residual_target")),
                "target-mismatch", (("residual_target",),)),
    JointMutant("target rows shifted by one in the test",
                rows(PAIRS, _targets(shifted, "accept_target"), "--rule", "rrs"),
                "target-mismatch", (("accept_target",),)),
    JointMutant("all target rows shifted by one",
                rows(CHAIN, _targets(shifted, *BOTH_TARGETS, "bonus_from"), "--rule", "block"),
                "lossless-for-another-target", ((*BOTH_TARGETS, "bonus_from"),)),
    JointMutant("draft rows shifted by one", rows(CHAIN, _drafts(shifted, *BOTH_DRAFTS)),
                "drafted-mismatch", DRAFTED),
    JointMutant("draft rows of another branch",
                rows(PAIRS, _drafts(other_branch, *BOTH_DRAFTS), "--rule", "traversal"),
                "drafted-mismatch", DRAFTED),
    JointMutant("a wrong map of draft ids in the test",
                rows(CHAIN, _drafts(turned, *BOTH_DRAFTS), "--rule", "block"),
                "drafted-mismatch", DRAFTED),
    JointMutant("the ratio upside down", rows(CHAIN, _swapped),
                "drafted-mismatch", (("accept_target", "accept_draft"),)),
    JointMutant("a temperature in drafting only",
                recipes(PAIRS, {"drafted_from": "temperature:1/2"}, "--rule", "rrs"),
                "drafted-mismatch", DRAFTED),
    JointMutant("top-k in drafting only",
                recipes(CHAIN, {"drafted_from": "top-k:2"}, "--rule", "block"),
                "drafted-mismatch", DRAFTED),
    JointMutant("one-hot residual, dense test",
                recipes(CHAIN, {"residual_draft": "one-hot"}, "--rule", "block"),
                "residual-mismatch", (("residual_draft",),)),
    JointMutant("one drafter's rows for the children of two", _one_drafter_for_all,
                "drafted-mismatch", DRAFTED, _from_the_root),
    JointMutant("the most probable tokens tested with their probability",
                options({"tree": {"children": [2, 1]}, "siblings": "top"}, "--rule", "rrs"),
                "drafted-mismatch", (BOTH_DRAFTS,)),
    JointMutant("a beam tested with the model", _beam, "drafted-mismatch", (BOTH_DRAFTS,)),
    JointMutant("siblings that are not renormalised, from the leaves",
                options(DISTINCT, "--rule", "traversal:renormalise=no"), "rule-mismatch", RULE,
                lambda models: traversal(models, levels(2, 1), WOR, renormalise=False)),
    JointMutant("siblings that are not renormalised, from the root",
                options(DISTINCT, "--rule", "rrs:tested=raw"), "rule-mismatch", RULE,
                lambda models: top_down(models, levels(2, 1), rrs("raw"), WOR)),
    JointMutant("a sample for every child",
                options(PAIRS, "--rule", "sample-and-compare:samples=own"), "rule-mismatch", RULE),
    JointMutant("low tokens dropped", _dropped("own-probability"), LEAK, KEEP),
    JointMutant("the best length for what was drawn", _global_search, LEAK, KEEP),
    JointMutant("a length that looks ahead", _looks_ahead, LEAK, KEEP),
    JointMutant("ties of a batch in reverse order",
                _batch("scheduler:fixed:budget=1:ties=reverse", confidence=True), LEAK),
    JointMutant("a budget from current scores", _batch(_dip(), confidence=True), LEAK),
    JointMutant("slots by the drafted tokens' own probabilities",
                _batch("scheduler:fixed:budget=2:scores=own-probability"), LEAK),
    JointMutant("verified by what the other request drafted", _by_the_other, LEAK),
    JointMutant("accepted tokens cut afterwards",
                options(CHAIN, "--keep", "share:1/2", "--keep-when", "after"), LEAK, KEEP),
    JointMutant("a coarse grid of uniforms", options(CHAIN, "--uniform", "11"),
                "numeric-rounding", (("uniform",),)),
    JointMutant("an epsilon under the ratio", options(CHAIN, "--ratio-epsilon", "1/1000"),
                "numeric-rounding", (("ratio_epsilon",),)),
    JointMutant("lenient", options(CHAIN, "--rule", "lenience:1/3"), "lossy-by-design"),
    JointMutant("thresholds of siblings",
                options(DISTINCT, "--rule", "target-only:accumulated=1/2"), "lossy-by-design"),
    JointMutant("a window that forgives mismatches",
                options(CHAIN, "--rule", "window:1:entropy=0"), "lossy-by-design"),
]  # fmt: skip
