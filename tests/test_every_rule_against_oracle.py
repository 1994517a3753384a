"""Every rule, keep rule and numeric model against the naive oracle, with ``==``, on any rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from tests import oracle_rules, strategies
from tests.cli import column, exact, only_position, run
from tests.oracle_rules import Channel, Law, NoAnswerError, Numerics, Roles, correct, law

F = Fraction
Rule = Callable[[Roles], Channel]
EXAMPLES = 25


@dataclass(frozen=True)
class Written:
    """A rule as an option and as the oracle has it."""

    text: str
    rule: Rule


def _with(text: str, function: Callable[..., Channel], *arguments: Any) -> Written:
    return Written(text, lambda roles: function(roles, *arguments))


RULES = [
    _with("token", oracle_rules.token),
    _with("token:recovery=target", oracle_rules.token, "target"),
    _with("token:recovery=argmax", oracle_rules.token, "argmax"),
    _with("one-hot", oracle_rules.one_hot),
    _with("lenience:2/3", oracle_rules.lenience, F(2, 3)),
    _with("lenience:2/3:recovery=scaled", oracle_rules.lenience, F(2, 3), "scaled"),
    _with("lenience:1/7:recovery=target", oracle_rules.lenience, F(1, 7), "target"),
    *(
        _with(f"typical:1/4:delta=2/3:recovery={kind}", oracle_rules.typical, *edges, kind)
        for edges in [(F(1, 4), F(2, 3))]
        for kind in ("target", "argmax", "set")
    ),
    *(
        _with(f"cascade:1/2:recovery={kind}", oracle_rules.cascade, F(1, 2), kind)
        for kind in ("target", "argmax", "set")
    ),
    _with("relaxed:2:delta=1/5", oracle_rules.relaxed, 2, F(1, 5)),
    _with("relaxed:3:delta=1/10:recovery=set", oracle_rules.relaxed, 3, F(1, 10), "set"),
    _with("top-beta:2:factor=1/3", oracle_rules.top_beta, 2, F(1, 3)),
    _with("top-beta:3:factor=1/2:recovery=target", oracle_rules.top_beta, 3, F(1, 2), "target"),
    _with("judge:0+2:recovery=target", oracle_rules.judge, (0, 2), "target"),
    _with("judge:0+2:recovery=residual", oracle_rules.judge, (0, 2), "residual"),
    _with("judge:0+1:recovery=set", oracle_rules.judge, (0, 1), "set"),
    _with("synthetic:3/4", oracle_rules.synthetic, F(3, 4)),
    _with("synthetic:0:recovery=target", oracle_rules.synthetic, F(0), "target"),
    _with("always", oracle_rules.always),
    _with("mixture:3/5", oracle_rules.mixture, F(3, 5)),
    _with("divergence-gate:1/4", oracle_rules.divergence_gate, F(1, 4)),
    _with("reused-noise", oracle_rules.reused_noise),
]  # fmt: skip
#: Rules that read one target: the accepted one and the residual one are the same row here.
ONE_TARGET = [
    _with("exact-match", oracle_rules.exact_match),
    _with("thresholds", oracle_rules.thresholds),
    _with("thresholds:acc=1/2", oracle_rules.thresholds, F(1), F(1, 2)),
    _with("thresholds:single=1/3:acc=3/4", oracle_rules.thresholds, F(1, 3), F(3, 4)),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures") / "capture.json"


def _written(row: Any) -> Any:
    return row if isinstance(row, str) else [str(value) for value in row]


def checked(
    path: Path, target: Any, draft: Any, *options: str, **more: Any
) -> tuple[int, dict[str, Any]]:
    """Exit code and the only position."""
    position = {"target": _written(target), "draft": _written(draft)}
    position["roles"] = {role: _written(row) for role, row in more.pop("roles", {}).items()}
    position.update({key: _written(row) for key, row in more.items()})
    path.write_text(json.dumps({"steps": [{"positions": [position]}]}), encoding="utf-8")
    result = run("check", path, "--format", "json", *options)
    return result.code, only_position(result.json())


def agree(position: dict[str, Any], expected: Law, reference: Any) -> None:
    assert column(position, "accepted") == expected.accepted
    assert column(position, "recovered") == expected.recovered
    assert column(position, "output") == expected.output
    assert exact(position["acceptance_rate"]) == expected.acceptance
    distance = oracle_rules.total_variation(expected.output, reference)
    assert exact(position["total_variation"]) == distance
    assert position["verdict"] == ("different" if distance else "equal")


@pytest.mark.parametrize("written", [*RULES, *ONE_TARGET], ids=lambda written: written.text)
@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5))
def test_rules_on_correct_roles(path: Path, written: Written, pair: strategies.Pair) -> None:
    target, draft = pair
    try:
        expected = law(draft, written.rule(correct(target, draft)))
    except NoAnswerError:
        reject()
    _, position = checked(path, target, draft, "--rule", written.text)
    agree(position, expected, target)


@pytest.mark.parametrize("written", RULES, ids=lambda written: written.text)
@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=4), data=st.data())
def test_rules_with_rows_of_their_own(
    path: Path, written: Written, pair: strategies.Pair, data: st.DataObject
) -> None:
    """P, S, D, Q and U are five laws: every rule takes each where the contract says."""
    target, draft = pair
    size = len(target)
    own = {
        "accept_target": data.draw(strategies.rows(size)),
        "residual_target": data.draw(strategies.rows(size)),
        "drafted_from": data.draw(strategies.rows(size)),
        "accept_draft": data.draw(strategies.full_rows(size)),
        "residual_draft": data.draw(strategies.rows(size)),
    }
    if written.text == "one-hot":
        del own["accept_draft"], own["residual_draft"]
    roles = Roles(
        own["accept_target"], own["residual_target"], own["drafted_from"],
        own.get("accept_draft"), own.get("residual_draft"),
    )  # fmt: skip
    try:
        expected = law(roles.D, written.rule(roles))
    except NoAnswerError:
        reject()
    _, position = checked(path, target, draft, "--rule", written.text, roles=own)
    agree(position, expected, target)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5))
def test_classical(path: Path, pair: strategies.Pair) -> None:
    target, draft = pair
    try:
        expected = law(draft, oracle_rules.classical(correct(target, draft)))
    except NoAnswerError:
        reject()
    _, position = checked(path, target, draft, "--rule", "classical")
    agree(position, expected, target)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5), share=st.fractions(0, 1, max_denominator=6))
def test_the_front_of_least_loss(path: Path, pair: strategies.Pair, share: F) -> None:
    target, draft = pair
    distance = oracle_rules.total_variation(target, draft)
    assume(distance)
    budget = share * distance
    expected = law(draft, oracle_rules.optimal_loss(correct(target, draft), budget))
    _, position = checked(path, target, draft, "--rule", f"optimal-loss:{budget}")
    agree(position, expected, target)


@settings(max_examples=EXAMPLES, deadline=None)
@given(row=strategies.rows(max_size=5), data=st.data())
def test_siblings(path: Path, row: list[F], data: st.DataObject) -> None:
    edges = [data.draw(st.sampled_from([F(1), F(1, 2), F(3, 10)])) for _ in range(2)]
    order = data.draw(st.permutations(range(len(row))))
    children = order[: data.draw(st.integers(1, len(row) - 1))]
    expected = oracle_rules.siblings(row, children, *edges)
    listed = "+".join(map(str, children))
    rule = f"thresholds:single={edges[0]}:acc={edges[1]}:children={listed}"
    _, position = checked(path, row, row, "--rule", rule)
    agree(position, expected, row)


@pytest.mark.parametrize("scheme", ["gumbel", "minhash", "minhash-dart", "inverse-cdf"])
@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5))
def test_couplings(path: Path, scheme: str, pair: strategies.Pair) -> None:
    target, draft = pair
    expected = oracle_rules.shared_noise(correct(target, draft), scheme)
    _, position = checked(path, target, draft, "--rule", f"shared-noise:{scheme}")
    agree(position, expected, target)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_captured_decisions(path: Path, pair: strategies.Pair, data: st.DataObject) -> None:
    target, draft = pair
    size = len(target)
    shares = st.fractions(0, 1, max_denominator=7)
    accept = data.draw(st.lists(shares, min_size=size, max_size=size))
    recovered = data.draw(strategies.rows(size))
    expected = law(draft, oracle_rules.given(correct(target, draft), accept, recovered))
    _, position = checked(path, target, draft, "--rule", "given", accept=accept, recovery=recovered)
    agree(position, expected, target)


DROPS = [
    ("target", "declared", "before"),
    ("target", "declared", "after"),
    ("target", "effective", "before"),
    ("residual", "declared", "before"),
    ("residual", "effective", "before"),
    ("redraw", "declared", "before"),
    ("redraw", "effective", "before"),
    ("redraw-1", "declared", "before"),
    ("redraw-3", "effective", "before"),
]


@pytest.mark.parametrize(("dropped", "proposal", "when"), DROPS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_keep_rules(
    path: Path, dropped: str, proposal: str, when: str, pair: strategies.Pair, data: st.DataObject
) -> None:
    target, draft = pair
    size = len(draft)
    shares = st.sampled_from([F(0), F(1), F(1), F(1, 2), F(3, 4)])
    keep = data.draw(st.lists(shares, min_size=size, max_size=size))
    assume(any(q * k for q, k in zip(draft, keep, strict=True)))
    roles = correct(target, draft)
    try:
        expected = oracle_rules.pruned(
            roles, oracle_rules.token, keep, dropped=dropped, proposal=proposal, when=when
        )
    except NoAnswerError:
        reject()
    words = ("--dropped", dropped, "--proposal", proposal, "--keep-when", when)
    _, position = checked(path, target, draft, *words, keep=keep)
    agree(position, expected, target)


@pytest.mark.parametrize("written", [*RULES[1:-1], *ONE_TARGET], ids=lambda written: written.text)
@settings(max_examples=15, deadline=None)
@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_kept_drafts_of_other_rules(
    path: Path, written: Written, pair: strategies.Pair, data: st.DataObject
) -> None:
    target, draft = pair
    size = len(draft)
    shares = st.sampled_from([F(0), F(1), F(1), F(1, 2)])
    keep = data.draw(st.lists(shares, min_size=size, max_size=size))
    dropped, when = data.draw(
        st.sampled_from([("target", "before"), ("target", "after"), ("redraw", "before"),
                         ("redraw-2", "before")])
    )  # fmt: skip
    assume(any(q * k for q, k in zip(draft, keep, strict=True)))
    try:
        expected = oracle_rules.pruned(
            correct(target, draft), written.rule, keep, dropped=dropped, when=when
        )
    except NoAnswerError:
        reject()
    words = ("--rule", written.text, "--dropped", dropped, "--keep-when", when)
    _, position = checked(path, target, draft, *words, keep=keep)
    agree(position, expected, target)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    pair=strategies.pairs(max_size=5), edge=st.sampled_from([F(0), F(1, 4), F(1, 3), F(1, 2), F(1)])
)
def test_keep_rules_by_name(path: Path, pair: strategies.Pair, edge: F) -> None:
    target, draft = pair
    for words, keep in (
        (f"own-probability:{edge}", oracle_rules.by_own_probability(draft, edge)),
        (f"own-probability:{edge}:strict=yes", oracle_rules.by_own_probability(draft, edge, True)),
        (f"top-probability:{edge}", oracle_rules.by_top_probability(draft, edge)),
        (f"draft-entropy:{edge}", oracle_rules.by_entropy(draft, edge)),
        (f"share:{edge}", [edge] * len(draft)),
        (f"tokens:0=0+2={edge}", [F(0), F(1), edge, *[F(1)] * (len(draft) - 3)]),
        ("only:0+1", [F(1), F(1), *[F(0)] * (len(draft) - 2)]),
    ):
        expected = oracle_rules.pruned(correct(target, draft), oracle_rules.token, keep)
        _, position = checked(path, target, draft, "--keep", words)
        agree(position, expected, target)


@st.composite
def numeric_models(draw: st.DrawFn) -> tuple[Numerics, list[str]]:
    words: list[str] = []
    grid = draw(st.sampled_from([None, 2, 3, 8, 255, 2**24]))
    ends = draw(st.sampled_from(["zero", "one", "both", "neither"]))
    if grid is not None:
        words += ["--uniform", f"{grid}:ends={ends}"]
    inclusive, capped = draw(st.booleans()), draw(st.booleans())
    words += ["--inequality", "inclusive" if inclusive else "strict"]
    words += ["--ratio", "capped" if capped else "uncapped"]
    epsilon, floor = (draw(st.sampled_from([F(0), F(0), F(1, 10**6), F(1, 9)])) for _ in range(2))
    words += ["--ratio-epsilon", str(epsilon)] if epsilon else []
    words += ["--residual-floor", str(floor)] if floor else []
    empty = draw(st.sampled_from(["token:1", "last", "target"]))
    words += ["--empty-residual", empty]
    return Numerics(grid, ends, inclusive, capped, epsilon, floor, empty=empty), words


@pytest.mark.parametrize("one_hot", [(), ("residual_draft",), ("accept_draft", "residual_draft")])
@settings(max_examples=100, deadline=None)
@given(pair=strategies.pairs(max_size=5), model=numeric_models())
def test_numerics(
    path: Path,
    one_hot: tuple[str, ...],
    pair: strategies.Pair,
    model: tuple[Numerics, list[str]],
) -> None:
    (target, draft), (numerics, words) = pair, model
    tested = None if "accept_draft" in one_hot else draft
    subtracted = None if one_hot else draft
    roles = Roles(target, target, draft, tested, subtracted, numerics)
    expected = law(draft, oracle_rules.token(roles))
    own = dict.fromkeys(one_hot, "one-hot")
    _, position = checked(path, target, draft, *words, roles=own)
    agree(position, expected, target)


@pytest.mark.parametrize("reading", ["accept", "reject", "accept-all"])
@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_readings_of_target_over_zero(
    path: Path, reading: str, pair: strategies.Pair, data: st.DataObject
) -> None:
    target, draft = pair
    drafted = data.draw(strategies.rows(len(draft)))
    numerics = Numerics(zero_draft=reading, empty="target")
    roles = Roles(target, target, drafted, draft, draft, numerics)
    expected = law(drafted, oracle_rules.token(roles))
    words = ("--zero-draft", reading, "--empty-residual", "target")
    _, position = checked(path, target, draft, *words, roles={"drafted_from": drafted})
    agree(position, expected, target)


@settings(max_examples=EXAMPLES, deadline=None)
@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_sums_of_their_own(path: Path, pair: strategies.Pair, data: st.DataObject) -> None:
    factors = st.sampled_from([F(1), F(1001, 1000), F(9, 10), F(2)])
    rows = []
    for row in pair:
        factor = data.draw(factors)
        rows.append([value * factor for value in row])
    expected = oracle_rules.unnormalised(*rows, Numerics(empty="last"))
    _, position = checked(path, *rows, "--unnormalised", "--empty-residual", "last")
    agree(position, expected, pair[0])


@pytest.mark.parametrize("points", [2, 5, 8])
@settings(max_examples=20, deadline=None)
@given(row=strategies.rows(max_size=4))
def test_draws_on_a_grid(path: Path, points: int, row: list[F]) -> None:
    assume(max(value.denominator for value in row) < 100)
    for step, function in (
        ("inverse-cdf", oracle_rules.inverse_cdf), ("gumbel-race", oracle_rules.gumbel_race),
    ):  # fmt: skip
        drafted = "drafted_from=" + f"{step}:{points}"
        _, position = checked(path, row, row, "--rule", "one-hot", "--role", drafted)
        assert column(position, "drafted") == function(row, points)
