"""The settings of a run: complete and frozen once the command line has resolved them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from specdist.model.cost import CostSettings
from specdist.model.draft_tree import DraftTree, Duplicates, Siblings
from specdist.model.finding import Severity
from specdist.model.options import ProcessingOptions
from specdist.model.preset import Preset
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.user_rule import UserRule


@dataclass(frozen=True, slots=True)
class ReadingSettings:
    """How files are read; None means "decide by the evidence, or refuse". ``normalise``: rows of
    unclear kind are probabilities, for those are what can be normalised. ``shift``: whether row i
    of a table is the law of token i (0) or of token i + 1 (1). ``rows``: how many rows of each
    sequence of a dump are read, one number for all sequences or one each."""

    reader: str | None = None
    kind: Kind | None = None
    stage: Stage | None = None
    numbers: NumberFormat | None = None
    axes: str | None = None
    shift: int | None = None
    rows: tuple[int, ...] | None = None
    vocab_size: int | None = None
    draft_lengths: str | None = None
    vocab: str | None = None
    select: str | None = None
    limit: int | None = None
    normalise: bool = False


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """How rows are verified. ``overrides`` win over a capture's own options, which win over
    ``defaults`` (config file), which win over ``preset``. ``draft_map_assumed``: nothing said
    whether the map holds ids or offsets. ``tree``, ``siblings``, ``duplicates`` and
    ``draft_tokens`` win over what a step over conditional models says of its proposal (see
    `verify.proposal_shape`); ``user_rule`` is a rule from a Python file; ``horizon`` is the
    length of the outputs compared there (default: draft tokens on the longest path + 1), and
    ``max_outcomes`` is the most that an enumeration lists. No verdict depends on ``cost``."""

    overrides: ProcessingOptions = field(default_factory=ProcessingOptions)
    defaults: ProcessingOptions = field(default_factory=ProcessingOptions)
    preset: Preset | None = None
    draft_map: tuple[int, ...] | None = None
    draft_map_assumed: bool = False
    normalise: bool = False
    history: tuple[int, ...] | None = None
    prompt_length: int | None = None
    symbolic: bool = False
    show: int = 10
    max_tv: Fraction | None = None
    min_acceptance: Fraction | None = None
    allow: frozenset[str] = frozenset()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    budget: Fraction | None = None
    workers: int | None = None
    exact: bool = False
    tree: DraftTree | None = None
    siblings: Siblings | None = None
    duplicates: Duplicates | None = None
    draft_tokens: tuple[int, ...] | None = None
    length: str | None = None
    horizon: int | None = None
    max_outcomes: int = 10_000_000
    user_rule: UserRule | None = None
    cost: CostSettings | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run needs, and for ``specdist config`` where each value came from."""

    reading: ReadingSettings = field(default_factory=ReadingSettings)
    checking: CheckSettings = field(default_factory=CheckSettings)
    origins: Mapping[str, str] = field(default_factory=dict)
