"""From the values of the axes to the settings of a point, through the layers of any other run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specdist.cli.row_sources import opened, split_rows
from specdist.cli.settings import Effective, effective
from specdist.cli.sweep_options import DRAFT_LENGTH, SWEPT
from specdist.errors import SettingsError
from specdist.model.capture import Capture, Unreadable
from specdist.model.sweep import Axis

if TYPE_CHECKING:
    from specdist.model.settings import CheckSettings, Settings
    from specdist.verify.sweep.kept import Kept
    from specdist.verify.sweep.run import Sweep

_MOST_LENGTH = 1000
_OF_PROPOSALS = ("length", "siblings", "duplicates", "draft_tokens", "horizon")
"""Parameters of options over whole proposals: a draft length is then one of models."""

Values = tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """What the command line asks: its option values, rows by option name, files, and axes."""

    values: Mapping[str, Any]
    rows: Mapping[str, str]
    sources: tuple[str, ...]
    axes: tuple[Axis, ...]
    symbolic: bool = False
    _met: dict[tuple[Values, bool], Effective] = field(default_factory=dict)

    def chosen(self, values: Values, *, modelled: bool = False) -> Effective:
        """The settings of one point; ``modelled`` draft lengths are no setting."""
        swept = {
            SWEPT[axis.name].parameter: value
            for axis, value in zip(self.axes, values, strict=True)
            if not (modelled and axis.name == DRAFT_LENGTH)
        }
        return effective({**self.values, **swept}, symbolic=self.symbolic)

    @property
    def lengths(self) -> int | None:
        """The index of the axis of draft lengths."""
        names = [axis.name for axis in self.axes]
        return names.index(DRAFT_LENGTH) if DRAFT_LENGTH in names else None

    def tried(self) -> Effective:
        """The settings of the first point, after the ends of every axis have been tried, so that a
        value that an option does not take is met before anything is read."""
        if self.lengths is not None:
            _check_lengths(self.axes[self.lengths])
        first = self.first
        for index, axis in enumerate(self.axes):
            ends = axis.values[1:] if axis.numbers is None else axis.values[-1:]
            for value in ends:
                self.chosen((*first[:index], value, *first[index + 1 :]))
        return self.chosen(first)

    @property
    def first(self) -> Values:
        """The first value of every axis."""
        return tuple(axis.values[0] for axis in self.axes)

    def rules(self) -> Iterator[CheckSettings]:
        """Settings with every rule and engine that is swept."""
        for index, axis in enumerate(self.axes):
            if axis.name in ("rule", "engine"):
                for value in axis.values:
                    values = (*self.first[:index], value, *self.first[index + 1 :])
                    yield self.chosen(values, modelled=True).settings.checking
        yield self.chosen(self.first, modelled=True).settings.checking

    @property
    def over_proposals(self) -> bool:
        """Whether something is about whole proposals: a rule, or an option."""
        from specdist.rules.joint.names import is_joint

        if any(self.values.get(name) is not None for name in _OF_PROPOSALS):
            return True
        if any(axis.name == "length" for axis in self.axes):
            return True
        return any(one.user_rule or is_joint(_rule_of(one)) for one in self.rules())

    def opened(self) -> Iterator[Capture | Unreadable]:
        """The captures, fresh."""
        modelled = self.lengths is not None and not self.over_proposals
        first = self.chosen(self.first, modelled=modelled).settings
        checkings = list(self.rules()) if self.lengths is None else [first.checking]
        return opened(self.sources, self.rows, first.reading, checkings)


def grid_of(asked: Asked, have: Kept) -> Sweep:
    """What is run. Draft lengths are settings of steps over models; over rows of single positions
    they are a model of independent tokens, and the rows are checked once."""
    from specdist.verify.sweep.run import Sweep

    typed = bool(split_rows(asked.rows)[0])
    modelled = asked.lengths is not None and not _over_models(have)
    if modelled and asked.over_proposals:
        raise SettingsError(
            "draft lengths are swept under a rule over proposals, and the steps have rows of "
            "single positions",
            place="--sweep draft-length",
            expected="steps with models, typed rows, or a rule that tests position after position",
        )

    def settings_of(values: Values) -> Settings:
        return asked.chosen(values, modelled=modelled).settings

    return Sweep(asked.axes, settings_of, asked.lengths if modelled else None, typed)


def _over_models(have: Kept) -> bool:
    """Whether the first step of any capture is one over models."""
    for capture in have.captures:
        if isinstance(capture, Capture):
            step = next(iter(capture.steps()), None)
            if step is not None and (step.models is not None or step.requests):
                return True
    return False


def _rule_of(checking: CheckSettings) -> str:
    layers = (checking.overrides.rule, checking.defaults.rule)
    written = next((text for text in layers if text is not None), None)
    return written or (checking.preset.rule if checking.preset else "token")


def _check_lengths(axis: Axis) -> None:
    for text, number in zip(axis.values, axis.numbers or (), strict=False):
        if number.denominator != 1 or not 1 <= number <= _MOST_LENGTH:
            raise SettingsError(
                f"sweep: draft-length={text} is out of range",
                place="command line",
                expected=f"whole numbers from 1 to {_MOST_LENGTH}",
            )
