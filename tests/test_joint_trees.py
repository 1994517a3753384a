"""Rules for trees and several drafts: published vectors, laws by naive enumeration, both routes.

A step is enumerated here from the outcomes of a rule alone; the definitions that they are compared
with are those of tests/oracle_trees.py and the formulas of the papers. Every number with ``==``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from specdist.errors import SettingsError
from specdist.model.draft_tree import DraftTree, Duplicates, Siblings
from specdist.model.role import DRAFT_ROLES, Role
from specdist.rules.joint.draws import proposals
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Outcome
from specdist.rules.joint.registry import read_joint_rule
from tests import oracle_joint, oracle_trees
from tests.joint_captures import random_model
from tests.oracle_joint import ONE, ONE_HOT, ZERO, Model, Models, Prefix, Row, constant, pair, row

HOT: Mapping[str, Model | str] = {"accept_draft": ONE_HOT, "residual_draft": ONE_HOT}


@dataclass(frozen=True)
class Table:
    """The laws of a step, from the models of the oracle."""

    models: Models

    @property
    def size(self) -> int:
        return self.models.size

    @property
    def one_hot(self) -> frozenset[Role]:
        return frozenset(
            Role(name) for name, model in self.models.roles.items() if model == ONE_HOT
        )

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Row:
        assert role not in self.one_hot
        own = self.models.roles.get(role.value)
        if own is not None:
            assert not isinstance(own, str)
            return own[prefix]
        drafts = self.models.drafts
        if role in DRAFT_ROLES:
            return drafts[rank if len(drafts) > 1 else 0][prefix]
        return self.models.target[prefix]


Masses = dict[tuple[Prefix, int | None, bool], Fraction]
"""Mass by accepted tokens, the token after them and whether that is a bonus token."""


def gathered(outcomes: Iterable[Any]) -> Masses:
    found: Masses = {}
    for outcome in outcomes:
        then = outcome.then
        shares = enumerate(then) if isinstance(then, tuple) else [(then, ONE)]
        for token, share in shares:
            if share * outcome.mass:
                key = outcome.accepted, token, outcome.bonus
                found[key] = found.get(key, ZERO) + outcome.mass * share
    assert sum(found.values()) == 1
    return found


def walked(text: str, tree: DraftTree, models: Models) -> list[Outcome]:
    rule, use = read_joint_rule(text)
    assert rule.walk is not None
    found = list(rule.walk(tree, Table(models), use))
    assert all(outcome.mass > 0 for outcome in found)
    return found


def one_by_one(text: str, tree: DraftTree, models: Models) -> list[Outcome]:
    """Proposal by proposal; the outcomes of each have mass 1."""
    rule, use = read_joint_rule(text)
    found: list[Outcome] = []
    for drafted, share in proposals(tree, Table(models)):
        listed = list(rule.outcomes(drafted, Table(models), use))
        assert sum(outcome.mass for outcome in listed) == 1
        assert all(outcome.mass > 0 for outcome in listed)
        found += [
            Outcome(share * each.mass, each.accepted, each.then, each.bonus) for each in listed
        ]
    return found


def survival(masses: Masses, depth: int) -> list[Fraction]:
    return [
        sum((mass for (kept, _, _), mass in masses.items() if len(kept) >= i), ZERO)
        for i in range(1, depth + 1)
    ]


def output(masses: Masses, target: Model, horizon: int) -> dict[Prefix, Fraction]:
    """The law of the first tokens, short outputs completed with the target."""
    law: dict[Prefix, Fraction] = {}
    for (kept, token, _), mass in masses.items():
        assert token is not None
        open_ends = {(*kept, token): mass}
        while open_ends:
            z, share = open_ends.popitem()
            if len(z) >= horizon:
                law[z[:horizon]] = law.get(z[:horizon], ZERO) + share
            else:
                open_ends |= {(*z, y): share * p for y, p in enumerate(target[z]) if p}
    return law


def variation(masses: Masses, target: Model, horizon: int) -> Fraction:
    law = output(masses, target, horizon)
    plain = oracle_joint.plain(target, horizon)
    keys = {*law, *plain}
    return sum((abs(law.get(z, ZERO) - plain.get(z, ZERO)) for z in keys), ZERO) / 2


def rate(text: str, siblings: Siblings, children: int, p: Row, *qs: Row, **roles: Any) -> Fraction:
    """Chance that some child of the root is accepted; the output law must be the target's."""
    models = pair(constant(p, 2), *(constant(q, 1) for q in qs), **roles)
    masses = gathered(walked(text, DraftTree.levels([children], siblings), models))
    assert variation(masses, models.target, 2) == 0
    return survival(masses, 1)[0]


# ---- one position: published vectors ---------------------------------------------------------

P_A, Q_A = row("1/3", "2/3"), row("2/3", "1/3")
P_B, Q_B = row("1/2", "1/3", "1/6"), row("1/6", "1/3", "1/2")
P_C, Q_C = row("3/5", "3/10", "1/10"), row("1/5", "1/5", "3/5")
P_D, Q_D = row("5/16", "11/16"), row("1/2", "1/2")

WAYS: list[tuple[str, Siblings]] = [
    ("rrs", "iid"),
    ("sample-and-compare", "iid"),
    ("rrs", "without-replacement"),
    ("greedy-drafts", "top-then-sampled"),
    ("spechub", "hub"),
    ("target-only", "top"),
]
ONE_DRAFT: list[tuple[str, Siblings]] = [
    ("rrs", "iid"),
    ("rrs", "without-replacement"),
    ("k-seq:1", "iid"),
    ("greedy-drafts", "top-then-sampled"),
    ("traversal", "iid"),
]
#: One draft, then the rates in the order of WAYS with two drafts.
TWO_DRAFTS = {
    "MD-A": (P_A, Q_A, "2/3", ("7/9", "2/3", "1", "1", "1", "1")),
    "MD-B": (P_B, Q_B, "2/3", ("13/18", "25/54", "7/9", "5/6", "5/6", "1/2")),
    "MD-C": (P_C, Q_C, "1/2", ("7/10", "51/125", "17/20", "9/10", "9/10", "7/10")),
    "MD-D": (P_D, Q_D, "13/16", ("29/32", "3/4", "1", "1", "1", "1")),
}
STAGES = {"MD-A": ("2/3", "1/3"), "MD-B": ("2/3", "1/6"), "MD-C": ("1/2", "2/5"),
          "MD-D": ("13/16", "1/2")}  # fmt: skip


@pytest.mark.parametrize("ident", TWO_DRAFTS)
def test_two_drafts(ident: str) -> None:
    p, q, single, rates = TWO_DRAFTS[ident]
    found = [rate(text, siblings, 2, p, q) for text, siblings in WAYS]
    assert found == [Fraction(value) for value in rates]
    for text, siblings in ONE_DRAFT:
        assert rate(text, siblings, 1, p, q) == Fraction(single)
    first, second = map(Fraction, STAGES[ident])
    assert found[0] == 1 - (1 - first) * (1 - second)


def test_three_drafts() -> None:
    """MD-C3; a third child needs three tokens without replacement, and then one always passes."""
    assert rate("rrs", "iid", 3, P_C, Q_C) == Fraction(19, 25)
    assert rate("rrs", "without-replacement", 3, P_C, Q_C) == 1
    stages = [Fraction(1, 2), Fraction(2, 5), Fraction(1, 5)]
    assert 1 - rate("rrs", "iid", 3, P_C, Q_C) == (1 - stages[0]) * (1 - stages[1]) * (
        1 - stages[2]
    )


def test_two_drafters() -> None:
    """MD-TWO: no lossless rule passes more than the optimum 11/12."""
    q1, q2 = Q_B, row("1/3", "1/6", "1/2")
    for text in ("rrs", "k-seq:2", "sample-and-compare", "target-only", "traversal"):
        assert rate(text, "iid", 2, P_B, q1, q2) <= Fraction(11, 12)
    first = oracle_joint.overlap(P_B, q1)
    left = oracle_joint.normalise(oracle_joint.over(P_B, q1))
    second = oracle_joint.overlap(left, q2)
    assert rate("rrs", "iid", 2, P_B, q1, q2) == 1 - (1 - first) * (1 - second)


K_SEQ = {
    "KSEQ-1": (P_D, Q_D, "5/4", "3/4", "15/16", ("0", "1")),
    "KSEQ-2": (P_A, Q_A, "3/2", "5/9", "65/81", ("1/16", "15/16")),
    "KSEQ-3": (P_A, Q_A, "2", "1/2", "3/4", ("1/3", "2/3")),
}


@pytest.mark.parametrize("ident", K_SEQ)
def test_k_seq(ident: str) -> None:
    p, q, rho, beta, accepted, residual = K_SEQ[ident]
    assert (
        rate(f"k-seq:{rho}", "iid", 2, p, q) == Fraction(accepted) == 1 - (1 - Fraction(beta)) ** 2
    )
    models = pair(constant(p, 2), constant(q, 1))
    (failed,) = (
        outcome
        for outcome in walked(f"k-seq:{rho}", DraftTree.levels([2]), models)
        if not outcome.accepted
    )
    assert failed.then == row(*residual)
    assert failed.mass == 1 - Fraction(accepted)


@pytest.mark.parametrize("children", [2, 3])
def test_k_seq_with_too_small_a_rho(children: int) -> None:
    """The error names the prefix and a rho that is valid there; a thousandth less is not."""
    chance = random.Random(children)
    tree = DraftTree.levels([1, children])
    refused = 0
    for _ in range(12):
        models = pair(random_model(chance, 3, 3), random_model(chance, 3, 1, full=True))
        try:
            walked("k-seq:1", tree, models)
        except SettingsError as error:
            refused += 1
            z = tuple(map(int, error.message.split('"')[1].split(",")))
            rho = Fraction(error.advice.split("=")[1].split()[0])
            assert 1 < rho <= children
            target, draft = models.target[z], models.drafts[0][z]
            at_prefix = pair(constant(target, 1), constant(draft, 1))
            star = DraftTree.levels([children])
            assert gathered(walked(f"k-seq:{rho}", star, at_prefix))
            with pytest.raises(SettingsError, match="rho is too small"):
                walked(f"k-seq:{rho - Fraction(1, 1000)}", star, at_prefix)
        assert gathered(walked(f"k-seq:{children}", tree, models))
    assert refused > 3


# ---- trees: published vectors ----------------------------------------------------------------

P_6, Q_6 = row("1/5", "2/5", "2/5"), row("1/2", "3/8", "1/8")
TREES: dict[str, tuple[Row, Row, tuple[int, int], Siblings, tuple[str, str], tuple[str, str]]] = {
    "TREE-1": (P_A, Q_A, (2, 1), "iid", ("7/9", "14/27"), ("7/9", "17/27")),
    "TREE-2": (P_A, Q_A, (2, 2), "iid", ("7/9", "49/81"), ("7/9", "55/81")),
    "TREE-3": (P_B, Q_B, (2, 1), "without-replacement", ("7/9", "14/27"), ("7/9", "31/54")),
    "TREE-4": (P_B, Q_B, (2, 1), "iid", ("13/18", "13/27"), ("13/18", "29/54")),
    "TREE-6": (P_6, Q_6, (2, 1), "without-replacement", ("4/5", "14/25"), ("4/5", "61/100")),
}
EXPECTED = {"TREE-1": ("35/27", "38/27"), "TREE-2": ("112/81", "118/81"),
            "TREE-3": ("35/27", "73/54"), "TREE-4": ("65/54", "34/27"),
            "TREE-6": ("34/25", "141/100")}  # fmt: skip


@pytest.mark.parametrize("ident", TREES)
@pytest.mark.parametrize("route", [walked, one_by_one])
def test_trees(ident: str, route: Any) -> None:
    p, q, levels, siblings, down, up = TREES[ident]
    models = pair(constant(p, 3), constant(q, 2))
    tree = DraftTree.levels(levels, siblings)
    for text, expected, tokens in zip(
        ("rrs", "traversal"), (down, up), EXPECTED[ident], strict=True
    ):
        masses = gathered(route(text, tree, models))
        assert survival(masses, 2) == [Fraction(value) for value in expected]
        assert sum(survival(masses, 2)) == Fraction(tokens)
        assert variation(masses, models.target, 3) == 0


def test_a_row_that_is_not_renormalised_is_seen() -> None:
    """TREE-6: the known mistakes of siblings without replacement."""
    models = pair(constant(P_6, 3), constant(Q_6, 2))
    tree = DraftTree.levels([2, 1], "without-replacement")
    forgotten = gathered(walked("traversal:renormalise=no", tree, models))
    assert variation(forgotten, models.target, 3) == Fraction(1, 40)
    assert variation(gathered(walked("rrs:tested=raw", tree, models)), models.target, 3) > 0
    toy = pair(constant(P_B, 3), constant(Q_B, 2))  # which cannot see it
    assert variation(gathered(walked("traversal:renormalise=no", tree, toy)), toy.target, 3) == 0


def test_two_paths_that_meet_in_the_root() -> None:
    """MPATH-1: traversal accepts 38/27, between one path at its best and the optimum of two."""
    models = pair(constant(P_A, 3), constant(Q_A, 2))
    two = sum(survival(gathered(walked("traversal", DraftTree.levels([2, 1]), models)), 2))
    one = sum(survival(gathered(walked("traversal", DraftTree.chain(2), models)), 2))
    assert (one, two) == (Fraction(11, 9), Fraction(38, 27))
    assert one < two < Fraction(131, 81)


# ---- cases from the field --------------------------------------------------------------------


def test_candidates_with_samples_of_their_own() -> None:
    """B25: four candidates A, A, A, B, each against its own sample; 7/8 and 1/8 come out."""
    models = pair(constant(row("1/2", "1/2"), 2), constant(row("1/2", "1/2"), 1))
    tree = DraftTree((-1,) * 4, "given", tokens=(0, 0, 0, 1))
    own = gathered(walked("sample-and-compare:samples=own", tree, models))
    law = output(own, models.target, 1)
    assert law == {(0,): Fraction(7, 8), (1,): Fraction(1, 8)}
    assert variation(own, models.target, 1) == Fraction(3, 8)
    shared = gathered(walked("sample-and-compare", tree, models))
    assert variation(shared, models.target, 2) == 0


def test_deterministic_siblings_tested_with_a_draft_probability_of_one() -> None:
    """B26: exact, however often it is reported as wrong; with the row in the ratio it is wrong."""
    p = row("2/5", "3/10", "1/5", "1/10")
    target = constant(p, 2)
    tree = DraftTree((-1, -1), "given", tokens=(0, 2))
    hot = pair(target, constant(p, 1), **HOT)
    for text in ("rrs", "target-only", "sample-and-compare"):
        masses = gathered(walked(text, tree, hot))
        assert variation(masses, target, 2) == 0
        assert survival(masses, 1) == [Fraction(3, 5)]
    (failed,) = (o for o in walked("rrs", tree, hot) if not o.accepted)
    assert failed.then == row(0, "3/4", 0, "1/4")
    q = row("3/5", "2/5")
    in_ratio = pair(constant(q, 2), constant(q, 1))
    masses = gathered(walked("rrs", DraftTree((-1,), "given", tokens=(0,)), in_ratio))
    assert output(masses, in_ratio.target, 1) == {(0,): 1}
    assert variation(masses, in_ratio.target, 1) == Fraction(2, 5)


def test_thresholds_of_one_coin() -> None:
    """Child i is accepted first where u <= P_i / ACC or P(c_i) >= ONE, u by intervals."""
    chance = random.Random(3)
    values = [Fraction(n, 12) for n in (3, 5, 8, 10, 12)]
    for _ in range(60):
        p = random_model(chance, 4, 0)[()]
        children = tuple(chance.sample(range(4), chance.choice((1, 2, 3))))
        single, acc = chance.choice(values), chance.choice(values)
        sums = [sum((p[c] for c in children[: i + 1]), ZERO) / acc for i in range(len(children))]
        edges = sorted({ZERO, ONE, *(min(edge, ONE) for edge in sums)})
        expected = [ZERO] * (len(children) + 1)
        for low, high in pairwise(edges):
            u = (low + high) / 2
            first = next(
                (i for i, c in enumerate(children) if u <= sums[i] or p[c] >= single),
                len(children),
            )
            expected[first] += high - low
        models = pair(constant(p, 1), constant(p, 1))
        tree = DraftTree((-1,) * len(children), "given", tokens=children)
        masses = gathered(
            walked(f"target-only:accumulated={acc}:single={single}:empty=target", tree, models)
        )
        for index, token in enumerate(children):
            accepted = sum((m for (kept, _, _), m in masses.items() if kept == (token,)), ZERO)
            assert accepted == expected[index]


# ---- both routes, every rule, random models --------------------------------------------------

#: A rule, how its drafts are drawn, the roles that are one-hot, whether it is lossless then.
RULES: list[tuple[str, Siblings, Mapping[str, Model | str], bool]] = [
    ("rrs", "iid", {}, True),
    ("rrs", "without-replacement", {}, True),
    ("rrs", "top", HOT, True),
    ("rrs", "without-replacement", HOT, True),
    ("rrs", "top", {}, False),
    ("rrs", "hub", HOT, True),
    ("rrs:tested=raw", "without-replacement", {}, False),
    ("k-seq:4", "iid", {}, True),
    ("k-seq:9/4", "top", HOT, True),
    ("k-seq:2", "without-replacement", {}, False),
    *(("sample-and-compare", way, {}, True)
      for way in ("iid", "without-replacement", "top", "top-then-sampled", "hub")),
    ("sample-and-compare:samples=own", "iid", {}, False),
    *(("target-only", way, {}, True)
      for way in ("iid", "without-replacement", "top", "top-then-sampled", "hub")),
    ("target-only:accumulated=1/2:empty=target", "top", {}, False),
    ("target-only:single=1/4:empty=target", "top", {}, False),
    ("greedy-drafts", "top-then-sampled", {}, True),
    ("greedy-drafts", "without-replacement", {}, True),
    ("greedy-drafts", "top", HOT, True),
    ("greedy-drafts", "iid", HOT, True),
    ("spechub", "hub", {}, True),
    ("spechub", "top-then-sampled", {}, True),
    ("spechub", "top", HOT, True),
    ("traversal", "iid", {}, True),
    ("traversal", "without-replacement", {}, True),
    ("traversal", "top", HOT, True),
    ("traversal", "iid", HOT, True),
    ("traversal:renormalise=no", "without-replacement", {}, False),
    ("traversal", "top", {}, False),
]  # fmt: skip
SHAPES = [(-1, -1, 0, 0), (-1, -1, 1, 1, 0, 0)]
ODD_SHAPES = [(-1, 0, 0, -1, 3), (-1, -1, 1, 1, 1, 0)]


def random_models(
    chance: random.Random, size: int, depth: int, roles: Mapping[str, Model | str]
) -> Models:
    """Two tokens or more in every draft row, so that two children can be drawn."""
    target = random_model(chance, size, depth)
    return pair(target, random_model(chance, size, depth, possible=2), **roles)


def ident(case: Sequence[Any]) -> str:
    text, siblings, roles, _ = case
    return f"{text}-{siblings}{'-one-hot' if roles else ''}"


@pytest.mark.parametrize("case", RULES, ids=ident)
@pytest.mark.parametrize("duplicates", ["separate", "merged"])
def test_both_routes_and_the_law(
    case: tuple[str, Siblings, Mapping[str, Model | str], bool], duplicates: Duplicates
) -> None:
    """The walk has the masses of the enumeration; a lossless rule has the law of the target on
    every model, a mistake has another one on some."""
    text, siblings, roles, lossless = case
    chance = random.Random(11)
    worst = ZERO
    for attempt in range(6):
        tree = DraftTree(SHAPES[attempt % 2], siblings, duplicates)
        models = random_models(chance, 3, tree.depth + 1, roles)
        masses = gathered(walked(text, tree, models))
        assert masses == gathered(one_by_one(text, tree, models))
        apart = variation(masses, models.target, tree.depth + 1)
        assert apart == 0 or not lossless
        worst = max(worst, apart)
    assert (worst == 0) == lossless


@pytest.mark.parametrize(
    "text", ["rrs", "k-seq:4", "sample-and-compare", "target-only", "traversal"]
)
@pytest.mark.parametrize("parents", ODD_SHAPES)
@pytest.mark.parametrize("duplicates", ["separate", "merged"])
def test_uneven_trees_and_several_drafters(
    text: str, parents: tuple[int, ...], duplicates: Duplicates
) -> None:
    chance = random.Random(13)
    tree = DraftTree(parents, "iid", duplicates)
    for _ in range(3):
        target = random_model(chance, 3, tree.depth + 1)
        drafts = [random_model(chance, 3, tree.depth) for _ in range(3)]
        models = pair(target, *drafts)
        masses = gathered(walked(text, tree, models))
        assert masses == gathered(one_by_one(text, tree, models))
        assert variation(masses, target, tree.depth + 1) == 0


@pytest.mark.parametrize("case", RULES, ids=ident)
def test_a_rule_says_what_it_claims(
    case: tuple[str, Siblings, Mapping[str, Model | str], bool],
) -> None:
    text, _, _, lossless = case
    rule, use = read_joint_rule(text)
    if rule.kind == "lossy":
        assert rule.lossless(use) == lossless
        assert rule.lossy(use) != lossless
    elif ":samples=" in text or ":tested=" in text or ":renormalise=" in text:
        assert not rule.lossless(use)
    else:
        assert rule.lossless(use)


DEFINITIONS = [
    ("rrs", oracle_trees.rrs(), ("iid", "without-replacement")),
    ("rrs:tested=raw", oracle_trees.rrs("raw"), ("without-replacement",)),
    ("k-seq:4", oracle_trees.k_seq(Fraction(4)), ("iid",)),
    ("sample-and-compare", oracle_trees.sample_and_compare(), ("iid", "top")),
    ("sample-and-compare:samples=own", oracle_trees.sample_and_compare("own"), ("iid",)),
    ("target-only", oracle_trees.target_only(), ("top", "without-replacement")),
    ("greedy-drafts", oracle_trees.greedy_drafts, ("top-then-sampled",)),
    ("spechub", oracle_trees.spechub, ("hub",)),
]
DEFINED = [(text, rule, way) for text, rule, ways in DEFINITIONS for way in ways]


@pytest.mark.parametrize(
    ("text", "rule", "way"),
    DEFINED,
    ids=lambda value: value if isinstance(value, str) else "definition",
)
@pytest.mark.parametrize("merged", [False, True])
def test_against_the_definition(
    text: str, rule: oracle_trees.NodeRule, way: Siblings, merged: bool
) -> None:
    """Accepted tokens, the token after them and the bonus, mass by mass."""
    chance = random.Random(17)
    duplicates: Duplicates = "merged" if merged else "separate"
    for attempt in range(6):
        parents = SHAPES[attempt % 2]
        tree = DraftTree(parents, way, duplicates)
        models = random_models(chance, 3, tree.depth + 1, {})
        expected = oracle_trees.top_down(models, parents, rule, way, merged=merged)
        assert gathered(walked(text, tree, models)) == gathered(expected)


@pytest.mark.parametrize("way", ["iid", "without-replacement"])
def test_traversal_against_its_definition(way: Siblings) -> None:
    chance = random.Random(19)
    for attempt in range(6):
        parents = [*SHAPES, *ODD_SHAPES][attempt % 3]
        tree = DraftTree(parents, way)
        models = random_models(chance, 3, tree.depth + 1, {})
        for text, renormalise in (("traversal", True), ("traversal:renormalise=no", False)):
            expected = oracle_trees.traversal(models, parents, way, renormalise=renormalise)
            assert gathered(walked(text, tree, models)) == gathered(expected)


# ---- roles that disagree ---------------------------------------------------------------------

ROLES = ("accept_target", "residual_target", "bonus_from", "accept_draft", "residual_draft")


@pytest.mark.parametrize("changed", ROLES)
@pytest.mark.parametrize(
    ("text", "rule", "way"),
    DEFINED,
    ids=lambda value: value if isinstance(value, str) else "definition",
)
def test_every_role_is_used_where_it_belongs(
    changed: str, text: str, rule: oracle_trees.NodeRule, way: Siblings
) -> None:
    """One role has rows of its own; rules that do not read it are not moved."""
    chance = random.Random(23)
    for _ in range(3):
        tree = DraftTree(SHAPES[0], way)
        target = random_model(chance, 3, 3, full=True)
        draft = random_model(chance, 3, 3, full=True)
        own = random_model(chance, 3, 3, full=True)
        models = pair(target, draft, **{changed: own})
        try:
            expected = oracle_trees.top_down(models, SHAPES[0], rule, way)
        except oracle_joint.NoAnswerError:
            assert any(outcome.unnamed for outcome in walked(text, tree, models))
            continue
        assert gathered(walked(text, tree, models)) == gathered(expected)


@pytest.mark.parametrize("roles", [(), *((name,) for name in ROLES), ROLES])
def test_traversal_of_a_chain_is_block_verification(roles: tuple[str, ...]) -> None:
    chance = random.Random(29)
    for size, length in ((3, 1), (3, 2), (4, 2), (3, 3)):
        full = bool(roles)
        target = random_model(chance, size, length + 1, full=full)
        draft = random_model(chance, size, length, full=full)
        own = {name: random_model(chance, size, length + 1, full=True) for name in roles}
        models = pair(target, draft, **own)
        expected = gathered(oracle_joint.block(models, length))
        assert gathered(walked("traversal", DraftTree.chain(length), models)) == expected


def test_k_seq_reads_the_roles() -> None:
    """Accepted with A / (rho T); recovered from S less what U and S would accept."""
    target, draft = constant(P_B, 2), constant(Q_B, 1)
    other = row("1/4", "1/4", "1/2")
    tree = DraftTree.levels([1])

    def masses(**roles: Model) -> Masses:
        return gathered(walked("k-seq:2", tree, pair(target, draft, **roles)))

    def expected(a: Row, s: Row, t: Row, u: Row) -> dict[tuple[Prefix, int], Fraction]:
        kept = [d * min(ONE, x / (2 * y)) for d, x, y in zip(Q_B, a, t, strict=True)]
        left = [x - min(y, x / 2) for x, y in zip(s, u, strict=True)]
        failed = 1 - sum(kept)
        return {((), y): failed * value / sum(left) for y, value in enumerate(left) if value}

    for name, laws in (("accept_target", (other, P_B, Q_B, Q_B)),
                       ("residual_target", (P_B, other, Q_B, Q_B)),
                       ("accept_draft", (P_B, P_B, other, Q_B)),
                       ("residual_draft", (P_B, P_B, Q_B, other))):  # fmt: skip
        found = masses(**{name: constant(other, 2)})
        failed = {(kept, y): mass for (kept, y, _), mass in found.items() if not kept}
        assert failed == expected(*laws)


# ---- duplicates ------------------------------------------------------------------------------


def test_merged_copies_share_their_children() -> None:
    """Both children are token 0; the second copy's child is tried only where copies are merged."""
    target = constant(row("1/2", "1/4", "1/4"), 3)
    models = pair(target, constant(row("1/2", "1/4", "1/4"), 2), **HOT)
    for duplicates, accepted in (("separate", "1/4"), ("merged", "1/2")):
        tree = DraftTree((-1, -1, 0, 1), "given", duplicates, (0, 0, 1, 2))
        for text in ("rrs", "target-only", "sample-and-compare"):
            masses = gathered(walked(text, tree, models))
            first, second = survival(masses, 2)
            assert first == Fraction(1, 2)
            assert second == first * Fraction(accepted)
            assert variation(masses, target, 3) == 0
        up = gathered(walked("traversal", tree, models))
        assert up == gathered(one_by_one("traversal", tree, models))
        assert variation(up, target, 3) == 0


# ---- sizes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", RULES, ids=ident)
@pytest.mark.parametrize("duplicates", ["separate", "merged"])
def test_the_size_is_known_before(
    case: tuple[str, Siblings, Mapping[str, Model | str], bool], duplicates: Duplicates
) -> None:
    """No walk lists more outcomes than its size, and two leaves more cost more."""
    text, siblings, roles, _ = case
    rule: JointRule = read_joint_rule(text)[0]
    assert rule.walk_size is not None
    small, large = (DraftTree(parents, siblings, duplicates) for parents in SHAPES)
    models = random_models(random.Random(31), 3, 3, roles)
    for tree in (small, large):
        assert len(walked(text, tree, models)) <= rule.walk_size(tree, 3)
    assert rule.walk_size(small, 3) <= rule.walk_size(large, 3)
    assert rule.walk_size(DraftTree((), siblings), 3) == 1


def test_no_draft_token_at_all() -> None:
    models = pair(constant(P_B, 1), constant(Q_B, 1))
    for text in ("rrs", "traversal", "target-only"):
        (outcome,) = walked(text, DraftTree(()), models)
        assert (outcome.mass, outcome.accepted, outcome.then, outcome.bonus) == (1, (), P_B, True)


# ---- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["rrs", "k-seq:2", "greedy-drafts", "traversal"])
def test_a_drafted_token_that_was_never_tested(text: str) -> None:
    siblings: Siblings = "top-then-sampled" if text == "greedy-drafts" else "iid"
    models = pair(
        constant(P_B, 2), constant(Q_B, 1), accept_draft=constant(row(0, "1/2", "1/2"), 1)
    )
    with pytest.raises(SettingsError, match="token 0 is drafted"):
        walked(text, DraftTree.levels([2], siblings), models)


EMPTY = {"first": 0, "last": 2, "target": None, "nothing": None}


@pytest.mark.parametrize("text", ["rrs", "greedy-drafts", "target-only", "traversal"])
def test_an_empty_residual(text: str) -> None:
    """A certain token fails its test and the residual holds nothing else; the option decides."""
    sure, half = row(0, 1, 0), row("1/2", "1/2", 0)
    models = pair(constant(sure, 2), constant(sure, 1), accept_target=constant(half, 1))
    tree = DraftTree.levels([1])
    (open_end,) = (o for o in walked(text, tree, models) if o.unnamed)
    assert (open_end.mass, open_end.accepted, open_end.then) == (Fraction(1, 2), (), None)
    for how, token in EMPTY.items():
        outcomes = walked(f"{text}:empty={how}", tree, models)
        assert not any(outcome.unnamed for outcome in outcomes)
        masses = gathered(outcomes)
        follows = 1 if how == "target" else token
        assert masses[(), follows, False] == Fraction(1, 2)


def test_spechub_takes_pairs_with_their_hub() -> None:
    models = pair(constant(P_B, 2), constant(Q_B, 1))
    rule, use = read_joint_rule("spechub")
    assert rule.check is not None
    with pytest.raises(SettingsError, match="takes pairs"):
        rule.check(DraftTree.levels([3], "hub"), Table(models), use)
    rule.check(DraftTree.levels([2, 2], "hub"), Table(models), use)
    with pytest.raises(SettingsError, match="not a pair with the most probable token 2"):
        walked("spechub", DraftTree((-1, -1), "given", tokens=(0, 1)), models)


@pytest.mark.parametrize("text", ["k-seq:1/2", "k-seq", "target-only:single=0", "rrs:tested=row",
                                  "target-only:accumulated=2", "spechub:1"])  # fmt: skip
def test_parameters_out_of_range(text: str) -> None:
    with pytest.raises(SettingsError):
        read_joint_rule(text)
