"""Answers and tables with a part changed at random: a file, or an error with a place."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from specdist.errors import SpecdistError
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.parquet import open_parquet
from specdist.readers.sources import local_file
from tests.listed_files import FIELD, document, of_lines, of_value, rows_of

SAMPLES = (
    "sglang/generate_top4.json",
    "sglang/generate_full_flat_b64.json",
    "sglang/generate_sampling_support.json",
    "llamacpp/server_completion_nprobs5.json",
    "llamacpp/server_completion_post_sampling.json",
    "llamacpp/server_completion_spec_decode_broken.json",
    "hosted/ollama_generate_logprobs.json",
)
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 7, 10**30, 0.5, -0.0, -9999.0, 1e308, "", "x", "-inf", "7", [], [[]],
    [None], {}, {"id": 3}, [0.5, 7, None], [[0.5, 7, None]],
)  # fmt: skip
TABLE = {
    "input_ids": [4, 1, 2, 3, 5, 1, 7],
    "target_mask": [1, 1, 1, 1, 1, 1, 0],
    "topk_ids": [[1, 8], [2, 8], [3, 8], [5, 8], [1, 8], [7, 8], [0, 8]],
    "topk_logprobs": [[-0.5, -1.5]] * 7,
}
ENTRIES = {
    "field": [None] + [[{"token": f"token_id:{i}", "logprob": -0.5 - i} for i in range(3)]] * 4
}
MAPS = [{"position": 4 + i, "token_id": 3, "logprobs": {"3": -0.5, "9": -1.5}} for i in range(3)]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with one of its keys."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        item = stack.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item))
        for key in keys:
            found.append((item, key))
            if isinstance(item[key], dict | list):
                stack.append(item[key])
    return found


def changed(value: Any, rng: random.Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(rng.choice([1, 1, 2, 4])):
        there = places(value)
        if not there:
            return value
        container, key = rng.choice(there)
        act = rng.randrange(4)
        if act == 0:
            del container[key]
        elif act == 1 and isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
        elif act == 2:
            other, name = rng.choice(there)
            try:
                container[key] = copy.deepcopy(other[name])
            except (KeyError, IndexError):
                container[key] = None
        else:
            container[key] = copy.deepcopy(rng.choice(VALUES))
    return value


def survives(read: Any) -> bool:
    """Whether a file is read; an error must have a place, and any other exception escapes."""
    errors: list[SpecdistError] = []
    try:
        rows_of(read())
    except SpecdistError as error:
        errors.append(error)
    except AssertionError as error:
        if "no format recognises" not in str(error):
            raise
        return False
    assert all(error.place and error.message for error in errors)
    return not errors


@pytest.mark.parametrize("name", SAMPLES)
def test_changed_answers(name: str) -> None:
    rng = random.Random(name)
    value = document(name)
    documents = [changed(value, rng) for _ in range(250)]
    outcomes = [survives(lambda x=item: of_value(x)) for item in documents]
    assert 5 < sum(outcomes) < 250, "some are read, some are not"


@pytest.mark.parametrize("value", [TABLE, ENTRIES, MAPS], ids=["lists", "entries", "maps"])
def test_changed_tables(value: Any) -> None:
    rng = random.Random(11)
    for _ in range(600):
        other = changed(value, rng)
        survives(lambda x=other: of_value(x, shift=1))
        lines = other if isinstance(other, list) else [other, other]
        if lines:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            survives(lambda x=text: of_lines(x, shift=1))


@pytest.mark.parametrize("name", ["topk_parallel_lists.parquet", "distillkit_packed.parquet"])
def test_changed_parquet_files(name: str, tmp_path: Path) -> None:
    data = (FIELD / "distill" / name).read_bytes()
    settings = FIELD / "distill" / "distillkit_packed.compression_config.yaml"
    (tmp_path / "compression_config.yaml").write_bytes(settings.read_bytes())
    path = tmp_path / "table.parquet"
    rng = random.Random(name)
    for _ in range(150):
        other = bytearray(data)
        for _ in range(rng.choice([1, 3, 20])):
            other[rng.randrange(4, len(other))] = rng.randrange(256)
        path.write_bytes(
            other[: rng.choice([len(other), len(other), rng.randrange(8, len(other))])]
        )
        survives(lambda: open_parquet(local_file(str(path)), ReadingSettings(shift=1)))
