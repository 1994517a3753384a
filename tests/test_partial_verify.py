"""Steps with rows known in part: verdicts, intervals, what is said, and what is never claimed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.cli import run
from tests.partial_captures import HALVES, bounded, check, ends, finding, idents, text_of

F = Fraction


def rows(size: int | None = 4, **members: Any) -> dict[str, Any]:
    document = {**HALVES, **members}
    return document if size is None else {"vocab_size": size, **document}


def test_what_the_roles_prove_stays_undecided(tmp_path: Path) -> None:
    result, report = check(tmp_path, rows())
    part = bounded(report)
    assert (result.code, report["verdict"]) == (4, "undecided")
    assert ends(part["acceptance_rate"]) == (F(3, 5), F(17, 20))
    assert ends(part["total_variation"]) == (0, 0)
    assert part["by_identity"] is True
    assert part["verdict"] == "undecided"
    assert idents(report) == ["truncated-row"]
    said = " ".join(finding(report, "truncated-row")["notes"])
    assert "output equals the reference" in said
    assert "1 more token of the target and 1 more token of the draft" in said
    assert "(2 more tokens), the interval would be 1/5 wide at most" in said


def test_the_tokens_in_intervals(tmp_path: Path) -> None:
    _, report = check(tmp_path, rows())
    tokens = {token["id"]: token for token in bounded(report)["tokens"]}
    assert sorted(tokens) == [0, 1, 2]
    assert ends(tokens[0]["accepted"]) == (F(2, 5), F(2, 5))
    assert ends(tokens[1]["drafted"]) == (0, F(1, 5))
    assert ends(tokens[1]["accepted"]) == (0, F(1, 5))
    assert ends(tokens[2]["reference"]) == (0, F(1, 4))
    assert ends(tokens[2]["output"]) == (0, F(1, 4))


@pytest.mark.parametrize(
    ("tolerance", "code", "verdict"),
    [("0", 0, "within-tolerance"), ("1/100", 0, "within-tolerance")],
)
def test_a_tolerance_takes_what_is_proven(
    tmp_path: Path, tolerance: str, code: int, verdict: str
) -> None:
    result, report = check(tmp_path, rows(), "--max-tv", tolerance)
    assert (result.code, report["verdict"]) == (code, verdict)
    assert finding(report, "truncated-row")["severity"] == "note"
    said = text_of(tmp_path, rows(), "--max-tv", tolerance)
    assert f"within the declared tolerance {tolerance} of the reference" in said
    assert "acceptance rate 3/5 to 17/20 = 0.6 to 0.85" in said


@pytest.mark.parametrize(
    ("floor", "code", "verdict"),
    [("3/5", 4, "undecided"), ("3/4", 4, "undecided"), ("17/20", 4, "undecided"),
     ("0.851", 1, "undecided")],
)  # fmt: skip
def test_floors_are_met_surely_or_missed_surely(
    tmp_path: Path, floor: str, code: int, verdict: str
) -> None:
    result, report = check(tmp_path, rows(), "--min-acceptance", floor)
    assert (result.code, report["verdict"]) == (code, verdict)
    assert bool(report["floors_missed"]) == (code == 1)
    open_floor = [x["message"] for x in report["findings"] if x["ident"] == "truncated-row"]
    assert bool(open_floor) == (floor in ("3/4", "17/20"))


def test_a_floor_that_is_met_leaves_a_tolerated_run_alone(tmp_path: Path) -> None:
    options = ("--max-tv", "0", "--min-acceptance")
    assert check(tmp_path, rows(), *options, "3/5")[0].code == 0
    assert check(tmp_path, rows(), *options, "0.61")[0].code == 4
    assert check(tmp_path, rows(), *options, "0.86")[0].code == 1


OTHER = {"listed": {"0": "1/8", "1": "1/8", "3": "5/8"}}
"""Far from the target, whatever token 2 has."""


def test_another_target_is_proven(tmp_path: Path) -> None:
    # Token 2 of the other target has the 1/8 that is left, so that row is whole.
    roles = {"accept_target": OTHER, "residual_target": OTHER}
    result, report = check(tmp_path, rows(roles=roles))
    assert (result.code, report["verdict"]) == (1, "different")
    assert ends(bounded(report)["total_variation"]) == (F(1, 2), F(5, 8))
    main = finding(report, "lossless-for-another-target")
    assert "total variation at least 1/2, at most 5/8" in main["notes"][0]
    said = text_of(tmp_path, rows(roles=roles))
    assert "error[lossless-for-another-target]" in said
    assert "not listed: 1/4 of the target, 1/5 of the draft" in said


@pytest.mark.parametrize(
    ("tolerance", "code", "verdict"),
    [("1/4", 1, "different"), ("1/2", 4, "undecided"), ("5/8", 0, "within-tolerance")],
)
def test_a_tolerance_inside_the_interval_decides_nothing(
    tmp_path: Path, tolerance: str, code: int, verdict: str
) -> None:
    roles = {"accept_target": OTHER, "residual_target": OTHER}
    result, report = check(tmp_path, rows(roles=roles), "--max-tv", tolerance)
    assert (result.code, report["verdict"]) == (code, verdict)


def test_a_wrong_bonus_row_is_proven(tmp_path: Path) -> None:
    bonus = {"listed": {"0": "1/2", "1": "1/4"}}
    step = {"positions": [HALVES], "bonus": bonus, "roles": {"bonus_from": OTHER}}
    result, report = check(tmp_path, {"vocab_size": 4, "steps": [step]})
    last = report["steps"][0]["bounded_bonus"]
    assert (result.code, last["verdict"]) == (1, "different")
    assert ends(last["total_variation"]) == (F(1, 2), F(5, 8))
    main = finding(report, "bonus-mismatch")
    assert main["repairs"] == [["bonus_from"]]
    said = text_of(tmp_path, {"vocab_size": 4, "steps": [step]})
    assert "error[bonus-mismatch]" in said
    assert "total variation at least 1/2" in said


def test_a_bonus_row_that_is_right(tmp_path: Path) -> None:
    step = {"positions": [{"target": ["1/2", "1/4", "1/4", "0"], "draft": {"one_hot": 0}}],
            "bonus": {"listed": {"0": "1/2", "1": "1/4"}}}  # fmt: skip
    result, report = check(tmp_path, {"vocab_size": 4, "steps": [step]})
    found = report["steps"][0]
    assert (result.code, found["verdict"]) == (4, "undecided")
    assert found["positions"][0]["verdict"] == "equal"
    assert found["bounded_bonus"]["by_identity"] is True
    assert "its law is the reference" in finding(report, "truncated-row")["message"]
    whole = {**step, "bonus": {"listed": {"0": "1/2", "1": "1/4"}, "support": [0, 1, 3]}}
    result, report = check(tmp_path, {"vocab_size": 4, "steps": [whole]})
    assert (result.code, report["steps"][0]["bonus"]["verdict"]) == (0, "equal")


def mixed() -> dict[str, Any]:
    whole = {"target": ["1/2", "1/4", "1/4", "0"], "draft": ["1/4", "1/4", "1/4", "1/4"]}
    return {"vocab_size": 4, "steps": [{"positions": [whole, HALVES]}, {"positions": [whole]}]}


def test_exact_and_bounded_positions_share_a_step_and_a_summary(tmp_path: Path) -> None:
    result, report = check(tmp_path, mixed())
    first, second = report["steps"]
    assert [part["index"] for part in first["positions"]] == [0]
    assert [part["index"] for part in first["bounded"]] == [1]
    assert (first["verdict"], second["verdict"]) == ("undecided", "equal")
    summary = report["summary"]
    assert (summary["positions"], summary["equal"], summary["undecided"]) == (3, 1, 1)
    # 3/4 twice, and an interval from 3/5 to 17/20.
    assert ends(summary["acceptance_rate"]) == (F(7, 10), F(47, 60))
    assert ends(summary["total_variation_max"]) == (0, 0)
    assert result.code == 4
    said = text_of(tmp_path, mixed())
    assert "mean acceptance rate 7/10 to 47/60" in said
    assert "over 2 steps, 3 positions" in said


def test_json_lines_say_the_same(tmp_path: Path) -> None:
    import json

    _, report = check(tmp_path, mixed())
    lines = run("check", tmp_path / "capture.json", "--format", "jsonl", "--exact").stdout
    *steps, summary = map(json.loads, lines.splitlines())
    assert steps == report["steps"]
    assert summary["summary"] == report["summary"]


def test_a_point_mass_needs_one_listed_token(tmp_path: Path) -> None:
    document = rows(draft={"one_hot": 1})
    _, report = check(tmp_path, document, "--rule", "one-hot")
    assert ends(bounded(report)["acceptance_rate"]) == (F(1, 4), F(1, 4))
    assert bounded(report)["by_identity"] is True
    _, report = check(tmp_path, rows(draft={"one_hot": 3}), "--rule", "one-hot")
    assert ends(bounded(report)["acceptance_rate"]) == (0, F(1, 4))


def test_an_unlisted_token_may_be_likelier_than_a_listed_one(tmp_path: Path) -> None:
    """A server lists the sampled token whatever its rank."""
    document = rows(target={"listed": {"0": "1/2", "3": "1/100"}}, draft={"one_hot": 1})
    _, report = check(tmp_path, document)
    assert ends(bounded(report)["acceptance_rate"]) == (0, F(49, 100))


def test_listed_zeros_are_no_unlisted_tokens(tmp_path: Path) -> None:
    """The rests lie on other tokens: 2 and 3 for the target, 1 and 4 for the draft, say."""
    target = {"listed": {"0": "1/2", "1": "0"}, "cap": "1/4"}
    draft = {"listed": {"0": "1/2", "2": "0"}, "cap": "1/4"}
    _, report = check(tmp_path, rows(5, target=target, draft=draft))
    least, most = ends(bounded(report)["acceptance_rate"])
    assert least <= F(1, 2)
    assert most >= 1


def test_exact_match_accepts_the_product(tmp_path: Path) -> None:
    _, report = check(tmp_path, rows(), "--rule", "exact-match")
    part = bounded(report)
    least, most = ends(part["acceptance_rate"])
    # Token 0 with 1/2 2/5 for sure; the rests meet the largest listed number of the other side.
    assert (least, most) == (F(1, 5), F(1, 5) + F(1, 4) * F(2, 5) + F(1, 5) * F(1, 4))
    assert part["by_identity"] is True


def test_what_leaves_nothing_open_is_exact(tmp_path: Path) -> None:
    document = {
        "vocab_size": 50,
        "target": {"listed": {"0": "1/2", "1": "1/4", "7": "1/8"}},
        "draft": {"listed": {"0": "1/4", "1": "1/2", "9": "1/8"}},
    }
    result, report = check(tmp_path, document, "--top-k", "2")
    (position,) = report["steps"][0]["positions"]
    assert (result.code, report["steps"][0]["bounded"]) == (0, [])
    assert position["acceptance_rate"]["exact"] == "2/3"
    assert report["steps"][0]["mean_acceptance_length"]["exact"] == "5/3"


@pytest.mark.parametrize(
    "options",
    [("--rule", "lenience:1/2"), ("--rule", "token:recovery=target"), ("--keep", "share:1/2"),
     ("--residual-floor", "1e-6"), ("--ratio-epsilon", "1e-6")],
)  # fmt: skip
def test_what_has_no_bounds_claims_nothing(tmp_path: Path, options: tuple[str, str]) -> None:
    result, report = check(tmp_path, rows(), *options)
    part = bounded(report)
    assert (result.code, part["verdict"]) == (4, "undecided")
    assert ends(part["acceptance_rate"]) == ends(part["total_variation"]) == (0, 1)
    assert part["by_identity"] is False
    assert (
        "no bounds for rows that are known in part" in finding(report, "truncated-row")["message"]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rule", "block"), "rule block needs whole rows"),
        (("--tree", "3"), "--tree 3 needs whole rows"),
        (("--unnormalised",), "unnormalised"),
    ],
)
def test_what_needs_whole_rows_says_so(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    result, _ = check(tmp_path, rows(), *options)
    assert (result.code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


def test_a_grid_of_uniforms_moves_the_bounds_by_a_step(tmp_path: Path) -> None:
    result, report = check(tmp_path, rows(), "--uniform", "8")
    part = bounded(report)
    assert ends(part["acceptance_rate"]) == (F(3, 5) - F(1, 8), F(17, 20) + F(1, 8))
    assert ends(part["total_variation"]) == (0, F(1, 8))
    assert (part["by_identity"], result.code) == (False, 4)
    assert "a step of the random numbers" in " ".join(finding(report, "truncated-row")["notes"])
    assert check(tmp_path, rows(), "--uniform", "8", "--max-tv", "1/8")[0].code == 0


def test_open_ended_rows_of_two_files_meet(tmp_path: Path) -> None:
    import json

    for side, row in (("target", {"0": "1/2", "1": "1/4"}), ("draft", {"0": "2/5", "9": "2/5"})):
        document = {"steps": [{side: {"listed": row}}]}
        (tmp_path / f"{side}.json").write_text(json.dumps(document), encoding="utf-8")
    pair = ("--target", tmp_path / "target.json", "--draft", tmp_path / "draft.json")
    result = run("check", *pair, "--format", "json")
    part = bounded(result.json())
    assert ends(part["acceptance_rate"]) == (F(2, 5), F(17, 20))
    assert part["vocab_size"] is None
    assert part["listed"]["neither"] is None
    closed = {"steps": [{"draft": ["2/5", "1/5", "2/5"]}]}
    (tmp_path / "draft.json").write_text(json.dumps(closed), encoding="utf-8")
    (step,) = run("check", *pair, "--format", "json").json()["steps"]
    (position,) = step["positions"] or [bounded({"steps": [step]})]
    assert position["vocab_size"] == 3


def test_compare_shows_intervals(tmp_path: Path) -> None:
    check(tmp_path, rows())
    shown = run("compare", tmp_path / "capture.json", "--rule", "token", "--rule", "exact-match")
    assert shown.code == 0, shown.stderr
    assert "3/5 to 17/20" in shown.stdout


def test_quiet_is_one_line(tmp_path: Path) -> None:
    check(tmp_path, rows())
    lines = run("check", tmp_path / "capture.json", "-q").stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("warning[truncated-row]: ")
    assert lines[0].endswith("total variation 0, acceptance 3/5 to 17/20 = 0.6 to 0.85")


def test_costs_say_that_acceptance_is_open(tmp_path: Path) -> None:
    said = text_of(tmp_path, rows(), "--draft-cost", "1/10")
    assert "the exact acceptance of this step is not known" in said


def test_a_cut_list_does_not_say_which_unlisted_token_is_kept(tmp_path: Path) -> None:
    """Top-3 keeps one unlisted token of eight on either side; it need not be the same one."""
    row = {"listed": {"0": "1/2", "1": "1/4"}}
    result, report = check(
        tmp_path, {"vocab_size": 10, "target": row, "draft": row}, "--top-k", "3"
    )
    least, most = ends(bounded(report)["acceptance_rate"])
    assert (least, most, result.code) == (F(3, 4), 1, 4)


def test_ids_that_a_draft_map_never_reaches_are_no_rest(tmp_path: Path) -> None:
    """The draft leaves 1/4 to three ids, the target 1/4 to eight."""
    document = {
        "vocab_size": 10,
        "target": {"listed": {"0": "1/2", "1": "1/4"}},
        "draft": {"listed": {"0": "1/2", "3": "1/4"}},
        "draft_map": [1, 3, 5, 7, 9],
    }
    _, report = check(tmp_path, document)
    least, most = ends(bounded(report)["acceptance_rate"])
    assert least == F(1, 4)
    assert F(1, 2) <= most <= F(3, 4)
    assert bounded(report)["listed"] == {"both": 1, "target_only": 1, "draft_only": 1, "neither": 7}


def test_laws_that_do_not_count_the_whole_vocabulary_leave_any_number_open() -> None:
    """Each side keeps one more token of nine, and not the same one: 1/2 is all that is shared."""
    from specdist.exact.overlap_bounds import overlap
    from specdist.exact.partial_law import PartialLaw
    from specdist.verify.partial.laws import counted

    known = PartialLaw((0,), (F(1, 2),), (F(1, 2),), 1)
    assert overlap(counted(known, 2), counted(known, 2)).least == 1
    assert overlap(counted(known, 10), counted(known, 10)).least == F(1, 2)


NEAR = {
    "target": {"listed": {"0": "2/5", "1": "3/10", "2": "1/5"}},
    "draft": {"listed": {"0": "9/20", "1": "1/10", "2": "7/20"}},
}
"""Rows that leave 1/10 open on either side."""


@pytest.mark.parametrize(
    ("options", "ident", "repairs"),
    [
        (["accept_draft=temperature:1/4"], "drafted-mismatch",
         [["accept_draft"], ["residual_draft", "drafted_from"]]),
        (["drafted_from=top-k:1"], "drafted-mismatch",
         [["accept_draft", "residual_draft"], ["drafted_from"]]),
        (["residual_draft=top-k:1"], "residual-mismatch", [["residual_draft"]]),
        (["accept_target=top-k:1"], "target-mismatch", [["accept_target"]]),
        (["accept_target=top-k:1", "residual_target=top-k:1"], "lossless-for-another-target",
         [["accept_target", "residual_target"]]),
    ],
)  # fmt: skip
def test_a_mismatch_is_named_by_the_roles(
    tmp_path: Path, options: list[str], ident: str, repairs: list[list[str]]
) -> None:
    roles = [word for option in options for word in ("--role", option)]
    result, report = check(tmp_path, rows(6, **NEAR), *roles, "--zero-draft", "accept")
    main = finding(report, ident)
    least, _ = ends(bounded(report)["total_variation"])
    assert (result.code, bounded(report)["verdict"]) == (1, "different")
    assert least > 0
    assert "rows known in part: total variation" in main["notes"][0]
    for repair in main["repairs"]:
        assert sorted(repair) in [sorted(known) for known in repairs]


def test_show_and_verbose_choose_what_is_listed(tmp_path: Path) -> None:
    assert "... 2 more listed tokens" in text_of(tmp_path, rows(), "--show", "1")
    said = text_of(tmp_path, mixed(), "-v")
    assert "step 0, position 0: acceptance rate 3/4" in said
    assert "total variation 0, whatever is left open" in said
