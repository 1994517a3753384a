"""Tensors of libraries that are not imported: what stands in for them reads as numpy would."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import specdist
from specdist.errors import SettingsError
from specdist.model.row import FloatValues, Kind, NumberFormat
from specdist.python_arrays import array_rows, row_numbers

ROW = np.array([0.5, 0.25, 0.125, 0.125], dtype=np.float32)


class DType:
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class Tensor:
    """As torch does it: numpy only after detach and cpu, and never of a bfloat16."""

    def __init__(self, array: Any, name: str, attached: bool = True, device: str = "cuda") -> None:
        self.array, self.dtype, self.shape = array, DType(f"torch.{name}"), array.shape
        self.attached, self.device = attached, device

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        raise AssertionError("a tensor is not walked number by number")

    def _copy(self, **changed: Any) -> Tensor:
        name = changed.pop("name", str(self.dtype).removeprefix("torch."))
        state = {"attached": self.attached, "device": self.device, **changed}
        return Tensor(self.array, name, **state)

    def detach(self) -> Tensor:
        return self._copy(attached=False)

    def cpu(self) -> Tensor:
        return self._copy(device="cpu")

    def float(self) -> Tensor:
        return self._copy(name="float32")

    def numpy(self) -> Any:
        if self.attached or self.device != "cpu":
            raise RuntimeError("Can't call numpy() on this Tensor")
        if str(self.dtype) == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array


class OnlyDLPack:
    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class OnlyArray:
    def __init__(self, array: Any) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array


@pytest.mark.parametrize("name", ["float32", "float64", "float16"])
@pytest.mark.parametrize("wrap", [Tensor, OnlyDLPack, OnlyArray])
@pytest.mark.parametrize("shape", [(4,), (1, 4), (2, 4)])
def test_tensors_read_as_the_numbers_they_hold(name: str, wrap: Any, shape: Any) -> None:
    array = np.broadcast_to(ROW, shape).astype(name)
    source = wrap(array, name) if wrap is Tensor else wrap(array)
    rows = array_rows(source, Kind.PROBABILITIES, "target")
    assert len(rows) == (1 if len(shape) == 1 else shape[0])
    for row in rows:
        assert row.numbers == NumberFormat(name)
        assert row_numbers(row) == [0.5, 0.25, 0.125, 0.125]


def test_bfloat16_keeps_its_bits() -> None:
    patterns = np.array([0x3F00, 0x3E80, 0x3E00, 0x3E01, 0x0001, 0x8000], dtype=np.uint16)
    floats = (patterns.astype(np.uint32) << 16).view(np.float32)
    (row,) = array_rows(Tensor(floats, "bfloat16"), Kind.PROBABILITIES, "draft")
    assert row.numbers is NumberFormat.BFLOAT16
    assert isinstance(row.values, FloatValues)
    assert row.values.array.tolist() == patterns.tolist()
    assert row_numbers(row) == floats.tolist()


def test_token_ids_may_be_an_array() -> None:
    rows = np.array([ROW, ROW])
    for ids in (np.array([1, 0]), Tensor(np.array([1, 0]), "int64"), OnlyDLPack(np.array([1, 0]))):
        report = specdist.check(rows, ids, rule="one-hot")
        assert [step.positions[0].acceptance_rate.exact for step in report.steps] == [
            Fraction(1, 4),
            Fraction(1, 2),
        ]
    assert specdist.check(ROW, np.int64(2), rule="one-hot").verdict == "equal"
    with pytest.raises(SettingsError, match="2 target rows and 3 draft rows"):
        specdist.check(rows, np.array([1, 0, 1]))


def test_a_list_of_tensors_is_rows() -> None:
    report = specdist.check([Tensor(ROW, "float32")] * 2, [ROW, ROW])
    assert (report.summary.steps, report.verdict) == (2, "equal")
    with pytest.raises(SettingsError, match="2 rows stand where one is expected"):
        specdist.check([np.array([ROW, ROW])], [ROW])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Tensor(ROW, "float8_e4m3fn"), "an array of float8_e4m3fn [4] is no row"),
        (np.zeros((2, 2, 2), np.float32), "an array of float32 [2, 2, 2] is no row"),
        (np.zeros(0, np.float32), "an array of float32 [0] is no row"),
        (np.array([1, 2]), "an array of int64 [2] is no row"),
        (np.array([True, False]), "an array of bool [2] is no row"),
        (ROW.astype(">f4"), "an array of >f4 [4] is no row"),
        (ROW + 1j, "is no row"),
    ],
)
def test_what_is_no_row_is_refused(source: Any, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        specdist.check(source, ROW)
    assert said in str(refused.value)


def test_what_numpy_cannot_take_is_said() -> None:
    class OnTheCard(OnlyDLPack):
        shape, dtype = (4,), DType("float32")

        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("the data is on a device that numpy does not reach")

    with pytest.raises(SettingsError, match="cannot be carried over to numpy: the data is on"):
        specdist.check(OnTheCard(ROW), ROW)


def test_kernel_rows_of_bfloat16() -> None:
    """Numbers by token are read bit for bit too: 1/2 and 1/4 are bfloat16."""
    half = np.array([1, 0.5, 1, 1], dtype=np.float32)
    law = np.array([0, 0, 0.5, 0.5], dtype=np.float32)
    target = ["1/4", "1/4", "1/4", "1/4"]
    report = specdist.check(
        target,
        ["1/4", "1/2", "1/8", "1/8"],
        accept=Tensor(half, "bfloat16"),
        recovery=Tensor(law, "bfloat16"),
    )
    assert report.verdict == "equal"
