"""Captured blocks (rows along one drafted path) under ``--rule block``.

The law at one position is compared with the naive enumeration of whole steps over models that have
the captured rows on the path and right roles everywhere else: what follows a kept prefix there is
what the report says of the position. Every number with ``==``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracle_joint as oracle
from tests.cli import Result, column, exact, run
from tests.joint_captures import full_row, random_model
from tests.oracle_joint import ONE, ONE_HOT, ZERO, Models, Prefix, Row, row

EXPOSING = (row("9/20", "9/20", "1/10"), row("1/20", "3/20", "4/5"))
ROLES = ("accept_target", "residual_target", "drafted_from", "accept_draft", "residual_draft")


def texts(law: Row) -> list[str]:
    return [str(value) for value in law]


def captured(models: Models, tokens: Prefix, **more: Any) -> dict[str, Any]:
    """A capture of the rows that stand along one path."""
    positions = []
    for index in range(len(tokens)):
        z = tokens[:index]
        roles = {
            name: model if isinstance(model, str) else texts(model[z])
            for name, model in models.roles.items()
            if name in ROLES
        }
        positions.append(
            {
                "target": texts(models.target[z]),
                "draft": texts(models.drafts[0][z]),
                **({"roles": roles} if roles else {}),
            }
        )
    step = {"positions": positions, "draft_tokens": list(tokens), **more}
    return {"schema": "specdist.capture/1", "kind": "probabilities", "steps": [step]}


def checked(document: Mapping[str, Any], folder: Path, *options: object) -> Result:
    path = folder / "block.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    chosen = ("--rule", "block") if "--rule" not in options else ()
    return run("check", path, *chosen, *options, "--format", "json", "--exact")


def only_step(result: Result) -> Any:
    (step,) = result.json()["steps"]
    return step


def along(models: Models, tokens: Prefix) -> tuple[Models, list[Fraction], list[Fraction]]:
    return models, oracle.block_ratios(models, tokens)[1:], oracle.block_thresholds(models, tokens)


def length_of(stops: Sequence[Fraction]) -> Fraction:
    return oracle.total(length * chance for length, chance in enumerate(stops))


def token_lengths(models: Models, tokens: Prefix) -> Fraction:
    return length_of(oracle.accepted_lengths(oracle.verify_tokens(models, tokens), len(tokens)))


def constant(length: int, **roles: Any) -> Models:
    target, draft = (oracle.constant(law, length) for law in EXPOSING)
    return oracle.pair(target, draft, **roles)


def paths(models: Models, length: int) -> list[Prefix]:
    return [tokens for tokens, _ in oracle.drafts(models, length)]


# ---- what a path determines ------------------------------------------------------------------


def test_one_path_by_hand(tmp_path: Path) -> None:
    """r: 1/8, min(1, 1/8 * 3), 3/8 * 1/8; Z_1 = [9/160 - 1/20]+ = 1/160, h_1 = 1/141;
    Z_2 = [27/160 - 1/20]+ + [27/160 - 3/20]+ = 11/80, h_2 = 11/61."""
    result = checked(captured(constant(3), (2, 1, 2)), tmp_path)
    assert result.code == 0
    path = only_step(result)["path"]
    shown = [
        [exact(position[name]) for name in ("ratio", "threshold", "token_acceptance")]
        for position in path["positions"]
    ]
    assert shown == [
        [Fraction(1, 8), Fraction(1, 141), Fraction(1, 8)],
        [Fraction(3, 8), Fraction(11, 61), 1],
        [Fraction(3, 64), Fraction(3, 64), Fraction(1, 8)],
    ]
    assert [position["token"] for position in path["positions"]] == [2, 1, 2]
    assert exact(path["expected_accepted_token"]) == Fraction(17, 64)
    last = Fraction(3, 64)
    second = 1 - (1 - last) * Fraction(50, 61)
    first = 1 - (1 - second) * Fraction(140, 141)
    assert exact(path["expected_accepted_block"]) == first + second + last
    assert any("bonus" in text for text in path["left_open"])
    assert only_step(result)["mean_acceptance_length"] is None


def test_a_bonus_row_leaves_less_open(tmp_path: Path) -> None:
    document = captured(constant(2), (2, 1), bonus=texts(EXPOSING[0]))
    step = only_step(checked(document, tmp_path))
    assert step["bonus"]["verdict"] == "equal"
    left = step["path"]["left_open"]
    assert len(left) == 3
    assert not any("bonus" in text for text in left)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 4))
def test_figures_of_random_paths(
    tmp_path_factory: pytest.TempPathFactory, seed: int, one_hot: bool, length: int
) -> None:
    chance = random.Random(seed)
    target, draft = (random_model(chance, 3, length) for _ in range(2))
    hot = {"accept_draft": ONE_HOT, "residual_draft": ONE_HOT} if one_hot else {}
    models = Models(target, (draft,), hot)
    tokens = chance.choice(paths(models, length))
    result = checked(captured(models, tokens), tmp_path_factory.mktemp("block"))
    assert result.code == 0, result.stdout + result.stderr
    step = only_step(result)
    assert step["verdict"] == "equal"
    path = step["path"]
    _, ratios, thresholds = along(models, tokens)
    assert [exact(position["ratio"]) for position in path["positions"]] == ratios
    assert [exact(position["threshold"]) for position in path["positions"]] == thresholds
    assert exact(path["expected_accepted_token"]) == token_lengths(models, tokens)
    by_block = length_of(oracle.heads(thresholds, "independent"))
    assert exact(path["expected_accepted_block"]) == by_block
    if one_hot:
        assert by_block == token_lengths(models, tokens)


# ---- the law behind a kept prefix ------------------------------------------------------------


def behind(models: Models, length: int, z: Prefix) -> tuple[Row, Fraction, Fraction]:
    """What follows z once it is kept, how likely a draft token is kept there, and Pr(z is kept |
    z is drafted), by enumeration of whole steps."""
    following, drafted_too, drawn = [ZERO] * models.size, ZERO, ZERO
    for tokens, share in oracle.drafts(models, length):
        drawn += share if tokens[: len(z)] == z else ZERO
    for mass, kept, then, _ in oracle.block(models, length):
        if kept[: len(z)] != z:
            continue
        if len(kept) > len(z):
            following[kept[len(z)]] += mass
            drafted_too += mass
        else:
            assert then is not None
            for token, share in enumerate(then):
                following[token] += mass * share
    kept_mass = oracle.total(following)
    law = tuple(value / kept_mass for value in following)
    return law, drafted_too / kept_mass, kept_mass / drawn


def wrong_at(models: Models, z: Prefix, wrong: Mapping[str, Row]) -> Models:
    """The models with rows of their own for some roles at one prefix, right everywhere else."""
    roles = {}
    for name, law in wrong.items():
        plain = models.target if name in ("accept_target", "residual_target") else models.drafts[0]
        roles[name] = {**plain, z: law}
    return Models(models.target, models.drafts, roles)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_law_behind_a_kept_prefix(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Whatever roles are wrong at one prefix, the report has the law that enumeration finds."""
    chance = random.Random(seed)
    length = chance.choice([2, 3])
    target, draft = (random_model(chance, 3, length, full=True) for _ in range(2))
    plain = oracle.pair(target, draft)
    tokens = chance.choice(paths(plain, length))
    depth = chance.randrange(length)
    chosen = chance.sample(ROLES, chance.randint(1, 3))
    models = wrong_at(plain, tokens[:depth], {name: full_row(chance, 3) for name in chosen})
    try:
        law, accepted, _ = behind(models, length, tokens[:depth])
    except (oracle.NoAnswerError, ZeroDivisionError):
        return
    result = checked(captured(models, tokens), tmp_path_factory.mktemp("block"), "--show", 9)
    step = only_step(result)
    position = step["positions"][depth]
    if "bonus_from" in models.roles or not law:
        return
    assert column(position, "output") == list(law)
    assert exact(position["acceptance_rate"]) == accepted
    expected = "equal" if law == target[tokens[:depth]] else "different"
    assert position["verdict"] == expected
    if expected == "different":
        assert result.code == 1
        half = oracle.total(map(abs, (a - b for a, b in zip(law, target[tokens[:depth]],
                                                            strict=True)))) / 2  # fmt: skip
        assert exact(position["total_variation"]) == half


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_one_hot_tests_and_residuals(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """One or both draft roles one-hot everywhere, the two targets apart at one prefix."""
    chance = random.Random(seed)
    target, draft = (random_model(chance, 3, 2, full=True) for _ in range(2))
    tokens = chance.choice(paths(oracle.pair(target, draft), 2))
    depth = chance.randrange(2)
    wrong = {"residual_target": full_row(chance, 3)} if chance.random() < 0.7 else {}
    models = wrong_at(oracle.pair(target, draft), tokens[:depth], wrong)
    models = Models(target, (draft,), {**models.roles, "accept_draft": ONE_HOT,
                                       "residual_draft": ONE_HOT})  # fmt: skip
    law, accepted, kept = behind(models, 2, tokens[:depth])
    step = only_step(checked(captured(models, tokens), tmp_path_factory.mktemp("block"),
                             "--show", 9))  # fmt: skip
    position = step["positions"][depth]
    assert column(position, "output") == list(law)
    assert exact(position["acceptance_rate"]) == accepted
    if not wrong:
        assert position["verdict"] == "equal"
        assert kept == (oracle.block_ratios(models, tokens)[depth])


def test_right_roles_keep_a_prefix_with_its_weight(tmp_path: Path) -> None:
    """Acceptance behind a prefix of weight r is sum min(Q, r P) / r, above sum min(Q, P)."""
    models, tokens = constant(3), (2, 1, 2)
    step = only_step(checked(captured(models, tokens), tmp_path))
    target, draft = EXPOSING
    weights = [ONE, *oracle.block_ratios(models, tokens)[1:-1]]
    found = [exact(position["acceptance_rate"]) for position in step["positions"]]
    assert found == [
        oracle.total(min(q, weight * p) for p, q in zip(target, draft, strict=True)) / weight
        for weight in weights
    ]
    assert found[0] == oracle.overlap(target, draft) < min(found[1:])


def test_the_first_position_is_that_of_the_token_rule(tmp_path: Path) -> None:
    models = constant(2, drafted_from=oracle.constant(row("1/3", "1/3", "1/3"), 2))
    document = captured(models, (2, 1))
    block = only_step(checked(document, tmp_path))["positions"][0]
    token = only_step(checked(document, tmp_path, "--rule", "token"))["positions"][0]
    assert block == token
    assert block["verdict"] == "different"


def test_a_wrong_role_behind_is_found_where_it_is(tmp_path: Path) -> None:
    """The cause is named at its position, without a line to paste: typed rows have no path."""
    models = wrong_at(constant(2), (2,), {"residual_target": row("1/3", "1/3", "1/3")})
    result = checked(captured(models, (2, 1)), tmp_path)
    assert result.code == 1
    step = only_step(result)
    assert [position["verdict"] for position in step["positions"]] == ["equal", "different"]
    (finding,) = [f for f in step["findings"] if f["severity"] == "error"]
    assert finding["ident"] == "target-mismatch"
    assert finding["position"] == 1
    assert finding["reproduce"] is None


def test_a_kept_mass_that_is_off_is_no_pass(tmp_path: Path) -> None:
    """The reference allows one token at position 1, so the next token is right whatever the roles;
    but the prefix of weight 1/8 is kept too often, and the rows cannot tell what that moves."""
    forced = row(1, 0, 0)
    models = wrong_at(
        oracle.pair(
            {**oracle.constant(EXPOSING[0], 2), (2,): forced},
            {**oracle.constant(EXPOSING[1], 2), (2,): row("1/2", "1/2", "0")},
        ),
        (2,),
        {"drafted_from": forced},
    )
    law, _, kept = behind(models, 2, (2,))
    assert law == forced
    assert kept > Fraction(1, 8)
    result = checked(captured(models, (2, 0)), tmp_path)
    assert result.code == 4
    step = only_step(result)
    assert [position["verdict"] for position in step["positions"]] == ["equal", "undecided"]
    (finding,) = step["findings"]
    assert "not kept with the probability" in finding["message"]


def test_behind_a_token_of_target_probability_zero(tmp_path: Path) -> None:
    target = {**oracle.constant(EXPOSING[0], 2), (): row("1/2", "1/2", "0")}
    models = oracle.pair(target, oracle.constant(EXPOSING[1], 2))
    result = checked(captured(models, (2, 1)), tmp_path)
    assert result.code == 0
    step = only_step(result)
    assert [exact(position["ratio"]) for position in step["path"]["positions"]] == [0, 0]
    assert exact(step["path"]["expected_accepted_block"]) == 0
    (note,) = step["findings"]
    assert "target probability 0" in note["message"]
    wrong = wrong_at(models, (2,), {"residual_target": row("1/3", "1/3", "1/3")})
    assert checked(captured(wrong, (2, 1)), tmp_path).code == 1, "roles there are verified as well"


# ---- dumps -----------------------------------------------------------------------------------


VOCABULARY, LENGTH = 3_000, 4


def dumps(folder: Path, noise: float, *options: object) -> tuple[Result, np.ndarray, np.ndarray]:
    """``specdist check`` of two dumps that are one block of `LENGTH` draft tokens, and the logits;
    every second draft token is the most probable one of the draft, the others of the target."""
    chance = np.random.default_rng(11)
    target = (3 * chance.normal(size=(LENGTH + 1, VOCABULARY))).astype(np.float32)
    draft = (target[:LENGTH] + noise * chance.normal(size=(LENGTH, VOCABULARY))).astype(np.float32)
    tokens = np.where(np.arange(LENGTH) % 2, target[:LENGTH].argmax(1), draft.argmax(1))
    np.savez(folder / "target.npz", logits=target)
    np.savez(folder / "draft.npz", logits=draft, draft_tokens=tokens.astype(np.int64))
    result = run(
        "check", "--target", folder / "target.npz", "--draft", folder / "draft.npz",
        "--draft-lengths", LENGTH, "--rule", "block", "--format", "json", "--exact", *options,
    )  # fmt: skip
    return result, target, draft


def laws(logits: np.ndarray) -> list[Row]:
    """The rows as represented: weights exp(z - max) in float64, divided by their exact sum."""
    wide = logits.astype(np.float64)
    weights = np.exp(wide - wide.max(axis=1, keepdims=True))
    return [oracle.normalise([Fraction(value) for value in line]) for line in weights.tolist()]


def test_a_dumped_block(tmp_path: Path) -> None:
    """Equal, and every figure of the path is that of the represented rows, within its bound."""
    result, target, draft = dumps(tmp_path, 1.0)
    assert result.code == 0, result.stdout
    step = only_step(result)
    assert [position["verdict"] for position in step["positions"]] == ["equal"] * LENGTH
    path = step["path"]
    tokens = tuple(position["token"] for position in path["positions"])
    there, here = laws(target), laws(draft)
    models = oracle.pair(
        {tokens[:i]: law for i, law in enumerate(there)},
        {tokens[:i]: law for i, law in enumerate(here)},
    )
    ratios = oracle.block_ratios(models, tokens)[1:]
    thresholds = oracle.block_thresholds(models, tokens)
    assert any(0 < ratio < 1 for ratio in ratios[:-1])
    for position, ratio, threshold in zip(path["positions"], ratios, thresholds, strict=True):
        for name, expected in (("ratio", ratio), ("threshold", threshold)):
            figure = position[name]
            bound = Fraction(figure.get("bound") or 0)
            assert abs(exact(figure) - expected) <= max(bound, Fraction(1, 2**40))
            assert bound < Fraction(1, 2**36)
    by_block = length_of(oracle.heads(thresholds, "independent"))
    assert abs(exact(path["expected_accepted_block"]) - by_block) < Fraction(1, 2**36)
    assert exact(path["expected_accepted_block"]) > exact(path["expected_accepted_token"])


def test_a_dumped_block_with_a_wrong_role(tmp_path: Path) -> None:
    result, *_ = dumps(tmp_path, 1.0, "--role", "drafted_from=top-p:9/10")
    assert result.code == 1
    step = only_step(result)
    assert {position["verdict"] for position in step["positions"]} == {"different"}
    assert {f["ident"] for f in step["findings"] if f["severity"] == "error"} == {
        "drafted-mismatch"
    }


def test_rates_along_a_path_say_what_they_hold_for(tmp_path: Path) -> None:
    path = tmp_path / "compared.json"
    path.write_text(json.dumps(captured(constant(3), (2, 1, 0))), encoding="utf-8")
    said = " ".join(run("check", path, "--rule", "block").stdout.split())
    assert "acceptance rate: over the draft tokens of a position, given that all before it" in said
    both = run("compare", path, "--rule", "token", "--rule", "block")
    assert "under block the rate of a position holds given" in " ".join(both.stdout.split())
    assert "under block" not in run("compare", path, "--rule", "token").stdout


# ---- what is refused -------------------------------------------------------------------------


def test_a_block_without_draft_tokens_is_refused(tmp_path: Path) -> None:
    document = captured(constant(2), (2, 1))
    del document["steps"][0]["draft_tokens"]
    result = checked(document, tmp_path)
    assert result.code == 2
    assert "an integer tensor" in " ".join(result.stderr.split())
    assert checked(document, tmp_path, "--rule", "token").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--draft-tokens", "2,1"), "--draft-tokens shapes a proposal over models"),
        (("--siblings", "iid"), "--siblings iid is about several drafts, and one is drawn here"),
    ],
)
def test_options_that_say_nothing_of_captured_rows_are_refused(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    for rule in ("block", "token"):
        result = checked(captured(constant(2), (2, 1)), tmp_path, "--rule", rule, *options)
        assert result.code == 2
        assert message in " ".join(result.stderr.split())


def test_one_position_needs_no_draft_token(tmp_path: Path) -> None:
    document = captured(constant(1), (2,))
    del document["steps"][0]["draft_tokens"]
    step = only_step(checked(document, tmp_path))
    assert step["verdict"] == "equal"
    assert step["path"] is None
    assert exact(step["mean_acceptance_length"]) == Fraction(13, 10)


@pytest.mark.parametrize(
    "rule", ["block:coins=shared", "block:residual=token", "window:1:entropy=1", "token-chain"]
)
def test_other_rules_over_proposals_need_models(rule: str, tmp_path: Path) -> None:
    result = checked(captured(constant(2), (2, 1)), tmp_path, "--rule", rule)
    assert result.code == 2
    assert "rows of one path" in " ".join(result.stderr.split())


@pytest.mark.parametrize("options", [("--uniform", "2^24"), ("--keep", "own-probability:1/10")])
def test_engines_that_round_or_drop_are_refused(options: tuple[str, str], tmp_path: Path) -> None:
    result = checked(captured(constant(2), (2, 1)), tmp_path, *options)
    assert result.code == 2
    assert "real arithmetic" in " ".join(result.stderr.split())


def test_a_token_that_cannot_have_been_drafted_is_refused(tmp_path: Path) -> None:
    draft = oracle.constant(row("1/2", "1/2", "0"), 2)
    models = oracle.pair(oracle.constant(EXPOSING[0], 2), draft)
    result = checked(captured(models, (2, 1)), tmp_path)
    assert result.code == 2
    assert "its draft probability in the test is 0" in " ".join(result.stderr.split())
