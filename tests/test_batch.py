"""Batches: one schedule for several requests, jointly and one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracle_batch, oracle_joint
from tests.cli import run
from tests.length_captures import (
    Prefix,
    batch,
    chain,
    checked,
    idents,
    number,
    profile,
    refused,
    row,
)
from tests.oracle_batch import ONE, ZERO, Policy, Request
from tests.strategies import full_rows, rows

HALF = Fraction(1, 2)
P, Q = row("7/10", "3/10"), row("1/2", "1/2")
A1 = Fraction(4, 5)
DIP = dict(zip(range(2, 7), row(1, "3/5", "11/20", "27/50", "53/100"), strict=True))
SMOOTH = dict(zip(range(2, 7), row(1, "4/5", "3/4", "16/25", "3/5"), strict=True))


def confidences(after_0: str) -> dict[Prefix, Fraction]:
    return {(): A1, (0,): Fraction(after_0), (1,): ZERO}


def compare(
    folder: Path, document: dict[str, Any], requests: list[Request], policy: Policy, horizon: int
) -> dict[str, Any]:
    """Every figure of a batch against the naive enumeration."""
    found = checked(folder, document, "--horizon", horizon)
    expected = oracle_batch.batch(requests, policy, horizon)
    joint = found["joint"]
    assert number(joint["total_variation"]) == expected.joint
    assert found["verdict"] == ("different" if expected.joint else "equal")
    lines = joint["requests"]
    assert [number(line["total_variation"]) for line in lines] == expected.alone
    assert [number(line["expected_accepted"]) for line in lines] == expected.accepted
    assert [line["verdict"] for line in lines] == [
        "different" if alone else "equal" for alone in expected.alone
    ]
    assert number(joint["expected_accepted"]) == sum(expected.accepted)
    assert number(joint["expected_tokens"]) == sum(expected.accepted) + len(requests)
    lengths = [number(value) for value in joint["accepted_length"]]
    assert sum(lengths) == 1
    assert sum(i * mass for i, mass in enumerate(lengths)) == sum(expected.accepted)
    for r in range(len(requests)):
        assert profile(found, r) == oracle_batch.profile(requests, policy, r)
    if expected.joint:
        assert idents(found) == ["anticipating-length-rule"]
    else:
        assert idents(found) == []
    return found


# ---- handed numbers --------------------------------------------------------------------------

SCH_3: list[tuple[str, str, dict[int, Fraction], int, str]] = [
    ("scheduler:fixed:budget=1", "9/10", {}, 1, "0"),
    ("scheduler:fixed:budget=2", "9/10", {}, 1, "0"),
    ("scheduler:fixed:budget=3", "9/10", {}, 1, "0"),
    ("scheduler:global", "9/10", DIP, 1, "33/400"),
    ("scheduler:early-stop", "9/10", DIP, 1, "0"),
    ("scheduler:early-stop", "9/10", SMOOTH, 3, "0"),
    ("scheduler:global", "9/10", SMOOTH, 3, "0"),
    ("scheduler:fixed:budget=1:ties=position-first", "1", {}, 1, "0"),
    ("scheduler:fixed:budget=1:ties=reverse", "1", {}, 1, "21/200"),
    ("scheduler:fixed:budget=2:ties=position-first", "1", {}, 1, "0"),
    ("scheduler:fixed:budget=2:ties=reverse", "1", {}, 1, "3/40"),
]


def of_rule(rule: str, cs: list[dict[Prefix, Fraction]], speed: dict[int, Fraction]) -> Policy:
    name, *options = rule.removeprefix("scheduler:").split(":")
    given_ = dict(option.split("=") for option in options)
    return oracle_batch.scheduler(
        cs,
        speed,
        name,
        budget=int(given_.get("budget", 0)),
        ties=given_.get("ties", "position-first"),
        equal=given_.get("equal", "fewer"),
    )


@pytest.mark.parametrize(("rule", "after_0", "speed", "horizon", "expected"), SCH_3, ids=str)
def test_sch_3(
    rule: str, after_0: str, speed: dict[int, Fraction], horizon: int, expected: str, tmp_path: Path
) -> None:
    requests = [chain(P, Q, 2)] * 2
    cs = [confidences(after_0)] * 2
    document = batch(requests, {"rule": rule, "throughput": speed}, cs)
    found = compare(tmp_path, document, requests, of_rule(rule, cs, speed), horizon)
    assert number(found["joint"]["total_variation"]) == Fraction(expected)
    assert found["joint"]["admission"]["constant"] is (expected == "0")
    if expected != "0":
        better = found["joint"]["correction"]
        assert number(better["total_variation"]) == 0
        option, text = better["options"].split()
        again = checked(tmp_path, document, "--horizon", horizon, option, text, code=0)
        assert number(again["joint"]["expected_accepted"]) == number(better["expected_accepted"])


def test_sch_3_reverse_ties_are_corrected_by_position_first(tmp_path: Path) -> None:
    requests, cs = [chain(P, Q, 2)] * 2, [confidences("1")] * 2
    document = batch(requests, "scheduler:fixed:budget=2:ties=reverse", cs)
    found = checked(tmp_path, document, "--horizon", 1, code=1)
    assert found["joint"]["correction"]["options"] == "--length scheduler:fixed:budget=2"
    first, second = found["joint"]["requests"]
    assert (first["verdict"], second["verdict"]) == ("equal", "different")


def test_sch_own_1(tmp_path: Path) -> None:
    requests = [chain(row("1/2", "1/2"), row("9/10", "1/10"), 1)] * 2
    rule = "scheduler:fixed:budget=1:scores=own-probability"
    scores = [lambda z, x, r=r: r.draft[z][x] for r in requests]
    policy = oracle_batch.scheduler([], {}, "fixed", budget=1, scores=scores)
    found = compare(tmp_path, batch(requests, rule), requests, policy, 1)
    assert number(found["joint"]["total_variation"]) == Fraction(9, 200)
    laws = [[number(t["output"]) for t in place["tokens"]] for place in found["joint"]["marginals"]]
    assert laws == [list(row("109/200", "91/200")), list(row("101/200", "99/200"))]
    witness = found["joint"]["admission"]["witness"]
    assert (witness["request"], witness["prefix"]) == (0, [1])
    assert number(witness["probability"]) == Fraction(1, 10)
    both = checked(tmp_path, batch(requests, "fixed:1"), "--horizon", 1, code=0)
    assert number(both["joint"]["total_variation"]) == 0


def test_each_request_is_exact_and_both_together_are_not(tmp_path: Path) -> None:
    """Verify r iff the other drafted token 0: the joint law needs one order of revealing."""
    requests = [chain(P, Q, 1)] * 2
    table = {f"{x}|{y}": [int(y == 0), int(x == 0)] for x in range(2) for y in range(2)}

    def policy(blocks: tuple[Prefix, ...]) -> dict[tuple[int, ...], Fraction]:
        (x,), (y,) = blocks
        return {(int(y == 0), int(x == 0)): ONE}

    found = compare(tmp_path, batch(requests, {"blocks": table}), requests, policy, 1)
    joint = found["joint"]
    assert number(joint["total_variation"]) == Fraction(9, 200)
    assert [line["verdict"] for line in joint["requests"]] == ["equal", "equal"]
    assert joint["admission"]["revealed"] == [[0], []]
    assert joint["admission"]["witness"]["request"] == 1
    assert any("only together" in note for note in found["findings"][0]["notes"])
    one_way = {f"{x}|{y}": [1, int(x == 0)] for x in range(2) for y in range(2)}
    found = checked(tmp_path, batch(requests, {"blocks": one_way}), code=0)
    assert found["joint"]["admission"]["constant"] is True


# ---- random batches --------------------------------------------------------------------------


@st.composite
def small_requests(draw: st.DrawFn, length: int, size: int, full: bool) -> Request:
    some = full_rows(size) if full else rows(size)
    target = {z: tuple(draw(some)) for z in oracle_joint.prefixes(size, 2)}
    draft = {z: tuple(draw(some)) for z in oracle_joint.prefixes(size, length - 1)}
    return Request(target, draft, length)


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_schedulers_against_the_enumeration(tmp_path_factory: Any, data: st.DataObject) -> None:
    requests = [data.draw(small_requests(2, 3, False)), data.draw(small_requests(1, 3, False))]
    shares = st.sampled_from([ZERO, HALF, A1, ONE])
    cs = [{z: data.draw(shares) for z in oracle_joint.prefixes(3, 1)} for _ in requests]
    speeds = st.sampled_from([ONE, A1, Fraction(3, 5), HALF])
    speed = {n: data.draw(speeds) for n in range(2, 6)}
    rules = [
        "scheduler:global",
        "scheduler:global:equal=more:ties=reverse",
        "scheduler:early-stop",
        "scheduler:fixed:budget=1:ties=reverse",
        "scheduler:fixed:budget=2:ties=request-first",
    ]
    rule = data.draw(st.sampled_from(rules))
    document = batch(requests, {"rule": rule, "throughput": speed}, cs)
    folder = tmp_path_factory.mktemp("batch")
    found = compare(
        folder, document, requests, of_rule(rule, cs, speed), data.draw(st.integers(1, 2))
    )
    if "reverse" not in rule and "global" not in rule:
        assert found["verdict"] == "equal"
        assert found["joint"]["admission"]["constant"] is True


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_scores_of_the_draw_or_of_the_row(tmp_path_factory: Any, data: st.DataObject) -> None:
    requests = [data.draw(small_requests(1, 3, False)), data.draw(small_requests(2, 3, False))]
    kind = data.draw(st.sampled_from(["own-probability", "top-probability"]))

    def score(request: Request) -> Any:
        if kind == "own-probability":
            return lambda z, x: request.draft[z][x]
        return lambda z, x: max(request.draft[z])

    policy = oracle_batch.scheduler([], {}, "fixed", budget=1, scores=[score(r) for r in requests])
    rule = f"scheduler:fixed:budget=1:scores={kind}"
    folder = tmp_path_factory.mktemp("scores")
    found = compare(folder, batch(requests, rule), requests, policy, 1)
    if kind == "top-probability":
        assert found["verdict"] == "equal"


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_tables_and_the_order_of_revealing(
    tmp_path_factory: Any, data: st.DataObject
) -> None:
    """An order of revealing proves the joint law; profiles without dependence prove each request
    (with full support: iff)."""
    requests = [data.draw(small_requests(1, 3, True)), data.draw(small_requests(1, 2, True))]
    kind = data.draw(st.sampled_from(["any", "other", "first", "own"]))
    known: dict[Any, dict[tuple[int, ...], Fraction]] = {}
    table = {}
    for x, y in product(range(3), range(2)):
        seen = {"any": (x, y), "other": ("other", x, y), "first": (x,), "own": (y,)}[kind]
        if seen not in known:
            weights = data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
            weights[data.draw(st.integers(0, 3))] += 1
            pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
            mass = sum(weights)
            known[seen] = {p: Fraction(w, mass) for p, w in zip(pairs, weights, strict=True) if w}
        table[(x,), (y,)] = known[seen]
    written = {
        f"{x}|{y}": {f"{a},{b}": mass for (a, b), mass in law.items()}
        for ((x,), (y,)), law in table.items()
    }
    folder = tmp_path_factory.mktemp("tables")
    document = batch(requests, {"blocks": written})
    found = compare(folder, document, requests, lambda blocks: table[blocks], 1)  # type: ignore[index]
    joint = found["joint"]
    if joint["admission"]["constant"]:
        assert found["verdict"] == "equal"
    for r, line in enumerate(joint["requests"]):
        ahead = oracle_batch.looks_ahead(profile(found, r))
        assert (line["verdict"] == "different") is ahead


def test_requests_of_different_vocabularies_and_lengths(tmp_path: Path) -> None:
    three = chain(row("1/2", "3/10", "1/5"), row("1/5", "3/10", "1/2"), 2)
    requests = [chain(P, Q, 1), three]
    cs = [{(): A1}, dict.fromkeys(oracle_joint.prefixes(3, 1), HALF)]
    document = batch(requests, "scheduler:fixed:budget=2", cs)
    policy = oracle_batch.scheduler(cs, {}, "fixed", budget=2)
    found = compare(tmp_path, document, requests, policy, 2)
    assert found["joint"]["vocab_size"] == 3
    assert {len(line["tokens"]) for line in found["joint"]["sequences"]} == {4}


def test_one_request_is_the_step_by_itself(tmp_path: Path) -> None:
    """A batch of one is the length rule of one step."""
    request, cs = chain(P, Q, 2), confidences("9/10")
    speed = {1: ONE, 2: HALF, 3: Fraction(9, 20)}
    document = batch([request], {"rule": "scheduler:global", "throughput": speed}, [cs])
    policy = oracle_batch.scheduler([cs], speed, "global")
    found = compare(tmp_path, document, [request], policy, 3)
    assert number(found["joint"]["total_variation"]) == Fraction(3, 20)
    assert number(found["joint"]["expected_accepted"]) == Fraction(9, 10)


def test_a_stale_budget_is_lossless_and_a_current_one_is_not(tmp_path: Path) -> None:
    """The budget of SCH-3 from scores of the step before: a fixed number."""
    requests, cs = [chain(P, Q, 2)] * 2, [confidences("9/10")] * 2
    previous = [[A1, Fraction(18, 25)]] * 2
    schedule = {"rule": "scheduler:stale", "throughput": DIP, "previous": previous}
    best = max(
        range(5),
        key=lambda m: ((2 + sum(sorted([*previous[0], *previous[1]])[4 - m :])) * DIP[2 + m], -m),
    )
    policy = oracle_batch.scheduler(cs, {}, "fixed", budget=best)
    compare(tmp_path, batch(requests, schedule, cs), requests, policy, 1)
    assert best > 0


def test_the_other_rules_of_a_request(tmp_path: Path) -> None:
    """A rule over blocks, a lossy rule and a wrong role inside a batch."""
    requests = [chain(P, Q, 2)] * 2
    cs = [confidences("9/10")] * 2
    document = batch(requests, "scheduler:fixed:budget=2", cs)
    block = checked(tmp_path, document, "--rule", "block", "--horizon", 1, code=0)
    token = checked(tmp_path, document, "--rule", "token-chain", "--horizon", 1, code=0)
    plain = checked(tmp_path, document, "--horizon", 1, code=0)
    assert number(token["joint"]["expected_accepted"]) == number(
        plain["joint"]["expected_accepted"]
    )
    assert number(block["joint"]["expected_accepted"]) >= number(
        plain["joint"]["expected_accepted"]
    )
    lossy = checked(tmp_path, document, "--rule", "lenience:1/2", "--horizon", 1, code=1)
    assert idents(lossy) == ["lossy-by-design"]
    wrong = checked(
        tmp_path, document, "--role", "residual_draft=temperature:0", "--horizon", 1, code=1
    )
    assert idents(wrong) == ["near-cut", "output-mismatch"]
    assert any("with every draft token verified too" in n for n in wrong["findings"][1]["notes"])


def test_allowed_and_tolerated(tmp_path: Path) -> None:
    requests, cs = [chain(P, Q, 2)] * 2, [confidences("1")] * 2
    document = batch(requests, "scheduler:fixed:budget=2:ties=reverse", cs)
    found = checked(tmp_path, document, "--horizon", 1, "--max-tv", "1/10", code=0)
    assert found["verdict"] == "within-tolerance"
    allowed = ("--allow", "anticipating-length-rule")
    found = checked(tmp_path, document, "--horizon", 1, *allowed, code=0)
    assert found["verdict"] == "different"


def test_rounded_rows_leave_a_batch_open_unless_its_schedule_proves_it(tmp_path: Path) -> None:
    requests, cs = [chain(P, Q, 1)] * 2, [{(): A1}] * 2
    rounded = ("--temperature", "4/5", "--horizon", 1)
    document = batch(requests, "scheduler:fixed:budget=1:ties=reverse", cs)
    found = checked(tmp_path, document, *rounded, code=4)
    assert idents(found) == ["undecided-precision"]
    assert found["verdict"] == "undecided"
    found = checked(tmp_path, batch(requests, "scheduler:fixed:budget=1", cs), *rounded, code=0)
    assert found["verdict"] == "equal"
    wrong = ("--role", "accept_draft=top-k:1", *rounded)
    found = checked(tmp_path, batch(requests, "scheduler:fixed:budget=1", cs), *wrong)
    assert found["verdict"] != "equal"


# ---- refusals --------------------------------------------------------------------------------


def two(schedule: Any, *cs: dict[Any, Any], **more: Any) -> dict[str, Any]:
    requests = [chain(P, Q, 2)] * 2
    return {**batch(requests, schedule, cs or [confidences("9/10")] * 2), **more}


def without(document: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


def with_request(index: int, **more: Any) -> dict[str, Any]:
    document = two("scheduler:fixed:budget=1")
    document["requests"][index] = {**document["requests"][index], **more}
    return document


BAD: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (without(two("fixed:1"), "schedule"), ("requests without a schedule", '"schedule"')),
    (two("fixed:1", requests=[]), ("requests cannot be an empty list",)),
    (two("fixed:1", requests={}), ("requests cannot be an object",)),
    (two("fixed:1", models={}), ("unknown key 'models'", "inside the requests")),
    (two({"confidence": {"": 1}}), ("confidence and profile belong to a request",)),
    (two("scheduler:fixed:budget=5"), ("budget is out of range, 4 tokens", "schedule")),
    (two({"rule": "scheduler:global", "throughput": {"2": 1}}), ("a batch of 3 tokens",)),
    (
        two("scheduler:fixed:budget=1", confidences("1"), {(): ONE, (0,): ONE}),
        ('no confidence for the prefix "1"', "requests[1].confidence"),
    ),
    (with_request(1, confidence={"": "3/2"}), ("probability of 3/2", "requests[1].confidence")),
    (with_request(0, length="fixed:1"), ("a length rule of its own", "requests[0].length")),
    (with_request(0, draft_length=0), ("requests[0].draft_length",)),
    (two({"blocks": {"0,0": [1]}}), ("the drafted tokens of 1 request", "those of 2")),
    (two({"blocks": {"0,0|0,0": [1]}}), ("1 length", "2, one for each request")),
    (two({"blocks": {"0|0": [1, 0]}}), ("no length for the drafted tokens",)),
    (two({"blocks": {"0|0": {"1,1": "1/2", "0,0": "1/4"}}}), ("sum to 3/4",)),
    (two("scheduler:stale"), ("scores of the step before do not fit", "2 and 2 of them")),
]  # fmt: skip


@pytest.mark.parametrize(("document", "said"), BAD, ids=lambda value: str(value)[-60:])
def test_bad_input_is_refused_with_its_place(
    document: dict[str, Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    told = refused(tmp_path, document)
    for words in (*said, "capture.json"):
        assert words in told, told


def test_a_tree_and_a_keep_rule_have_no_place_in_a_batch(tmp_path: Path) -> None:
    document = two("scheduler:fixed:budget=1")
    assert "keep rule and the schedule" in refused(tmp_path, document, "--keep", "share:1/2")
    assert "cuts chains" in refused(tmp_path, document, "--tree", "2", "--rule", "rrs")


def test_a_batch_that_is_too_large_says_what_fits(tmp_path: Path) -> None:
    document = two("scheduler:fixed:budget=1")
    told = refused(tmp_path, document, "--max-outcomes", 20)
    assert "up to 64 outcomes" in told
    assert "--horizon 2 lists 16 outputs" in told
    assert checked(tmp_path, document, "--max-outcomes", 20, "--horizon", 2, code=0)
    told = refused(tmp_path, document, "--max-outcomes", 8, "--horizon", 1)
    assert "draft length 1 lists 4 draftings" in told


def test_the_terminal_report_makes_two_statements(tmp_path: Path) -> None:
    import json

    place = tmp_path / "batch.json"
    place.write_text(
        json.dumps(two("scheduler:fixed:budget=2:ties=reverse", *[confidences("1")] * 2))
    )
    done = run("check", place, "--horizon", 1)
    assert done.code == 1
    text = " ".join(done.stdout.split())
    assert "each request by itself: request 0 equal" in text
    assert "all requests jointly: different, total variation 3/40" in text
    assert "length scheduler:fixed:budget=2:ties=reverse" in text
    assert "corrected with --length scheduler:fixed:budget=2" in text
    lines = [line for line in done.stdout.splitlines() if str(place) not in line]
    assert max(map(len, lines)) <= 80
