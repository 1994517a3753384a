"""Where the formula itself runs out: division by zero, an empty residual; and reproduction."""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from tests import oracle, strategies
from tests.cli import column, exact, only_position, run, spell
from tests.test_against_oracle import capture, checked, compare

Row = list[Fraction]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures") / "capture.json"


@given(pair=strategies.pairs(), data=st.data())
def test_a_drafted_token_that_a_captured_row_calls_impossible(
    path: Path, pair: strategies.Pair, data: st.DataObject
) -> None:
    """Such rows contradict each other: an error that names the token, unless a convention for
    target/0 is named; then that one holds."""
    target, draft = pair
    tested = data.draw(strategies.rows(len(draft)))
    outside = [x for x, value in enumerate(draft) if value and not tested[x]]
    assume(outside)
    text = capture(target, draft, {"accept_draft": tested})
    path.write_text(text, encoding="utf-8")
    refused = run("check", path, "--format", "json")
    assert refused.code == 2
    assert f"token {outside[0]} is drafted" in " ".join(refused.stderr.split())
    for convention, expected in readings(target, draft, tested).items():
        compare(checked(path, text, "--zero-draft", convention)[1], expected)


@given(pair=strategies.pairs(), data=st.data())
def test_a_drafted_token_that_a_recipe_calls_impossible(
    path: Path, pair: strategies.Pair, data: st.DataObject
) -> None:
    """A recipe may cut what was drafted. The verdict then stands where both readings of target/0
    give it."""
    target, draft = pair
    banned = data.draw(st.sampled_from([x for x, value in enumerate(draft) if value]))
    assume(draft[banned] < 1)
    tested = oracle.normalise(
        [Fraction(0) if x == banned else value for x, value in enumerate(draft)]
    )
    expected = readings(target, draft, tested)
    text = capture(target, draft, {"accept_draft": f"banned:{banned}"})
    code, position = checked(path, text)
    compare(position, expected["accept"])
    differs = [bool(found.total_variation) for found in expected.values()]
    verdict = "undecided" if differs[0] != differs[1] else "different" if differs[0] else "equal"
    assert position["verdict"] == verdict
    assert code == {"undecided": 4, "different": 1, "equal": 0}[verdict]


def readings(target: Row, draft: Row, tested: Row) -> dict[str, oracle.Position]:
    """The position under both conventions; a case whose residual is empty is not this test's."""
    try:
        return {
            convention: oracle.token_rule(target, draft, accept_draft=tested, zero_draft=convention)
            for convention in ("accept", "reject")
        }
    except ZeroDivisionError:
        reject()


@given(pair=strategies.pairs(), row=strategies.rows(3))
def test_a_rejection_without_anything_to_recover(
    path: Path, pair: strategies.Pair, row: list[Fraction]
) -> None:
    """Subtracting the residual's own target leaves nothing: what is emitted is not determined."""
    target, draft = pair
    roles: dict[str, Any] = {"residual_draft": target}
    with_rejection = oracle.total_variation(target, draft) > 0
    path.write_text(capture(target, draft, roles), encoding="utf-8")
    result = run("check", path, "--format", "json")
    (step,) = result.json()["steps"]
    if not with_rejection:
        assert result.code == 0
        return
    with pytest.raises(ZeroDivisionError):
        oracle.token_rule(target, draft, **roles)
    assert (result.code, step["verdict"]) == (4, "undecided")
    assert "configuration-needed" in [finding["ident"] for finding in step["findings"]]
    accepted = [min(p, q) for p, q in zip(target, draft, strict=True)]
    assert column(step["positions"][0], "accepted") == accepted


RECIPES = ["raw", "top-p:3/4", "top-k:2", "temperature:1/2", "temperature:0", "min-p:1/2",
           "banned:0", "temperature:1/2,top-p:1/2"]  # fmt: skip
ROLES = ["reference", "accept_target", "residual_target", "drafted_from", "residual_draft"]


@given(
    pair=strategies.pairs(),
    role=st.sampled_from(ROLES),
    recipe=st.sampled_from(RECIPES),
    both=st.sampled_from([(), ("--top-k", "3"), ("-T", "1/2", "--draft-top-p", "9/10")]),
)
def test_the_reproduction_line_reproduces(
    pair: strategies.Pair, role: str, recipe: str, both: tuple[str, ...]
) -> None:
    rows = ("--target", spell(pair[0]), "--draft", spell(pair[1]))
    first = run("what-if", *rows, *both, "--role", f"{role}={recipe}", "--format", "json")
    assume(first.code == 1)
    finding = next(f for f in first.json()["steps"][0]["findings"] if f["severity"] == "error")
    if any(len(str(value)) > 24 for row in pair for value in row):  # cut to fewer tokens, if at all
        return
    words = shlex.split(re.sub(r"\\\n", " ", finding["reproduce"]))
    assert words[:2] == ["specdist", "what-if"]
    again = run(*words[1:], "--format", "json")
    assert again.code == 1
    before, after = only_position(first.json()), only_position(again.json())
    for figure in ("total_variation", "acceptance_rate"):
        assert exact(after[figure]) == exact(before[figure])
    assert column(after, "output") == column(before, "output")
