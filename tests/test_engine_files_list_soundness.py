"""Whole laws, cut the way that each engine cuts them: what is read must still allow the law.

Every builder below takes float32 logits and writes what the engine would write, with the engine's
own order of operations; the law beside it is computed in float64.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from specdist.model.row import FloatValues, Kind, ListedValues
from specdist.readers.engine_files.engine_file import EngineRow
from tests.listed_files import listed, of_value, rows_of

SIZE, ROWS = 48, 400
Logits = list[np.ndarray]


def logits_of(seed: int) -> Logits:
    """Wide and narrow rows, with ties, and with a token far below the others."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(ROWS):
        row = rng.normal(0, rng.choice([0.3, 2.0, 6.0]), SIZE).astype(np.float32)
        if rng.random() < 0.3:
            row[rng.integers(SIZE, size=6)] = row[rng.integers(SIZE)]
        if rng.random() < 0.2:
            row[rng.integers(SIZE)] = -200.0
        rows.append(row)
    return rows


def softmax(row: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """The law in float64."""
    scaled = row.astype(np.float64) / temperature
    weights = np.exp(scaled - scaled.max())
    found: np.ndarray = weights / math.fsum(weights)
    return found


def single(row: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """The law as a float32 kernel computes it."""
    scaled = (row / np.float32(temperature)).astype(np.float32)
    weights = np.exp(scaled - scaled.max()).astype(np.float32)
    found: np.ndarray = (weights / weights.sum(dtype=np.float32)).astype(np.float32)
    return found


def in_sequence(row: np.ndarray) -> np.ndarray:
    """llama.cpp's softmax: falling, the sum in float32 term after term."""
    order = np.argsort(-row, kind="stable")
    weights = np.exp((row - row[order[0]]).astype(np.float32)).astype(np.float32)
    total = np.float32(0)
    for token in order:
        total = np.float32(total + weights[token])
    found: np.ndarray = (weights / total).astype(np.float32)
    return found


def log_of(share: np.float32) -> float:
    """The float32 logarithm, with the number that stands for minus infinity."""
    return float(np.log(share)) if share else -3.4028234663852886e38


def best(law: np.ndarray, count: int) -> list[int]:
    found: list[int] = np.argsort(-law, kind="stable")[:count].tolist()
    return found


def draw(rng: np.random.Generator, law: np.ndarray) -> int:
    return int(rng.choice(len(law), p=law / law.sum()))


def sglang(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    tops, own, laws = [], [], []
    for row in logits:
        law = single(row, 0.7)
        token = draw(rng, softmax(row, 0.7))
        tops.append([[log_of(law[x]), x, None] for x in best(law, 5)])
        own.append([log_of(law[token]), token, None])
        laws.append(softmax(row, 0.7))
    meta = {"output_top_logprobs": tops, "output_token_logprobs": own}
    return {"text": "", "output_ids": [x[1] for x in own], "meta_info": meta}, laws


def sglang_flat(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    ids, values = [], []
    for row in logits:
        law = single(row)
        ids += best(law, 7)
        values += [log_of(law[x]) for x in best(law, 7)]
    parts = {"val": np.array(values, "<f4"), "idx": np.array(ids, "<i4")}
    meta: dict[str, Any] = {"output_top_logprobs_shape": [len(logits), 7]}
    for name, array in parts.items():
        text = base64.b64encode(array.tobytes()).decode()
        meta[f"output_top_logprobs_{name}_flat_b64"] = text
    return {"text": "", "meta_info": meta}, [softmax(row) for row in logits]


def sglang_support(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    masks, values, own, laws = [], [], [], []
    for row in logits:
        kept = best(single(row), int(rng.integers(1, 9)))
        cut = softmax(row)
        cut = np.where(np.isin(np.arange(SIZE), kept), cut, 0)
        masks.append(kept)
        values.append([float(np.float32(math.log(cut[x] / cut.sum()))) for x in kept])
        own.append(draw(rng, cut))
        laws.append(cut / cut.sum())
    meta = {"output_token_sampling_mask": masks, "output_token_sampling_logprobs": values}
    return {"text": "", "output_ids": own, "meta_info": meta}, laws


def entry(token: int, key: str, value: float) -> dict[str, Any]:
    return {"id": token, "token": f"t{token}", "bytes": [token], key: value}


def llama_raw(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    positions = []
    for row in logits:
        law, token = in_sequence(row), draw(rng, softmax(row))
        tops = [entry(x, "logprob", log_of(law[x])) for x in best(law, 5)]
        own = entry(token, "logprob", log_of(law[token]))
        positions.append({**own, "top_logprobs": tops})
    document = {"generation_settings": {"n_probs": 5}, "completion_probabilities": positions}
    return document, [softmax(row) for row in logits]


def llama_processed(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    positions, laws = [], []
    for row in logits:
        kept = best(row, int(rng.integers(1, 9)))
        cut = np.full(SIZE, -np.inf, np.float32)
        cut[kept] = row[kept] / np.float32(0.8)
        law, exact = in_sequence(cut), softmax(cut)
        token = draw(rng, exact)
        shown = [x for x in best(law, 5) if law[x]]
        tops = [entry(x, "prob", float(law[x])) for x in shown]
        positions.append({**entry(token, "prob", float(law[token])), "top_probs": tops})
        laws.append(exact)
    settings = {"n_probs": 5, "top_k": 8, "samplers": ["top_k", "temperature"]}
    document = {"generation_settings": settings, "completion_probabilities": positions}
    return document, laws


def tgi(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    tokens, tops, laws = [], [], []
    for row in logits:
        cut = np.full(SIZE, -np.inf, np.float32)
        kept = best(row, int(rng.integers(2, 10)))
        cut[kept] = row[kept]
        law, exact = single(cut), softmax(cut)
        token = draw(rng, exact)
        own = {"id": token, "text": "x", "logprob": log_of(law[token])}
        tops.append(
            [
                {"id": x, "text": "x", "logprob": log_of(law[x]) if law[x] else None}
                for x in best(law, 5)
            ]
        )
        tokens.append(own)
        laws.append(exact)
    return {"details": {"tokens": tokens, "top_tokens": tops, "prefill": []}}, laws


def table(logits: Logits, rng: np.random.Generator) -> tuple[Any, list[np.ndarray]]:
    laws = [single(row) for row in logits]
    record = {
        "topk_ids": [best(law, 6) for law in laws],
        "topk_logprobs": [[log_of(law[x]) for x in best(law, 6)] for law in laws],
    }
    return record, [softmax(row) for row in logits]


BUILDERS: dict[str, Callable[[Logits, np.random.Generator], tuple[Any, list[np.ndarray]]]] = {
    "sglang": sglang,
    "sglang flat": sglang_flat,
    "sglang support": sglang_support,
    "llama raw": llama_raw,
    "llama processed": llama_processed,
    "tgi": tgi,
    "table": table,
}


def allows(row: EngineRow, law: np.ndarray) -> None:
    """There is a scale within the slack under which the law is one of those of the row; every
    printed number has its own float32 rounding besides."""
    values, found = row.values, listed(row)
    assert values is not None
    weights = {x: v if row.kind is Kind.PROBABILITIES else math.exp(v) for x, v in found.items()}
    likeliest = max(weights, key=lambda x: weights[x])
    scale = float(law[likeliest]) / weights[likeliest]
    assert scale > 0
    own = 2.0**-24 * 40
    if isinstance(values, FloatValues):
        assert abs(math.log(scale)) <= own
    else:
        assert abs(math.log(scale)) <= float(values.slack) + own
    for token, weight in weights.items():
        rounding = own * (1 + abs(math.log(weight))) if weight else 0
        assert float(law[token]) == pytest.approx(scale * weight, rel=rounding, abs=1e-38)
    if isinstance(values, ListedValues):
        outside(values, row.kind, law, set(found), scale)


def outside(
    values: ListedValues, kind: Kind, law: np.ndarray, found: set[int], scale: float
) -> None:
    cap = None if values.cap is None else float(values.cap)
    limit = math.inf if cap is None else cap if kind is Kind.PROBABILITIES else math.exp(cap)
    for token in set(range(len(law))) - found:
        # A float32 softmax writes 0 for what is below every float32; nothing else may be lost.
        assert law[token] <= scale * limit * (1 + 1e-5)
        assert values.support is None or token in values.support or law[token] < 1e-30


@pytest.mark.parametrize("name", BUILDERS)
def test_the_law_is_still_allowed(name: str) -> None:
    logits = logits_of(len(name))
    document, laws = BUILDERS[name](logits, np.random.default_rng(7))
    rows = rows_of(of_value(document, vocab_size=SIZE))
    assert len(rows) == len(laws) == ROWS
    assert not any(row.refused for row in rows)
    for row, law in zip(rows, laws, strict=True):
        allows(row, law)


@pytest.mark.parametrize("name", ["sglang", "llama raw", "tgi"])
def test_planted_faults_of_the_reading_would_be_seen(name: str) -> None:
    """The same rows against laws that are shifted by one position, or tempered once more."""
    document, laws = BUILDERS[name](logits_of(3), np.random.default_rng(7))
    rows = rows_of(of_value(document, vocab_size=SIZE))
    for wrong in (laws[1:] + laws[:1], [law**0.5 / (law**0.5).sum() for law in laws]):
        misses = 0
        for row, law in zip(rows, wrong, strict=True):
            try:
                allows(row, law)
            except AssertionError:
                misses += 1
        assert misses > ROWS * 0.9
