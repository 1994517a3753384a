"""The shipped steps over models, read by this test itself, against the naive enumerations."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from tests import oracle_joint as oracle
from tests import oracle_trees as trees
from tests.cli import SAMPLES, exact, run

TEXTS = ("A", "B", "C")


def table(value: Any, depth: int) -> dict[tuple[int, ...], oracle.Row]:
    if isinstance(value, list):
        return oracle.constant(oracle.row(*value), depth)
    after = [oracle.row(*value["after"][text]) for text in TEXTS]
    return oracle.markov(oracle.row(*value["rows"][""]), after, depth)


def sample(name: str) -> tuple[dict[str, Any], oracle.Models]:
    """The step of a sample and its models, for outputs of three tokens."""
    document = json.loads((SAMPLES / name).read_text(encoding="utf-8"))
    assert tuple(document["vocab"]) == TEXTS
    (step,) = document["steps"]
    models = {key: table(value, 3) for key, value in step["models"].items()}
    return step, oracle.pair(models.pop("target"), models.pop("draft"), **models)


CASES = [
    # the file, options, verdict, expected accepted tokens, total variation
    ("chain_models.json", (), "equal", "131/100", "0"),
    ("chain_models.json", ("--rule", "block"), "equal", "34/25", "0"),
    ("chain_models_stale_target.json", (), "different", "257/200", "17/100"),
    ("tree_models.json", (), "equal", "5269/3500", "0"),
]


def outcomes(name: str, options: tuple[str, ...]) -> list[oracle.Outcome]:
    step, models = sample(name)
    if "tree" in step:
        assert (step["siblings"], step["settings"]) == ("without-replacement", {"rule": "rrs"})
        tree = trees.levels(*step["tree"]["children"])
        return trees.top_down(models, tree, trees.rrs(), "without-replacement")
    length = step["draft_length"]
    return oracle.block(models, length) if options else oracle.token_chain(models, length)


@pytest.mark.parametrize(("name", "options", "verdict", "accepted", "distance"), CASES, ids=str)
def test_models(
    name: str, options: tuple[str, ...], verdict: str, accepted: str, distance: str
) -> None:
    expected = oracle.step(outcomes(name, options), sample(name)[1].target, depth=2)
    assert expected.expected_accepted == Fraction(accepted)
    assert expected.total_variation == Fraction(distance)
    result = run("check", SAMPLES / name, *options, "--format", "json", "--exact")
    step = result.json()["steps"][0]
    assert (result.code, step["verdict"]) == (0 if verdict == "equal" else 1, verdict)
    assert exact(step["joint"]["expected_accepted"]) == expected.expected_accepted
    assert exact(step["joint"]["total_variation"]) == expected.total_variation
    assert [exact(value) for value in step["joint"]["accepted_length"]] == expected.lengths


def test_the_readme_of_the_samples_has_these_numbers() -> None:
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    for name, _, _, accepted, distance in CASES:
        (line,) = (line for line in text.splitlines() if f"`{name}`" in line)
        assert accepted in line or distance in line, name
