"""What reports say beside the verdict: rules, numeric model, dropped tokens, and the scope."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli import exact, only_position, run

ROWS = ("--target", "1/2,3/10,1/5", "--draft", "1/5,3/10,1/2")
SAME = ("--target", "1/2,3/10,1/5", "--draft", "1/2,3/10,1/5")
AS_SPECIFIED = "with roles as in a correct engine the rule is lossless for any rows"


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(run("config", "--schema", "report").stdout))


def report_of(*arguments: object) -> dict[str, Any]:
    report: dict[str, Any] = run("what-if", *arguments, "--format", "json").json()
    validator().validate(report)
    return report


def text_of(*arguments: object) -> str:
    result = run("what-if", *arguments)
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    return " ".join(result.stdout.split())


def fractions(figures: dict[str, Any], *names: str) -> list[str | None]:
    return [str(value) if (value := exact(figures[name])) is not None else None for name in names]


def test_a_lossy_rule_against_the_best_possible() -> None:
    options = (*ROWS, "--rule", "lenience:1/2", "--max-tv", "1/2")
    text = text_of(*options)
    assert "rule lenient token verification (1/2)" in text
    assert "lossy by design: total variation 1/5 = 0.2, least possible 1/5 = 0.2, excess 0" in text
    report = report_of(*options)
    assert report["steps"][0]["rule"] == "lenience:1/2"
    lossy = only_position(report)["lossy"]
    names = ("least_total_variation", "excess", "acceptance_if_targeted")
    assert fractions(lossy, *names) == ["1/5", "0", "9/10"]


def test_a_lossy_rule_that_happens_to_be_equal_says_so() -> None:
    text = text_of(*SAME, "--rule", "lenience:1/2")
    assert "equal for these rows only, not for any rows" in text
    assert AS_SPECIFIED not in text
    assert "equal for these rows only" not in text_of(*SAME, "--rule", "lenience:1")


def test_a_known_mistake_that_happens_to_be_equal_says_so() -> None:
    said = "the rule is a known mistake: equal for these rows only, not for any rows"
    assert said in text_of(*SAME, "--rule", "reused-noise")


def test_the_parameters_of_a_rule_stand_with_its_title() -> None:
    text = text_of(*ROWS, "--rule", "judge:2:recovery=set", "--max-tv", "1")
    assert "(2, recovery set)" in text
    text = text_of(*ROWS, "--rule", "relaxed:2:delta=1/10", "--max-tv", "1")
    assert "relaxed acceptance (top-N within a margin; 2, delta 1/10)" in text


def test_the_worst_of_several_positions_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path is never broken
    steps = [
        {"id": "a", "target": ["1/2", "1/4", "1/4"], "draft": ["1/2", "1/4", "1/4"]},
        {"id": "b", "target": ["1/2", "1/4", "1/4"], "draft": ["1/4", "1/4", "1/2"]},
    ]
    Path("c.json").write_text(json.dumps({"settings": {"rule": "always"}, "steps": steps}))
    text = text_of("c.json")
    assert "total variation 1/4 = 0.25, least possible 1/4 = 0.25, excess 0 (step b, po" in text


@pytest.mark.parametrize(
    ("options", "figures", "said"),
    [
        (
            ("--keep", "share:1/2"),
            ["1/2", "7/10", None],
            "kept with probability 1/2 = 0.5; of those that are tested 7/10 = 0.7 is accepted",
        ),
        (
            ("--keep", "share:1/2", "--dropped", "redraw"),
            ["1/2", "7/10", None],
            "draft tokens: keep share:1/2, dropped redraw",
        ),
        (
            ("--keep-row", "0,1,1", "--dropped", "residual", "--proposal", "effective"),
            ["4/5", "5/8", "0"],
            "of those that are tested 5/8 = 0.625 is accepted",
        ),
        (("--keep", "share:0"), ["0", None, None], "kept with probability 0 mean"),
        (("--keep", "share:1", "--keep-when", "after"), ["1", "7/10", None], "keep-when after"),
    ],
)
def test_dropped_draft_tokens(
    options: tuple[str, ...], figures: list[str | None], said: str
) -> None:
    assert said in text_of(*ROWS, *options)
    proposal = only_position(report_of(*ROWS, *options))["proposal"]
    names = ("reaching_mass", "accepted_of_reaching", "witness_keep")
    assert fractions(proposal, *names) == figures
    assert (proposal["witness"] is None) == (figures[2] is None)


def test_the_correction_of_a_keep_rule_that_biases() -> None:
    report = report_of(*ROWS, "--keep", "own-probability:1/4")
    position = only_position(report)
    correction = position["proposal"]["correction"]
    assert exact(correction["total_variation"]) == 0
    assert exact(position["forbidden_mass"]) == 0
    again = run("what-if", *ROWS, "--keep", "own-probability:1/4", *correction["options"].split())
    assert again.code == 0


def test_the_options_of_the_numeric_model_are_reported() -> None:
    options = (*ROWS, "--uniform", "10", "--inequality", "strict", "--unnormalised")
    assert "numeric model: uniform 10, inequality strict, unnormalised rows" in text_of(*options)
    report = report_of(*options)
    assert report["steps"][0]["options"] == {
        "uniform": "10",
        "inequality": "strict",
        "unnormalised": "yes",
    }
    assert report["settings"]["uniform"] == "10"


def test_a_target_that_is_not_the_reference() -> None:
    roles = ("--role", "accept_target=top-k:2", "--role", "residual_target=top-k:2")
    position = only_position(report_of(*ROWS, *roles))
    assert position["used_target"]["verdict"] == "equal"
    assert exact(position["used_target"]["total_variation"]) == 0


def test_causes_and_cuts_are_in_the_report() -> None:
    target = ",".join(["1/20"] * 20)
    draft = ",".join(["1/10"] * 5 + ["1/30"] * 15)
    rows = ("--target", target, "--draft", draft, "--role", "drafted_from=top-k:5")
    (finding,) = (f for f in report_of(*rows)["steps"][0]["findings"] if f["repairs"])
    assert len(finding["cause"]) == len(finding["repairs"])
    smallest = finding["smallest"]
    assert smallest is not None
    assert smallest["reproduce"] == finding["reproduce"]
    assert len(smallest["tokens"]) < 20


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ROWS, True),
        ((*ROWS, "--rule", "exact-match"), True),
        ((*ROWS, "--rule", "lenience:1"), True),
        ((*ROWS, "--zero-draft", "accept"), True),
        ((*ROWS, "--rule", "thresholds"), True),
        ((*ROWS, "--rule", "shared-noise:gumbel"), True),
        ((*SAME, "--rule", "reused-noise"), False),
        ((*ROWS, "--rule", "lenience:1/2"), False),
        ((*ROWS, "--uniform", "10"), False),
        ((*ROWS, "--unnormalised"), False),
        ((*ROWS, "--keep", "share:1/2"), False),
        ((*ROWS, "--accept", "1,1,2/5", "--recovery", "1,0,0"), False),
        ((*ROWS, "--role", "drafted_from=top-k:2"), False),
    ],
)
def test_the_scope_is_true_of_every_rule(options: tuple[str, ...], said: bool) -> None:
    assert (AS_SPECIFIED in text_of(*options)) is said


def test_inspect_tells_what_a_capture_carries(tmp_path: Path) -> None:
    capture = {
        "settings": {"uniform": "2^24", "dropped": "redraw"},
        "draft_map": [0, 2],
        "target": ["1/2", "1/4", "1/4"],
        "draft": ["1/2", "1/2"],
        "keep": [1, 1, 0],
    }
    path = tmp_path / "c.json"
    path.write_text(json.dumps(capture))
    shown = run("inspect", path, "--format", "json").json()["captures"][0]
    facts = {fact["name"]: fact["value"] for fact in shown["facts"] + shown["would_check"]}
    assert facts["draft map"] == "2 draft ids"
    assert facts["draft vocabulary size"] == "2"
    assert facts["rule token"] == "target raw, draft vocab-map:given"
    assert facts["uniform"] == "2^24"
    assert facts["keep"] == "numbers by token beside the rows"
