"""From lists of tokens to the rows of an engine's file, and what to say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from specdist.errors import CaptureError, SettingsError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.likeliest import Asked, named_tokens, requested
from specdist.readers.engine_files.list_evidence import (
    StageClaim,
    kind_of,
    mass,
    refusal,
    stage_of,
)
from specdist.readers.engine_files.list_words import concludes_of, list_facts, range_text
from specdist.readers.engine_files.listed_rows import ListedRows, Request
from specdist.readers.engine_files.logprob_lists import (
    Ranking,
    TokenList,
)
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.ranked_checks import TokenValue
from specdist.readers.engine_files.ranked_list import looks_complete

_NAMED = (
    "every position lists the same tokens, so they were asked for by name: nothing bounds the "
    "others one by one"
)
_PERHAPS_NAMED = (
    "the lists are taken for the likeliest tokens; so few of tokens asked for by name "
    "(logprob_token_ids) would look the same"
)
_TEXTS = (
    "tokens are known by their text alone: an entry may stand for one of several, and nothing "
    "bounds unlisted tokens one by one"
)


@dataclass(slots=True)
class ListedSource:
    """What a format says of a file: its names, and what it may hold.

    ``stage`` is that of the rows that were drawn from. ``filtered``: whether the engine may have
    filtered them. ``service``: a hosted service, which never tells of a draft model. ``advice``:
    what to ask for where nothing can be used.
    """

    file: str
    reader: str
    title: str
    stage: StageClaim
    may_be_logits: bool = False
    filtered: bool = False
    keyed_by_text: bool = False
    service: bool = False
    advice: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tokens: dict[int, tuple[int, ...]] = field(default_factory=dict)


def listed_file(
    source: ListedSource,
    lists: Sequence[TokenList],
    numbers: LogprobNumbers,
    reading: ReadingSettings,
) -> EngineFile:
    """The rows of ``lists``. Raises CaptureError, RowError or SettingsError."""
    if not lists:
        raise CaptureError("there are no positions with log-probabilities", place=source.file)
    usable = _usable(lists, source)
    kind, kind_evidence = kind_of(usable, source.may_be_logits, reading, source.file)
    size = _size(usable, kind, reading, source)
    stage = _stage(usable, kind, size, source, reading)
    _check_options(source, stage, reading)
    if not _complete(usable, size):
        _named(usable, source)
    asked = _asked(usable)
    rows_of = ListedRows(kind, stage.stage, asked, size)
    rows = [rows_of.row(found) for found in lists]
    facts = (*list_facts(lists, usable, kind, asked), *numbers.facts())
    texts = [_TEXTS] if source.keyed_by_text else []
    return EngineFile(
        source=source.file,
        reader=source.reader,
        title=source.title,
        rows=lambda: iter(rows),
        count=len(rows),
        vocab_size=size,
        stage=stage.stage,
        stage_evidence=stage.evidence,
        assumed=stage.assumed,
        kind_evidence=f"{kind.value} ({kind_evidence})",
        settings=source.settings,
        tokens=source.tokens,
        shown=(*source.shown, *facts),
        warnings=(*source.warnings, *texts, *numbers.warnings(), *rows_of.warnings()),
        concludes=concludes_of(rows_of, source.service),
    )


def _named(usable: Sequence[TokenList], source: ListedSource) -> None:
    """Takes no bound from lists of tokens that were asked for by name."""
    named = named_tokens(usable)
    if named:
        source.warnings.append(_NAMED)
        for found in usable:
            found.ranking = Ranking.UNKNOWN
    elif named is None and source.filtered:
        source.warnings.append(_PERHAPS_NAMED)


_PROMPT = StageClaim(Stage.RAW, "prompt log-probabilities are raw in every mode", False)


def _stage(
    usable: Sequence[TokenList],
    kind: Kind,
    size: int | None,
    source: ListedSource,
    reading: ReadingSettings,
) -> StageClaim:
    """The stage of the rows that were drawn from, or of the prompt where there are none."""
    drawn = [found for found in usable if found.drawn]
    if not drawn:
        return _PROMPT
    if reading.stage is not None and source.stage.assumed:
        return StageClaim(reading.stage, "as --stage says", False)
    if not source.filtered:
        return source.stage
    claim = stage_of(drawn, source.stage, kind, _complete(drawn, size))
    if kind is Kind.LOGITS and claim is source.stage and claim.assumed:
        return claim._replace(evidence="the values are logits; nothing says whether raw ones")
    return claim


def _complete(lists: Sequence[TokenList], size: int | None) -> bool:
    return all(len(found.entries) == size for found in lists)


def _asked(lists: Sequence[TokenList]) -> dict[Request, Asked]:
    """How many alternatives each request with merged lists asked for."""
    merged: dict[Request, list[TokenList]] = {}
    for found in lists:
        if found.ranking is Ranking.MERGED:
            merged.setdefault((found.sequence, found.drawn), []).append(found)
    return {request: requested(part) for request, part in merged.items()}


def _check_options(source: ListedSource, stage: StageClaim, reading: ReadingSettings) -> None:
    """Raises SettingsError for options that contradict the format."""
    said = ""
    if reading.numbers not in (None, NumberFormat.FLOAT32):
        said = f"--numbers {reading.numbers}: the numbers are written out"
    elif reading.axes is not None:
        said = f"--axes {reading.axes}: there are none"
    elif reading.stage not in (None, stage.stage):
        said = f"--stage {reading.stage}: {stage.evidence}"
    if said:
        raise SettingsError(f"{said} in {source.title}", place=source.file)


def _usable(lists: Sequence[TokenList], source: ListedSource) -> list[TokenList]:
    """The positions that may be used; the others are marked."""
    for found in lists:
        found.refused = found.refused or refusal(found, source.keyed_by_text)
    asked = requested([found for found in lists if not found.refused]).at_least
    for found in lists:
        short = source.keyed_by_text and len(found.entries) < asked
        if short and not found.refused:
            found.refused = (
                f"{len(found.entries)} keys where {asked} tokens were asked for: texts that "
                f"several tokens share were overwritten; the mass listed is {mass(found):.6g}"
            )
    usable = [found for found in lists if not found.refused]
    if not usable:
        held = range_text([mass(found) for found in lists])
        raise CaptureError(
            f"no position can be used (listed mass {held}): {lists[0].refused}",
            place=lists[0].place,
            expected="a list of tokens at some position",
            advice=source.advice,
        )
    return usable


def _size(
    lists: Sequence[TokenList], kind: Kind, reading: ReadingSettings, source: ListedSource
) -> int | None:
    """The vocabulary size: as told, or where every list has all ids from 0 on and all mass."""
    if reading.vocab_size is not None:
        return reading.vocab_size
    entries = [_by_id(found) for found in lists]
    if kind is Kind.LOGITS or any(found is None for found in entries):
        return None
    size = looks_complete([found for found in entries if found is not None], kind)
    if size is not None:
        source.shown.append(
            ("vocabulary found", f"every position lists the ids 0 to {size - 1}, and all mass")
        )
    return size


def _by_id(found: TokenList) -> list[TokenValue] | None:
    if not all(type(item.token) is int and type(item.value) is float for item in found.entries):
        return None
    return [TokenValue(item.token, item.value) for item in found.entries]  # type: ignore[arg-type]


def as_draft(file: EngineFile) -> EngineFile:
    """The rows of a draft, which name no token of the text: theirs may have been rejected."""
    rows = [replace(row, token=None) for row in file.rows()]
    return replace(file, rows=lambda: iter(rows), tokens={})
