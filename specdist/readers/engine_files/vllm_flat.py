"""vLLM's FlatLogprobs (``flat_logprobs=True``) as parallel arrays.

Every position has the sampled token first and then the k likeliest, the sampled one perhaps among
them: it stands twice then, and counts once (`vllm/logprobs.py`, 0.33).
"""

from __future__ import annotations

from typing import Any

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.answers import rank_of
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.listed_file import listed_file
from specdist.readers.engine_files.logprob_lists import (
    Entry,
    Ranking,
    TokenList,
    one_entry_an_id,
)
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.vllm_answers import vllm_source

_TITLE = "FlatLogprobs of vLLM"
_KEYS = ("start_indices", "end_indices", "token_ids", "logprobs", "ranks")


def recognises(value: Any) -> bool:
    """Whether the parallel arrays are there."""
    return isinstance(value, dict) and all(isinstance(value.get(key), list) for key in _KEYS)


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """One row a position that has entries. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = vllm_source(document, "vllm-flat", _TITLE)
    numbers = LogprobNumbers(floor_is_zero=True)
    lists = flat_lists(document, 0, numbers)
    twice = sum(repeated for repeated, _ in lists)
    source.shown.append(("listed twice", f"{twice} sampled tokens"))
    return listed_file(source, [found for _, found in lists], numbers, reading)


def flat_lists(node: Node, sequence: int, numbers: LogprobNumbers) -> list[tuple[bool, TokenList]]:
    """The positions, and whether each lists its own token twice. An empty first position is that
    of a prompt's first token. Raises CaptureError."""
    starts, ends = (node.member(key) for key in _KEYS[:2])
    ids, values, ranks = (node.member(key) for key in _KEYS[2:])
    same_length(starts, ends)
    same_length(ids, values, ranks)
    entries = [
        Entry(token.token_id(), numbers.read(value), None if rank.value is None else rank_of(rank))
        for token, value, rank in zip(ids.items(), values.items(), ranks.items(), strict=True)
    ]
    found: list[tuple[bool, TokenList]] = []
    place = 0
    for index, (start, end) in enumerate(zip(starts.items(), ends.items(), strict=True)):
        last = end.value
        if start.value != place or type(last) is not int or not place <= last <= len(entries):
            raise start.error(
                "the indices do not follow each other", expected=f"a start at {place}"
            )
        part, place = entries[place:last], last
        if part or index:
            found.append(_position(part, sequence, index, start))
    if place != len(entries):
        raise ends.error(f"{len(entries) - place} entries belong to no position")
    if found and found[0][1].index == 1:
        for _, position in found:
            position.drawn = False
    return found


def _position(part: list[Entry], sequence: int, index: int, node: Node) -> tuple[bool, TokenList]:
    """The first entry is the sampled token; where it stands twice, the second one is dropped."""
    twice = [entry for entry in part[1:] if entry.token == part[0].token]
    if twice and (len(twice) > 1 or twice[0].value != part[0].value):
        raise node.error(
            f"token id {part[0].token!r} has several values", expected="the sampled one repeated"
        )
    rest = [entry for entry in part[1:] if entry not in twice]
    place = f"{node.file}, position {index}"
    listed = one_entry_an_id(part[:1] + rest, node)
    position = TokenList(sequence, index, place, listed, Ranking.MERGED)
    if part:
        position.sampled = part[0].token
        position.rank = twice[0].rank if twice else part[0].rank
    return bool(twice), position


ANSWERS = (AnswerFormat("vllm-flat", _TITLE, recognises, read),)
