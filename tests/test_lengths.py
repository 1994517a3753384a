"""Length rules over one drafted chain: handed numbers, the naive enumeration, the theorem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.rules.keep_rules import KEEP_RULES
from specdist.rules.lengths.registry import LENGTH_RULES, read_length_rule
from specdist.verify.joint.admission import keep_row
from tests import oracle_batch, oracle_joint
from tests.length_captures import (
    Prefix,
    chain,
    checked,
    idents,
    number,
    profile,
    refused,
    row,
    step,
)
from tests.oracle_batch import ONE, ZERO, Policy, Request, leading
from tests.strategies import full_rows, rows
from tests.vectors import load

HALF = Fraction(1, 2)
Block = Callable[[tuple[Prefix, ...]], Mapping[tuple[int, ...], Fraction]]


def compare(
    folder: Path, request: Request, length: Any, policy: Policy, *options: object, horizon: int
) -> dict[str, Any]:
    """Every figure of a step against the naive enumeration."""
    found = checked(folder, step(request, length=length), "--horizon", horizon, *options)
    expected = oracle_batch.batch([request], policy, horizon)
    joint = found["joint"]
    assert number(joint["total_variation"]) == expected.joint
    assert number(joint["expected_accepted"]) == expected.accepted[0]
    assert found["verdict"] == ("different" if expected.joint else "equal")
    assert profile(found) == oracle_batch.profile([request], policy, 0)
    ahead = oracle_batch.looks_ahead(profile(found))
    assert joint["admission"]["constant"] is not ahead
    assert (joint["admission"]["witness"] is not None) is ahead
    if expected.joint:
        assert idents(found)[0] == "anticipating-length-rule"
        assert number(joint["correction"]["total_variation"]) == 0
    else:
        assert "anticipating-length-rule" not in idents(found)
    return found


# ---- handed numbers --------------------------------------------------------------------------

P1, Q1 = row("7/10", "3/10"), row("1/2", "1/2")
C1 = {(): Fraction(4, 5), (0,): Fraction(9, 10), (1,): ZERO}


def vector(ident: str) -> dict[str, Any]:
    (found,) = [entry for entry in load(ident.split("-")[0]) if entry["id"] == ident]
    return found


@pytest.mark.parametrize(
    ("rule", "name", "search", "budget"),
    [
        ("scheduler:global", "global_search", "global", 0),
        ("scheduler:early-stop", "early_stop", "early-stop", 0),
        ("scheduler:fixed:budget=2", "fixed_budget_2", "fixed", 2),
    ],
)
def test_sch_1(rule: str, name: str, search: str, budget: int, tmp_path: Path) -> None:
    handed = vector("SCH-1")
    speed = {int(size): value for size, value in handed["inputs"]["SPS"].items()}
    expected = handed["expected"][name]
    request = chain(P1, Q1, 2)
    length = {"rule": rule, "confidence": C1, "throughput": speed}
    policy = oracle_batch.scheduler([C1], speed, search, budget=budget)
    found = compare(tmp_path, request, length, policy, horizon=3)
    joint = found["joint"]
    assert number(joint["total_variation"]) == expected["tv_first_3_tokens"]
    assert number(joint["expected_accepted"]) == expected["E_accepted"]
    assert joint["admission"]["constant"] is expected["non_anticipating"]
    first = [number(token["output"]) for token in joint["marginals"][0]["tokens"]]
    assert first == expected["first_token_law"]
    if name == "global_search":
        assert joint["admission"]["witness"]["prefix"] == [1]
        assert joint["admission"]["against"]["prefix"] == [0]
        assert found["options"]["length"] == "scheduler:global"


P2, Q2 = row("1/2", "3/10", "1/5"), row("1/5", "3/10", "1/2")


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("stop-after:1/4", "stop_after_keep_token"),
        ("drop-below:1/4", "stop_and_drop_token"),
        ("stop-before:1/4", "stop_on_top1_prob_before_draw"),
    ],
)
def test_sch_2(rule: str, name: str, tmp_path: Path) -> None:
    expected = vector("SCH-2")["expected"][name]
    found = checked(
        tmp_path,
        step(chain(P2, Q2, 2), length=rule),
        code=bool(expected["tv_first_3_tokens"] != ZERO),
    )
    joint = found["joint"]
    assert joint["horizon"] == 3
    assert number(joint["total_variation"]) == expected["tv_first_3_tokens"]
    assert number(joint["expected_accepted"]) == expected["E_accepted"]
    assert joint["admission"]["constant"] is expected["non_anticipating"]


@pytest.mark.parametrize("handed", load("PRN"), ids=lambda v: v["id"])
def test_a_dropped_token_of_one_position(handed: dict[str, Any], tmp_path: Path) -> None:
    """Keep probabilities as a profile of one draft token; the target follows a dropped one."""
    given_, expected = handed["inputs"], handed["expected"]
    if "keep" not in given_:
        pytest.skip("another kind of rule")
    request = chain(given_["p"], given_["q"], 1)
    table = {(x,): Fraction(k) for x, k in enumerate(given_["keep"])}
    policy = leading(lambda z, x: Fraction(given_["keep"][x]))
    found = compare(tmp_path, request, {"profile": table}, policy, horizon=1)
    law = [number(token["output"]) for token in found["joint"]["marginals"][0]["tokens"]]
    assert law == expected.get("law_drop_then_target", expected.get("law"))
    if "accept_rate_corrected" in expected and found["verdict"] == "different":
        better = number(found["joint"]["correction"]["expected_accepted"])
        assert better == expected["accept_rate_corrected"]
        assert better >= number(found["joint"]["expected_accepted"])


def test_an_uneven_profile_without_full_support_is_no_accusation(tmp_path: Path) -> None:
    """PRN-SUPPORT: the verdict comes from the enumeration, and the witness stays a suspicion."""
    length = {"profile": {"0": 1, "1": 1, "2": 0}}
    lucky = chain(row("1/2", "1/2", 0), row("1/4", "1/4", "1/2"), 1)
    found = checked(tmp_path, step(lucky, length=length), code=0)
    assert found["verdict"] == "equal"
    assert found["joint"]["admission"]["constant"] is False
    assert "anticipating-length-rule" not in idents(found)
    unlucky = chain(row("1/2", "1/2", 0), row("1/4", "1/2", "1/4"), 1)
    found = checked(tmp_path, step(unlucky, length=length), code=1)
    assert number(found["joint"]["total_variation"]) == Fraction(1, 8)
    assert idents(found)[0] == "anticipating-length-rule"


B28_P, B28_Q = row("1/2", "3/10", "1/5"), row("2/5", "2/5", "1/5")


def test_b28_a_low_token_is_thrown_away(tmp_path: Path) -> None:
    found = checked(tmp_path, step(chain(B28_P, B28_Q, 1), length="drop-below:3/10"), code=1)
    joint = found["joint"]
    law = [number(token["output"]) for token in joint["marginals"][0]["tokens"]]
    assert law == list(row("3/5", "9/25", "1/25"))
    assert number(joint["total_variation"]) == Fraction(4, 25)
    assert number(joint["expected_accepted"]) == Fraction(7, 10)
    greedy = {**step(chain(B28_P, B28_Q, 1), length="drop-below:3/10"), "siblings": "top"}
    options = ("--role", "accept_draft=one-hot", "--role", "residual_draft=one-hot")
    found = checked(tmp_path, greedy, *options, code=0)
    assert number(found["joint"]["expected_accepted"]) == HALF


def markov(first: str, after: list[str], depth: int) -> dict[Prefix, tuple[Fraction, ...]]:
    laws = [row(*text.split()) for text in (first, *after)]
    return {z: laws[z[-1] + 1 if z else 0] for z in oracle_joint.prefixes(3, depth)}


B29 = Request(
    markov("1/2 3/10 1/5", ["1/4 1/4 1/2", "3/5 1/5 1/5", "1/3 1/3 1/3"], 3),
    markov("2/5 2/5 1/5", ["1/2 1/4 1/4", "2/5 2/5 1/5", "1/2 1/4 1/4"], 2),
    2,
)


def test_b29_keep_or_drop_is_one_word(tmp_path: Path) -> None:
    kept = checked(tmp_path, step(B29, length="stop-after:3/10"), code=0)["joint"]
    assert number(kept["expected_accepted"]) == Fraction(36, 25)
    law = [number(value) for value in kept["accepted_length"]]
    assert law == list(row("1/10", "9/25", "27/50"))
    dropped = checked(tmp_path, step(B29, length="drop-below:3/10"), "--horizon", 2, code=1)[
        "joint"
    ]
    assert number(dropped["total_variation"]) == Fraction(221, 1000)
    assert number(dropped["expected_accepted"]) == Fraction(49, 50)
    both = checked(tmp_path, step(B29, length="fixed:2"), code=0)["joint"]
    assert number(both["expected_accepted"]) == Fraction(241, 150)


# ---- every rule against the naive enumeration ------------------------------------------------


@st.composite
def requests(draw: st.DrawFn, length: int, full: bool = False) -> Request:
    """A random target and draft by prefix over three tokens."""
    some = full_rows(3) if full else rows(3)
    target = {z: tuple(draw(some)) for z in oracle_joint.prefixes(3, length)}
    draft = {z: tuple(draw(some)) for z in oracle_joint.prefixes(3, length - 1)}
    return Request(target, draft, length)


def own(request: Request, edge: Fraction, strict: bool = False) -> Callable[[Prefix, int], bool]:
    def keeps(z: Prefix, x: int) -> bool:
        mass = request.draft[z][x]
        return mass > edge if strict else mass >= edge

    return keeps


def written_rules(request: Request, edge: Fraction) -> dict[str, Policy]:
    """Rules as they are written, and what they do."""
    draft, drops = request.draft, own(request, edge)
    strictly = own(request, edge, strict=True)

    def after(keeps: Callable[[Prefix, int], bool]) -> Policy:
        return leading(lambda z, x: Fraction(not z or keeps(z[:-1], z[-1])))

    return {
        "fixed:1": leading(lambda z, x: Fraction(len(z) < 1)),
        f"stop-after:{edge}": after(drops),
        f"stop-after:{edge}:strict=yes": after(strictly),
        f"stop-after:{edge}:score=top-probability": after(lambda z, x: max(draft[z]) >= edge),
        f"own-probability:{edge}": leading(lambda z, x: Fraction(drops(z, x))),
        f"drop-below:{edge}:strict=yes": leading(lambda z, x: Fraction(strictly(z, x))),
        f"top-probability:{edge}": leading(lambda z, x: Fraction(max(draft[z]) >= edge)),
        f"stop-before:{edge}:strict=yes": leading(lambda z, x: Fraction(max(draft[z]) > edge)),
        f"share:{edge}": leading(lambda z, x: edge),
        f"tokens:0={edge}+2=0": leading(lambda z, x: (edge, ONE, ZERO)[x]),
        "only:0+1": leading(lambda z, x: Fraction(x < 2)),
        "draft-entropy:0": leading(lambda z, x: Fraction(max(draft[z]) == 1)),
    }


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_every_rule_against_the_enumeration(tmp_path_factory: Any, data: st.DataObject) -> None:
    request = data.draw(requests(2))
    entries = sorted({mass for law in request.draft.values() for mass in law})
    edge = data.draw(st.sampled_from([*entries, HALF, Fraction(1, 3)]))
    folder = tmp_path_factory.mktemp("rules")
    for rule, policy in written_rules(request, edge).items():
        compare(folder, request, rule, policy, horizon=data.draw(st.sampled_from([1, 2])))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_theorem_on_random_lengths(tmp_path_factory: Any, data: st.DataObject) -> None:
    """With full support the output is exact iff no admission depends on its own token; lengths
    may be random, and may look at tokens behind."""
    request = data.draw(requests(2, full=True))
    table = data.draw(length_tables(2))
    found = compare(
        tmp_path_factory.mktemp("tables"),
        request,
        {"blocks": {z: {n: m for (n,), m in law.items()} for (z,), law in table.items()}},
        lambda blocks: table[blocks],
        horizon=3 if data.draw(st.booleans()) else 2,
    )
    assert (found["verdict"] == "equal") is found["joint"]["admission"]["constant"]


@st.composite
def length_tables(
    draw: st.DrawFn, length: int
) -> dict[tuple[Prefix, ...], dict[tuple[int, ...], Fraction]]:
    """A law of the length by block; half of the time it looks at the first token only, or at the
    second one to decide about the first."""
    kind = draw(st.sampled_from(["block", "first", "last", "none"]))
    known: dict[Any, dict[tuple[int, ...], Fraction]] = {}
    found = {}
    for block in oracle_joint.product(range(3), repeat=length):
        seen = {"block": block, "first": block[:1], "last": block[-1:], "none": ()}[kind]
        if seen not in known:
            weights = draw(st.lists(st.integers(0, 2), min_size=length + 1, max_size=length + 1))
            weights[draw(st.integers(0, length))] += 1
            mass = sum(weights)
            known[seen] = {(n,): Fraction(w, mass) for n, w in enumerate(weights) if w}
        found[(block,)] = known[seen]
    return found


def test_a_length_that_looks_behind_itself_may_be_exact(tmp_path: Path) -> None:
    """Not being predictable is allowed: position 1 is verified iff the later draft is token 0."""
    table = {z: 2 if z[1] == 0 else 0 for z in oracle_joint.product(range(3), repeat=2)}
    request = chain(P2, Q2, 2)
    found = checked(tmp_path, step(request, length={"blocks": table}), code=1)
    lines = profile(found)
    assert lines[(0,)] == lines[(1,)] == lines[(2,)] == Fraction(1, 5)
    assert found["joint"]["admission"]["witness"]["prefix"] == [0, 1]
    short = {z: 1 if z[1] == 0 else 0 for z in oracle_joint.product(range(3), repeat=2)}
    found = checked(tmp_path, step(request, length={"blocks": short}), code=0)
    assert found["joint"]["admission"]["constant"] is True


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_block_verification_of_fewer_tokens(tmp_path_factory: Any, data: st.DataObject) -> None:
    """Rules over blocks are enumerated with the lengths: each draft is cut, then verified."""
    request = data.draw(requests(2, full=True))
    table = data.draw(length_tables(2))
    outcomes = []
    for block, mass in request.blocks():
        surely = {z: oracle_joint.point(block[len(z)], 3) for z in oracle_joint.prefixes(3, 1)}
        models = oracle_joint.pair(request.target, request.draft, drafted_from=surely)
        for (n,), share in table[(block,)].items():
            for outcome in oracle_joint.block(models, n):
                outcomes.append(outcome._replace(mass=mass * share * outcome.mass))
    law = oracle_joint.output_law(outcomes, request.target, 3)
    expected = oracle_joint.total_variation(law, oracle_joint.plain(request.target, 3))
    folder = tmp_path_factory.mktemp("block")
    length = {"blocks": {z: {n: m for (n,), m in law.items()} for (z,), law in table.items()}}
    joint = checked(folder, step(request, length=length), "--rule", "block")["joint"]
    assert number(joint["total_variation"]) == expected
    accepted = sum((o.mass * len(o.accepted) for o in outcomes), ZERO)
    assert number(joint["expected_accepted"]) == accepted


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_captured_confidences(tmp_path_factory: Any, data: st.DataObject) -> None:
    """confidence:T and survival:T stop before a draw: equal whatever the captured numbers are."""
    request = data.draw(requests(2))
    shares = st.sampled_from([ZERO, Fraction(1, 3), HALF, Fraction(4, 5), ONE])
    c = {z: data.draw(shares) for z in oracle_joint.prefixes(3, 1)}
    edge = data.draw(shares)
    folder = tmp_path_factory.mktemp("confidence")
    by_one = leading(lambda z, x: Fraction(c[z] >= edge))
    so_far = leading(lambda z, x: Fraction(c[()] * (c[z] if z else ONE) >= edge))
    for rule, policy in ((f"confidence:{edge}", by_one), (f"survival:{edge}", so_far)):
        length = {"rule": rule, "confidence": c}
        found = compare(folder, request, length, policy, horizon=2)
        assert found["verdict"] == "equal"


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_captured_profiles(tmp_path_factory: Any, data: st.DataObject) -> None:
    """Pr(l >= k | x_1..x_k) as captured is what is reported, and a falling profile is a coin for
    every token."""
    request = data.draw(requests(2))
    shares = st.sampled_from([ZERO, Fraction(1, 3), HALF, ONE])
    coins = {z: data.draw(shares) for z in oracle_joint.prefixes(3, 2) if z}
    table = {z: coins[z] * (coins[z[:1]] if len(z) > 1 else ONE) for z in coins}
    policy = leading(lambda z, x: coins[(*z, x)])
    folder = tmp_path_factory.mktemp("profile")
    found = compare(folder, request, {"profile": table}, policy, horizon=2)
    assert profile(found) == {z: table[z] for z in profile(found)}


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_schedulers_of_one_request(tmp_path_factory: Any, data: st.DataObject) -> None:
    request = data.draw(requests(2))
    shares = st.sampled_from([ZERO, HALF, Fraction(4, 5), Fraction(9, 10), ONE])
    c = {z: data.draw(shares) for z in oracle_joint.prefixes(3, 1)}
    speed = {n: data.draw(st.sampled_from([ONE, HALF, Fraction(9, 20)])) for n in (1, 2, 3)}
    folder = tmp_path_factory.mktemp("scheduler")
    for search, ties, equal in (
        ("global", "position-first", "fewer"),
        ("global", "reverse", "more"),
        ("early-stop", "request-first", "fewer"),
        ("fixed", "position-first", "fewer"),
    ):
        budget = ":budget=1" if search == "fixed" else ""
        rule = f"scheduler:{search}{budget}:ties={ties}:equal={equal}"
        policy = oracle_batch.scheduler([c], speed, search, budget=1, ties=ties, equal=equal)
        length = {"rule": rule, "confidence": c, "throughput": speed}
        found = compare(folder, request, length, policy, horizon=2)
        if search != "global":
            assert found["verdict"] == "equal"


def test_a_rule_over_blocks_is_corrected_by_an_earlier_decision(tmp_path: Path) -> None:
    """No effective proposal is known there; a rule that decides earlier is tried and verified."""
    request = chain(P2, Q2, 2)
    document = step(request, length="drop-below:1/4")
    better = checked(tmp_path, document, "--rule", "block", code=1)["joint"]["correction"]
    assert better["options"] == "--length stop-after:1/4"
    again = checked(tmp_path, document, "--rule", "block", *better["options"].split(), code=0)
    assert number(again["joint"]["expected_accepted"]) == number(better["expected_accepted"])
    speed = {1: ONE, 2: HALF, 3: Fraction(9, 20)}
    length = {"rule": "scheduler:global", "confidence": C1, "throughput": speed}
    document = step(chain(P1, Q1, 2), length=length)
    better = checked(tmp_path, document, "--rule", "block", code=1)["joint"]["correction"]
    assert better["options"] == "--length scheduler:fixed:budget=1"
    assert number(better["expected_accepted"]) == Fraction(4, 5)


# ---- the pieces ------------------------------------------------------------------------------


def test_a_keep_row_is_a_quotient_of_the_profile() -> None:
    profile_ = {(0,): HALF, (1,): ZERO, (0, 0): Fraction(1, 4), (0, 1): ONE, (1, 0): ZERO}
    assert keep_row(profile_, (), 3) == (HALF, ZERO, ZERO)
    assert keep_row(profile_, (0,), 3) == (HALF, Fraction(2), ZERO)
    assert keep_row(profile_, (1,), 3) == (ZERO, ZERO, ZERO)
    assert keep_row(profile_, (2,), 3) == (ZERO, ZERO, ZERO)


def test_keep_rules_keep_their_words() -> None:
    """Whoever knows --keep knows these: same name, same value, same options."""
    lengths = {rule.name: rule for rule in LENGTH_RULES}
    for rule in KEEP_RULES:
        same = lengths[rule.name]
        assert (same.metavar, same.options, same.value) == (rule.metavar, rule.options, rule.value)
        assert same.looks_at == rule.looks_at


def test_names_are_read_once() -> None:
    names = [name for rule in LENGTH_RULES for name in (rule.name, *rule.aliases)]
    assert len(names) == len(set(names))
    assert read_length_rule("drop_below:0.25")[1].text == "own-probability:1/4"
    assert read_length_rule("stop-before:1/2")[0].name == "top-probability"
    for rule in LENGTH_RULES:
        assert (rule.chances is None) is not (rule.lengths is None)


@pytest.mark.parametrize("rule", ["stop-after:1/4", "stop-before:1/2", "fixed:1", "share:1/2"])
def test_a_decision_before_the_draw_is_proven_for_rounded_rows(rule: str, tmp_path: Path) -> None:
    """Whatever the weights were rounded to: the roles and the rule alone make it lossless."""
    found = checked(tmp_path, step(chain(P2, Q2, 2), length=rule), "-T", "4/5", code=0)
    assert found["verdict"] == "equal"
    document = step(chain(P2, Q2, 2), length=rule)
    wrong = checked(tmp_path, document, "-T", "4/5", "--role", "residual_draft=top-k:1")
    assert wrong["verdict"] == "different"
    dropped = checked(tmp_path, step(chain(P2, Q2, 2), length="drop-below:1/4"), "-T", "4/5")
    assert dropped["verdict"] == "different"


# ---- bad input -------------------------------------------------------------------------------

ONE_REQUEST = chain(P1, Q1, 2)


def scheduled(**more: Any) -> dict[str, Any]:
    length = {"rule": "scheduler:global", "confidence": C1, "throughput": {1: 1, 2: 1, 3: 1}}
    return step(ONE_REQUEST, length={**length, **more})


BAD: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (scheduled(confidence={"": 1, "1": 1}), ('no confidence for the prefix "0"', "length")),
    (scheduled(confidence={"": 2}), ("a probability of 2", 'length.confidence[""]')),
    (scheduled(confidence={"": -1}), ("a probability of -1",)),
    (scheduled(confidence={"7": 1}), ('confidence["7"]', "token id 7 is outside")),
    (scheduled(confidence={"a": 1}), ("'a' is no prefix",)),
    (scheduled(throughput={1: 1, 2: 1}), ("no throughput for a batch of 3 tokens", "length")),
    (scheduled(throughput={1: 0}), ("a throughput of 0", 'throughput["1"]')),
    (scheduled(throughput={"x": 1}), ("a number of tokens cannot be x",)),
    (scheduled(rule="scheduler:fixed"), ("needs a budget", "budget=N")),
    (scheduled(rule="scheduler:fixed:budget=3"), ("the budget is out of range", "from 0 to 2")),
    (scheduled(rule="scheduler:fixed:budget=-1"), ("out of range", "whole number")),
    (scheduled(rule="scheduler:global:budget=1"), ("a budget is given", "finds its own")),
    (scheduled(rule="scheduler:stale"), ("scores of the step before do not fit", "2 of them")),
    (scheduled(rule="scheduler:stale", previous=[["1/2", "4/5"]]), ("survival scores rise",)),
    (scheduled(rule="scheduler:best"), ("scheduler=best is not a choice",)),
    (scheduled(rule="stop-aftr:1/2"), ("length=stop-aftr is unknown", "stop-after")),
    (scheduled(rule=3), ("a length rule cannot be a number", "length.rule")),
    (scheduled(speed={}), ("unknown key 'speed'",)),
    (step(ONE_REQUEST, length="stop-after:3/2"), ("stop-after=3/2 is out of range",)),
    (step(ONE_REQUEST, length="profile"), ("gives no such table", '"profile" beside the rule')),
    (step(ONE_REQUEST, length={"confidence": C1}), ("and no rule", '"rule" beside them')),
    (step(ONE_REQUEST, length={"profile": {"0": 1}}), ('profile for the prefix "1"', "length")),
    (
        step(ONE_REQUEST, length={"profile": {"0": 0, "1": "1/2", "1,0": 1, "1,1": 0}}),
        ('the prefix "1,0" is verified with probability 1, its start with 1/2', "do not rise"),
    ),
    (step(ONE_REQUEST, length={"blocks": {"0": 1}}), ('no length for the drafted tokens "1,0"',)),
    (step(ONE_REQUEST, length={"blocks": {"0,0": 3}}), ("length 3 for the drafted tokens",)),
    (step(ONE_REQUEST, length={"blocks": {"0": {"1": "1/2"}}}), ("sum to 1/2", 'blocks["0"]')),
    (step(ONE_REQUEST, length={"blocks": {"0|1": 1}}), ("the drafted tokens of 2 requests",)),
    (step(ONE_REQUEST, length=[1]), ("expected an object, not an array", "length")),
    ({**step(ONE_REQUEST, length="fixed:1"), "keep": []}, ("keep",)),
]  # fmt: skip


@pytest.mark.parametrize(("document", "said"), BAD, ids=lambda value: str(value)[-60:])
def test_bad_input_is_refused_with_its_place(
    document: dict[str, Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    told = refused(tmp_path, document)
    for words in (*said, "capture.json"):
        assert words in told, told


def test_a_length_rule_needs_a_chain_and_models(tmp_path: Path) -> None:
    tree = step(ONE_REQUEST, length="fixed:1")
    del tree["draft_length"]
    tree["tree"] = {"children": [2]}
    told = refused(tmp_path, tree, "--rule", "rrs")
    assert "a length rule cuts a chain" in told
    told = refused(
        tmp_path, {"target": ["1/2", "1/2"], "draft": ["1/2", "1/2"]}, "--length", "fixed:1"
    )
    assert "is about drafted blocks" in told
    told = refused(tmp_path, step(ONE_REQUEST, length="fixed:1"), "--keep", "share:1/2")
    assert "--length and --keep" in told


def test_the_option_wins_over_the_capture_and_keeps_its_tables(tmp_path: Path) -> None:
    document = scheduled()
    assert checked(tmp_path, document)["options"]["length"] == "scheduler:global"
    found = checked(tmp_path, document, "--length", "scheduler:global:equal=more")
    assert number(found["joint"]["expected_accepted"]) == Fraction(36, 25)
    found = checked(tmp_path, document, "--length", "confidence:1/2")
    assert found["options"]["length"] == "confidence:1/2"
    assert found["verdict"] == "equal"
