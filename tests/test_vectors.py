"""The vectors of tests/vectors through the command line: every figure with ``==``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli import column, exact, only_position, run, spell
from tests.vectors import load

ONE_HOT = ("--role", "accept_draft=one-hot", "--role", "residual_draft=one-hot")


def what_if(target: Any, draft: Any, *options: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Exit code, report and its only position."""
    result = run(
        "what-if", "--target", spell(target), "--draft", spell(draft), *options, "--format", "json"
    )
    report = result.json()
    return result.code, report, only_position(report)


def ids(vector: dict[str, Any]) -> str:
    return str(vector["id"])


@pytest.mark.parametrize("vector", load("STD"), ids=ids)
def test_standard(vector: dict[str, Any]) -> None:
    code, report, position = what_if(vector["inputs"]["p"], vector["inputs"]["q"])
    expected = vector["expected"]
    assert code == 0
    assert report["verdict"] == "equal"
    assert column(position, "accepted") == expected["accepted"]
    assert column(position, "residual") == expected["residual"]
    assert column(position, "output") == expected["law"]
    assert exact(position["acceptance_rate"]) == expected["alpha"]
    assert exact(position["rejected_mass"]) == 1 - expected["alpha"]
    assert exact(position["total_variation"]) == expected["tv"]


@pytest.mark.parametrize("vector", load("GRD"), ids=ids)
def test_one_hot_draft(vector: dict[str, Any]) -> None:
    target, token = vector["inputs"]["p"], vector["inputs"]["draft_token"]
    draft = [int(y == token) for y in range(len(target))]
    code, report, position = what_if(target, draft)
    assert code == 0
    assert report["verdict"] == "equal"
    assert exact(position["acceptance_rate"]) == vector["expected"]["accept_rate"]
    assert column(position, "output") == vector["expected"]["law"]


@pytest.mark.parametrize("vector", load("EXM"), ids=ids)
def test_sample_and_compare(vector: dict[str, Any]) -> None:
    """Accepting x with probability p(x), else p without x, has the law of exact match."""
    target, draft = vector["inputs"]["p"], vector["inputs"]["q"]
    code, report, position = what_if(target, draft, *ONE_HOT)
    expected = vector["expected"]
    assert code == 0
    assert report["verdict"] == "equal"
    assert column(position, "output") == expected["law"]
    assert exact(position["acceptance_rate"]) == expected["accept_rate"]
    assert exact(what_if(target, draft)[2]["acceptance_rate"]) == expected["optimal_accept"]


#: Mutants that roles express: id -> (draft row, options).
BY_ROLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "MUT-2": ("q_drawn", ("--role", "residual_draft=one-hot")),
    "MUT-3": ("q_used", ("--role", "drafted_from=top-k:2")),
    "MUT-4": ("q_used", ("--role", "drafted_from=temperature:0")),
}


@pytest.mark.parametrize("ident", BY_ROLES)
def test_mutants(ident: str) -> None:
    (vector,) = [entry for entry in load("MUT") if entry["id"] == ident]
    draft, options = BY_ROLES[ident]
    code, report, position = what_if(vector["inputs"]["p"], vector["inputs"][draft], *options)
    expected = vector["expected"]
    assert code == 1
    assert report["verdict"] == "different"
    assert column(position, "drafted") == vector["inputs"]["q_drawn"]
    assert column(position, "output") == expected["law"]
    assert exact(position["acceptance_rate"]) == expected["accept_rate"]
    assert exact(position["total_variation"]) == expected["tv"]


def test_the_repaired_mutant() -> None:
    (vector,) = [entry for entry in load("MUT") if entry["id"] == "MUT-3-fixed"]
    code, _, position = what_if(vector["inputs"]["p"], vector["inputs"]["q"])
    assert code == 0
    assert exact(position["acceptance_rate"]) == vector["expected"]["alpha"]
    assert column(position, "output") == vector["expected"]["law"]
