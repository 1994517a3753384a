"""Why an output differs: every smallest repair against brute force, and a case for every ident."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import oracle, strategies
from tests.cli import SAMPLES, run, spell
from tests.test_against_oracle import capture
from tests.test_field_cases import RUNS, arguments

ROLES = ("accept_draft", "residual_draft", "drafted_from", "accept_target", "residual_target")
ONE_HOT = oracle.ONE_HOT


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures") / "capture.json"


def findings(*arguments: object, code: int = 1) -> list[dict[str, Any]]:
    result = run(*arguments, "--format", "json")
    assert result.code == code, result.stderr or result.stdout[-500:]
    (step,) = result.json()["steps"]
    return step["findings"]  # type: ignore[no-any-return]


def main_of(found: list[dict[str, Any]]) -> dict[str, Any]:
    return next(finding for finding in found if finding["severity"] == "error")


# The search for repairs, against every combination tried by the naive oracle.


def brute_force(target: Any, draft: Any, roles: dict[str, Any]) -> set[frozenset[str]]:
    """The inclusion-minimal sets of roles whose repair restores the reference."""
    found: list[frozenset[str]] = []
    for size in range(1, len(ROLES) + 1):
        for chosen in map(frozenset, combinations(ROLES, size)):
            if {"drafted_from", "accept_draft"} <= chosen or any(s <= chosen for s in found):
                continue
            if restored(target, draft, roles, chosen):
                found.append(chosen)
    return set(found)


def restored(target: Any, draft: Any, roles: dict[str, Any], chosen: frozenset[str]) -> bool:
    if "drafted_from" in chosen and roles["accept_draft"] == ONE_HOT:
        return False
    fixed = dict(roles)
    for role in ("accept_target", "residual_target"):
        fixed[role] = roles["reference"] if role in chosen else roles[role]
    if "drafted_from" in chosen:
        fixed["drafted_from"] = roles["accept_draft"]
    if "accept_draft" in chosen:
        fixed["accept_draft"] = roles["drafted_from"]
    if "residual_draft" in chosen:
        fixed["residual_draft"] = fixed["accept_draft"]
    try:
        return not oracle.token_rule(target, draft, **fixed).total_variation
    except ZeroDivisionError:
        return False


def all_roles(target: Any, draft: Any, given_roles: dict[str, Any]) -> dict[str, Any]:
    side = dict.fromkeys(("reference", "accept_target", "residual_target"), target)
    side |= dict.fromkeys(("drafted_from", "accept_draft", "residual_draft"), draft)
    return {**side, **given_roles}


@given(st.data())
def test_the_repairs_are_exactly_the_smallest_ones(path: Path, data: st.DataObject) -> None:
    target, draft = data.draw(strategies.pairs(max_size=4))
    chosen = data.draw(strategies.role_rows(target, draft))
    roles = all_roles(target, draft, chosen)
    try:
        assume(oracle.token_rule(target, draft, **roles).total_variation)
    except ZeroDivisionError:
        assume(False)
    path.write_text(capture(target, draft, chosen), encoding="utf-8")
    finding = main_of(findings("check", path))
    found = [frozenset(repair) for repair in finding["repairs"]]
    assert len(set(found)) == len(found)
    assert set(found) == brute_force(target, draft, roles)
    assert len(finding["cause"]) == len(found)


SIDES = [
    (), ("-T", "1/2"), ("--top-k", "2"), ("--top-p", "3/4"), ("--min-p", "1/3"),
    ("-T", "1/2", "--draft-top-p", "1/2"), ("--draft-temperature", "0"),
    ("--role", "accept_draft=one-hot", "--role", "residual_draft=one-hot"),
    ("--rule", "one-hot"), ("--rule", "exact-match"), ("--rule", "lenience:1"),
    ("--keep", "share:1/3"), ("--rule", "mixture:1"), ("--keep", "top-probability:1/2"),
]  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(pair=strategies.pairs(max_size=5), side=st.sampled_from(SIDES))
def test_a_correct_engine_is_never_accused(pair: strategies.Pair, side: tuple[str, ...]) -> None:
    rows = ("--target", spell(pair[0]), "--draft", spell(pair[1]))
    found = findings("what-if", *rows, *side, code=0)
    assert not [finding for finding in found if finding["severity"] != "note"]


def test_roles_that_disagree_without_effect_stay_silent() -> None:
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10")
    one_hot = ("--role", "accept_draft=one-hot", "--role", "residual_draft=one-hot")
    found = findings("what-if", *rows, *one_hot, "--role", "drafted_from=temperature:0", code=0)
    assert not [finding for finding in found if finding["severity"] == "error"]
    found = findings("what-if", *rows, "--role", "residual_target=top-k:1", code=0)
    assert found == []


# A case for every ident.

BASE = ("--target", "2/5,3/10,1/5,1/10", "--draft", "1/4,1/10,2/5,1/4")
THREE = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10")
CASES: dict[str, tuple[str, tuple[str, ...], list[list[str]]]] = {
    "drafted with top-k": (
        "drafted-mismatch",
        (*BASE, "--role", "drafted_from=top-k:2"),
        [["accept_draft", "residual_draft"], ["drafted_from"]],
    ),
    "tested with another law only": (
        "drafted-mismatch",
        (*BASE, "--role", "accept_draft=temperature:1/2"),
        [["accept_draft"], ["residual_draft", "drafted_from"]],
    ),
    "another law subtracted": (
        "residual-mismatch",
        (*BASE, "--role", "residual_draft=temperature:1/2"),
        [["residual_draft"]],
    ),
    "recovered from the target": (
        "residual-mismatch",
        (*BASE, "--rule", "token:recovery=target"),
        [["recovery"]],
    ),
    "a floor": ("residual-mismatch", (*BASE, "--residual-floor", "1/50"), [["residual_floor"]]),
    "another target tested": (
        "target-mismatch",
        (*BASE, "--role", "accept_target=temperature:1/2"),
        [["accept_target"]],
    ),
    "another target recovered": (
        "target-mismatch",
        ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/10,7/10",
         "--role", "residual_target=temperature:1/2"),
        [["residual_target"]],
    ),
    "another target throughout": (
        "lossless-for-another-target",
        (*BASE, "-T", "1/2", "--role", "accept_target=raw", "--role", "residual_target=raw"),
        [["accept_target", "residual_target"]],
    ),
    "lenience": ("lossy-by-design", (*BASE, "--rule", "lenience:1/2"), []),
    "drops by its own probability": (
        "anticipating-length-rule",
        (*BASE, "--keep", "own-probability:1/4"),
        [["keep"]],
    ),
    "a coarse uniform": ("numeric-rounding", (*BASE, "--uniform", "8"), [["uniform"]]),
    "u <= a on a grid with a point at 0": (
        "numeric-rounding",
        ("--target", "1/2,3/10,1/5,0", "--draft-token", "3", "--uniform", "2^24",
         "--inequality", "inclusive"),
        [["inequality"], ["uniform"]],
    ),
    "an epsilon": (
        "numeric-rounding", (*BASE, "--ratio-epsilon", "1/100"), [["ratio_epsilon"]]
    ),
    "sums": (
        "row-not-normalised",
        ("--target", "501/1000,3/10,1/5", "--draft", "1/5,3/10,1/2", "--unnormalised"),
        [["sums"]],
    ),
    "acceptance as captured": (
        "rule-mismatch", (*THREE, "--accept", "1,1,1", "--recovery", "1,0,0"), [["rule"]]
    ),
    "recovery as captured": (
        "residual-mismatch",
        (*THREE, "--accept", "1,3/5,2/3", "--recovery", "1/2,3/10,1/5"),
        [["recovery"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_ident_names_the_cause(case: str) -> None:
    ident, arguments, repairs = CASES[case]
    finding = main_of(findings("what-if", *arguments))
    assert finding["ident"] == ident
    assert finding["repairs"] == repairs
    assert len(finding["cause"]) == len(repairs)


def test_reused_noise_is_reused_randomness() -> None:
    rows = ("--target", "1/5,2/5,2/5", "--draft", "3/5,3/10,1/10", "--rule", "reused-noise")
    finding = main_of(findings("what-if", *rows))
    assert finding["ident"] == "reused-randomness"
    assert finding["repairs"] == [["rule"]]
    assert finding["cause"] == ["draw the recovery with randomness of its own"]


def test_two_independent_faults_are_two_errors() -> None:
    faults = (
        "--role", "drafted_from=top-k:2", "--role", "accept_target=temperature:1/2",
        "--role", "residual_target=temperature:1/2",
    )  # fmt: skip
    found = findings("what-if", *BASE, *faults)
    errors = [finding["ident"] for finding in found if finding["severity"] == "error"]
    assert errors == ["drafted-mismatch", "lossless-for-another-target"]
    allowed = run("what-if", *BASE, *faults, "--allow", "drafted-mismatch")
    assert allowed.code == 1
    assert "allowed[drafted-mismatch]" in allowed.stdout
    assert "error[lossless-for-another-target]" in allowed.stdout
    both = ("--allow", "drafted-mismatch", "--allow", "lossless-for-another-target")
    assert run("what-if", *BASE, *faults, *both).code == 0


def test_an_allowed_lossy_rule_hides_no_wrong_role() -> None:
    lossy = (*BASE, "--rule", "lenience:1/2")
    assert run("what-if", *lossy, "--allow", "lossy-by-design").code == 0
    assert run("what-if", *lossy, "--max-tv", "1/2").code == 0
    wrong = (*lossy, "--role", "drafted_from=top-k:2")
    done = run("what-if", *wrong, "--allow", "lossy-by-design")
    assert done.code == 1
    assert "error[drafted-mismatch]" in done.stdout
    assert "allowed[lossy-by-design]" in done.stdout
    assert "the law that the rule aims at returns with either" in " ".join(done.stdout.split())
    finding = main_of(findings("what-if", *wrong))
    assert finding["repairs"] == [["accept_draft", "residual_draft"], ["drafted_from"]]


def test_a_lossy_rule_on_a_grid_has_two_errors_and_a_constant_keep_one() -> None:
    lossy = (*BASE, "--rule", "lenience:1/2")
    found = findings("what-if", *lossy, "--uniform", "8")
    errors = [finding["ident"] for finding in found if finding["severity"] == "error"]
    assert errors == ["numeric-rounding", "lossy-by-design"]
    found = findings("what-if", *lossy, "--keep", "share:1/2")
    errors = [finding["ident"] for finding in found if finding["severity"] == "error"]
    assert errors == ["lossy-by-design"]


def test_a_lossy_rule_with_a_forbidden_token_warns() -> None:
    rows = ("--target", "1/2,1/2,0", "--draft", "1/4,1/4,1/2", "--rule", "always")
    found = {finding["ident"]: finding["severity"] for finding in findings("what-if", *rows)}
    assert found == {"lossy-by-design": "error", "impossible-token": "warning"}


# Companions and signatures.


def test_a_forbidden_token_is_said_before_the_size() -> None:
    rows = ("--target", "3/4,1/4,0", "--draft-token", "2", "--uniform", "2^24")
    done = run("what-if", *rows, "--inequality", "inclusive")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("error[numeric-rounding]: ")
    assert lines[1].startswith("error[impossible-token]: token 2 is emitted with mass 1/16777216")
    assert "explain impossible-token" in done.stdout
    (other,) = [f for f in findings("what-if", *rows, "--inequality", "inclusive")
                if f["ident"] == "impossible-token"]  # fmt: skip
    assert other["severity"] == "error"


SAID: dict[str, tuple[tuple[str, ...], str]] = {
    "B01": (
        ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10", "--rule", "always"),
        "the output law is the draft's own: the accept test never rejects",
    ),
    "B01, u fixed": (
        ("--target", "3/5,2/5,0", "--draft", "1/5,1/2,3/10", "--uniform", "1"),
        "the uniform is always 0",
    ),
    "B03": (
        ("--target", "3/5,3/10,1/10", "--draft", "3/10,3/10,2/5", "--rule",
         "token:recovery=target"),
        "what is recovered has the target's own law, not that of the residual",
    ),
    "B05": (
        ("--target", "1/2,1/5,3/10", "--draft", "1/10,3/5,3/10", "--role",
         "residual_draft=one-hot"),
        "the accept test uses the whole draft row, the residual only the drafted token",
    ),
    "B05, the other way": (
        ("--target", "1/2,1/5,3/10", "--draft", "1/10,3/5,3/10", "--role",
         "accept_draft=one-hot"),
        "the accept test takes the draft as one-hot, the residual subtracts its whole row",
    ),
    "B06, ratio": (
        ("--target", "1/2,3/10,1/5", "--draft", "1/5,3/10,1/2", "--accept", "2/5,1,1",
         "--recovery", "1,0,0"),
        "sum min(target, draft)",
    ),
    "B07": (
        ("--target", "1/2,1/4,1/4", "--draft", "3/5,1/5,1/5", "--role",
         "drafted_from=temperature:0"),
        "one-hot in test and residual is lossless at acceptance 1/2, sampled from that row it "
        "would be 9/10",
    ),
    "B09": (
        ("--target", "1/2,1/3,1/6", "--draft", "1/3,1/2,1/6", "-T", "1/2", "--role",
         "accept_target=raw", "--role", "residual_target=raw"),
        "total variation 1/7 = 0.1429 from the target that was requested (temperature 1/2)",
    ),
    "B10": (
        ("--target", "3/10,1/20,1/4,1/20,1/10,1/4", "--draft", "1/2,1/4,1/4", "--draft-recipe",
         "vocab-map:0+2+5", "--role", "accept_draft=vocab-map:0+1+2", "--role",
         "residual_draft=vocab-map:0+1+2", "--zero-draft", "accept"),
        "token 5 can be drafted, with mass 1/4, and the test takes its draft probability as 0",
    ),
    "B28": (
        ("--target", "1/2,3/10,1/5", "--draft", "2/5,2/5,1/5", "--keep", "own-probability:3/10"),
        "whether a draft token is kept depends on the token: token 2 with probability 0",
    ),
    "B31": (
        ("--target", "3/5,2/5", "--draft", "2/5,3/5", "--keep", "share:0", "--keep-when", "after"),
        "an accepted token is cut after its test and drawn again",
    ),
    "B34": (
        ("--target-logits", "3,191/64", "--draft-logits", "3,191/64", "-T", "7/10", "--role",
         "drafted_from=temperature:7/10,cast:bfloat16:of=logits"),
        "differ by number rounding alone: cast bfloat16:of=logits",
    ),
    "B37": (
        ("--target", "1/2,1/2,0,0,0,0", "--draft", "1/4,3/4,0,0,0,0", "--residual-floor", "1/50"),
        "the floor adds 1/10 to a residual of 1/4: 2/7 of the recoveries are its noise",
    ),
    "B38": (
        ("--target", "2/3,1/3", "--draft", "1/4,3/4", "--rule", "always"),
        "acceptance rate 1, where a lossless rule has 7/12",
    ),
    "B42": (
        ("--target", "1/5,2/5,2/5", "--draft", "3/5,3/10,1/10", "--rule", "reused-noise"),
        "the recovery reuses the draft's randomness",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_the_message_names_the_mistake(case: str) -> None:
    arguments, words = SAID[case]
    done = run("what-if", *arguments)
    assert done.code == 1
    assert words in " ".join(done.stdout.split())
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


CAPTURED: dict[tuple[str, str], str] = {
    ("B01", "accept probabilities as captured"): "the accept test never rejects",
    ("B03", "as captured"): "what is recovered has the target's own law",
    ("B13", "verified rows ignore min-p"): "mass 1/5 on 2 tokens that the reference forbids",
    ("B15", "weights 4, 2, 4 halved for each count; counts 0, 1, 0 instead of 1, 1, 0"): (
        "exact for the target that was used (a row of its own)"
    ),
    ("B16", "bonus drawn from the raw row"): "mass 2/5 on 2 tokens that the reference forbids",
    ("B21", "target/0 read as infinite"): (
        "token 1 can be drafted, with mass 1/4, and the test takes its draft probability as 0"
    ),
    ("B26", "one deterministic child with the model's probability in the ratio"): (
        "the draft token is deterministic"
    ),
    ("B39", "token 1 judged with the row of token 2"): "exact for the target that was used",
    ("B40", "target stale"): "total variation 3/10 = 0.3000 from the target that was requested",
}


@pytest.mark.parametrize(("case", "name"), list(CAPTURED))
def test_the_message_names_the_mistake_of_a_capture(case: str, name: str, tmp_path: Path) -> None:
    (entry,) = [entry for other, entry in RUNS if (other, entry["name"]) == (case, name)]
    done = run(*(word for word in arguments(entry, tmp_path) if word not in ("--format", "json")))
    assert done.code == 1
    assert CAPTURED[case, name] in " ".join(done.stdout.split())
    lines = done.stdout.replace(str(tmp_path), "").splitlines()
    assert all(len(line) <= 80 for line in lines)


def by_roles(target: str, draft: str, roles: dict[str, Any]) -> str:
    return capture(target.split(","), draft.split(","), roles)


SWAPPED = {
    "accept_target": ["1/5", "3/10", "1/2"],
    "accept_draft": ["1/2", "3/10", "1/5"],
    "residual_draft": ["1/5", "3/10", "1/2"],
}


def test_a_ratio_upside_down(path: Path) -> None:
    path.write_text(by_roles("1/2,3/10,1/5", "1/5,3/10,1/2", SWAPPED), encoding="utf-8")
    finding = main_of(findings("check", path))
    assert finding["ident"] == "rule-mismatch"
    assert ["accept_draft", "accept_target"] in finding["repairs"]
    assert (
        "the ratio is upside down: the test accepts with min(1, draft/target)" in (finding["notes"])
    )
    both = {**SWAPPED, "residual_target": ["1/5", "3/10", "1/2"]}
    both["residual_draft"] = ["1/2", "3/10", "1/5"]
    path.write_text(by_roles("1/2,3/10,1/5", "1/5,3/10,1/2", both), encoding="utf-8")
    finding = main_of(findings("check", path))
    assert "target and draft have changed places in test and residual" in finding["notes"]
    given_rows = ("--accept", "2/5,1,1", "--recovery", "1,0,0")
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,3/10,1/2")
    finding = main_of(findings("what-if", *rows, *given_rows))
    assert any("the ratio is upside down" in note for note in finding["notes"])


def test_a_row_that_is_another_one_cut(path: Path) -> None:
    roles = {"drafted_from": ["4/15", "8/15", "1/5", "0"]}
    path.write_text(by_roles("1/2,1/4,3/16,1/16", "1/4,1/2,3/16,1/16", roles), encoding="utf-8")
    notes = main_of(findings("check", path))["notes"]
    assert "the row drafted from is the tested row cut to 3 tokens and divided by 15/16" in notes
    roles = {"accept_draft": ["4/15", "8/15", "1/5", "0"],
             "drafted_from": ["1/4", "1/2", "1/4", "0"]}  # fmt: skip
    path.write_text(by_roles("1/2,1/4,3/16,1/16", "1/4,1/2,3/16,1/16", roles), encoding="utf-8")
    assert not any("cut to" in note for note in main_of(findings("check", path))["notes"])


def test_a_softmax_over_the_residual_is_recognised() -> None:
    from math import exp

    left = [0.3, 0.0, 0.0, 0.1]
    weights = [Fraction(exp(value)) for value in left]
    recovered = [weight / sum(weights) for weight in weights]
    short = [value.limit_denominator(10**7) for value in recovered]
    short[-1] = 1 - sum(short[:-1])
    rows = ("--target", "1/2,1/10,1/10,3/10", "--draft", "1/5,3/10,3/10,1/5")
    given_rows = ("--accept", "1,1/3,1/3,1", "--recovery", spell(short))
    finding = main_of(findings("what-if", *rows, *given_rows))
    assert finding["ident"] == "residual-mismatch"
    assert any("softmax over max(target - draft, 0)" in note for note in finding["notes"])


def test_the_correction_of_a_keep_rule_is_verified() -> None:
    rows = ("--target", "2/5,2/5,1/5", "--draft", "1/2,3/10,1/5", "--keep", "own-probability:1/4")
    done = run("what-if", *rows, "--format", "json")
    (step,) = done.json()["steps"]
    correction = step["positions"][0]["proposal"]["correction"]
    assert correction["total_variation"]["exact"] == "0"
    assert correction["acceptance_rate"]["exact"] == "7/10"
    options = correction["options"].split()
    again = run("what-if", *rows, *options, "--format", "json")
    assert again.code == 0
    rate = again.json()["steps"][0]["positions"][0]["acceptance_rate"]["exact"]
    assert rate == "7/10"


def test_a_profile_that_is_not_constant_may_be_harmless() -> None:
    rows = ("--target", "1/2,1/2,0", "--draft", "1/4,1/4,1/2", "--keep-row", "1,1,0")
    assert findings("what-if", *rows, code=0) == []


def test_the_bonus_row_names_its_repair(path: Path) -> None:
    step = {"target": ["2/5", "1/5", "3/10", "1/10"], "draft": ["2/5", "1/5", "3/10", "1/10"]}
    step["bonus"] = step["target"]
    path.write_text(json.dumps({"kind": "probabilities", **step}), encoding="utf-8")
    found = findings("check", path, "--allowed", "0+1", "--role", "bonus_from=raw")
    assert [finding["ident"] for finding in found] == ["bonus-mismatch", "impossible-token"]
    assert found[0]["repairs"] == [["bonus_from"]]
    assert found[0]["cause"] == ["draw the bonus token with allowed 0+1"]


# The limits of the search, said.


def test_the_search_ends_and_says_so() -> None:
    faults = (
        "--role", "drafted_from=top-k:2", "--role", "accept_target=temperature:1/2",
        "--role", "residual_target=temperature:1/2",
    )  # fmt: skip
    with patch("specdist.verify.variants.MOST", 4):
        finding = main_of(findings("what-if", *BASE, *faults))
    assert finding["ident"] == "output-mismatch"
    assert finding["repairs"] == []
    assert any(note.startswith("the search for repairs ended after") for note in finding["notes"])


def test_only_the_first_positions_of_a_step_are_searched_in_full(path: Path) -> None:
    position = {"target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "1/2", "3/10"]}
    document = {"kind": "probabilities", "positions": [position] * 18}
    path.write_text(json.dumps(document), encoding="utf-8")
    found = findings("check", path, "--role", "drafted_from=top-k:2")
    mains = [finding for finding in found if finding["ident"] == "drafted-mismatch"]
    assert len(mains) == 18
    assert all(len(finding["repairs"]) == 2 for finding in mains)
    limited = ["16 positions" in " ".join(finding["notes"]) for finding in mains]
    assert limited == [False] * 16 + [True] * 2


# The voice.

SAMPLE = """\
error[drafted-mismatch]: output differs from the reference
  --> sample_inputs/draft_top_p_untested.json, step 0, position 0
   |
   |  drafted from    draft, top-p 9/10                     3 tokens possible
   |  tested against  draft, raw                            4 tokens possible
   |                         ^^^^^^^^^^ top-p is missing here
   |
   |  token      reference   drafted    tested    output   output - reference
   |  ' an'           1/16         0      1/16         0       -1/16  -0.0625
   |  ' the'           1/2      4/15       1/4      8/15       +1/30  +0.0333
   |  ' a'             1/4      8/15       1/2      4/15       +1/60  +0.0167
   |  '[/INST]'       3/16       1/5      3/16       1/5       +1/80  +0.0125
   |
   = note: ' an' can never be emitted: it is never drafted, and the residual
           gives it max(0, 1/16 - 1/16) = 0
   = note: total variation 1/16; the acceptance rate 11/15 = 0.7333 is 7/240
           above the honest 169/240 = 0.7042
   = cause (proven): equality returns with either smallest repair
           1. test and subtract the distribution that was drafted from
           2. draft without top-p
   = reproduce: specdist what-if --target 1/2,1/4,3/16,1/16 \\
                  --draft 1/4,1/2,3/16,1/16 --role drafted_from=top-p:9/10
   = explain: specdist explain drafted-mismatch
"""


def test_the_lesson_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES.parent)
    done = run("check", "sample_inputs/draft_top_p_untested.json")
    assert done.stdout.startswith(SAMPLE + "\n")


def test_unfolded_and_quiet() -> None:
    sample = SAMPLES / "draft_top_p_untested.json"
    done = run("check", sample, "-v")
    assert "accepted above the reference, by 7/240" in " ".join(done.stdout.split())


@pytest.mark.parametrize("depth", [0, 12])
def test_quiet_is_a_line_a_finding_however_long_its_path(tmp_path: Path, depth: int) -> None:
    folder = tmp_path.joinpath(*["a-long-folder-name"] * depth)
    folder.mkdir(parents=True, exist_ok=True)
    sample = Path(shutil.copy(SAMPLES / "draft_top_p_untested.json", folder))
    quiet = run("check", sample, "-q").stdout.splitlines()
    assert quiet == [
        f"error[drafted-mismatch]: {sample}, step 0, position 0: total variation 1/16 = 0.0625",
        "1 step checked: 0 equal, 1 different, 0 undecided",
    ]


def sides() -> Iterator[tuple[str, str, str]]:
    yield "top-p:1/2", "raw", "draft without top-p"
    yield "raw", "top-k:2", "draft with top-k 2"
    yield "temperature:1/2", "temperature:1/3", "draft with temperature 1/3 instead of 1/2"
    yield (
        "top-k:2,top-p:1/2",
        "temperature:1/2",
        ("draft without top-k and top-p, with temperature 1/2"),
    )


@pytest.mark.parametrize(("drafted", "tested", "words"), list(sides()))
def test_a_repair_of_the_draft_in_plain_words(drafted: str, tested: str, words: str) -> None:
    rows = ("--target", "2/5,3/10,1/5,1/10", "--draft", "1/4,1/4,1/6,1/3")
    roles = [("drafted_from", drafted), ("accept_draft", tested), ("residual_draft", tested)]
    chosen = [word for role, recipe in roles for word in ("--role", f"{role}={recipe}")]
    finding = main_of(findings("what-if", *rows, *chosen, "--zero-draft", "reject"))
    assert words in finding["cause"]
