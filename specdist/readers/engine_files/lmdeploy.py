"""LMDeploy's ``/generate``: ``meta_info.output_token_logprobs`` as pairs [log-probability, id].

One value a position, the sampled token's (`serve/openai/endpoints/generate.py`); its values are
logits where the server runs with logprobs_mode raw_logits. SGLang writes triples in this place.
"""

from __future__ import annotations

from typing import Any

from specdist.model.row import Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import AnswerFormat, EngineFile
from specdist.readers.engine_files.json_node import Node
from specdist.readers.engine_files.list_evidence import StageClaim
from specdist.readers.engine_files.listed_file import ListedSource, listed_file
from specdist.readers.engine_files.logprob_lists import Entry, Ranking, TokenList
from specdist.readers.engine_files.logprob_numbers import LogprobNumbers

_TITLE = "answer of LMDeploy's generate"
_KEY = "output_token_logprobs"
_RAW = StageClaim(Stage.RAW, "both logprobs_mode of LMDeploy are raw", False)


def recognises(value: Any) -> bool:
    """Whether the values of the written tokens are pairs."""
    meta = value.get("meta_info") if isinstance(value, dict) else None
    found = meta.get(_KEY) if isinstance(meta, dict) else None
    return (
        isinstance(found, list)
        and bool(found)
        and isinstance(found[0], list)
        and len(found[0]) == 2
        and "output_top_logprobs" not in (meta or {})
    )


def read(value: Any, name: str, reading: ReadingSettings) -> EngineFile:
    """Rows of one listed token. Raises CaptureError and RowError."""
    document = Node(value, name)
    source = ListedSource(name, "lmdeploy-generate", _TITLE, _RAW, may_be_logits=True)
    source.warnings.append(
        "only the sampled token has a value: one quotient of target and draft a position, and no "
        "acceptance rate; OpenAI chat answers of the same server list alternatives"
    )
    numbers = LogprobNumbers(floor_is_zero=False)
    meta = document.member("meta_info")
    prompt = meta.optional("prompt_tokens")
    if prompt is not None and type(prompt.value) is int:
        source.shown.append(("tokens of the prompt", str(prompt.value)))
    lists = []
    written = document.optional("output_ids")
    ids = None if written is None else written.token_ids()
    for index, item in enumerate(meta.member(_KEY).items()):
        pair = item.items()
        if len(pair) != 2:
            raise item.error(f"{len(pair)} items", expected="a log-probability and an id")
        token = pair[1].token_id()
        if ids is not None and (index >= len(ids) or ids[index] != token):
            raise item.error(f"token {token} is not the one of output_ids at {index}")
        entry = Entry(token, numbers.read(pair[0]))
        lists.append(TokenList(0, index, item.place, [entry], Ranking.UNKNOWN, token))
    return listed_file(source, lists, numbers, reading)


ANSWERS = (AnswerFormat("lmdeploy-generate", _TITLE, recognises, read),)
