"""A whole sweep: every setting of a grid over the same captures, summed up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from specdist import __version__
from specdist.model.capture import Unreadable
from specdist.model.outcome import outcome_of
from specdist.model.settings import Settings
from specdist.model.sweep import Axis, SweepPoint, SweepReport
from specdist.model.sweep_crossing import FloorAnswer
from specdist.verify.sweep.best import best_of, counts_of
from specdist.verify.sweep.checked import Checked
from specdist.verify.sweep.floor import floor_along
from specdist.verify.sweep.kept import Kept
from specdist.verify.sweep.spreading import checked_all
from specdist.verify.sweep.worth import worth

Values = tuple[str, ...]

SAME_RATE = (
    "at a draft length every draft token is accepted with the mean acceptance rate of its setting, "
    "whatever was accepted before (arXiv 2211.17192, equation 1)"
)
SAME_ROWS = "at a draft length the typed rows hold at every position, whatever was drafted before"
_PATH = "rows along one drafted path do not determine the expected tokens of a step"


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is swept. ``settings_of`` makes the settings of the values of ``axes``; ``lengths`` is
    the index of the axis of draft lengths, where it is a model over single positions (see `worth`)
    and no setting: the rows are then checked once for all lengths. ``typed``: the rows were typed.
    """

    axes: tuple[Axis, ...]
    settings_of: Callable[[Values], Settings]
    lengths: int | None = None
    typed: bool = False

    def settings(self) -> Iterator[Values]:
        """The values of every setting; None of the draft lengths but the first."""
        axes = [axis.values for axis in self.axes]
        if self.lengths is not None:
            axes[self.lengths] = axes[self.lengths][:1]
        yield from product(*axes)

    @property
    def checks(self) -> int:
        """How many settings are checked."""
        count = 1
        for index, axis in enumerate(self.axes):
            count *= 1 if index == self.lengths else len(axis.values)
        return count


def label_of(axes: Sequence[Axis], values: Values) -> str:
    """``temperature=0.5, top-p=0.9``."""
    return ", ".join(f"{axis.name}={value}" for axis, value in zip(axes, values, strict=True))


def run_sweep(
    sweep: Sweep,
    kept: Kept,
    *,
    shown: Mapping[str, object],
    step_done: Callable[[int], None] = lambda count: None,
) -> SweepReport:
    """Checks every setting. ``step_done`` is told of finished steps. Raises SpecdistError for a
    setting that does not fit, with the setting as its place."""
    every = list(sweep.settings())
    first = sweep.settings_of(every[0])
    workers = 1 if first.checking.user_rule else first.checking.workers or os.cpu_count() or 1
    labelled = ((label_of(sweep.axes, values), sweep.settings_of(values)) for values in every)
    found: dict[Values, SweepPoint] = {}
    said = _Said()
    for values, one in zip(every, checked_all(kept, labelled, workers, step_done), strict=True):
        said.add(one, label_of(sweep.axes, values))
        found |= _points(sweep, values, one, first)
    points = tuple(found[values] for values in product(*(axis.values for axis in sweep.axes)))
    return SweepReport(
        version=__version__,
        axes=sweep.axes,
        points=points,
        counts=counts_of(points),
        best=best_of(points),
        settings=shown,
        sources=tuple(said.sources),
        scope=said.scope or (),
        assumes=_assumptions(sweep, points),
        read_as=tuple(said.read_as),
        unreadable=tuple(said.unreadable),
        not_captures=tuple(said.not_captures),
        floor=_floor(sweep, points, kept),
    )


@dataclass(slots=True)
class _Said:
    """What the checks say beside their numbers, each thing once; of the scope what all say."""

    sources: dict[str, None] = field(default_factory=dict)
    scope: tuple[str, ...] | None = None
    read_as: dict[str, None] = field(default_factory=dict)
    unreadable: dict[Unreadable, None] = field(default_factory=dict)
    not_captures: dict[str, None] = field(default_factory=dict)

    def add(self, one: Checked, label: str) -> None:
        """Takes a check. Raises CaptureError where nothing could be read under its setting."""
        report = one.report
        if not report.sources and report.unreadable:
            error = report.unreadable[-1].error()
            error.place = f"{label}: {error.place}" if self.sources else error.place
            raise error
        self.sources |= dict.fromkeys(report.sources)
        known = report.scope if self.scope is None else self.scope
        self.scope = tuple(text for text in known if text in report.scope)
        self.read_as |= dict.fromkeys(report.read_as)
        self.unreadable |= dict.fromkeys(report.unreadable)
        self.not_captures |= dict.fromkeys(report.not_captures)


def _floor(sweep: Sweep, points: Sequence[SweepPoint], kept: Kept) -> FloorAnswer | None:
    """Along one axis that changes the acceptance rate; None for grids and without a floor."""
    numbers = sweep.axes[0].numbers
    if len(sweep.axes) != 1 or sweep.lengths is not None or numbers is None:
        return None
    floor = sweep.settings_of(points[0].values).checking.min_acceptance
    if floor is None:
        return None
    summaries = [point.summary for point in points]
    return floor_along(
        numbers, summaries, lambda value: sweep.settings_of((str(value),)), kept, floor
    )


def _points(
    sweep: Sweep, values: Values, one: Checked, first: Settings
) -> Iterator[tuple[Values, SweepPoint]]:
    """The points of one check: one, or one for each draft length."""
    report = one.report
    idents = dict.fromkeys((*one.findings, *(item.ident for item in report.unreadable)))
    point = SweepPoint(
        values, report.verdict, outcome_of(report), report.summary, tuple(idents),
        bool(report.floors_missed),
    )  # fmt: skip
    costs = first.checking.cost
    if sweep.lengths is None:
        yield values, replace(point, worth=worth(one, None, costs))
        return
    for text in sweep.axes[sweep.lengths].values:
        here = (*values[: sweep.lengths], text, *values[sweep.lengths + 1 :])
        yield here, replace(point, values=here, worth=worth(one, int(text), costs))


def _assumptions(sweep: Sweep, points: Sequence[SweepPoint]) -> tuple[str, ...]:
    said: dict[str, None] = {}
    if sweep.lengths is not None:
        said[SAME_ROWS if sweep.typed else SAME_RATE] = None
    elif points[0].worth.expected_tokens is None and points[0].summary.positions:
        said[_PATH] = None
    for point in points:
        for line in point.worth.cost:
            if "factor" in line.name or "best draft length" in line.name:
                said |= {line.assumes: None} if line.assumes else {}
    best_modelled = sweep.lengths is None and any(
        point.worth.best_draft_length is not None for point in points
    )
    if best_modelled:
        said[SAME_ROWS if sweep.typed else SAME_RATE] = None
    texts = tuple(said)
    return tuple(
        text for text in texts if not any(text in other and text != other for other in texts)
    )
