"""Captures as pytest nodes: a file is a collector, a step an item that is verified when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

from specdist.errors import SpecdistError
from specdist.model.capture import Capture, Unreadable
from specdist.model.outcome import Outcome, accuses, outcome_of
from specdist.model.report import Report
from specdist.model.verdict import Verdict
from specdist.pytest_plugin.capture_plugin import VERDICT, CapturePlugin, told
from specdist.pytest_plugin.capture_steps import CaptureSteps
from specdist.reports.outline import file_of
from specdist.reports.terminal import render, unreadable_lines
from specdist.reports.view import View


class Captures(pytest.Collector):
    """Everything that --specdist names."""

    plugin: CapturePlugin

    def collect(self) -> list[pytest.Collector | pytest.Item]:
        """A collector a file that is a capture or should be one; then what concerns all of them."""
        found: list[CaptureFile] = []
        with chdir(self.plugin.root):
            try:
                for source, opened in self.plugin.opened():
                    found += self._files(source, opened)
            except SpecdistError as error:
                raise self.CollectError(told(error)) from None
        readable = [file.steps for file in found if file.steps is not None]
        if readable and not any(steps.ids for steps in readable):
            filtered = sum(steps.filtered_out for steps in readable)
            why = f"{filtered} steps filtered out" if filtered else "the captures hold no steps"
            raise self.CollectError(f"nothing checked: {why}")
        if self.plugin.asks_of_the_run:
            return [*found, WholeRun.of(self, [steps.capture for steps in readable])]
        return [*found]

    def _files(self, source: str, opened: list[Capture | Unreadable]) -> list[CaptureFile]:
        counted = [item for item in opened if not isinstance(item, Unreadable) or item.counts]
        self.plugin.skipped += [item.source for item in opened if item not in counted]
        if not counted:
            raise self.CollectError(
                f"error[unreadable-capture]: no capture in {source}: nothing would be checked"
            )
        return [CaptureFile.of(self, item) for item in counted]


class CaptureFile(pytest.Collector):
    """One capture, or a file that could not be read as one."""

    steps: CaptureSteps | None = None
    trouble: str = ""
    plugin: CapturePlugin

    @classmethod
    def of(cls, parent: Captures, item: Capture | Unreadable) -> CaptureFile:
        """The node of a capture; its steps are read once, for their ids."""
        path = parent.plugin.root / file_of(item.source)
        node: CaptureFile = cls.from_parent(
            parent, name=item.source, nodeid=item.source.replace("::", ":"), path=path
        )
        node.plugin = parent.plugin
        if isinstance(item, Unreadable):
            node.trouble = "\n".join(unreadable_lines(item, View()))
            return node
        try:
            node.steps = CaptureSteps.of(item, parent.plugin.chosen.settings)
        except SpecdistError as error:
            node.trouble = told(error.at(item.source))
        return node

    def collect(self) -> Iterator[StepItem]:
        """An item a step. A file that cannot be read is a collection error."""
        if self.steps is None:
            raise self.CollectError(self.trouble)
        for index, name in enumerate(self.steps.names()):
            yield StepItem.of(self, name, index)


class _Item(pytest.Item):
    """An item that says in the words of the tool why it fails."""

    plugin: CapturePlugin
    title: str

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the item is, and its title in the report of a failure."""
        return self.path, None, self.title

    def fail_unless_passed(self, report: Report, outcome: Outcome) -> None:
        """Raises pytest's failure with the text of `specdist check`."""
        if outcome is not Outcome.PASSED:
            output = self.plugin.chosen.output
            view = View(output.show, output.verbose, output.quiet, output.exact)
            pytest.fail(render(report, view).rstrip(), pytrace=False)


class StepItem(_Item):
    """One step of a capture."""

    index: int

    @classmethod
    def of(cls, parent: CaptureFile, name: str, index: int) -> StepItem:
        """The item of the step with this place in its capture."""
        item: StepItem = cls.from_parent(parent, name=name)
        item.plugin, item.index = parent.plugin, index
        item.title = f"step {name} of {parent.name}"
        item.add_marker("specdist")
        return item

    def runtest(self) -> None:
        """Verifies the step; anything but a pass fails, undecided too."""
        assert isinstance(self.parent, CaptureFile)
        assert self.parent.steps is not None
        if self.plugin.out_of_time():
            self._tell("undecided")
            pytest.fail(
                "undecided[undecided-budget]: the time budget ended before this step; it was not "
                "checked",
                pytrace=False,
            )
        with chdir(self.plugin.root):
            try:
                report = self.parent.steps.verified(self.index)
            except SpecdistError as error:
                self._tell("unreadable")
                pytest.fail(told(error), pytrace=False)
        self._tell(_word(report))
        self.fail_unless_passed(report, outcome_of(report))

    def _tell(self, verdict: str) -> None:
        self.user_properties.append((VERDICT, verdict))


def _word(report: Report) -> str:
    """The verdict for the line that sums up."""
    if report.unreadable:
        return "unreadable"
    if report.verdict is Verdict.DIFFERENT and outcome_of(report) is Outcome.PASSED:
        return "different (allowed)"
    return report.verdict.value.replace("-", " ")


class WholeRun(_Item):
    """What is asked of all steps together: a floor under the acceptance, counters, a baseline."""

    captures: list[Capture]

    @classmethod
    def of(cls, parent: Captures, captures: list[Capture]) -> WholeRun:
        """The item that checks all captures once more, as one run."""
        item: WholeRun = cls.from_parent(parent, name="whole run")
        item.plugin, item.captures = parent.plugin, captures
        item.title = "specdist, all steps together"
        item.add_marker("specdist")
        return item

    def runtest(self) -> None:
        """Fails for what is found about the run; what differs in a step is the step's failure."""
        with chdir(self.plugin.root):
            try:
                report = self.plugin.whole_run(self.captures)
            except SpecdistError as error:
                pytest.fail(told(error), pytrace=False)
        outcome = Outcome.PASSED
        if report.floors_missed or any(accuses(finding) for finding in report.findings):
            outcome = Outcome.FAILED
        elif report.verdict is Verdict.UNDECIDED and not report.summary.undecided:
            outcome = Outcome.UNDECIDED
        self.fail_unless_passed(replace(report, steps=()), outcome)
