"""Reports built by hand, number by number, for the tests of what renders them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from specdist.model.capture import Unreadable
from specdist.model.figure import Figure
from specdist.model.finding import Finding, Severity
from specdist.model.report import PositionResult, Report, RoleUse, StepResult, Summary, TokenLine
from specdist.model.verdict import Verdict

TEXTS = (" the", " a", "[/INST]", " an")
SCOPE = ("nothing about speed", "nothing about a deployment")


def figures(text: str) -> list[Figure]:
    return [Figure.of(Fraction(part)) for part in text.split()]


def position(verdict: Verdict, rates: str, columns: dict[str, str], roles: dict[str, str]):
    """A position of four tokens; ``rates``: acceptance, honest, rejected, variation."""
    values = {name: figures(text) for name, text in columns.items()}
    tokens = tuple(
        TokenLine(
            id=i,
            text=TEXTS[i],
            difference=Figure.of(values["output"][i].exact - values["reference"][i].exact),
            **{name: column[i] for name, column in values.items()},
        )
        for i in range(len(TEXTS))
    )
    acceptance, honest, rejected, variation = figures(rates)
    recovered = Figure.of(sum(token.recovered.exact for token in tokens))
    uses = tuple(
        RoleUse(role, "draft" if "draft" in role else "target", recipe, int(support))
        for role, (recipe, _, support) in ((r, t.partition("/")) for r, t in roles.items())
    )
    return PositionResult(
        0, verdict, 4, acceptance, honest, rejected, recovered, variation, tokens, uses
    )


PASSING = position(
    Verdict.EQUAL,
    "169/240 169/240 71/240 0",
    {
        "reference": "1/2 1/4 3/16 1/16",
        "drafted": "4/15 8/15 1/5 0",
        "tested": "4/15 8/15 1/5 0",
        "accepted": "4/15 1/4 3/16 0",
        "residual": "56/71 0 0 15/71",
        "recovered": "7/30 0 0 1/16",
        "output": "1/2 1/4 3/16 1/16",
    },
    {"reference": "raw/4", "drafted_from": "top-p:9|10/3", "accept_draft": "top-p:9|10/3"},
)
FAILING = position(
    Verdict.DIFFERENT,
    "11/15 169/240 4/15 1/16",
    {
        "reference": "1/2 1/4 3/16 1/16",
        "drafted": "4/15 8/15 1/5 0",
        "tested": "1/4 1/2 3/16 1/16",
        "accepted": "4/15 4/15 1/5 0",
        "residual": "1 0 0 0",
        "recovered": "4/15 0 0 0",
        "output": "8/15 4/15 1/5 0",
    },
    {
        "drafted_from": "temperature:1,top-p:9|10/3",
        "accept_draft": "temperature:1/4",
        "residual_draft": "temperature:1/4",
    },
)
FINDING = Finding(
    "output-mismatch",
    Severity.ERROR,
    "output differs from the reference",
    position=0,
    notes=(
        "' an' can never be emitted: it is never drafted, and the residual gives it "
        "max(0, 1/16 - 1/16) = 0",
        "total variation 1/16; the acceptance rate 11/15 = 0.7333 is 7/240 above the honest "
        "169/240 = 0.7042",
    ),
    reproduce="specdist what-if --target 1/2,1/4,3/16,1/16 --draft 1/4,1/2,3/16,1/16 "
    "--role drafted_from=top-p:9/10",
)


def report(where: PositionResult, *findings: Finding, source: str = "sample.json") -> Report:
    """A report of one step with one position."""
    uses = tuple(replace(use, recipe=use.recipe.replace("|", "/")) for use in where.roles)
    where = replace(where, roles=uses)
    length = Figure.of(1 + where.acceptance_rate.exact)
    step = StepResult("0", source, "token", where.verdict, (where,), length, None, findings)
    equal = where.verdict is Verdict.EQUAL
    return Report(
        version="0.0.0",
        verdict=where.verdict,
        settings={"rule": "token"},
        summary=Summary(
            1, 1, int(equal), 0, int(not equal), 0, 0, where.acceptance_rate, where.total_variation
        ),
        steps=(step,),
        findings=(),
        unreadable=(),
        not_captures=(),
        scope=SCOPE,
        sources=(source,),
    )


def passing() -> Report:
    return report(PASSING)


def failing() -> Report:
    return report(FAILING, FINDING)


def nothing() -> Report:
    """A readable capture without steps."""
    empty = Summary(0, 0, 0, 0, 0, 0, 0, None, None)
    return replace(passing(), verdict=Verdict.NOTHING_CHECKED, summary=empty, steps=())


def counted(**counts: int) -> Report:
    """A report of three steps with the given counts."""
    base = passing()
    summary = replace(base.summary, **{"steps": 3, "positions": 3, "equal": 3, **counts})
    return replace(base, summary=summary)


BROKEN = Unreadable("b.json", "the file ends early", "b.json, line 3", "a closing bracket", "")
