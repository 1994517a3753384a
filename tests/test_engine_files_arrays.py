"""Arrays from the field: rows that nobody computed, batches, padding, raw beside processed rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.errors import CaptureError, RowError, SpecdistError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers import describe, open_pair
from specdist.readers.content import Format
from specdist.readers.dumps import open_archive
from specdist.readers.integers import read_integers
from specdist.readers.processed_pair import processed_from
from specdist.readers.row_columns import equal_columns
from specdist.readers.row_doubts import Doubt, row_doubts
from specdist.readers.sources import local_file
from tests.cli import run
from tests.reader_files import floats, hf, npy, npz, read_one, read_pair, safetensors, write

FIELD = Path(__file__).parent / "data" / "field"
SCORES = str(FIELD / "llamacpp" / "llama_cpp_python_scores.npy")
GENERATION = str(FIELD / "trtllm" / "out_generation.npy")
RNG = np.random.default_rng(11)
LOGITS = (RNG.normal(size=(6, 40)) * 3).astype(np.float32)


def facts(path: str, **reading: Any) -> dict[str, str]:
    return dict(describe(path, ReadingSettings(**reading)))


def rows(path: str, **reading: Any) -> np.ndarray:
    return np.array([floats(s.positions[0].target) for s in read_pair(path, path, **reading)[1]])


def softmax(row: np.ndarray) -> np.ndarray:
    weights = np.exp(row.astype(np.float64) - row.max())
    return weights / weights.sum()


# Rows that nobody computed.


def test_scores_of_llama_cpp_python() -> None:
    with pytest.raises(CaptureError, match="memory that was saved without being written") as error:
        rows(SCORES)
    assert error.value.place == f"{SCORES}, array[6]"
    assert "--rows 6 if the first 6 were computed" in error.value.advice
    found = rows(SCORES, rows=(6,))
    assert found.argmax(axis=1).tolist() == [220, 16, 133, 17, 16, 198]
    assert np.array_equal(found, np.load(SCORES)[:6])
    assert facts(SCORES, rows=(6,))["array rows"] == "6 of 257 tokens: --rows 6 of 8"
    assert "array help" in facts(SCORES)
    # Whoever says so may have them all.
    assert len(rows(SCORES, rows=(8,))) == 8


@pytest.mark.parametrize("code", ["<f4", ">f4", "<f8", "bf16"])
def test_memory_of_every_format(code: str, tmp_path: Path) -> None:
    wide = LOGITS.astype(np.float64)
    if code == "bf16":
        stored = (LOGITS.view(np.uint32) >> 16).astype(np.uint16)
        bad, descr = np.full(40, 0x0001, np.uint16), "<V2"
    else:
        stored, descr = wide.astype(code), None
        bad = np.full(40, 5e-324 if code == "<f8" else 1e-44).astype(code)
    for garbage in (bad, np.zeros_like(bad)):
        data = stored.copy()
        data[4:] = garbage
        path = write(tmp_path, "a.npy", npy(data, descr))
        with pytest.raises(CaptureError, match="without being written") as error:
            rows(path)
        assert "--rows 4" in error.value.advice
        assert len(rows(path, rows=(4,))) == 4


def test_a_row_that_the_sample_of_four_does_not_show(tmp_path: Path) -> None:
    many = np.tile(LOGITS, (20, 1))
    many[31] = 0
    many[31, 3] = 1e19
    path = write(tmp_path, "a.npy", npy(many))
    steps = open_pair(path, path, ReadingSettings()).steps()
    assert [next(iter(steps)).id for _ in range(31)][-1] == "row:30"
    with pytest.raises(RowError, match="numbers that no logits are") as error:
        next(iter(steps))
    assert error.value.place == f"{path}, array[31]"


def test_what_is_no_such_memory(tmp_path: Path) -> None:
    """Zeros in every row, large negative numbers, three tiny numbers, probabilities."""
    low = LOGITS.copy()
    low[:, 5:30] = np.finfo(np.float32).min
    low[2, :3] = 1e-42
    assert len(rows(write(tmp_path, "low.npy", npy(low)))) == 6
    large = write(tmp_path, "large.npy", npy(np.full((3, 40), 1e20) * LOGITS[:3]))
    assert len(rows(large, kind=Kind.LOGITS)) == 3
    zeros = write(tmp_path, "zeros.npy", npy(np.zeros((3, 40), np.float32)))
    assert len(rows(zeros, kind=Kind.LOGITS)) == 3
    shares = np.zeros((3, 40), np.float32)
    shares[:, :2] = 0.5
    shares[1] = 1e-42
    shares[1, 0] = 1
    assert len(rows(write(tmp_path, "p.npy", npy(shares)), kind=Kind.PROBABILITIES)) == 3


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float16, np.float32, np.float64]))
def test_logits_of_models_are_never_doubted(seed: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.01, 1, 30])
    block = (rng.normal(size=(5, 64)) * spread + rng.choice([-200, 0, 200])).astype(dtype)
    block[rng.random(block.shape) < 0.2] = rng.choice([-np.inf, 0.0, -65504.0])
    block[:, 0] = dtype(0.5)
    assert not row_doubts(block, NumberFormat(np.dtype(dtype).name)).any()


def test_the_doubt_of_single_rows() -> None:
    block = np.zeros((4, 64), np.float32)
    block[1, 9] = 2.0**21
    block[2, :5] = 1e-43
    block[3, 0] = -3
    expected = [Doubt.ZERO, Doubt.GARBAGE, Doubt.GARBAGE, Doubt.NONE]
    assert row_doubts(block, NumberFormat.FLOAT32).tolist() == expected


# Batches.


def test_rows_of_each_sequence() -> None:
    name = hf("gen_logits_BTV_f32.npy")
    stored = np.load(name)
    found = rows(name, axes="btv", rows=(3, 6))
    assert np.array_equal(found, np.concatenate([stored[0, :3], stored[1]]))
    _, steps = read_pair(name, name, axes="btv", rows=(3, 6))
    places = [step.positions[0].target.place for step in steps]
    assert places[2:5] == [f"{name}, array[{index}]" for index in ("0, 2", "1, 0", "1, 1")]
    assert len(rows(name, axes="btv", rows=(2,))) == 4
    assert np.array_equal(rows(name, axes="tbv", rows=(1,)), stored[0])


@pytest.mark.parametrize("given", [(7,), (3, 6, 1), (3, 7)])
def test_rows_that_do_not_fit(given: tuple[int, ...]) -> None:
    with pytest.raises(CaptureError, match="--rows says") as error:
        rows(hf("gen_logits_BTV_f32.npy"), axes="btv", rows=given)
    assert error.value.expected == "one number up to 6, or 2 of them, one for each sequence"


def test_a_batch_of_unknown_ends_gets_a_note() -> None:
    name = hf("gen_logits_BTV_f32.npy")
    for told, noted in (({}, True), ({"rows": (3, 6)}, False)):
        _, steps = read_pair(name, name, axes="btv", **told)
        notes = [f.message for f in steps[0].findings if f.ident == "configuration-needed"]
        assert any("rows of 2 sequences" in note for note in notes) is noted
        assert not [f for s in steps[1:] for f in s.findings if f.ident == "configuration-needed"]


SEQUENCES = np.array(
    [[0, 0, 1, 5, 58, 55, 2, 0, 0, 0], [1, 7, 9, 11, 10, 59, 30, 40, 13, 23]], np.int64
)


def test_ids_of_the_batch_show_where_a_sequence_ends(tmp_path: Path) -> None:
    logits = np.load(hf("gen_logits_BTV_f32.npy"))
    saved = {"logits": logits, "sequences": SEQUENCES}
    path = write(tmp_path, "b.npz", npz(saved)) + "::logits"
    with pytest.raises(CaptureError, match="sequence 0 of the batch ends in 3 tokens 0") as error:
        rows(path, axes="btv")
    assert "--rows 3,6 if 2 ends a text, --rows 4,6 if 0 does" in error.value.advice
    assert np.array_equal(rows(path, axes="btv", rows=(3, 6))[:3], logits[0, :3])
    whole = {"logits": logits, "sequences": SEQUENCES[[1, 1]]}
    assert len(rows(write(tmp_path, "w.npz", npz(whole)) + "::logits", axes="btv")) == 12


def test_the_option_on_the_command_line() -> None:
    result = run("check", "--target", SCORES, "--draft", SCORES, "--rows", "6")
    assert result.code == 0
    assert "6 steps checked: 6 equal" in result.stdout
    for text in ("0", "x", "-1", "1,,2"):
        assert run("check", "--target", SCORES, "--draft", SCORES, "--rows", text).code == 2


# Padded vocabularies.


def test_the_padding_of_tensorrt_llm() -> None:
    stored = np.load(GENERATION)
    assert stored.shape == (1, 1, 6, 96)
    found = rows(GENERATION)
    assert np.array_equal(found, stored[0, 0])
    masses = [float(softmax(row)[64:].sum()) for row in found]
    assert masses == pytest.approx(
        [0.0814866937383294, 0.0836733924235521, 0.09053466690391501, 0.09660917464655878,
         0.12253633777425534, 0.10443568977845445], abs=1e-14,
    )  # fmt: skip
    told = facts(GENERATION)["array end"]
    assert told.startswith("the last 32 of 96 columns hold 0 in the rows looked at")
    assert "with 0.08149 to 0.1044 of the probability" in told
    assert "vocab-size:64" in told
    context = str(FIELD / "trtllm" / "out_context.npy")
    assert np.array_equal(rows(context), np.load(context))
    assert "the last 32 of 96 columns hold 0" in facts(context)["array end"]


def test_the_recipe_names_the_mass_that_it_cuts() -> None:
    result = run(
        "check", "--target", GENERATION, "--draft", GENERATION, "--kind", "logits",
        "--recipe", "vocab-size:64", "--limit", "1",
    )  # fmt: skip
    assert result.code == 0
    assert "mass 0.0814867 on ids from 64 on" in " ".join(result.stdout.split())
    assert "64 tokens in vocabulary" in result.stdout


def test_columns_that_are_no_padding() -> None:
    wide = [row.astype(np.float64) for row in LOGITS]
    assert equal_columns(wide) is None
    for row in wide:
        row[-9:] = 0.25
    found = equal_columns(wide)
    assert found is not None
    assert (found.columns, found.value) == (9, 0.25)
    assert found.masses == pytest.approx([softmax(row)[-9:].sum() for row in wide])
    wide[1][-3] = 0.5  # two columns in common are chance
    assert equal_columns(wide) is None
    assert equal_columns([np.zeros(40)]) is None


# Processed rows.


def test_raw_rows_beside_processed_ones_prove_the_processing() -> None:
    told = facts(hf("out_dict.pt"))
    assert told["scores stage"] == (
        "processed: logits in the same file, divided by 0.7 to the last bit; 9 to 12 of 64 tokens "
        "are kept, as top-p from 0.8992 to 0.9025 would keep them"
    )
    assert told["scores cut"] == "9 to 12 tokens are kept, as top-p, min-p and their like keep them"
    assert "logits stage" not in told
    _, steps = read_pair(f"{hf('out_dict.pt')}::scores", f"{hf('out_dict.pt')}::scores")
    assert {step.positions[0].target.stage for step in steps} == {Stage.PROCESSED}
    assert not [f for s in steps for f in s.findings if f.ident == "configuration-needed"]
    row = floats(steps[0].positions[0].target)
    assert float(softmax(row).max()) == pytest.approx(0.48193886687858006, abs=1e-15)
    # The advice is to pair the raw rows with another file, not with their own processed twins.
    with pytest.raises(SpecdistError) as error:
        read_one(hf("out_dict.pt"))
    assert "logits and scores are one side, raw and processed" in str(error.value)


def test_the_hidden_top_k_is_named() -> None:
    told = facts(hf("gen_scores_hidden_top_k50.npy"))
    assert told["array mask"].startswith("-inf at 14 of 64 tokens in the first row")
    assert told["array cut"] == (
        "50 tokens are kept in every row, as a top-k of 50 keeps them (generate of transformers "
        "does so by itself)"
    )


def test_a_pattern_of_every_row_is_no_cut(tmp_path: Path) -> None:
    padded = LOGITS.copy()
    padded[:, 33:] = -np.inf
    told = facts(write(tmp_path, "a.npy", npy(padded)))["array cut"]
    assert (
        told
        == "the last 7 tokens in every row: a padded vocabulary or a ban, and no cut by "
        + ("probability")
    )
    padded[:, 4] = -np.inf
    told = facts(write(tmp_path, "b.npy", npy(padded)))["array cut"]
    assert told.startswith("the same tokens in every row")


def _top_k(scores: np.ndarray, k: int) -> np.ndarray:
    least = np.sort(scores, axis=1)[:, -k][:, None]
    return np.where(scores < least, np.float32(-np.inf), scores)


@pytest.mark.parametrize("temperature", ["0.7", "0.3", "1.3", "2.0", "0.123456", "1.0"])
@pytest.mark.parametrize("by_product", [False, True])
def test_the_temperature_of_processed_rows(temperature: str, by_product: bool) -> None:
    divisor = np.float32(temperature)
    scores = LOGITS * (np.float32(1) / divisor) if by_product else LOGITS / divisor
    found = processed_from(list(LOGITS), list(scores))
    assert found is not None
    assert found.temperature == temperature
    assert found.text().endswith("nothing is dropped")
    found = processed_from(list(LOGITS), list(_top_k(scores, 9)))
    assert found is not None
    assert (found.temperature, set(found.kept), found.lowest) == (temperature, {9}, True)
    assert "top-k 9" in found.text()


def test_what_is_not_divided_by_one_number() -> None:
    scores = LOGITS / np.float32(0.7)
    moved = scores.copy()
    moved[3, 7] = np.nextafter(moved[3, 7], np.float32(100))  # the last bit of one number
    assert processed_from(list(LOGITS), list(moved)) is None
    penalised = scores.copy()
    penalised[0, 2] *= np.float32(1.2)
    assert processed_from(list(LOGITS), list(penalised)) is None
    assert processed_from(list(LOGITS), list(scores[::-1])) is None
    assert processed_from(list(LOGITS), list(-scores)) is None
    banned = scores.copy()
    banned[:, LOGITS.argmax(axis=1)] = -np.inf
    found = processed_from(list(LOGITS), list(banned))
    assert found is not None
    assert "not those with the largest logits" in found.text()


def test_min_p_and_top_p_are_told_apart() -> None:
    laws = np.array([softmax(row / np.float32(0.9)) for row in LOGITS])
    scores = LOGITS / np.float32(0.9)
    scores[laws < 0.05 * laws.max(axis=1)[:, None]] = -np.inf
    found = processed_from(list(LOGITS), list(scores))
    assert found is not None
    assert found.min_p is not None
    assert found.min_p[0] < 0.05 <= found.min_p[1]


def test_only_a_proof_sets_the_stage(tmp_path: Path) -> None:
    other = LOGITS / np.float32(0.7)
    other[0, 0] += 1
    for scores, stage in (
        (LOGITS / np.float32(0.7), "temperature"),
        (LOGITS, "raw"),
        (other, None),
    ):
        tensors = {"logits": ("F32", LOGITS), "scores": ("F32", scores.astype(np.float32))}
        path = write(tmp_path, "a.safetensors", safetensors(tensors))
        told = facts(path)
        assert told.get("scores stage", "").partition(":")[0] == (stage or "")
        assert ("scores name" in told) is (stage is None)
    named = f"{path}::scores"
    capture = open_pair(named, named, ReadingSettings(stage=Stage.PROCESSED))
    assert dict(capture.facts)["stage"] == "processed (as told)"


# Other facts of the samples of transformers.

BLOCKS = [
    0.2945624199811434, 0.3611600965603567, 0.44821421371268094, 0.6831736632298784,
    0.1945173963026725, 0.11374949843089238, 0.10644953288067222, 0.11677902307748161,
    0.25519176164315294, 0.441039583373937, 0.49605737822148355, 0.5220252945281936,
    0.04350096761308629, 0.19991647286235883, 0.6494654816931761, 0.4674980736051758,
    0.5182201852375831, 0.5052033423659568, 0.011055096320388475, 0.17279127909535177,
    0.7620024276252181, 0.38268906982335604, 0.43427637517122714, 0.4050513137864957,
    0.16269088479292013, 0.34490538312811775, 0.3411521401979255, 0.3939196807533196,
    0.2999646054563253, 0.2221462413993327, 0.34801983869256004, 0.15276727467994503,
    0.7119757695664161,
]  # fmt: skip


def test_the_acceptance_of_every_captured_block() -> None:
    """Target rows of a block follow one another, and its last one is the bonus row."""
    _, steps = read_one(hf("assisted_blocks.npz"))
    found = [
        np.minimum(softmax(floats(p.target)), softmax(floats(p.draft))).sum()
        for step in steps
        for p in step.positions
    ]
    assert found == pytest.approx(BLOCKS, abs=1e-13)
    assert [len(step.positions) for step in steps] == [4] * 8 + [1]


def test_the_ids_beside_the_rows() -> None:
    archive = open_archive(local_file(hf("out_dict.pt")), Format.TORCH)
    ids = read_integers(archive.tensors["sequences"], "sequences")
    assert ids == (1, 5, 9, 12, 41, 16, 55, 9, 52, 56)


def test_ties_and_the_grid_of_bfloat16() -> None:
    found = rows(hf("forward_TV_f32_of_bf16.npy"))
    assert not (found.astype(np.float32).view(np.uint32) & 0xFFFF).any()
    assert sum(len(set(row.tolist())) < len(row) for row in found) == 10
    assert sum(int((row == row.max()).sum() > 1) for row in found) == 0
    assert "bfloat16 grid" in facts(hf("forward_TV_f32_of_bf16.npy"))["array numbers"]


def test_sampled_ids_and_the_mean_acceptance() -> None:
    _, steps = read_pair(f"{hf('out_dict.pt')}::logits", f"{hf('out_dict.pt')}::logits")
    contexts = [step.context or () for step in steps]
    assert [after[-1] for after in contexts[1:]] == [41, 16, 55, 9, 52]
    assert contexts[0] == (1, 5, 9, 12)
    _, pairs = read_one(hf("pair_target_draft.npz"))
    rates = [
        np.minimum(softmax(floats(p.target)), softmax(floats(p.draft))).sum()
        for (p,) in (step.positions for step in pairs)
    ]
    assert np.mean(rates) == pytest.approx(0.413966887066621, abs=1e-14)
