"""``specdist compare`` over conditional models: rules side by side, kinds of steps apart."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specdist.cli.commands.config import schema
from specdist.model.figure import Figure
from specdist.model.joint_report import Optimum
from specdist.reports.comparison_report import Compared, table, to_json
from specdist.verify.joint_summary import PartTally
from tests import joint_samples, report_samples
from tests.cli import exact, run

TOY = {"target": ["1/3", "2/3", 0], "draft": ["2/3", "1/3", 0]}
THREE = {"target": ["9/20", "9/20", "1/10"], "draft": ["1/20", "3/20", "4/5"]}
ROW = {"id": "row", "target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "1/2", "3/10"]}


def chain(models: dict[str, Any], length: int = 2, **more: Any) -> dict[str, Any]:
    return {"models": models, "draft_length": length, **more}


@pytest.fixture
def capture(tmp_path: Path) -> Any:
    def write(*steps: dict[str, Any]) -> Path:
        path = tmp_path / "capture.json"
        path.write_text(json.dumps({"kind": "probabilities", "steps": list(steps)}))
        return path

    return write


def variants(*arguments: object) -> dict[str, dict[str, Any]]:
    answer = run("compare", *arguments, "--format", "json", "--workers", "1")
    assert answer.code == 0, answer.stderr
    made = answer.json()
    jsonschema.validate(made, json.loads(schema("comparison")))
    return {item["variant"]: item for item in made["variants"]}


def test_rules_side_by_side_on_the_published_toy(capture: Any) -> None:
    """Token 10/9 and block 11/9 accepted tokens (2403.10444), both lossless."""
    made = variants(capture(chain(TOY)), "--rule", "token", "--rule", "block")
    figures = {name: item["joint"] for name, item in made.items()}
    accepted = {"rule token": Fraction(10, 9), "rule block": Fraction(11, 9)}
    for name, value in accepted.items():
        joint = figures[name]
        assert joint["verdict"] == made[name]["verdict"] == "equal"
        assert exact(joint["expected_accepted"]) == value
        assert exact(joint["expected_tokens"]) == 1 + value
        assert exact(joint["acceptance_rate"]) == value / 2
        assert exact(joint["total_variation_max"]) == 0
        assert (joint["steps"], joint["positions"]) == (1, 2)


def test_a_mistake_has_its_total_variation_and_its_ident(capture: Any) -> None:
    path = capture(chain(THREE))
    made = variants(path, "--rule", "block", "--rule", "block:coins=shared")
    wrong = made["rule block:coins=shared"]
    assert exact(wrong["joint"]["total_variation_max"]) == Fraction(1, 200)
    assert wrong["joint"]["verdict"] == "different"
    assert wrong["joint"]["findings"] == ["rule-mismatch"]
    assert made["rule block"]["joint"]["findings"] == []
    shown = run("compare", path, "--rule", "block", "--rule", "block:coins=shared").stdout
    header, block, *_ = shown.splitlines()
    assert header.split() == [
        "variant", "verdict", "accepted", "tokens", "left", "acceptance", "variation",
    ]  # fmt: skip
    assert block.split()[:5] == ["rule", "block", "equal", "91/200", "291/200"]
    assert "    rule-mismatch" in shown
    assert "1 step, 2 draft tokens under each" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_draft_tokens_of_trees_are_counted_on_longest_paths(capture: Any) -> None:
    rules = ("--rule", "rrs", "--rule", "traversal")
    one = run("compare", capture(chain(THREE)), "--tree", "2,1", *rules).stdout
    assert "1 step, 2 draft tokens on the longest path under each" in one
    two = capture(chain(THREE), chain(THREE))
    shown = run("compare", two, "--tree", 3, *rules).stdout
    assert "2 steps, 2 draft tokens on their longest paths under each" in shown
    wrong = run("check", two, "--tree", "2,1", "--siblings", "top", "--rule", "rrs").stdout
    assert "over 2 steps, 4 draft tokens on their longest paths" in wrong


def test_means_over_several_steps(capture: Any) -> None:
    path = capture(chain(TOY), chain(TOY, 1))
    joint = variants(path, "--rule", "token", "--rule", "block")["rule token"]["joint"]
    assert exact(joint["expected_accepted"]) == (Fraction(10, 9) + Fraction(2, 3)) / 2
    assert exact(joint["acceptance_rate"]) == (Fraction(10, 9) + Fraction(2, 3)) / 3
    assert (joint["steps"], joint["positions"]) == (2, 3)


def test_steps_of_both_kinds_are_two_tables(capture: Any) -> None:
    path = capture(chain(TOY), ROW)
    rules = ("--rule", "token", "--rule", "lenience:1/2")
    item = variants(path, *rules)["rule lenience:1/2"]
    assert (item["steps"], item["joint"]["steps"]) == (2, 1)
    shown = run("compare", path, *rules).stdout
    whole, rows = shown.split("steps with rows of positions")
    assert whole.startswith("steps over conditional models\n")
    assert "rule token equal 10/9 19/9" in " ".join(whole.split())
    assert "1 step, 2 draft tokens under each" in whole
    assert "rule token equal 7/10 0" in " ".join(rows.split())
    assert "1 step, 1 position under each" in rows
    assert (whole.count("lossy-by-design"), rows.count("lossy-by-design")) == (1, 1)


def test_rows_alone_have_no_joint_figures(capture: Any) -> None:
    made = variants(capture(ROW), "--rule", "token", "--rule", "one-hot")
    assert [item["joint"] for item in made.values()] == [None, None]
    shown = run("compare", capture(ROW), "--rule", "token", "--rule", "one-hot").stdout
    assert "accepted" not in shown


@pytest.mark.parametrize("order", [("rrs", "token"), ("token", "rrs")])
def test_a_rule_that_cannot_run_here_names_its_variant(
    order: tuple[str, str], capture: Any
) -> None:
    step = {"models": TOY, "tree": {"children": [2, 1]}}
    done = run("compare", capture(step), *(word for name in order for word in ("--rule", name)))
    assert (done.code, done.stdout) == (2, "")
    assert "--> rule token" in done.stderr
    assert "tree" in done.stderr


def test_a_missing_prefix_is_named(capture: Any) -> None:
    models = {**TOY, "target": {"rows": {"": ["1/3", "2/3", 0], "0": ["1/3", "2/3", 0]}}}
    done = run("compare", capture(chain(models)), "--rule", "token", "--rule", "block")
    assert (done.code, done.stdout) == (2, "")
    assert 'no row for the prefix "1"' in " ".join(done.stderr.split())


def test_the_references_of_two_variants_are_compared_over_whole_outputs(capture: Any) -> None:
    """One engine keeps all three tokens that tie for the second place of top-k, the other two of
    them: over two tokens 9 outputs of 1/9 against 4 of 1/4, a total variation of 5/9."""
    third = ["3/10", "3/10", "3/10", "1/10"]
    path = capture(chain({"target": third, "draft": third}, 1), {"target": third, "draft": third})
    engines = ("--top-k", "2", "--engine", "transformers", "--engine", "vllm")
    one, two = variants(path, *engines).values()
    assert one["reference_distance"] is None
    assert exact(two["reference_distance"]) == Fraction(5, 9)
    _, two = variants(path, *engines, "--horizon", "1").values()
    assert exact(two["reference_distance"]) == Fraction(1, 3)
    too_many = (*engines, "--horizon", "3", "--max-outcomes", "40")
    _, two = variants(path, *too_many).values()
    assert exact(two["reference_distance"]) == Fraction(1, 3), "the row of the second step alone"
    _, same = variants(path, "--rule", "token", "--rule", "block").values()
    assert exact(same["reference_distance"]) == 0
    assert "decodes another law than transformers: total variation up to 5/9" in (
        run("compare", path, *engines).stdout
    )


def tallied(*steps: Any, optimum: Optimum | None = None) -> Compared:
    rows, whole = PartTally(False, frozenset()), PartTally(False, frozenset())
    for step in steps:
        (rows if step.joint is None else whole).add(step)
    report = joint_samples.report(*steps)
    return Compared("rule block", None, ("block",), (), report, None, rows.part(), whole.part())


def test_what_is_left_is_the_mean_against_the_tightest_optimum() -> None:
    low = Optimum("block", Figure.of(Fraction(11, 9)), Figure.of(Fraction(1, 9)))
    high = Optimum("multi-path bound", Figure.of(2), Figure.of(Fraction(8, 9)), attained=False)
    one = joint_samples.step(joint_samples.replace(joint_samples.TOKEN, optima=(high, low)))
    other = joint_samples.step(joint_samples.BLOCK, ident="1")
    compared = tallied(one, other)
    assert compared.whole is not None
    made = to_json([compared], exact=False)["variants"][0]["joint"]
    assert made["left"]["exact"] == "1/18"
    assert made["left_is_bound"] is False
    assert "1/18" in table([compared])[1]


def test_a_bound_is_called_one_and_a_missing_optimum_leaves_a_dash() -> None:
    high = Optimum("multi-path bound", Figure.of(2), Figure.of(Fraction(8, 9)), attained=False)
    bounded = joint_samples.step(joint_samples.replace(joint_samples.TOKEN, optima=(high,)))
    lines = table([tallied(bounded)])
    assert "8/9" in lines[1]
    assert "what is left is at most that" in " ".join(" ".join(lines).split())
    bare = joint_samples.step(joint_samples.replace(joint_samples.TOKEN, optima=()), ident="1")
    missing = tallied(bounded, bare)
    assert to_json([missing], exact=False)["variants"][0]["joint"]["left"] is None
    assert table([missing])[1].split()[5] == "-"


def test_kinds_have_verdicts_of_their_own() -> None:
    rows = report_samples.failing().steps[0]
    compared = tallied(joint_samples.step(joint_samples.BLOCK), rows)
    text = "\n".join(table([compared]))
    whole, positions = text.split("steps with rows of positions")
    assert "equal" in whole
    assert "different" not in whole
    assert "different" in positions
    assert "output-mismatch" in positions


def test_an_equal_verdict_of_a_mistake_or_a_lossy_rule_is_qualified(capture: Any) -> None:
    """The published toy of two tokens cannot see a coin that is shared between positions."""
    path = capture(chain(TOY))
    rules = ("--rule", "block", "--rule", "block:coins=shared", "--rule", "lenience:1")
    shown = run("compare", path, *rules).stdout.splitlines()
    remark = "    a known mistake: equal for these rows only, not for any rows"
    assert shown.count(remark) == 1
    assert shown[shown.index(remark) - 1].startswith("rule block:coins=shared")
    assert not any("lossy by design" in line for line in shown), "lenience:1 is the token rule"
    same = {"target": TOY["target"], "draft": TOY["target"]}
    shown = run("compare", capture(chain(same)), "--rule", "token", "--rule", "lenience:1/2").stdout
    assert "    lossy by design: equal for these rows only, not for any rows" in shown


def test_more_than_any_lossless_rule_is_explained(capture: Any) -> None:
    rules = ("--rule", "token", "--rule", "lenience:1/2")
    shown = " ".join(run("compare", capture(chain(THREE)), *rules).stdout.split())
    assert "left below 0: the rule accepts more than any lossless one can" in shown
    rules = ("--rule", "token", "--rule", "block")
    assert "below 0" not in run("compare", capture(chain(THREE)), *rules).stdout
