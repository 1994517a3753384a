"""Every figure of a check against the naive oracle, with ``==``, on generated rows."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from tests import oracle, strategies
from tests.cli import column, exact, only_position, run


def capture(target: Any, draft: Any, roles: dict[str, Any] | None = None, **more: Any) -> str:
    """A capture of one position; rows are written as fraction strings."""
    position: dict[str, Any] = {"target": _written(target), "draft": _written(draft)}
    if roles:
        position["roles"] = {role: _written(row) for role, row in roles.items()}
    return json.dumps(
        {
            "schema": "specdist.capture/1",
            "kind": "probabilities",
            "steps": [{"id": "0", "positions": [position]}],
            **more,
        }
    )


def _written(row: Any) -> Any:
    return row if isinstance(row, str) else [str(value) for value in row]


def checked(path: Path, text: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and the only position of the report."""
    path.write_text(text, encoding="utf-8")
    result = run("check", path, "--format", "json", *options)
    return result.code, only_position(result.json())


def compare(position: dict[str, Any], expected: oracle.Position) -> None:
    assert column(position, "accepted") == expected.accepted
    assert column(position, "recovered") == expected.recovered
    assert column(position, "output") == expected.output
    assert column(position, "residual") == (expected.residual or [None] * len(expected.output)), (
        "residual is null exactly when a rejection has probability 0"
    )
    assert exact(position["acceptance_rate"]) == expected.acceptance
    assert exact(position["rejected_mass"]) == expected.rejected
    assert exact(position["total_variation"]) == expected.total_variation


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures") / "capture.json"


@given(strategies.pairs())
def test_the_correct_rule(path: Path, pair: strategies.Pair) -> None:
    code, position = checked(path, capture(*pair))
    assert code == 0
    assert position["verdict"] == "equal"
    compare(position, oracle.token_rule(*pair))


@given(st.data())
def test_every_role_on_its_own(path: Path, data: st.DataObject) -> None:
    target, draft = data.draw(strategies.pairs())
    roles = data.draw(strategies.role_rows(target, draft))
    try:
        expected = oracle.token_rule(target, draft, **roles)
    except ZeroDivisionError:  # a rejection with nothing left to recover from
        reject()
    code, position = checked(path, capture(target, draft, roles))
    compare(position, expected)
    assert column(position, "reference") == roles.get("reference", target)
    assert column(position, "drafted") == roles.get("drafted_from", draft)
    assert position["verdict"] == ("different" if expected.total_variation else "equal")
    assert code == (1 if expected.total_variation else 0)


PROCESSING = [
    ("-T", "0", lambda row: oracle.temperature(row, Fraction(0))),
    ("-T", "1/2", lambda row: oracle.temperature(row, Fraction(1, 2))),
    ("-T", "1/3", lambda row: oracle.temperature(row, Fraction(1, 3))),
    ("--top-k", "2", lambda row: oracle.top_k(row, 2)),
    ("--top-p", "9/10", lambda row: oracle.top_p(row, Fraction(9, 10))),
    ("--top-p", "1/2", lambda row: oracle.top_p(row, Fraction(1, 2))),
    ("--min-p", "1/3", lambda row: oracle.min_p(row, Fraction(1, 3))),
]


@pytest.mark.parametrize(("option", "value", "process"), PROCESSING)
@given(pair=strategies.pairs())
def test_processing_of_both_sides(
    path: Path, option: str, value: str, process: Any, pair: strategies.Pair
) -> None:
    target, draft = map(process, pair)
    code, position = checked(path, capture(*pair), option, value)
    assert code == 0
    assert column(position, "reference") == target
    assert column(position, "tested") == draft
    compare(position, oracle.token_rule(target, draft))


@given(pair=strategies.pairs(), order=st.sampled_from(["1,2", "2,1"]))
def test_the_order_of_a_recipe(path: Path, pair: strategies.Pair, order: str) -> None:
    steps = {"1": "temperature:1/2", "2": "top-p:3/5"}
    target, draft = pair
    for step in order.split(","):
        target, draft = (
            oracle.temperature(row, Fraction(1, 2)) if step == "1" else
            oracle.top_p(row, Fraction(3, 5))
            for row in (target, draft)
        )  # fmt: skip
    recipe = ",".join(steps[step] for step in order.split(","))
    _, position = checked(path, capture(*pair), "--recipe", recipe)
    compare(position, oracle.token_rule(target, draft))


@given(pair=strategies.pairs(), data=st.data())
def test_renaming_the_tokens_renames_the_answer(
    path: Path, pair: strategies.Pair, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(pair[0]))))
    _, plain = checked(path, capture(*pair))
    _, shuffled = checked(path, capture(*([row[old] for old in order] for row in pair)))
    for name in ("accepted", "recovered", "output", "residual"):
        before = column(plain, name)
        assert column(shuffled, name) == [before[old] for old in order]
    assert shuffled["acceptance_rate"] == plain["acceptance_rate"]


@given(strategies.rows())
def test_equal_rows_are_always_accepted(path: Path, row: list[Fraction]) -> None:
    _, position = checked(path, capture(row, row))
    assert exact(position["acceptance_rate"]) == 1
    assert column(position, "residual") == [None] * len(row)


def test_a_block_agrees_with_the_enumeration_of_its_paths(path: Path) -> None:
    """Position by position the law is the target; the product of the laws is the block's."""
    targets = [[Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(1, 3)] * 3]
    drafts = [
        [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)],
        [Fraction(1, 2), Fraction(1, 2), Fraction(0)],
    ]
    bonus = [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
    text = json.dumps(
        {
            "schema": "specdist.capture/1",
            "kind": "probabilities",
            "steps": [
                {
                    "id": "0",
                    "positions": [
                        {"target": _written(t), "draft": _written(d)}
                        for t, d in zip(targets, drafts, strict=True)
                    ],
                    "bonus": _written(bonus),
                }
            ],
        }
    )
    path.write_text(text, encoding="utf-8")
    result = run("check", path, "--format", "json")
    (step,) = result.json()["steps"]
    laws = [column(position, "output") for position in step["positions"]]
    assert oracle.block(targets, drafts, bonus).law == oracle.joint([*laws, bonus])
    assert step["mean_acceptance_length"] is None, "the rows of one path do not determine it"
