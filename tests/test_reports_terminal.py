"""The text report: its layout to the letter, its numbers, its limits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.report import Report
from specdist.model.verdict import Verdict
from specdist.reports import layout
from specdist.reports.figure_text import Numerals, bound, decimal
from specdist.reports.style import Paint
from specdist.reports.terminal import render
from specdist.reports.view import View
from tests import report_samples as samples

FAILURE = """\
error[output-mismatch]: output differs from the reference
  --> sample.json, step 0, position 0
   |
   |  drafted from    draft, temperature 1, top-p 9/10      3 tokens possible
   |  tested against  draft, temperature 1                  4 tokens possible
   |                                      ^^^^^^^^^^^^ top-p is missing here
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
   = reproduce: specdist what-if --target 1/2,1/4,3/16,1/16 \\
                  --draft 1/4,1/2,3/16,1/16 --role drafted_from=top-p:9/10
   = explain: specdist explain output-mismatch

scope: nothing about speed; nothing about a deployment
1 step checked: 0 equal, 1 different, 0 undecided
"""

PASS = """\
sample.json  1 step, 1 draft token, 4 tokens in vocabulary

  token      reference   drafted   accepted   recovered   output   difference
  ' the'           1/2      4/15       4/15        7/30      1/2            0
  ' a'             1/4      8/15        1/4           0      1/4            0
  '[/INST]'       3/16       1/5       3/16           0     3/16            0
  ' an'           1/16         0          0        1/16     1/16            0
  sum                1         1    169/240      71/240        1

ok: output equals the reference exactly (rational arithmetic, no tolerance)
    rule token verification    acceptance rate 169/240 = 0.7042
    mean acceptance length 409/240 = 1.7042, bonus token included

scope: nothing about speed; nothing about a deployment
1 step checked: 1 equal, 0 different, 0 undecided
"""


def many(count: int, *, failing: bool = False, bounded: bool = False) -> Report:
    """A report of ``count`` steps, each of one position."""
    base = samples.failing() if failing else samples.passing()
    step = base.steps[0]
    if bounded:
        rate = Figure(0.70416666666, None, Fraction(1, 10**13))
        step = replace(step, positions=(replace(step.positions[0], acceptance_rate=rate),))
    counts = {"different": count, "equal": 0} if failing else {"equal": count}
    summary = replace(base.summary, steps=count, positions=count, **counts)
    steps = tuple(replace(step, id=str(i)) for i in range(count))
    return replace(base, steps=steps, summary=summary)


def test_a_failure_to_the_letter() -> None:
    assert render(samples.failing(), View()) == FAILURE


def test_a_pass_to_the_letter() -> None:
    assert render(samples.passing(), View()) == PASS


def test_colour_adds_nothing_but_colour() -> None:
    import re

    for report, plain in ((samples.failing(), FAILURE), (samples.passing(), PASS)):
        painted = render(report, View(paint=Paint(colour=True)))
        assert painted != plain
        assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_quiet_keeps_findings_and_summary() -> None:
    assert render(samples.passing(), View(quiet=True)).splitlines() == [
        "1 step checked: 1 equal, 0 different, 0 undecided"
    ]
    assert render(samples.failing(), View(quiet=True)).splitlines() == [
        "error[output-mismatch]: sample.json, step 0, position 0: total variation 1/16 = 0.0625",
        "1 step checked: 0 equal, 1 different, 0 undecided",
    ]


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
def test_many_steps_stay_short(failing: bool, bounded: bool) -> None:
    report = many(500, failing=failing, bounded=bounded)
    text = render(report, View())
    assert len(text.splitlines()) < 100
    assert all(len(line) <= 80 for line in text.splitlines())
    assert ("490 more findings" if failing else "490 more positions") in text
    assert "500 steps checked" in text
    assert len(render(report, View(verbose=True)).splitlines()) > 2000


def test_bounds_are_printed_with_the_rates() -> None:
    text = render(many(3, bounded=True), View())
    assert "within" in text
    assert "1e-13" in text
    assert "shared weights" in text
    assert "rational arithmetic" not in text


def test_an_unreadable_file_takes_the_ok_away() -> None:
    text = render(replace(samples.passing(), unreadable=(samples.BROKEN,)), View())
    assert text.startswith("error[unreadable-capture]: the file ends early\n  --> b.json, line 3\n")
    assert "\nok:" not in text
    assert "\nequal: output equals the reference exactly" in text
    assert "1 file unreadable" in text


def test_a_missed_floor_takes_the_ok_away() -> None:
    text = render(replace(samples.passing(), floors_missed=("rate 1/2 is below 9/10",)), View())
    assert text.startswith("error[acceptance-below-floor]: rate 1/2 is below 9/10\n")
    assert "\nok:" not in text


def test_nothing_checked_says_so() -> None:
    text = render(samples.nothing(), View())
    assert text == "nothing checked: no steps in sample.json\n"
    filtered = render(replace(samples.nothing(), filtered_out=7), View())
    assert filtered.startswith("nothing checked: 7 steps filtered out\n")


def test_an_allowed_finding_is_not_called_an_error() -> None:
    finding = replace(samples.FINDING, allowed=True)
    report = samples.report(samples.FAILING, finding)
    report = replace(report, summary=replace(report.summary, allowed=1))
    text = render(report, View())
    assert text.startswith("allowed[output-mismatch]: ")
    assert "error[" not in text
    assert "1 different (1 allowed)" in text


def test_notes_are_folded_by_ident() -> None:
    note = Finding("near-cut", Severity.NOTE, "the cut is near", position=0)
    report = many(9)
    report = replace(report, steps=tuple(replace(s, findings=(note,)) for s in report.steps))
    text = render(report, View())
    assert text.count("note[near-cut]: the cut is near") == 1
    assert "  --> sample.json, step 0, position 0 and 8 more\n" in text
    assert render(report, View(verbose=True)).count("note[near-cut]") == 9


def scaled(report: Report, variations: list[str]) -> Report:
    """A step for each total variation."""
    steps = [
        replace(step, positions=(replace(step.positions[0], total_variation=Figure.of(size)),))
        for step, size in zip(report.steps, map(Fraction, variations), strict=True)
    ]
    return replace(report, steps=tuple(steps))


def test_the_worst_step_comes_first_and_the_run_is_summed_up() -> None:
    text = render(scaled(many(5, failing=True), ["1/9", "1/8", "1/3", "1/7", "1/5"]), View(show=4))
    places = [line.split(", ")[1] for line in text.splitlines() if "sample.json, step" in line]
    assert places == ["step 2", "step 4", "step 3", "step 1"]
    assert "\n... 1 more finding of smaller or equal difference" in text
    block = text[text.index("over 5 steps") :].splitlines()
    assert block == [
        "over 5 steps, 5 positions",
        "    largest total variation 1/3 = 0.3333 (step 2, position 0)",
        "    mean acceptance rate 11/15 = 0.7333",
        "    findings: 5 output-mismatch",
        "",
        "scope: nothing about speed; nothing about a deployment",
        "5 steps checked: 0 equal, 5 different, 0 undecided",
    ]


@pytest.mark.parametrize("failing", [False, True])
def test_what_was_read_is_said(failing: bool) -> None:
    report = replace(
        many(2, failing=failing), read_as=tuple(f"logits in float32, file {i}" for i in range(5))
    )
    text = render(report, View(show=2))
    assert text.count("\n  read as logits in float32, file ") == 2
    assert "\n  ... 3 more captures (all with -v)\n" in text
    assert render(report, View(verbose=True)).count("read as ") == 5


def test_a_block_says_why_it_has_no_mean_acceptance_length() -> None:
    for report in (samples.passing(), samples.failing()):
        (step,) = report.steps
        both = (step.positions[0], replace(step.positions[0], index=1))
        step = replace(step, positions=both, mean_acceptance_length=None)
        summary = replace(report.summary, positions=2)
        text = render(replace(report, steps=(step,), summary=summary), View())
        assert "no mean acceptance length: rows along one path do not determine it\n" in text
        assert "no mean acceptance length" not in render(samples.passing(), View())


def test_a_role_with_a_row_of_its_own_is_shown() -> None:
    (step,) = samples.failing().steps
    uses = tuple(replace(use, recipe="row") for use in step.positions[0].roles)
    where = replace(step.positions[0], roles=uses)
    text = render(samples.report(where, samples.FINDING), View())
    assert "   |  drafted from    draft, own row                        3 tokens possible\n" in text
    assert "   |  tested against  draft, own row                        4 tokens possible\n" in text
    assert "   |  subtracted      draft, own row                        4 tokens possible\n" in text
    assert "missing here" not in text
    assert "tested    output" in text


def test_exact_values_too_long_for_a_table_stand_below_it() -> None:
    tiny = Figure.of(Fraction(1, 3**60))
    for where, finding in ((samples.PASSING, ()), (samples.FAILING, (samples.FINDING,))):
        tokens = tuple(replace(token, reference=tiny) for token in where.tokens)
        report = samples.report(replace(where, tokens=tokens), *finding)
        text = render(report, View(exact=True))
        assert text.count(f"  reference  1/{3**60}\n") == 4
        assert "exact values\n" in text
        assert "drafted  " in text
        assert "exact values" not in render(report, View())
        assert "exact values" not in render(samples.report(where, *finding), View(exact=True))
        assert all(len(line) <= 80 for line in text.splitlines())


def test_bounds_that_nobody_could_see_are_not_printed() -> None:
    for bound_, shown in (("1e-29", True), ("1e-31", False)):
        figure = Figure(0.5, Fraction(1, 2), Fraction(bound_))
        assert ("within" in Numerals().rate(figure)) is shown


def test_quiet_keeps_file_and_place_of_what_could_not_be_read() -> None:
    text = render(replace(samples.passing(), unreadable=(samples.BROKEN,)), View(quiet=True))
    assert text.startswith("error[unreadable-capture]: b.json, line 3: the file ends early\n")


def test_an_unreachable_residual_is_printed_as_such() -> None:
    zero = Figure.of(0)
    where = replace(samples.PASSING, rejected_mass=zero, acceptance_rate=Figure.of(1))
    assert "so the residual is unreachable" in render(samples.report(where), View())
    assert "unreachable" not in PASS


@pytest.mark.parametrize(
    ("verdict", "counts", "claim"),
    [
        (Verdict.EQUAL, {}, "output equals the reference exactly"),
        (
            Verdict.WITHIN_TOLERANCE,
            {"equal": 2, "within_tolerance": 1},
            "output is within the declared tolerance of the reference; largest total variation",
        ),
        (
            Verdict.DIFFERENT,
            {"equal": 2, "different": 1, "allowed": 1},
            "every difference was allowed",
        ),
        (Verdict.DIFFERENT, {"equal": 2, "different": 1}, None),
        (Verdict.DIFFERENT, {"equal": 1, "different": 2, "allowed": 1}, None),
        (Verdict.UNDECIDED, {"equal": 2, "undecided": 1}, None),
    ],
)
def test_only_a_pass_says_ok(verdict: Verdict, counts: dict[str, int], claim: str | None) -> None:
    text = render(replace(samples.counted(**counts), verdict=verdict), View())
    assert ("\nok:" in text) is (claim is not None)
    assert claim is None or f" ok: {claim}" in " ".join(text.split())
    assert "\n3 steps checked: " in text


def test_a_tolerated_difference_is_not_called_an_error() -> None:
    where = replace(samples.FAILING, verdict=Verdict.WITHIN_TOLERANCE)
    report = samples.report(where, samples.FINDING)
    summary = replace(report.summary, different=0, within_tolerance=1)
    report = replace(report, summary=summary, settings={"max-tv": "1/10"})
    text = render(report, View())
    assert text.startswith("tolerated[output-mismatch]: ")
    assert "error[" not in text
    assert (
        "\nok: output is within the declared tolerance 1/10 of the reference; largest total\n"
        "    variation 1/16 = 0.0625 (step 0, position 0)\n"
    ) in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[/INST]", "'[/INST]'"),
        ("[b]", "'[b]'"),
        ("\n", r"'\n'"),
        ("\ud800", r"'\ud800'"),
        ("it's", '''"it's"'''),
        ("\x1b[31m", r"'\x1b[31m'"),
        ("日本", "'日本'"),
        (None, "5"),
    ],
)
def test_token_texts_are_plain(text: str | None, shown: str) -> None:
    assert layout.token(text, 5, with_id=False) == shown


def test_long_token_texts_are_cut_and_wide_ones_aligned() -> None:
    assert layout.width_of(layout.token("x" * 5000, 5, with_id=False)) <= 24
    assert layout.width_of(layout.token("\\" * 99, 5, with_id=False)) <= 24
    lines = layout.table(["token", "n"], [["'日本'", "1"], ["'ab'", "22"]])
    assert {layout.width_of(line) for line in lines} == {max(map(layout.width_of, lines))}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("7/10", "7/10 = 0.7"),
        ("169/240", "169/240 = 0.7042"),
        ("1", "1"),
        ("0", "0"),
        ("1/9999", "1/9999 = 0.0001"),
        ("1/10001", "9.99900e-05"),
    ],
)
def test_short_fractions_keep_their_exact_form(value: str, shown: str) -> None:
    assert Numerals().rate(Figure.of(Fraction(value))).startswith(shown)


def test_nothing_is_rounded_onto_one_or_zero() -> None:
    assert decimal(Figure.of(1 - Fraction(1, 10**9))) == "1 - 1e-09"
    assert decimal(Figure.of(1 - Fraction(1, 10**400))) == "1 - 1e-400"
    assert decimal(Figure.of(1 + Fraction(1, 10**9))) == "1 + 1e-09"
    assert decimal(Figure.of(Fraction(1, 10**400))) == "1e-400"
    assert decimal(Figure.of(Fraction(-1, 10**400))) == "-1e-400"
    assert decimal(Figure.of(1)) == "1"


@pytest.mark.parametrize(
    "value", ["1/3", "2/3", "1/7000", "999/1000", "1e-13", "1e-400", "12", "1"]
)
def test_bounds_are_rounded_up(value: str) -> None:
    exact = Fraction(value)
    shown = Fraction(bound(exact))
    assert exact <= shown <= exact * Fraction(11, 10)


def test_exact_spells_fractions_out() -> None:
    figure = Figure.of(Fraction(1, 3**200))
    assert Numerals(exact=True).number(figure) == str(figure.exact)
    huge = Figure.of(Fraction(1, 3**20000))
    assert Numerals(exact=True).number(huge).endswith("1")


def test_a_reproduction_line_pastes_back() -> None:
    import shlex

    text = "specdist what-if --target " + ",".join(["1/16"] * 16) + " --draft-token 3 -T 1/2"
    lines = layout.command(text, "   = reproduce: ")
    assert len(lines) > 1
    pasted = "\n".join(lines).removeprefix("   = reproduce: ").replace("\\\n", " ")
    assert shlex.split(pasted) == shlex.split(text)
