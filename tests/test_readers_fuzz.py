"""Whatever the bytes are: a capture, or an error that is the user's to mend. Nothing else.

Random bytes, cut files, changed bytes, changed header fields and spliced files, for every
format. A file may also never run code, take long, or leave a file open (warnings are errors).
"""

from __future__ import annotations

import gzip
import json
import re
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specdist.errors import SpecdistError
from specdist.model.capture import Capture, Unreadable
from specdist.model.row import Kind, NumberFormat
from specdist.model.settings import ReadingSettings
from specdist.readers import describe, load_draft_map, load_vocab, open_captures, open_pair
from tests.reader_files import (
    TorchPickle,
    evil_pickle,
    npy,
    npz,
    safetensors,
    torch_file,
    write,
)

ROWS = (np.arange(20, dtype=np.float32).reshape(4, 5) % 7) - 3
DOCUMENT = json.dumps(
    {
        "schema": "specdist.capture/1", "numbers": "decimal", "kind": "probabilities",
        "vocab": ["A", "B", "\u00e9"], "settings": {"temperature": "4/5", "draft": {"top_p": 0.9}},
        "steps": [
            {"id": "0", "context": [1, 2], "draft_tokens": [0, 1], "positions": [
                {"target": ["1/2", 0.3, "1/5"], "draft": {"one_hot": 0},
                 "roles": {"drafted_from": "raw"}},
                {"target": {"0": 1}, "draft": {"B": "1/2", "2": 0.5}}], "bonus": [1, 0, 0]},
            {"target": [1e-3, 0.999, 0], "draft": [0, 0, 1]},
        ],
    }
)  # fmt: skip


MODELS = json.dumps(
    {
        "vocab": ["A", "B", "C"], "draft_vocab": ["x", "C"], "draft_map": {"offsets": [0, 1]},
        "settings": {"uniform": "2^24", "unnormalised": True, "dropped": "redraw-2"},
        "steps": [
            {"positions": [
                {"target": ["1/2", 0.3, "1/5"], "draft": {"x": 1}, "keep": [1, "1/2", 0]},
                {"target": [1, 0, 0], "draft": [0.5, 0.5], "draft_map": [0, -1]}]},
            {"target": [0, 0, 1], "draft": [1, 0], "accept": {"C": 1}, "recovery": {"one_hot": 2},
             "draft_map": {"ids": [2, 0]}},
        ],
    }
)  # fmt: skip


def torch_sample() -> bytes:
    pickle = TorchPickle().add(b"}(")
    for name in ("target", "draft"):
        pickle.text(name).tensor("FloatStorage", name, 20, 0, (4, 5), (5, 1))
    pickle.text("steps").add(b"(")
    for step in range(2):
        pickle.tensor("FloatStorage", "target", 20, 5 * step, (1, 5), (10, 1))
    data = {"target": ROWS.tobytes(), "draft": ROWS[::-1].tobytes()}
    return torch_file(pickle.add(b"tu").done(), data)


BOTH = {"target": ROWS, "draft": ROWS[::-1], "input_ids": np.arange(4), "draft_len": np.array([3])}
TENSORS = {
    "target": ("F32", ROWS), "draft": ("F32", ROWS[::-1]), "input_ids": ("I64", np.arange(4)),
}  # fmt: skip
SAMPLES: dict[str, bytes] = {
    "json": DOCUMENT.encode(),
    "json models": MODELS.encode(),
    "map": b"[0, 2, 5]",
    "map lines": b"0\n2\n-1\n5\n",
    "map npy": npy(np.array([[0, 2, 5]])),
    "jsonl": b'{"schema": "specdist.capture/1"}\n' + b'{"target": [1, 0], "draft": [0, 1]}\n' * 3,
    "gz": gzip.compress(DOCUMENT.encode(), mtime=0),
    "npy": npy(ROWS),
    "npy fortran": npy(np.asfortranarray(ROWS.astype(">f8"))),
    "npy bfloat16": npy((ROWS.view(np.uint32) >> 16).astype(np.uint16), "<V2"),
    "npz": npz(BOTH),
    "npz deflated": npz(BOTH, deflate=True),
    "safetensors": safetensors(TENSORS, {"temperature": "0.8"}),
    "torch": torch_sample(),
}
NAMES = sorted(SAMPLES)


def survives(path: str) -> None:
    """Reads the file in every way; only SpecdistError may come out."""
    readings = (
        ReadingSettings(),
        ReadingSettings(kind=Kind.PROBABILITIES, axes="btv", draft_lengths="3"),
        ReadingSettings(kind=Kind.LOGITS, numbers=NumberFormat.BFLOAT16, axes="vt"),
    )
    for reading in readings:
        for item in open_captures([path], reading):
            assert isinstance(item, Capture | Unreadable)
            if isinstance(item, Capture):
                exhaust(item)
        for names in ((path, path), (f"{path}::target", f"{path}::draft")):
            try:
                capture = open_pair(*names, reading)
            except SpecdistError as error:
                has_words(error)
            else:
                exhaust(capture)
    others = [lambda: describe(path, readings[0]), lambda: load_vocab(path)]
    others += [partial(load_draft_map, path, form) for form in (None, "ids", "offsets")]
    for other in (*others, lambda: load_draft_map(f"{path}::target")):
        try:
            other()
        except SpecdistError as error:
            has_words(error)


def has_words(error: SpecdistError) -> None:
    assert 0 < len(error.message) < 500


def exhaust(capture: Capture) -> None:
    try:
        for step in islice(capture.steps(), 200):
            assert step.positions
    except SpecdistError as error:
        has_words(error)


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_are_valid(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, "x", SAMPLES[name])
    if name.startswith("npy"):
        assert len(list(open_pair(path, path, ReadingSettings()).steps())) == 4
        return
    if name.startswith("map"):
        assert len(load_draft_map(path)) in (3, 4)
        return
    if name.startswith("npz"):  # three draft tokens, four target rows would be needed
        path = write(tmp_path, "x", npz({**BOTH, "draft": ROWS[:3]}, name != "npz"))
    (item,) = open_captures([path], ReadingSettings())
    assert isinstance(item, Capture), item
    assert list(item.steps())


@given(st.binary(max_size=300))
@example(b"\x93NUMPY\x01\x00")
@example(b"PK\x03\x04")
@example(b"PK\x05\x06" + bytes(18))
@example(b"\x1f\x8b")
@example(b"{")
@example(b'\x00\x00\x00\x00\x00\x00\x00\x00{"')
def test_random_bytes(tmp_path: Path, data: bytes) -> None:
    survives(write(tmp_path, "x", data))


@given(st.sampled_from(NAMES), st.binary(max_size=60))
def test_a_true_start_and_a_random_end(tmp_path: Path, name: str, data: bytes) -> None:
    start = SAMPLES[name][: 4 + len(data) % 90]
    survives(write(tmp_path, "x", start + data))


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_cut(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    step = max(1, len(sample) // 60)
    for length in {*range(0, len(sample), step), *range(len(sample) - 3, len(sample))}:
        survives(write(tmp_path, "x", sample[:length]))


@given(st.data())
def test_changed_bytes(tmp_path: Path, data: st.DataObject) -> None:
    sample = bytearray(SAMPLES[data.draw(st.sampled_from(NAMES))])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(sample) - 1))
        sample[at] = data.draw(
            st.sampled_from([0, 1, 0x7F, 0x80, 0xFF, sample[at] ^ 1, 0x22, 0x5B])
        )
    survives(write(tmp_path, "x", bytes(sample)))


@given(st.data())
def test_changed_numbers_in_headers(tmp_path: Path, data: st.DataObject) -> None:
    """Decimal numbers of JSON and .npy headers, and little-endian ones of zip directories."""
    sample = SAMPLES[data.draw(st.sampled_from(NAMES))]
    spots = [match.span() for match in re.finditer(rb"[0-9]+", sample[:2000])]
    values = [b"0", b"-1", b"1e9", b"99999999999999999999", b"4294967296", b"null", b'"x"', b"[]"]
    start, stop = data.draw(st.sampled_from(spots or [(0, 1)]))
    survives(
        write(tmp_path, "x", sample[:start] + data.draw(st.sampled_from(values)) + sample[stop:])
    )
    zipped = [match.start() for match in re.finditer(rb"PK\x01\x02|PK\x05\x06|PK\x03\x04", sample)]
    if zipped:
        at = data.draw(st.sampled_from(zipped)) + data.draw(st.integers(4, 45))
        field = data.draw(
            st.sampled_from([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x08\0\0\0", b"\x7f"])
        )
        survives(write(tmp_path, "x", sample[:at] + field + sample[at + len(field) :]))


@given(st.data())
def test_spliced_files(tmp_path: Path, data: st.DataObject) -> None:
    one = SAMPLES[data.draw(st.sampled_from(NAMES))]
    two = SAMPLES[data.draw(st.sampled_from(NAMES))]
    cut, other = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(two)))
    survives(write(tmp_path, "x", one[:cut] + two[other:]))


OPCODES = [
    b"}", b"]", b")", b"(", b"t", b"l", b"d", b"e", b"a", b"s", b"u", b"0", b"1", b"2", b"N", b"R",
    b"Q", b"b", b"\x81", b"\x85", b"\x86", b"\x87", b"\x88", b"\x89", b"\x93", b"\x94", b"q\x00",
    b"h\x00", b"K\x05", b"X\x01\x00\x00\x00a", b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ccollections\nOrderedDict\n", b"ctorch\nFloatStorage\n", b"cos\nsystem\n", b"ctorch\nSize\n",
    b"ios\nsystem\n", b"\x82\x01", b"U\x07storage", b"I99\n", b"G\x7f\xf8" + bytes(6), b"\x8a\x00",
]  # fmt: skip


@given(st.lists(st.sampled_from(OPCODES), max_size=25))
def test_random_pickle_programs(tmp_path: Path, program: list[bytes]) -> None:
    data = torch_file(b"\x80\x02" + b"".join(program) + b".", {"0": ROWS.tobytes()})
    survives(write(tmp_path, "x", data))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["1/2", "-inf", "1/0", "1e400", "one_hot", "raw", "specdist.capture/1"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.text(max_size=5)
        | st.sampled_from([
            "schema", "steps", "target", "draft", "positions", "roles", "settings", "vocab", "kind",
            "numbers", "stage", "context", "draft_tokens", "draft_token", "bonus", "id", "one_hot",
            "prompt_length", "vocab_size", "0", "1", "drafted_from", "top_p", "temperature",
        ]),
        inner, max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=max(20, settings().max_examples // 3))
@given(JSON_VALUES, st.sampled_from(["target", "steps", "positions", "draft", "settings", "vocab"]))
def test_any_json(tmp_path: Path, value: object, key: str) -> None:
    base = {"target": [1, 0], "draft": [0, 1]}
    for document in (value, {**base, key: value}, {"steps": [{**base, key: value}]}):
        survives(write(tmp_path, "x", json.dumps(document)))
        survives(write(tmp_path, "x", f"{json.dumps(base)}\n{json.dumps(document)}\n"))


@given(st.integers(0, 400), st.sampled_from(["torch", "npz", "npy"]))
def test_a_planted_pickle_never_runs(tmp_path: Path, cut: int, name: str) -> None:
    marker = tmp_path / "ran"
    evil = evil_pickle(marker)
    sample = SAMPLES[name]
    survives(write(tmp_path, "x", sample[:cut] + evil + sample[cut:]))
    survives(write(tmp_path, "x", torch_file(evil, {"0": sample[:cut]})))
    assert not marker.exists()
