"""From options to complete, frozen settings, with the origin of every value.

Order: command line, environment (SPECDIST_ENGINE, SPECDIST_FORMAT, SPECDIST_COLOR), the capture's
own settings, ``specdist.toml`` or ``[tool.specdist]``, the engine's preset, default. The capture's
own settings are met later: the command line is therefore kept apart (``overrides``) from the config
file (``defaults``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdist.cli import option_values as read
from specdist.cli.baseline_options import BASELINE
from specdist.cli.config_file import read_config
from specdist.cli.cost_options import COST, cost_settings
from specdist.cli.engine_layer import chosen_preset, warn_of_refused, with_preset
from specdist.cli.exports import Export, read_exports, with_summary
from specdist.cli.layers import Layer, Layered, environment
from specdist.cli.options import CHECKING, CONFIG, ENGINE, INPUT, OUTPUT, Option
from specdist.cli.processing_layer import processing
from specdist.cli.processing_options import PROCESSING
from specdist.cli.shape_options import shape_settings
from specdist.cli.user_rules import typed_user_rule
from specdist.errors import SettingsError
from specdist.model.finding import Severity
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import CheckSettings, ReadingSettings, Settings
from specdist.reports.forms.registry import PRINTED

if TYPE_CHECKING:
    from specdist.readers.draft_map_file import FileMap

_CHECK = CHECKING + BASELINE + COST + OUTPUT
ALL_OPTIONS: tuple[Option, ...] = INPUT + ENGINE + PROCESSING + _CHECK
CONFIGURABLE: tuple[Option, ...] = CONFIG + ENGINE + PROCESSING + _CHECK
COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class OutputSettings:
    """How the report is written; no verdict depends on it."""

    format: str = "text"
    show: int = 10
    exact: bool = False
    verbose: bool = False
    quiet: bool = False
    color: str = "auto"
    progress: bool = True
    exit_zero: bool = False
    exports: tuple[Export, ...] = ()


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings of one run. ``shown`` pairs each option with its value and origin; ``captures``
    are those of the config file, whose name is ``config``."""

    settings: Settings
    output: OutputSettings
    shown: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    captures: tuple[str, ...] = ()
    config: str = ""


def effective(values: Mapping[str, Any], *, symbolic: bool = False) -> Effective:
    """The settings that a command's option values, the environment and the config file make.

    Raises `SettingsError` naming option, value, valid range and origin.
    """
    # An empty text is a value that was given, so it is tried and complained about.
    given = {
        o.name: values[o.parameter]
        for o in ALL_OPTIONS
        if values.get(o.parameter) not in (None, False, [])
    }
    origin, config = read_config(Path(), CONFIGURABLE)
    layers = [Layer(COMMAND_LINE, given), *environment(os.environ), Layer(origin, config)]
    chosen = Layered(layers)
    preset = chosen_preset(chosen)
    chosen = chosen if preset is None else with_preset(chosen, preset)
    user_rule = typed_user_rule(given)
    checking = CheckSettings(
        overrides=processing(layers[0], preset, user_rule),
        defaults=processing(layers[-1], preset),
        preset=preset,
        symbolic=symbolic,
        user_rule=user_rule,
        **_checking(chosen),
        **shape_settings(chosen),
        cost=cost_settings(chosen),
    )
    warn_of_refused(checking)
    shown = {option.name: chosen.shown(option) for option in ALL_OPTIONS}
    origins = {name: origin for name, (value, origin) in shown.items() if value is not None}
    settings = Settings(_reading(chosen), checking, origins)
    return Effective(settings, _output(chosen), shown, tuple(config.get("captures", ())), origin)


def _reading(chosen: Layered) -> ReadingSettings:
    def enum_of(kind: type[Kind] | type[Stage] | type[NumberFormat]) -> Any:
        return lambda name, text: kind(read.choice(name, text, [item.value for item in kind]))

    def text(name: str, value: str) -> str:
        return value

    return ReadingSettings(
        reader=chosen.get("reader", text),
        kind=chosen.get("kind", enum_of(Kind)),
        stage=chosen.get("stage", enum_of(Stage)),
        numbers=chosen.get("numbers", enum_of(NumberFormat)),
        axes=chosen.get("axes", text),
        rows=chosen.get("rows", _rows),
        shift=chosen.get("shift", lambda name, value: int(read.choice(name, value, ("0", "1")))),
        vocab_size=chosen.get("vocab-size", read.whole, 1),
        draft_lengths=chosen.get("draft-lengths", text),
        vocab=chosen.get("vocab", text),
        select=chosen.get("select", text),
        limit=chosen.get("limit", read.whole, 1),
        normalise=chosen.flag("normalise"),
    )


def _rows(name: str, text: str) -> tuple[int, ...]:
    counts = read.whole_list(name, text)
    if not sum(counts):
        raise SettingsError(
            f"{name}={text[:40]} leaves no row",
            expected="how many rows of each sequence to read, as 6 or 3,6",
        )
    return counts


def _checking(chosen: Layered) -> dict[str, Any]:
    def allowed(name: str, texts: list[str]) -> frozenset[str]:
        from specdist.findings.catalogue import FOUND

        return frozenset(read.choice(name, text, FOUND) for text in texts)

    def graded(name: str, texts: list[str]) -> dict[str, Severity]:
        from specdist.cli.severity_option import read_severities

        return read_severities(name, texts)

    return {
        "normalise": chosen.flag("normalise"),
        "history": chosen.get("history", read.whole_list),
        "prompt_length": chosen.get("prompt-length", read.whole, 0),
        **_draft_map(chosen),
        "show": _show(chosen),
        "max_tv": chosen.get("max-tv", read.share),
        "min_acceptance": chosen.get("min-acceptance", read.share),
        "allow": chosen.get("allow", allowed) or frozenset(),
        "severity": chosen.get("severity", graded) or {},
        "budget": chosen.get("budget", read.seconds),
        "workers": chosen.get("workers", read.whole, 1),
        "exact": chosen.flag("exact"),
    }


def _draft_map(chosen: Layered) -> dict[str, Any]:
    """The map of ``--draft-map``, read from its file, and whether its form is a guess."""

    def load(name: str, text: str) -> FileMap:
        from specdist.readers import load_file_map

        return load_file_map(text, form)

    form: str | None = chosen.get("draft-map-form", read.choice, ("ids", "offsets"))
    found: FileMap | None = chosen.get("draft-map", load)
    if found is not None:
        return {"draft_map": found.ids, "draft_map_assumed": found.assumed}
    if form is not None:
        raise SettingsError(
            "draft-map-form is given without a map",
            place=COMMAND_LINE,
            expected="--draft-map FILE[::NAME]",
        )
    return {}


def _show(chosen: Layered) -> int:
    shown = chosen.get("show", read.whole, 0)
    return 10 if shown is None else shown


def _output(chosen: Layered) -> OutputSettings:
    def one_of(name: str, text: str, *choices: str) -> str:
        return read.choice(name, text, choices)

    form = chosen.get("format", one_of, *PRINTED) or "text"
    return OutputSettings(
        format=form,
        exports=with_summary(chosen.get("export", read_exports) or (), form),
        show=_show(chosen),
        exact=chosen.flag("exact"),
        verbose=chosen.flag("verbose"),
        quiet=chosen.flag("quiet"),
        color=chosen.get("color", one_of, "auto", "always", "never") or "auto",
        progress=not chosen.flag("no-progress"),
        exit_zero=chosen.flag("exit-zero"),
    )
