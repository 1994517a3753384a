"""The line to paste that shows the finding of a batch again."""

from __future__ import annotations

from specdist.model.capture import Step
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.joint.batch_setup import Batch
from specdist.verify.joint.capture_members import length_member, request_members
from specdist.verify.joint.reproduction import kind_of, line_options
from specdist.verify.plan import Plan
from specdist.verify.reproduction import captured_line


def batch_reproduction(
    step: Step, batch: Batch, plan: Plan, settings: CheckSettings, verdict: Verdict
) -> str | None:
    """A command with the same requests, schedule and settings, or None where it would be long or
    incomplete."""
    kind = kind_of(step.requests, settings)
    if kind is None:
        return None
    requests = [
        request_members(own.models, setup, request.tables)
        for own, setup, request in zip(step.requests, batch.setups, batch.requests, strict=True)
        if own.models is not None
    ]
    members = {"requests": requests, "schedule": length_member(batch.schedule, shared=True)}
    return captured_line(members, kind, line_options(batch.setups[0], plan, settings, verdict))
