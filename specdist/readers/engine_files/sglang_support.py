"""SGLang's sampling mask: which tokens survived the filters, and their log-probabilities.

``return_sampling_mask`` writes ``output_token_sampling_mask`` (ids per position) and
``output_token_sampling_logprobs``: in mode "support" a value for every id, which is the processed
law as a whole; in mode "selected" the value of the sampled token alone (SGLang 0.5.23,
srt/managers/tokenizer_manager.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.logprob_numbers import Absent, LogprobNumbers
from specdist.readers.engine_files.ranked_checks import TokenValue
from specdist.readers.engine_files.sglang_lists import whole

MASK = "output_token_sampling_mask"
VALUES = "output_token_sampling_logprobs"


@dataclass(frozen=True, slots=True)
class Support:
    """One position: the possible tokens, and the values of all of them or of one."""

    only: tuple[int, ...]
    entries: tuple[TokenValue, ...]
    place: str
    refused: str = ""


def holds_support(meta: dict[str, Any]) -> bool:
    """Whether a reply has the mask and values of it."""
    return isinstance(meta.get(MASK), list) and isinstance(meta.get(VALUES), list)


def supports(meta: Node, tokens: tuple[int, ...] | None, numbers: LogprobNumbers) -> list[Support]:
    """The support of each position; ``tokens`` are the sampled ones. Raises CaptureError."""
    masks, values = whole(meta, MASK), whole(meta, VALUES)
    same_length(meta.member(MASK), meta.member(VALUES))
    if tokens is not None and len(tokens) != len(masks):
        raise meta.member(MASK).error(
            f"{len(masks)} masks beside {len(tokens)} tokens", "one mask a token"
        )
    return [
        _support(mask, value, None if tokens is None else tokens[i], numbers)
        for i, (mask, value) in enumerate(zip(masks, values, strict=True))
    ]


def _support(mask: Node, value: Node, token: int | None, numbers: LogprobNumbers) -> Support:
    only = () if mask.value is None else mask.token_ids()
    if not only:
        return Support(
            (), (), mask.place, "the sampling mask is empty: no filter was on, or it is too long"
        )
    if token is not None and token not in only:
        raise mask.error(
            f"token {token} was sampled, and the mask does not have it", "a mask of this position"
        )
    if isinstance(value.value, list) and len(value.value) == len(only):
        pairs = zip(only, value.items(), strict=True)
        entries = tuple(TokenValue(x, _number(item, numbers)) for x, item in pairs)
        return Support(only, entries, mask.place)
    return Support(only, (_selected(value, token, len(only), numbers),), mask.place)


def _selected(value: Node, token: int | None, size: int, numbers: LogprobNumbers) -> TokenValue:
    if isinstance(value.value, list):
        items = value.items()
        if len(items) != 1:
            raise value.error(
                f"{len(items)} values for a mask of {size} tokens", "a value for each, or one"
            )
        value = items[0]
    if token is None:
        raise value.error(
            "this is the value of the sampled token, which the reply does not name",
            "output_ids, or output_token_logprobs",
        )
    return TokenValue(token, _number(value, numbers))


def _number(node: Node, numbers: LogprobNumbers) -> float:
    found = numbers.read(node)
    if isinstance(found, Absent):
        raise node.error("null stands for a log-probability", "a number")
    return found
