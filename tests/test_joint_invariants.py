"""What must hold of every step over conditional models, and every role on its own.

Random models of three and four tokens, through the command line: roles with rows of their own
against the joint oracle, optima against exact linear programmes, orders between rules, permuted
vocabularies.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.cli import exact
from tests.joint_captures import (
    ROLES,
    checked,
    compare,
    models_of,
    numbers,
    random_model,
    random_models,
    sequences,
)
from tests.oracle_joint import (
    Model,
    Models,
    NoAnswerError,
    Outcome,
    Prefix,
    Row,
    block,
    joint_overlap,
    step,
    token_chain,
)
from tests.oracle_optima import (
    any_verifier,
    best_acceptance,
    best_acceptance_by_programme,
    block_optimum,
    multi_path_bound,
    multi_path_optimum,
)
from tests.oracle_trees import (
    Tree,
    chain,
    depth,
    greedy_drafts,
    k_seq,
    levels,
    rrs,
    sample_and_compare,
    spechub,
    target_only,
    top_down,
    traversal,
)

WOR = "without-replacement"
Outcomes = Callable[[Models, Tree], list[Outcome]]


# ---- roles -----------------------------------------------------------------------------------


def with_roles(chance: random.Random, models: Models, size: int, deep: int) -> Models:
    """Some roles have rows of their own; what is divided by makes every token possible."""
    roles: dict[str, Model | str] = {}
    for name in (*ROLES, "reference"):
        if chance.random() < 0.4:
            full = name == "accept_draft" or chance.random() < 0.3
            roles[name] = random_model(chance, size, deep, possible=2, full=full)
    if "drafted_from" in roles and "accept_draft" not in roles:
        roles["accept_draft"] = random_model(chance, size, deep, full=True)
    for name in ("accept_draft", "residual_draft"):
        if chance.random() < 0.2:
            roles[name] = "one-hot"
    return replace(models, roles=roles)


def tree_rule(rule: Any, mode: str) -> Outcomes:
    return lambda models, tree: top_down(models, tree, rule, mode)


WITH_ROLES: dict[str, tuple[str, str, Tree, Outcomes]] = {
    "token": ("token", "iid", chain(2), lambda models, tree: token_chain(models, len(tree))),
    "token-chain": (
        "token-chain", "iid", chain(2), lambda models, tree: token_chain(models, len(tree)),
    ),
    "block": ("block", "iid", chain(2), lambda models, tree: block(models, len(tree))),
    "block, three tokens": (
        "block", "iid", chain(3), lambda models, tree: block(models, len(tree)),
    ),
    "rrs": ("rrs", "iid", levels(2, 1), tree_rule(rrs(), "iid")),
    "rrs, three children": ("rrs", "iid", levels(3), tree_rule(rrs(), "iid")),
    "rrs without replacement": ("rrs", WOR, levels(2, 1), tree_rule(rrs(), WOR)),
    "k-seq": ("k-seq:2", "iid", levels(2, 1), tree_rule(k_seq(Fraction(2)), "iid")),
    "sample and compare": (
        "sample-and-compare", "iid", levels(2, 1), tree_rule(sample_and_compare(), "iid"),
    ),
    "target-only": ("target-only", WOR, levels(2, 1), tree_rule(target_only(), WOR)),
    "greedy drafts": (
        "greedy-drafts", "top-then-sampled", levels(2, 1),
        tree_rule(greedy_drafts, "top-then-sampled"),
    ),
    "spechub": ("spechub", "hub", levels(2), tree_rule(spechub, "hub")),
    "traversal": ("traversal", "iid", levels(2, 1), lambda models, tree: traversal(models, tree)),
    "traversal, a chain": (
        "traversal", "iid", chain(3), lambda models, tree: traversal(models, tree),
    ),
    "traversal without replacement": (
        "traversal", WOR, levels(2, 1), lambda models, tree: traversal(models, tree, WOR),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_ROLES)
def test_every_role_in_its_place(name: str, tmp_path: Path) -> None:
    rule, siblings, tree, outcomes = WITH_ROLES[name]
    chance = random.Random(name)
    deep, cases = depth(tree), []
    for _ in range(600):
        plain = random_models(chance, 3, deep, possible=2)
        models = with_roles(chance, plain, 3, deep)
        try:
            found = outcomes(models, tree)
        except NoAnswerError:
            continue
        reference = models.roles.get("reference", models.target)
        assert not isinstance(reference, str)
        cases.append((models, step(found, reference, deep)))
        if len(cases) == 16:
            break
    assert len(cases) == 16
    drawn = {"tree": {"parents": list(tree)}, "siblings": siblings}
    steps = [{**models_of(models), **drawn} for models, _ in cases]
    result = checked(steps, tmp_path, "--rule", rule)
    for found, (_, wanted) in zip(result.json()["steps"], cases, strict=True):
        compare(found, wanted, 3)


# ---- orders and optima -----------------------------------------------------------------------


def reports(steps: list[dict[str, Any]], folder: Path, *words: object) -> list[dict[str, Any]]:
    """The joint results of all steps, each of which must be lossless."""
    result = checked(steps, folder, *words)
    found = result.json()["steps"]
    assert {one["verdict"] for one in found} == {"equal"}
    return [one["joint"] for one in found]


def optimum(joint: dict[str, Any], name: str) -> Fraction:
    (found,) = (one for one in joint["optima"] if one["name"] == name)
    best, left = exact(found["expected_accepted"]), exact(found["left"])
    accepted = exact(joint["expected_accepted"])
    assert best is not None
    assert left is not None
    assert accepted is not None
    assert left == best - accepted >= 0
    return best


@pytest.mark.parametrize(("size", "length"), [(3, 1), (3, 2), (4, 2), (3, 3)])
def test_block_verification_accepts_the_most(size: int, length: int, tmp_path: Path) -> None:
    chance = random.Random(100 * size + length)
    models = [random_models(chance, size, length) for _ in range(25)]
    steps = [{**models_of(one), "draft_length": length} for one in models]
    token, whole = (reports(steps, tmp_path, "--rule", rule) for rule in ("token", "block"))
    strictly = 0
    for one, tokens, blocks in zip(models, token, whole, strict=True):
        below, above = numbers(tokens["survival"]), numbers(blocks["survival"])
        assert all(a <= b for a, b in zip(below, above, strict=True))  # type: ignore[operator]
        strictly += below != above
        best = optimum(blocks, "block" if length > 1 else "one draft")
        assert best == exact(blocks["expected_accepted"]) == block_optimum(one, length)
        if length > 1:
            assert optimum(tokens, "overlap bound") == joint_overlap(one, length) >= best
    assert (strictly > 0) == (length > 1)


def test_block_verification_is_the_programme_over_all_verifiers(tmp_path: Path) -> None:
    chance = random.Random(5)
    models = [random_models(chance, 3, 2) for _ in range(6)]
    steps = [{**models_of(one), "draft_length": 2} for one in models]
    for one, joint in zip(models, reports(steps, tmp_path, "--rule", "block"), strict=True):
        assert exact(joint["expected_accepted"]) == any_verifier(one, 2)


def test_one_hot_drafts_leave_block_verification_nothing(tmp_path: Path) -> None:
    chance = random.Random(6)
    steps = []
    for _ in range(12):
        models = random_models(chance, 3, 3)
        hot = {z: _certain(chance, 3) for z in models.drafts[0]}
        steps.append({**models_of(Models(models.target, (hot,))), "draft_length": 3})
    by_rule = [reports(steps, tmp_path, "--rule", rule) for rule in ("token", "block", "one-hot")]
    for token, whole, one_hot in zip(*by_rule, strict=True):
        assert numbers(token["survival"]) == numbers(whole["survival"])
        assert numbers(token["survival"]) == numbers(one_hot["survival"])


def _certain(chance: random.Random, size: int) -> Row:
    token = chance.randrange(size)
    return tuple(Fraction(int(y == token)) for y in range(size))


RULES_OF = {
    "iid": ("rrs", "sample-and-compare", "k-seq:3", "traversal", "target-only"),
    WOR: ("rrs", "sample-and-compare", "traversal", "target-only"),
    "top": ("target-only", "sample-and-compare"),
    "top-then-sampled": ("greedy-drafts", "sample-and-compare", "target-only"),
    "hub": ("spechub", "sample-and-compare"),
}
ATTAINED = {("top", "target-only"), ("top-then-sampled", "greedy-drafts"), ("hub", "spechub")}


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("siblings", RULES_OF)
def test_no_rule_is_above_the_optimum_of_n_drafts(
    siblings: str, count: int, tmp_path: Path
) -> None:
    if siblings == "hub" and count == 3:
        count = 2
    chance = random.Random(f"{siblings} {count}")
    models = [random_models(chance, 4, 1, possible=count) for _ in range(10)]
    drawn = {"tree": {"children": [count]}, "siblings": siblings}
    steps = [{**models_of(one), **drawn} for one in models]
    best = []
    for one in models:
        laws = [one.D(())] * count
        best.append(best_acceptance(one.target[()], siblings, laws))
        assert best[-1] == best_acceptance_by_programme(one.target[()], siblings, laws)
    for rule in RULES_OF[siblings]:
        for joint, most in zip(reports(steps, tmp_path, "--rule", rule), best, strict=True):
            assert optimum(joint, f"{count} drafts") == most
            accepted = exact(joint["expected_accepted"])
            assert accepted is not None
            assert accepted <= most
            assert accepted == most or (siblings, rule) not in ATTAINED


def test_drafts_without_replacement_are_worth_more(tmp_path: Path) -> None:
    """rrs <= the optimum of i.i.d. drafts <= that without replacement; more drafts, more."""
    chance = random.Random(7)
    models = [random_models(chance, 4, 1, possible=3) for _ in range(12)]
    found: dict[tuple[str, int], list[Fraction]] = {}
    for count in (1, 2, 3):
        for siblings in ("iid", WOR):
            drawn = {"tree": {"children": [count]}, "siblings": siblings}
            steps = [{**models_of(one), **drawn} for one in models]
            joints = reports(steps, tmp_path, "--rule", "rrs")
            name = "one draft" if count == 1 else f"{count} drafts"
            found[siblings, count] = [optimum(joint, name) for joint in joints]
    for count in (1, 2, 3):
        pairs = zip(found["iid", count], found[WOR, count], strict=True)
        assert all(a <= b for a, b in pairs)
    for siblings in ("iid", WOR):
        for few, more in ((1, 2), (2, 3)):
            pairs = zip(found[siblings, few], found[siblings, more], strict=True)
            assert all(a <= b for a, b in pairs)
    one_draft = [
        sum((min(p, q) for p, q in zip(m.target[()], m.D(()), strict=True)), Fraction(0))
        for m in models
    ]
    assert found["iid", 1] == one_draft


@pytest.mark.parametrize("count", [2, 3])
def test_several_paths(count: int, tmp_path: Path) -> None:
    chance = random.Random(count)
    models = [random_models(chance, 3, 2) for _ in range(5)]
    drawn = {"tree": {"children": [count, 1]}}
    steps = [{**models_of(one), **drawn} for one in models]
    for rule in ("rrs", "traversal"):
        for one, joint in zip(models, reports(steps, tmp_path, "--rule", rule), strict=True):
            assert optimum(joint, "multi-path bound") <= multi_path_bound(one, count, 2)


def test_the_bound_for_paths_is_above_the_programme(tmp_path: Path) -> None:
    """Antichains of two tokens and two levels, every one of them."""
    chance = random.Random(9)
    models = [random_models(chance, 2, 2) for _ in range(8)]
    steps = [{**models_of(one), "tree": {"children": [2, 1]}} for one in models]
    for one, joint in zip(models, reports(steps, tmp_path, "--rule", "traversal"), strict=True):
        most = multi_path_optimum(one, 2, 2)
        accepted = exact(joint["expected_accepted"])
        assert accepted is not None
        assert accepted <= most <= optimum(joint, "multi-path bound")


# ---- extremes and permutations ---------------------------------------------------------------

LOSSLESS = {
    "token": ({"draft_length": 2}, "token"),
    "block": ({"draft_length": 2}, "block"),
    "rrs": ({"tree": {"children": [2, 1]}}, "rrs"),
    "rrs without replacement": ({"tree": {"children": [2, 1]}, "siblings": WOR}, "rrs"),
    "traversal": ({"tree": {"children": [2, 1]}}, "traversal"),
    "k-seq": ({"tree": {"children": [2, 1]}}, "k-seq:2"),
}
TAKES_ALL = {"token", "block", "rrs", "traversal"}


@pytest.mark.parametrize("name", LOSSLESS)
def test_equal_and_disjoint_rows(name: str, tmp_path: Path) -> None:
    shape, rule = LOSSLESS[name]
    chance = random.Random(name)
    equal, apart = [], []
    for _ in range(6):
        models = random_models(chance, 4, 2, possible=2)
        same = {z: models.target[z] for z in models.drafts[0]}
        equal.append({**models_of(Models(models.target, (same,))), **shape})
        split = [
            {z: _half(chance, first) for z in model}
            for model, first in ((models.target, True), (models.drafts[0], False))
        ]
        apart.append({**models_of(Models(split[0], (split[1],))), **shape})
    if name in TAKES_ALL:
        for joint in reports(equal, tmp_path, "--rule", rule):
            assert exact(joint["expected_accepted"]) == 2
    for joint in reports(apart, tmp_path, "--rule", rule):
        assert exact(joint["expected_accepted"]) == 0


def _half(chance: random.Random, first: bool) -> Row:
    a = Fraction(chance.randint(1, 5), 6)
    pair = (a, 1 - a)
    return (*pair, Fraction(0), Fraction(0)) if first else (Fraction(0), Fraction(0), *pair)


FAULTY = {
    "block, one coin": ({"draft_length": 2}, "block:coins=shared"),
    "block, token residual": ({"draft_length": 2}, "block:residual=token"),
    "traversal, not renormalised": (
        {"tree": {"children": [2, 1]}, "siblings": WOR}, "traversal:renormalise=no",
    ),
    "lenience": ({"draft_length": 2}, "lenience:1/2"),
    "dropped": ({"draft_length": 2, "length": "own-probability:1/3"}, "token"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*LOSSLESS, *FAULTY])
def test_permuting_the_tokens_permutes_the_laws(name: str, tmp_path: Path) -> None:
    shape, rule = {**LOSSLESS, **FAULTY}[name]
    chance = random.Random(name)
    orders = list(permutations(range(3)))
    for _ in range(40):
        models = random_models(chance, 3, 2, full=True)
        steps = [{**models_of(permuted(models, order)), **shape} for order in orders]
        found = checked(steps, tmp_path, "--rule", rule).json()["steps"]
        first = found[0]
        if name in LOSSLESS or first["verdict"] == "different":
            break
    for order, other in zip(orders, found, strict=True):
        assert other["verdict"] == first["verdict"] == ("different" if name in FAULTY else "equal")
        assert other["joint"]["total_variation"] == first["joint"]["total_variation"]
        assert other["joint"]["survival"] == first["joint"]["survival"]
        turned = {
            tuple(order[x] for x in tokens): mass
            for tokens, mass in sequences(first["joint"], "output").items()
        }
        assert sequences(other["joint"], "output") == turned


def permuted(models: Models, order: tuple[int, ...]) -> Models:
    """Token x is called order[x]."""

    def turned(model: Model) -> dict[Prefix, Row]:
        found = {}
        for z, law in model.items():
            values = [Fraction(0)] * len(law)
            for x, value in enumerate(law):
                values[order[x]] = value
            found[tuple(order[x] for x in z)] = tuple(values)
        return found

    return Models(turned(models.target), tuple(turned(draft) for draft in models.drafts))
