"""A sweep as a page: the acceptance over every axis, then a table of all settings."""

from __future__ import annotations

from specdist.model.sweep import SweepPoint, SweepReport
from specdist.reports.html.markup import Html, element, html, listed
from specdist.reports.html.page import page
from specdist.reports.html.settings_section import colophon_of
from specdist.reports.sweep_floor_text import floor_lines
from specdist.reports.sweep_forms import SweepOptions
from specdist.reports.sweep_measure import (
    Number,
    height,
    measure_of,
    rate_of,
    top,
    variation_of,
)
from specdist.reports.sweep_text import number_text, setting_text
from specdist.reports.view import plural


def render(report: SweepReport, options: SweepOptions) -> str:
    """The whole file. The same sweep gives the same bytes."""
    title = f"{measure_of(report).name} over {' and '.join(axis.name for axis in report.axes)}"
    main = element(
        "main",
        element("h1", title),
        _summary(report, options),
        element("div", id="sweep", class_="sheet"),
        element("h2", "settings"),
        element("div", _table(report, options), class_="wide"),
        element("h2", "scope"),
        listed([*report.assumes, *report.scope]),
    )
    masthead = element(
        "header", element("b", "specdist"), element("span", ", ".join(report.sources[:3])),
        class_="masthead",
    )  # fmt: skip
    body = html(masthead, main, colophon_of(report.version))
    return page(f"specdist: {title}", body, _data(report, options), ("sweep.js",))


def _summary(report: SweepReport, options: SweepOptions) -> Html:
    counts = ", ".join(f"{one.settings} {one.verdict.value}" for one in report.counts)
    said = [f"{plural(len(report.points), 'setting')} checked: {counts}"]
    if report.best is not None:
        said.append(f"best by {report.best.by}: {setting_text(report, report.best.index)}")
    if report.floor is not None:
        from specdist.reports.figure_text import Numerals

        lines = floor_lines(report.floor, report.axes[0].name, Numerals(options.exact))
        said.append(" ".join(line.strip() for line in lines))
    return listed(said)


def _table(report: SweepReport, options: SweepOptions) -> Html:
    names = [axis.name for axis in report.axes]
    head = [*names, "verdict", "acceptance rate", "total variation", "tokens a step"]
    rows = [element("tr", *_cells(point, options)) for point in report.points]
    return element(
        "table",
        element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
        element("tbody", *rows),
    )


def _cells(point: SweepPoint, options: SweepOptions) -> list[Html]:
    numbers = (rate_of(point), variation_of(point), point.worth.expected_tokens)
    return [
        *(element("td", value, class_="number") for value in point.values),
        element("td", point.verdict.value, class_=f"is-{point.verdict.value}"),
        *(element("td", number_text(value, options), class_="number") for value in numbers),
    ]


def _data(report: SweepReport, options: SweepOptions) -> object:
    """What the picture is drawn from: one line for each setting of all axes but the last."""
    last = report.axes[-1]
    measure = measure_of(report)
    numbers = last.numbers or range(len(last.values))
    row = len(last.values)
    lines = []
    for start in range(0, len(report.points), row):
        points = report.points[start : start + row]
        names = zip(report.axes[:-1], points[0].values, strict=False)
        lines.append(
            {
                "name": ", ".join(f"{axis.name} {value}" for axis, value in names),
                "points": [
                    _mark(point, measure.numbers[start + i], options)
                    for i, point in enumerate(points)
                ],
            }
        )
    return {
        "axis": last.name,
        "measure": measure.name,
        "most": measure.most,
        "numeric": last.numbers is not None,
        "places": [float(number) for number in numbers],
        "values": list(last.values),
        "lines": lines,
    }


def _mark(point: SweepPoint, number: Number, options: SweepOptions) -> list[object]:
    shown = number_text(number, options), number_text(variation_of(point), options)
    return [height(number), *shown, point.verdict.value, top(number)]
