"""What answers of the OpenAI shape share: choices, their lists, and what they say of the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from specdist.readers.engine_files.engine_file import Label
from specdist.readers.engine_files.json_node import Node, same_length
from specdist.readers.engine_files.listed_file import ListedSource
from specdist.readers.engine_files.logprob_lists import (
    Entry,
    Ranking,
    Token,
    TokenList,
    number_of,
    one_entry_an_id,
    with_sampled,
)
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

_TOKEN_ID = re.compile(r"token_id:([0-9]{1,18})")

TokenOf = Callable[[Node], Token]


def raw_choices(value: Any) -> list[dict[str, Any]]:
    """The objects of ``choices``; none where the document is no such answer."""
    found = value.get("choices") if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def raw_content(choices: list[dict[str, Any]], key: str = "logprobs") -> list[dict[str, Any]]:
    """The first object of each choice's ``logprobs.content``."""
    found = []
    for choice in choices:
        logprobs = choice.get(key)
        content = logprobs.get("content") if isinstance(logprobs, dict) else None
        if isinstance(content, list) and content and isinstance(content[0], dict):
            found.append(content[0])
    return found


def raw_arrays(choices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each choice's ``logprobs`` with the arrays of the legacy completions."""
    found = [choice.get("logprobs") for choice in choices]
    return [
        item for item in found if isinstance(item, dict) and isinstance(item.get("tokens"), list)
    ]


def is_token_id(text: Any) -> bool:
    """Whether a token is written as ``token_id:N`` (vLLM's return_tokens_as_token_ids)."""
    return isinstance(text, str) and _TOKEN_ID.fullmatch(text) is not None


def id_of(text: str, node: Node) -> int:
    """The id of ``token_id:N``. Raises CaptureError."""
    match = _TOKEN_ID.fullmatch(text)
    if match is None:
        raise node.error(f"the token {text!r} beside tokens written as ids", expected="token_id:N")
    return node.with_value(int(match[1])).token_id()


def label_of(node: Node) -> Label:
    """What stands for a token without an id: its bytes where the file has any, else its text.
    Raises CaptureError."""
    raw = node.optional("bytes")
    if raw is None or not raw.items():
        return node.member("token").text()
    values = [item.value for item in raw.items()]
    if not all(type(value) is int and 0 <= value < 256 for value in values):
        raise raw.error("these are no bytes", expected="whole numbers from 0 to 255")
    return bytes(values)


def entry_of(node: Node, token_of: TokenOf, numbers: LogprobNumbers, key: str = "logprob") -> Entry:
    """One entry of a list. Raises CaptureError."""
    rank = node.optional("rank")
    return Entry(
        token_of(node), numbers.read(node.member(key)), None if rank is None else rank_of(rank)
    )


def rank_of(node: Node) -> int:
    """A rank. Raises CaptureError."""
    if type(node.value) is not int or node.value < 1:
        raise node.error("this is no rank", expected="a whole number from 1")
    return node.value


def content_lists(
    content: Node,
    at: tuple[int, int],
    token_of: TokenOf,
    numbers: LogprobNumbers,
    ranking: Ranking,
    left_out: Callable[[Node], bool] = lambda node: False,
) -> Iterator[TokenList]:
    """``content[i]``: the sampled token with its list ``top_logprobs``. ``at``: the sequence, and
    the index of its first token; ``left_out``: entries that stand for nothing. Raises
    CaptureError."""
    for index, item in enumerate(content.items()):
        tops = item.optional("top_logprobs")
        entries = [] if tops is None else [x for x in tops.items() if not left_out(x)]
        listed = [entry_of(entry, token_of, numbers) for entry in entries]
        listed = one_entry_an_id(listed, item)
        found = TokenList(at[0], at[1] + index, item.place, listed, ranking)
        yield with_sampled(found, entry_of(item, token_of, numbers), item)


def array_lists(
    logprobs: Node,
    at: tuple[int, int],
    token_of_text: Callable[[str, Node], Token],
    numbers: LogprobNumbers,
    ranking: Ranking,
) -> Iterator[TokenList]:
    """The arrays ``tokens``, ``token_logprobs`` and ``top_logprobs`` of legacy completions, the
    last one with an object or null a position. An echoed prompt begins with a null. Raises
    CaptureError."""
    tokens, values = logprobs.member("tokens"), logprobs.member("token_logprobs")
    tops = logprobs.optional("top_logprobs")
    same_length(tokens, values, *([] if tops is None else [tops]))
    lists = [None] * len(values.items()) if tops is None else tops.items()
    beside = zip(tokens.items(), values.items(), lists, strict=True)
    for index, (token, value, top) in enumerate(beside):
        pairs = [] if top is None or top.value is None else list(top.members())
        if index == 0 and value.value is None and not pairs:
            continue
        entries = [Entry(token_of_text(key, item), numbers.read(item)) for key, item in pairs]
        entries = one_entry_an_id(entries, token)
        place = value.place if top is None else top.place
        found = TokenList(at[0], at[1] + index, place, entries, ranking)
        yield _keyed(found, Entry(token_of_text(token.text(), token), numbers.read(value)), value)


def _keyed(found: TokenList, own: Entry, node: Node) -> TokenList:
    """The list with the sampled token. Where a text is the key, two values are two tokens."""
    found.sampled = own.token
    there = number_of(found.own())
    value = number_of(own)
    if isinstance(own.token, int) or there is None or value is None or there == value:
        return with_sampled(found, own, node)
    found.refused = (
        f"the text {own.token!r} stands for two tokens: {value:.9g} for the one that was drawn, "
        f"{there:.9g} in the list"
    )
    return found


def describe(document: Node, source: ListedSource) -> None:
    """What the answer says of itself, for `inspect`."""
    fields = document.value if isinstance(document.value, dict) else {}
    if isinstance(fields.get("model"), str):
        source.shown.append(("model", fields["model"]))
    usage = fields.get("usage")
    if isinstance(usage, dict) and type(usage.get("prompt_tokens")) is int:
        source.shown.append(("tokens of the prompt", str(usage["prompt_tokens"])))
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    if isinstance(details, dict) and details.get("accepted_prediction_tokens"):
        source.warnings.append(
            "accepted_prediction_tokens counts a predicted output of the request, and no draft "
            "model's tokens"
        )


def whole_answer(value: Any) -> bool:
    """Whether a document is an answer of the OpenAI shape, and no piece of a stream."""
    kind = value.get("object") if isinstance(value, dict) else None
    return bool(raw_choices(value)) and not str(kind).endswith(".chunk")
