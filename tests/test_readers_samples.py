"""Files that transformers, torch, numpy and safetensors wrote: every recorded fact is recovered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from specdist.errors import CaptureError, NotACaptureError
from specdist.model.row import Kind, NumberFormat, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers import describe
from tests.reader_files import floats, hf, read_one, read_pair

ROW0 = [-0.82421875, -1.2265625, -1.3984375, 0.73828125]
ALPHA = [
    0.6547935630624444, 0.4342836907153067, 0.31668656657874483, 0.41153141358356765,
    0.25584108192567373, 0.2260969934457253, 0.5689394523015753, 0.17788243197700115,
    0.5907389268930269, 0.5028747501831434,
]  # fmt: skip


def rows(name: str, **reading: object) -> list[np.ndarray]:
    """The rows of one dump, read as both sides."""
    _, steps = read_pair(hf(name), hf(name), **reading)
    return [floats(step.positions[0].target) for step in steps]


def acceptance(target: np.ndarray, draft: np.ndarray) -> float:
    def law(logits: np.ndarray) -> np.ndarray:
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    return float(np.minimum(law(target), law(draft)).sum())


def test_generate_logits() -> None:
    found = rows("gen_logits_TV_f32.npy")
    assert [int(row.argmax()) for row in found] == [35, 0, 2, 16, 21, 62]
    assert found[0][:4].tolist() == [
        2.2209572792053223, -2.1474971771240234, 2.299088716506958, -4.280843734741211,
    ]  # fmt: skip


def test_a_batch_needs_axes() -> None:
    name = hf("gen_logits_BTV_f32.npy")
    with pytest.raises(CaptureError, match=r"\[2, 6, 64\]") as error:
        read_pair(name, name)
    assert "--axes" in error.value.advice
    _, by_batch = read_pair(name, name, axes="batch,time,vocab")
    _, by_letters = read_pair(name, name, axes="btv")
    expected = np.load(name).reshape(12, 64).astype(float)
    for steps in (by_batch, by_letters):
        assert np.array_equal(expected, [floats(s.positions[0].target) for s in steps])
    _, swapped = read_pair(name, name, axes="tbv")
    assert np.array_equal(
        np.load(name).transpose(1, 0, 2).reshape(12, 64),
        [floats(s.positions[0].target) for s in swapped],
    )
    assert swapped[1].positions[0].target.place == f"{name}, array[1, 0]"


def test_scores_are_seen_to_be_masked() -> None:
    raw, scores = rows("gen_logits_TV_f32.npy"), rows("gen_scores_TV_f32.npy")
    kept = [int(np.isfinite(row).sum()) for row in scores]
    assert kept == [12, 9, 9, 10, 12, 12]
    for before, after in zip(raw, scores, strict=True):
        finite = np.isfinite(after)
        single = before.astype(np.float32) / np.float32(0.7)
        assert np.array_equal(single[finite].astype(float), after[finite])
    name = hf("gen_scores_TV_f32.npy")
    _, steps = read_pair(name, name)
    warnings = [f for step in steps for f in step.findings if f.ident == "configuration-needed"]
    assert len(warnings) == 6
    for stage in Stage:
        _, steps = read_pair(name, name, stage=stage)
        assert not [f for s in steps for f in s.findings if f.ident == "configuration-needed"]
        assert {step.positions[0].target.stage for step in steps} == {stage}


def test_the_hidden_top_k() -> None:
    found = rows("gen_scores_hidden_top_k50.npy")
    assert [int(np.isneginf(row).sum()) for row in found] == [14, 14, 14, 14]


def test_a_single_float16_row() -> None:
    _, steps = read_pair(hf("row_V_f16.npy"), hf("row_V_f16.npy"))
    (step,) = steps
    row = step.positions[0].target
    assert row.numbers is NumberFormat.FLOAT16
    assert int(floats(row).argmax()) == 35
    exact = rows("gen_logits_TV_f32.npy")[0]
    assert np.abs(floats(row) - exact).max() == 0.0019364356994628906
    assert row.place == f"{hf('row_V_f16.npy')}, array"
    assert step.id == "row:0"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("forward_TV_bf16_void.npy", None),
        ("forward_TV_bf16_as_u16.npy", NumberFormat.BFLOAT16),
        ("forward_bf16_tensor.pt", None),
        ("forward_TV_f32_of_bf16.npy", NumberFormat.BFLOAT16),
    ],
)
def test_every_spelling_of_bfloat16(name: str, numbers: NumberFormat | None) -> None:
    _, steps = read_pair(hf(name), hf(name), numbers=numbers)
    found = [step.positions[0].target for step in steps]
    assert {row.numbers for row in found} == {NumberFormat.BFLOAT16}
    assert floats(found[0])[:4].tolist() == ROW0
    assert int(floats(found[-1]).argmax()) == 41
    assert len(found) == 10


def test_bit_patterns_are_never_read_as_integers() -> None:
    with pytest.raises(CaptureError, match="uint16") as error:
        rows("forward_TV_bf16_as_u16.npy")
    assert "--numbers bfloat16" in error.value.advice


def test_a_float32_file_on_the_bfloat16_grid_says_so() -> None:
    capture, steps = read_pair(*[hf("forward_TV_f32_of_bf16.npy")] * 2)
    assert dict(capture.facts)["target numbers"].endswith("lie on the bfloat16 grid")
    assert steps[0].positions[0].target.numbers is NumberFormat.FLOAT32
    assert floats(steps[0].positions[0].target)[:4].tolist() == ROW0


@pytest.mark.parametrize("name", ["pair_target_draft.npz", "pair_f32.safetensors"])
def test_archives_with_both_sides(name: str) -> None:
    capture, steps = read_one(hf(name))
    rates = [acceptance(floats(s.positions[0].target), floats(s.positions[0].draft)) for s in steps]
    assert rates == pytest.approx(ALPHA, abs=1e-12)
    assert steps[0].positions[0].target.kind is Kind.LOGITS
    # One id a row, shared by both sides: the context is known and needs no comparison.
    assert [len(step.context or ()) for step in steps] == list(range(1, 11))
    assert all(not step.findings for step in steps)
    if name.endswith("safetensors"):
        assert ("metadata source", "teacher forced (not applied)") in capture.facts


def test_blocks_with_their_own_lengths() -> None:
    capture, steps = read_one(hf("assisted_blocks.npz"))
    assert [len(step.positions) for step in steps] == [4] * 8 + [1]
    assert all(step.bonus is not None for step in steps)
    rate = acceptance(floats(steps[1].positions[2].target), floats(steps[1].positions[2].draft))
    assert rate == pytest.approx(0.10644953288067222, abs=1e-12)
    assert dict(capture.facts)["draft lengths"] == "draft_len, 9 steps"
    name = hf("assisted_blocks.npz")
    _, told = read_pair(
        f"{name}::target_scores", f"{name}::draft_scores", draft_lengths=f"{name}::draft_len"
    )
    assert [s.id for s in told] == [s.id for s in steps]
    assert [s.id for s in told][:3] == ["row:0", "row:4", "row:8"]


def test_torch_views_of_shared_storages() -> None:
    found = rows("assisted_logits_tuple_views.pt")
    assert [int(row.argmax()) for row in found] == [
        35, 51, 11, 55, 55, 19, 10, 55, 55, 57, 22, 16, 11, 54, 1, 20,
    ]  # fmt: skip


def test_a_tuple_of_steps_and_a_dict() -> None:
    stacked = rows("out_logits_tuple.pt")
    direct = rows("gen_logits_TV_f32.npy")
    assert np.array_equal(stacked, direct)
    name = hf("out_dict.pt")
    _, steps = read_pair(f"{name}::logits", f"{name}::scores")
    assert np.array_equal(direct, [floats(s.positions[0].target) for s in steps])
    assert steps[0].prompt_length == 4
    assert [len(s.context or ()) for s in steps] == [4, 5, 6, 7, 8, 9]
    with pytest.raises(CaptureError, match=r"logits, scores"):
        read_pair(name, name)
    with pytest.raises(CaptureError, match="no tensor 'logit'") as error:
        read_pair(f"{name}::logit", f"{name}::scores")
    assert "'logits'" in error.value.advice


@pytest.mark.parametrize(
    ("name", "kind", "message", "advice"),
    [
        ("out_logits_tuple_legacy.pt", NotACaptureError, "before version 1.6", "torch 1.6"),
        ("out_modeloutput_full.pt", CaptureError, "GenerateDecoderOnlyOutput", "out.logits"),
        ("ragged_object_pickle.npy", CaptureError, "pickled Python objects", "npz"),
    ],
)
def test_refused_by_name(name: str, kind: type[CaptureError], message: str, advice: str) -> None:
    with pytest.raises(kind, match=message) as error:
        read_pair(hf(name), hf(name))
    assert advice in error.value.advice
    assert error.value.place.startswith(hf(name))


def test_a_file_of_facts_is_no_capture(tmp_path: Path) -> None:
    from specdist.readers import open_captures

    copy = tmp_path / "meta.json"
    copy.write_bytes(Path(hf("gen_meta.json")).read_bytes())
    (inside,) = open_captures([str(tmp_path)], ReadingSettings())
    (named,) = open_captures([str(copy)], ReadingSettings())
    assert (inside.counts, named.counts) == (False, True)  # type: ignore[union-attr]


def test_describing_one_side() -> None:
    facts = dict(describe(hf("out_dict.pt"), ReadingSettings()))
    assert facts["reader"] == "torch"
    assert facts["tensor logits"] == "float32 [1, 6, 64]"
    assert facts["tensor sequences"] == "int64 [1, 10]"
    assert facts["scores mask"].startswith("-inf at 52 of 64 tokens in the first row")
