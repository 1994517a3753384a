"""What comes first on the page: the verdict in words, what it does not say, the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specdist.model.outcome import Outcome, accuses, outcome_of
from specdist.model.report import Report
from specdist.model.verdict import Verdict
from specdist.reports import aggregate, layout, pass_text, statement_text, terminal
from specdist.reports.html.markup import Html, Part, element, html, icon, listed
from specdist.reports.html.unwrapped import paragraphs
from specdist.reports.interval_text import rate
from specdist.reports.rule_text import rule_title
from specdist.reports.view import View, is_zero, plural

_TITLES = {
    Verdict.EQUAL: "equal: the output law is the target's",
    Verdict.WITHIN_TOLERANCE: "within the declared tolerance: the output law differs by less",
    Verdict.DIFFERENT: "different: the output law is not the target's",
    Verdict.UNDECIDED: "undecided: neither equality nor a difference is proven",
    Verdict.NOTHING_CHECKED: "nothing checked",
}
_FAILS = {
    Verdict.EQUAL: "the run fails, although every checked step is equal",
    Verdict.WITHIN_TOLERANCE: "the run fails, although every checked step is within the tolerance",
    Verdict.UNDECIDED: "the run fails, and a step is undecided",
}


def verdict_title(report: Report) -> str:
    """The verdict in a line: what the run means where that says more."""
    outcome = outcome_of(report)
    if outcome is Outcome.FAILED:
        return _FAILS.get(report.verdict, _TITLES[report.verdict])
    if outcome is Outcome.PASSED and report.verdict is Verdict.DIFFERENT:
        return "every difference was allowed"
    if outcome is Outcome.UNDECIDED:
        return _TITLES[Verdict.UNDECIDED]
    return _TITLES[report.verdict]


def _sign(report: Report) -> str:
    outcome = outcome_of(report)
    if outcome is Outcome.FAILED:
        return "different"
    if outcome is Outcome.PASSED and report.verdict is Verdict.DIFFERENT:
        return "allowed"
    return outcome.value if outcome is not Outcome.PASSED else report.verdict.value


def verdict_section(report: Report, view: View) -> Html:
    """The banner with the counts, and below it the scope."""
    sign = _sign(report)
    said = [element("p", text, class_="said") for text in _said(report, view)]
    banner = element(
        "section",
        icon(sign),
        element("div", element("h1", verdict_title(report)), *said),
        class_=f"sheet verdict is-{sign}",
        aria_label="verdict",
    )
    if not report.scope or not report.summary.steps:
        return banner
    scope = element(
        "section",
        element("h2", "what this verdict does not say"),
        listed(report.scope),
        class_="sheet scope",
    )
    return html(banner, scope)


def _said(report: Report, view: View) -> Iterator[str]:
    yield terminal.summary(report)[-1]
    if outcome_of(report) is Outcome.PASSED:
        yield pass_text.claim(report, view)
    yield from report.floors_missed
    errors = Counter(f.ident for step in report.steps for f in step.findings if accuses(f))
    if errors:
        yield "findings: " + ", ".join(
            f"{count:,} {ident}" for ident, count in errors.most_common()
        )
    broken = sum(1 for item in report.unreadable if item.counts)
    if broken:
        yield f"{plural(broken, 'file')} could not be read: see the findings"


def summary_section(report: Report, view: View) -> Html:
    """The figures of the whole run, and what is said beside them."""
    tiles = [
        element("div", element("dt", name), element("dd", value, note), class_="tile")
        for name, value, note in _tiles(report, view)
    ]
    beside = listed(_beside(report, view), class_="soft beside")
    return element(
        "section",
        element("h2", "summary"),
        element("dl", *tiles, class_="tiles"),
        beside,
    )


def _tiles(report: Report, view: View) -> Iterator[tuple[str, Html, Html]]:
    counts = report.summary
    yield "steps checked", Html(f"{counts.steps:,}"), _small(_shares(report))
    if counts.positions:
        yield "draft positions", Html(f"{counts.positions:,}"), Html()
    tested = counts.acceptance_bounds
    if tested is not None:
        yield _tile("acceptance rate", rate(tested, view.numerals), _mean(report))
    elif counts.acceptance_rate is not None:
        yield _tile("acceptance rate", view.numerals.rate(counts.acceptance_rate), _mean(report))
    variation = counts.variation_bounds
    if variation is not None:
        yield _tile("largest total variation", rate(variation, view.numerals), "")
    elif counts.total_variation_max is not None:
        largest = view.numerals.rate(counts.total_variation_max)
        yield _tile("largest total variation", largest, _where(report, view))
    if counts.drafts_optimum is not None:
        best = view.numerals.rate(counts.drafts_optimum)
        yield _tile("most that several drafts could reach", best, "")
    yield from _of_one_step(report, view)


def _of_one_step(report: Report, view: View) -> Iterator[tuple[str, Html, Html]]:
    if len(report.steps) != 1 or report.summary.steps != 1:
        return
    step = report.steps[0]
    included = "tokens a step, bonus token included"
    if step.mean_acceptance_length is not None:
        length = view.numerals.rate(step.mean_acceptance_length)
        yield _tile("mean acceptance length", length, included)
    elif step.length_bounds is not None:
        length = rate(step.length_bounds, view.numerals)
        yield _tile("mean acceptance length", length, included)


def _tile(name: str, value: str, note: str) -> tuple[str, Html, Html]:
    """The first number large, what follows it small: ``169/240`` and ``= 0.7042``."""
    first, equals, rest = value.partition(" = ")
    first, bracket, bound = first.partition(" (")
    small = " ".join(filter(None, (equals.strip() + " " + rest if rest else "", bracket + bound)))
    return name, html(first), html(_small(small.strip()), _small(note))


def _small(text: str) -> Html:
    return element("small", text) if text else Html()


def _shares(report: Report) -> str:
    counts = report.summary
    parts = {
        "equal": counts.equal,
        "within tolerance": counts.within_tolerance,
        "different": counts.different,
        "undecided": counts.undecided,
    }
    shown = [f"{count:,} {word}" for word, count in parts.items() if count]
    return ", ".join([*shown, *([f"{counts.allowed:,} allowed"] if counts.allowed else [])])


def _mean(report: Report) -> str:
    return aggregate.mean_over(report).removeprefix(", ").strip()


def _where(report: Report, view: View) -> str:
    largest = report.summary.total_variation_max
    if largest is None or is_zero(largest):
        return ""
    line = aggregate.largest_line(report, view)
    return line[line.rindex("(") + 1 : -1] if report.summary.positions > 1 and "(" in line else ""


def _beside(report: Report, view: View) -> Iterator[Part]:
    if report.steps:
        rules = dict.fromkeys(rule_title(step.rule) for step in report.steps)
        yield f"rule: {', '.join(rules)}"
    yield from paragraphs(statement_text.lines(report, view))
    best = aggregate.several_drafts(report, view)
    if best:
        yield best
    if aggregate.has_blocks(report):
        yield aggregate.NO_LENGTH
    if report.filtered_out:
        yield f"{plural(report.filtered_out, 'step')} filtered out, not checked"
    if report.not_captures:
        names = element("p", ", ".join(report.not_captures))
        count = plural(len(report.not_captures), "file is no capture", "files are no captures")
        yield element("details", element("summary", f"{count}, not counted"), names)


def heading_of(report: Report) -> str:
    """What was checked, in a few words, for the head of the page."""
    lines = pass_text.header(report) if report.steps else list(report.sources[:1])
    return " ".join(line.strip() for line in lines) or layout.wrap("no capture")[0]
