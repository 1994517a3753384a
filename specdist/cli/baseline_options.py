"""``--baseline``: the accepted report that a run is compared with."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.cli.layers import placed
from specdist.cli.option import Option
from specdist.cli.option_values import share
from specdist.errors import SettingsError

if TYPE_CHECKING:
    from specdist.cli.settings import Effective
    from specdist.verify.baseline.comparison import Comparison

_BASELINE = "Fail where a step is worse than in this accepted JSON report."
_TOLERANCE = "Accept rates and total variations worse by up to R (default 0)."

BASELINE: tuple[Option, ...] = (
    Option("baseline", "Checking", _BASELINE, "REPORT"),
    Option("baseline-tolerance", "Checking", _TOLERANCE, "R"),
)


def baseline_path(chosen: Effective) -> str | None:
    """The file that holds the baseline; None without one."""
    value, _ = chosen.shown["baseline"]
    return None if value is None else str(value)


def read_baseline(chosen: Effective) -> Comparison | None:
    """The comparison that the settings ask for. Raises SettingsError for a baseline that cannot be
    read, or that was made under other settings."""
    path = baseline_path(chosen)
    text, origin = chosen.shown["baseline-tolerance"]
    with placed(origin):
        tolerance = Fraction(0) if text is None else share("baseline-tolerance", str(text))
        if path is None and text is not None:
            raise SettingsError(
                "baseline-tolerance is given without a baseline", expected="--baseline REPORT"
            )
    if path is None:
        return None
    from specdist.cli.settings import ALL_OPTIONS
    from specdist.readers.baseline import open_baseline
    from specdist.reports.json_report import plain
    from specdist.verify.baseline.comparison import Comparison
    from specdist.verify.baseline.settings import check_settings

    baseline = open_baseline(path)
    shown = {name: plain(value) for name, (value, _) in chosen.shown.items() if value is not None}
    check_settings(baseline, shown, {option.name: option.default for option in ALL_OPTIONS})
    return Comparison(baseline, tolerance)
