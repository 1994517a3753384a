"""Reports of audits for the tests of reports: every verdict, both modes, hostile texts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.model.audit_report import (
    AuditReport,
    DraftLine,
    Mode,
    Raised,
    SequenceLine,
    Smallest,
    TableResult,
)
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.outcome import Outcome
from specdist.model.verdict import Verdict

ROUNDING = Fraction(1, 2**25)


def figure(value: Fraction | int | str) -> Figure:
    return Figure.of(Fraction(value))


def line(tokens: tuple[int, ...], reference: str, output: str) -> SequenceLine:
    difference = Fraction(output) - Fraction(reference)
    return SequenceLine(tokens, figure(output), figure(reference), figure(difference))


EQUAL_LINES = (line((0, 1), "1/2", "1/2"), line((1, 0), "1/4", "1/4"), line((2, 2), "1/4", "1/4"))
WRONG_LINES = (line((2, 2), "1/4", "0"), line((0, 1), "1/2", "5/8"), line((1, 0), "1/4", "3/8"))


def table(
    verdict: Verdict = Verdict.EQUAL, size: Fraction | int = 0, name: str = "equal rows"
) -> TableResult:
    wrong = verdict is Verdict.DIFFERENT
    return TableResult(
        name=name,
        verdict=verdict,
        length=2,
        total_variation=figure(size),
        first_variation=figure(Fraction(size) / 2),
        outside=figure(0),
        leaves=39,
        lines=WRONG_LINES if wrong else EQUAL_LINES,
        sequences=9,
    )


ROUNDED = table(Verdict.WITHIN_TOLERANCE, ROUNDING)
WRONG = table(Verdict.DIFFERENT, Fraction(1, 4), "a zero in the draft")
SMALLEST = Smallest(
    2, 1, 1, WRONG.name, (figure("1/4"), figure("3/4")), (figure("1/8"), figure("7/8")),
    figure("3/32"),
)  # fmt: skip
MISMATCH = Finding(
    "output-mismatch",
    Severity.ERROR,
    "the joint law of 2 tokens differs from the target's: total variation 1/4",
    notes=("first token alone: total variation 1/8",),
    cause=("resamples from the target",),
    reproduce="specdist audit x.py:step --vocab 2 --gamma 1 --tables 1 --steps 1",
)
RAISED = Raised("IndexError: index 3 is out of range", "x.py, line 7", figure("7/8"))
RAISES = Finding(
    "output-mismatch",
    Severity.ERROR,
    f"raises with probability 7/8 (equal rows): {RAISED.error}",
    notes=(RAISED.place,),
)
DRAFT = DraftLine(
    (2,),
    (figure("1/4"), figure("1/2"), figure("1/4")),
    (figure(0), figure(1), figure(0)),
    figure("1/2"),
)
DRAFTED = Finding(
    "drafted-mismatch",
    Severity.ERROR,
    "draft tokens are not drawn from the row that the test is given: total variation 1/2",
    notes=("drafted from (0, 1, 0)", "handed to the test (1/4, 1/2, 1/4)"),
)
LEAK = Finding(
    "impossible-token",
    Severity.WARNING,
    "sequences that the target cannot emit have probability 2.98023e-08",
    notes=("no rounding: a grammar or a ban would be broken at this rate",),
)
ROUNDING_NOTE = Finding("numeric-rounding", Severity.NOTE, "float rounding: 2.98e-08 at most")
BUDGET = Finding("undecided-budget", Severity.WARNING, "more than 1000 leaves (equal rows)")


def report(*tables: TableResult, findings: tuple[Finding, ...] = ()) -> AuditReport:
    """A report with these tables; its verdict is that of the worst."""
    order = (Verdict.DIFFERENT, Verdict.UNDECIDED, Verdict.WITHIN_TOLERANCE, Verdict.EQUAL)
    verdicts = {each.verdict for each in tables}
    wrong = Verdict.DIFFERENT in verdicts
    return AuditReport(
        version="0.0.0",
        source="x.py:step",
        mode=Mode.TRACED,
        verdict=next((v for v in order if v in verdicts), Verdict.NOTHING_CHECKED),
        settings={
            "vocab": 3,
            "gamma": 2,
            "tables": len(tables),
            "steps": 1,
            "dtype": "float32",
            "framework": "numpy",
            "mode": "traced",
            "format": "text",
        },
        tables=tables,
        findings=findings,
        predicted=39 * len(tables),
        runs=41 * len(tables),
        replays=2 * len(tables),
        grids=("k/2^53 on [0, 1)",),
        smallest=SMALLEST if wrong else None,
        notes=("exponential noise is idealised",),
        versions={"python": "3.11.4", "numpy": "2.1.0"},
        scope=("the law of this code on these tables",),
        line=7,
    )


def probed(*tables: TableResult, findings: tuple[Finding, ...] = ()) -> AuditReport:
    """The same by a probe, whose tables have bounds."""
    bounded = [replace(each, bound=figure("31/10000")) for each in tables]
    made = report(*bounded, findings=findings)
    return replace(made, mode=Mode.PROBE, settings={**made.settings, "mode": "probe"})


def hostile(text: str) -> AuditReport:
    """Every text that comes from outside is this one."""
    finding = replace(MISMATCH, message=text, notes=(text,), cause=(text,), reproduce=None)
    wrong = replace(
        WRONG, raised=(Raised(text, text, figure("1/8")),), resembles=(text,), draft=DRAFT
    )
    made = report(wrong, findings=(finding, replace(RAISES, message=f"raises: {text}")))
    return replace(
        made,
        source=f"{text}.py:step",
        settings={**made.settings, "reference": text, text: text},
        grids=(text,),
        notes=(text,),
        versions={"torch": text},
        scope=(text,),
    )


def audits(text: str) -> dict[str, tuple[AuditReport, Outcome]]:
    """Reports of audits by name, with what each means."""
    allowed = replace(MISMATCH, allowed=True)
    raising = replace(WRONG, raised=(RAISED,), draft=DRAFT)
    undecided = replace(table(Verdict.UNDECIDED, Fraction(1, 50)), unexplored=figure("1/3"))
    raised = replace(ROUNDING_NOTE, severity=Severity.ERROR)
    return {
        "audit equal": (report(table()), Outcome.PASSED),
        "audit lossless": (report(table(), ROUNDED, findings=(ROUNDING_NOTE,)), Outcome.PASSED),
        "audit different": (report(table(), WRONG, findings=(MISMATCH,)), Outcome.FAILED),
        "audit without a finding": (report(WRONG), Outcome.FAILED),
        "audit raising": (
            report(raising, findings=(MISMATCH, RAISES, DRAFTED, LEAK)),
            Outcome.FAILED,
        ),
        "audit allowed": (report(table(), WRONG, findings=(allowed,)), Outcome.PASSED),
        "audit raised": (
            replace(report(ROUNDED, findings=(raised,)), raised=(raised.ident,)),
            Outcome.FAILED,
        ),
        "audit undecided": (report(table(), undecided, findings=(BUDGET,)), Outcome.UNDECIDED),
        "audit undecided without a finding": (report(undecided), Outcome.UNDECIDED),
        "audit of no table": (report(), Outcome.NOTHING_CHECKED),
        "probe": (probed(table(), ROUNDED), Outcome.PASSED),
        "probe different": (probed(raising, findings=(MISMATCH, DRAFTED)), Outcome.FAILED),
        "audit hostile": (hostile(text), Outcome.FAILED),
    }
