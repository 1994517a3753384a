"""The recorded contexts under other settings, without sampling noise."""

from __future__ import annotations

from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace
from specdist.model.trace_evidence import Counterfactual


def counterfactual(
    trace: Trace, settings: CheckSettings, other: CheckSettings, label: str
) -> Counterfactual:
    """Acceptance and lengths along the recorded contexts under ``settings`` and under ``other``."""
    raise NotImplementedError
