"""Reports of steps over conditional models and of captured paths: texts to the letter, JSON."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest
from jsonschema import ValidationError

from specdist.model.finding import Finding, Severity, Shown
from specdist.model.joint_report import JointBonus, JointResult, Optimum, PathResult
from specdist.model.report import Report
from specdist.model.verdict import Verdict
from specdist.reports.json_report import to_json
from specdist.reports.jsonl_report import step_line
from specdist.reports.style import Paint
from specdist.reports.terminal import render
from specdist.reports.view import View
from tests import joint_samples as joint
from tests import report_samples
from tests.joint_samples import number, report, step
from tests.test_reports_json import validate

PASS = """\
sample.json  1 step, a chain of 2 draft tokens, 3 tokens in vocabulary

  outputs of 3 tokens compared; every proposal enumerated, 1,024 outcomes listed

  accepted  probability   at least
  0                 1/3          1
  1                 2/9        2/3
  2                 4/9        4/9

ok: output equals the reference exactly (rational arithmetic, no tolerance)
    rule token verification    acceptance rate 5/9 = 0.5556 of 2 draft tokens
    mean acceptance length 19/9 = 2.1111, bonus token included
    expected accepted tokens 10/9 = 1.1111 a step, for the stated models, no
        independence assumed
    block optimum 11/9 = 1.2222: this rule leaves 1/9 = 0.1111 tokens per step
        on the table
    bonus token after full acceptance, probability 4/9 = 0.4444: given the
        accepted tokens its law is the reference's

scope: nothing about speed; nothing about a deployment
1 step checked: 1 equal, 0 different, 0 undecided
"""

FAILURE = """\
error[drafted-mismatch]: the joint law differs from the reference
  --> sample.json, step 0
   |
   |  drafted from    draft, temperature 1, top-p 9/10      2 tokens possible
   |  tested against  draft, temperature 1                  3 tokens possible
   |                                      ^^^^^^^^^^^^ top-p is missing here
   |
   |  tokens             reference    output   output - reference
   |  'A' 'A' 'A'             1/27         0       -1/27  -0.037
   |  'B' 'B' '[/INST]'          0      1/27       +1/27  +0.037
   |  '[/INST]' 'A' 'B'          0      1/54       +1/54  +0.0185
   |  ... 24 more outputs
   |
   |  total variation by place of the output: 1/12, 0, 0
   |
   = note: total variation 1/9 over the first 3 tokens
   = cause (proven): equality returns with the smallest repair
           1. draft without top-p
   = reproduce: specdist what-if --target 1/3,2/3,0 --draft 2/3,1/3,0 \\
                  --draft-length 2 --role drafted_from=top-p:9/10
   = explain: specdist explain drafted-mismatch

over 1 step, 2 draft tokens
    acceptance rate 5/9 = 0.5556
    mean acceptance length 19/9 = 2.1111, bonus token included
    expected accepted tokens 10/9 = 1.1111 a step, for the stated models, no
        independence assumed
    block optimum 11/9 = 1.2222: this rule leaves 1/9 = 0.1111 tokens per step
        on the table
    bonus token after full acceptance, probability 4/9 = 0.4444: given the
        accepted tokens its law has the mean total variation 1/16 = 0.0625 from
        the reference's

scope: nothing about speed; nothing about a deployment
1 step checked: 0 equal, 1 different, 0 undecided
"""

PATH = """\
  position  drafted    token acceptance   ratio r   coin h
  0         ' the'                  1/2       1/2      1/3
  1         '[/INST]'                 1       3/4      3/4

  given this path: accepted draft tokens 1 under token verification, 5/4 = 1.25
    under block verification
  left open: the law of whole outputs
  left open: what other drafts would have been accepted
"""


def passing() -> Report:
    return report(step(joint.TOKEN, rule="token"))


def failing() -> Report:
    return report(step(joint.WRONG, joint.MAIN, rule="token"))


def flat(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def one(result: JointResult, view: View | None = None) -> str:
    return flat(render(report(step(result)), view or View()))


def test_a_pass_and_a_failure_to_the_letter() -> None:
    assert render(passing(), View()) == PASS
    assert render(failing(), View()) == FAILURE


def test_colour_adds_nothing_but_colour() -> None:
    for made, plain in ((failing(), FAILURE), (passing(), PASS)):
        painted = render(made, View(paint=Paint(colour=True)))
        assert painted != plain
        assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_quiet_names_the_step_and_its_total_variation() -> None:
    assert render(failing(), View(quiet=True)).splitlines() == [
        "error[drafted-mismatch]: sample.json, step 0: total variation 1/9 = 0.1111",
        "1 step checked: 0 equal, 1 different, 0 undecided",
    ]


def test_a_finding_about_a_place_has_the_figure_of_that_place() -> None:
    placed = replace(joint.MAIN, position=0)
    made = report(step(joint.WRONG, placed))
    assert "position 0: total variation 1/12" in render(made, View(quiet=True))


def test_findings_shown_inside_stand_with_the_main_one() -> None:
    inner = Finding(
        "impossible-token", Severity.ERROR, "mass where none may be", shown=Shown.INSIDE
    )
    shown = render(report(step(joint.WRONG, joint.MAIN, inner)), View())
    first, second = shown.splitlines()[:2]
    assert first.startswith("error[drafted-mismatch]")
    assert second == "error[impossible-token]: mass where none may be"
    assert shown.count("mass where none may be") == 1
    assert "specdist explain impossible-token" in shown


@pytest.mark.parametrize(
    ("optimum", "said"),
    [
        (("block", "11/9", "0", True), "block optimum 11/9 = 1.2222: this rule leaves nothing"),
        (("one draft", "2/3", "1/6", True), "optimum of one draft 2/3 = 0.6667: this rule leaves "
         "1/6 = 0.1667 tokens per step on the table"),
        (("multi-path bound", "131/81", "1/9", False), "multi-path bound 131/81 = 1.6173 (an "
         "upper bound): this rule leaves at most 1/9 = 0.1111 tokens per step"),
        (("block", "1", "-2/9", True), "block optimum 1: this rule accepts 2/9 = 0.2222 more "
         "than any lossless one can"),
    ],
)  # fmt: skip
def test_an_optimum_says_what_is_left_on_the_table(
    optimum: tuple[str, str, str, bool], said: str
) -> None:
    name, value, left, attained = optimum
    best = Optimum(name, number(value), number(left), attained, "a remark")
    shown = one(replace(joint.BLOCK, optima=(best,)))
    assert said in shown
    assert "; a remark" in shown


def test_every_optimum_is_said_and_none_without_one() -> None:
    two = (*joint.BLOCK.optima, Optimum("n drafts", number("4/3"), number("1/9")))
    assert one(replace(joint.BLOCK, optima=two)).count("optimum") == 2
    assert "optimum" not in one(replace(joint.BLOCK, optima=()))


def test_a_bound_beside_a_value_that_is_attained_is_unfolded_only() -> None:
    bound = Optimum("overlap bound", number("4/3"), number("1/9"), attained=False)
    both = replace(joint.BLOCK, optima=(*joint.BLOCK.optima, bound))
    assert "overlap" not in one(both)
    assert "overlap bound 4/3" in one(both, View(verbose=True))
    assert "overlap bound 4/3" in one(replace(joint.BLOCK, optima=(bound,)))


def test_admission_profiles_are_explained_with_their_witness() -> None:
    constant = one(replace(joint.BLOCK, admission=joint.CONSTANT))
    assert "does not depend on that token, after any prefix" in constant
    assert "drafted so far" not in constant
    assert "'A' 'B' 2 1/4" in one(
        replace(joint.BLOCK, admission=joint.CONSTANT), View(verbose=True)
    )
    bent = render(report(step(replace(joint.WRONG, admission=joint.BENT), joint.MAIN)), View())
    assert "   |  drafted so far  k   k are verified" in bent
    assert "outputs that the reference never emits" not in flat(bent), "the findings say it"
    alone = flat(render(report(step(replace(joint.WRONG, admission=joint.BENT))), View()))
    assert "Pr(length >= 1 | 'A') = 1, Pr(length >= 1 | 'B') = 0" in alone
    assert "mass 1/18 = 0.0556 on outputs that the reference never emits" in alone
    assert "the enumeration finds no difference" not in alone


def test_a_profile_alone_is_no_verdict() -> None:
    shown = one(replace(joint.BLOCK, admission=joint.BENT))
    assert "Pr(length >= 1 | 'B') = 0; by itself this proves nothing" in shown
    assert "ok: output equals the reference exactly" in shown


def test_a_witness_in_a_batch_says_what_is_known_of_the_others() -> None:
    first, second = (replace(line, request=1) for line in joint.BENT.lines[:2])
    bent = replace(
        joint.BENT, lines=(first, second), witness=first, against=second, revealed=((0, 2), ())
    )
    shown = render(report(step(replace(joint.WRONG, admission=bent), joint.MAIN)), View())
    assert "request 1: 'A' 1 1" in flat(shown)
    assert "with 0,2 of request 0, nothing of request 1 verified" in flat(shown)
    assert "'A' of request 1 1 times, 'B' of request 1 0 times" in flat(shown)


def test_requests_are_two_statements() -> None:
    apart = one(replace(joint.BLOCK, requests=joint.REQUESTS))
    assert "outputs of 3 tokens from each of 2 requests compared" in apart
    assert (
        "each request by itself: request 0 equal, 1/2 accepted; request 1 equal, 9/10 accepted "
        "all requests jointly: equal"
    ) in apart
    together = replace(joint.WRONG, requests=joint.REQUESTS)
    shown = flat(render(report(step(together, joint.MAIN)), View()))
    assert "request 0 equal, 1/2 accepted" in shown
    assert "all requests jointly: different, total variation 1/9 = 0.1111" in shown


def test_places_of_the_output_stand_by_request() -> None:
    both = replace(joint.WRONG, requests=joint.REQUESTS, marginals=(*joint.WRONG.marginals,) * 2)
    places = flat(render(report(step(both, joint.MAIN)), View()))
    assert "by place of the output: request 0 1/12, 0, 0; request 1 | 1/12, 0, 0" in places


def test_a_request_that_differs_by_itself_says_by_how_much() -> None:
    apart = replace(
        joint.REQUESTS[1], verdict=Verdict.DIFFERENT, total_variation=joint.number("1/9")
    )
    both = replace(joint.WRONG, requests=(joint.REQUESTS[0], apart))
    shown = flat(render(report(step(both, joint.MAIN)), View()))
    assert "request 1 different, total variation 1/9, 9/10 accepted" in shown


def test_outputs_of_several_requests_stand_behind_bars() -> None:
    joined = (joint.sequence("0120", "0", "1/27"), joint.sequence("1100", "1/27", "0"))
    result = replace(joint.WRONG, horizon=2, requests=joint.REQUESTS, sequences=joined)
    shown = render(report(step(result, joint.MAIN)), View())
    assert "'A' 'B' | '[/INST]' 'A'" in shown
    assert "... 79 more outputs" in shown, "3 tokens at 4 places, 2 shown"


def test_an_output_whose_rest_comes_from_the_target_is_open() -> None:
    short = (joint.sequence("0", "1/3", "1/4"), joint.sequence("1", "2/3", "3/4"))
    shown = render(report(step(replace(joint.WRONG, sequences=short), joint.MAIN)), View())
    assert "   |  'A' ...        1/3       1/4       -1/12  -0.0833" in shown
    assert "more outputs" not in shown


def test_tokens_without_texts_are_ids() -> None:
    bare = tuple(replace(line, texts=(None,) * 3) for line in joint.WRONG.sequences)
    shown = render(report(step(replace(joint.WRONG, sequences=bare), joint.MAIN)), View())
    assert "   |  1,1,2           0      1/27       +1/27  +0.037" in shown


def test_other_facts_are_said_where_they_hold() -> None:
    result = replace(
        joint.BLOCK, correction=joint.CORRECTION, unused_rows=3, notes=("a remark of the core",),
        route="prefixes", outcomes=1,
    )  # fmt: skip
    shown = one(result)
    assert "made lossless with --length corrected: expected accepted tokens 7/10 = 0.7" in shown
    assert "3 rows for prefixes that no step reaches: not used" in shown
    assert "a remark of the core" in shown
    assert "found by recursion over prefixes, 1 outcome listed" in shown
    plain = one(replace(joint.BLOCK, bonus=None))
    for word in ("made lossless", "rows for prefixes", "bonus token after", "outputs that the"):
        assert word not in plain


def test_nothing_is_claimed_of_positions_that_do_not_exist() -> None:
    for view in (View(), View(verbose=True)):
        assert "a rejection has probability 0" not in one(joint.BLOCK, view)
        assert "closed forms" not in one(joint.BLOCK, view)
    empty = replace(
        joint.BLOCK, shape="a chain of 0 draft tokens", nodes=0, depth=0, horizon=1,
        survival=(), accepted_length=joint.numbers("1"), expected_accepted=number("0"),
        expected_tokens=number("1"), optima=(), bonus=JointBonus(number("1"), number("0")),
    )  # fmt: skip
    assert "mean acceptance length 1, bonus token included" in one(empty)


def test_rounding_is_not_called_rational() -> None:
    rounded = number("11/9")
    rounded.bound = Fraction(1, 10**9)
    shown = one(replace(joint.BLOCK, expected_accepted=rounded))
    assert "shared weights, no tolerance" in shown
    assert "1.22222 (within 1e-09)" in shown


def test_lucky_rules_are_named() -> None:
    lucky = flat(render(report(step(joint.TOKEN, rule="lenience:1/2")), View()))
    assert "lossy by design: equal for these rows only" in lucky
    mistaken = flat(render(report(step(joint.TOKEN, rule="block:coins=shared")), View()))
    assert "the rule is a known mistake: equal for these rows only" in mistaken
    assert "known mistake" not in one(joint.BLOCK)
    own = flat(render(report(step(joint.TOKEN, rule="rules/mine.py:Mine")), View()))
    assert "rule rules/mine.py:Mine acceptance rate" in own


def test_several_steps_are_a_line_each() -> None:
    made = report(step(joint.BLOCK), step(joint.TOKEN, ident="1", rule="token"))
    shown = render(made, View())
    assert "2 steps, each a chain of 2 draft tokens, 3 tokens in vocabulary" in shown
    assert "  step  accepted   tokens   left   total variation   verdict" in shown
    assert "  1         10/9     19/9    1/9                 0     equal" in shown
    assert "acceptance rate 7/12 = 0.5833, mean over 4 draft tokens" in shown
    unfolded = render(made, View(verbose=True))
    assert "step 1: a chain of 2 draft tokens" in unfolded
    assert unfolded.count("no\n        independence assumed") == 2
    assert "... 1 more step (all with -v" in render(made, View(show=1))


def test_steps_of_both_kinds_are_kept_apart() -> None:
    rows = replace(report_samples.passing().steps[0], id="1")
    shown = render(report(step(joint.BLOCK), rows), View())
    assert "2 steps, 3 draft tokens on the longest paths, 3 to 4 tokens in vocabulary" in shown
    assert "  step 1, position 0\n  token " in shown
    assert "  step 0: a chain of 2 draft tokens\n  outputs of 3 tokens" in shown
    assert "mean acceptance length" not in shown
    assert shown.count("expected accepted tokens 11/9 = 1.2222 a step") == 1
    failed = render(report(step(joint.WRONG, joint.MAIN), rows), View())
    assert (
        "over 2 steps, 3 draft tokens\n    largest total variation 1/9 = 0.1111 (step 0)" in failed
    )


def test_a_path_says_what_it_determines_and_what_it_leaves_open() -> None:
    shown = render(report(joint.blocks()), View())
    assert PATH in shown
    many = render(report(joint.blocks(), replace(joint.blocks(), id="1")), View())
    assert "  1                2                   1                 5/4" in many
    assert many.count("left open: the law of whole outputs") == 1
    assert "left open" not in render(report(joint.blocks(None)), View())
    failed = replace(joint.blocks(), positions=(report_samples.FAILING,), verdict=Verdict.DIFFERENT,
                     findings=(report_samples.FINDING,))  # fmt: skip
    assert "given this path: accepted draft tokens 1 under token" in render(report(failed), View())


LONG = ("a text of a token that is long", "[/INST] and more", "\n\x1b[31m third")


@pytest.mark.parametrize("view", [View(), View(verbose=True), View(exact=True), View(show=1)])
@pytest.mark.parametrize("size", [3, 99])
def test_no_line_is_longer_than_the_page_and_nothing_is_cut(view: View, size: int) -> None:
    odd = Fraction(10**30 + 1, 3 * 10**30)
    lines = tuple(
        replace(line, texts=LONG, output=number(str(odd)), difference=number(str(-odd)))
        for line in joint.WRONG.sequences
    )
    result = replace(
        joint.WRONG, vocab_size=size, sequences=lines, admission=joint.BENT,
        requests=joint.REQUESTS, correction=joint.CORRECTION, expected_accepted=number(str(odd)),
    )  # fmt: skip
    for made in (
        report(step(result, joint.MAIN)),
        report(step(replace(result, total_variation=number("0")))),
        report(joint.blocks()),
    ):
        shown = render(made, view)
        exact = str(odd)
        for line in shown.splitlines():
            assert len(line) <= 80 or exact in line, line
            assert "\x1b" not in line
    names = flat(render(report(step(result, joint.MAIN)), view))
    if size == 99:
        assert "0 '[/INST] and more' 0 '\\n\\x1b[31m third'" in names.replace(" | ", " ")


def document(made: Report) -> Any:
    return json.loads(json.dumps(to_json(made, exact=False)))


EVERYTHING = replace(
    joint.WRONG, admission=joint.BENT, correction=joint.CORRECTION, requests=joint.REQUESTS,
    notes=("a remark",),
)  # fmt: skip


@pytest.mark.parametrize(
    "made",
    [
        passing(), failing(), report(step(EVERYTHING)), report(joint.blocks()),
        report(step(replace(joint.BLOCK, admission=joint.CONSTANT, bonus=None, optima=()))),
        report(step(joint.BLOCK), report_samples.passing().steps[0]),
    ],
)  # fmt: skip
def test_json_follows_the_schema(made: Report) -> None:
    validate(document(made))
    for one_step in made.steps:
        validate(json.loads(step_line(one_step, exact=False)), "line")


def test_json_has_the_names_of_the_nouns() -> None:
    (made,) = document(report(step(EVERYTHING)))["steps"]
    assert list(made["joint"]) == [field.name for field in fields(JointResult)]
    assert made["path"] is None
    assert made["positions"] == []
    (rows,) = document(report_samples.passing())["steps"]
    assert (rows["joint"], rows["path"]) == (None, None)
    (block,) = document(report(joint.blocks()))["steps"]
    assert list(block["path"]) == [field.name for field in fields(PathResult)]
    assert block["path"]["positions"][1] == {
        "index": 1,
        "token": 2,
        "ratio": {"exact": "3/4", "approx": 0.75},
        "threshold": {"exact": "3/4", "approx": 0.75},
        "token_acceptance": {"exact": "1", "approx": 1.0},
    }


def test_the_numbers_of_a_joint_step() -> None:
    (made,) = document(report(step(EVERYTHING)))["steps"]
    figures = made["joint"]
    assert made["mean_acceptance_length"] == figures["expected_tokens"]
    assert figures["expected_accepted"]["exact"] == "10/9"
    assert [figure["exact"] for figure in figures["survival"]] == ["2/3", "4/9"]
    assert [figure["exact"] for figure in figures["accepted_length"]] == ["1/3", "2/9", "4/9"]
    assert figures["sequences"][1] == {
        "tokens": [1, 1, 2],
        "texts": ["B", "B", "[/INST]"],
        "reference": {"exact": "0", "approx": 0.0},
        "output": {"exact": "1/27", "approx": 1 / 27},
        "difference": {"exact": "1/27", "approx": 1 / 27},
    }
    assert figures["admission"]["witness"]["prefix"] == [0]
    assert figures["admission"]["against"]["probability"]["exact"] == "0"
    assert [request["verdict"] for request in figures["requests"]] == ["equal", "equal"]
    assert figures["optima"][0]["left"]["exact"] == "1/9"
    assert figures["optima"][0]["attained"] is True


@pytest.mark.parametrize("key", [field.name for field in fields(JointResult)])
def test_a_missing_member_of_a_joint_step_is_caught(key: str) -> None:
    made = document(passing())
    del made["steps"][0]["joint"][key]
    with pytest.raises(ValidationError):
        validate(made)


def test_undecided_steps_over_models_claim_nothing() -> None:
    open_step = replace(step(joint.TOKEN, rule="token"), verdict=Verdict.UNDECIDED)
    made = report(open_step)
    made = replace(
        made, verdict=Verdict.UNDECIDED, summary=replace(made.summary, equal=0, undecided=1)
    )
    shown = render(made, View())
    assert "ok:" not in shown
    assert "expected accepted tokens 10/9 = 1.1111 a step" in shown
