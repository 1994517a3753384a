"""llama.cpp's KLD base files: facts of real files, proven widths, damage, bounded memory."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import (
    CaptureError,
    ContextMismatchError,
    RowError,
    SettingsError,
    SpecdistError,
)
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files import kld
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow
from specdist.readers.engine_files.kld import open_kld
from specdist.readers.engine_files.kld_rows import Frame
from specdist.readers.sources import local_file
from tests.kld_writer import (
    F32,
    file_of,
    file_of_logits,
    plain_rows,
    true_logprobs,
    write_row,
)
from tests.reader_files import read_pair, write

FIELD = Path(__file__).parent / "data" / "field" / "llamacpp"
FIRST_CHUNK = (1, 3, 8, 22, 3, 29, 28, 3, 6, 12, 3, 7, 19, 3, 28, 18)
ALPHA = [
    0.3011870493494232, 0.44228010977254323, 0.4843332989591157, 0.26146706605736375,
    0.2711460117342388, 0.5677195291631413, 0.20164948215139872, 0.21002781215442023,
    0.13204058490603116, 0.06878431658222971, 0.06303492661485222, 0.23997294325849242,
    0.028364561847535417, 0.3950361555630836,
]  # fmt: skip
FACTS: dict[str, dict[str, Any]] = {
    "target": {
        "scale": 0.00021479341376107186, "least": -16.175748825073242, "argmax": 189,
        "largest": -2.099262454241398, "sum": 0.9999950652284277,
        "sums": (0.9999689635973082, 1.0000342177681933),
    },
    "draft": {
        "scale": 0.00023097574012354016, "least": -16.438953399658203, "argmax": 236,
        "largest": -1.3019582706619985, "sum": 0.9999873192094412,
        "sums": (0.9999712176490541, 1.0000242079368815),
    },
}  # fmt: skip


def opened(path: str | Path, **reading: Any) -> EngineFile:
    return open_kld(local_file(str(path)), ReadingSettings(**reading))


def listed(row: EngineRow) -> tuple[np.ndarray, np.ndarray, ListedValues]:
    """Ids, values, and all of it."""
    assert isinstance(row.values, ListedValues)
    assert isinstance(row.values.values, FloatValues)
    return np.asarray(row.values.ids), row.values.values.array, row.values


def sample(side: str) -> Path:
    return FIELD / f"kld_base_{side}_V257.bin"


@pytest.mark.parametrize("side", ["target", "draft"])
def test_the_facts_of_a_real_file(side: str) -> None:
    file, facts = opened(sample(side)), FACTS[side]
    assert (file.count, file.vocab_size, file.stage, file.assumed) == (14, 257, Stage.RAW, False)
    assert ("chunks", "2 of 16 tokens, n_ctx 16, n_vocab 257, n_chunk 2") in file.shown
    assert file.tokens[0] == FIRST_CHUNK
    assert len(file.tokens) == 2
    rows = list(file.rows())
    assert [(row.sequence, row.index) for row in rows] == [
        (chunk, index) for chunk in (0, 1) for index in range(9, 16)
    ]
    assert [row.token for row in rows[:7]] == list(FIRST_CHUNK[9:])
    assert {(row.kind, row.stage, row.numbers) for row in rows} == {
        (Kind.LOGPROBS, Stage.RAW, NumberFormat.FLOAT32)
    }
    ids, values, row = listed(rows[0])
    scale, least, codes = plain_rows(sample(side).read_bytes())[0]
    assert (scale, least, codes.count(0)) == (facts["scale"], facts["least"], 1)
    assert len(ids) == 257  # the row spans less than 16 nats, so its only code 0 is a value
    assert row.cap is None
    assert int(ids[values.argmax()]) == facts["argmax"]
    assert values.max() == facts["largest"]
    assert np.exp(values).sum() == pytest.approx(facts["sum"], abs=1e-15)
    sums = [sum(math.exp(s * c + m) for c in cs) for s, m, cs in plain_rows(_bytes(side))]
    assert (min(sums), max(sums)) == pytest.approx(facts["sums"], abs=1e-14)


def _bytes(side: str) -> bytes:
    return sample(side).read_bytes()


@pytest.mark.parametrize("side", ["target", "draft"])
def test_an_independent_decoder_agrees(side: str) -> None:
    rows = list(opened(sample(side)).rows())
    for row, (scale, least, codes) in zip(rows, plain_rows(_bytes(side)), strict=True):
        ids, values, found = listed(row)
        # Cut at 16 nats: code 0 says no more than "at most". 16/65535 in float32, give or take.
        cut = scale > 15.9 / 65535
        wanted = [token for token in range(257) if codes[token] or not cut]
        assert ids.tolist() == wanted
        assert values.tolist() == [scale * codes[token] + least for token in wanted]
        assert Fraction(scale) / 2 < found.half_width < Fraction(scale) / 2 + Fraction(1, 10**5)
        assert found.half_width < Fraction(131, 1000000)
        assert found.cap == (Fraction(least) + found.half_width if len(wanted) < 257 else None)
        assert (found.size, found.open_ended, found.slack) == (257, False, 0)


def test_the_acceptance_of_the_real_pair() -> None:
    """Renormalised, with a cut token at the least value: what specdist itself never does."""
    ours, theirs = (_renormalised(side) for side in ("target", "draft"))
    assert np.minimum(ours, theirs).sum(axis=1) == pytest.approx(ALPHA, abs=1e-13)
    assert opened(sample("target")).tokens == opened(sample("draft")).tokens


def _renormalised(side: str) -> np.ndarray:
    laws = []
    for row, (_, least, _) in zip(
        opened(sample(side)).rows(), plain_rows(_bytes(side)), strict=True
    ):
        ids, values, _ = listed(row)
        law = np.full(257, np.exp(least))
        law[ids] = np.exp(values)
        laws.append(law / law.sum())
    return np.array(laws)


def _random_logits(rng: np.random.Generator, size: int, case: int) -> np.ndarray:
    spread = (0.05, 0.7, 2.0, 5.0, 20.0)[case % 5]
    shift = (0.0, 0.0, 37.7, -1234.5, 3e4)[case // 5 % 5]
    row = (rng.normal(size=size) * spread + shift).astype(F32)
    if case % 7 == 1:
        row[rng.integers(0, size, 1 + size // 3)] = -np.inf
    if case % 7 == 2:
        row[rng.integers(0, size, size // 2)] = row[0]  # ties
    if case % 7 == 3 and np.isfinite(row).all():
        row[0] = row.max() + F32(rng.uniform(10, 30))  # one token far above
    if not np.isfinite(row).any():
        row[0] = 0
    return row


def _deviations(
    row: ListedValues, ids: np.ndarray, values: np.ndarray, truth: np.ndarray
) -> tuple[float, float]:
    """How far listed values are from the truth, and unlisted ones above their cap."""
    with np.errstate(invalid="ignore"):
        off = np.abs(values - truth[ids])
    hidden = np.delete(truth, ids)
    above = float(hidden.max() - float(row.cap or 0)) if len(hidden) else -np.inf
    return float(off.max()), above


@pytest.mark.parametrize("seed", range(8))
def test_true_log_probabilities_lie_within_the_half_width(seed: int, tmp_path: Path) -> None:
    """Thousands of rows by a float32 emulation of the writer, with ``expf`` off by 4 ulp."""
    rng = np.random.default_rng(seed)
    size, share = (3, 8, 33, 257, 64, 301, 1000, 5)[seed], 0.0
    logits = np.array([_random_logits(rng, size, case) for case in range(420)])
    rows = []
    for at, row in enumerate(logits):
        ulps = (None, rng.integers(-4, 5, size), np.full(size, 4), np.full(size, -4))[at % 4]
        rows.append(write_row(row, ulps))
    tokens = rng.integers(0, size, (60, 16)).tolist()
    path = write(tmp_path, "rows", file_of(16, tokens, rows, size))
    found = list(opened(path).rows())
    assert len(found) == len(logits)
    for got, row, (scale, _, _) in zip(found, logits, rows, strict=True):
        ids, values, known = listed(got)
        off, above = _deviations(known, ids, values, true_logprobs(row))
        width = float(known.half_width)
        assert off <= width
        assert above <= 0
        share = max(share, off / float(scale / 2)) if scale else share
        assert width <= scale / 2 + 1.3e-5
        hidden = set(range(size)) - set(ids.tolist())
        assert all(row[token] <= row.max() - 15.7 for token in hidden)
    assert share > 0.97  # the half width is not wider than it must be


def test_a_large_row_and_an_odd_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for size in (32000, 32001):
        logits = (rng.normal(size=(2, size)) * 4).astype(F32)
        data, tokens = file_of_logits(logits, 4)
        file = opened(write(tmp_path, "large", data))
        assert file.tokens[1] == tuple(tokens[1])
        for got, row in zip(file.rows(), logits, strict=True):
            ids, values, known = listed(got)
            off, above = _deviations(known, ids, values, true_logprobs(row))
            assert off <= float(known.half_width)
            assert above <= 0
            assert got.index == 3
            # What is listed cannot be said to sum to 1: nothing was renormalised.
            assert abs(np.exp(values).sum() - 1) > 1e-12


def test_equal_logits_have_no_scale(tmp_path: Path) -> None:
    logits = np.full((1, 7), -3.25, F32)
    data, _ = file_of_logits(logits, 4)
    (row,) = opened(write(tmp_path, "flat", data)).rows()
    ids, values, known = listed(row)
    assert len(ids) == 7
    assert np.abs(values + np.log(7)).max() <= float(known.half_width) < 5e-6


def test_a_wrong_half_width_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant: half a code less a thousandth; and a cap without its rounding."""
    monkeypatch.setattr(Frame, "half_width", property(lambda f: f.scale * 0.499))
    rng = np.random.default_rng(1)
    logits = np.array([_random_logits(rng, 257, case) for case in range(70)])
    file = opened(write(tmp_path, "rows", file_of_logits(logits, 4)[0]))
    off = [
        _deviations(listed(got)[2], *listed(got)[:2], true_logprobs(row))[0]
        / float(listed(got)[2].half_width)
        for got, row in zip(file.rows(), logits, strict=True)
    ]
    assert max(off) > 1


def test_the_other_byte_order_is_read_and_said(tmp_path: Path) -> None:
    logits = np.random.default_rng(2).normal(size=(6, 11)).astype(F32) * 6
    little, _ = file_of_logits(logits, 8)
    big, _ = file_of_logits(logits, 8, ">")
    ours, theirs = (opened(write(tmp_path, n, d)) for n, d in (("l", little), ("b", big)))
    for one, other in zip(ours.rows(), theirs.rows(), strict=True):
        assert np.array_equal(listed(one)[0], listed(other)[0])
        assert np.array_equal(listed(one)[1], listed(other)[1])
    assert "big endian" in dict(theirs.shown)["chunks"]
    assert "big endian" not in dict(ours.shown)["chunks"]


CUTS = {
    "in the magic": (5, "inside its header, after 5 bytes"),
    "after n_ctx": (12, "inside its header, after 12 bytes"),
    "in the tokens": (40, "0 of 14 rows are whole"),
    "in the first row": (148 + 500, "0 of 14 rows are whole"),
    "after one row": (148 + 524, "1 of 14 rows are whole"),
    "in the last row": (7483, "13 of 14 rows are whole"),
}


@pytest.mark.parametrize("case", CUTS)
def test_a_run_that_was_stopped(case: str, tmp_path: Path) -> None:
    size, message = CUTS[case]
    path = write(tmp_path, "short", _bytes("target")[:size])
    with pytest.raises(CaptureError, match=message) as error:
        opened(path)
    assert "llama-perplexity" in error.value.advice


def test_two_files_on_other_texts_are_no_pair(tmp_path: Path) -> None:
    """Also where only the first half of a chunk differs, which has no rows."""
    for at in (3, 12):
        other = write(tmp_path, "other", _with(_bytes("draft"), 20 + 4 * at, "<i", 77))
        with pytest.raises(ContextMismatchError, match="the texts part at"):
            read_pair(str(sample("target")), other)
    _, steps = read_pair(str(sample("target")), str(sample("draft")))
    assert [len(step.context or ()) for step in steps] == [*range(9, 16)] * 2
    assert steps[0].context == FIRST_CHUNK[:9]


def _with(data: bytes, at: int, form: str, value: float) -> bytes:
    new = struct.pack(form, value)
    return data[:at] + new + data[at + len(new) :]


HEADERS = {
    "no context": (8, 0, "n_ctx 0"),
    "a context below 0": (8, -16, "n_ctx -16"),
    "no vocabulary": (12, 0, "n_vocab 0"),
    "a vocabulary of a billion": (12, 10**9, "n_vocab 1000000000"),
    "no chunk": (16, 0, "n_chunk 0"),
    "another context": (8, 17, "of 14 rows are whole|of 16 rows are whole"),
    "one more chunk": (16, 3, "of 21 rows are whole"),
    "one chunk less": (16, 1, "3732 bytes follow"),
    "a token outside": (24, 257, "token 257 is outside the vocabulary of 257"),
    "a token below 0": (24, -1, "token -1 is outside"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_lies(case: str, tmp_path: Path) -> None:
    at, value, message = HEADERS[case]
    path = write(tmp_path, "lies", _with(_bytes("target"), at, "<i", value))
    with pytest.raises(CaptureError, match=message):
        opened(path)


def test_bytes_after_the_last_row(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="1 bytes follow the last row"):
        opened(write(tmp_path, "long", _bytes("target") + b"\0"))


def test_a_context_without_a_second_half(tmp_path: Path) -> None:
    data = b"_logits_" + struct.pack("<5i", 2, 5, 1, 0, 0)
    with pytest.raises(CaptureError, match="a context of 2 tokens leaves no row"):
        opened(write(tmp_path, "none", data))


FRAMES = {
    "nan": (0, math.nan, "a logit was no number"),
    "inf": (0, math.inf, "a logit was no number"),
    "least nan": (4, math.nan, "a logit was no number"),
    "least far below": (4, -1e20, "a least log-probability of -1e"),
    "least above 0": (4, 0.5, "a least log-probability of 0.5"),
    "least -inf": (4, -math.inf, "a logit was no number"),
    "below 0": (0, -2e-4, "below 0"),
    "above 16 nats": (0, 17 / 65535, "a scale of"),
    "subnormal": (0, 1e-40, "a scale of 9.9"),
    "another scale": (0, 2.0e-4, "sum from"),
    "another least": (4, -16.0, "sum from"),
    "no scale": (0, 0.0, "largest code is 65535"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_a_row_that_nobody_wrote(case: str, tmp_path: Path) -> None:
    shift, value, message = FRAMES[case]
    at = 148 + 3 * 524 + shift
    path = write(tmp_path, "row", _with(_bytes("target"), at, "<f", value))
    rows = opened(path).rows()
    assert [next(rows).index for _ in range(3)] == [9, 10, 11]
    with pytest.raises(RowError, match=message) as error:
        next(rows)
    assert error.value.place == f"{path}, chunk 0, position 12"


def test_codes_that_nobody_wrote(tmp_path: Path) -> None:
    data = bytearray(_bytes("target"))
    top = plain_rows(bytes(data))[0][2].index(65535)
    struct.pack_into("<H", data, 148 + 8 + 2 * top, 65534)
    with pytest.raises(RowError, match="the largest code is 65534"):
        list(opened(write(tmp_path, "codes", bytes(data))).rows())


def test_every_changed_byte_is_seen_or_harmless(tmp_path: Path) -> None:
    """Never a traceback, and never a row whose bounds cannot sum to 1."""
    data, rng = _bytes("draft"), np.random.default_rng(3)
    for at in rng.integers(0, len(data), 300).tolist():
        changed = bytearray(data)
        changed[at] ^= int(rng.integers(1, 256))
        path = write(tmp_path, "changed", bytes(changed))
        try:
            rows = list(opened(path).rows())
        except SpecdistError:
            continue
        for row in rows:
            _, values, known = listed(row)
            width, cap = float(known.half_width), float(known.cap or -math.inf)
            total, others = np.exp(values).sum(), known.others or 0
            assert total * math.exp(-width) <= 1 + 1e-6
            assert total * math.exp(width) + others * math.exp(cap) >= 1 - 1e-6


SETTINGS = {
    "kind": (Kind.LOGITS, "--kind says logits"),
    "stage": (Stage.PROCESSED, "--stage says processed"),
    "rows": ((3,), "--rows with a llama.cpp KLD base file"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_what_the_format_fixes_is_not_told(name: str) -> None:
    value, message = SETTINGS[name]
    with pytest.raises(SettingsError, match=message):
        opened(sample("target"), **{name: value})
    fixed = {"axes": "time,vocab", "kind": Kind.LOGPROBS, "stage": Stage.RAW, "vocab_size": 257}
    assert opened(sample("target"), **fixed).count == 14


def test_the_size_of_the_vocabulary_is_checked() -> None:
    with pytest.raises(CaptureError, match="257 tokens, --vocab-size says 256") as error:
        opened(sample("target"), vocab_size=256)
    assert "vocab-size:256" in error.value.advice


def test_rows_are_read_in_bounded_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from specdist.readers.storage import Handles

    logits = np.random.default_rng(4).normal(size=(300, 21)).astype(F32)
    path = write(tmp_path, "many", file_of_logits(logits, 8)[0])
    whole = [listed(row)[1] for row in opened(path).rows()]
    counts: list[int] = []
    read = Handles.read

    def spy(self: Handles, path: Path, name: str, start: int, count: int) -> bytes:
        counts.append(count)
        return read(self, path, name, start, count)

    for block in (1, 52, 500, 5000):
        monkeypatch.setattr(kld, "BLOCK_BYTES", block)
        file = opened(path)
        monkeypatch.setattr(Handles, "read", spy)
        counts.clear()
        found = [listed(row)[1] for row in file.rows()]
        monkeypatch.setattr(Handles, "read", read)
        assert max(counts) <= max(block, 52)
        assert all(np.array_equal(a, b) for a, b in zip(found, whole, strict=True))
