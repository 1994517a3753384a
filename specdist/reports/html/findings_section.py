"""The findings: the worst with their lesson and a picture, the others in fewer words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from specdist.findings import catalogue
from specdist.model.capture import Unreadable
from specdist.model.finding import Finding, Severity, Shown
from specdist.model.report import Report, StepResult
from specdist.model.verdict import Verdict
from specdist.reports import aggregate
from specdist.reports.finding_text import inside, label, verdict_of
from specdist.reports.html.difference_table import difference_table, roles_block
from specdist.reports.html.markup import Html, copied, element, html, icon, listed
from specdist.reports.view import View, place, plural

Located = tuple[int, StepResult, Finding]
_LESSONS = 5
_LINES = 100


def findings_section(report: Report, view: View, at: Mapping[int, int]) -> Html:
    """All of it. ``at`` tells where the page's data holds a step, by its place in the report."""
    errors, warnings, notes = (_located(report, kind) for kind in Severity)
    errors.sort(key=lambda item: (item[2].allowed, -aggregate.size_of(*item[1:])))
    most = max(_LESSONS, view.show)
    told: set[str] = set()
    drawn = [n < _LESSONS for n in range(most)]
    lessons = [
        _lesson(item, view, at, told, draw)
        for item, draw in zip(errors[:most], drawn, strict=False)
    ]
    broken = report.unreadable
    hidden = len(broken) - _LINES
    parts = [
        *(_of_run(finding) for finding in report.findings),
        *(_unreadable(item) for item in broken[:_LINES]),
        element("p", f"... and {plural(hidden, 'more file')} unreadable") if hidden > 0 else "",
        *lessons,
        _others(errors[most:]),
        *_grouped(warnings),
    ]
    said = [part for part in parts if part]
    if not said:
        said = [element("p", _none(report), class_="sheet")]
    folded = [_folded_note(group) for group in _by_ident(notes)]
    more = [element("h3", "notes"), *folded] if folded else []
    return element("section", element("h2", "findings"), *said, *more, id="findings")


def _none(report: Report) -> str:
    counts = report.summary
    if not counts.steps:
        return "nothing was checked, so nothing was found"
    return "nothing found that speaks against the verdict"


def _located(report: Report, severity: Severity) -> list[Located]:
    return [
        (at, step, finding)
        for at, step in enumerate(report.steps)
        for finding in step.findings
        if finding.severity is severity and finding.shown is Shown.ALONE
    ]


def _headline(finding: Finding, verdict: Verdict | None, level: str = "h3") -> Html:
    start, _ = label(finding, verdict)
    kind = start.partition("[")[0]
    sign = "allowed" if kind == "tolerated" else kind
    ident = element("span", start.rstrip(":"), class_="ident")
    words = element("span", ident, f" {finding.message}")
    return element(level, element("span", icon(sign), class_=f"is-{sign}"), words)


def _lesson(item: Located, view: View, at: Mapping[int, int], told: set[str], drawn: bool) -> Html:
    """Where, the cause, the line to paste, the picture, the differences, the page to read; pages
    that were ``told`` before are left out."""
    index, step, finding = item
    beside = inside(step, finding, unfolded=True)
    loud = [other for other in beside if other.severity is not Severity.NOTE]
    notes = [other.message for other in beside if other.severity is Severity.NOTE]
    notes += [note for each in (finding, *loud) for note in each.notes]
    verdict = verdict_of(step, finding)
    idents = dict.fromkeys(each.ident for each in (finding, *loud))
    pages = [_page(ident) for ident in idents if ident not in told]
    told.update(idents)
    picture = Html()
    if drawn and index in at:
        where = None if finding.position is None else str(finding.position)
        picture = element(
            "div", class_="mount", data_step=str(at[index]), data_position=where or "all"
        )
    return element(
        "article",
        *(_headline(each, verdict) for each in (finding, *loud)),
        element("p", place(step, finding.position), class_="place"),
        roles_block(step, finding),
        *_repair(finding, view),
        picture,
        _list("what follows", notes),
        difference_table(step, finding, view),
        *pages,
        class_="sheet long lesson",
    )


def _list(title: str, items: Sequence[str]) -> Html:
    return html(element("h4", title), listed(items)) if items else Html()


def _repair(finding: Finding, view: View) -> Iterator[Html]:
    if finding.cause:
        which = ("the", "either", "any")[min(len(finding.cause), 3) - 1]
        words = f"{which} smallest repair" if len(finding.cause) < 3 else "any smallest repair"
        yield element("h4", f"proven cause: {finding.restores} returns with {words}")
        yield listed(finding.cause, tag="ol")
    if finding.smallest is not None:
        tokens = " ".join(str(token) for token in finding.smallest.tokens)
        size = view.numerals.number(finding.smallest.total_variation)
        yield element("h4", "smallest example")
        yield element("p", f"rows cut to the tokens {tokens} show it still: total variation {size}")
        yield copied(finding.smallest.reproduce)
    if finding.reproduce:
        yield element("h4", "reproduce: a line to paste")
        yield copied(finding.reproduce)


def _page(ident: str) -> Html:
    """The page that ``specdist explain`` prints, as it is written."""
    text = catalogue.page(ident)
    if text is None:
        return Html()
    summary = element("summary", "what ", element("code", ident), " means and how to fix it")
    return element("details", summary, element("pre", text.strip()), class_="more")


def _others(errors: Sequence[Located]) -> Html:
    if not errors:
        return Html()
    lines = [
        html(element("b", finding.ident), f" {place(step, finding.position)}")
        for _, step, finding in errors[:_LINES]
    ]
    hidden = len(errors) - len(lines)
    more = f"... and {plural(hidden, 'more finding')}; the steps below are listed with theirs"
    return element(
        "details",
        element("summary", plural(len(errors), "more finding") + " of smaller difference"),
        listed(lines),
        element("p", more) if hidden else Html(),
        class_="sheet more",
        data_print=True,
    )


def _by_ident(found: Sequence[Located]) -> list[list[Located]]:
    groups: dict[str, list[Located]] = {}
    for item in found:
        groups.setdefault(item[2].ident, []).append(item)
    return list(groups.values())


def _grouped(found: Sequence[Located]) -> Iterator[Html]:
    for group in _by_ident(found):
        finding = group[0][2]
        yield element(
            "article",
            _headline(finding, None),
            element("p", _places(group), class_="place"),
            listed(finding.notes),
            _page(finding.ident),
            class_="sheet lesson",
        )


def _places(group: Sequence[Located]) -> str:
    _, step, finding = group[0]
    more = len(group) - 1
    return place(step, finding.position) + (f" and {more:,} more" if more else "")


def _folded_note(group: Sequence[Located]) -> Html:
    finding = group[0][2]
    start, _ = label(finding, None)
    summary = element(
        "summary", element("span", start.rstrip(":"), class_="ident"), " ", finding.message
    )
    return element(
        "details",
        summary,
        element("p", _places(group), class_="place"),
        listed(finding.notes),
        class_="sheet lesson",
        data_print=True,
    )


def _of_run(finding: Finding) -> Html:
    return element(
        "article",
        _headline(finding, None),
        listed(finding.notes),
        _page(finding.ident),
        class_="sheet lesson",
    )


def _unreadable(item: Unreadable) -> Html:
    ident = element("span", f"error[{item.ident}]", class_="ident")
    head = element("span", ident, f" {item.message}")
    return element(
        "article",
        element("h3", element("span", icon("error"), class_="is-error"), head),
        element("p", item.place or item.source, class_="place"),
        listed(
            [
                *([f"expected: {item.expected}"] if item.expected else []),
                *([f"help: {item.advice}"] if item.advice else []),
            ]
        ),
        class_="sheet lesson",
    )
