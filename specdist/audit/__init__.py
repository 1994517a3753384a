"""The exact law of a real sampler, by driving its randomness: ``specdist audit FILE.py:step``.

`case` and `draw` are for adapters, `audited` runs an audit from Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from specdist.audit.case import case
from specdist.audit.draw import draw

if TYPE_CHECKING:
    from specdist.model.audit_report import AuditReport

__all__ = ["audited", "case", "draw"]


def audited(
    step: Callable[[], Any],
    *,
    vocab: int = 3,
    gamma: int = 2,
    tables: int = 4,
    steps: int = 2,
    dtype: str = "float32",
    framework: str = "",
    budget: int = 1_000_000,
    reference: Callable[[], Any] | None = None,
    mode: str = "traced",
    replays: int | None = None,
    delta: float | None = None,
) -> AuditReport:
    """Audits a step, as ``specdist audit`` does: its joint law over ``steps`` steps of ``gamma``
    draft tokens, on ``tables`` tables over ``vocab`` tokens, against the target's law or that of
    ``reference``.

    ``step`` is a function without arguments, or a class that is made anew for every run. Rows are
    served in ``dtype`` by ``framework`` ("torch" or "numpy"; torch where it is loaded). ``budget``
    is the most leaves of a table. ``mode`` "probe" is for code that needs numbers; it has to
    predict ``replays`` runs for its bound, which holds with probability 1 - ``delta``.

    Raises AuditError for what cannot be followed or is no adapter, BudgetError where more leaves
    are to be expected than allowed.
    """
    from specdist.audit.context import Setup
    from specdist.audit.run import Audit

    setup = Setup(vocab, gamma, steps, dtype, framework)
    source = f"{getattr(step, '__module__', '')}:{getattr(step, '__qualname__', repr(step))}"
    return Audit(
        step, source, setup, tables, budget, reference=reference, mode=mode, replays=replays,
        delta=delta,
    ).report()  # fmt: skip
