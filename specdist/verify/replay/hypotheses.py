"""Which known fault explains every recorded step, where the declared engine does not."""

from __future__ import annotations

from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Explanation


def explain(trace: Trace, settings: CheckSettings) -> Explanation:
    """The declared engine and every known fault, held against every recorded fact of ``trace``.

    Reads the steps afresh, several times. Processing is ``trace.options`` under
    ``settings.overrides``, as `Plans` resolves them. A fault is a cause only where the declared
    engine is contradicted and the fault explains everything; none may remain, or several. Steps
    without rows give no facts. Raises SpecdistError for rows and settings that do not fit.
    """
    raise NotImplementedError
