"""Files that no reader may accept: the class of the error, where it is, what was expected."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, NotACaptureError, RowError, SpecdistError
from specdist.model.row import Kind, NumberFormat
from tests.reader_files import (
    TorchPickle,
    evil_pickle,
    npy,
    npz,
    raw_safetensors,
    read_one,
    read_pair,
    safetensors,
    torch_file,
    write,
    zipped,
)

GOOD = ["1/2", "3/10", "1/5"]
ROWS = np.arange(12, dtype=np.float32).reshape(3, 4) - 6


def capture(**members: Any) -> str:
    return json.dumps({"target": GOOD, "draft": GOOD, **members})


JSON: dict[str, tuple[str | bytes, str, str, str]] = {
    # name: content, message, inner place, expected or advice
    "empty": ("", "the file is empty", "", "a capture"),
    "blank": (" \n ", "no reader recognises", "", "JSON"),
    "truncated": (capture()[:-3], "ends too early", "line 1, column 61", ""),
    "truncated lines": ('{"target": [1],\n "dr', "ends too early", "line 2, column 2", ""),
    "syntax": ('{"target": [1,, 2]}', "not valid JSON", "line 1, column 15", ""),
    "extra": (capture() + "}", "not valid JSON: extra data", "line 1", ""),
    "utf-16": (capture().encode("utf-16"), "UTF-16", "", "UTF-8"),
    "stray byte": (b'{"target":\n[\xff', "byte 0xff is not UTF-8", "line 2, byte 12", "UTF-8"),
    "nan": ('{"target": [1, NaN]}', "the literal NaN", "target[1]", '"-inf"'),
    "infinity": ('{"a": {"b": Infinity}}', "the literal Infinity", "a.b", '"-inf"'),
    "masked literal": ('{"target": [-Infinity, 1]}', "-inf as a prob", "target, token 0", "0 to 1"),
    "hidden nan": ('{"a": NaN, "a": 1}', "'a' occurs twice", "top level", "keep one"),
    "twice": ('{"steps": [{"id": 1, "id": 2}]}', "'id' occurs twice", "steps[0]", "keep one"),
    "unknown key": (capture(drafts=GOOD), "unknown key 'drafts'", "top level", "'draft'"),
    "typo": ('{"taget": [1], "draft": [1]}', "unknown key 'taget'", "top level", "'target'"),
    "unknown setting": (
        capture(settings={"top_pp": 1}), "unknown key 'top_pp'", "settings", "'top_p'",
    ),
    "two spellings": (
        capture(settings={"top_p": 1, "top-p": 1}), "set twice, in two spellings", "settings", "",
    ),
    "unknown role": (
        capture(roles={"drafted": "raw"}), "no role 'drafted'", "roles.drafted", "'drafted_from'",
    ),
    "kind": (capture(kind="logit"), "kind cannot be 'logit'", "kind", "logits, logprobs"),
    "lengths": (
        capture(roles={"accept_target": ["1/2", "1/2"]}), "this row has 2 numbers",
        "roles.accept_target", "[3]",
    ),
    "vocab": (capture(vocab=["A", "B"]), "this row has 3 numbers", "target", "[2]"),
    "text number": (capture(target=["1/2", "half", 0]), "'half' is not a num", "target[1]", "0.3"),
    "nan text": (capture(target=["nan", 0, 0]), "NaN is not a number", "target[0]", "0.3"),
    "inf text": (capture(target=["+inf", 0, 0]), "+inf is not", "target[0]", "0.3"),
    "underscore": (capture(target=["1_0", 0, 0]), "'1_0' is not a number", "target[0]", "0.3"),
    "zero": (capture(target=["1/0", 0, 0]), "1/0 divides by zero", "target[0]", "0.3"),
    "object": (capture(target=[{}, 0, 0]), "not an object", "target[0]", "0.3"),
    "null": (capture(target=[None, 0, 0]), "not null", "target[0]", "0.3"),
    "exponent": ('{"target": [1e999999999], "draft": [1]}', "beyond 2000", "target[0]", "0.3"),
    "exponent text": (capture(target=["1e-9999", 0, 0]), "beyond 2000", "target[0]", "0.3"),
    "digits": ('{"target": [' + "1" * 9999 + "]}", "a number of 9999 characters", "", "4000"),
    "digits text": (capture(target=["1" * 9999, 0, 0]), "9999 characters", "target[0]", "0.3"),
    "deep": ('{"target":' + "[" * 99999, "nested too deeply", "", ""),
    "negative": (capture(target=["3/2", "-1/2", 0]), "negative probability, -1/2", "token 1", "0"),
    "masked": (capture(target=["-inf", 1, 0]), "-inf as a probability", "token 0", "0 to 1"),
    "above 0": (capture(kind="logprobs"), "log-probability above 0, 1/2", "token 0", "up to 0"),
    "overflow": (
        capture(kind="logits", numbers="float16", target=[1, 65520, 0]),
        "beyond the largest finite float16", "target[1]", "0.3",
    ),
    "map id": (capture(target={"3": 1}), "token id 3 is outside", 'target["3"]', "0 to 2"),
    "map zero": (capture(target={"01": 1}), "'01' is not a token id", 'target["01"]', "zeros"),
    "map text": (capture(target={"A": 1}), "neither a token id nor a text", 'target["A"]', "ids"),
    "map twice": (
        capture(target={"A": 1, "0": 1}, vocab=["A", "B", "C"]), "token 0 occurs twice",
        "target", "",
    ),
    "map shared": (
        capture(target={"A": 1}, vocab=["A", "A", "C"]), "text of several tokens", "target", "ids",
    ),
    "sizes": ('{"target": {"0": 1}, "draft": {"0": 1}}', "vocabulary is unknown", "", "--vocab"),
    "no draft": ('{"target": [1, 0, 0]}', "no draft row", "top level", "one-hot"),
    "draft token": (capture(draft_token=3), "token id 3 is outside", "draft_token", "0 to 2"),
    "two drafted": (
        capture(draft={"one_hot": 0}, draft_token=1), "token 1 was drafted here, and token 0",
        "top level", "one drafted",
    ),
    "draft tokens": (capture(draft_tokens=[0, 1]), "1 positions, but", "draft_tokens", "one token"),
    "prompt": (capture(context=[1], prompt_length=2), "prompt_length", "prompt_length", "0 to 1"),
    "schema": (capture(schema="specdist.capture/9"), "unknown capture schema", "schema", "/1"),
    "top level list": ("[[0.5, 0.5]]", "this JSON document is an array", "", "an object"),
    "other object": ('{"tokens": [1]}', "not a capture", "", "steps"),
    "step": ('{"steps": [{"target": [1], "draft": [1], "x": 1}]}', "key 'x'", "steps[0]", "known"),
    "mixed sizes": (
        '{"positions": [{"target": [1], "draft": [1]}, {"target": [1, 0], "draft": [1, 0]}]}',
        "2 tokens here, 1 at position 0", "positions[1]", "one vocabulary",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", JSON)
def test_json(case: str, tmp_path: Path) -> None:
    content, message, place, words = JSON[case]
    path = write(tmp_path, "c.json", content)
    with pytest.raises(SpecdistError) as error:
        read_one(path)
    shown = error.value
    assert message in shown.message
    assert shown.place.startswith(path)
    assert place in shown.place
    assert words in shown.expected + shown.advice
    assert len(shown.message) < 200
    if case not in ("blank", "utf-16", "empty"):
        with pytest.raises(SpecdistError):
            read_one(write(tmp_path, "c.gz", gzip.compress(path and Path(path).read_bytes())))


@pytest.mark.parametrize("line", ["{", '{"target": [1]}', '{"x": 1}', '"text"', "[1]", "\xff"])
def test_a_bad_line_is_numbered(tmp_path: Path, line: str) -> None:
    good = json.dumps({"target": GOOD, "draft": GOOD})
    data = f"{good}\n{good}\n".encode() + line.encode("latin-1") + f"\n{good}\n".encode()
    with pytest.raises(SpecdistError) as error:
        read_one(write(tmp_path, "c.jsonl", data))
    assert "line 3" in error.value.place


REFUSED: dict[str, tuple[bytes, str]] = {
    "gguf": (b"GGUF\x03\x00\x00\x00" + bytes(50), "GGUF"),
    "arrow": (b"ARROW1\x00\x00" + bytes(50), "Arrow file"),
    "arrow stream": (b"\xff\xff\xff\xff" + bytes(50), "Arrow stream"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
    "bzip2": (b"BZh91AY" + bytes(50), "bzip2"),
    "xz": (b"\xfd7zXZ\x00" + bytes(50), "xz"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(50), "zstandard"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(50), "7z"),
    "tar": (bytes(257) + b"ustar" + bytes(300), "tar"),
    "pickle 4": (b"\x80\x04\x95" + bytes(50), "bare pickle"),
    "pickle 0": (b"(dp0\nS'a'\n", "bare pickle"),
    "pickle call": (b"cos\nsystem\n(S'x'\ntR.", "bare pickle"),
    "old torch": (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "version 1.6"),
    "prometheus": (b"# HELP vllm:x\n# TYPE vllm:x counter\n", "Prometheus"),
    "zip": (zipped({"a.txt": b"x"}), "neither .npz nor torch: a.txt"),
    "empty zip": (zipped({}), "empty zip"),
    "noise": (bytes(range(1, 200)), "no reader recognises"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, tmp_path: Path) -> None:
    data, message = REFUSED[case]
    path = write(tmp_path, "x.npy", data)
    with pytest.raises(NotACaptureError) as error:
        read_pair(path, path)
    assert message in error.value.message
    assert error.value.advice or error.value.expected or case == "prometheus"


def test_gzip_holds_json_only(tmp_path: Path) -> None:
    path = write(tmp_path, "x.gz", gzip.compress(npy(ROWS)))
    with pytest.raises(CaptureError, match="npy inside gzip"):
        read_pair(path, path)
    for data in (b"\x1f\x8b\x08nonsense", gzip.compress(b'{"target": [1]}' * 99)[:-12]):
        path = write(tmp_path, "x.gz", data)
        with pytest.raises(CaptureError, match="gzip data"):
            read_pair(path, path)


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sources", "jsonl_capture"):
        monkeypatch.setattr(f"specdist.readers.{module}.DOCUMENT_LIMIT", 1 << 16)
    path = write(tmp_path, "x.gz", gzip.compress(b'{"target": ' + b" " * (1 << 24)))
    with pytest.raises(Exception, match="larger than"):
        read_one(path)


def header(text: str, data: bytes = b"", length: int | None = None) -> bytes:
    size = struct.pack("<H", len(text) if length is None else length)
    return b"\x93NUMPY\x01\x00" + size + text.encode() + data


def fields(descr: str = "'<f4'", fortran: str = "False", shape: str = "(3, 4)") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
    return header(text, ROWS.tobytes())


NPY: dict[str, tuple[bytes, str, str]] = {
    "short": (b"\x93NUMPY\x01", "header ends too early", ""),
    "version": (b"\x93NUMPY\x09\x00" + bytes(99), "unknown .npy version 9.0", ""),
    "header length": (header("{'descr'", b"", 60000), "header ends too early", ""),
    "huge header": (
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(99), "header claims 4294967295 bytes", "65536",
    ),
    "no header": (header("hello"), "header is damaged", "descr"),
    "code": (header("__import__('os').system('true')"), "header is damaged", "descr"),
    "key twice": (
        header("{'descr': '<f4', 'descr': '<f4', 'shape': (3,)}"), "header is damaged", "descr",
    ),
    "missing key": (header("{'descr': '<f4', 'shape': (3, 4)}"), "header is damaged", "descr"),
    "structured": (fields("[('a', '<f4'), ('b', '<f4')]"), "structured array", "plain"),
    "object": (fields("'|O'"), "pickled Python objects", "never opened"),
    "float8": (fields("'<V1'"), "float8", ""),
    "invalid float8": (fields("'<f1'"), "float8", ""),
    "long double": (fields("'<f16'"), "cannot be read from numpy type", "float16"),
    "complex": (fields("'<c8'"), "cannot be read from numpy type", "float16"),
    "text": (fields("'<U3'"), "cannot be read from numpy type", "float16"),
    "integers": (fields("'<i4'"), "int32 numbers are no logits", "float16"),
    "bool": (header("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", bytes(4)),
             "bool numbers are no logits", "float16"),
    "flag": (fields(fortran="0"), "header is damaged", ""),
    "negative": (fields(shape="(-3, 4)"), "header is damaged", ""),
    "many axes": (fields(shape="(" + "1, " * 40 + ")"), "an array of 40 axes", ""),
    "huge": (fields(shape=f"({10**17}, {10**17})"), "ends too early: 48 bytes", "bytes for shape"),
    "truncated": (npy(ROWS)[:-1], "ends too early: 47 bytes of numbers", "48 bytes"),
    "longer": (npy(ROWS) + b"x", "1 bytes follow the array", "one array a file"),
    "two arrays": (npy(ROWS) + npy(ROWS), "bytes follow the array", "one array a file"),
    "scalar": (npy(np.float32(3)), "a single number", "rows"),
    "no tokens": (npy(np.zeros((3, 0), np.float32)), "the rows are empty", "one number a token"),
}  # fmt: skip


@pytest.mark.parametrize("case", NPY)
def test_npy(case: str, tmp_path: Path) -> None:
    data, message, expected = NPY[case]
    refuse(write(tmp_path, "x.npy", data), message, expected)


def refuse(
    path: str, message: str, expected: str, kind: type[SpecdistError] = CaptureError
) -> None:
    with pytest.raises((kind, RowError)) as error:
        read_pair(path, path)
    assert message in error.value.message
    assert error.value.place.startswith(path)
    assert expected in error.value.expected + error.value.advice


def entry(
    start: Any = 0, stop: Any = 48, shape: Any = (3, 4), dtype: Any = "F32"
) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, stop]}


DATA = ROWS.tobytes()
SAFETENSORS: dict[str, tuple[bytes, str, str]] = {
    "absurd length": (raw_safetensors(b'{"', length=2**64 - 1), "claims 1844674407", "16777216"),
    "long header": (raw_safetensors(b'{"a": 1}', length=900), "claims 900 bytes", "whole file"),
    "truncated header": (raw_safetensors({"a": entry()}, DATA)[:40], "the file has 40", "whole"),
    "bad json": (raw_safetensors(b'{"a": }', DATA), "not valid JSON", ""),
    "deep json": (raw_safetensors(b'{"a":' + b"[" * 99999, DATA), "nested too deeply", ""),
    "not utf-8": (raw_safetensors(b'{"\xff": 1}', DATA), "not UTF-8", "UTF-8"),
    "twice": (
        raw_safetensors(b'{"a": {}, "a": {}}', DATA), "'a' occurs twice", "keep one",
    ),
    "no entry": (raw_safetensors({"a": 5}, DATA), "description of this tensor", "dtype, shape"),
    "extra field": (raw_safetensors({"a": {**entry(), "x": 1}}, DATA), "description", "dtype"),
    "out of range": (raw_safetensors({"a": entry(0, 49)}, DATA), "out of range", "<= 48"),
    "reversed": (raw_safetensors({"a": entry(48, 0)}, DATA), "out of range", "<= 48"),
    "negative": (raw_safetensors({"a": entry(-4, 44)}, DATA), "out of range", "<= 48"),
    "fraction": (raw_safetensors({"a": entry(0.5, 48)}, DATA), "out of range", "<= 48"),
    "huge offset": (raw_safetensors({"a": entry(0, 10**40)}, DATA), "out of range", "<= 48"),
    "size": (raw_safetensors({"a": entry(shape=(3, 5))}, DATA), "48 bytes for shape [3, 5]", "60"),
    "huge shape": (
        raw_safetensors({"a": entry(shape=(2**62, 2**62))}, DATA), "48 bytes for shape", "bytes",
    ),
    "negative shape": (raw_safetensors({"a": entry(shape=(-3, -4))}, DATA), "damaged", ""),
    "overlap": (
        raw_safetensors({"a": entry(0, 32, (2, 4)), "b": entry(16, 48, (2, 4))}, DATA),
        "the bytes of b and a overlap", "byte 32",
    ),
    "same bytes": (raw_safetensors({"a": entry(), "b": entry()}, DATA), "overlap", "byte 48"),
    "hole": (
        raw_safetensors({"a": entry(0, 16, (1, 4)), "b": entry(32, 48, (1, 4))}, DATA),
        "16 bytes before this tensor belong to none", "",
    ),
    "surplus": (raw_safetensors({"a": entry()}, DATA + b"x"), "1 bytes after the last tensor", ""),
    "truncated": (raw_safetensors({"a": entry()}, DATA[:-1]), "out of range", "<= 47"),
    "metadata": (raw_safetensors({"__metadata__": {"a": 1}}), "metadata is damaged", "texts"),
    "float8": (raw_safetensors({"a": entry(dtype="F8_E5M2")}, DATA), "no floating point", "one"),
    "integers": (raw_safetensors({"a": entry(dtype="I32")}, DATA), "int32 numbers are no", "float"),
    "empty": (raw_safetensors({}), "no floating point tensor", "one tensor"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAFETENSORS)
def test_safetensors(case: str, tmp_path: Path) -> None:
    data, message, expected = SAFETENSORS[case]
    refuse(write(tmp_path, "x", data), message, expected)


def with_directory_size(data: bytes, size: int, name: bytes = b"x.npy") -> bytes:
    """Changes the unpacked size that the central directory claims for a member."""
    at = data.rindex(b"PK\x01\x02" + data[data.rindex(b"PK\x01\x02") + 4 :][:42] + name)
    return data[: at + 24] + struct.pack("<I", size) + data[at + 28 :]


def test_zip_members_that_lie(tmp_path: Path) -> None:
    honest = npz({"x": np.zeros((400, 400), np.float32)}, deflate=True)
    real = len(npy(np.zeros((400, 400), np.float32)))
    for claim, message in ((real - 4, "ends too early"), (real + 4, "follow the array")):
        path = write(tmp_path, "x", with_directory_size(honest, claim))
        refuse(path, message, "")
    # A header that fits the false claim: only unpacking shows it.
    small = npy(np.zeros((2, 4), np.float32))
    bomb = zipped({"x.npy": small + bytes(10_000_000)}, deflate=True)
    refuse(
        write(tmp_path, "x", with_directory_size(bomb, len(small))), "more than it claims", "160"
    )
    short = zipped({"x.npy": small[:-8]}, deflate=True)
    refuse(
        write(tmp_path, "x", with_directory_size(short, len(small))), "less than it claims", "160"
    )


def test_damaged_zip_files(tmp_path: Path) -> None:
    stored, packed = npz({"x": ROWS}), npz({"x": ROWS}, deflate=True)
    at = stored.index(b"\x93NUMPY")
    body = 30 + int.from_bytes(packed[26:28], "little") + int.from_bytes(packed[28:30], "little")
    cases = {
        "a flipped bit": (stored[: at + 140] + b"\x55" + stored[at + 141 :], "checksum of this"),
        "cut": (stored[:-30], "ends too early"),
        "packed noise": (packed[:body] + b"\xff" * 30 + packed[body + 30 :], "is damaged"),
    }
    for data, message in cases.values():
        refuse(write(tmp_path, "x", data), message, "")
    directory = packed.rindex(b"PK\x01\x02")
    wrong = packed[: directory + 16] + struct.pack("<I", 7) + packed[directory + 20 :]
    refuse(write(tmp_path, "x", wrong), "checksum of the zip member", "")
    encrypted = packed[: directory + 8] + b"\x01\x00" + packed[directory + 10 :]
    refuse(write(tmp_path, "x", encrypted), "encrypted", "")
    method = packed[: directory + 10] + b"\x0e\x00" + packed[directory + 12 :]
    refuse(write(tmp_path, "x", method), "compression method 14", "stored or deflated")


def test_members_that_share_bytes(tmp_path: Path) -> None:
    """Two directory entries over one local member: the way small zip bombs are built."""
    data = zipped({"a.npy": npy(ROWS), "b.npy": npy(ROWS)})
    entry_b = data.rindex(b"PK\x01\x02")
    moved = data[: entry_b + 42] + struct.pack("<I", 0) + data[entry_b + 46 :]
    refuse(write(tmp_path, "x", moved), "", "")


def tensor(**changes: Any) -> bytes:
    view = {"kind": "FloatStorage", "key": "0", "count": 12, "offset": 0}
    view |= {"shape": (3, 4), "strides": (4, 1)} | changes
    return TorchPickle().tensor(**view).done()


STORAGES = {"0": DATA}
TORCH: dict[str, tuple[bytes, str, str]] = {
    "beyond": (torch_file(tensor(shape=(4, 4)), STORAGES), "reaches number 15", "0 to 11"),
    "offset": (torch_file(tensor(offset=1), STORAGES), "reaches number 12", "0 to 11"),
    "stride": (torch_file(tensor(strides=(40, 1)), STORAGES), "reaches number 83", "0 to 11"),
    "negative": (torch_file(tensor(strides=(-4, 1)), STORAGES), "damaged", ""),
    "negative offset": (torch_file(tensor(offset=-1), STORAGES), "damaged", ""),
    "huge": (torch_file(tensor(shape=(2**61, 4)), STORAGES), "reaches number", ""),
    "expanded": (
        torch_file(tensor(shape=(10**9, 4), strides=(0, 1)), STORAGES), "over a storage", "stored",
    ),
    "axes": (torch_file(tensor(shape=(3,)), STORAGES), "damaged", ""),
    "count": (torch_file(tensor(count=13), STORAGES), "48 bytes claims 13 float32", "whole"),
    "missing": (torch_file(tensor(key="1"), STORAGES), "storage 1 is missing", ""),
    "escape": (torch_file(tensor(key="../0"), STORAGES), "storage ../0 is missing", ""),
    "quantised": (torch_file(tensor(kind="QInt8Storage"), STORAGES), "no floating point", ""),
    "integers": (torch_file(tensor(kind="IntStorage"), STORAGES), "int32 numbers are no", ""),
    "no tensor": (torch_file(b"\x80\x02}.", {}), "holds no tensor", "rows"),
    "cut pickle": (torch_file(tensor()[:-9], STORAGES), "pickle is damaged", "tensors"),
    "empty pickle": (torch_file(b"", STORAGES), "pickle is damaged", "tensors"),
    "no stack": (torch_file(b"\x80\x02.", STORAGES), "pickle is damaged", "tensors"),
    "numpy": (
        torch_file(b"\x80\x02cnumpy._core.multiarray\n_reconstruct\n.", {}),
        "numpy._core.multiarray._reconstruct", "np.savez",
    ),
    "getattr": (
        torch_file(b"\x80\x02c__builtin__\ngetattr\n.", {}), "__builtin__.getattr", "tensor",
    ),
    "torch code": (torch_file(b"\x80\x02ctorch.hub\nload\n.", {}), "torch.hub.load", "tensor"),
    "called storage": (
        torch_file(b"\x80\x02ctorch\nFloatStorage\n)R.", {}), "calls torch.FloatStorage", "",
    ),
    "stack global": (
        torch_file(b"\x80\x04\x8c\x02os\x8c\x06system\x93.", {}), "os.system", "is ever run",
    ),
    "instance": (torch_file(b"\x80\x02(ios\nsystem\n.", {}), "pickle uses INST", ""),
    "extension": (torch_file(b"\x80\x02\x82\x01.", {}), "pickle uses EXT1", ""),
    "new object": (torch_file(b"\x80\x02ccollections\nOrderedDict\n)\x81.", {}), "NEWOBJ", ""),
    "text id": (torch_file(b"\x80\x02Pstorage\n.", {}), "pickle uses PERSID", ""),
    "huge memo": (torch_file(b"\x80\x02}r\xff\xff\xff\x7f.", {}), "holds no tensor", ""),
    "two pickles": (zipped({"a/data.pkl": b".", "b/data.pkl": b"."}), "2 members named", "one"),
}  # fmt: skip


@pytest.mark.parametrize("case", TORCH)
def test_torch(case: str, tmp_path: Path) -> None:
    data, message, expected = TORCH[case]
    refuse(write(tmp_path, "x.pt", data), message, expected)


def test_shared_containers_do_not_explode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each list holds the one before many times: small to write, endless to walk."""
    pickle = TorchPickle().tensor("FloatStorage", "0", 12, 0, (3, 4), (4, 1)).add(b"q\x00")
    for level in range(15):
        pickle.add(
            b"](", b"h", bytes([level]), b"(1" + b"h" + bytes([level]) + b"h" + bytes([level])
        )
        pickle.add(b"e", b"q", bytes([level + 1]))
    path = write(tmp_path, "x", torch_file(pickle.done(), STORAGES))
    monkeypatch.setattr("specdist.readers.torch_zip.VISIT_LIMIT", 3000)
    refuse(path, "too many items", "")


def test_nothing_in_a_file_runs(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    evil = evil_pickle(marker)
    ragged = np.empty(1, object)
    head, _, _ = npy(ragged, allow_pickle=True).partition(b"\x80")
    for data in (
        evil,
        torch_file(evil, {}),
        torch_file(b"\x80\x02" + evil[2:], STORAGES),
        head + evil,
        zipped({"target.npy": head + evil, "draft.npy": head + evil}),
        zipped({"target.pkl": evil}),
        gzip.compress(evil),
    ):
        path = write(tmp_path, "x.pt", data)
        with pytest.raises(SpecdistError):
            read_pair(path, path)
        with pytest.raises(SpecdistError):
            read_one(path)
    assert not marker.exists()
    import os
    import pickle

    pickle.loads(evil)
    assert marker.exists(), "the planted pickle would have shown itself"
    os.remove(marker)


@pytest.mark.parametrize("code", ["<f2", "<f4", "<f8", ">f4", "bf16"])
@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Kind.LOGITS, np.nan, "NaN in a row"),
        (Kind.LOGITS, -np.nan, "NaN in a row"),
        (Kind.LOGITS, np.inf, "+inf in a row"),
        (Kind.LOGPROBS, np.nan, "NaN in a row"),
        (Kind.LOGPROBS, np.inf, "+inf in a row"),
        (Kind.LOGPROBS, 0.5, "a log-probability above 0, 0.5"),
        (Kind.PROBABILITIES, np.nan, "NaN in a row"),
        (Kind.PROBABILITIES, np.inf, "+inf in a row"),
        (Kind.PROBABILITIES, -np.inf, "-inf as a probability"),
        (Kind.PROBABILITIES, -0.25, "a negative probability, -0.25"),
    ],
)
def test_numbers_that_no_row_may_hold(
    tmp_path: Path, code: str, kind: Kind, value: float, message: str
) -> None:
    base = {Kind.LOGITS: 1.0, Kind.LOGPROBS: -1.5, Kind.PROBABILITIES: 0.25}[kind]
    array = np.full((3, 4), base)
    array[1, 2] = value
    numbers = None
    if code == "bf16":
        data = npy((array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
        numbers = NumberFormat.BFLOAT16
    else:
        data = npy(array.astype(code))
    path = write(tmp_path, "x", data)
    with pytest.raises(RowError) as error:
        read_pair(path, path, kind=kind, numbers=numbers)
    assert message in error.value.message
    assert error.value.place == f"{path}, array[1, 2]"
    assert error.value.expected
    array[1, 2] = {Kind.LOGITS: -np.inf, Kind.LOGPROBS: -np.inf, Kind.PROBABILITIES: -0.0}[kind]
    array[0, 0] = 0.0
    if code != "bf16":
        fine = write(tmp_path, "y", npy(array.astype(code)))
        assert len(read_pair(fine, fine, kind=kind)[1]) == 3


def test_rounding_may_lift_a_logprob(tmp_path: Path) -> None:
    array = np.full((2, 3), -1.0, np.float32)
    array[0, 0] = 1e-6
    path = write(tmp_path, "x", npy(array))
    assert len(read_pair(path, path, kind=Kind.LOGPROBS)[1]) == 2
    array[0, 0] = 1e-5
    path = write(tmp_path, "x", npy(array))
    with pytest.raises(RowError, match="above 0"):
        read_pair(path, path, kind=Kind.LOGPROBS)


def test_a_bad_row_far_into_a_file_raises_from_the_steps(tmp_path: Path) -> None:
    array = np.tile(ROWS, (50, 1))
    array[100, 3] = np.nan
    path = write(tmp_path, "x", safetensors({"target": ("F32", array), "draft": ("F32", array)}))
    from specdist.model.capture import Capture
    from specdist.model.settings import ReadingSettings
    from specdist.readers import open_captures

    (found,) = open_captures([path], ReadingSettings())
    assert isinstance(found, Capture)
    with pytest.raises(RowError, match="NaN") as error:
        list(found.steps())
    assert error.value.place == f"{path}, target[100, 3]"


def test_a_file_that_shrinks_meanwhile(tmp_path: Path) -> None:
    from specdist.model.settings import ReadingSettings
    from specdist.readers import open_pair

    path = write(tmp_path, "x", npy(ROWS))
    capture = open_pair(path, path, ReadingSettings())
    write(tmp_path, "x", npy(ROWS)[:-20])
    with pytest.raises(CaptureError, match="the file ends at byte"):
        list(capture.steps())
