"""The shipped samples say what their README says, and agree with independent computations."""

from __future__ import annotations

import importlib
import json
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from tests import oracle
from tests.cli import SAMPLES, Result, exact, only_position, run
from tests.console import sessions
from tests.oracle_processing import string_law

CAPTURES = SAMPLES / "captures"
TEMPERATURE, TOP_P = 0.8, 0.95
PROCESSING = ("--kind", "logits", "-T", "0.8", "--top-p", "0.95")

HAND_WRITTEN = {
    "three_tokens.json": (0, "equal", "7/10", "0"),
    "equal_rows.json": (0, "equal", "1", "0"),
    "draft_top_p_untested.json": (1, "different", "11/15", "1/16"),
    "draft_top_p.json": (0, "equal", "169/240", "0"),
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written(name: str) -> None:
    code, verdict, rate, distance = HAND_WRITTEN[name]
    result = run("check", SAMPLES / name, "--format", "json")
    report = result.json()
    assert (result.code, report["verdict"]) == (code, verdict)
    position = only_position(report)
    assert exact(position["acceptance_rate"]) == Fraction(rate)
    assert exact(position["total_variation"]) == Fraction(distance)


def test_listed_in_part() -> None:
    result = run("check", SAMPLES / "top_two_listed.json", "--format", "json")
    (step,) = result.json()["steps"]
    (part,) = step["bounded"]
    rate = part["acceptance_rate"]
    assert (result.code, step["verdict"], part["by_identity"]) == (4, "undecided", True)
    assert [exact(rate[end]) for end in ("least", "most")] == [Fraction(3, 5), Fraction(17, 20)]


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written_against_the_oracle(name: str) -> None:
    """The oracle reads the file by itself and processes the roles by itself."""
    document = json.loads((SAMPLES / name).read_text(encoding="utf-8"))
    (position,) = document["steps"][0]["positions"]
    target, draft = (
        [Fraction(str(value)) for value in position[side]] for side in ("target", "draft")
    )
    roles = {}
    for role, recipe in position.get("roles", {}).items():
        step_name, value = recipe.split(":")
        assert step_name == "top-p"
        roles[role] = oracle.top_p(draft, Fraction(value))
    if "settings" in document:
        draft = oracle.top_p(draft, Fraction(document["settings"]["draft_top_p"]))
    expected = oracle.token_rule(target, draft, **roles)
    assert expected.acceptance == Fraction(HAND_WRITTEN[name][2])
    assert expected.total_variation == Fraction(HAND_WRITTEN[name][3])


def test_string_level_draft() -> None:
    path = SAMPLES / "string_level_draft.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    (position,) = document["steps"][0]["positions"]
    target, draft = ([Fraction(value) for value in position[s]] for s in ("target", "draft"))
    psi = string_law(draft, document["draft_vocab"], document["vocab"], 2)
    result = run("check", path, "--format", "json")
    found = only_position(result.json())
    assert [exact(token["drafted"]) for token in found["tokens"]] == psi
    assert exact(found["acceptance_rate"]) == oracle.token_rule(target, psi).acceptance
    assert exact(found["acceptance_rate"]) == Fraction(11, 12)
    assert (result.code, exact(found["total_variation"])) == (0, 0)


def read_float32() -> tuple[np.ndarray, np.ndarray]:
    return np.load(CAPTURES / "target.npy"), np.load(CAPTURES / "draft.npy")


def read_bfloat16() -> tuple[np.ndarray, np.ndarray]:
    """Parsed by hand: the upper halves of float32 numbers."""
    raw = (CAPTURES / "bfloat16.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    sides = []
    for name in ("target", "draft"):
        start, stop = header[name]["data_offsets"]
        codes = np.frombuffer(raw[8 + size + start : 8 + size + stop], dtype="<u2")
        values = (codes.astype(np.uint32) << 16).view(np.float32)
        sides.append(values.reshape(header[name]["shape"]))
    return sides[0], sides[1]


def pair_of(archive: str) -> tuple[str, ...]:
    path = CAPTURES / archive
    return ("--target", f"{path}::target", "--draft", f"{path}::draft")


REAL: dict[str, tuple[Callable[[], tuple[np.ndarray, np.ndarray]], tuple[str, ...], int]] = {
    "float32": (
        read_float32,
        ("--target", str(CAPTURES / "target.npy"), "--draft", str(CAPTURES / "draft.npy")),
        4,
    ),
    "bfloat16": (read_bfloat16, pair_of("bfloat16.safetensors"), 2),
}


def law(row: np.ndarray) -> np.ndarray:
    """Temperature 0.8 and top-p 0.95 in float64; falling logit, ties by rising id."""
    scaled = row.astype(np.float64) / TEMPERATURE
    weights = np.exp(scaled - scaled.max())
    weights /= weights.sum()
    order = np.lexsort((np.arange(len(row)), -scaled))
    kept = order[: int(np.searchsorted(np.cumsum(weights[order]), TOP_P)) + 1]
    result = np.zeros_like(weights)
    result[kept] = weights[kept]
    return result / result.sum()


def precise_law(row: np.ndarray) -> list[mpmath.mpf]:
    """The same with 40 digits and 0.8, 0.95 as fractions."""
    z = [mpmath.mpf(float(value)) * 5 / 4 for value in row]
    top = max(z)
    weights = [mpmath.exp(value - top) for value in z]
    total = mpmath.fsum(weights)
    held, kept = mpmath.mpf(0), set()
    for y in sorted(range(len(z)), key=lambda y: (-z[y], y)):
        if held >= total * 95 / 100:
            break
        kept.add(y)
        held += weights[y]
    return [weight / held if y in kept else mpmath.mpf(0) for y, weight in enumerate(weights)]


def check_real(name: str, *more: str) -> tuple[Result, list[tuple[int, int, dict[str, Any]]]]:
    """The result and, for each position, its step, its index and its entry."""
    _, sides, steps = REAL[name]
    result = run(
        "check", *sides, "--draft-lengths", f"4x{steps}", *PROCESSING, "--format", "json", *more
    )
    report = result.json()
    entries = [
        (at, position["index"], position)
        for at, step in enumerate(report["steps"])
        for position in step["positions"]
    ]
    assert len(entries) == 4 * steps
    return result, entries


@pytest.mark.parametrize("name", REAL)
def test_real_captures_agree_with_float64(name: str) -> None:
    targets, drafts = REAL[name][0]()
    result, entries = check_real(name)
    assert result.code == 0
    assert result.json()["verdict"] == "equal"
    for step, index, position in entries:
        expected = np.minimum(law(targets[5 * step + index]), law(drafts[4 * step + index])).sum()
        rate = position["acceptance_rate"]
        assert abs(rate["approx"] - expected) < 1e-12
        assert 0 < Fraction(rate["bound"]) < Fraction(1, 10**12)
        assert position["vocab_size"] == 4096


@pytest.mark.parametrize("name", REAL)
def test_real_captures_stay_inside_their_bound(name: str) -> None:
    """The acceptance rate of the real-valued softmax, 40 digits, lies within the bound."""
    targets, drafts = REAL[name][0]()
    _, entries = check_real(name, "--exact")
    step, index, position = entries[5]
    with mpmath.workdps(40):
        left = precise_law(targets[5 * step + index])
        right = precise_law(drafts[4 * step + index])
        expected = mpmath.fsum(min(a, b) for a, b in zip(left, right, strict=True))
        value = Fraction(position["acceptance_rate"]["exact"])
        error = abs(mpmath.mpf(value.numerator) / value.denominator - expected)
        bound = Fraction(position["acceptance_rate"]["bound"])
        assert error <= mpmath.mpf(bound.numerator) / bound.denominator


@pytest.mark.parametrize("name", REAL)
def test_workers_change_no_digit(name: str) -> None:
    one, two = (check_real(name, "--exact", "--workers", count)[1] for count in ("1", "2"))
    assert one == two


CHUNKS = {
    "rows read one by one": {"specdist.readers.row_blocks:BLOCK_BYTES": 1},
    "sums in blocks of 1000": {
        "specdist.exact.float_sum:BLOCK": 1000,
        "specdist.exact.float_filter:BLOCK": 1000,
        "specdist.exact.float_filter:_SCORE_BLOCK": 777,
        "specdist.processing.float_weights:BLOCK": 1000,
    },
    "steps handed out one by one": {"specdist.verify.spread:_BATCH_BYTES": 1},
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_the_size_of_chunks_changes_no_digit(
    chunks: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = check_real(name, "--exact", "--workers", "1")[1]
    for attribute, size in CHUNKS[chunks].items():
        module, _, key = attribute.partition(":")
        assert getattr(importlib.import_module(module), key) > size
        monkeypatch.setattr(f"{module}.{key}", size)
    assert check_real(name, "--exact", "--workers", "1")[1] == before


def test_the_order_of_rows_changes_no_digit(tmp_path: Path) -> None:
    """Each row pair as a step of its own, and the same pairs backwards."""
    targets, drafts = read_float32()
    rates = []
    for order in (slice(None, 16), slice(15, None, -1)):
        np.save(tmp_path / "target.npy", targets[:16][order])
        np.save(tmp_path / "draft.npy", drafts[order])
        sides = ("--target", tmp_path / "target.npy", "--draft", tmp_path / "draft.npy")
        result = run("check", *sides, *PROCESSING, "--format", "json", "--exact")
        rates.append([step["positions"][0]["acceptance_rate"] for step in result.json()["steps"]])
    assert len(rates[0]) == 16
    assert rates[0] == rates[1][::-1]


def test_token_texts_come_from_the_vocabulary() -> None:
    texts = json.loads((CAPTURES / "vocab.json").read_text(encoding="utf-8"))
    assert len(texts) == 4096
    result, entries = check_real("float32", "--vocab", str(CAPTURES / "vocab.json"))
    assert result.code == 0
    shown = [token for _, _, position in entries for token in position["tokens"]]
    assert shown
    assert all(token["text"] == texts[token["id"]] for token in shown)


PAIR_RATES = [
    0.6547935630624444, 0.4342836907153067, 0.31668656657874483, 0.41153141358356765,
    0.25584108192567373, 0.2260969934457253, 0.5689394523015753, 0.17788243197700115,
    0.5907389268930269, 0.5028747501831434,
]  # fmt: skip


@pytest.mark.parametrize("name", ["pair_target_draft.npz", "pair_f32.safetensors"])
def test_an_archive_of_both_sides(name: str) -> None:
    path = SAMPLES / "transformers" / name
    sides = ("--target", f"{path}::target_logits", "--draft", f"{path}::draft_logits")
    rates = {}
    for how, options in {"alone": (path,), "named": sides}.items():
        result = run("check", *options, "--kind", "logits", "--format", "json")
        assert result.code == 0, result.stderr
        steps = result.json()["steps"]
        rates[how] = [step["positions"][0]["acceptance_rate"]["approx"] for step in steps]
    assert rates["alone"] == rates["named"]
    assert rates["alone"] == pytest.approx(PAIR_RATES, abs=1e-12)


def test_blocks_of_assisted_generation() -> None:
    """Processed scores: 33 draft rows in blocks, their lengths in the archive."""
    path = SAMPLES / "transformers" / "assisted_blocks.npz"
    result = run(
        "check", "--target", f"{path}::target_scores", "--draft", f"{path}::draft_scores",
        "--draft-lengths", f"{path}::draft_len", "--kind", "logits", "--stage", "processed",
        "--format", "json",
    )  # fmt: skip
    report = result.json()
    assert (result.code, report["verdict"]) == (0, "equal")
    assert report["summary"]["positions"] == 33
    assert report["summary"]["steps"] == 9
    first = [p["acceptance_rate"]["approx"] for p in report["steps"][0]["positions"]]
    assert first == pytest.approx(
        [0.2945624199811434, 0.3611600965603567, 0.44821421371268094, 0.6831736632298784],
        abs=1e-6,
    )


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("gen_logits_TV_f32.npy", "[6, 64]"),
        ("gen_scores_TV_f32.npy", "[6, 64]"),
        ("forward_TV_bf16_void.npy", "[10, 64]"),
        ("forward_bf16_tensor.pt", "[10, 64]"),
        ("out_dict.pt", "[1, 6, 64]"),
        ("assisted_logits_tuple_views.pt", "64]"),
    ],
)
def test_inspect_tells_the_shape(name: str, shape: str) -> None:
    result = run("inspect", SAMPLES / "transformers" / name)
    assert result.code == 0, result.stderr
    assert shape in result.stdout


def test_one_bfloat16_tensor_by_torch_and_by_numpy() -> None:
    folder = SAMPLES / "transformers"
    result = run(
        "check", "--target", folder / "forward_bf16_tensor.pt",
        "--draft", folder / "forward_TV_bf16_void.npy", "--kind", "logits", "--format", "json",
    )  # fmt: skip
    report = result.json()
    assert result.code == 0, result.stderr
    assert report["summary"]["steps"] == 10
    assert exact(report["summary"]["acceptance_rate"]) == 1, "the rows are the same"


def test_every_file_is_described() -> None:
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    files = [p for p in SAMPLES.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    names = {path.name for path in files} - {"README.md"}
    assert names
    assert {name for name in names if f"`{name}`" not in text} == set()
    assert sum(path.stat().st_size for path in files) < 10**6


@pytest.mark.parametrize("session", sessions(SAMPLES / "README.md"), ids=lambda s: s.command)
def test_the_lines_of_the_readme(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES)
    assert run(*session.arguments).code == session.code


def test_the_path_of_a_sample_is_relative_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES)
    assert str(Path.cwd()) not in run("check", "three_tokens.json").stdout
