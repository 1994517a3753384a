"""What a reader produces: captures of steps of positions, raw and immutable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from specdist.errors import CaptureError, SpecdistError
from specdist.model.conditional import Models
from specdist.model.cost import StepTimes
from specdist.model.draft_tree import DraftTree
from specdist.model.finding import Finding
from specdist.model.length import Length
from specdist.model.options import NO_OPTIONS, ProcessingOptions
from specdist.model.role import Role
from specdist.model.row import Row


@dataclass(frozen=True, slots=True)
class Vocab:
    """Token texts by id, for display only."""

    texts: tuple[str, ...]

    def text(self, token: int) -> str | None:
        return self.texts[token] if 0 <= token < len(self.texts) else None


@dataclass(frozen=True, slots=True)
class Position:
    """One drafted position. ``roles`` overrides single roles by a recipe text or a row.

    ``draft_token`` is the id that was really drafted here, where the capture knows it. ``keep``
    is the probability of each token to reach the test, where the capture knows it. ``given`` holds
    rows for the rule `given`: "accept", an acceptance probability for every token, and "recovery",
    the law of the recovered token. ``draft_map`` maps draft ids to target ids, -1 is unmapped.
    """

    index: int
    target: Row
    draft: Row
    draft_token: int | None = None
    roles: Mapping[Role, str | Row] = field(default_factory=dict)
    keep: tuple[Fraction, ...] | None = None
    given: Mapping[str, tuple[Fraction, ...]] = field(default_factory=dict)
    draft_map: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One verification step: its drafted positions and, for blocks, the bonus row after them.

    ``bonus_from`` is the recipe or the row that the capture says the bonus token is drawn from.

    ``context`` holds the token ids before the step when the capture knows them (it feeds the
    penalties), ``prompt_length`` how many of them are the prompt. ``options`` are the capture's
    own processing settings for this step. ``ordinal`` counts the checked steps of a capture.

    A step over conditional models has ``models``, the shape of its proposal in ``tree``, and no
    positions; ``length`` is its length rule. A batch has ``requests``, which are such steps, and in
    ``length`` the rule that decides the lengths of all of them.
    """

    id: str
    source: str
    positions: tuple[Position, ...]
    bonus: Row | None = None
    bonus_from: str | Row | None = None
    context: tuple[int, ...] | None = None
    prompt_length: int | None = None
    draft_tokens: tuple[int, ...] | None = None
    options: ProcessingOptions = NO_OPTIONS
    vocab: Vocab | None = None
    draft_vocab: Vocab | None = None
    findings: tuple[Finding, ...] = ()
    ordinal: int = 0
    models: Models | None = None
    tree: DraftTree | None = None
    times: StepTimes | None = None
    length: Length | None = None
    requests: tuple[Step, ...] = ()


class StepSource(Protocol):
    """Makes a fresh iterator over the steps, reading rows in bounded blocks."""

    def __call__(self) -> Iterator[Step]: ...


@dataclass(frozen=True, slots=True)
class Capture:
    """A readable source of steps. ``facts`` is what ``inspect`` prints, in order.

    ``facts`` holds pairs such as ("reader", "safetensors"), ("stage", "raw (assumed)"),
    ("tensor target", "float32 [60, 4096]"). ``step_count`` is None when only reading tells.
    """

    source: str
    reader: str
    steps: StepSource
    facts: tuple[tuple[str, str], ...] = ()
    step_count: int | None = None
    vocab: Vocab | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A source that could not be read: kept as a value so that it is listed and counted."""

    source: str
    message: str
    place: str = ""
    expected: str = ""
    advice: str = ""
    counts: bool = True
    ident: str = "unreadable-capture"

    def error(self) -> CaptureError:
        """The same as the error that it is where nothing else can be read."""
        place = self.place or self.source
        error = CaptureError(self.message, place=place, expected=self.expected, advice=self.advice)
        error.ident = self.ident
        return error

    @classmethod
    def of(cls, source: str, error: SpecdistError) -> Unreadable:
        """A source that turned out malformed while it was read."""
        place = error.place or source
        return cls(source, error.message, place, error.expected, error.advice, ident=error.ident)
