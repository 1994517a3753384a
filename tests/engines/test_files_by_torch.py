"""Files written by real torch, safetensors and ml_dtypes are read back bit for bit.

Needs the extra ``engines``; `make test-engines` installs it and runs this folder.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.torch
import torch

from specdist.errors import SpecdistError
from specdist.model.row import FloatValues, Kind, NumberFormat, Row
from specdist.model.settings import ReadingSettings
from specdist.readers import open_pair
from tests.cli import run

READING = ReadingSettings(kind=Kind.LOGITS)
VOCAB = 37
DTYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rows(target: str, draft: str, reading: ReadingSettings = READING) -> list[tuple[Row, Row]]:
    """Target and draft rows of every step, in order."""
    capture = open_pair(target, draft, reading)
    return [(p.target, p.draft) for step in capture.steps() for p in step.positions]


def bits(row: Row) -> bytes:
    assert isinstance(row.values, FloatValues)
    return np.ascontiguousarray(row.values.array).tobytes()


def same(row: Row, tensor: torch.Tensor) -> None:
    """The row holds exactly the bits of the tensor, in the tensor's own format."""
    name = next(name for name, dtype in DTYPES.items() if dtype == tensor.dtype)
    assert row.numbers == NumberFormat(name)
    flat = tensor.contiguous().reshape(-1)
    raw = flat.view(torch.uint16) if tensor.dtype == torch.bfloat16 else flat
    assert bits(row) == raw.numpy().tobytes()


LAYOUTS: dict[str, Callable[[torch.dtype], torch.Tensor]] = {
    "contiguous": lambda dtype: noise(6, VOCAB).to(dtype),
    "transposed": lambda dtype: noise(VOCAB, 6).to(dtype).T,
    "every other row": lambda dtype: noise(12, VOCAB).to(dtype)[::2],
    "every third column": lambda dtype: noise(6, 3 * VOCAB).to(dtype)[:, ::3],
    "an inner window": lambda dtype: noise(20, 2 * VOCAB).to(dtype)[7:13, 11 : 11 + VOCAB],
    "one row repeated": lambda dtype: noise(1, VOCAB).to(dtype).expand(6, VOCAB),
    "a batch of one": lambda dtype: noise(1, 6, VOCAB).to(dtype),
    "a middle axis of one": lambda dtype: noise(6, 1, VOCAB).to(dtype),
    "requires a gradient": lambda dtype: noise(6, VOCAB).to(dtype).requires_grad_(),
    "masked": lambda dtype: noise(6, VOCAB).to(dtype).index_fill(1, torch.tensor([3]), -torch.inf),
    "a parameter": lambda dtype: torch.nn.Parameter(noise(6, VOCAB).to(dtype)),
}


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_a_tensor(name: str, layout: str, tmp_path: Path) -> None:
    target = LAYOUTS[layout](DTYPES[name])
    draft = noise(6, VOCAB, seed=1).to(DTYPES[name])
    torch.save(target, tmp_path / "target.pt")
    torch.save(draft, tmp_path / "draft.pt")
    read = rows(str(tmp_path / "target.pt"), str(tmp_path / "draft.pt"))
    assert len(read) == 6
    for i, (target_row, draft_row) in enumerate(read):
        same(target_row, target.detach().reshape(6, VOCAB)[i])
        same(draft_row, draft[i])


@pytest.mark.parametrize("name", DTYPES)
def test_one_row(name: str, tmp_path: Path) -> None:
    row = noise(VOCAB).to(DTYPES[name])
    torch.save(row, tmp_path / "row.pt")
    ((target, draft),) = rows(str(tmp_path / "row.pt"), str(tmp_path / "row.pt"))
    same(target, row)
    same(draft, row)


def _shared(storage: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"target": storage[:4], "draft": storage[4:]}


CONTAINERS: dict[str, Callable[[torch.Tensor], Any]] = {
    "two views of one storage": _shared,
    "an ordered dict": lambda storage: OrderedDict(_shared(storage)),
    "clones": lambda storage: {key: value.clone() for key, value in _shared(storage).items()},
    "beside other things": lambda storage: {
        **_shared(storage),
        "step": 17,
        "name": "run é",
        "ids": torch.arange(9),
        "settings": {"temperature": 0.8, "stop": [1, 2], "flag": True, "none": None},
        "shape": torch.Size([4, VOCAB]),
    },
}


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("container", CONTAINERS)
def test_named_tensors_of_one_file(container: str, protocol: int, tmp_path: Path) -> None:
    storage = noise(8, VOCAB).to(torch.bfloat16)
    path = tmp_path / "both.pt"
    torch.save(CONTAINERS[container](storage), path, pickle_protocol=protocol)
    read = rows(f"{path}::target", f"{path}::draft")
    assert len(read) == 4
    for i, (target, draft) in enumerate(read):
        same(target, storage[i])
        same(draft, storage[4 + i])


def test_a_tuple_of_rows_as_generate_returns_them(tmp_path: Path) -> None:
    block = noise(3, 5, VOCAB).to(torch.float32)
    target = tuple(block[:, i, :][:1] for i in range(5))
    torch.save(target, tmp_path / "target.pt")
    torch.save(list(target), tmp_path / "draft.pt")
    read = rows(str(tmp_path / "target.pt"), str(tmp_path / "draft.pt"))
    assert len(read) == 5
    for i, (target_row, draft_row) in enumerate(read):
        same(target_row, block[0, i])
        same(draft_row, block[0, i])


class Touch:
    """A pickle that would create a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


REFUSED: dict[str, Callable[[Path], Any]] = {
    "code": lambda folder: {"target": noise(2, 3), "x": Touch(folder / "ran")},
    "a module": lambda folder: torch.nn.Linear(3, 3),
    "integers": lambda folder: torch.arange(6).reshape(2, 3),
    "complex numbers": lambda folder: torch.zeros(2, 3, dtype=torch.complex64),
    "a sparse tensor": lambda folder: torch.eye(3).to_sparse(),
    "a quantised tensor": lambda folder: torch.zeros(2, 3).to(torch.float8_e4m3fn),
    "no tensor at all": lambda folder: {"a": 1},
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    torch.save(REFUSED[case](tmp_path), tmp_path / "bad.pt")
    path = str(tmp_path / "bad.pt")
    with pytest.raises(SpecdistError) as caught:
        rows(path, path)
    assert "bad.pt" in caught.value.place + caught.value.message
    assert not (tmp_path / "ran").exists()
    result = run("check", "--target", path, "--draft", path, "--kind", "logits")
    assert (result.code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "ran").exists()


def test_the_old_stream_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    torch.save(noise(2, 3), path, _use_new_zipfile_serialization=False)
    result = run("check", "--target", path, "--draft", path, "--kind", "logits")
    assert (result.code, result.stdout) == (2, "")
    assert "1.6" in result.stderr


def test_no_rows_is_nothing_checked(tmp_path: Path) -> None:
    path = tmp_path / "empty.pt"
    torch.save({"target": torch.zeros(0, 3), "draft": torch.zeros(0, 3)}, path)
    assert run("check", path, "--kind", "logits").code == 3


@pytest.mark.parametrize("name", DTYPES)
def test_safetensors(name: str, tmp_path: Path) -> None:
    target, draft = (noise(4, VOCAB, seed=seed).to(DTYPES[name]) for seed in (2, 3))
    path = tmp_path / "both.safetensors"
    safetensors.torch.save_file({"target": target, "draft": draft}, path, metadata={"by": "x"})
    for i, (target_row, draft_row) in enumerate(rows(f"{path}::target", f"{path}::draft")):
        same(target_row, target[i])
        same(draft_row, draft[i])


def test_bfloat16_in_every_spelling_of_numpy(tmp_path: Path) -> None:
    tensor = noise(4, VOCAB).to(torch.bfloat16)
    spelled = {
        "void": tensor.float().numpy().astype(ml_dtypes.bfloat16),
        "bits": tensor.view(torch.uint16).numpy(),
    }
    reading = ReadingSettings(kind=Kind.LOGITS, numbers=NumberFormat.BFLOAT16)
    for name, array in spelled.items():
        path = tmp_path / f"{name}.npy"
        np.save(path, array)
        for i, (row, _) in enumerate(rows(str(path), str(path), reading)):
            same(row, tensor[i])


@pytest.mark.parametrize("name", DTYPES)
def test_the_acceptance_rate_agrees_with_torch(name: str, tmp_path: Path) -> None:
    """An independent float64 computation in torch, temperature 0.8 and top-k 20."""
    tensors = [3 * noise(6, 4096, seed=seed) for seed in (4, 5)]
    tensors[1] = tensors[0] + tensors[1] / 3
    target, draft = (tensor.to(DTYPES[name]) for tensor in tensors)
    torch.save({"target": target, "draft": draft}, tmp_path / "both.pt")

    def law(logits: torch.Tensor) -> torch.Tensor:
        scaled = logits.double() / 0.8
        edge = scaled.topk(20, dim=-1).values[:, -1:]
        return scaled.masked_fill(scaled < edge, -torch.inf).softmax(-1)

    expected = torch.minimum(law(target), law(draft)).sum(-1)
    path = tmp_path / "both.pt"
    result = run(
        "check", "--target", f"{path}::target", "--draft", f"{path}::draft",
        "--kind", "logits", "-T", "0.8", "--top-k", "20", "--format", "json", "--workers", "1",
    )  # fmt: skip
    assert result.code == 0, result.stderr
    steps = json.loads(result.stdout)["steps"]
    assert len(steps) == 6
    for step, rate in zip(steps, expected.tolist(), strict=True):
        assert abs(step["positions"][0]["acceptance_rate"]["approx"] - rate) < 1e-12
