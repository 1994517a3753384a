"""The plugin of a run with ``--specdist``: what is collected, and the lines that sum it up."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from specdist import __version__
from specdist.cli.baseline_options import baseline_path, read_baseline
from specdist.errors import SettingsError, SpecdistError
from specdist.pytest_plugin.options import read_options
from specdist.reports.error_text import render_error
from specdist.reports.style import PLAIN
from specdist.reports.terminal import skipped

if TYPE_CHECKING:
    from specdist.model.capture import Capture, Unreadable
    from specdist.model.report import Report

VERDICT = "specdist verdict"
"""The property of an item's report that holds its verdict."""

_ORDER = (
    "equal",
    "within tolerance",
    "different",
    "different (allowed)",
    "undecided",
    "unreadable",
)


def told(error: SpecdistError) -> str:
    """An error as the command line prints it."""
    return render_error(error, PLAIN).rstrip()


class CapturePlugin:
    """Captures of one pytest run. Everything is read and said relative to pytest's root folder."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        ini, typed = config.getini("specdist_options"), config.getoption("specdist_options") or ""
        try:
            with chdir(self.root):
                layers = ((ini, "specdist_options"), (typed, "--specdist-options"))
                self.chosen, self._values = read_options(*layers)
                self.sources = self._named(config)
        except SpecdistError as error:
            raise pytest.UsageError(told(error)) from None
        self.skipped: list[str] = []
        self._started: float | None = None
        self._said = " ".join(text for text in (ini, typed) if text)

    def _named(self, config: pytest.Config) -> list[str]:
        """Files and folders relative to the root folder; empty for a pair of dumps."""
        from specdist.cli.config_captures import expanded

        start, paths = config.invocation_params.dir, config.getoption("specdist")
        names = [os.path.relpath(start / path, self.root) for path in paths if path]
        names = [os.path.join(".", name) if name == "-" else name for name in names]
        pair = self._values["target"] or self._values["draft"]
        if "" in paths and not pair:
            names += expanded(self.chosen.captures)
            if not self.chosen.captures:
                raise SettingsError(
                    "--specdist names no PATH, and the root folder no captures",
                    expected="--specdist PATH, or captures = [...] in specdist.toml",
                )
        return list(dict.fromkeys(names))

    def opened(self) -> Iterator[tuple[str, list[Capture | Unreadable]]]:
        """What lies behind each name, a pair of dumps under the empty one."""
        from specdist.cli.commands.check import open_sources

        target, draft = self._values["target"], self._values["draft"]
        reading = self.chosen.settings.reading
        if target or draft:
            yield "", list(open_sources(self.sources, target, draft, reading))
            return
        for source in self.sources:
            yield source, list(open_sources([source], None, None, reading))

    def out_of_time(self) -> bool:
        """Whether the budget of the settings is spent since the first step of this process."""
        if self._started is None:
            self._started = monotonic()
        budget = self.chosen.settings.checking.budget
        return budget is not None and monotonic() - self._started > budget

    @property
    def asks_of_the_run(self) -> bool:
        """Whether anything is asked of all steps together."""
        counters = self._values["counters"] or self._values["counters_before"]
        floor = self.chosen.settings.checking.min_acceptance
        return bool(counters or floor is not None or baseline_path(self.chosen))

    def whole_run(self, captures: list[Capture]) -> Report:
        """The report of all captures as one run, with floor, counters and baseline."""
        from specdist.cli.counter_options import read_counters
        from specdist.verify.run import check

        settings = self.chosen.settings
        run = check(
            captures,
            replace(settings, checking=replace(settings.checking, workers=1, budget=None)),
            retain=False,
            counters=read_counters(self._values),
            against=read_baseline(self.chosen),
        )
        for _ in run.results():
            pass
        return run.report()

    def pytest_report_header(self) -> str:
        """What is checked, and how."""
        options = f" ({self._said})" if self._said else ""
        return f"specdist {__version__}: {', '.join(self.sources) or 'a pair of dumps'}{options}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Adds the steps before others select among the items (-k, -m, --last-failed)."""
        from specdist.pytest_plugin.capture_items import Captures

        root = Captures.from_parent(session, name="specdist", nodeid="specdist")
        root.plugin = self
        items.extend(session.genitems(root))

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """``specdist: 12 steps equal, 1 different``."""
        if config.option.collectonly:
            return
        counts: Counter[str] = Counter()
        for report in (item for listed in terminalreporter.stats.values() for item in listed):
            if isinstance(report, pytest.TestReport) and report.when == "call":
                counts.update(str(word) for name, word in report.user_properties if name == VERDICT)
        parts = [f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict]]
        if parts:
            number, rest = parts[0].split(" ", 1)
            parts[0] = f"{number} step{'s' if number != '1' else ''} {rest}"
        for line in skipped(self.skipped):
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"specdist: {', '.join(parts) or 'nothing checked'}")
