"""Positions of a llama-server answer, with ids and with log-probabilities or probabilities.

``{id, token, bytes, logprob, top_logprobs}`` holds the softmax of the raw logits; with
``post_sampling_probs`` the members are ``prob`` and ``top_probs``, the law that the sampler chain
leaves, without tokens of probability 0 (llama.cpp, tools/server/server-context.cpp,
``populate_token_probs``, and server-task.cpp). Tokens that came out of a verified block carry the
logarithm of 1 and no list: the server fills in no value there (ggml-org/llama.cpp issue 27972).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from specdist.model.row import Kind
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.logprob_numbers import Absent, LogprobNumbers
from specdist.readers.engine_files.ranked_checks import TokenValue

_KEYS = {Kind.LOGPROBS: ("logprob", "top_logprobs"), Kind.PROBABILITIES: ("prob", "top_probs")}
_CERTAIN = {Kind.LOGPROBS: 0.0, Kind.PROBABILITIES: 1.0}
UNFILLED = {
    Kind.LOGPROBS: "logprob 0.0 and no alternatives: the server fills in no value for a token of a "
    "verified block",
    Kind.PROBABILITIES: "prob 1.0 and no alternatives: the server fills in no value for a token of "
    "a verified block",
}


@dataclass(frozen=True, slots=True)
class ServerPosition:
    """``ranked``: the most likely tokens, falling; ``own``: the sampled token and its value.
    ``refused`` says why nothing of it can be used."""

    own: TokenValue
    ranked: tuple[TokenValue, ...]
    place: str
    refused: str = ""


def is_position(value: Any) -> bool:
    """Whether an array item is a position with an id and bytes, as this server writes it."""
    return (
        isinstance(value, dict)
        and {"id", "bytes"} <= set(value)
        and any(top in value and own in value for own, top in _KEYS.values())
    )


def kind_of(node: Node) -> Kind:
    """Log-probabilities, or probabilities where the request had post_sampling_probs."""
    return Kind.PROBABILITIES if "prob" in node.fields() else Kind.LOGPROBS


def position(node: Node, kind: Kind, numbers: LogprobNumbers) -> ServerPosition:
    """One position. Raises CaptureError where it is broken or of another kind."""
    own_key, top_key = _KEYS[kind]
    own = _entry(node, own_key, numbers)
    ranked = tuple(_entry(item, own_key, numbers) for item in node.member(top_key).items())
    found = ServerPosition(own, ranked, node.place)
    if not ranked and own.value == _CERTAIN[kind]:
        return replace(found, refused=UNFILLED[kind])
    return found


def _entry(node: Node, key: str, numbers: LogprobNumbers) -> TokenValue:
    value = numbers.read(node.member(key))
    if isinstance(value, Absent):
        raise node.member(key).error("null stands for a number")
    return TokenValue(node.member("id").token_id(), value)
