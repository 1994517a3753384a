"""Tables of likely tokens for tests: laws, texts drawn from them, and files."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.parquet import open_parquet
from specdist.readers.sources import local_file


def of_parquet(path: Path | str, **reading: Any) -> EngineFile:
    return open_parquet(local_file(str(path)), ReadingSettings(**reading))


def parquet(folder: Path, columns: dict[str, Any], types: dict[str, Any] | None = None) -> Path:
    """A parquet file of columns; pyarrow chooses the types that are not given."""
    arrays = {name: pa.array(x, type=(types or {}).get(name)) for name, x in columns.items()}
    path = folder / "table.parquet"
    pq.write_table(pa.table(arrays), path)
    return path


def jsonl(records: Sequence[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def law(rng: np.random.Generator, size: int) -> np.ndarray:
    """A log-softmax in float64."""
    logits = rng.normal(0, 3, size)
    shifted = logits - logits.max()
    found: np.ndarray = shifted - math.log(np.exp(shifted).sum())
    return found


def top(values: np.ndarray, count: int) -> tuple[list[int], list[float]]:
    order = np.argsort(-values, kind="stable")[:count]
    return order.tolist(), values[order].tolist()


def drawn(rng: np.random.Generator, length: int, size: int) -> tuple[list[int], list[np.ndarray]]:
    """A text and its laws: token i + 1 is drawn from law i."""
    text, laws = [int(rng.integers(size))], []
    for _ in range(length):
        laws.append(law(rng, size))
        text.append(int(rng.choice(size, p=np.exp(laws[-1]) / np.exp(laws[-1]).sum())))
    return text[:-1], laws


def plain(**changes: Any) -> dict[str, Any]:
    """Twenty rows whose lists hold the next token."""
    rng = np.random.default_rng(8)
    text, laws = drawn(rng, 20, 64)
    tops = [top(values, 8) for values in laws]
    record = {
        "input_ids": text,
        "topk_ids": [ids for ids, _ in tops],
        "topk_logprobs": [values for _, values in tops],
    }
    return {**record, **changes}
