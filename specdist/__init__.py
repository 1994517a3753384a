"""specdist: is the law of what a speculative decoder emits the law of its target? Exactly.

PYTEST_DONT_REWRITE: pytest, which knows our plugin, would warn programs that import this first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specdist.api import check
    from specdist.errors import RowError, SettingsError, SpecdistError
    from specdist.model.figure import Figure
    from specdist.model.finding import Finding
    from specdist.model.report import Report
    from specdist.model.role import Role
    from specdist.model.verdict import Verdict
    from specdist.rules.joint.outcomes import Outcome

__version__ = "0.1.0"

__all__ = [
    "Figure",
    "Finding",
    "Outcome",
    "Report",
    "Role",
    "RowError",
    "SettingsError",
    "SpecdistError",
    "Verdict",
    "__version__",
    "check",
]

_HOMES = {
    "Figure": "specdist.model.figure",
    "Finding": "specdist.model.finding",
    "Outcome": "specdist.rules.joint.outcomes",
    "Report": "specdist.model.report",
    "Role": "specdist.model.role",
    "RowError": "specdist.errors",
    "SettingsError": "specdist.errors",
    "SpecdistError": "specdist.errors",
    "Verdict": "specdist.model.verdict",
    "check": "specdist.api",
}


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*__all__, *globals()})


def __getattr__(name: str) -> Any:
    """Public names are imported when asked for, so that `specdist --help` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'specdist' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
