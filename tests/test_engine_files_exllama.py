"""Results of exllamav2: the lists of its sampler, and its logits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, SettingsError
from specdist.model.row import Kind, ListedValues, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers import describe
from tests.reader_files import floats, read_pair, safetensors, write

LOGITS = (np.random.default_rng(11).normal(size=(6, 40)) * 3).astype(np.float32)


def facts(path: str) -> dict[str, str]:
    return dict(describe(path, ReadingSettings()))


def softmax(row: np.ndarray) -> np.ndarray:
    weights = np.exp(row.astype(np.float64) - row.max())
    return weights / weights.sum()


def _exllama(path: Path, **tensors: Any) -> str:
    codes = {"int64": "I64", "float32": "F32", "float16": "F16"}
    saved = {name: (codes[str(a.dtype)], a) for name, a in tensors.items()}
    return write(path, "ex.safetensors", safetensors(saved))


def _result() -> dict[str, np.ndarray]:
    laws = np.array([softmax(row / 0.8) for row in LOGITS]).astype(np.float32)
    ids = np.argsort(-laws, axis=1)[:, :5].astype(np.int64)
    values = np.take_along_axis(laws, ids, 1)
    values[2, 3:] = 0  # three tokens are left, and two are made up
    values[2] /= values[2].sum()
    ids[2, 3:] = ids[2, 0]
    drawn = np.array([ids[0, 1], 39, ids[2, 2], ids[3, 0], ids[4, 4], ids[5, 0]], np.int64)
    at = np.where(drawn == 39, laws[range(6), drawn], 0)
    shares = [
        values[i, list(ids[i]).index(t)] if t in ids[i] else at[i] for i, t in enumerate(drawn)
    ]
    return {
        "top_k_tokens": ids[None],
        "top_k_probs": values[None],
        "token_ids": drawn[None],
        "token_probs": np.array([shares], np.float32),
    }


def test_lists_of_the_sampler_of_exllama(tmp_path: Path) -> None:
    made = _result()
    told = facts(_exllama(tmp_path, **made))
    assert told["reader"] == "exllama"
    assert told["stage"].startswith("processed")
    path = _exllama(tmp_path, **made)
    _, steps = read_pair(path, path, vocab_size=40)
    assert len(steps) == 6
    for at, step in enumerate(steps):
        row = step.positions[0].target
        assert isinstance(row.values, ListedValues)
        assert (row.kind, row.stage, row.size) == (Kind.PROBABILITIES, Stage.PROCESSED, 40)
        ids, values = made["top_k_tokens"][0, at], made["top_k_probs"][0, at]
        wanted = (
            dict(zip(ids.tolist(), values.tolist(), strict=True))
            if at != 2
            else {int(ids[j]): float(values[j]) for j in range(3)}
        )
        wanted[int(made["token_ids"][0, at])] = float(made["token_probs"][0, at])
        assert [int(i) for i in row.values.ids] == sorted(wanted)
        if at == 2:
            assert set(row.values.support or ()) == set(wanted)
            assert row.values.others == 0
        else:
            assert row.values.cap == Fraction(float(values.min()))


def test_logits_of_exllama(tmp_path: Path) -> None:
    path = _exllama(tmp_path, logits=LOGITS[None].astype(np.float16), **_result())
    told = facts(path)
    assert told["listed"] == "complete rows"
    assert "penalties and token bias" in " ".join(dict(describe(path, ReadingSettings())).values())
    _, steps = read_pair(path, path)
    found = np.array([floats(step.positions[0].target) for step in steps])
    assert np.array_equal(found, LOGITS.astype(np.float16).astype(float))
    # The ids were drawn from the rows, so they are not what the rows follow.
    _, steps = read_pair(f"{path}::logits", f"{path}::logits")
    assert {step.context for step in steps} == {None}
    for name in ("top_k_probs", "token_probs"):
        with pytest.raises(CaptureError, match="values of listed tokens are no rows"):
            read_pair(f"{path}::{name}", f"{path}::{name}")


def test_lists_of_exllama_that_do_not_fit(tmp_path: Path) -> None:
    made = _result()
    made["token_ids"] = made["token_ids"][:, :4]
    with pytest.raises(CaptureError, match="beside 4 ids"):
        read_pair(*[_exllama(tmp_path, **made)] * 2)
    with pytest.raises(SettingsError, match="--stage says raw"):
        read_pair(*[_exllama(tmp_path, **_result())] * 2, stage=Stage.RAW)
