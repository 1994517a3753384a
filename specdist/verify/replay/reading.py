"""A trace with the engine that its settings declare, read as often as is needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from specdist.errors import SettingsError
from specdist.model.capture import Step
from specdist.model.settings import CheckSettings
from specdist.model.trace import Trace, TraceStep
from specdist.verify.plan import Plan, Plans
from specdist.verify.replay.engine_model import EngineModel, declared_model
from specdist.verify.replay.recorded_rows import RecordedRows, has_whole_rows
from specdist.verify.replay.survey import Survey


class RecordedTrace:
    """``plan`` and ``declared`` come from ``trace.options`` under the settings; ``steps`` reads
    afresh each time. Raises SettingsError for a rule over proposals."""

    def __init__(self, trace: Trace, settings: CheckSettings) -> None:
        self.trace, self.settings = trace, settings
        step = Step(id="", source=trace.source, positions=(), options=trace.options)
        self.plan: Plan = Plans(settings).of(step)
        if self.plan.joint is not None or self.plan.use.name != "token":
            raise SettingsError(
                f"rule {self.plan.use.text} is not replayed",
                place=trace.source,
                expected="token verification: rule token",
            )
        self.declared: EngineModel = declared_model(self.plan, trace.conventions)

    def steps(self) -> Iterator[tuple[TraceStep, RecordedRows | None]]:
        """Every step, and its rows where all that are needed are known in whole."""
        ties_open = not self.trace.conventions.inverse_cdf
        for step in self.trace.steps():
            rows = None
            if has_whole_rows(step):
                rows = RecordedRows(step, self.plan, self.settings, ties_open)
            yield step, rows

    @cached_property
    def survey(self) -> Survey:
        """What the whole trace shows before any fault is named."""
        survey = Survey()
        for step, rows in self.steps():
            survey.add_uniforms(step)
            if rows is not None:
                survey.add_rows(rows, self.declared)
        return survey
