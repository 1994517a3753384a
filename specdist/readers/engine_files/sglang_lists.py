"""What SGLang's ``meta_info`` lists at each position, for the prompt and for the output.

A triple is ``[log-probability, id, text or null]``. ``*_top_logprobs`` holds the k most likely
tokens, best first, without the sampled one where that is less likely; ``*_token_logprobs`` the
token that stands there; ``*_token_ids_logprobs`` tokens that were asked for by id (SGLang 0.5.23,
srt/managers/tokenizer_manager.py and srt/layers/sampler.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.logprob_numbers import Absent, LogprobNumbers
from specdist.readers.engine_files.ranked_checks import TokenValue
from specdist.readers.engine_files.sglang_flat import Lists, flat_lists, has_flat

SIDES = ("input", "output")
_KINDS = ("top_logprobs", "token_logprobs", "token_ids_logprobs")


@dataclass(frozen=True, slots=True)
class Listed:
    """One position: the most likely tokens, others, and the token that stands there. Both lists
    are empty where the reply has null, as for the first token of a prompt."""

    ranked: tuple[TokenValue, ...]
    more: tuple[TokenValue, ...]
    token: int | None
    place: str


def holds_lists(meta: dict[str, Any]) -> bool:
    """Whether a reply lists tokens at its positions, in SGLang's triples or flat."""
    for side in SIDES:
        if has_flat(meta, side):
            return True
        if any(isinstance(meta.get(f"{side}_{kind}"), list) for kind in _KINDS):
            return not _pairs(meta.get(f"{side}_token_logprobs"))
    return False


def _pairs(triples: Any) -> bool:
    """Whether a list holds ``[log-probability, id]``, as LMDeploy writes it."""
    return isinstance(triples, list) and any(
        isinstance(item, list) and len(item) == 2 for item in triples[:1]
    )


def listed(meta: Node, side: str, numbers: LogprobNumbers) -> list[Listed]:
    """The positions of a side; none where the reply has no list of it. Raises CaptureError."""
    lists: dict[str, Lists] = {}
    for kind in _KINDS:
        if kind == "top_logprobs" and has_flat(meta.fields(), side):
            lists[kind] = flat_lists(meta, side, numbers)
        elif meta.has(f"{side}_{kind}"):
            lists[kind] = _nested(meta, f"{side}_{kind}", numbers)
    lists = {kind: found for kind, found in lists.items() if found}
    counts = sorted({len(found) for found in lists.values()})
    if len(counts) > 1:
        raise meta.member(f"{side}_token_logprobs").error(
            f"{counts[0]} positions in one list of {side}_*, {counts[-1]} in another",
            "as many positions in every list",
        )
    rows: list[Listed] = []
    for i in range(counts[0] if counts else 0):
        at = {kind: found[i] for kind, found in lists.items()}
        rows.append(_position(at, f"{meta.place}.{side}_{next(iter(lists))}[{i}]"))
    return rows


def _position(at: dict[str, tuple[TokenValue, ...] | None], place: str) -> Listed:
    single = at.get("token_logprobs")
    named = [*(single or ()), *(at.get("token_ids_logprobs") or ())]
    known = dict.fromkeys(entry for entry in named if entry.value == entry.value)
    return Listed(
        ranked=at.get("top_logprobs") or (),
        more=tuple(known),
        token=single[0].token if single else None,
        place=place,
    )


def whole(meta: Node, key: str) -> list[Node]:
    """The items of a list. Raises CaptureError where the reply says that it has another length: a
    chunk of a stream, whose place in the text is unknown."""
    node = meta.member(key)
    items = node.items()
    told = meta.optional(f"{key}_length")
    if told is not None and told.token_id() != len(items):
        raise node.error(
            f"{len(items)} positions, {key}_length says {told.value}",
            "the whole answer",
            "dump the reply to a request without streaming",
        )
    return items


def _nested(meta: Node, key: str, numbers: LogprobNumbers) -> Lists:
    """The entries of each position under a key; NaN stands for a value that is null."""
    if key.endswith("_token_logprobs"):
        return [(_triple(item, numbers),) for item in whole(meta, key)]
    return [
        None if item.value is None else tuple(_known(part, numbers) for part in item.items())
        for item in whole(meta, key)
    ]


def _known(node: Node, numbers: LogprobNumbers) -> TokenValue:
    found = _triple(node, numbers)
    if found.value != found.value:
        raise node.error("null stands for a log-probability", "a number")
    return found


def _triple(node: Node, numbers: LogprobNumbers) -> TokenValue:
    parts = node.items()
    if len(parts) != 3:
        raise node.error(f"{len(parts)} parts", "[log-probability, id, text or null]")
    token = parts[1].token_id()
    if parts[0].value is None:
        return TokenValue(token, float("nan"))
    value = numbers.read(parts[0])
    return TokenValue(token, float("nan") if isinstance(value, Absent) else value)
