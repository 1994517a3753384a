"""Draft vocabularies of their own, and padded ones: acceptance with and without the map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError
from specdist.model.settings import ReadingSettings
from specdist.readers import describe, load_draft_map, load_file_map
from tests.cli import run
from tests.reader_files import TorchPickle, hf, npy, npz, safetensors, torch_file, write

VOCAB = Path(__file__).parent / "data" / "field" / "vocab"
REDUCED = str(VOCAB / "draft_logits_reduced_T24.npy")
PADDED = str(VOCAB / "target_logits_padded_T72.npy")
TARGET_IDS = (
    0, 1, 2, 3, 4, 8, 9, 11, 12, 15, 16, 21, 26, 35, 41, 42, 48, 50, 51, 52, 55, 57, 62, 63,
)  # fmt: skip
WITH_MAP = [
    0.5025390676220097, 0.3117413262854478, 0.2628665723060987, 0.2861979137859676,
    0.17719121740781069, 0.18893050300235198, 0.5687634806560238, 0.19306667195024205,
    0.4270866794648359, 0.4322549143544071,
]  # fmt: skip
FORGOTTEN = [
    0.06698000761239724, 0.24151170517239418, 0.17467788677994545, 0.08880799675322287,
    0.1155448364772696, 0.1677819945255583, 0.21705302167398388, 0.11042020178163162,
    0.10712800665887029, 0.2162471048702742,
]  # fmt: skip
PAD_MASS = [
    0.024016347672495397, 0.021213123214334852, 0.03988600250546813, 0.025645378523196885,
    0.025109639988743885, 0.0230272474729905, 0.01634431393144528, 0.030227932077978366,
    0.026690309051450214, 0.033219672413005316,
]  # fmt: skip


def softmax(rows: np.ndarray) -> np.ndarray:
    weights = np.exp(rows.astype(np.float64) - rows.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def target_rows() -> np.ndarray:
    return np.load(hf("pair_target_draft.npz"))["target_logits"]


@pytest.fixture(name="target")
def _target(tmp_path: Path) -> str:
    return write(tmp_path, "target.npy", npy(target_rows()))


def rates(*arguments: str) -> list[float]:
    """The acceptance rate of every step."""
    result = run("check", "--kind", "logits", "--format", "json", *arguments)
    steps = result.json()["steps"]
    return [step["positions"][0]["acceptance_rate"]["approx"] for step in steps]


def acceptance(draft: np.ndarray) -> list[float]:
    return np.minimum(softmax(target_rows()), draft).sum(axis=1).tolist()


MAPS = {
    "d2t-24.npy": ("offsets", True),
    "eagle3_head.safetensors": (None, False),
    "eagle_cache.pt": (None, False),
}


@pytest.mark.parametrize("name", MAPS)
def test_the_facts_of_the_maps(name: str, target: str) -> None:
    form, _ = MAPS[name]
    path = str(VOCAB / name)
    assert load_draft_map(path, form) == TARGET_IDS
    assert load_file_map(path, form).assumed is False
    draft = np.zeros((10, 64))
    draft[:, TARGET_IDS] = softmax(np.load(REDUCED))
    assert acceptance(draft) == pytest.approx(WITH_MAP, abs=1e-14)
    told = ("--draft-map-form", form) if form else ()
    found = rates("--target", target, "--draft", REDUCED, "--draft-map", path, *told)
    assert found == pytest.approx(WITH_MAP, abs=1e-14)


def test_a_forgotten_map(target: str) -> None:
    draft = np.zeros((10, 64))
    draft[:, :24] = softmax(np.load(REDUCED))
    assert acceptance(draft) == pytest.approx(FORGOTTEN, abs=1e-14)
    # Rows of another length meet only where the command line says how.
    refused = run("check", "--target", target, "--draft", REDUCED, "--kind", "logits")
    assert refused.code == 2
    assert "--draft-map FILE" in refused.stderr
    found = rates("--target", target, "--draft", REDUCED, "--draft-vocab-size", "64")
    assert found == pytest.approx(FORGOTTEN, abs=1e-14)


def test_rows_that_are_scattered_already(target: str, tmp_path: Path) -> None:
    scattered = np.full((10, 64), -np.inf, np.float32)
    scattered[:, TARGET_IDS] = np.load(REDUCED)
    path = write(tmp_path, "scattered.npy", npy(scattered))
    found = rates("--target", target, "--draft", path)
    assert found == pytest.approx(WITH_MAP, abs=1e-14)
    head = str(VOCAB / "eagle3_head.safetensors")
    again = run(
        "check", "--target", target, "--draft", path, "--kind", "logits", "--draft-map", head
    )
    assert again.code == 2
    assert "needs no map" in " ".join(again.stderr.split())


def test_offsets_without_marks_are_asked_for() -> None:
    with pytest.raises(CaptureError, match="entries 0 and 1 of the draft map are both") as error:
        load_draft_map(str(VOCAB / "d2t-24.npy"))
    assert "--draft-map-form offsets" in error.value.advice
    with pytest.raises(CaptureError, match="marks target ids"):
        load_draft_map(str(VOCAB / "t2d-24.npy"))
    marks = np.load(VOCAB / "t2d-24.npy")
    assert tuple(np.flatnonzero(marks).tolist()) == TARGET_IDS


def _pair(tmp_path: Path, entries: Any, marked: Any, size: int = 8, name: str = "") -> str:
    marks = np.zeros(size, bool)
    marks[list(marked)] = True
    arrays = {f"{name}d2t": np.array(entries, np.int64), f"{name}t2d": marks}
    return write(tmp_path, "map.npz", npz(arrays))


@pytest.mark.parametrize("name", ["", "draft_model."])
def test_marks_say_what_the_entries_are(name: str, tmp_path: Path) -> None:
    # {i + d2t[i]} = {1, 2, 5} in the one form, {d2t[i]} in the other; both are maps.
    for entries, form in (((1, 1, 3), "offsets"), ((1, 2, 5), "ids"), ((5, 1, 2), "ids")):
        path = _pair(tmp_path, entries, (1, 2, 5), name=name)
        found = load_file_map(path + (f"::{name}d2t" if name else ""))
        assert found.assumed is False
        assert found.ids == ((1, 2, 5) if form == "offsets" else entries)
        told = dict(describe(path, ReadingSettings()))[f"map {name}d2t"]
        assert told.startswith(f"{form}: 3 draft ids onto 3 of 8 target ids, just those")
    # An identity: all offsets are 0.
    assert load_draft_map(_pair(tmp_path, (0, 0, 0), (0, 1, 2), 3)) == (0, 1, 2)
    # Ids with -1 for a draft token that has no counterpart.
    assert load_draft_map(_pair(tmp_path, (1, -1, 5), (1, 5))) == (1, -1, 5)


CONTRADICTIONS = [
    ((1, 2, 5), (1, 2, 6), None, "do not reach the 3 target ids that t2d marks: 3 is not marked"),
    ((1, 2, 5), (1, 2), None, "do not reach the 2 target ids"),
    ((1, 2, 5), (1, 2, 5), "offsets", "read as offsets: 3 is not marked"),
    ((1, 1, 3), (1, 2, 5), "ids", "read as ids: 3 is not marked"),
    ((), (1,), None, "the 0 entries"),
]


@pytest.mark.parametrize(("entries", "marked", "form", "message"), CONTRADICTIONS)
def test_marks_that_contradict_a_map(
    entries: tuple[int, ...],
    marked: tuple[int, ...],
    form: str | None,
    message: str,
    tmp_path: Path,
) -> None:
    path = _pair(tmp_path, entries, marked)
    with pytest.raises(CaptureError, match=message) as error:
        load_draft_map(path, form)
    assert error.value.place == f"{path}, d2t"
    assert ("they do" in error.value.advice) is (form is not None)


def test_without_marks_the_form_is_a_guess_that_is_said(target: str, tmp_path: Path) -> None:
    ids = write(tmp_path, "ids.npy", npy(np.array(TARGET_IDS, np.int64)))
    assert load_file_map(ids).assumed is True
    assert load_file_map(ids, "ids").assumed is False
    for text, assumed in (('{"offsets": [0, 1]}', False), ("[0, 1]", True)):
        assert load_file_map(write(tmp_path, "m.json", text)).assumed is assumed
    sides = ("--target", target, "--draft", REDUCED, "--kind", "logits", "--draft-map")
    assert "target ids (assumed" in run("check", *sides, ids).stdout
    head = str(VOCAB / "eagle3_head.safetensors")
    assert "(assumed; --draft-map-form" not in run("check", *sides, head).stdout


def test_lists_in_the_order_of_frequency(target: str, tmp_path: Path) -> None:
    """FR-Spec and SGLang's --speculative-token-map: a list of ids, not sorted, saved by torch."""
    order = np.random.default_rng(3).permutation(24)
    pickled = TorchPickle().add(b"](")
    for at in order:
        pickled.number(TARGET_IDS[at])
    path = write(tmp_path, "freq.pt", torch_file(pickled.add(b"e").done(), {}))
    assert load_draft_map(path) == tuple(TARGET_IDS[at] for at in order)
    shuffled = write(tmp_path, "d.npy", npy(np.load(REDUCED)[:, order]))
    found = rates("--target", target, "--draft", shuffled, "--draft-map", path)
    assert found == pytest.approx(WITH_MAP, abs=1e-14)


def test_the_padded_vocabulary_of_transformers(tmp_path: Path) -> None:
    padded = np.load(PADDED)
    assert np.array_equal(padded[:, :64], target_rows())
    assert softmax(padded)[:, 64:].sum(axis=1) == pytest.approx(PAD_MASS, abs=1e-15)
    draft = write(tmp_path, "d.npy", npy(np.load(hf("pair_target_draft.npz"))["draft_logits"]))
    result = run(
        "check", "--target", PADDED, "--draft", draft, "--kind", "logits",
        "--recipe", "vocab-size:64", "--format", "json",
    )  # fmt: skip
    steps = result.json()["steps"]
    said = [
        finding["message"]
        for step in steps
        for finding in step["findings"]
        if finding["ident"] == "row-not-normalised"
    ]
    assert len(said) == 10
    for text, mass in zip(said, PAD_MASS, strict=True):
        shown = text.split("mass ")[1].split(" on ids from 64 on")[0]
        assert float(shown) == pytest.approx(mass, rel=1e-5)
    # Cut, the law is that of the model that was not padded.
    found = [step["positions"][0]["acceptance_rate"]["approx"] for step in steps]
    plain = softmax(np.load(hf("pair_target_draft.npz"))["draft_logits"])
    assert found == pytest.approx(acceptance(plain), abs=1e-14)


def test_a_longer_axis_than_the_vocabulary_is_not_cut_silently() -> None:
    result = run("check", "--target", PADDED, "--draft", PADDED, "--vocab-size", "64")
    assert result.code == 2
    assert "vocab-size:64" in result.stderr


def test_weights_beside_a_map_are_no_rows(tmp_path: Path) -> None:
    for name in ("eagle3_head.safetensors", "eagle_cache.pt"):
        result = run("check", str(VOCAB / name))
        assert result.code == 2
        assert "a map of draft ids is no side of a capture" in result.stderr
        assert "--draft-map FILE" in result.stderr
    lone = {"lm_head.weight": ("F32", np.ones((4, 3), np.float32))}
    result = run("check", write(tmp_path, "w.safetensors", safetensors(lone)))
    assert "weights of a model are no distribution" in result.stderr
