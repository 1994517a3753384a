"""Two JSON files, one for each side, merged step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from specdist.errors import CaptureError, ContextMismatchError
from specdist.model.capture import Capture, Position, Step, Vocab
from specdist.model.options import NO_OPTIONS, ProcessingOptions
from specdist.model.row import PointMass
from specdist.model.settings import ReadingSettings
from specdist.readers.json_capture import read_document
from specdist.readers.json_given import with_given_rule
from specdist.readers.json_token_rows import check_draft_map
from specdist.readers.jsonl_capture import read_lines
from specdist.readers.notes import NOT_VERIFIED
from specdist.readers.sources import ByteSource

Label = Literal["target", "draft"]


def read_one_side(
    source: ByteSource, value: Any, label: Label, reading: ReadingSettings, vocab: Vocab | None
) -> Capture:
    """A capture that need hold one side only, or a plain list of rows. The missing rows are
    filled with those of the side that is there. Raises CaptureError or RowError."""
    if value is None:
        return read_lines(source, reading, vocab, only=label)
    if isinstance(value, list):
        rows = value if value and isinstance(value[0], list | dict) else [value]
        value = {"steps": [{label: row} for row in rows]}
    return read_document(value, source.name, reading, vocab, only=label)


def read_json_pair(target: Capture, draft: Capture) -> Capture:
    """One capture out of two. Raises CaptureError or ContextMismatchError where they differ."""
    ours, theirs = tuple(target.steps()), tuple(draft.steps())
    source = target.source if target.source == draft.source else f"{target.source} + {draft.source}"
    if len(ours) != len(theirs):
        raise CaptureError(
            f"the target has {len(ours)} steps, the draft {len(theirs)}",
            place=source,
            expected="one draft step for each target step",
        )
    steps = tuple(_merged(a, b, source) for a, b in zip(ours, theirs, strict=True))
    facts = tuple(
        (key if key in ("reader", "steps") else f"target {key}", text) for key, text in target.facts
    ) + tuple((f"draft {key}", text) for key, text in draft.facts if key not in ("reader", "steps"))
    return Capture(
        source, target.reader, lambda: iter(steps), facts, len(steps), target.vocab or draft.vocab
    )


def _refuse_other_tokens(target: Step, draft: Step, place: str) -> None:
    for what, a, b in (
        ("contexts", target.context, draft.context),
        ("draft tokens", target.draft_tokens, draft.draft_tokens),
    ):
        if a is not None and b is not None and a != b:
            raise ContextMismatchError(
                f"the {what} of target and draft differ",
                place=place,
                expected="rows of both models for the same tokens",
            )


def _position(target: Position, draft: Position, place: str) -> Position:
    """Each row from its file; what a file says token by token from the one that says it."""
    keep = target.keep if target.keep is not None else draft.keep
    given = {**target.given, **draft.given}
    size = target.target.size
    for name, row in (("keep", keep), *given.items()):
        if row is not None and len(row) != size:
            raise CaptureError(
                f"{name} has {len(row)} numbers, the target row {size}",
                place=place,
                expected="one number a target token",
            )
    draft_map = draft.draft_map or target.draft_map
    if draft_map is not None:
        own = None if isinstance(draft.draft.values, PointMass) else draft.draft.size
        check_draft_map(draft_map, own, size, place)
    return Position(
        target.index,
        target.target,
        draft.draft,
        draft.draft_token if draft.draft_token is not None else target.draft_token,
        {**target.roles, **draft.roles},
        keep,
        given,
        draft_map,
    )


def _options(target: Step, draft: Step, place: str) -> ProcessingOptions:
    """The settings of the file that has some; both may say the same."""
    if NO_OPTIONS in (target.options, draft.options) or target.options == draft.options:
        return draft.options if target.options == NO_OPTIONS else target.options
    raise CaptureError(
        "the settings of target and draft file differ",
        place=place,
        expected="settings in one of the files: they hold for the whole step",
        advice='where the draft differs, write "draft": {"temperature": "1/2"} into them',
    )


def _merged(target: Step, draft: Step, source: str) -> Step:
    place = f"{target.source} and {draft.source}"
    if len(target.positions) != len(draft.positions):
        raise CaptureError(
            f"{len(target.positions)} target and {len(draft.positions)} draft positions",
            place=place,
            expected="as many of each",
        )
    _refuse_other_tokens(target, draft, place)
    verified = target.context is not None and draft.context is not None
    unverified = () if verified else (NOT_VERIFIED,)
    positions = tuple(
        _position(a, b, place) for a, b in zip(target.positions, draft.positions, strict=True)
    )
    return replace(
        target,
        source=f"{source}, step {target.id}",
        positions=positions,
        options=with_given_rule(_options(target, draft, place), positions),
        draft_vocab=draft.draft_vocab or target.draft_vocab,
        context=target.context if target.context is not None else draft.context,
        draft_tokens=draft.draft_tokens or target.draft_tokens,
        findings=tuple(dict.fromkeys((*target.findings, *draft.findings, *unverified))),
    )
