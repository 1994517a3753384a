"""Pictures as .png and .svg, by matplotlib (extra ``plot``), which is loaded when one is asked for.

The same report gives the same bytes: no date, no random ids.
"""

from __future__ import annotations

import io
from typing import Any

from specdist.model.report import PositionResult, Report
from specdist.model.sweep import SweepReport
from specdist.model.verdict import Verdict
from specdist.reports.sweep_measure import Number, height, measure_of

_MOST_TOKENS = 12
_BLUE, _ORANGE, _GREEN, _PURPLE, _GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#999999"
"""Colours that colour-blind readers tell apart (Okabe and Ito)."""
_SETTINGS: dict[Any, Any] = {"svg.hashsalt": "specdist", "svg.fonttype": "path"}


def sweep_picture(report: SweepReport, kind: str) -> bytes:
    """The measure of the sweep over the last axis, a line for each setting of the axes before it; a
    cross marks settings whose law differs."""
    import matplotlib

    with matplotlib.rc_context(_SETTINGS):
        figure, axes = _canvas()
        measure = measure_of(report)
        last = report.axes[-1]
        row = len(last.values)
        places = [float(n) for n in last.numbers] if last.numbers is not None else list(range(row))
        for start in range(0, len(report.points), row):
            points = report.points[start : start + row]
            heights = [_height(number) for number in measure.numbers[start : start + row]]
            names = zip(report.axes[:-1], points[0].values, strict=False)
            label = ", ".join(f"{axis.name} {value}" for axis, value in names)
            axes.plot(places, heights, marker=".", label=label or None)
            wrong = [i for i, point in enumerate(points) if point.verdict is Verdict.DIFFERENT]
            axes.plot([places[i] for i in wrong], [heights[i] for i in wrong], "kx", zorder=3)
        if last.numbers is None:
            axes.set_xticks(places, last.values)
        axes.set(xlabel=last.name, ylabel=measure.name, ylim=(0, measure.most * 1.02))
        if len(report.axes) > 1 and len(report.points) // row <= 12:
            axes.legend(fontsize="small")
        if any(point.verdict is Verdict.DIFFERENT for point in report.points):
            axes.set_title("x: the output law differs from the target's", fontsize="small")
        return _written(figure, kind)


def bars_picture(report: Report, kind: str) -> bytes:
    """Target, draft, and accepted + recovered of the first position that has whole rows."""
    import matplotlib

    positions = (position for step in report.steps for position in step.positions)
    position = next((position for position in positions if position.tokens), None)
    with matplotlib.rc_context(_SETTINGS):
        figure, axes = _canvas()
        if position is None:
            axes.text(0.5, 0.5, "no position with whole rows", ha="center", va="center")
        else:
            _bars(axes, position)
        return _written(figure, kind)


def _bars(axes: Any, position: PositionResult) -> None:
    tokens = sorted(position.tokens, key=lambda token: -token.reference.approx)[:_MOST_TOKENS]
    places = list(range(len(tokens)))
    width = 0.27
    accepted = [token.accepted.approx for token in tokens]
    for shift, heights, colour, label, bottom in (
        (-width, [t.reference.approx for t in tokens], _BLUE, "target", None),
        (0.0, [t.drafted.approx for t in tokens], _ORANGE, "draft", None),
        (width, accepted, _GREEN, "accepted", None),
        (width, [t.recovered.approx for t in tokens], _PURPLE, "recovered", accepted),
    ):
        at = [place + shift for place in places]
        hatch = "//" if label == "recovered" else None
        axes.bar(at, heights, width, bottom=bottom, color=colour, label=label, hatch=hatch)
    names = [repr(token.text) if token.text is not None else str(token.id) for token in tokens]
    axes.set_xticks(places, [name.replace("$", r"\$") for name in names])
    axes.set(ylabel="probability mass")
    axes.legend(fontsize="small")


def _canvas() -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=_GREY, alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes


def _written(figure: Any, kind: str) -> bytes:
    made = io.BytesIO()
    metadata = {"Date": None, "Creator": "specdist"} if kind == "svg" else {"Software": "specdist"}
    figure.savefig(made, format=kind, dpi=150, metadata=metadata)
    return made.getvalue()


def _height(number: Number) -> float:
    value = height(number)
    return float("nan") if value is None else value
