"""``--plot FILE``: a picture of what-if: .png or .svg, a page, or bars in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

from specdist.cli import exports
from specdist.cli.exports import Export
from specdist.errors import MissingExtraError, SettingsError

if TYPE_CHECKING:
    from specdist.model.report import Report
    from specdist.model.sweep import SweepReport
    from specdist.reports.forms.form import FormOptions
    from specdist.reports.sweep_forms import SweepOptions

KINDS = ("png", "svg", "html")


@dataclass(frozen=True, slots=True)
class Plot:
    """Where a picture goes: a file of one of `KINDS`, the terminal ("-"), or nowhere ("")."""

    path: str = ""

    @property
    def kind(self) -> str:
        """The ending of the file; empty for the terminal and for no picture."""
        return PurePath(self.path).suffix[1:].lower() if self.path != "-" else ""

    def _files(self, page: str, picture: bytes) -> Mapping[Export, str | bytes]:
        return {Export("plot", self.path): page if self.kind == "html" else picture}

    def files_of_sweep(
        self, report: SweepReport, options: SweepOptions
    ) -> Mapping[Export, str | bytes]:
        """The picture of a sweep as a file; nothing for the terminal."""
        if not self.kind:
            return {}
        if self.kind == "html":
            from specdist.reports.sweep_html import render

            return self._files(render(report, options), b"")
        from specdist.reports.plots import sweep_picture

        return self._files("", sweep_picture(report, self.kind))

    def terminal_of_sweep(self, report: SweepReport, options: SweepOptions) -> str:
        """The picture of a sweep as text."""
        if self.path != "-":
            return ""
        from specdist.reports.terminal_plot import sweep_plot

        return sweep_plot(report, options)

    def files_of_check(self, report: Report, options: FormOptions) -> Mapping[Export, str | bytes]:
        """The three bars of the first position as a file, or the whole report as a page."""
        if not self.kind:
            return {}
        if self.kind == "html":
            from specdist.reports.forms.registry import BY_NAME

            return self._files(BY_NAME["html"].render(report, options), b"")
        from specdist.reports.plots import bars_picture

        return self._files("", bars_picture(report, self.kind))

    def terminal_of_check(self, report: Report, width: int, blocks: bool) -> str:
        """The three bars of the first position as text."""
        if self.path != "-":
            return ""
        from specdist.reports.terminal_plot import bars_plot

        return bars_plot(report, width, blocks)


NO_PLOT = Plot()


def read_plot(text: str | None, inputs: Sequence[str] = ()) -> Plot:
    """The picture that is asked for. Raises SettingsError for another ending or a path that cannot
    be written, MissingExtraError where the library of pictures is not installed."""
    if text is None:
        return NO_PLOT
    plot = Plot(text)
    if text == "-":
        return plot
    if plot.kind not in KINDS:
        raise SettingsError(
            f"plot={text[:60]} has no ending of a picture",
            expected="a file that ends in .png, .svg or .html, or - for the terminal",
        )
    if plot.kind != "html" and find_spec("matplotlib") is None:
        raise MissingExtraError(
            f"pictures as {plot.kind} need matplotlib",
            place=f"--plot {text}",
            expected="the optional library of the extra 'plot'",
            advice="pip install 'specdist-verifier[plot]', or --plot FILE.html, which needs none",
        )
    exports.check_paths([Export("plot", text)], inputs)
    return plot
