"""The end of the page: what was read and how, the settings, where the page comes from."""

from __future__ import annotations

from specdist.model.report import Report
from specdist.reports import counters_text
from specdist.reports.html.markup import Html, element, html, listed
from specdist.reports.json_report import plain

_MANY, _MOST = 20, 500


def counters_section(report: Report) -> Html:
    """What engines counted, beside the exact figures."""
    if not report.counters:
        return Html()
    texts = ["\n".join(counters_text.lines(item)) for item in report.counters]
    blocks = [element("pre", text) for text in texts]
    return element("section", element("h2", "counters"), *blocks)


def settings_section(report: Report) -> Html:
    """Settings in force, what was assumed about the rows, version and sources."""
    said = [*report.read_as, *report.in_force]
    assumed = html(element("h3", "read as, and in force"), _many(said)) if said else Html()
    rows = [
        element(
            "tr", element("th", name, scope="row"), element("td", element("code", _text(value)))
        )
        for name, value in report.settings.items()
    ]
    table = element(
        "table",
        element(
            "thead",
            element(
                "tr", element("th", "setting", scope="col"), element("th", "value", scope="col")
            ),
        ),
        element("tbody", *rows),
    )
    return element(
        "section",
        element("h2", "settings and provenance"),
        assumed,
        element("h3", "settings in force"),
        element("div", table, class_="wide") if rows else element("p", "all defaults"),
        element("h3", "captures"),
        _many(report.sources) or element("p", "none was read"),
    )


def colophon(report: Report) -> Html:
    """Which program wrote the page, and with what it is drawn."""
    return colophon_of(report.version)


def colophon_of(version: str) -> Html:
    """The same for the version that wrote it."""
    return element(
        "footer",
        element(
            "p",
            f"written by specdist {version} from its report alone: the same report gives "
            "the same bytes. Numbers are exact where they are fractions, else six digits of an "
            "exact value, with the bound of its rounding where one entered.",
        ),
        element(
            "p",
            "Drawn with d3 7.9.0, copyright 2010-2023 Mike Bostock, ISC licence. This file loads "
            "nothing from anywhere.",
        ),
        class_="colophon",
    )


def _text(value: object) -> str:
    shown = plain(value)
    return ", ".join(map(str, shown)) if isinstance(shown, list) else str(shown)


def _many(items: tuple[str, ...] | list[str]) -> Html:
    first, rest = items[:_MANY], items[_MANY:]
    more = Html()
    if rest:
        summary = element("summary", f"{len(rest):,} more")
        hidden = len(rest) - _MOST
        last = [f"... and {hidden:,} more: --format json has all"] if hidden > 0 else []
        more = element("details", summary, listed([*rest[:_MOST], *last]), class_="more")
    return html(listed(first), more)
