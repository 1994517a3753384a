"""Block verification and the entropy-gated window as outcomes over proposals.

The outcomes of a rule are added up here, with the laws of an explicit table, and compared with the
published vectors and with the naive enumeration of tests/oracle_joint.py. Every number with ``==``;
only the product of uniforms has logarithms, and then with a stated error.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.errors import SettingsError
from specdist.exact.bounded import Bounded, OpenComparisonError, bounded
from specdist.model.draft_tree import DraftTree
from specdist.model.role import Role
from specdist.rules.joint import outcomes as protocol
from specdist.rules.joint.block_path import block_positions
from specdist.rules.joint.names import is_joint
from specdist.rules.joint.product_coins import stops_under_products
from specdist.rules.joint.registry import joint_rule_named, read_joint_rule
from specdist.rules.joint.window_rule import window_length
from tests import oracle_joint as oracle
from tests.joint_captures import random_model
from tests.oracle_joint import ONE, ONE_HOT, ZERO, Model, Models, Outcome, Prefix, Row, row

HOT = {"accept_draft": ONE_HOT, "residual_draft": ONE_HOT}


@dataclass(frozen=True)
class Table:
    """The laws of a step by role and prefix, from the models of the oracle."""

    models: Models
    size: int = 0
    one_hot: frozenset[Role] = frozenset()
    asked: set[tuple[Role, Prefix]] = field(default_factory=set)

    @classmethod
    def of(cls, models: Models) -> Table:
        hot = frozenset(Role(name) for name, model in models.roles.items() if model == ONE_HOT)
        return cls(models, models.size, hot)

    def law(self, role: Role, prefix: Prefix, rank: int = 0) -> Row:
        assert role not in self.one_hot
        self.asked.add((role, prefix))
        own = self.models.roles.get(role.value)
        if own is not None:
            assert not isinstance(own, str)
            return own[prefix]
        drafts = role in (Role.DRAFTED_FROM, Role.ACCEPT_DRAFT, Role.RESIDUAL_DRAFT)
        return (self.models.drafts[0] if drafts else self.models.target)[prefix]


def one_by_one(text: str, models: Models, length: int) -> list[protocol.Outcome]:
    """The outcomes of the definition, proposal by proposal."""
    rule, use = read_joint_rule(text)
    table, tree, found = Table.of(models), DraftTree.chain(length), []
    for tokens, share in oracle.drafts(models, length):
        listed = list(rule.outcomes(protocol.Drafted(tree, tokens), table, use))
        assert sum(outcome.mass for outcome in listed) == 1
        assert all(outcome.mass > 0 for outcome in listed)
        found += [
            protocol.Outcome(
                share * outcome.mass, outcome.accepted, outcome.then, outcome.bonus,
                outcome.unnamed, share * outcome.error,
            )
            for outcome in listed
        ]  # fmt: skip
    return found


def walked(text: str, models: Models, length: int) -> list[protocol.Outcome]:
    """The outcomes of the recursion over prefixes."""
    rule, use = read_joint_rule(text)
    tree = DraftTree.chain(length)
    assert rule.walk is not None
    assert rule.walk_size is not None
    found = list(rule.walk(tree, Table.of(models), use))
    assert len(found) <= rule.walk_size(tree, models.size)
    return found


def spelled(found: Iterable[protocol.Outcome], size: int) -> list[Outcome]:
    """The same for the oracle, which knows laws only."""
    return [
        Outcome(
            outcome.mass, outcome.accepted,
            oracle.point(outcome.then, size) if isinstance(outcome.then, int) else outcome.then,
            outcome.bonus,
        )
        for outcome in found
    ]  # fmt: skip


def gathered(found: Iterable[Outcome]) -> dict[tuple[Prefix, int | None, bool], Fraction]:
    """Mass by what is kept, what follows, and whether that is a bonus."""
    masses: dict[tuple[Prefix, int | None, bool], Fraction] = {}
    for mass, kept, then, bonus in found:
        for token, share in [(None, ONE)] if then is None else enumerate(then):
            if mass * share:
                key = (kept, token, bonus)
                masses[key] = masses.get(key, ZERO) + mass * share
    return masses


def step_of(text: str, models: Models, length: int, horizon: int | None = None) -> oracle.Step:
    found = spelled(one_by_one(text, models, length), models.size)
    return oracle.step(found, models.target, length, horizon)


def constant(target: Row, draft: Row, depth: int, **roles: Any) -> Models:
    return oracle.pair(oracle.constant(target, depth), oracle.constant(draft, depth), **roles)


def markov_pair(p: Iterable[Row], q: Iterable[Row], depth: int) -> Models:
    (first_p, *after_p), (first_q, *after_q) = p, q
    return oracle.pair(
        oracle.markov(first_p, after_p, depth), oracle.markov(first_q, after_q, depth)
    )


# ---- published vectors -----------------------------------------------------------------------

TOY = (row("1/3", "2/3"), row("2/3", "1/3"))
EXPOSING = (row("9/20", "9/20", "1/10"), row("1/20", "3/20", "4/5"))

VECTORS: Mapping[str, tuple[Models, list[str], list[str]]] = {
    "BLK-1": (constant(*TOY, 2), ["2/3", "4/9"], ["2/3", "5/9"]),
    "BLK-2": (constant(*TOY, 1), ["2/3"], ["2/3"]),
    "BLK-3": (constant(*TOY, 3), ["2/3", "4/9", "8/27"], ["2/3", "5/9", "4/9"]),
    "BLK-4": (
        markov_pair(
            [row("1/2", "1/2"), row("3/4", "1/4"), row("1/4", "3/4")],
            [row("3/4", "1/4"), row("1/2", "1/2"), row("1/2", "1/2")],
            2,
        ),
        ["3/4", "9/16"],
        ["3/4", "11/16"],
    ),
    "BLK-5": (
        constant(row("1/2", "1/3", "1/6"), row("1/6", "1/3", "1/2"), 2),
        ["2/3", "4/9"],
        ["2/3", "1/2"],
    ),
    "BLK-9": (constant(*EXPOSING, 2), ["3/10", "9/100"], ["3/10", "31/200"]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_token_and_block_vectors(name: str) -> None:
    models, token, block = VECTORS[name]
    length = len(token)
    for text, survival in (("token-chain", token), ("block", block)):
        found = step_of(text, models, length)
        assert found.survival == [Fraction(value) for value in survival]
        assert found.expected_accepted == sum(map(Fraction, survival))
        assert found.expected_tokens == 1 + sum(map(Fraction, survival))
        assert found.law == found.reference


THRESHOLDS = {
    "BLK-6": ((0, 1), ["1", "1/2", "1"], ["0", "1"]),
    "BLK-7": ((0, 0), ["1", "1/2", "1/4"], ["0", "1/4"]),
    "BLK-8": ((1, 0), ["1", "1", "1/2"], ["1", "1/2"]),
}


@pytest.mark.parametrize("name", THRESHOLDS)
def test_threshold_vectors(name: str) -> None:
    tokens, ratios, thresholds = THRESHOLDS[name]
    found = block_positions(tokens, Table.of(constant(*TOY, 2)), read_joint_rule("block")[1])
    assert [position.weight for position in found] == [Fraction(value) for value in ratios]
    assert [position.threshold for position in found[1:]] == [Fraction(v) for v in thresholds]


MUTANTS = {
    "BLK-MUT-1": (TOY, "coins=contiguous", ["1/3", "2/9"], "1/3"),
    "BLK-MUT-2": (TOY, "coins=shared", ["2/3", "5/9"], "0"),
    "BLK-MUT-3": (TOY, "residual=token", ["2/3", "5/9"], "0"),
    "BLK-MUT-4": (EXPOSING, "coins=contiguous", None, "133/1410"),
    "BLK-MUT-5": (EXPOSING, "coins=shared", None, "1/200"),
    "BLK-MUT-6": (EXPOSING, "residual=token", ["3/10", "31/200"], "3/1400"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_known_mistakes(name: str) -> None:
    rows, option, survival, variation = MUTANTS[name]
    found = step_of(f"block:{option}", constant(*rows, 2), 2)
    assert found.total_variation == Fraction(variation)
    if survival is not None:
        assert found.survival == [Fraction(value) for value in survival]
    rule, use = read_joint_rule(f"block:{option}")
    assert not rule.lossless(use)
    assert not rule.lossy(use)


def test_the_default_claims_to_be_lossless_and_no_mistake_does() -> None:
    rule, use = read_joint_rule("block")
    assert rule.lossless(use)
    assert rule.lossless(read_joint_rule("block:empty=first")[1])
    for option in ("coins=product", "thresholds=ratio"):
        assert not rule.lossless(read_joint_rule(f"block:{option}")[1])


def test_ratio_thresholds_differ_on_the_exposing_pair() -> None:
    """h_i = r_i over-accepts: 861/1600 against 91/200."""
    found = step_of("block:thresholds=ratio", constant(*EXPOSING, 2), 2)
    assert found.expected_accepted == Fraction(861, 1600)
    assert found.total_variation == Fraction(133, 1600)


ASCEND = markov_pair(
    [row("1/4", "3/4"), row("3/4", "1/4"), row("1/2", "1/2")],
    [row("1/2", "1/2"), row("3/8", "5/8"), row("3/4", "1/4")],
    2,
)


def _close(value: Fraction, digits: str) -> bool:
    return abs(value - Fraction(digits)) < Fraction(1, 10**12)


def test_a_running_product_of_uniforms() -> None:
    """Joint ratios, u_1 .. u_i, the last success wins, the residual of one token."""
    text = "block:coins=product:thresholds=ratio:residual=token"
    listed = one_by_one(text, ASCEND, 2)
    found = oracle.step(spelled(listed, 2), ASCEND.target, 2, horizon=2)
    expected = {
        (0, 0): "0.223981829257865", (0, 1): "0.163089869527131",
        (1, 0): "0.407830427634543", (1, 1): "0.205097873580461",
    }  # fmt: skip
    assert all(_close(found.law[tokens], digits) for tokens, digits in expected.items())
    assert _close(found.total_variation, "0.169902126419539")
    assert _close(found.expected_accepted, "1.714027845339169")
    error = sum(outcome.error for outcome in listed)
    assert 0 < error < Fraction(1, 10**40)
    exactly = oracle.block(ASCEND, 2, coins="product", thresholds="ratio", residual="token")
    here, there = gathered(spelled(listed, 2)), gathered(exactly)
    assert here.keys() == there.keys()
    assert sum(abs(here[key] - there[key]) for key in here) < Fraction(1, 10**40)


def test_ratio_thresholds_with_the_residual_of_one_token() -> None:
    found = step_of("block:thresholds=ratio:residual=token", ASCEND, 2, horizon=2)
    assert found.law == {
        (0, 0): Fraction(5, 16), (0, 1): Fraction(1, 16),
        (1, 0): Fraction(5, 16), (1, 1): Fraction(5, 16),
    }  # fmt: skip
    assert found.total_variation == Fraction(1, 8)
    assert found.expected_accepted == Fraction(3, 2)
    assert step_of("block", ASCEND, 2).expected_accepted == Fraction(11, 8)


def test_a_beam_is_drafted_whatever_the_draft_says() -> None:
    """The best path of two tokens is BA, and the ratios use the full draft rows."""
    models = markov_pair(
        [row("1/2", "1/2"), row("1/2", "1/2"), row("3/5", "2/5")],
        [row("3/5", "2/5"), row("1/2", "1/2"), row("9/10", "1/10")],
        2,
    )
    rule, use = read_joint_rule("token-chain")
    drafted = protocol.Drafted(DraftTree.chain(2), (1, 0))
    for roles, accepted, law in (
        ({}, "5/3", {(1, 1): "1/3", (1, 0): "2/3"}),
        (HOT, "4/5", {(0, 0): "1/4", (0, 1): "1/4", (1, 0): "3/10", (1, 1): "1/5"}),
    ):
        table = Table.of(Models(models.target, models.drafts, roles))
        listed = spelled(rule.outcomes(drafted, table, use), 2)
        found = oracle.step(listed, models.target, 2, horizon=2)
        assert found.expected_accepted == Fraction(accepted)
        assert found.law == {tokens: Fraction(value) for tokens, value in law.items()}


# ---- random conditional models ---------------------------------------------------------------


@st.composite
def models_of_three(draw: st.DrawFn, length: int | None = None) -> tuple[Models, int]:
    """Three tokens, a row after every prefix, many zeros."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    length = draw(st.integers(1, 3)) if length is None else length
    target, draft = (random_model(chance, 3, length) for _ in range(2))
    return oracle.pair(target, draft), length


def hot(models: Models) -> Models:
    return Models(models.target, models.drafts, HOT)


@settings(max_examples=60, deadline=None)
@given(models_of_three())
def test_block_is_lossless_and_never_below_token(case: tuple[Models, int]) -> None:
    models, length = case
    token, block = (step_of(text, models, length) for text in ("token-chain", "block"))
    assert token.law == token.reference
    assert block.law == block.reference
    assert token.survival == oracle.token_survival(models, length)
    assert all(b >= t for b, t in zip(block.survival, token.survival, strict=True))
    assert block.survival[0] == token.survival[0]
    best = kept = {(): ONE}
    for depth in range(length):  # A(zy) = min(Q(zy), A(z) P(y|z)) is the optimum of one path
        best = {
            (*z, y): min(oracle.path_probability(models.drafts[0], (*z, y)), mass * share)
            for z, mass in kept.items()
            for y, share in enumerate(models.target[z])
        }
        assert block.survival[depth] == sum(best.values())
        kept = best


@settings(max_examples=40, deadline=None)
@given(models_of_three())
def test_rules_are_the_naive_ones(case: tuple[Models, int]) -> None:
    models, length = case
    for text, twin in (
        ("token-chain", oracle.token_chain(models, length)),
        ("block", oracle.block(models, length)),
        ("block:coins=contiguous", oracle.block(models, length, coins="contiguous")),
    ):
        assert gathered(spelled(one_by_one(text, models, length), 3)) == gathered(twin)


@settings(max_examples=40, deadline=None)
@given(models_of_three())
def test_one_hot_drafts_make_block_the_token_rule(case: tuple[Models, int]) -> None:
    models, length = hot(case[0]), case[1]
    token, block = (step_of(text, models, length) for text in ("token-chain", "block"))
    assert block.survival == token.survival
    assert block.law == token.law == token.reference
    twin = oracle.block(models, length)
    assert gathered(spelled(one_by_one("block", models, length), 3)) == gathered(twin)


MISTAKES = ("coins=contiguous", "coins=shared", "coins=product", "thresholds=ratio",
            "residual=token")  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(models_of_three(), st.sampled_from(("", *MISTAKES)), st.booleans())
def test_the_recursion_has_the_law_of_the_definition(
    case: tuple[Models, int], option: str, one_hot: bool
) -> None:
    models, length = case
    models = hot(models) if one_hot else models
    text = f"block:{option}:empty=last" if option else "block"
    here, there = walked(text, models, length), one_by_one(text, models, length)
    assert gathered(spelled(here, 3)) == gathered(spelled(there, 3))
    assert sum(o.error for o in here) == sum(o.error for o in there)
    places = [(outcome.accepted, outcome.bonus) for outcome in here]
    assert one_hot or len(places) == len(set(places)), "one outcome a prefix"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_any_filling_of_the_roles(seed: int) -> None:
    """Every role a model of its own: the law is the naive one, whatever it is worth."""
    chance = random.Random(seed)
    full = {
        name: random_model(chance, 3, 2, full=True)
        for name in ("accept_target", "residual_target", "bonus_from", "accept_draft",
                     "residual_draft")
    }  # fmt: skip
    models = Models(random_model(chance, 3, 2), (random_model(chance, 3, 2),), full)
    for text, twin in (("token-chain", oracle.token_chain), ("block", oracle.block)):
        try:
            expected = gathered(twin(models, 2))
        except oracle.NoAnswerError:
            continue
        for route in (one_by_one, walked)[: 1 + (text == "block")]:
            assert gathered(spelled(route(text, models, 2), 3)) == expected


# ---- coins -----------------------------------------------------------------------------------

_HEIGHTS = st.sampled_from([Fraction(n, 12) for n in range(13)])


def _fine(thresholds: tuple[Fraction, ...]) -> Fraction:
    """Pr(no success) by integration over -ln(u_1 .. u_i), written out for three positions:
    with m_i = max(h_i, ..) and s_i = -ln m_i the arrivals T_1 < T_2 < T_3 all come before s_i."""
    with localcontext() as context:
        context.prec = 60
        m = [max(thresholds[i:]) for i in range(3)]
        assert all(m)
        a, b, _ = (-(Decimal(v.numerator) / Decimal(v.denominator)).ln() for v in m)
        # Pr(N(a) >= 1, N(b) >= 2, N(c) >= 3) = 1 - e^-a - a e^-b - (a b - a^2/2) e^-c
        exponents = [Decimal(v.numerator) / Decimal(v.denominator) for v in m]
        found = 1 - exponents[0] - a * exponents[1] - (a * b - a * a / 2) * exponents[2]
    return Fraction(found)


@given(st.tuples(*[st.sampled_from([Fraction(n, 12) for n in range(1, 13)])] * 3))
def test_products_of_three_uniforms_against_the_integral(h: tuple[Fraction, ...]) -> None:
    found = stops_under_products(h)
    assert sum(found.chances) == 1
    assert abs(found.chances[0] - _fine(h)) < Fraction(1, 10**40)


@given(st.lists(_HEIGHTS, min_size=1, max_size=4))
def test_products_of_uniforms(heights: list[Fraction]) -> None:
    found = stops_under_products(tuple(heights))
    assert sum(found.chances) == 1
    assert all(chance >= 0 for chance in found.chances)
    assert found.error < Fraction(1, 10**40)
    if len(heights) <= 2:
        twin = oracle.heads(heights, "product")
        pairs = zip(found.chances, twin, strict=True)
        assert all(abs(a - b) <= found.error + Fraction(1, 10**50) for a, b in pairs)
    for index, (height, after) in enumerate(pairwise([*heights, ZERO]), start=1):
        if height <= after:
            assert found.chances[index] == 0, "a success there is followed by another"


@given(st.lists(st.tuples(_HEIGHTS, st.integers(-3, 3)), min_size=1, max_size=4))
def test_thresholds_that_were_rounded_leave_the_stops_that_open(
    drawn: list[tuple[Fraction, int]],
) -> None:
    """Real thresholds within the error of the represented ones are within the error said."""
    unit = Fraction(1, 10**15)
    rounded = tuple(Bounded(height, 3 * unit) for height, _ in drawn)
    real = tuple(min(max(height + off * unit, ZERO), ONE) for height, off in drawn)
    found, exactly = stops_under_products(rounded), stops_under_products(real)
    assert sum(found.chances) == 1
    assert found.error < Fraction(1, 10**11)
    pairs = zip(found.chances, exactly.chances, strict=True)
    assert all(abs(a - b) <= found.error + exactly.error for a, b in pairs)


@pytest.mark.parametrize(
    ("edge", "kept"), [("1.03972", 1), ("1.03973", 0), (f"{1.5 * math.log(2):.17f}", None)]
)
def test_a_gate_on_rounded_rows(edge: str, kept: int | None) -> None:
    """Entropy 3/2 ln 2 = 1.0397207.. of a row whose weights were rounded: decided, or left open."""
    soft = bounded(row("1/2", "1/4", "1/4"), Fraction(1, 2**50))
    models = constant(soft, row("0", "1", "0"), 1)
    if kept is None:
        with pytest.raises(OpenComparisonError):
            one_by_one(f"window:0:entropy={edge}", models, 1)
        return
    (outcome,) = one_by_one(f"window:0:entropy={edge}", models, 1)
    assert len(outcome.accepted) == kept


def test_rational_cases_of_a_product_are_exact() -> None:
    """No logarithm remains with one position, or with thresholds 0 and 1."""
    assert stops_under_products((Fraction(1, 3),)).chances == (Fraction(2, 3), Fraction(1, 3))
    assert stops_under_products((ONE, ZERO)).chances == (ZERO, ONE, ZERO)
    assert stops_under_products((ZERO, ZERO, ZERO)).chances == (ONE, ZERO, ZERO, ZERO)
    assert stops_under_products((ONE, Fraction(1, 2))).error > 0
    assert stops_under_products((Fraction(1, 3), ONE)).error == 0


def test_thresholds_that_nearly_agree_need_more_digits() -> None:
    near = Fraction(1, 2) + Fraction(1, 10**45)
    found = stops_under_products((near, Fraction(1, 2)))
    assert sum(found.chances) == 1
    assert min(found.chances) >= 0
    far = stops_under_products((Fraction(1, 10**90), Fraction(1, 10**100), Fraction(1, 10**101)))
    assert 1 - far.chances[0] < Fraction(1, 10**40)


# ---- the window ------------------------------------------------------------------------------

WINDOWS = {
    "WIN-1": ([1, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], 6),
    "WIN-2": ([1, 0, 1, 0, 1, 1], [1, 1, 1, 1, 1, 1], 1),
    "WIN-3": ([1, 0, 1, 1, 1, 1], [1, 0, 1, 1, 1, 1], 1),
    "WIN-5": ([0, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1], 0),
}


def bits(values: Iterable[int]) -> list[bool]:
    return [bool(value) for value in values]


@pytest.mark.parametrize("name", WINDOWS)
def test_window_vectors(name: str) -> None:
    match, gate, expected = WINDOWS[name]
    assert window_length(bits(match), bits(gate), 3, incomplete=True) == expected


def test_every_short_pattern_of_a_window() -> None:
    """In gap form: a mismatch is kept iff its gate is open and the next mismatch is more than W
    away, the end of the draft counting as one where incomplete windows are rejected."""
    for size, window in product(range(6), range(4)):
        for match, gate in product(product((False, True), repeat=size), repeat=2):
            for incomplete in (False, True):
                bad = [i for i in range(size) if not match[i]]
                ends = [*bad[1:], size if not incomplete else size + window + 1]
                kept = [gate[i] and end - i > window for i, end in zip(bad, ends, strict=False)]
                expected = bad[kept.index(False)] if False in kept else size
                assert window_length(match, gate, window, incomplete) == expected


def test_an_incomplete_window_is_an_option() -> None:
    assert window_length(bits([1, 1, 0, 1]), bits([1, 1, 1, 1]), 2, incomplete=True) == 4
    assert window_length(bits([1, 1, 0, 1]), bits([1, 1, 1, 1]), 2, incomplete=False) == 2
    assert window_length(bits([1, 1, 0]), bits([1, 1, 1]), 0, incomplete=False) == 3


@settings(max_examples=40, deadline=None)
@given(models_of_three(), st.integers(0, 2), st.booleans(), st.sampled_from(["0", "1/2", "1"]))
def test_the_window_is_the_naive_one(
    case: tuple[Models, int], window: int, incomplete: bool, entropy: str
) -> None:
    models, length = case
    verdict = "accept" if incomplete else "reject"

    def gate(law: Row) -> bool:
        with localcontext() as context:
            context.prec = 40
            found = sum((-Decimal(v.numerator) / v.denominator
                         * (Decimal(v.numerator) / v.denominator).ln() for v in law if v),
                        Decimal(0))  # fmt: skip
        return not Fraction(entropy) or Fraction(found) >= Fraction(entropy)

    listed = one_by_one(f"window:{window}:entropy={entropy}:incomplete={verdict}", models, length)
    twin = oracle.window(models, length, size=window, gate=gate, incomplete=incomplete)
    assert gathered(spelled(listed, 3)) == gathered(twin)
    assert all(outcome.bonus == (len(outcome.accepted) == length) for outcome in listed)


def test_the_gate_counts_the_largest_entries_only() -> None:
    """Entropy of (1/2, 1/4, 1/4) is 3/2 ln 2 = 1.0397; of its two largest, ln 2 = 0.6931."""
    models = constant(row("1/2", "1/4", "1/4"), row("0", "1", "0"), 2)
    for option, kept in (
        ("entropy=1.0397", 1), ("entropy=1.0398", 0),
        ("entropy=0.6931:top=2", 1), ("entropy=0.6932:top=2", 0), ("entropy=0.6932:top=3", 1),
    ):  # fmt: skip
        (outcome,) = one_by_one(f"window:0:{option}", models, 1)
        assert len(outcome.accepted) == kept, option


def test_greedy_decoding_comes_out_where_nothing_is_forgiven() -> None:
    greedy = oracle.constant(row(0, 1, 0), 3)
    soft = oracle.constant(row("1/4", "1/2", "1/4"), 3)
    draft = oracle.constant(row("1/3", "1/3", "1/3"), 3)
    models = oracle.pair(greedy, draft, accept_target=soft)
    strict = step_of("window:1:entropy=2", models, 3)
    assert strict.law == strict.reference
    loose = step_of("window:1:entropy=1", models, 3)
    assert loose.total_variation > 0
    assert loose.expected_accepted > strict.expected_accepted


# ---- what is refused, and what is left open --------------------------------------------------


@pytest.mark.parametrize("text", ["token-chain", "block", "window:1:entropy=1"])
def test_a_tree_is_refused(text: str) -> None:
    rule, use = read_joint_rule(text)
    table = Table.of(constant(*EXPOSING, 2))
    tree = DraftTree.levels([2, 1])
    with pytest.raises(SettingsError, match="a chain of draft tokens") as caught:
        list(rule.outcomes(protocol.Drafted(tree, (0, 1, 0, 0)), table, use))
    assert "--draft-length" in str(caught.value)
    assert rule.check is not None
    with pytest.raises(SettingsError, match="a chain of draft tokens"):
        rule.check(tree, table, use)


@pytest.mark.parametrize("text", ["token-chain", "block"])
def test_a_token_drafted_outside_the_tested_support_is_refused(text: str) -> None:
    models = constant(
        row("1/2", "1/4", "1/4"), row("1/2", "1/2", "0"), 2,
        accept_draft=oracle.constant(row("1", "0", "0"), 2),
    )  # fmt: skip
    with pytest.raises(SettingsError, match="token 1 is drafted after the prefix"):
        one_by_one(text, models, 2)


EMPTIED = constant(
    row("1/2", "1/4", "1/4"), row("1/4", "1/2", "1/4"), 1,
    residual_target=oracle.constant(row("1/4", "1/2", "1/4"), 1),
)  # fmt: skip
"""1/4 is rejected, and nothing is left of residual_target - residual_draft."""


@pytest.mark.parametrize("text", ["token-chain", "block"])
@pytest.mark.parametrize(
    ("choice", "then"),
    [("first", 0), ("last", 2), ("target", row("1/4", "1/2", "1/4")), ("nothing", None)],
)
def test_an_empty_residual_is_followed_by_what_the_engine_does(
    text: str, choice: str, then: int | Row | None
) -> None:
    for route in (one_by_one, walked)[: 1 + (text == "block")]:
        (left,) = [o for o in route(f"{text}:empty={choice}", EMPTIED, 1) if not o.bonus]
        assert (left.mass, left.then, left.unnamed) == (Fraction(1, 4), then, False)
        (left,) = [o for o in route(text, EMPTIED, 1) if not o.bonus]
        assert (left.mass, left.then, left.unnamed) == (Fraction(1, 4), None, True)


def test_no_draft_token_at_all() -> None:
    models = constant(*EXPOSING, 0)
    for text in ("token-chain", "block", "window:1:entropy=1"):
        (outcome,) = one_by_one(text, models, 0)
        assert (outcome.mass, outcome.accepted, outcome.bonus) == (1, (), True)
    (outcome,) = walked("block", models, 0)
    assert (outcome.mass, outcome.accepted, outcome.bonus) == (1, (), True)


def test_rules_are_read_by_name() -> None:
    assert read_joint_rule("token_chain")[1].text == "token-chain"
    assert read_joint_rule("block:coins=independent")[1].text == "block"
    assert read_joint_rule("block:coins=shared:residual=token")[1].text == (
        "block:coins=shared:residual=token"
    )
    assert is_joint("block:coins=nonsense")
    assert not is_joint("token")
    with pytest.raises(SettingsError, match="did you mean 'block'"):
        joint_rule_named("blokc")
    with pytest.raises(SettingsError, match="is not a choice"):
        read_joint_rule("block:coins=two")
    with pytest.raises(SettingsError, match="needs the option 'entropy'"):
        read_joint_rule("window:3")
    with pytest.raises(SettingsError, match="at least 0"):
        read_joint_rule("window:-1:entropy=1")


def test_only_rows_that_matter_are_asked_for() -> None:
    """A row behind the last draft token is asked of `bonus_from` only."""
    models: Model = oracle.constant(EXPOSING[0], 2)
    table = Table.of(oracle.pair(models, oracle.constant(EXPOSING[1], 1)))
    rule, use = read_joint_rule("block")
    list(rule.outcomes(protocol.Drafted(DraftTree.chain(2), (2, 1)), table, use))
    assert {role for role, prefix in table.asked if len(prefix) == 2} == {Role.BONUS_FROM}
