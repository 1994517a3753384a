"""Parquet tables: DistillKit's packing bit by bit, damage, columns that are refused, no pyarrow."""

from __future__ import annotations

import shutil
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specdist.errors import CaptureError, MissingExtraError, NotACaptureError
from specdist.model.row import FloatValues, Kind, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.parquet import open_parquet
from specdist.readers.engine_files.plain_config import parse_config
from specdist.readers.record_files import crc32c, is_tfrecord
from specdist.readers.refusals import unknown
from specdist.readers.sources import local_file
from tests.cli import run
from tests.listed_files import FACTS, FIELD, cap, listed, partial, refuses, rows_of

PACKED = FIELD / "distill" / "distillkit_packed.parquet"
CONFIG = FIELD / "distill" / "distillkit_packed.compression_config.yaml"
LISTS = FIELD / "distill" / "topk_parallel_lists.parquet"
FACT = FACTS["distill/distillkit_packed.parquet"]


def opened(path: Path, **reading: Any) -> EngineFile:
    return open_parquet(local_file(str(path)), ReadingSettings(**reading))


def bits_of(data: list[int], width: int, count: int) -> list[int]:
    """Ids by one long integer, the highest bit first."""
    whole = int.from_bytes(bytes(data), "big")
    total = 8 * len(data)
    mask = (1 << width) - 1
    return [whole >> (total - (i + 1) * width) & mask for i in range(count)]


# --- DistillKit ------------------------------------------------------------------------------


def test_packed_rows_hold_the_facts_of_the_manifest() -> None:
    columns = pq.read_table(PACKED).to_pydict()
    file = opened(PACKED)
    rows = rows_of(file)
    for i, row in enumerate(rows):
        values, packed = columns["compressed_logprobs"][0][i], columns["bytepacked_indices"][0][i]
        assert [len(values), len(packed)] == FACT["bytes_per_position"]
        ids = bits_of(packed, 6, 16)
        exact = struct.unpack("<4f", bytes(values[:16]))
        assert listed(row) == dict(zip(ids[:4], exact, strict=True))
        assert partial(row).others == 60
        own = row.token == ids[3]
        assert cap(row) == exact[2] if own else exact[3]
    assert bits_of(columns["bytepacked_indices"][0][0], 6, 16) == FACT["row0_ids"]
    assert sorted(listed(rows[0])) == sorted(FACT["row0_ids"][:4])
    assert [listed(rows[0])[x] for x in FACT["row0_ids"][:4]] == FACT["row0_exact"]
    assert (file.vocab_size, file.stage, rows[0].index) == (64, Stage.RAW, 1)
    assert any("fit without an error bound" in text for text in file.warnings)


def test_the_exact_values_are_those_of_the_plain_table() -> None:
    """Both files were written from one forward pass."""
    packed, plain = rows_of(opened(PACKED)), rows_of(opened(LISTS, shift=1, vocab_size=64))
    for ours, theirs in zip(packed, plain, strict=True):
        assert set(listed(ours)) <= set(listed(theirs))
        assert all(listed(theirs)[x] == value for x, value in listed(ours).items())
        # The fit is off by a third of a nat; nothing of it may be taken for a value.
        rest = set(listed(theirs)) - set(listed(ours))
        assert all(listed(theirs)[x] <= cap(ours) for x in rest)


def test_the_fit_is_off_by_what_the_manifest_says_so_it_is_not_read() -> None:
    """A quadratic over the place in the list, against the whole law of the forward pass."""
    with np.load(FIELD / "hf" / "pair_target_draft.npz") as archive:
        logits = archive["target_logits"].astype(np.float64)
    laws = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    columns = pq.read_table(PACKED).to_pydict()
    worst = 0.0
    for i, row in enumerate(rows_of(opened(PACKED))):
        ids = bits_of(columns["bytepacked_indices"][0][i], 6, 16)
        terms = struct.unpack("<3f", bytes(columns["compressed_logprobs"][0][i][16:]))
        at = np.arange(12.0)
        fit = sum(term * at**power for power, term in enumerate(terms))
        worst = max(worst, float(np.abs(fit - laws[i][ids[4:]]).max()))
        assert max(laws[i][ids[4:]]) <= cap(row), "what the fit stands for is below the cap"
    assert worst == pytest.approx(FACT["max_abs_error_of_approximated"], abs=1e-12)


def packed(folder: Path, config: str, row: tuple[bytes, bytes], rows: int = 6) -> Path:
    path = folder / "rows.parquet"
    columns = {
        "input_ids": [list(range(rows))],
        "compressed_logprobs": [[list(row[0])] * rows],
        "bytepacked_indices": [[list(row[1])] * rows],
    }
    pq.write_table(pa.table({name: pa.array(x) for name, x in columns.items()}), path)
    (folder / "compression_config.yaml").write_text(config, encoding="utf-8")
    return path


def config(**changes: Any) -> str:
    """The block style that DistillKit's writer uses."""
    keys = {
        "d": 1000, "k": 3, "exact_k": 3, "exact_dtype": "float16", "polynomial_terms": "[]",
        "term_dtype": "float32", "residual_bins": "[]", "delta_encoding": "false",
    }  # fmt: skip
    return "".join(f"{key}: {value}\n" for key, value in {**keys, **changes}.items())


def ids_bytes(ids: tuple[int, ...], width: int) -> bytes:
    text = "".join(f"{x:0{width}b}" for x in ids)
    return int(text.ljust(-(-len(text) // 8) * 8, "0"), 2).to_bytes(-(-len(text) // 8), "big")


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("float16", struct.pack("<3e", -0.5, -1.5, -3.25)),
        ("bfloat16", b"".join(struct.pack("<f", x)[2:] for x in (-0.5, -1.5, -3.25))),
        ("float32", struct.pack("<3f", -0.5, -1.5, -3.25)),
        ("float64", struct.pack("<3d", -0.5, -1.5, -3.25)),
    ],
)
def test_every_type_of_exact_values(dtype: str, data: bytes, tmp_path: Path) -> None:
    path = packed(tmp_path, config(exact_dtype=dtype), (data, ids_bytes((999, 0, 7), 10)))
    row = rows_of(opened(path))[0]
    assert listed(row) == {999: -0.5, 0: -1.5, 7: -3.25}
    bits = {"float16": 11, "bfloat16": 8}.get(dtype)
    assert partial(row).half_width == (0 if bits is None else Fraction(2) ** (1 - bits))


def test_differences_are_added_up_with_their_rounding(tmp_path: Path) -> None:
    data = struct.pack("<3f", -0.5, -1.0, -1.75)
    path = packed(
        tmp_path,
        config(exact_dtype="float32", delta_encoding="true"),
        (data, ids_bytes((999, 0, 7), 10)),
    )
    row = rows_of(opened(path))[0]
    assert listed(row) == {999: -0.5, 0: -1.5, 7: -3.25}
    assert partial(row).half_width == Fraction(2) ** -23 + Fraction(2) ** -23


def test_lists_of_the_block_style_count_as_terms(tmp_path: Path) -> None:
    text = config(k=4).replace("polynomial_terms: []\n", "polynomial_terms:\n- 0\n- 1\n")
    data = struct.pack("<3e", -0.5, -1.5, -3.25) + bytes(8)
    row = rows_of(opened(packed(tmp_path, text, (data, ids_bytes((999, 0, 7, 8), 10)))))[0]
    assert listed(row) == {999: -0.5, 0: -1.5, 7: -3.25}
    bins = "residual_bins:\n- scale_dtype: float16\n  element_bits: 8\n  num_elements: 1\n"
    text = text.replace("residual_bins: []\n", bins)
    longer = (data + b"\x01\x02\x03", ids_bytes((999, 0, 7, 8), 10))
    assert listed(rows_of(opened(packed(tmp_path, text, longer)))[0]) == listed(row)


BAD_CONFIG: dict[str, tuple[str, tuple[str, ...]]] = {
    "no d": (config().replace("d: 1000\n", "", 1), ("d is missing",)),
    "k above d": (config(k=2000), ("exact_k 3, k 2000, d 1000",)),
    "nothing exact": (config(exact_k=0), ("exact_k 0",)),
    "another type": (config(exact_dtype="float8"), ("exact_dtype is 'float8'",)),
    "a key twice": (config() + "d: 5\n", ("'d' occurs twice", "line 9")),
    "no key": (config() + "what\n", ("no key and value",)),
    "more values": (config(exact_k=3, exact_dtype="float32"), ("6 bytes of values", "12")),
    "other ids": (config(d=70000), ("4 bytes of ids", "7 for 3 ids of 17 bits")),
    "a term": (config(polynomial_terms="[0]"), ("6 bytes of values", "10")),
}


@pytest.mark.parametrize("name", BAD_CONFIG)
def test_settings_that_do_not_unpack_the_bytes(name: str, tmp_path: Path) -> None:
    text, words = BAD_CONFIG[name]
    row = (struct.pack("<3e", -0.5, -1.5, -3.25), ids_bytes((999, 0, 7), 10))
    refuses(lambda: opened(packed(tmp_path, text, row)), *words)


def test_bits_after_the_last_id_must_be_zero(tmp_path: Path) -> None:
    ids = ids_bytes((999, 0, 7), 10)
    row = (struct.pack("<3e", -0.5, -1.5, -3.25), ids[:-1] + bytes([ids[-1] | 1]))
    refuses(lambda: opened(packed(tmp_path, config(), row)), "not zero")


def test_without_its_settings_a_packed_table_is_refused(tmp_path: Path) -> None:
    path = Path(shutil.copy(PACKED, tmp_path / "table.parquet"))
    refuses(lambda: opened(path), "packed", "compression_config.yaml")
    shutil.copy(CONFIG, tmp_path / "compression_config.yaml")
    assert opened(path).count == 10
    (tmp_path / "compression_config.yaml").write_bytes(b"\xff\xfe")
    refuses(lambda: opened(path), "not UTF-8")


def test_the_reader_of_settings_takes_lines_of_keys_only() -> None:
    text = "# c\n---\na: 'x'  # why\nb: [1, \"2\"]\nc:\n  - 1\n  - k: v\n    l: w\nd: []\ne:\n"
    assert parse_config(text, "f") == {
        "a": "x", "b": ["1", "2"], "c": ["1", "k: v"], "d": [], "e": "",
    }  # fmt: skip


# --- columns ---------------------------------------------------------------------------------


def written(folder: Path, columns: dict[str, Any]) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    return path


REFUSED: dict[str, tuple[dict[str, Any], type[CaptureError], tuple[str, ...]]] = {
    "the first packing": (
        {"packed_indices": [[[1]]], "exact_values": [[[1.0]]], "coeffs": [[[1.0]]]},
        CaptureError, ("first packing", "logits less their mean"),
    ),
    "hidden states": (
        {"input_ids": [[1]], "target_last_hidden_states": [[[1.0]]]},
        CaptureError, ("hidden states",),
    ),
    "texts": ({"prompt": ["a"]}, NotACaptureError, ("no columns", "prompt")),
    "flat lists": (
        {"topk_ids": [[1, 2]], "topk_logprobs": [[-1.0, -2.0]]}, NotACaptureError, ("no columns",)
    ),
    "whole numbers": (
        {"topk_ids": [[[1, 2]]], "topk_logprobs": [[[1, 2]]]}, CaptureError, ("int64 numbers",)
    ),
    "ids short": (
        {"topk_ids": [[[1]]], "topk_logprobs": [[[-1.0, -2.0]]]}, CaptureError,
        ("1 ids and 2 values",),
    ),
    "rows short": (
        {"topk_ids": [[[1]]], "topk_logprobs": [[[-1.0], [-2.0]]]}, CaptureError,
        ("1 lists of topk_ids, 2",),
    ),
    "no rows": ({"topk_ids": [[[1]]][:0] or [[]], "topk_logprobs": [[]]}, NotACaptureError, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_hold_no_law(name: str, tmp_path: Path) -> None:
    columns, kind, words = REFUSED[name]
    error = refuses(lambda: opened(written(tmp_path, columns)), *words)
    assert type(error) is kind


BAD_ROWS: dict[str, tuple[list[Any], list[Any], tuple[str, ...]]] = {
    "NaN": ([1, 2], [-1.0, float("nan")], ("NaN for token 2",)),
    "+inf": ([1, 2], [-1.0, float("inf")], ("--kind",)),
    "an id twice": ([1, 1], [-1.0, -2.0], ("token 1 is listed twice",)),
    "a negative id": ([1, -2], [-1.0, -2.0], ("token -2",)),
    "beyond the vocabulary": ([1, 70], [-1.0, -2.0], ("token 70 in a vocabulary of 64",)),
    "mass": ([1, 2], [-0.1, -0.2], ("a mass of 1.7",)),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_rows_that_hold_no_law(name: str, tmp_path: Path) -> None:
    ids, values, words = BAD_ROWS[name]
    columns = {"topk_ids": [[[1, 2], ids]], "topk_logprobs": [[[-1.0, -2.0], values]]}
    kind = None if name == "+inf" else Kind.LOGPROBS
    refuses(lambda: opened(written(tmp_path, columns), vocab_size=64, kind=kind), *words)


def test_other_list_types_read_the_same(tmp_path: Path) -> None:
    ids, values = [[[3, 1], [2, 0]]], [[[-1.0, -2.0], [-0.5, -1.5]]]
    plain = rows_of(opened(written(tmp_path, {"topk_ids": ids, "topk_logprobs": values})))
    fixed = pa.list_(pa.list_(pa.float32(), 2))
    large = pa.large_list(pa.large_list(pa.int16()))
    columns = {"topk_indices": pa.array(ids, large), "top_values": pa.array(values, fixed)}
    other = rows_of(opened(written(tmp_path, columns)))
    assert [listed(row) for row in plain] == [listed(row) for row in other]


def test_a_complete_table_has_complete_rows(tmp_path: Path) -> None:
    logits = np.random.default_rng(1).normal(size=(5, 32)).astype(np.float32)
    laws = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    ids = [np.argsort(-row).tolist() for row in laws]
    values = [row[order].tolist() for row, order in zip(laws, ids, strict=True)]
    path = written(tmp_path, {"topk_ids": [ids], "topk_logprobs": [values]})
    file = opened(path)
    assert (file.vocab_size, file.concludes) == (32, "complete rows: exact statements")
    for row, law in zip(rows_of(file), laws, strict=True):
        assert isinstance(row.values, FloatValues)
        assert np.array_equal(row.values.array, law.astype(np.float64))


# --- files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-20],
        lambda data: data[: len(data) // 2],
        lambda data: data[:4],
        lambda data: data[:100] + bytes(60) + data[160:],
        lambda data: data[:-8] + b"\xff\xff\xff\x7fPAR1",
    ],
)
def test_damaged_files_end_in_an_error_with_their_name(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(damage(LISTS.read_bytes()))
    error = refuses(lambda: opened(path, shift=1), "damaged")
    assert error.place.startswith(str(path))


@pytest.mark.parametrize("hidden", [("pyarrow.parquet",), ("pyarrow", "pyarrow.parquet")])
def test_without_pyarrow_the_extra_is_named(
    hidden: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in hidden:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as caught:
        opened(LISTS)
    assert caught.value.ident == "missing-extra"
    assert "specdist-verifier[parquet]" in caught.value.advice
    assert caught.value.place == str(LISTS)


def test_inspect_reads_a_table_and_check_needs_both_sides() -> None:
    seen = run("inspect", LISTS)
    assert seen.code == 0
    assert "a parquet table of likely tokens" in seen.stdout
    assert all(len(line) <= 80 for line in seen.stdout.splitlines() if str(LISTS) not in line)
    alone = run("check", LISTS)
    assert alone.code == 2
    assert "rows of one model" in alone.stderr


def test_records_of_other_tools_are_named() -> None:
    assert crc32c(b"123456789") == 0xE3069283, "the check value of CRC-32C"
    length = (300).to_bytes(8, "little")
    crc = crc32c(length)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32
    head = length + masked.to_bytes(4, "little") + bytes(300)
    assert is_tfrecord(head)
    assert not is_tfrecord(b"\x00" * 12)
    assert "tfrecord" in unknown(head, "f", 400).message
    riegeli = bytes.fromhex("83af70d10d884a3f") + bytes(60)
    assert "ArrayRecord" in unknown(riegeli, "f", 400).message
