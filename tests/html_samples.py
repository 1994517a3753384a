"""Reports for the tests of the HTML page: every verdict, hostile texts, a thousand steps."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.report import PositionResult, Report, StepResult, Summary, TokenLine
from specdist.model.verdict import Verdict
from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.html import render
from tests import report_samples

HOSTILE = (
    "</script><script>window.hurt=1</script>",
    "<img src=x onerror=window.hurt=2>",
    "\ud83d lone",
    "\u202egnp.exe",
    "שלום עולם",
    "🎉👩‍👩‍👧",
    "line\nbreak\tand \u2028 more",
    "&lt;b&gt; \" ' ` ${window.hurt=3}",
    "javascript:window.hurt=4",
    "x" * 5_000,
    "<!--<script>",
    "]]>\x00\x1b[31m",
)


def page(report: Report, show: int = 10, exact: bool = False) -> str:
    return render(report, FormOptions(show=show, exact=exact))


def data_of(text: str) -> Any:
    """The data that a page carries for its scripts."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def hostile() -> Report:
    """Token texts, ids, file names, messages and settings that attack or spoil a page."""
    count = len(HOSTILE)
    even, base = Fraction(1, count), Figure.of(Fraction(1, count))
    tokens = tuple(
        TokenLine(
            i,
            text,
            reference=base,
            drafted=base,
            tested=base,
            accepted=Figure.of(even / 2),
            residual=base,
            recovered=Figure.of(even / 2 + (Fraction(1, 1000) if i < 2 else 0) * (1 - 2 * i)),
            output=Figure.of(even + (Fraction(1, 1000) if i < 2 else 0) * (1 - 2 * i)),
            difference=Figure.of((Fraction(1, 1000) if i < 2 else Fraction(0)) * (1 - 2 * i)),
        )
        for i, text in enumerate(HOSTILE)
    )
    half = Figure.of(Fraction(1, 2))
    position = PositionResult(
        0, Verdict.DIFFERENT, count, half, half, half, half, Figure.of(Fraction(1, 1000)), tokens,
        report_samples.FAILING.roles,
    )  # fmt: skip
    attack = " ".join(HOSTILE[:9])
    finding = Finding(
        "output-mismatch",
        Severity.ERROR,
        attack,
        position=0,
        notes=(attack, "plain"),
        cause=(attack,),
        reproduce=f"specdist what-if {attack}",
    )
    base_report = report_samples.report(position, finding, source=attack)
    step = replace(base_report.steps[0], id=attack, options={"uniform": attack})
    return replace(
        base_report,
        steps=(step,),
        settings={attack: attack, "rule": "token"},
        read_as=(attack,),
        unreadable=(replace(report_samples.BROKEN, source=attack, message=attack),),
    )


def thousand(steps: int = 1000, positions: int = 4, failing: bool = False) -> Report:
    """Many steps of a few positions with numbers as long as those of float32 dumps."""
    made = tuple(_step(number, positions, failing) for number in range(steps))
    different = sum(step.verdict is Verdict.DIFFERENT for step in made)
    rate = Figure.of(Fraction(3, 5), Fraction(1, 10**14))
    summary = Summary(
        steps, steps * positions, steps - different, 0, different, 0, 0, rate,
        Figure.of(Fraction(1, 64)),
    )  # fmt: skip
    base = report_samples.passing()
    verdict = Verdict.DIFFERENT if different else Verdict.EQUAL
    return replace(base, steps=made, summary=summary, verdict=verdict, sources=("many.npz",))


def _step(number: int, positions: int, failing: bool) -> StepResult:
    differs = failing and number % 3 == 0
    verdict = Verdict.DIFFERENT if differs else Verdict.EQUAL
    made = tuple(_position(number % 60, index, verdict) for index in range(positions))
    findings = (replace(report_samples.FINDING, position=0),) if differs else ()
    return StepResult(
        f"row:{number}", f"many.npz, rows {number}", "token", verdict, made, None, None, findings
    )


@cache
def _position(number: int, index: int, verdict: Verdict) -> PositionResult:
    """Ten of 4,096 tokens, their masses dyadic fractions with long denominators."""
    scale = 2**60 + number

    def mass(part: int) -> Figure:
        return Figure.of(Fraction(part * 10**15 + 7919 * number + index, scale), Fraction(1, 2**47))

    shift = Fraction(1, 64) if verdict is Verdict.DIFFERENT else Fraction(0)
    tokens = []
    for i in range(10):
        reference, drafted = mass(100 - 9 * i), mass(90 - 8 * i)
        accepted, recovered = mass(80 - 8 * i), mass(20 - i)
        difference = shift * (1 if i == 0 else -1 if i == 1 else 0)
        output = Figure.of((reference.exact or 0) + difference, Fraction(1, 2**47))
        tokens.append(
            TokenLine(
                7 * i,
                f" word{(number + i) % 50}",
                reference,
                drafted,
                drafted,
                accepted,
                mass(30 - i),
                recovered,
                output,
                Figure.of(difference),
            )
        )
    rate = Figure.of(Fraction(600 + number % 100 + 50 * index, 1000) + Fraction(1, scale))
    variation = Figure.of(shift)
    uses = report_samples.PASSING.roles
    return PositionResult(
        index, verdict, 4096, rate, rate, mass(40), mass(40), variation, tuple(tokens), uses
    )
