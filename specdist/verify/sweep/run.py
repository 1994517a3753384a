"""A whole sweep: every setting of a grid over the same captures, summed up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from specdist import __version__
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
    head: Checked | None = None
    for values, one in zip(every, checked_all(kept, labelled, workers, step_done), strict=True):
        head = one if head is None else head
        found |= _points(sweep, values, one, first)
    points = tuple(found[values] for values in product(*(axis.values for axis in sweep.axes)))
    if head is None:
        raise ValueError("a sweep has at least one setting")
    return SweepReport(
        version=__version__,
        axes=sweep.axes,
        points=points,
        counts=counts_of(points),
        best=best_of(points),
        settings=shown,
        sources=head.report.sources,
        scope=head.report.scope,
        assumes=_assumptions(sweep, points, head),
        read_as=head.report.read_as,
        unreadable=head.report.unreadable,
        not_captures=head.report.not_captures,
        floor=_floor(sweep, points, kept),
    )


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
    point = SweepPoint(
        values, report.verdict, outcome_of(report), report.summary, one.findings,
        bool(report.floors_missed),
    )  # fmt: skip
    costs = first.checking.cost
    if sweep.lengths is None:
        yield values, replace(point, worth=worth(one, None, costs))
        return
    for text in sweep.axes[sweep.lengths].values:
        here = (*values[: sweep.lengths], text, *values[sweep.lengths + 1 :])
        yield here, replace(point, values=here, worth=worth(one, int(text), costs))


def _assumptions(sweep: Sweep, points: Sequence[SweepPoint], head: Checked) -> tuple[str, ...]:
    said: dict[str, None] = {}
    if sweep.lengths is not None:
        said[SAME_ROWS if sweep.typed else SAME_RATE] = None
    elif head.tokens is None and head.report.summary.positions:
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
