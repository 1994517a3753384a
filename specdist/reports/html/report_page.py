"""A report as a page: verdict and scope, figures, findings, pictures of every step, settings."""

from __future__ import annotations

from specdist.model.report import Report
from specdist.reports.forms.form import FormOptions
from specdist.reports.html.findings_section import findings_section
from specdist.reports.html.markup import Html, element, html
from specdist.reports.html.packed import Packer
from specdist.reports.html.packed_steps import PackedSteps, pack_steps
from specdist.reports.html.page import page
from specdist.reports.html.settings_section import colophon, counters_section, settings_section
from specdist.reports.html.top_section import (
    heading_of,
    summary_section,
    verdict_section,
    verdict_title,
)
from specdist.reports.view import View, plural

SCRIPTS = (
    "mass_bars.js",
    "other_bars.js",
    "acceptance.js",
    "step_parts.js",
    "step_list.js",
    "report.js",
)


def report_page(report: Report, options: FormOptions) -> str:
    """The file. The same report and options give the same bytes."""
    view = View(options.show)
    packed = pack_steps(report, options)
    main = element(
        "main",
        verdict_section(report, view),
        summary_section(report, view),
        findings_section(report, view, packed.at),
        _overview(report),
        _steps(report, packed),
        counters_section(report),
        settings_section(report),
    )
    masthead = element(
        "header", element("b", "specdist"), element("span", heading_of(report)), class_="masthead"
    )
    data = {
        "texts": packed.texts,
        "steps": packed.steps,
        "mean": Packer(1).number(report.summary.acceptance_rate),
    }
    title = f"specdist: {verdict_title(report)}"
    return page(title, html(masthead, main, colophon(report)), data, SCRIPTS)


def _overview(report: Report) -> Html:
    """Where the charts over all steps go; one position needs none."""
    if report.summary.positions < 2:
        return Html()
    return element(
        "section",
        element("h2", "acceptance along positions and over steps"),
        element("div", id="overview", class_="pair"),
        class_="overview",
    )


def _steps(report: Report, packed: PackedSteps) -> Html:
    if not report.steps:
        return Html()
    left_out = []
    if not packed.spelled:
        left_out.append("long fractions are shown with six digits, as the page would be too large")
    if packed.without_tokens:
        left_out.append(f"{plural(packed.without_tokens, 'step')} without the masses of tokens")
    if packed.unlisted:
        left_out.append(f"{plural(packed.unlisted, 'step')} not listed: those of least difference")
    advice = ". --select picks steps, --format json has all of them"
    note = element("p", "; ".join(left_out) + advice, class_="after-list") if left_out else Html()
    return element(
        "section",
        element("h2", "step by step"),
        note,
        element("div", id="steps"),
        element(
            "noscript",
            element(
                "p",
                "the pictures and the steps need JavaScript; the findings "
                "above and --format json do not",
            ),
        ),
        class_="every-step",
    )
