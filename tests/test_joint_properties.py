"""Steps over random conditional models, through the command line, against the joint oracle.

Models of three and four tokens with a row for every prefix, zeros and ties among them. Every figure
of the report is compared with ``==``: the laws of whole outputs, their total variation, survival,
marginals.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from specdist.model.draft_tree import DraftTree
from specdist.model.role import TARGET_ROLES, Role
from specdist.rules.joint.draws import proposals
from specdist.rules.joint.registry import read_joint_rule
from tests import oracle_rules
from tests.joint_captures import checked, compare, models_of, random_models
from tests.oracle_joint import (
    ONE,
    ZERO,
    Models,
    NoAnswerError,
    Outcome,
    Prefix,
    Row,
    block,
    constant,
    pair,
    point,
    position_wise,
    row,
    step,
    token_chain,
    window,
)
from tests.oracle_trees import (
    Tree,
    children,
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

Definition = Callable[[Models, int], list[Outcome]]


@dataclass(frozen=True)
class ChainRule:
    """A rule of the command line and what the oracle makes of it."""

    words: tuple[str, ...]
    outcomes: Definition
    lossless: bool = False

    @property
    def name(self) -> str:
        return " ".join(self.words)


def position(rule: Callable[..., oracle_rules.Channel], *values: Any) -> Definition:
    return lambda models, length: position_wise(models, length, lambda r: rule(r, *values))


def one_hot_drafts(models: Models) -> Models:
    hot = {"accept_draft": "one-hot", "residual_draft": "one-hot"}
    return replace(models, roles={**models.roles, **hot})


def one_hot(models: Models, length: int) -> list[Outcome]:
    return token_chain(one_hot_drafts(models), length)


def blocks(**options: str) -> Definition:
    return lambda models, length: block(models, length, **options)


def windows(size: int, incomplete: bool) -> Definition:
    return lambda models, length: window(models, length, size=size, incomplete=incomplete)


HALF = Fraction(1, 2)
CHAIN_RULES = [
    ChainRule(("--rule", "token"), token_chain, True),
    ChainRule(("--rule", "token-chain"), token_chain, True),
    ChainRule(("--rule", "block"), block, True),
    ChainRule(("--rule", "one-hot"), one_hot, True),
    ChainRule(("--rule", "exact-match"), position(oracle_rules.exact_match), True),
    ChainRule(("--rule", "lenience:1/2"), position(oracle_rules.lenience, HALF)),
    ChainRule(("--rule", "mixture:1/2"), position(oracle_rules.mixture, HALF)),
    ChainRule(("--rule", "synthetic:3/4:recovery=target"),
              position(oracle_rules.synthetic, Fraction(3, 4), "target")),
    ChainRule(("--rule", "always"), position(oracle_rules.always)),
    ChainRule(("--rule", "token:recovery=target"), position(oracle_rules.token, "target")),
    *(
        ChainRule(("--rule", f"block:coins={coins}:thresholds={thresholds}:residual={residual}"),
                  blocks(coins=coins, thresholds=thresholds, residual=residual))
        for coins in ("independent", "contiguous", "shared")
        for thresholds in ("block", "ratio")
        for residual in ("block", "token")
        if (coins, thresholds, residual) != ("independent", "block", "block")
    ),
    ChainRule(("--rule", "window:1:entropy=0:incomplete=accept"), windows(1, True)),
    ChainRule(("--rule", "window:1:entropy=0"), windows(1, False)),
    ChainRule(("--rule", "window:2:entropy=0:incomplete=accept"), windows(2, True)),
]  # fmt: skip
SHAPES = ((3, 1), (3, 2), (4, 2), (3, 3))
SEEDS = range(8)


def answered(outcomes: Callable[[], list[Outcome]]) -> list[Outcome] | None:
    """None where the rule has no law for these models."""
    try:
        return outcomes()
    except (NoAnswerError, oracle_rules.NoAnswerError):
        return None


@pytest.mark.parametrize("rule", CHAIN_RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize(("size", "length"), SHAPES)
def test_chains(rule: ChainRule, size: int, length: int, tmp_path: Path) -> None:
    chance = random.Random(size * 100 + length)
    steps, expected = [], []
    while len(steps) < len(SEEDS):
        models = random_models(chance, size, length)
        outcomes = answered(lambda models=models: rule.outcomes(models, length))
        if outcomes is None:
            continue
        steps.append({**models_of(models), "draft_length": length})
        expected.append(step(outcomes, models.target, length))
    result = checked(steps, tmp_path, *rule.words)
    for found, wanted in zip(result.json()["steps"], expected, strict=True):
        compare(found, wanted, size)
        assert not rule.lossless or found["verdict"] == "equal"


@pytest.mark.parametrize("rule", ["always", "window:0:entropy=0"])
def test_outputs_behind_a_token_that_the_target_forbids(rule: str, tmp_path: Path) -> None:
    """The draft goes on with what the rule accepts, not with what the target would say."""
    target = constant(row("1/2", "1/2", "0"), 2)
    draft = {(): row(0, 0, 1), (0,): row(1, 0, 0), (1,): row(1, 0, 0), (2,): row(1, 0, 0)}
    models = pair(target, draft)
    wanted = step(position(oracle_rules.always)(models, 2), target, 2, 2)
    assert wanted.law == {(2, 0): 1}
    entry = {**models_of(models), "draft_length": 2}
    (found,) = checked([entry], tmp_path, "--rule", rule, "--horizon", 2).json()["steps"]
    compare(found, wanted, 3)


# ---- trees -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeRule:
    """A rule for trees under one way of drawing siblings. ``pairs``: every inner node has two
    children."""

    rule: str
    siblings: str
    outcomes: Callable[[Models, Tree], list[Outcome]]
    lossless: bool = False
    merged: bool = False
    pairs: bool = False
    one_hot: bool = False

    @property
    def name(self) -> str:
        return f"{self.rule} {self.siblings}{' merged' * self.merged}{' one-hot' * self.one_hot}"

    @property
    def words(self) -> dict[str, Any]:
        return {
            "siblings": self.siblings, "duplicates": "merged" if self.merged else "separate"
        }  # fmt: skip

    def models(self, chance: random.Random, size: int, tree: Tree, ranks: int) -> Models:
        widest = max(len(children(tree, node)) for node in (-1, *range(len(tree))))
        possible = 1 if self.siblings in ("iid", "top") else widest
        while True:
            models = random_models(chance, size, depth(tree), ranks=ranks, possible=possible)
            if self.siblings == "without-replacement" or ranks == 1 or possible == 1:
                return models


def down(node_rule: Any, siblings: str, merged: bool = False) -> Any:
    return lambda models, tree: top_down(models, tree, node_rule, siblings, merged=merged)


def up(siblings: str, merged: bool = False, renormalise: bool = True) -> Any:
    return lambda models, tree: traversal(
        models, tree, siblings, merged=merged, renormalise=renormalise
    )


def hot(outcomes: Any) -> Any:
    return lambda models, tree: outcomes(one_hot_drafts(models), tree)


WOR = "without-replacement"
TREE_RULES = [
    *(
        one
        for merged in (False, True)
        for one in (
            TreeRule("rrs", "iid", down(rrs(), "iid", merged), True, merged),
            TreeRule("k-seq:4", "iid", down(k_seq(Fraction(4)), "iid", merged), True, merged),
            TreeRule("sample-and-compare", "iid", down(sample_and_compare(), "iid", merged),
                     True, merged),
            TreeRule("target-only", "iid", down(target_only(), "iid", merged), True, merged),
            TreeRule("traversal", "iid", up("iid", merged), True, merged),
        )
    ),
    TreeRule("sample-and-compare:samples=own", "iid", down(sample_and_compare("own"), "iid")),
    TreeRule("target-only:accumulated=2/3:single=3/4", "iid",
             down(target_only(Fraction(2, 3), Fraction(3, 4)), "iid")),
    TreeRule("rrs", WOR, down(rrs(), WOR), True),
    TreeRule("rrs:tested=raw", WOR, down(rrs("raw"), WOR)),
    TreeRule("traversal", WOR, up(WOR), True),
    TreeRule("traversal:renormalise=no", WOR, up(WOR, renormalise=False)),
    TreeRule("sample-and-compare", WOR, down(sample_and_compare(), WOR), True),
    TreeRule("target-only", WOR, down(target_only(), WOR), True),
    TreeRule("target-only", "top", down(target_only(), "top"), True),
    TreeRule("rrs", "top", hot(down(rrs(), "top")), True, one_hot=True),
    TreeRule("rrs", "top", down(rrs(), "top")),
    TreeRule("traversal", "top", hot(up("top")), True, one_hot=True),
    TreeRule("greedy-drafts", "top-then-sampled", down(greedy_drafts, "top-then-sampled"), True),
    TreeRule("spechub", "hub", down(spechub, "hub"), True, pairs=True),
]  # fmt: skip
TREES: dict[str, Tree] = {
    "2": (-1, -1), "3": (-1, -1, -1), "2,1": levels(2, 1), "1,2": levels(1, 2),
    "2,2": levels(2, 2), "uneven": (-1, -1, 0), "deep": (-1, -1, 0, 2), "wide": (-1, -1, 0, 0, 1),
}  # fmt: skip
CASES = [
    (rule, shape)
    for rule in TREE_RULES
    for shape in TREES
    if not rule.pairs or shape in ("2", "2,2")
]


def tree_cases(
    rule: TreeRule, tree: Tree, count: int, ranks: int = 1
) -> list[tuple[Models, list[Outcome]]]:
    chance = random.Random(f"{rule.name} {tree} {ranks}")
    found: list[tuple[Models, list[Outcome]]] = []
    for _ in range(40 * count):
        models = rule.models(chance, 3, tree, ranks)
        outcomes = answered(lambda models=models: rule.outcomes(models, tree))
        if outcomes is not None:
            found.append((models, outcomes))
        if len(found) == count:
            return found
    raise AssertionError("too few models have an answer")


@pytest.mark.parametrize(
    ("rule", "shape"), CASES, ids=[f"{rule.name} {shape}" for rule, shape in CASES]
)
def test_trees(rule: TreeRule, shape: str, tmp_path: Path) -> None:
    tree = TREES[shape]
    cases = tree_cases(rule, tree, 3)
    drawn = {**rule.words, "tree": {"parents": list(tree)}}
    steps = [
        {**models_of(one_hot_drafts(models) if rule.one_hot else models), **drawn}
        for models, _ in cases
    ]
    result = checked(steps, tmp_path, "--rule", rule.rule)
    for found, (models, outcomes) in zip(result.json()["steps"], cases, strict=True):
        wanted = step(outcomes, models.target, depth(tree))
        compare(found, wanted, 3)
        assert not rule.lossless or found["verdict"] == "equal"


SEVERAL_DRAFTERS = [
    rule for rule in TREE_RULES if rule.rule in ("rrs", "k-seq:4", "traversal", "target-only")
    and rule.siblings in ("iid", WOR)
]  # fmt: skip


@pytest.mark.parametrize("rule", SEVERAL_DRAFTERS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("shape", ["2", "2,1", "2,2"])
def test_trees_of_two_drafters(rule: TreeRule, shape: str, tmp_path: Path) -> None:
    tree = TREES[shape]
    cases = tree_cases(rule, tree, 3, ranks=2)
    drawn = {**rule.words, "tree": {"parents": list(tree)}}
    steps = [{**models_of(models), **drawn} for models, _ in cases]
    result = checked(steps, tmp_path, "--rule", rule.rule)
    for found, (models, outcomes) in zip(result.json()["steps"], cases, strict=True):
        compare(found, step(outcomes, models.target, depth(tree)), 3)
        assert found["verdict"] == "equal"


# ---- the definition of every rule, proposal by proposal --------------------------------------


@dataclass(frozen=True)
class Given:
    """The laws of the oracle's models under the names that rules ask for."""

    models: Models

    @property
    def size(self) -> int:
        return self.models.size

    @property
    def one_hot(self) -> frozenset[Role]:
        hot = ("accept_draft", "residual_draft")
        return frozenset(Role(name) for name in hot if self.models.roles.get(name) == "one-hot")

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Row:
        models, drafts = self.models, self.models.drafts
        draft = drafts[rank if len(drafts) > 1 else 0]
        own = models.roles.get(role.value)
        if own is not None:
            return own[prefix]
        return models.target[prefix] if role in TARGET_ROLES else draft[prefix]


def listed(rule: str, models: Models, tree: DraftTree) -> list[Outcome]:
    """Every outcome that the rule yields for every proposal."""
    known, use = read_joint_rule(rule)
    laws, found = Given(models), []
    for drafted, mass in proposals(tree, laws):
        for one in known.outcomes(drafted, laws, use):
            then = point(one.then, laws.size) if isinstance(one.then, int) else one.then
            found.append(Outcome(mass * one.mass, one.accepted, then, one.bonus))
    return found


def gathered(outcomes: list[Outcome]) -> dict[tuple[Prefix, int | None, bool], Fraction]:
    """Masses by accepted prefix, next token, and whether that is a bonus token."""
    found: dict[tuple[Prefix, int | None, bool], Fraction] = {}
    for mass, accepted, then, bonus in outcomes:
        for y, share in [(None, ONE)] if then is None else enumerate(then):
            key = (accepted, y, bonus)
            found[key] = found.get(key, ZERO) + mass * share
    return {key: mass for key, mass in found.items() if mass}


@pytest.mark.parametrize("rule", TREE_RULES, ids=lambda rule: rule.name)
def test_proposal_by_proposal(rule: TreeRule) -> None:
    for shape in ("2", "2,2") if rule.pairs else ("3", "uneven", "2,2"):
        tree = TREES[shape]
        duplicates = "merged" if rule.merged else "separate"
        for models, outcomes in tree_cases(rule, tree, 2):
            asked = one_hot_drafts(models) if rule.one_hot else models
            found = listed(rule.rule, asked, DraftTree(tree, rule.siblings, duplicates))
            assert gathered(found) == gathered(outcomes)


OVER_CHAINS = [
    rule for rule in CHAIN_RULES if any(word in rule.name for word in ("block", "chain", "window"))
]


@pytest.mark.parametrize("rule", OVER_CHAINS, ids=lambda rule: rule.name)
def test_chain_by_chain(rule: ChainRule) -> None:
    chance = random.Random(rule.name)
    cases = 0
    while cases < 4:
        models = random_models(chance, 3, 2)
        outcomes = answered(lambda models=models: rule.outcomes(models, 2))
        if outcomes is not None:
            cases += 1
            found = listed(rule.words[1], models, DraftTree.chain(2))
            assert gathered(found) == gathered(outcomes)
