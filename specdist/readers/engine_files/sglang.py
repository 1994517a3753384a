"""Replies of SGLang's ``/generate``, one or a list of them: ``meta_info`` with lists of tokens.

Output values are log-probabilities after temperature and before top-k and top-p, unless the server
ran with ``SGLANG_RETURN_ORIGINAL_LOGPROB`` or sampled greedily; prompt values are those of a raw
softmax; a sampling mask brings the processed law (SGLang 0.5.23, srt/layers/sampler.py and
srt/layers/logits_processor.py). Speculative runs follow the same rule at the emitted positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.errors import CaptureError
from specdist.model.row import Kind, ListedValues, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile, EngineRow
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.ranked_list import (
    GPU_TERMS,
    RankedList,
    listed_values,
    looks_complete,
    sum_slack,
)
from specdist.readers.engine_files.sglang_lists import Listed, holds_lists
from specdist.readers.engine_files.sglang_reply import Reply, replies
from specdist.readers.engine_files.sglang_run import Run, run_of
from specdist.readers.engine_files.sglang_support import Support, holds_support
from specdist.readers.engine_files.told import check_told

NAME = "sglang"
TITLE = "an SGLang reply"
_SLACK = sum_slack(GPU_TERMS)
_NO_LAW = "nothing predicts the first token of a prompt"


def recognises(value: Any) -> bool:
    """Whether a document is a reply, or a list of them, with lists or with hidden states."""
    items = value if isinstance(value, list) else [value]
    metas = [item.get("meta_info") for item in items[:4] if isinstance(item, dict)]
    return any(
        isinstance(meta, dict)
        and (holds_lists(meta) or holds_support(meta) or "hidden_states" in meta)
        for meta in metas
    )


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """The rows of every reply, a sequence each. Raises CaptureError and RowError."""
    root = Node(value, name)
    check_told(reading, name, TITLE, Kind.LOGPROBS, reading.stage or Stage.TEMPERATURE)
    run = run_of(root, reading)
    numbers = LogprobNumbers(floor_is_zero=True)
    found = list(replies(root, numbers))
    use_support = _use_support(found, reading)
    size = _size(found, reading)
    rows = tuple(_rows(found, use_support, size, run))
    if all(row.values is None for row in rows):
        raise _without_rows(found, rows, name)
    stage, evidence, assumed = _stage(rows, run)
    return EngineFile(
        source=name,
        reader=NAME,
        title=TITLE,
        rows=lambda: iter(rows),
        count=len(rows),
        vocab_size=size,
        stage=stage,
        stage_evidence=evidence,
        assumed=assumed,
        kind_evidence="log-probabilities, as the format fixes",
        settings=run.settings,
        tokens={i: reply.text for i, reply in enumerate(found) if reply.text is not None},
        shown=(*_shown(found, use_support), *numbers.facts()),
        warnings=(*_warnings(stage), *run.warnings, *numbers.warnings()),
        concludes=_concludes(rows, use_support),
    )


ANSWERS = (AnswerFormat(NAME, TITLE, recognises, read),)


def _use_support(found: list[Reply], reading: ReadingSettings) -> bool:
    """The processed law, where there is one and the user asks for no other stage."""
    return reading.stage in (None, Stage.PROCESSED) and any(reply.supports for reply in found)


def _size(found: list[Reply], reading: ReadingSettings) -> int | None:
    if reading.vocab_size is not None:
        return reading.vocab_size
    lists = [x.ranked for reply in found for x in (*reply.prompt, *reply.output) if x.ranked]
    return looks_complete(lists, Kind.LOGPROBS)


def _rows(found: list[Reply], use_support: bool, size: int | None, run: Run) -> Iterator[EngineRow]:
    for sequence, reply in enumerate(found):
        for at, listed in enumerate(reply.prompt):
            if at or listed.ranked or listed.more:
                index = reply.start - len(reply.prompt) + at
                yield _row(listed, sequence, index, Stage.RAW, size)
        if use_support:
            for at, support in enumerate(reply.supports):
                token = None if reply.sampled is None else reply.sampled[at]
                yield _support_row(support, sequence, reply.start + at, token, size)
            continue
        for at, listed in enumerate(reply.output):
            yield _row(listed, sequence, reply.start + at, run.stage, size)


def _row(listed: Listed, sequence: int, index: int, stage: Stage, size: int | None) -> EngineRow:
    refused = "" if listed.ranked or listed.more else "null stands here"
    values = None
    if not refused:
        ranked = RankedList(listed.ranked, listed.more, size, _SLACK)
        values = listed_values(ranked, Kind.LOGPROBS, listed.place)
    return EngineRow(
        sequence, index, values, Kind.LOGPROBS, stage, NumberFormat.FLOAT32,
        listed.place, token=listed.token, refused=refused,
    )  # fmt: skip


def _support_row(
    support: Support, sequence: int, index: int, token: int | None, size: int | None
) -> EngineRow:
    values = None
    if not support.refused:
        ranked = RankedList((), support.entries, size, _SLACK, only=support.only)
        values = listed_values(ranked, Kind.LOGPROBS, support.place)
    return EngineRow(
        sequence, index, values, Kind.LOGPROBS, Stage.PROCESSED, NumberFormat.FLOAT32,
        support.place, token=token, refused=support.refused,
    )  # fmt: skip


def _stage(rows: tuple[EngineRow, ...], run: Run) -> tuple[Stage, str, bool]:
    """Of the output rows; of the prompt's where there are no others."""
    stages = {row.stage for row in rows if row.values is not None}
    if Stage.PROCESSED in stages and run.stage is not Stage.PROCESSED:
        return Stage.PROCESSED, "the sampling mask holds the law after all filters", False
    if stages == {Stage.RAW} and run.stage is not Stage.RAW:
        return Stage.RAW, "the lists of a prompt come from a raw softmax", False
    return run.stage, run.evidence, run.assumed


def _warnings(stage: Stage) -> tuple[str, ...]:
    if stage is not Stage.TEMPERATURE:
        return ()
    return ("the temperature of the request is in these values and must not be applied again",)


def _shown(found: list[Reply], use_support: bool) -> list[tuple[str, str]]:
    facts = [("read", "output_token_sampling_mask, not the other lists")] if use_support else []
    if any(reply.prompt for reply in found):
        facts.append(("prompt", "rows of the prompt are raw"))
    return facts + [fact for reply in found[:1] for fact in reply.counters]


def _all_known(row: EngineRow) -> bool:
    return not isinstance(row.values, ListedValues) or row.values.others == 0


def _concludes(rows: tuple[EngineRow, ...], use_support: bool) -> str:
    if all(_all_known(row) for row in rows):
        return "every possible token is listed: exact statements at this stage"
    if use_support:
        return "one value a position and the possible tokens: bounds"
    return (
        "bounds at this temperature, as wide as the unlisted mass; ratios of listed tokens exactly"
    )


def _without_rows(found: list[Reply], rows: tuple[EngineRow, ...], name: str) -> CaptureError:
    advice = "ask for return_logprob with top_logprobs_num, or for return_sampling_mask"
    if any(reply.hidden_states for reply in found):
        return CaptureError(
            "this reply holds hidden states, and no distribution of a token",
            place=name,
            expected="lists of log-probabilities",
            advice=f"the head of the model would turn them into logits; {advice}",
        )
    reason = next((row.refused for row in rows if row.refused), "")
    return CaptureError(
        "no position can be used" + (f": {reason}" if reason else ""), place=name, advice=advice
    )
