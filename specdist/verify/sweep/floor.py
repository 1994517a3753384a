"""The floor of a finished sweep: which values of its option lose it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from specdist.errors import SettingsError, SpecdistError
from specdist.exact.interval import Interval
from specdist.model.capture import Capture, Step, Unreadable
from specdist.model.report import Summary
from specdist.model.settings import CheckSettings, Settings
from specdist.model.sweep_crossing import FloorAnswer
from specdist.verify.plan import Plans
from specdist.verify.run import check
from specdist.verify.summary import figure_interval
from specdist.verify.sweep.breakpoints import breakpoints_of
from specdist.verify.sweep.cells import Breakpoints
from specdist.verify.sweep.crossing import floor_answer
from specdist.verify.sweep.kept import Kept
from specdist.verify.sweep.rate import acceptance

SettingsAt = Callable[[Fraction], Settings]
_SLACK = Fraction(1, 1 << 50)
_ANYTHING = Interval(Fraction(0), Fraction(1))


def floor_along(
    numbers: Sequence[Fraction],
    summaries: Sequence[Summary],
    settings_at: SettingsAt,
    kept: Kept,
    floor: Fraction,
) -> FloorAnswer | None:
    """Where the mean acceptance rate crosses a floor from the least to the largest of ``numbers``.

    ``summaries`` are those of the checks at ``numbers``, ``settings_at`` gives the settings at any
    other value. None where no draft token was checked, or not the same rows everywhere: a capture
    that cannot be read has no rate.
    """
    if any(isinstance(item, Unreadable) for item in kept.captures):
        return None
    rates = [rate_of_summary(summary) for summary in summaries]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates) or len({summary.positions for summary in summaries}) != 1:
        return None

    def rate_at(value: Fraction) -> Interval:
        try:
            settings = settings_at(value)
            return acceptance(_steps(kept, settings), settings.checking)
        except SpecdistError:  # a value of its own kind, as of a step that empties a row there
            return _ANYTHING

    whole = _takes_whole_numbers(numbers, settings_at, kept)
    points = None if whole or kept.size is None else _breakpoints(numbers, settings_at, kept)
    return floor_answer(numbers, known, rate_at, floor, points, whole=whole)


def rate_of_summary(summary: Summary) -> Interval | None:
    """Where the mean acceptance rate lies; None of no draft token."""
    if summary.acceptance_bounds is not None:
        return summary.acceptance_bounds
    figure = summary.acceptance_rate
    if figure is None:
        return None
    if figure.exact is not None:
        return figure_interval(figure)
    middle, slack = Fraction(figure.approx), (figure.bound or 0) + _SLACK
    return Interval(middle - slack, middle + slack).within(Fraction(0), Fraction(1))


def _steps(kept: Kept, settings: Settings) -> Iterator[Step]:
    """The steps that the settings select."""
    captures = [item for item in kept.captures if isinstance(item, Capture)]
    run = check(captures, settings)
    for capture in captures:
        yield from run.selected(capture)


def _breakpoints(
    numbers: Iterable[Fraction], settings_at: SettingsAt, kept: Kept
) -> Breakpoints | None:
    ends = sorted(numbers)

    def checking_at(value: Fraction) -> CheckSettings:
        return settings_at(value).checking

    try:
        steps = list(_steps(kept, settings_at(ends[0])))
        return breakpoints_of(steps, checking_at, ends[0], ends[-1])
    except SpecdistError:
        return None


def _takes_whole_numbers(numbers: Sequence[Fraction], settings_at: SettingsAt, kept: Kept) -> bool:
    """Whether the option refuses the middle between two whole numbers."""
    if any(number.denominator > 1 for number in numbers):
        return False
    try:
        settings = settings_at(min(numbers) + Fraction(1, 2))
        step = next(_steps(kept, settings), None)
        if step is not None:
            Plans(settings.checking).of(step)
    except SettingsError:
        return True
    except SpecdistError:
        return False
    return False
