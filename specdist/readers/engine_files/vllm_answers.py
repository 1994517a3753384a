"""What every file of vLLM shares: stages, the prompt's own lists, ages, and the start of the text.

Sources: vLLM 0.33, `vllm/logprobs.py` (order, ranks), `entrypoints/openai/*/serving.py` (floor of
-9999.0, cut lists), `config/model.py` (logprobs_mode).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specdist.model.row import Stage
from specdist.readers.engine_files.answers import describe, rank_of
from specdist.readers.engine_files.json_node import LARGEST_ID, Node
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource
from specdist.readers.engine_files.logprob_lists import Entry, Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

RAW = StageClaim(
    Stage.RAW, "vLLM's default logprobs_mode is raw_logprobs; the file does not name the mode", True
)
ADVICE = "ask for ids: return_tokens_as_token_ids"
_REPAIRED = 1_767_225_600
"""2026-01-01: raw modes were wrong in speculative runs until the end of 2025 (vLLM, PR 30846)."""


def vllm_source(document: Node, reader: str, title: str) -> ListedSource:
    """The names and warnings of a file of vLLM."""
    source = ListedSource(
        document.file, reader, title, RAW, may_be_logits=True, filtered=True, advice=ADVICE
    )
    describe(document, source)
    fields = document.value if isinstance(document.value, dict) else {}
    created = fields.get("created")
    if type(created) is int and created < _REPAIRED:
        source.warnings.append(
            "written before 2026: in speculative runs of vLLM of that time, raw log-probabilities "
            "came from logits that had been changed in place"
        )
    return source


def says_vllm(value: Any, choice: dict[str, Any]) -> bool:
    """Whether an answer without token ids has the fields that only vLLM's answers have."""
    marks = {"prompt_logprobs", "prompt_token_ids", "kv_transfer_params"}
    return "stop_reason" in choice and bool(marks & (set(value) | set(choice)))


def prompt_of(choice: Node, document: Node) -> tuple[int, ...] | None:
    """The ids of the prompt, where the answer has them (return_token_ids)."""
    for node in (choice, document):
        found = node.optional("prompt_token_ids") if isinstance(node.value, dict) else None
        if found is not None:
            return found.token_ids()
    return None


def keep_text(
    source: ListedSource, sequence: int, prompt: tuple[int, ...] | None, lists: list[TokenList]
) -> list[TokenList]:
    """The lists, after the ids of prompt and answer were kept where both are in the file."""
    written = [found.sampled for found in lists if found.drawn]
    ids = [token for token in written if isinstance(token, int)]
    if prompt is not None and len(ids) == len(written):
        source.tokens[sequence] = prompt + tuple(ids)
    return lists


def start_of(prompt: tuple[int, ...] | None, before: Node | None) -> int:
    """The index of the first generated token: the length of the prompt where the file has it, by
    its ids or by its lists; else 0."""
    if prompt is not None:
        return len(prompt)
    return 0 if before is None else len(before.items())


def prompt_lists(
    node: Node, sequence: int, prompt: tuple[int, ...] | None, numbers: LogprobNumbers
) -> Iterator[TokenList]:
    """``prompt_logprobs``: null, then one object an element. Element i is the law of prompt token i
    given the tokens before it: row i - 1 of a forward pass. Raises CaptureError."""
    items = node.items()
    if prompt is not None and len(prompt) != len(items):
        raise node.error(
            f"{len(items)} elements for a prompt of {len(prompt)} tokens",
            expected="one element a token",
        )
    for index, item in enumerate(items):
        if item.value is None and index == 0:
            continue
        if item.value is None:
            found = TokenList(sequence, index, item.place, [], Ranking.MERGED)
        else:
            found = object_list(item, sequence, index, numbers)
        found.drawn = False
        if prompt is not None:
            named(found, prompt[index], item)
        yield found


def object_list(node: Node, sequence: int, index: int, numbers: LogprobNumbers) -> TokenList:
    """``{"N": {"logprob", "rank", "decoded_token"}}``: the token that stands there first, unless
    the keys were sorted by whoever saved them. Raises CaptureError."""
    entries = [_entry(node, key, item, numbers) for key, item in node.fields().items()]
    ids = [entry.token for entry in entries]
    if len(set(ids)) < len(ids):
        raise node.error("one token id is written in two ways", expected="one key an id")
    found = TokenList(sequence, index, node.place, entries, Ranking.MERGED)
    own = _first_in_engine_order(entries) or _beyond_the_likeliest(entries)
    if own is not None:
        found.sampled, found.rank = own.token, own.rank
    return found


def _entry(node: Node, key: str, item: Any, numbers: LogprobNumbers) -> Entry:
    if not (key.isascii() and key.isdigit() and len(key) < 19):
        raise node.error(f"the key {key[:24]!r} is no token id", expected="ids as keys")
    token, holder = int(key), Node(item, node.file, node, key)
    if token > LARGEST_ID:
        holder.with_value(token).token_id()
    fields = item if type(item) is dict else holder.fields()
    rank = fields.get("rank")
    value = numbers.read_member(holder, "logprob", fields.get("logprob"))
    if rank is not None and (type(rank) is not int or rank < 1):
        rank = rank_of(holder.member("rank"))
    return Entry(token, value, rank)


def _first_in_engine_order(entries: list[Entry]) -> Entry | None:
    """The first entry, where all after it stand in the order of their ranks."""
    ranks = [entry.rank or 0 for entry in entries[1:]]
    in_order = len(entries) == 1 or (0 not in ranks and ranks == sorted(ranks))
    return entries[0] if entries and in_order else None


def _beyond_the_likeliest(entries: list[Entry]) -> Entry | None:
    """The one entry of n whose rank is above n, where the others have the ranks 1 to n - 1."""
    ranked = sorted(entries, key=lambda entry: entry.rank or 0)
    last = ranked[-1] if ranked else None
    likeliest = [entry.rank for entry in ranked[:-1]] == list(range(1, len(entries)))
    beyond = last is not None and last.rank is not None and last.rank > len(entries)
    return last if likeliest and beyond else None


def named(found: TokenList, token: int, node: Node) -> None:
    """Says which token stands at a position, where the file tells it apart. Raises CaptureError
    where its list lacks it."""
    own = next((entry for entry in found.entries if entry.token == token), None)
    if own is None and found.entries:
        raise node.error(
            f"token {token} stands here, and its own list lacks it",
            expected="the token that stands at a position among its entries",
        )
    found.sampled = token
    found.rank = None if own is None else own.rank
