"""Arrays in every spelling, order, stride and block size: always the same numbers."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import CaptureError, RowError, SettingsError
from specdist.model.capture import Step
from specdist.model.row import Kind, NumberFormat
from specdist.readers import row_blocks
from specdist.readers.axes import parse_axes
from tests.reader_files import (
    TorchPickle,
    floats,
    npy,
    npz,
    read_one,
    read_pair,
    safetensors,
    torch_file,
    write,
    zipped,
)

RNG = np.random.default_rng(7)
LOGITS = (RNG.normal(size=(7, 11)) * 3).astype(np.float32)


def bits(array: np.ndarray) -> np.ndarray:
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def from_bits(array: np.ndarray) -> np.ndarray:
    return (array.astype(np.uint32) << 16).view(np.float32)


def targets(steps: list[Step]) -> np.ndarray:
    return np.array([floats(step.positions[0].target) for step in steps])


def read(tmp_path: Path, data: bytes, name: str = "any", **reading: Any) -> np.ndarray:
    path = write(tmp_path, "a.bin", data)
    return targets(read_pair(path, path, kind=Kind.LOGITS, **reading)[1])


@pytest.mark.parametrize("code", ["<f4", ">f4", "<f8", ">f8", "<f2", ">f2"])
@pytest.mark.parametrize("fortran", [False, True])
def test_npy_types_orders_and_layouts(tmp_path: Path, code: str, fortran: bool) -> None:
    array = LOGITS.astype(code)
    stored = np.asfortranarray(array) if fortran else array
    assert np.array_equal(read(tmp_path, npy(stored)), array.astype(float))


@pytest.mark.parametrize("descr", ["<V2", "|V2", "bfloat16"])
def test_npy_bfloat16(tmp_path: Path, descr: str) -> None:
    data = npy(bits(LOGITS), descr)
    assert np.array_equal(read(tmp_path, data), from_bits(bits(LOGITS)))
    path = write(tmp_path, "a.bin", data)
    _, steps = read_pair(path, path)
    assert steps[0].positions[0].draft.numbers is NumberFormat.BFLOAT16


@pytest.mark.parametrize("code", ["<u2", ">u2", "<i2"])
def test_npy_bit_patterns(tmp_path: Path, code: str) -> None:
    data = npy(bits(LOGITS).view(np.int16 if "i" in code else np.uint16).astype(code))
    with pytest.raises(CaptureError, match="perhaps bfloat16 bit patterns"):
        read(tmp_path, data)
    found = read(tmp_path, data, numbers=NumberFormat.BFLOAT16)
    assert np.array_equal(found, from_bits(bits(LOGITS)))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(tmp_path: Path, version: tuple[int, int]) -> None:
    import io

    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, LOGITS, version=version)
    assert np.array_equal(read(tmp_path, buffer.getvalue()), LOGITS)


def test_npy_written_by_python_2(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (7L, 11L), }"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + LOGITS.tobytes()
    assert np.array_equal(read(tmp_path, data), LOGITS)


@pytest.mark.parametrize(
    ("shape", "rows"),
    [((11,), 1), ((7, 11), 7), ((1, 7, 11), 7), ((7, 1, 11), 7), ((1, 1, 11), 1), ((7, 1), 7)],
)
def test_axes_of_size_one_need_no_words(tmp_path: Path, shape: tuple[int, ...], rows: int) -> None:
    array = LOGITS.reshape(-1)[: int(np.prod(shape))].reshape(shape)
    assert np.array_equal(read(tmp_path, npy(array)), array.reshape(rows, shape[-1]))


def test_three_long_axes(tmp_path: Path) -> None:
    array = RNG.normal(size=(2, 3, 5)).astype(np.float32)
    with pytest.raises(CaptureError, match=r"\[2, 3, 5\] leaves open") as error:
        read(tmp_path, npy(array))
    assert "batch,time,vocab" in error.value.advice
    by_axes = {
        "batch,time,vocab": array.reshape(6, 5),
        "btv": array.reshape(6, 5),
        "time, batch, vocab": array.transpose(1, 0, 2).reshape(6, 5),
        "vtb": array.transpose(2, 1, 0).reshape(15, 2),
    }
    for axes, expected in by_axes.items():
        for data in (npy(array), npy(np.asfortranarray(array))):
            assert np.array_equal(read(tmp_path, data, axes=axes), expected)
    with pytest.raises(CaptureError, match="names 2 axes"):
        read(tmp_path, npy(array), axes="time,vocab")
    four = RNG.normal(size=(2, 3, 2, 5)).astype(np.float32)
    assert np.array_equal(
        read(tmp_path, npy(four), axes="time,beam,batch,vocab"),
        four.transpose(2, 1, 0, 3).reshape(12, 5),
    )


@pytest.mark.parametrize("text", ["batch,tokens,vocab", "", "bt", "bbv", "vocab,vocab", "xyz"])
def test_axes_that_cannot_be_read(text: str) -> None:
    with pytest.raises(SettingsError, match="--axes"):
        parse_axes(text)


def test_vocab_size_guards_the_axis(tmp_path: Path) -> None:
    assert len(read(tmp_path, npy(LOGITS), vocab_size=11)) == 7
    with pytest.raises(CaptureError, match="11 tokens, --vocab-size says 7") as error:
        read(tmp_path, npy(LOGITS), vocab_size=7)
    assert "vocab,time" in error.value.advice
    with pytest.raises(CaptureError, match="--vocab-size says 9") as error:
        read(tmp_path, npy(LOGITS), vocab_size=9)
    assert "vocab-size:9 of a recipe cuts them" in error.value.advice
    assert np.array_equal(read(tmp_path, npy(LOGITS), vocab_size=7, axes="vt"), LOGITS.T)


def test_safetensors_types(tmp_path: Path) -> None:
    for dtype, array in (
        ("F32", LOGITS),
        ("F64", LOGITS.astype("f8")),
        ("F16", LOGITS.astype("f2")),
    ):
        assert np.array_equal(read(tmp_path, safetensors({"logits": (dtype, array)})), array)
    found = read(tmp_path, safetensors({"x": ("BF16", bits(LOGITS)), "ids": ("I64", np.arange(7))}))
    assert np.array_equal(found, from_bits(bits(LOGITS)))
    data = safetensors({"a": ("F32", LOGITS), "q": ("F8_E4M3", np.zeros(3, np.uint8))})
    assert np.array_equal(read(tmp_path, data), LOGITS)
    path = write(tmp_path, "a.bin", data)
    with pytest.raises(CaptureError, match="F8_E4M3 holds no full-precision"):
        read_pair(f"{path}::q", path)


@pytest.mark.parametrize("deflate", [False, True])
def test_npz(tmp_path: Path, deflate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", 100)
    draft = LOGITS[::-1] * np.float32(0.5)
    for names in (("target", "draft"), ("p", "q"), ("target_logits", "draft_logits")):
        path = write(tmp_path, "a", npz(dict(zip(names, (LOGITS, draft), strict=True)), deflate))
        capture, steps = read_one(path)
        assert capture.reader == "npz"
        assert np.array_equal(targets(steps), LOGITS)
        assert np.array_equal([floats(s.positions[0].draft) for s in steps], draft)
        assert steps[3].positions[0].draft.place == f"{path}, {names[1]}[3]"
    fortran = npz({"x": np.asfortranarray(LOGITS)}, deflate)
    assert np.array_equal(read(tmp_path, fortran), LOGITS)


def test_npz_steps_are_sorted_by_number(tmp_path: Path) -> None:
    data = npz(
        {f"step_{i}": LOGITS[i % 7][None] + np.float32(i) for i in (10, 2, 1, *range(3, 10))}
    )
    expected = [LOGITS[i % 7] + np.float32(i) for i in range(1, 11)]
    path = write(tmp_path, "a", data)
    _, steps = read_pair(f"{path}::step_*", f"{path}::step_*")
    assert np.array_equal(targets(steps), expected)


def test_an_object_member_spoils_only_itself(tmp_path: Path) -> None:
    ragged = np.empty(2, object)
    data = zipped({"x.npy": npy(LOGITS), "meta.npy": npy(ragged, allow_pickle=True)})
    assert np.array_equal(read(tmp_path, data), LOGITS)
    path = write(tmp_path, "a", data)
    with pytest.raises(CaptureError, match="pickled Python objects"):
        read_pair(f"{path}::meta", path)


def test_several_pairs_are_not_chosen_between(tmp_path: Path) -> None:
    arrays = dict.fromkeys(("target", "draft", "target_probs", "draft_probs"), LOGITS)
    with pytest.raises(Exception, match="several pairs: target, target_probs"):
        read_one(write(tmp_path, "a", npz(arrays)))


STORAGE = np.arange(60, dtype=np.float32)


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (3, 5), (5, 1)),
        (7, (3, 5), (5, 1)),
        (2, (3, 5), (20, 1)),
        (1, (3, 5), (1, 3)),
        (4, (3, 5), (7, 2)),
        (0, (3, 5), (0, 1)),
        (9, (3, 5), (1, 0)),
        (59, (1, 1), (500, 900)),
    ],
)
def test_torch_views(
    tmp_path: Path, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    pickled = TorchPickle().tensor("FloatStorage", "0", 60, offset, shape, strides).done()
    found = read(tmp_path, torch_file(pickled, {"0": STORAGE.tobytes()}))
    expected = np.lib.stride_tricks.as_strided(
        STORAGE[offset:], shape, [4 * step for step in strides]
    )
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        ("HalfStorage", LOGITS.astype("f2")),
        ("DoubleStorage", LOGITS.astype("f8")),
        ("BFloat16Storage", bits(LOGITS)),
    ],
)
def test_torch_types(tmp_path: Path, kind: str, array: np.ndarray) -> None:
    pickled = TorchPickle().tensor(kind, "7", array.size, 0, array.shape, (11, 1)).done()
    expected = from_bits(array) if array.dtype == np.uint16 else array
    for order, stored in (("little", array), ("big", array.astype(array.dtype.newbyteorder(">")))):
        data = torch_file(pickled, {"7": stored.tobytes()}, "my stem", order)
        assert np.array_equal(read(tmp_path, data), expected)


def test_torch_containers(tmp_path: Path) -> None:
    """{"target": [rows...], "draft": {"logits": rows}, "temperature": 0.7} as torch nests it."""
    pickle = TorchPickle().add(b"}(").text("target").add(b"](")
    for step in range(3):
        pickle.tensor("FloatStorage", "0", 60, step * 5, (1, 5), (5, 1))
    pickle.add(b"e").text("draft").add(b"}").text("logits")
    pickle.tensor("FloatStorage", "0", 60, 20, (3, 5), (5, 1)).add(b"s")
    pickle.text("temperature").add(b"G", struct.pack(">d", 0.7), b"u")
    path = write(tmp_path, "a", torch_file(pickle.done(), {"0": STORAGE.tobytes()}))
    _, steps = read_pair(f"{path}::target", f"{path}::draft.logits")
    assert np.array_equal(targets(steps), STORAGE[:15].reshape(3, 5))
    capture, steps = read_pair(f"{path}::target", f"{path}::draft.logits", axes="time,vocab")
    assert steps[2].positions[0].draft.values.array.tolist() == [30, 31, 32, 33, 34]  # type: ignore[union-attr]
    assert ("metadata temperature", "0.7 (not applied)") in capture.facts


def test_a_stack_of_batches_counts_time_fastest(tmp_path: Path) -> None:
    pickle = TorchPickle().add(b"(")
    for step in range(3):
        pickle.tensor("FloatStorage", "0", 60, step * 10, (2, 5), (5, 1))
    path = write(tmp_path, "a", torch_file(pickle.add(b"t").done(), {"0": STORAGE.tobytes()}))
    _, steps = read_pair(path, path)
    expected = STORAGE[:30].reshape(3, 2, 5).transpose(1, 0, 2).reshape(6, 5)
    assert np.array_equal(targets(steps), expected)
    assert steps[1].positions[0].target.place == f"{path}, tuple[1, 0]"


@given(
    st.permutations([0, 1, 2]),
    st.sampled_from(["btv", "tbv", "vbt"]),
    st.integers(1, 400),
    st.integers(1, 400),
)
def test_layout_and_block_sizes_change_nothing(
    tmp_path: Path, order: list[int], axes: str, block: int, window: int
) -> None:
    """The same logical array under every memory order, read through tiny blocks and windows."""
    array = np.arange(4 * 3 * 5, dtype=np.float32).reshape(4, 3, 5)
    stored = np.ascontiguousarray(array.transpose(order))
    strides = [int(stored.strides[order.index(axis)]) // 4 for axis in range(3)]
    pickled = TorchPickle().tensor("FloatStorage", "0", 60, 0, array.shape, strides).done()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_BYTES", block)
        patch.setattr(row_blocks, "GATHER_BYTES", block)
        patch.setattr(row_blocks, "WINDOW_BYTES", window)
        found = read(tmp_path, torch_file(pickled, {"0": stored.tobytes()}), axes=axes)
    moved = array.transpose([axes.index(letter) for letter in "btv"])
    assert np.array_equal(found, moved.reshape(-1, moved.shape[-1]))


def test_rows_are_read_in_bounded_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No read is longer than a block, however long the file is."""
    from specdist.readers.storage import Handles

    longest = 0
    read = Handles.read

    def spy(self: Handles, path: Path, name: str, start: int, count: int) -> bytes:
        nonlocal longest
        longest = max(longest, count)
        return read(self, path, name, start, count)

    monkeypatch.setattr(Handles, "read", spy)
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", 5000)
    array = np.zeros((400, 100), np.float32)
    array[:, 0] = 3
    for data in (
        npy(array),
        safetensors({"x": ("F32", array)}),
        npz({"x": array}),
        npz({"x": array}, deflate=True),
    ):
        path = write(tmp_path, "a", data)
        longest = 0
        monkeypatch.setattr("specdist.readers.zip_members.CHECKSUM_BYTES", 0)
        assert len(read_pair(path, path)[1]) == 400
        assert 0 < longest <= 5000


def test_kind_by_evidence(tmp_path: Path) -> None:
    weights = np.exp(LOGITS.astype(float))
    probabilities = (weights / weights.sum(1, keepdims=True)).astype(np.float32)

    def kind(array: np.ndarray) -> Kind:
        path = write(tmp_path, "a", npy(np.asarray(array, np.float32)))
        return read_pair(path, path)[1][0].positions[0].target.kind

    assert kind(LOGITS) is Kind.LOGITS
    assert kind(probabilities) is Kind.PROBABILITIES
    assert kind(np.log(probabilities)) is Kind.LOGPROBS
    assert kind(-np.abs(LOGITS) * np.float32(0.1)) is Kind.LOGITS
    for unclear in (
        probabilities * 0.5,
        np.log(probabilities) - 1,
        np.zeros((3, 5)),
        LOGITS * 0 + 1,
    ):
        with pytest.raises(CaptureError, match="logits, log-probabilities or prob") as error:
            kind(unclear)
        assert "--kind" in error.value.advice
    settled = np.concatenate([np.log(probabilities[:1]) - 1, LOGITS[:1]])
    assert kind(settled) is Kind.LOGITS
    mixed = np.concatenate([probabilities[:1], LOGITS[:1]])
    with pytest.raises(CaptureError, match="one row has"):
        kind(mixed)


def test_narrower_numbers_must_fit(tmp_path: Path) -> None:
    doubles = LOGITS.astype(np.float64)
    path = write(tmp_path, "a", npy(doubles))
    _, steps = read_pair(path, path, numbers=NumberFormat.FLOAT32)
    row = steps[0].positions[0].target
    assert row.numbers is NumberFormat.FLOAT32
    assert row.values.array.dtype == np.float32  # type: ignore[union-attr]
    doubles[4, 2] += 1e-12
    path = write(tmp_path, "a", npy(doubles))
    with pytest.raises(RowError, match="is no float32 value") as error:
        read_pair(path, path, numbers=NumberFormat.FLOAT32)
    assert error.value.place == f"{path}, array[4, 2]"
    path = write(tmp_path, "a", npy(LOGITS))
    for numbers in (NumberFormat.FLOAT64, NumberFormat.DECIMAL):
        with pytest.raises(CaptureError, match="holds float32, --numbers says"):
            read_pair(path, path, numbers=numbers)


def test_stand_ins_for_minus_infinity_are_named_and_left_alone(tmp_path: Path) -> None:
    lowest = float(np.finfo(np.float32).min)
    for stand_in in (-9999.0, lowest):
        array = LOGITS.copy()
        array[0, 4] = stand_in
        path = write(tmp_path, "a", npy(array))
        capture, steps = read_pair(path, path)
        assert dict(capture.facts)["target lowest"].startswith(f"{stand_in:.6g}, which some")
        assert floats(steps[0].positions[0].target)[4] == stand_in


def test_hidden_states_are_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "a", safetensors({"hidden_states": ("F32", LOGITS)}))
    with pytest.raises(CaptureError, match="hidden states are no distribution"):
        read_pair(path, path)


def test_a_mask_shared_by_all_rows_is_the_models_own(tmp_path: Path) -> None:
    padded = LOGITS.copy()
    padded[:, 9:] = -np.inf
    path = write(tmp_path, "a", npy(padded))
    _, steps = read_pair(path, path)
    assert all(f.ident != "configuration-needed" for s in steps for f in s.findings)
    padded[5, 2] = -np.inf
    path = write(tmp_path, "a", npy(padded))
    capture, steps = read_pair(path, write(tmp_path, "b", npy(LOGITS)))
    flagged = [s.id for s in steps if any(f.ident == "configuration-needed" for f in s.findings)]
    assert "row:5" in flagged
    assert dict(capture.facts)["target mask"].startswith("-inf at 2 of 11 tokens")


def test_rows_that_show_a_cut_of_their_own_take_no_processing_again(tmp_path: Path) -> None:
    """-inf at other tokens in each row: processed, unless --stage says otherwise."""
    from tests.cli import run

    cut = np.array([[1.0, 0.5, -np.inf, 0], [-np.inf, 1, 0.25, 0.5]], np.float32)
    pair = write(tmp_path, "pair", npz({"target": cut, "draft": cut[::-1]}))
    as_they_are = run("check", pair, "--kind", "logits", "--format", "json")
    assert as_they_are.code == 0
    assert "stage processed (assumed)" in as_they_are.json()["read_as"][0]
    again = run("check", pair, "--kind", "logits", "-T", "0.5")
    assert (again.code, again.stdout) == (2, "")
    assert "--stage raw" in again.stderr
    assert run("check", pair, "--kind", "logits", "-T", "0.5", "--stage", "raw").code == 0


def test_a_ban_in_some_rows_is_no_cut(tmp_path: Path) -> None:
    """-inf in one row of three: raw (assumed), with the warning that names the mask."""
    from tests.cli import run

    rows = np.array([[1, 0.5, 0, 0.25], [0, 1, -np.inf, 0.5], [2, 1, 0, 1]], np.float32)
    pair = write(tmp_path, "pair", npz({"target": rows, "draft": rows[::-1]}))
    result = run("check", pair, "--kind", "logits", "-T", "0.5", "--format", "json")
    assert result.code == 0, result.stderr
    assert "stage raw (assumed)" in result.json()["read_as"][0]
    assert any("pattern of their own" in note for note in _messages(result.json()))


def _messages(report: dict[str, Any]) -> list[str]:
    steps = [finding for step in report["steps"] for finding in step.get("findings", ())]
    return [finding["message"] for finding in (*report["findings"], *steps)]
