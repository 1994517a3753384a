"""Whether two runs were made under the same settings, as far as verdicts and figures hang on them.

An option counts unless it is listed here, so that a new one is never overlooked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.baseline import Baseline

INPUTS = ("target", "draft", "vocab", "captures")
"""What is checked: steps are matched by file and id."""
OUTPUTS = ("format", "show", "exact", "verbose", "quiet", "color", "no-progress", "exit-zero")
EXPORTS = ("export",)
RESOURCES = ("budget", "workers", "max-outcomes")
GATES = ("min-acceptance", "allow", "severity", "baseline", "baseline-tolerance")
COSTS = ("draft-cost", "verify-cost", "draft-operations", "output-tokens", "roofline")
"""No verdict depends on them."""
IGNORED = frozenset(INPUTS + OUTPUTS + EXPORTS + RESOURCES + GATES + COSTS)
_NUMBER = re.compile(r"[+-]?(\d+/0*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)", re.ASCII)


def check_settings(
    baseline: Baseline, shown: Mapping[str, object], defaults: Mapping[str, object]
) -> None:
    """Refuses a baseline that was made under other settings. Raises SettingsError naming each.

    ``shown`` are the settings of this run as a report shows them, ``defaults`` what an option is
    that a report of another version does not name.
    """
    names = [*baseline.settings, *(name for name in shown if name not in baseline.settings)]
    found = []
    for name in names:
        if name in IGNORED:
            continue
        was = baseline.settings.get(name, defaults.get(name))
        now = shown.get(name)
        if not _same(was, now):
            found.append(f"{name} was {_text(was)}, is {_text(now)}")
    if found:
        raise SettingsError(
            f"the baseline was made under other settings: {'; '.join(found)}",
            place=baseline.path,
            expected="the settings of the baseline",
            advice="or write a new baseline with --format json",
        )


def _same(was: object, now: object) -> bool:
    if was == now:
        return True
    if isinstance(was, list | tuple) and isinstance(now, list | tuple):
        return len(was) == len(now) and all(map(_same, was, now))
    first, second = _number(was), _number(now)
    return first is not None and first == second


def _number(value: object) -> Fraction | None:
    """A number however it was written: 4/5 and 0.8 are one."""
    text = str(value).strip()
    if isinstance(value, bool) or len(text) > 100 or not _NUMBER.fullmatch(text):
        return None
    return Fraction(text)


def _text(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))[:60]
    return str(value)[:60]
