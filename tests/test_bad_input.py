"""Bad input: exit 2, one message that names file and place, empty stdout, no traceback."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli import Result, run

GOOD = ["1/2", "1/4", "1/4"]


def refused(result: Result, *words: str) -> None:
    """Exit 2 with a message that holds the words."""
    assert result.code == 2, result.stdout + result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.count("error[") == 1, result.stderr
    flat = " ".join(result.stderr.split())
    for word in words:
        assert word in flat, f"{word!r} is not in {result.stderr!r}"


def capture(**members: Any) -> str:
    return json.dumps({"kind": "probabilities", "target": GOOD, "draft": GOOD, **members})


DOCUMENTS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "an empty file": ("", ("capture.json",)),
    "only white space": (" \n\n", ("capture.json",)),
    "a truncated document": (capture()[:-5], ("capture.json",)),
    "text of another kind": ("dear sir or madam", ("capture.json",)),
    "not UTF-8": (capture().encode("utf-16"), ("capture.json",)),
    "a stray byte": (capture(vocab=["A", "B", "C"]).encode().replace(b"A", b"\xff"), ()),
    "a NaN literal": ('{"kind": "logits", "target": [1, NaN, 2], "draft": [1, 2, 3]}', ("NaN",)),
    "an Infinity literal": (
        '{"kind": "logits", "target": [1, Infinity, 2], "draft": [1, 2, 3]}',
        ("Infinity",),
    ),
    "a duplicate key": ('{"target": ["1", "0", "0"], "target": ["1", "0", "0"]}', ("target",)),
    "an unknown key": (capture(drafts=GOOD), ("drafts", "draft")),
    "an unknown setting": (capture(settings={"top_pp": "0.9"}), ("top_pp", "top_p")),
    "an unknown role": (capture(roles={"drafted": "raw"}), ("drafted", "drafted_from")),
    "+inf among logits": (
        capture(kind="logits", target=["1", "inf", "0"], draft=[1, 2, 3]),
        ("target",),
    ),
    "nan among logits": (
        capture(kind="logits", target=["1", "nan", "0"], draft=[1, 2, 3]),
        ("target",),
    ),
    "a row of -inf": (
        capture(kind="logits", target=["-inf", "-inf", "-inf"], draft=[1, 2, 3]),
        ("target",),
    ),
    "a negative probability": (capture(target=["3/4", "1/2", "-1/4"]), ("target", "-1/4")),
    "a sum above one": (capture(target=["1/2", "1/3", "1/5"]), ("target", "1/30")),
    "a sum below one": (capture(draft=["1/2", "1/3", "1/7"]), ("draft", "1/42")),
    "a row of zeros": (capture(draft=["0", "0", "0"]), ("draft",)),
    "a log-probability above 0": (
        capture(kind="logprobs", target=["0.5", "-1", "-2"], draft=["0.5", "-1", "-2"]),
        ("target",),
    ),
    "target and draft of other lengths": (capture(draft=["1/2", "1/2"]), ("3", "2")),
    "positions of other lengths": (
        json.dumps(
            {
                "steps": [
                    {
                        "positions": [
                            {"target": GOOD, "draft": GOOD},
                            {"target": ["1/2", "1/2"], "draft": ["1/2", "1/2"]},
                        ]
                    }
                ]
            }
        ),
        ("3", "2"),
    ),
    "more texts than tokens": (capture(vocab=["A", "B", "C", "D"]), ("vocab",)),
    "a number that is none": (capture(target=["1/2", "1/4", "a quarter"]), ("a quarter",)),
    "a division by zero": (capture(target=["1/2", "1/0", "1/2"]), ("1/0",)),
    "an object for a number": (capture(target=["1/2", {}, "1/2"]), ("target",)),
    "an empty row": (capture(target=[], draft=[]), ("target",)),
    "no draft": ('{"target": ["1/2", "1/2", "0"]}', ("draft",)),
    "another schema": (capture(schema="specdist.capture/9"), ("specdist.capture/9",)),
    "a token outside the row": (capture(target={"0": "1/2", "7": "1/2"}), ("target",)),
    "a deep nest": ("[" * 5000 + "]" * 5000, ()),
    "an endless number": (capture(target=["1/2", "1e999999999", "1/2"]), ("target",)),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_json(case: str, tmp_path: Path) -> None:
    text, words = DOCUMENTS[case]
    path = tmp_path / "capture.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(run("check", path, "--format", "json"), "capture.json", *words)


def test_dumped_probabilities_get_a_hint(tmp_path: Path) -> None:
    """Rows that were float32 once do not sum to one as decimals; the message says what to try."""
    row = np.random.default_rng(0).dirichlet(np.ones(50)).astype(np.float32)
    assert sum(map(float, row)) != 1
    path = tmp_path / "capture.json"
    path.write_text(json.dumps({"target": row.tolist(), "draft": row.tolist()}), encoding="utf-8")
    refused(run("check", path), "--numbers float32")
    assert run("check", path, "--numbers", "float32").code == 0


def test_the_named_repair_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "capture.json"
    path.write_text(capture(target=["1/2", "1/3", "1/5"]), encoding="utf-8")
    result = run("check", path, "--normalise", "--format", "json")
    assert result.code == 0
    report = result.json()
    idents = [finding["ident"] for step in report["steps"] for finding in step["findings"]]
    assert "row-not-normalised" in idents
    reference = [
        token["reference"]["exact"] for token in report["steps"][0]["positions"][0]["tokens"]
    ]
    assert reference == ["15/31", "10/31", "6/31"]


def npy(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def safetensors(
    header: dict[str, Any] | bytes, data: bytes = b"", size: int | None = None
) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def entry(start: int, stop: int, shape: tuple[int, ...] = (1, 3)) -> dict[str, Any]:
    return {"dtype": "F32", "shape": list(shape), "data_offsets": [start, stop]}


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


class Touch:
    """A pickle that would run code when it is loaded."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self.path, "w"))


def lying_zip() -> bytes:
    """A member whose directory entry claims 10 bytes and which unpacks to a million."""
    data = bytearray(zipped({"target.npy": npy(np.zeros((1, 250_000), np.float32))}))
    central = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, central + 24, 10)
    struct.pack_into("<I", data, 22, 10)
    return bytes(data)


LOGITS = np.array([[1, 2, 3], [0, 1, 0]], np.float32)
DUMPS: dict[str, Callable[[str], bytes]] = {
    "an empty file": lambda folder: b"",
    "a wrong magic": lambda folder: b"\x93NUMPX" + npy(LOGITS)[6:],
    "a truncated header": lambda folder: npy(LOGITS)[:20],
    "truncated data": lambda folder: npy(LOGITS)[:-3],
    "NaN": lambda folder: npy(np.array([[1, np.nan, 2]], np.float32)),
    "+inf": lambda folder: npy(np.array([[1, np.inf, 2]], np.float16)),
    "a row of -inf": lambda folder: npy(np.full((1, 3), -np.inf, np.float64)),
    "integers": lambda folder: npy(np.array([[1, 2, 3]], np.int64)),
    "complex numbers": lambda folder: npy(np.zeros((1, 3), np.complex64)),
    "no rows": lambda folder: npy(np.zeros((0, 3), np.float32)),
    "a scalar": lambda folder: npy(np.float32(1)),
    "an object array": lambda folder: npy(
        np.array([Touch(folder + "/ran")], dtype=object), allow_pickle=True
    ),
    "a bare pickle": lambda folder: pickle.dumps(Touch(folder + "/ran")),
    "a huge shape": lambda folder: npy(LOGITS).replace(b"(2, 3)", b"(2, 9)"),
    "an absurd header": lambda folder: safetensors(b"{}", size=2**60),
    "a header that is no JSON": lambda folder: safetensors(b'{"target": nonsense'),
    "overlapping tensors": lambda folder: safetensors(
        {"target": entry(0, 12), "draft": entry(8, 20)}, bytes(20)
    ),
    "offsets outside": lambda folder: safetensors({"target": entry(0, 4096, (1, 1024))}, bytes(12)),
    "a length that is not the shape's": lambda folder: safetensors(
        {"target": entry(0, 8)}, bytes(8)
    ),
    "a zip that is none": lambda folder: b"PK\x03\x04" + bytes(60),
    "a zip of nothing": lambda folder: zipped({"readme.txt": b"hello"}),
    "a member that unpacks to more": lambda folder: lying_zip(),
    "gzip of nonsense": lambda folder: gzip.compress(b"\x00\x01\x02"),
    "a broken gzip": lambda folder: gzip.compress(capture().encode())[:-9],
    "another archive": lambda folder: b"7z\xbc\xaf\x27\x1c" + bytes(40),
    "HDF5": lambda folder: b"\x89HDF\r\n\x1a\n" + bytes(40),
    "parquet": lambda folder: b"PAR1" + bytes(40) + b"PAR1",
}


@pytest.mark.parametrize("case", DUMPS)
def test_dumps(case: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.bin"
    path.write_bytes(DUMPS[case](str(tmp_path)))
    good = tmp_path / "good.npy"
    good.write_bytes(npy(LOGITS))
    refused(run("check", "--target", path, "--draft", good, "--kind", "logits"), "rows.bin")
    refused(run("check", path, "--kind", "logits"), "rows.bin")
    assert not (tmp_path / "ran").exists()


def pair(folder: Path, target: np.ndarray, draft: np.ndarray) -> tuple[str, ...]:
    np.save(folder / "target.npy", target)
    np.save(folder / "draft.npy", draft)
    return ("--target", str(folder / "target.npy"), "--draft", str(folder / "draft.npy"))


PAIRS: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]] = {
    "row counts that differ": ((4, 9), (5, 9), ()),
    "vocabularies that differ": ((4, 9), (4, 8), ()),
    "blocks that do not add up": ((5, 9), (4, 9), ("--draft-lengths", "2,1")),
    "blocks without bonus rows": ((4, 9), (4, 9), ("--draft-lengths", "2,2")),
    "three long axes": ((2, 3, 9), (2, 3, 9), ()),
    "another vocabulary size": ((4, 9), (4, 9), ("--vocab-size", "10")),
}


@pytest.mark.parametrize("case", PAIRS)
def test_pairs(case: str, tmp_path: Path) -> None:
    target, draft, options = PAIRS[case]
    sides = pair(tmp_path, np.zeros(target, np.float32), np.zeros(draft, np.float32))
    refused(run("check", *sides, "--kind", "logits", *options), ".npy")


def test_probabilities_of_a_dump(tmp_path: Path) -> None:
    """Within the rounding of the format they are weights; beyond it they are an error."""
    row = np.random.default_rng(1).dirichlet(np.ones(500), 2).astype(np.float32)
    sides = pair(tmp_path, row, row)
    assert run("check", *sides, "--kind", "probabilities").code == 0
    row[0, 0] += np.float32(0.01)
    refused(run("check", *pair(tmp_path, row, row), "--kind", "probabilities"), "target")


def test_log_probabilities_above_0(tmp_path: Path) -> None:
    row = np.log(np.full((1, 4), 0.25, np.float32))
    assert run("check", *pair(tmp_path, row, row), "--kind", "logprobs").code == 0
    row[0, 0] = 0.01
    refused(run("check", *pair(tmp_path, row, row), "--kind", "logprobs"), "target")


OPTIONS = {
    "a negative temperature": ("-T", "-1"),
    "top-p 0": ("--top-p", "0"),
    "top-p above 1": ("--top-p", "1.01"),
    "top-k 0": ("--top-k", "0"),
    "top-k of a half": ("--top-k", "1/2"),
    "a temperature that is no number": ("-T", "warm"),
    "an unknown step": ("--recipe", "top_q:1"),
    "an empty recipe": ("--recipe", ""),
    "an empty top-p, as of an unset variable": ("--top-p", ""),
    "an empty tolerance": ("--max-tv", ""),
    "an empty rule": ("--rule", ""),
    "an unknown role": ("--role", "draft=raw"),
    "a role without a recipe": ("--role", "drafted_from"),
    "one-hot for a target": ("--role", "reference=one-hot"),
    "an unknown rule": ("--rule", "tokens"),
    "an unknown ident": ("--allow", "near-cutt"),
    "a floor above 1": ("--min-acceptance", "2"),
    "a negative tolerance": ("--max-tv", "-1/2"),
    "workers 0": ("--workers", "0"),
    "an unknown format": ("--format", "xml"),
    "an unknown kind": ("--kind", "logit"),
    "an unknown option": ("--top_p", "0.9"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(case: str) -> None:
    result = run("check", "sample_inputs/three_tokens.json", *OPTIONS[case])
    assert result.code == 2, result.stdout
    assert result.stdout == ""
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_nothing_named() -> None:
    result = run("check")
    assert result.code == 2
    assert result.stdout == ""


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    refused(run("check", tmp_path / "none.json"), "none.json")


def test_a_folder_of_other_things(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("buy milk", encoding="utf-8")
    result = run("check", tmp_path)
    assert result.code == 2
    assert result.stdout == ""
    assert "notes.txt" in result.stderr


def test_contexts_that_disagree(tmp_path: Path) -> None:
    step = {"context": [1, 2], "positions": [{"target": GOOD, "draft": GOOD}]}
    for name, context in {"target": [1, 2, 3], "draft": [1, 2, 4]}.items():
        document = {"steps": [{**step, "context": context}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    result = run("check", "--target", tmp_path / "target.json", "--draft", tmp_path / "draft.json")
    assert result.code == 2
    assert "context-mismatch" in result.stderr
