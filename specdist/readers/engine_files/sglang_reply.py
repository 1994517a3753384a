"""One reply of SGLang: its positions on the prompt's and on the output's side, and its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers
from specdist.readers.engine_files.sglang_lists import Listed, listed
from specdist.readers.engine_files.sglang_support import Support, holds_support, supports

_COUNTERS = (
    "spec_accept_rate",
    "spec_accept_length",
    "spec_verify_ct",
    "spec_num_correct_drafts",
    "spec_num_proposed_drafts",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """``start``: tokens before the output. ``text``: the ids of prompt and output, where every one
    is known; ``sampled`` those of the output."""

    prompt: list[Listed]
    output: list[Listed]
    supports: list[Support]
    start: int
    sampled: tuple[int, ...] | None
    text: tuple[int, ...] | None
    hidden_states: bool
    counters: tuple[tuple[str, str], ...]


def replies(root: Node, numbers: LogprobNumbers) -> Iterator[Reply]:
    """The replies of a document. Raises CaptureError for a broken one."""
    for node in root.items() if isinstance(root.value, list) else [root]:
        yield _reply(node, numbers)


def _reply(node: Node, numbers: LogprobNumbers) -> Reply:
    meta = node.member("meta_info")
    prompt = listed(meta, "input", numbers)
    output = listed(meta, "output", numbers)
    sampled = _sampled(node, meta, output)
    length = meta.optional("prompt_tokens")
    start = len(prompt) if length is None else length.token_id()
    if start < len(prompt):
        raise meta.member("prompt_tokens").error(
            f"{start} tokens, and the lists of the prompt have {len(prompt)} positions",
            "no more positions than tokens",
        )
    before = [position.token for position in prompt]
    known = [token for token in before if token is not None]
    whole = length is not None and len(known) == start and sampled is not None
    return Reply(
        prompt=prompt,
        output=output,
        supports=supports(meta, sampled, numbers) if holds_support(meta.fields()) else [],
        start=start,
        sampled=sampled,
        text=(*known, *(sampled or ())) if whole else None,
        hidden_states=meta.has("hidden_states"),
        counters=_counters(meta),
    )


def _sampled(node: Node, meta: Node, output: list[Listed]) -> tuple[int, ...] | None:
    """The ids of the output. Raises CaptureError where two lists of them differ."""
    named = [position.token for position in output]
    known = tuple(token for token in named if token is not None)
    ids = node.optional("output_ids") or meta.optional("output_ids")
    if ids is None:
        return known if named and len(known) == len(named) else None
    found = ids.token_ids()
    if output and (len(found) != len(output) or (known and found != known)):
        raise ids.error(
            "these are not the tokens of output_token_logprobs"
            if len(found) == len(output)
            else f"{len(found)} tokens, and the lists have {len(output)} positions",
            "the tokens of one answer",
        )
    return found


def _counters(meta: Node) -> tuple[tuple[str, str], ...]:
    """The figures of the speculative run, as the engine counts them."""
    return tuple((name, str(meta.fields()[name])) for name in _COUNTERS if meta.has(name))
