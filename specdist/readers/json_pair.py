"""Two JSON files, one for each side, merged step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from specdist.errors import CaptureError, ContextMismatchError
from specdist.model.capture import Capture, Position, Step, Vocab
from specdist.model.settings import ReadingSettings
from specdist.readers.json_capture import read_document
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


def _merged(target: Step, draft: Step, source: str) -> Step:
    place = f"{target.source} and {draft.source}"
    if len(target.positions) != len(draft.positions):
        raise CaptureError(
            f"{len(target.positions)} target and {len(draft.positions)} draft positions",
            place=place,
            expected="as many of each",
        )
    if target.positions[0].target.size != draft.positions[0].draft.size:
        raise CaptureError(
            f"target rows have {target.positions[0].target.size} tokens, draft rows "
            f"{draft.positions[0].draft.size}",
            place=place,
            expected="one vocabulary",
        )
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
    verified = target.context is not None and draft.context is not None
    unverified = () if verified else (NOT_VERIFIED,)
    return replace(
        target,
        source=f"{source}, step {target.id}",
        positions=tuple(
            Position(a.index, a.target, b.draft, b.draft_token, {**a.roles, **b.roles})
            for a, b in zip(target.positions, draft.positions, strict=True)
        ),
        context=target.context if target.context is not None else draft.context,
        draft_tokens=draft.draft_tokens or target.draft_tokens,
        findings=tuple(dict.fromkeys((*target.findings, *draft.findings, *unverified))),
    )
