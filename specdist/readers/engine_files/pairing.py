"""Two files that engines wrote, one a model, as a capture: every pair of rows is one step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from specdist.errors import CaptureError, ContextMismatchError, SettingsError
from specdist.model.capture import Capture, Position, Step, Vocab
from specdist.model.finding import Finding, Severity
from specdist.model.row import ListedValues, Row, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.alignment import Pair, aligned
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.facts import file_facts
from specdist.readers.engine_files.labels import Labels, as_texts, forms
from specdist.readers.notes import BEGINNING_UNKNOWN, NOT_VERIFIED, clamp_notes


def engine_capture(
    target: EngineFile, draft: EngineFile, reading: ReadingSettings, vocab: Vocab | None
) -> Capture:
    """The capture of two sides. Raises CaptureError, ContextMismatchError or SettingsError; rows
    that do not fit together raise from the steps, before the first one where files are small."""
    if reading.draft_lengths is not None:
        raise SettingsError(
            "--draft-lengths with a file that holds one row a written token",
            place=target.source,
            expected="blocks of dumps: n draft rows and n + 1 target rows a step",
        )
    _refuse_other_temperature(target, draft)
    joined = _by_labels(target, draft, vocab)
    source = target.source if target.source == draft.source else f"{target.source} + {draft.source}"
    facts = [("reader", " + ".join(dict.fromkeys((target.reader, draft.reader))))]
    facts += [*file_facts(joined.target, "target"), *file_facts(joined.draft, "draft")]
    facts += [("tokens", joined.said)] if joined.said else []

    def iterate() -> Iterator[Step]:
        return _steps(joined, source)

    count = target.count if target.count == draft.count else None
    return Capture(source, target.reader, iterate, tuple(facts), count, joined.vocab)


class _Joined(NamedTuple):
    """Two files over the ids of one vocabulary, and how their tokens were joined."""

    target: EngineFile
    draft: EngineFile
    vocab: Vocab | None
    said: str
    findings: tuple[Finding, ...]


def _by_labels(target: EngineFile, draft: EngineFile, vocab: Vocab | None) -> _Joined:
    if not _labelled(target) and not _labelled(draft):
        return _Joined(target, draft, vocab, "", ())
    ours, theirs = list(target.rows()), list(draft.rows())
    both = forms(chain(ours, theirs))
    findings: tuple[Finding, ...] = ()
    if "text" in both:
        ours, theirs = [as_texts(row) for row in ours], [as_texts(row) for row in theirs]
        findings = (_BY_TEXT,)
    labels = Labels(chain(ours, theirs), vocab)
    if "id" in both and not labels.from_vocab:
        raise CaptureError(
            "one side names tokens by id, the other by text",
            place=f"{target.source} and {draft.source}",
            expected="ids on both sides, or texts on both sides",
            advice="--vocab FILE with a text for every token joins them, where no two tokens "
            "have the same text",
        )
    said = "joined by " + ("text" if "text" in both else "bytes")
    said += ", with the ids of --vocab" if labels.from_vocab else ", in an order of their own"
    return _Joined(
        _with_rows(target, [labels.joined(row) for row in ours]),
        _with_rows(draft, [labels.joined(row) for row in theirs]),
        labels.vocab,
        said,
        findings,
    )


_BY_TEXT = Finding(
    "configuration-needed",
    Severity.WARNING,
    "tokens are joined by their text: two tokens with one text would be taken for one",
    notes=("dump ids (return_tokens_as_token_ids), or bytes",),
)


def _labelled(file: EngineFile) -> bool:
    """Whether the first usable row names its tokens by labels."""
    return next((row.labels is not None for row in file.rows() if row.values is not None), False)


def _with_rows(file: EngineFile, rows: list[EngineRow]) -> EngineFile:
    return replace(file, rows=lambda: iter(rows))


def _refuse_other_temperature(target: EngineFile, draft: EngineFile) -> None:
    """Rows that went through two temperatures are no pair, where both files say theirs."""
    if Stage.RAW in (target.stage, draft.stage):
        return
    ours, theirs = target.settings.get("temperature"), draft.settings.get("temperature")
    if ours is not None and theirs is not None and ours != theirs:
        raise ContextMismatchError(
            f"the target rows are of temperature {ours}, the draft rows of {theirs}",
            place=f"{target.source} and {draft.source}",
            expected="rows of one temperature, or raw rows",
        )


def _steps(joined: _Joined, source: str) -> Iterator[Step]:
    skipped: list[str] = []
    said = dict.fromkeys((*joined.target.warnings, *joined.draft.warnings))
    shown: tuple[Finding, ...] = (*joined.findings, *map(_warned, said))
    number, unknown = 0, False
    held: Step | None = None
    for pair in aligned(joined.target, joined.draft):
        unknown = unknown or pair.begins_unknown
        refused = pair.target.refused or pair.draft.refused
        if refused:
            skipped.append(refused)
            continue
        left_out = _left_out(skipped, "before")
        skipped = []
        if held is not None:
            yield held
        held = _step(pair, number, source, joined, unknown, (*shown, *left_out))
        shown, unknown = (), False
        number += 1
    if held is not None:  # held back, for only the end tells what is not used after it
        yield replace(held, findings=(*held.findings, *_left_out(skipped, "after")))
    else:
        raise CaptureError(
            "no position can be used" + (f": {skipped[0]}" if skipped else ""),
            place=source,
            expected="at least one position with a row of either model",
        )


def _warned(text: str) -> Finding:
    """What a user must know of a file, as a note of its first step."""
    return Finding("configuration-needed", Severity.NOTE, text)


def _left_out(reasons: list[str], where: str) -> tuple[Finding, ...]:
    if not reasons:
        return ()
    count = len(reasons)
    return (
        Finding(
            "invalid-row",
            Severity.WARNING,
            f"{count} position{'s' if count > 1 else ''} {where} this one "
            f"{'are' if count > 1 else 'is'} not used: {reasons[0]}",
        ),
    )


def _step(
    pair: Pair,
    number: int,
    source: str,
    joined: _Joined,
    unknown: bool,
    findings: tuple[Finding, ...],
) -> Step:
    """``unknown``: whether the text before the first row of this sequence is."""
    target, draft = pair.target, pair.draft
    size = _size(joined.target.vocab_size, joined.draft.vocab_size)
    ours, theirs = _row(target, size), _row(draft, size)
    ours, theirs = _same_size(ours, theirs)
    unverified = () if pair.compared or target.index == draft.index == 0 else (NOT_VERIFIED,)
    if pair.compared and unknown:
        unverified = (BEGINNING_UNKNOWN,)
    known = joined.target.tokens.get(target.sequence)
    return Step(
        id=f"row:{number}",
        source=f"{source}, row {number}",
        positions=(Position(0, ours, theirs),),
        context=None if known is None else known[: target.index],
        vocab=joined.vocab,
        findings=(*findings, *unverified, *clamp_notes([ours, theirs])),
    )


def _size(target: int | None, draft: int | None) -> int | None:
    """The vocabulary size that closes an open-ended list: that of either side."""
    return target if target is not None else draft


def _row(row: EngineRow, size: int | None) -> Row:
    values = row.values
    if values is None:
        raise ValueError("a refused position has no row")
    if isinstance(values, ListedValues) and values.open_ended and size is not None:
        if values.size > size:
            raise CaptureError(
                f"token {values.size - 1} is listed, the vocabulary has {size} tokens",
                place=row.place,
            )
        values = replace(values, size=size, open_ended=False)
    return Row(values, row.kind, row.stage, row.numbers, row.place)


def _same_size(target: Row, draft: Row) -> tuple[Row, Row]:
    """Two open-ended rows over the larger of their smallest vocabularies."""
    sizes = max(target.size, draft.size)
    if not (_open(target) and _open(draft)):
        return target, draft
    return _grown(target, sizes), _grown(draft, sizes)


def _open(row: Row) -> bool:
    return isinstance(row.values, ListedValues) and row.values.open_ended


def _grown(row: Row, size: int) -> Row:
    values = row.values
    return (
        replace(row, values=replace(values, size=size)) if isinstance(values, ListedValues) else row
    )
