"""Results over conditional models built by hand, number by number, for the tests of reports.

The numbers of the block step are those of target (1/3, 2/3) and draft (2/3, 1/3) of two tokens,
with a third token that neither model gives any mass.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.joint_report import (
    Admission,
    AdmissionLine,
    JointBonus,
    JointCorrection,
    JointResult,
    Marginal,
    MarginalToken,
    Optimum,
    PathPosition,
    PathResult,
    RequestLine,
    SequenceLine,
)
from specdist.model.report import Report, RoleUse, StepResult, Summary
from specdist.model.verdict import Verdict
from tests import report_samples

TEXTS = ("A", "B", "[/INST]")


def number(text: str) -> Figure:
    return Figure.of(Fraction(text))


def numbers(text: str) -> tuple[Figure, ...]:
    return tuple(number(part) for part in text.split())


def sequence(tokens: str, reference: str, output: str) -> SequenceLine:
    ids = tuple(int(digit) for digit in tokens)
    difference = Figure.of(Fraction(output) - Fraction(reference))
    texts = tuple(TEXTS[token] for token in ids)
    return SequenceLine(ids, texts, number(reference), number(output), difference)


def marginal(index: int, variation: str, columns: tuple[str, str]) -> Marginal:
    reference, output = map(numbers, columns)
    tokens = tuple(
        MarginalToken(i, TEXTS[i], ref, out, Figure.of(out.exact - ref.exact))
        for i, (ref, out) in enumerate(zip(reference, output, strict=True))
    )
    return Marginal(index, number(variation), tokens)


SAME = ("1/3 2/3 0", "1/3 2/3 0")
BLOCK = JointResult(
    shape="a chain of 2 draft tokens",
    vocab_size=3,
    nodes=2,
    depth=2,
    horizon=3,
    route="proposals",
    outcomes=1024,
    total_variation=number("0"),
    expected_accepted=number("11/9"),
    expected_tokens=number("20/9"),
    survival=numbers("2/3 5/9"),
    accepted_length=numbers("1/3 1/9 5/9"),
    marginals=tuple(marginal(i, "0", SAME) for i in range(3)),
    sequences=(sequence("111", "8/27", "8/27"), sequence("011", "4/27", "4/27")),
    roles=(RoleUse("reference", "target", "raw", 2),),
    bonus=JointBonus(number("5/9"), number("0")),
    optima=(Optimum("block", number("11/9"), number("0")),),
)
TOKEN = replace(
    BLOCK,
    expected_accepted=number("10/9"),
    expected_tokens=number("19/9"),
    survival=numbers("2/3 4/9"),
    accepted_length=numbers("1/3 2/9 4/9"),
    bonus=JointBonus(number("4/9"), number("0")),
    optima=(Optimum("block", number("11/9"), number("1/9")),),
)
WRONG = replace(
    TOKEN,
    total_variation=number("1/9"),
    marginals=(
        marginal(0, "1/12", ("1/3 2/3 0", "1/4 2/3 1/12")),
        *(marginal(i, "0", SAME) for i in (1, 2)),
    ),
    sequences=(
        sequence("000", "1/27", "0"),
        sequence("112", "0", "1/27"),
        sequence("201", "0", "1/54"),
    ),
    roles=(
        RoleUse("reference", "target", "temperature:1", 2),
        RoleUse("accept_target", "target", "temperature:1", 2),
        RoleUse("residual_target", "target", "temperature:1", 2),
        RoleUse("bonus_from", "target", "temperature:1", 2),
        RoleUse("drafted_from", "draft", "temperature:1,top-p:9/10", 2),
        RoleUse("accept_draft", "draft", "temperature:1", 3),
        RoleUse("residual_draft", "draft", "temperature:1", 3),
    ),
    bonus=JointBonus(number("4/9"), number("1/16")),
    forbidden_mass=number("1/18"),
)
MAIN = Finding(
    "drafted-mismatch",
    Severity.ERROR,
    "the joint law differs from the reference",
    notes=("total variation 1/9 over the first 3 tokens",),
    repairs=(("drafted_from",),),
    cause=("draft without top-p",),
    reproduce="specdist what-if --target 1/3,2/3,0 --draft 2/3,1/3,0 --draft-length 2 "
    "--role drafted_from=top-p:9/10",
)


def line(prefix: str, probability: str) -> AdmissionLine:
    ids = tuple(int(digit) for digit in prefix)
    return AdmissionLine(ids, tuple(TEXTS[token] for token in ids), number(probability))


CONSTANT = Admission((line("0", "1/2"), line("1", "1/2"), line("01", "1/4")), constant=True)
BENT = Admission(
    (line("0", "1"), line("1", "0"), line("01", "1")), False, line("0", "1"), line("1", "0")
)
CORRECTION = JointCorrection(number("7/10"), number("0"), "--length corrected")
REQUESTS = (
    RequestLine(0, Verdict.EQUAL, number("0"), number("1/2")),
    RequestLine(1, Verdict.EQUAL, number("0"), number("9/10")),
)
PATH = PathResult(
    positions=(
        PathPosition(0, 0, number("1/2"), number("1/3"), number("1/2")),
        PathPosition(1, 2, number("3/4"), number("3/4"), number("1")),
    ),
    expected_accepted_token=number("1"),
    expected_accepted_block=number("5/4"),
    left_open=("the law of whole outputs", "what other drafts would have been accepted"),
)


def step(joint: JointResult, *findings: Finding, ident: str = "0", rule: str = "block"):
    """A step over conditional models, different where its total variation is not 0."""
    same = joint.total_variation.exact == 0
    verdict = Verdict.EQUAL if same else Verdict.DIFFERENT
    return StepResult(
        ident, "sample.json", rule, verdict, (), joint.expected_tokens, None, findings, joint=joint
    )


def report(*steps: StepResult) -> Report:
    """The steps as a run."""
    verdicts = [one.verdict for one in steps]
    worst = Verdict.DIFFERENT if Verdict.DIFFERENT in verdicts else Verdict.EQUAL
    drafted = sum(one.joint.depth if one.joint else len(one.positions) for one in steps)
    accepted = sum(
        one.joint.expected_accepted.exact
        if one.joint
        else sum(position.acceptance_rate.exact for position in one.positions)
        for one in steps
    )
    variations = [one.joint.total_variation for one in steps if one.joint]
    return Report(
        version="0.0.0",
        verdict=worst,
        settings={"rule": "block"},
        summary=Summary(
            steps=len(steps),
            positions=drafted,
            equal=verdicts.count(Verdict.EQUAL),
            within_tolerance=0,
            different=verdicts.count(Verdict.DIFFERENT),
            undecided=0,
            allowed=0,
            acceptance_rate=Figure.of(accepted / drafted) if drafted else None,
            total_variation_max=max(variations, key=lambda f: f.approx, default=number("0")),
        ),
        steps=steps,
        findings=(),
        unreadable=(),
        not_captures=(),
        scope=report_samples.SCOPE,
        sources=("sample.json",),
    )


def blocks(path: PathResult | None = PATH) -> StepResult:
    """A captured block of two positions under block verification."""
    first = report_samples.PASSING
    positions = (first, replace(first, index=1))
    return StepResult(
        "0", "sample.json", "block", Verdict.EQUAL, positions, None, None, (), path=path
    )
