"""Answers of servers for tests: read through the registry, and lists as engines build them.

The builders follow the engines' own order from rows of plain numbers; they import no reader.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from specdist.model.row import FloatValues, ListedValues
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.registry import answer_format
from specdist.readers.strict_json import parse

FIELD = Path(__file__).parent / "data" / "field"
FACTS: dict[str, dict[str, Any]] = json.loads((FIELD / "answers.json").read_text("utf-8"))


def plain(name: str) -> Any:
    """A sample by the standard library's reader: the second route to every number."""
    return json.loads((FIELD / name).read_text(encoding="utf-8"))


def read(value: Any, name: str = "answer.json", **reading: Any) -> EngineFile:
    """A document through the registry. A text is a sample's name, anything else is written out."""
    if isinstance(value, str):
        text, name = (FIELD / value).read_text(encoding="utf-8"), Path(value).name
    else:
        text = json.dumps(value)
    document = parse(text, name)
    found = answer_format(document)
    assert found is not None, "no format recognises the document"
    return found.read(document, name, ReadingSettings(**reading))


def reader_of(value: Any) -> str | None:
    """The name of the format that recognises a document."""
    found = answer_format(parse(json.dumps(value), "answer.json"))
    return None if found is None else found.name


def rows_of(value: Any, **reading: Any) -> list[EngineRow]:
    return list(read(value, **reading).rows())


def content_of(name: str) -> list[dict[str, Any]]:
    """``content`` of a sample's only choice."""
    found: list[dict[str, Any]] = plain(name)["choices"][0]["logprobs"]["content"]
    return found


def pair(first: int = 0, last: int = 10) -> list[list[float]]:
    """Log-probabilities of the target's rows, float64 from the float32 logits. The samples of
    engines hold the rows 3 to 8."""
    logits = np.load(FIELD / "hf" / "pair_target_draft.npz")["target_logits"].astype(float)
    found = []
    for row in logits[first:last].tolist():
        normaliser = math.log(math.fsum(map(math.exp, row)))
        found.append([x - normaliser for x in row])
    return found


def law_of(*weights: int) -> list[float]:
    """Log-probabilities in proportion to ``weights``."""
    return [math.log(x / sum(weights)) for x in weights]


def listed(row: EngineRow) -> dict[Any, float]:
    """Token or label -> value, of a row that may be complete."""
    if isinstance(row.values, FloatValues):
        return {x: float(value) for x, value in enumerate(row.values.array)}
    assert isinstance(row.values, ListedValues)
    assert isinstance(row.values.values, FloatValues)
    keys = [int(x) if row.labels is None else row.labels[int(x)] for x in row.values.ids]
    return dict(zip(keys, map(float, row.values.values.array), strict=True))


def cap_of(row: EngineRow) -> float | None:
    """The bound on one unlisted token, in the units of the row."""
    assert isinstance(row.values, ListedValues)
    return None if row.values.cap is None else float(row.values.cap)


def engine_order(row: Sequence[float], sampled: int, k: int, at_ties: bool) -> list[int]:
    """vLLM's order: the sampled token, then the k likeliest, each id once. ``at_ties`` says which
    of tied tokens come first."""
    ids = sorted(range(len(row)), key=lambda x: (-row[x], x if at_ties else -x))
    return list(dict.fromkeys([sampled, *ids[:k]]))


def objects(
    row: Sequence[float], sampled: int, k: int, at_ties: bool = True
) -> dict[str, dict[str, Any]]:
    """One position of vLLM's offline objects: the sampled token has the number of tokens that are
    at least as likely for its rank, unless it is one of the likeliest, where the place counts."""
    ids = sorted(range(len(row)), key=lambda x: (-row[x], x if at_ties else -x))
    count = sum(value >= row[sampled] for value in row)
    ranks = {sampled: count} | {x: place + 1 for place, x in enumerate(ids[:k])}
    return {
        str(x): {"logprob": row[x], "rank": ranks[x], "decoded_token": None}
        for x in engine_order(row, sampled, k, at_ties)
    }


def completion(
    tops: list[Any], sampled: list[str], values: list[Any], **answer: Any
) -> dict[str, Any]:
    """An answer with the arrays of legacy completions, one choice."""
    logprobs = {"tokens": sampled, "token_logprobs": values, "top_logprobs": tops}
    return {
        "object": "text_completion",
        "choices": [{"index": 0, "text": "x", "logprobs": logprobs}],
    } | answer


def chat(content: list[Any], **choice: Any) -> dict[str, Any]:
    """A chat answer of one choice."""
    message = {"role": "assistant", "content": "x"}
    body = {"index": 0, "message": message, "logprobs": {"content": content}} | choice
    return {"object": "chat.completion", "choices": [body]}


def by_id(token: int, value: Any, tops: list[tuple[int, Any]] | None = None) -> dict[str, Any]:
    """An entry of vLLM's chat answers with ids."""
    entry: dict[str, Any] = {"token": f"token_id:{token}", "logprob": value, "bytes": None}
    if tops is not None:
        entry["top_logprobs"] = [by_id(x, found) for x, found in tops]
    return entry


def by_text(text: str, value: Any, tops: list[tuple[str, Any]] | None = None) -> dict[str, Any]:
    """An entry of the OpenAI shape, with bytes."""
    entry: dict[str, Any] = {"token": text, "logprob": value, "bytes": list(text.encode())}
    if tops is not None:
        entry["top_logprobs"] = [by_text(x, found) for x, found in tops]
    return entry
