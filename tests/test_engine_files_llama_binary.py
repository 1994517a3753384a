"""llama-results (GGUF) and llama-debug: facts of real files, orders, damage, what is no row."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, NotACaptureError, RowError, SettingsError, SpecdistError
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile
from specdist.readers.engine_files.llama_debug import debug_file, open_llama_debug
from specdist.readers.engine_files.llama_results import open_llama_results
from specdist.readers.sources import local_file
from tests.reader_files import write

FIELD = Path(__file__).parent / "data" / "field" / "llamacpp"
RESULTS = FIELD / "llama_results_V64.gguf"
RESULT_TOKENS = (1, 3, 4, 5, 3, 6, 7, 3, 8, 9, 3, 10)
DEBUG = FIELD / "llamacpp-target257.bin"
PROMPT = (1, 3, 4, 5, 3, 6, 7, 3, 8, 9)


def results(path: str | Path, **reading: Any) -> EngineFile:
    return open_llama_results(local_file(str(path)), ReadingSettings(**reading))


def debug(path: str | Path, **reading: Any) -> EngineFile:
    return open_llama_debug(local_file(str(path)), ReadingSettings(**reading))


def arrays(file: EngineFile) -> np.ndarray:
    found = []
    for row in file.rows():
        assert isinstance(row.values, FloatValues)
        assert (row.kind, row.stage, row.numbers) == (Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT32)
        found.append(row.values.array)
    return np.array(found)


Tensors = dict[str, tuple[tuple[int, ...], int, bytes]]


def gguf(
    tensors: Tensors,
    keys: dict[str, tuple[int, bytes]] | None = None,
    order: str = "<",
    version: int = 3,
    alignment: int = 32,
) -> bytes:
    """A GGUF file: per tensor its sizes, ggml type and bytes; per key its type and value."""

    def text(value: str) -> bytes:
        return struct.pack(f"{order}Q", len(value)) + value.encode()

    keys = dict(keys or {})
    head = b"GGUF" + struct.pack(f"{order}I2Q", version, len(tensors), len(keys))
    for key, (kind, value) in keys.items():
        head += text(key) + struct.pack(f"{order}I", kind) + value
    data = b""
    for name, (sizes, kind, content) in tensors.items():
        head += text(name) + struct.pack(f"{order}I{len(sizes)}Q", len(sizes), *sizes)
        head += struct.pack(f"{order}IQ", kind, len(data))
        data += content + bytes(-len(content) % alignment)
    return head + bytes(-len(head) % alignment) + data


def result_file(
    tokens: list[int], logits: np.ndarray, sizes: tuple[int, int] | None = None, **options: Any
) -> bytes:
    order = options.get("order", "<")
    sizes = sizes or (logits.shape[0], logits.shape[1])
    return gguf(
        {
            "tokens": ((len(tokens),), 26, np.array(tokens, f"{order}i4").tobytes()),
            "logits": (sizes, 0, logits.astype(f"{order}f4").tobytes()),
        },
        **options,
    )


LOGITS = np.random.default_rng(8).normal(size=(4, 7)).astype(np.float32)


def test_the_facts_of_a_real_results_file() -> None:
    file = results(RESULTS)
    found = arrays(file)
    assert found.shape == (12, 64)
    assert found[0, :4].tolist() == [
        -1.0228655338287354, -1.8032727241516113, -1.8846908807754517, 0.03310123085975647,
    ]  # fmt: skip
    assert found.argmax(axis=1).tolist() == [55, 42, 35, 10, 55, 5, 19, 30, 63, 29, 30, 55]
    assert file.tokens == {0: RESULT_TOKENS}
    assert (file.count, file.vocab_size, file.stage, file.assumed) == (12, 64, Stage.RAW, False)
    assert dict(file.shown)["declared sizes"].startswith("[12, 64], first axis fastest; not")
    assert dict(file.shown)["model"] == "target64.gguf"
    rows = list(file.rows())
    # Row i is the law of token i + 1, which the prompt holds for all rows but the last.
    assert [row.index for row in rows] == list(range(1, 13))
    assert [row.token for row in rows] == [*RESULT_TOKENS[1:], None]


def test_the_rows_of_a_real_file_one_number_after_the_other() -> None:
    data = RESULTS.read_bytes()
    flat = struct.unpack("<768f", data[-3072:])
    assert [list(flat[64 * i : 64 * i + 64]) for i in range(12)] == arrays(
        results(RESULTS)
    ).tolist()


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [2, 3])
def test_orders_versions_and_alignments(order: str, version: int, tmp_path: Path) -> None:
    for alignment in (8, 32, 64):
        keys = {"general.alignment": (4, struct.pack(f"{order}I", alignment))}
        data = result_file(
            [1, 2, 3, 4], LOGITS, order=order, version=version, alignment=alignment, keys=keys
        )
        file = results(write(tmp_path, "r.gguf", data))
        assert np.array_equal(arrays(file), LOGITS)
        assert file.tokens == {0: (1, 2, 3, 4)}


def test_sizes_declared_as_gguf_means_them(tmp_path: Path) -> None:
    """A writer that declares [vocabulary, rows] means the same numbers."""
    file = results(write(tmp_path, "r", result_file([1, 2, 3, 4], LOGITS, (7, 4))))
    assert np.array_equal(arrays(file), LOGITS)
    assert "not followed" not in dict(file.shown)["declared sizes"]
    square = LOGITS[:, :4]
    file = results(write(tmp_path, "s", result_file([1, 2, 3, 4], square)))
    assert np.array_equal(arrays(file), square)


def test_decode_steps_are_left_out_and_said(tmp_path: Path) -> None:
    many = np.random.default_rng(9).normal(size=(2 * 2 + 3 + 1, 5)).astype(np.float32)
    keys = {"decode_steps": (4, struct.pack("<I", 3))}
    file = results(write(tmp_path, "r", result_file([6, 7], many, keys=keys)))
    assert np.array_equal(arrays(file), many[:2])
    assert file.count == 2
    assert "6 rows of 3 decode steps" in dict(file.shown)["left out"]


def _string(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


NO_RESULTS: dict[str, tuple[bytes, str]] = {
    "a model": (
        gguf({}, {"general.architecture": (8, _string("llama")), "x": (99, b"")}),
        "a model (general.architecture llama)",
    ),
    "an importance matrix": (
        gguf({}, {"general.type": (8, _string("imatrix"))}),
        "general.type imatrix",
    ),
    "other tensors": (gguf({"a.weight": ((2, 2), 0, bytes(16))}), "holds no tokens and logits"),
    "nothing": (gguf({}), "holds no tokens and logits: none"),
}


@pytest.mark.parametrize("case", NO_RESULTS)
def test_other_gguf_files_are_no_capture(case: str, tmp_path: Path) -> None:
    data, message = NO_RESULTS[case]
    with pytest.raises(NotACaptureError) as error:
        results(write(tmp_path, "m.gguf", data))
    assert message in error.value.message
    assert "llama-perplexity --kl-divergence-base" in error.value.advice


def _tokens(kind: int, count: int = 4) -> tuple[tuple[int, ...], int, bytes]:
    return (count,), kind, np.arange(count, dtype="<i4").tobytes()


DAMAGED: dict[str, tuple[bytes, str]] = {
    "version 1": (gguf({}, version=1), "GGUF version 1"),
    "no header": (b"GGUF\x03\x00\x00\x00", "header ends too early"),
    "a million keys": (b"GGUF" + struct.pack("<I2Q", 3, 0, 2**40), "claims 1099511627776 keys"),
    "an unknown value": (gguf({}, {"a": (99, b"")}), "value type 99"),
    "an endless text": (gguf({}, {"a": (8, struct.pack("<Q", 2**60))}), "bytes of a text"),
    "an endless array": (gguf({}, {"a": (9, struct.pack("<IQ", 4, 2**50))}), "items of an array"),
    "another alignment": (
        gguf({}, {"general.alignment": (4, struct.pack("<I", 0))}),
        "an alignment of 0",
    ),
    "half tokens": (
        gguf({"tokens": _tokens(1), "logits": ((4, 7), 0, LOGITS.tobytes())}),
        "ggml type 1",
    ),
    "quantised logits": (
        gguf({"tokens": _tokens(26), "logits": ((4, 7), 8, LOGITS.tobytes())}),
        "ggml type 8",
    ),
    "other counts": (
        gguf({"tokens": _tokens(26, 3), "logits": ((4, 7), 0, LOGITS.tobytes())}),
        "logits of sizes [4, 7] for 3 tokens",
    ),
    "no tokens": (
        gguf({"tokens": _tokens(26, 0), "logits": ((0, 7), 0, b"")}),
        "there are no tokens",
    ),
    "five axes": (gguf({"tokens": ((1,) * 5, 26, bytes(4))}), "5 axes"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_results(case: str, tmp_path: Path) -> None:
    data, message = DAMAGED[case]
    with pytest.raises(CaptureError) as error:
        results(write(tmp_path, "r.gguf", data))
    assert message in error.value.message


def test_every_cut_of_a_results_file_is_an_error(tmp_path: Path) -> None:
    data = result_file([1, 2, 3, 4], LOGITS)
    last = len(data) - len(LOGITS.tobytes()) % 32  # padding at the end may be missing
    for size in range(4, last - 16, 3):
        with pytest.raises(SpecdistError):
            list(results(write(tmp_path, "r", data[:size])).rows())


def test_a_logit_that_is_no_number(tmp_path: Path) -> None:
    for value in (math.nan, math.inf):
        bad = LOGITS.copy()
        bad[2, 5] = value
        rows = results(write(tmp_path, "r", result_file([1, 2, 3, 4], bad))).rows()
        with pytest.raises(RowError, match=r"NaN in a row|\+inf in a row"):
            list(rows)


def test_what_the_command_line_may_say_of_results() -> None:
    for name, value in (("stage", Stage.PROCESSED), ("kind", Kind.LOGPROBS), ("rows", (3,))):
        with pytest.raises(SettingsError):
            results(RESULTS, **{name: value})
    with pytest.raises(CaptureError, match="64 tokens, --vocab-size says 60"):
        results(RESULTS, vocab_size=60)


def test_the_facts_of_a_real_row_of_llama_debug() -> None:
    file = debug(DEBUG, vocab_size=257)
    (row,) = arrays(file)
    assert row.tolist() == list(struct.unpack("<257f", DEBUG.read_bytes()))
    assert row[:4].tolist() == [
        -0.5355509519577026, 2.6710894107818604, -2.276181221008301, -5.447609901428223,
    ]  # fmt: skip
    assert int(row.argmax()) == 133
    assert file.tokens == {0: PROMPT}
    assert [(r.index, r.token) for r in file.rows()] == [(10, None)]
    assert (FIELD / "llamacpp-target257-prompt.txt").read_text().split("ids: ")[1] == (
        ", ".join(map(str, PROMPT)) + "\n"
    )


def test_the_text_of_the_same_row_is_read_with_its_rounding() -> None:
    file = debug(FIELD / "llamacpp-target257.txt")
    (row,) = [row.values for row in file.rows()]
    assert isinstance(row, ListedValues)
    assert isinstance(row.values, FloatValues)
    assert (len(row.ids), row.size, row.cap) == (257, 257, None)
    (exact,) = arrays(debug(DEBUG, vocab_size=257))
    # 6 significant digits, magnitudes up to below 10: half of 1e-5.
    assert Fraction(5, 10**6) <= row.half_width < Fraction(5001, 10**9)
    off = np.abs(row.values.array - exact.astype(np.float64))
    assert off.max() <= float(row.half_width)
    assert off.max() > float(row.half_width) * 0.9


@pytest.mark.parametrize(
    ("form", "width"),
    [("%g", "0.0005"), ("%.6f", "0.0000005"), ("%.9g", "0.0000005"), ("%.3e", "0.05")],
)
def test_the_half_width_of_printed_rows(form: str, width: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    row = (rng.normal(size=400) * 40).astype(np.float32)
    row[:3] = (0, 101.25, -123.4567)
    text = "".join(f"{i}: {form % float(value)}\n" for i, value in enumerate(row))
    (found,) = [r.values for r in debug(write(tmp_path, "x.txt", text)).rows()]
    assert isinstance(found, ListedValues)
    assert isinstance(found.values, FloatValues)
    off = np.abs(found.values.array - row.astype(np.float64)).max()
    assert off <= float(found.half_width)
    assert float(found.half_width) == pytest.approx(float(width), rel=1e-5)


LINES = {
    "another index": ("0: 1\n2: 2\n", "'2: 2' is not the value of token 1"),
    "no value": ("0: 1\n1:\n", "is not the value of token 1"),
    "nan": ("0: nan\n1: 2\n", "'nan' in a row"),
    "inf": ("0: 1\n1: -inf\n", "'-inf' in a row"),
    "words": ("0: 1\n1: 2.5x\n", "'2.5x' in a row"),
}


@pytest.mark.parametrize("case", LINES)
def test_lines_that_are_no_row(case: str, tmp_path: Path) -> None:
    text, message = LINES[case]
    with pytest.raises(SpecdistError) as error:
        debug(write(tmp_path, "x.txt", text))
    assert message in error.value.message
    assert "line" in error.value.place


def test_files_beside_the_logits_are_refused(tmp_path: Path) -> None:
    tokens = FIELD / "llamacpp-target257-tokens.bin"
    assert struct.unpack("<10i", tokens.read_bytes()) == PROMPT
    with pytest.raises(CaptureError, match="token ids"):
        debug(tokens, vocab_size=10)
    data = np.ones(8, "<f4").tobytes()
    with pytest.raises(CaptureError, match="embeddings, which are no distribution"):
        debug(write(tmp_path, "llamacpp-m-embeddings.bin", data), vocab_size=8)
    with pytest.raises(SpecdistError):
        debug(FIELD / "llamacpp-target257-prompt.txt", vocab_size=17)


SIZES = [
    (None, "257 numbers without a header", "--vocab-size 257"),
    (256, "holds 257 numbers, --vocab-size says 256", ""),
    (514, "holds 257 numbers, --vocab-size says 514", ""),
]


@pytest.mark.parametrize(("size", "message", "advice"), SIZES)
def test_the_size_must_be_said(size: int | None, message: str, advice: str) -> None:
    with pytest.raises(CaptureError, match=message) as error:
        debug(DEBUG, vocab_size=size)
    assert advice in error.value.advice


def test_odd_sizes_and_bad_numbers(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="6 bytes are no row"):
        debug(write(tmp_path, "a.bin", bytes(6)), vocab_size=1)
    with pytest.raises(CaptureError, match="0 bytes are no row"):
        debug(write(tmp_path, "b.bin", b""), vocab_size=1)
    row = np.array([1, np.nan, 2], "<f4").tobytes()
    with pytest.raises(RowError, match="nan in a row") as error:
        debug(write(tmp_path, "c.bin", row), vocab_size=3)
    assert error.value.place.endswith("c.bin[1]")


def test_tokens_beside_a_row_may_be_missing_or_wrong(tmp_path: Path) -> None:
    path = write(tmp_path, "m.bin", LOGITS[0].tobytes())
    assert debug(path, vocab_size=7).tokens == {}
    for data in (b"abc", np.array([1, -5], "<i4").tobytes()):
        write(tmp_path, "m-tokens.bin", data)
        file = debug(path, vocab_size=7)
        assert file.tokens == {}
        assert "not known: m-tokens.bin" in dict(file.shown)["prompt"]


def test_the_row_in_a_folder(tmp_path: Path) -> None:
    for path in FIELD.glob("llamacpp-target257*"):
        write(tmp_path, path.name, path.read_bytes())
    assert debug_file(str(tmp_path)).path.name == "llamacpp-target257.bin"
    write(tmp_path, "pytorch-target.bin", DEBUG.read_bytes())
    with pytest.raises(CaptureError, match=r"2 files could hold logits: llamacpp-target257\.bin"):
        debug_file(str(tmp_path))
