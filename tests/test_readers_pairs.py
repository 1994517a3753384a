"""Pairs of dumps, block lengths, contexts, folders, standard input and vocabulary files."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, ContextMismatchError, NotACaptureError, SettingsError
from specdist.model.capture import Capture, Unreadable
from specdist.model.row import Kind, PointMass
from specdist.model.settings import ReadingSettings
from specdist.readers import load_vocab, open_captures, open_pair
from specdist.readers.lengths import parse_lengths
from tests.reader_files import (
    TorchPickle,
    floats,
    npy,
    npz,
    read_one,
    read_pair,
    safetensors,
    torch_file,
    values,
    write,
)

RNG = np.random.default_rng(3)
TARGET = (RNG.normal(size=(10, 6)) * 3).astype(np.float32)
DRAFT = (RNG.normal(size=(7, 6)) * 3).astype(np.float32)
PAIR = TARGET[:7]


def notes(steps: list[Any]) -> list[str]:
    return [finding.ident for step in steps for finding in step.findings]


@pytest.mark.parametrize("lengths", ["2,4,1", "[2, 4, 1]", "npy", "npz"])
def test_blocks(tmp_path: Path, lengths: str) -> None:
    stored = np.array([2, 4, 1], np.int32)
    if lengths == "npy":
        lengths = write(tmp_path, "lengths", npy(stored))
    elif lengths == "npz":
        lengths = write(tmp_path, "lengths", npz({"x": TARGET, "n": stored})) + "::n"
    elif lengths[0] == "[":
        lengths = write(tmp_path, "lengths", lengths)
    target, draft = write(tmp_path, "t", npy(TARGET)), write(tmp_path, "d", npy(DRAFT))
    capture, steps = read_pair(target, draft, draft_lengths=lengths)
    assert capture.step_count == 3
    assert [step.id for step in steps] == ["row:0", "row:2", "row:6"]
    assert [len(step.positions) for step in steps] == [2, 4, 1]
    assert [position.index for position in steps[1].positions] == [0, 1, 2, 3]
    target_rows = [floats(p.target).tolist() for step in steps for p in step.positions]
    assert target_rows == TARGET[[0, 1, 3, 4, 5, 6, 8]].tolist()
    assert [floats(p.draft).tolist() for s in steps for p in s.positions] == DRAFT.tolist()
    assert [floats(s.bonus).tolist() for s in steps] == TARGET[[2, 7, 9]].tolist()
    assert steps[1].source == f"{target} + {draft}, rows 2 to 5"
    assert list(capture.steps())[2].id == "row:6"


def test_lengths_in_runs() -> None:
    lengths = parse_lengths("4x12, 3,2x1")
    assert (lengths.steps, lengths.rows) == (14, 53)
    assert list(lengths) == [4] * 12 + [3, 2]
    assert parse_lengths("1x999999999999").rows == 999999999999
    with pytest.raises(CaptureError, match="draft length 0"):
        parse_lengths("4,0")
    with pytest.raises(SettingsError, match="draft-lengths=four is neither lengths nor a file"):
        parse_lengths("four")


@pytest.mark.parametrize(
    ("draft_rows", "target_rows", "advice"),
    [
        (7, 9, "n + 1 target rows"),
        (6, 10, "n + 1 target rows"),
        (7, 7, "leave --draft-lengths out"),
    ],
)
def test_lengths_must_fit(tmp_path: Path, draft_rows: int, target_rows: int, advice: str) -> None:
    target = write(tmp_path, "t", npy(TARGET[:target_rows]))
    draft = write(tmp_path, "d", npy(DRAFT[:draft_rows]))
    with pytest.raises(CaptureError, match=f"{draft_rows} draft rows and {target_rows}") as error:
        read_pair(target, draft, draft_lengths="2,4,1")
    assert error.value.expected == "7 draft rows and 10 target rows"
    assert advice in error.value.advice


def test_counts_and_vocabularies_must_agree(tmp_path: Path) -> None:
    target, draft = write(tmp_path, "t", npy(TARGET)), write(tmp_path, "d", npy(DRAFT))
    with pytest.raises(CaptureError, match="10 target rows and 7 draft rows") as error:
        read_pair(target, draft)
    assert "[10, 6] and [7, 6]" in error.value.expected
    assert "--draft-lengths" in error.value.advice
    batch = write(tmp_path, "b", npy(TARGET[:6].reshape(2, 3, 6)))
    other = write(tmp_path, "o", npy(TARGET[:6].reshape(3, 2, 6)))
    with pytest.raises(CaptureError, match="6 target rows and 6 draft rows"):
        read_pair(batch, other, axes="btv")


def test_context_not_verified_is_a_note(tmp_path: Path) -> None:
    path = write(tmp_path, "t", npy(PAIR))
    capture, steps = read_pair(path, write(tmp_path, "d", npy(DRAFT)))
    assert notes(steps) == ["context-not-verified"] * 7
    assert len({finding for step in steps for finding in step.findings}) == 1
    assert {f.severity.value for s in steps for f in s.findings} == {"note"}
    assert any(key == "context" and "not verified" in text for key, text in capture.facts)


def ids(values: list[int]) -> tuple[str, np.ndarray]:
    return ("I64", np.array(values, np.int64))


IDS = [3, 1, 4, 1, 5, 2, 0]


def test_contexts_that_agree(tmp_path: Path) -> None:
    for name in ("input_ids", "tokens", "positions"):
        target = write(tmp_path, "t", safetensors({"x": ("F32", PAIR), name: ids(IDS)}))
        draft = write(tmp_path, "d", safetensors({"x": ("F32", DRAFT), name: ids(IDS)}))
        _, steps = read_pair(target, draft)
        assert notes(steps) == []
        context = steps[3].context
        assert context == (None if name == "positions" else (3, 1, 4, 1))
    meta = {"context_hash": "c0ffee"}
    target = write(tmp_path, "t", safetensors({"x": ("F32", PAIR)}, meta))
    draft = write(tmp_path, "d", safetensors({"x": ("F32", DRAFT)}, meta))
    assert notes(read_pair(target, draft)[1]) == []


def test_contexts_that_differ(tmp_path: Path) -> None:
    target = write(tmp_path, "t", npz({"x": PAIR, "input_ids": np.array(IDS)}))
    other = [3, 1, 4, 1, 5, 0, 2]
    draft = write(tmp_path, "d", npz({"x": DRAFT, "input_ids": np.array(other)}))
    with pytest.raises(ContextMismatchError, match="token ids differ at index 5: 2 and 0") as error:
        read_pair(target, draft)
    assert error.value.place == f"{target} and {draft}"
    short = write(tmp_path, "d", npz({"x": DRAFT, "input_ids": np.array(IDS[:3])}))
    with pytest.raises(ContextMismatchError, match="7 token ids, the draft 3"):
        read_pair(target, short)
    both = {"target": PAIR, "draft": DRAFT}
    positions = {"target_positions": np.arange(7), "draft_positions": np.arange(1, 8)}
    with pytest.raises(Exception, match="positions differ at index 0: 0 and 1") as caught:
        read_one(write(tmp_path, "both", npz({**both, **positions})))
    assert caught.value.ident == "context-mismatch"  # type: ignore[attr-defined]
    target = write(tmp_path, "t", safetensors({"x": ("F32", PAIR)}, {"context_hash": "a"}))
    draft = write(tmp_path, "d", safetensors({"x": ("F32", DRAFT)}, {"context_hash": "b"}))
    with pytest.raises(ContextMismatchError, match="context_hash"):
        read_pair(target, draft)


def test_one_sided_context_is_used_but_proves_nothing(tmp_path: Path) -> None:
    target = write(tmp_path, "t", npz({"x": PAIR, "sequences": np.array([[9, 8, *IDS]])}))
    _, steps = read_pair(target, write(tmp_path, "d", npy(DRAFT)))
    assert notes(steps) == ["context-not-verified"] * 7
    assert steps[0].context == (9, 8)
    assert steps[6].context == (9, 8, 3, 1, 4, 1, 5, 2)
    assert steps[6].prompt_length == 2
    odd = write(tmp_path, "t", npz({"x": PAIR, "input_ids": np.arange(5)}))
    capture, steps = read_pair(odd, write(tmp_path, "d", npy(DRAFT)))
    assert steps[0].context is None
    assert ("context", "input_ids is not used: 5 ids for 7 rows") in capture.facts


def test_drafted_tokens(tmp_path: Path) -> None:
    drafted = np.array([5, -1, 0, 1, 2, 3, 4])
    both = {"target": TARGET, "draft": DRAFT, "draft_tokens": drafted, "draft_len": [2, 4, 1]}
    _, steps = read_one(write(tmp_path, "a", npz({k: np.asarray(v) for k, v in both.items()})))
    assert [p.draft_token for s in steps for p in s.positions] == [5, None, 0, 1, 2, 3, 4]
    assert [step.draft_tokens for step in steps] == [None, (0, 1, 2, 3), (4,)]
    bad = {"target": PAIR, "draft": DRAFT, "draft_tokens": np.full(7, 6)}
    with pytest.raises(Exception, match="token 6 is outside the vocabulary of 6"):
        read_one(write(tmp_path, "b", npz(bad)))


def test_stored_lengths_without_bonus_rows(tmp_path: Path) -> None:
    both = {"target": PAIR, "draft": DRAFT, "draft_lengths": np.array([2, 4, 1])}
    capture, steps = read_one(write(tmp_path, "a", npz(both)))
    assert len(steps) == 7
    assert ("draft lengths", "draft_lengths is not used: there are no bonus rows") in capture.facts


def test_two_json_files(tmp_path: Path) -> None:
    target = {"steps": [{"id": "a", "context": [1], "positions": [{"target": [0.5, 0.5, 0]}]}]}
    draft = {"steps": [{"context": [1], "positions": [{"draft": {"one_hot": 1}}]}]}
    target["steps"][0]["positions"][0]["draft_token"] = 1
    names = [
        write(tmp_path, "t.json", json.dumps(target)),
        write(tmp_path, "d.json", json.dumps({**draft, "vocab_size": 3})),
    ]
    _, (step,) = read_pair(*names)
    assert values(step.positions[0].target) == [0.5, 0.5, 0]
    assert step.positions[0].draft.values == PointMass(1, 3)
    assert (step.id, step.context, step.draft_tokens, step.findings) == ("a", (1,), (1,), ())
    draft["steps"][0]["context"] = [2]
    names[1] = write(tmp_path, "d.json", json.dumps({**draft, "vocab_size": 3}))
    with pytest.raises(ContextMismatchError, match="contexts"):
        read_pair(*names)
    rows = write(tmp_path, "r.json", "[[0.5, 0.25, 0.25], [1, 0, 0]]")
    _, steps = read_pair(rows, rows)
    assert [values(s.positions[0].draft)[0] for s in steps] == [0.5, 1]
    assert notes(steps) == ["context-not-verified"] * 2
    with pytest.raises(CaptureError, match="1 steps, the draft 2"):
        read_pair(names[0], rows)
    with pytest.raises(CaptureError, match="one side is JSON"):
        read_pair(rows, write(tmp_path, "t.npy", npy(PAIR)))
    with pytest.raises(CaptureError, match="JSON holds no tensor"):
        read_pair(f"{rows}::x", rows)


def opened(*sources: str | Path, **reading: Any) -> list[Capture | Unreadable]:
    return list(open_captures([str(source) for source in sources], ReadingSettings(**reading)))


GOOD = '{"target": ["1/2", "1/2"], "draft": ["1/4", "3/4"]}'


def test_folders(tmp_path: Path) -> None:
    write(tmp_path, "b.json", GOOD)
    write(tmp_path, "README.md", "# words\n")
    write(tmp_path, "config.json", '{"target": "target", "draft": "draft", "gamma": 4}')
    write(tmp_path, "steps.jsonl", '{"step": 0, "context": [1]}\n{"step": 1, "context": [2]}\n')
    write(tmp_path, "report.json", '{"schema": "specdist.report/1", "steps": [{"id": "0"}]}')
    write(tmp_path, "broken.json", GOOD[:20])
    write(tmp_path, "one_side.npy", npy(PAIR))
    write(tmp_path, "empty", "")
    write(tmp_path, ".hidden.json", GOOD)
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".git", "x.json", GOOD)
    inner = tmp_path / "a"
    inner.mkdir()
    write(inner, "pair.npz", npz({"target": PAIR, "draft": DRAFT}))
    (inner / "loop").symlink_to(tmp_path)
    (inner / "gone").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    found = {str(Path(item.source).relative_to(tmp_path)): item for item in opened(tmp_path)}
    assert list(found) == sorted(found)
    assert len(found) == 11
    captures = {name for name, item in found.items() if isinstance(item, Capture)}
    assert captures == {"a/pair.npz", "b.json"}
    counted = {n for n, item in found.items() if isinstance(item, Unreadable) and item.counts}
    assert counted == {"a/gone", "broken.json"}


def test_named_files_always_count(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (
        write(tmp_path, "README.md", "# words\n"),
        write(tmp_path, "empty", ""),
        write(tmp_path, "x.npy", npy(PAIR)),
        str(tmp_path / "pipe"),
        str(tmp_path / "absent"),
        "/dev/null",
    ):
        (item,) = opened(name)
        assert isinstance(item, Unreadable)
        assert item.counts
        assert item.place.startswith(name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    path = Path(write(tmp_path, "x.json", GOOD))
    path.chmod(0)
    (item,) = opened(tmp_path)
    assert isinstance(item, Unreadable)
    assert item.message == "permission to read is denied"
    assert item.counts


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    assert opened(tmp_path) == []


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    feed(GOOD.encode())
    (capture,) = opened("-")
    assert isinstance(capture, Capture)
    assert capture.source == "<stdin>"
    assert list(capture.steps()) == list(capture.steps())
    feed(f"{GOOD}\n{GOOD}\n".encode())
    (capture,) = opened("-")
    assert isinstance(capture, Capture)
    assert capture.step_count == 2
    feed(npy(PAIR))
    (item,) = opened("-")
    assert isinstance(item, Unreadable)
    assert "save it to a file" in item.advice


def test_names_never_decide(tmp_path: Path) -> None:
    as_text = write(tmp_path, "x.npy", GOOD)
    assert read_one(as_text)[0].reader == "json"
    as_npz = write(tmp_path, "x.json", npz({"target": PAIR, "draft": DRAFT}))
    assert read_one(as_npz)[0].reader == "npz"
    odd = write(tmp_path, "a::b", npy(PAIR))
    assert len(read_pair(odd, f"{odd}::array")[1]) == 7


def test_a_forced_reader(tmp_path: Path) -> None:
    path = write(tmp_path, "x", GOOD)
    assert read_one(path, reader="json")[0].reader == "json"
    assert read_one(path, reader="jsonl")[0].reader == "jsonl"
    with pytest.raises(Exception, match="wrong magic bytes"):
        read_one(path, reader="npy")
    with pytest.raises(SettingsError, match="no reader 'nppy'") as error:
        opened(path, reader="nppy")
    assert "'npy'" in error.value.advice
    archive = write(tmp_path, "z", npz({"target": PAIR, "draft": DRAFT}))
    with pytest.raises(Exception, match="this is npz, not torch"):
        read_one(archive, reader="torch")


def test_vocabularies(tmp_path: Path) -> None:
    def load(value: Any) -> tuple[str, ...]:
        return load_vocab(write(tmp_path, "v.json", json.dumps(value))).texts

    assert load(["A", "[/INST]", "\n", "\ud800"]) == ("A", "[/INST]", "\n", "\ud800")
    assert load({"b": 2, "a": 0}) == ("a", "", "b")
    tokenizer = {
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]},
        "model": {"vocab": {"Ġthe": 1, "Ċ": 2, "Ã": 3, "Ã©": 4, "日": 5}},
        "added_tokens": [{"id": 0, "content": "<eos>"}],
    }
    assert load(tokenizer) == ("<eos>", " the", "\n", "\\xc3", "é", "日")
    plain = {"model": {"vocab": {"Ġthe": 0}}, "decoder": {"type": "WordPiece"}}
    assert load(plain) == ("Ġthe",)
    assert load({"model": {"type": "Unigram", "vocab": [["▁a", -1.5], ["b", -2]]}}) == ("▁a", "b")
    for broken in ([], [1], {}, {"a": -1}, {"a": "0"}, "text", 5, {"model": {}}):
        with pytest.raises(CaptureError) as error:
            load(broken)
        assert error.value.place.startswith(str(tmp_path))
    with pytest.raises(CaptureError, match="no such file"):
        load_vocab(str(tmp_path / "absent"))
    path = write(tmp_path, "c.json", GOOD)
    vocab = write(tmp_path, "v.json", '["yes", "no"]')
    _, (step,) = read_one(path, vocab=vocab)
    assert step.vocab is not None
    assert step.vocab.text(1) == "no"
    assert open_pair(path, path, ReadingSettings(vocab=vocab)).vocab == step.vocab


def test_an_unknown_archive_is_named(tmp_path: Path) -> None:
    from tests.reader_files import zipped

    path = write(tmp_path, "x.npz", zipped({"word/document.xml": b"<x/>"}))
    with pytest.raises(NotACaptureError, match=r"neither \.npz nor torch: word/document\.xml"):
        read_pair(path, path)


def refused(*sources: str, **reading: Any) -> Unreadable:
    (found,) = open_captures(sources, ReadingSettings(**reading))
    assert isinstance(found, Unreadable)
    return found


def test_two_sides_named_as_captures_are_taken_for_a_pair(tmp_path: Path) -> None:
    target, draft = (write(tmp_path, name, npy(PAIR)) for name in ("t.npy", "d.npy"))
    found = refused(target, draft)
    assert found.counts
    assert found.advice == f"did you mean --target {target} --draft {draft}?"
    sides = [write(tmp_path, f"{side}.npy", npy(PAIR)) for side in ("draft", "target")]
    assert refused(*sides).advice == f"did you mean --target {sides[1]} --draft {sides[0]}?"


def test_other_files_beside_a_side_are_no_pair(tmp_path: Path) -> None:
    side = write(tmp_path, "t.npy", npy(PAIR))
    both = write(tmp_path, "both.npz", npz({"target": PAIR, "draft": PAIR}))
    text = write(tmp_path, "c.json", '{"target": ["1"], "draft": ["1"]}')
    for other in (both, text, str(tmp_path / "missing.npy"), str(tmp_path)):
        found = list(open_captures([side, other], ReadingSettings()))
        assert len(found) > 1
        assert "did you mean" not in getattr(found[0], "advice", "")


def test_what_cannot_be_paired_gets_the_command_that_pairs_it(tmp_path: Path) -> None:
    odd = write(tmp_path, "odd.npz", npz({"a": PAIR, "b": PAIR}))
    command = f"specdist check --target {odd}::a --draft {odd}::b"
    assert refused(odd).advice == f"if these are the sides: {command}"
    alone = write(tmp_path, "t.npy", npy(PAIR))
    assert refused(alone).advice.endswith(f"specdist check --target {alone} --draft FILE")
    both = {"target": PAIR, "draft": PAIR, "target_probs": PAIR, "draft_probs": PAIR}
    several = write(tmp_path, "several.npz", npz(both))
    sides = f"--target {several}::target --draft {several}::draft"
    assert refused(several).advice == f"specdist check {sides}"


def test_a_tuple_of_both_sides_is_named_by_its_items(tmp_path: Path) -> None:
    pickle = TorchPickle().add(b"(")
    for offset in (0, 18):
        pickle.tensor("FloatStorage", "0", 42, offset, (3, 6), (6, 1))
    data = torch_file(pickle.add(b"t").done(), {"0": PAIR.tobytes()})
    path = write(tmp_path, "tuple.pt", data)
    advice = refused(path).advice
    assert advice == (
        f"if it is (target, draft): specdist check --target {path}::tuple.0 --draft {path}::tuple.1"
    )
    _, steps = read_pair(f"{path}::tuple.0", f"{path}::tuple.1", kind=Kind.LOGITS)
    first, _, _ = steps
    assert floats(first.positions[0].target).tolist() == PAIR[0].tolist()
    assert floats(first.positions[0].draft).tolist() == PAIR[3].tolist()


@pytest.mark.parametrize(
    ("target", "draft", "advice"),
    [(8, 6, "--draft-lengths 3x2"), (9, 7, "pass --draft-lengths 4,4,3"), (6, 8, "one target row")],
)
def test_row_counts_of_blocks_say_their_lengths(
    target: int, draft: int, advice: str, tmp_path: Path
) -> None:
    ours = write(tmp_path, "t.npy", npy(TARGET[:target]))
    theirs = write(tmp_path, "d.npy", npy(TARGET[:draft]))
    with pytest.raises(CaptureError) as raised:
        open_pair(ours, theirs, ReadingSettings(kind=Kind.LOGITS))
    assert advice in raised.value.advice


def test_axes_of_steps_and_positions_are_explained(tmp_path: Path) -> None:
    cube = write(tmp_path, "cube.npy", npy(PAIR[:6].reshape(2, 3, 6)))
    with pytest.raises(CaptureError) as raised:
        open_pair(cube, cube, ReadingSettings(kind=Kind.LOGITS))
    assert '--axes "batch,time,vocab" for [steps or sequences, positions, V]' in raised.value.advice
    given = ReadingSettings(kind=Kind.LOGITS, axes="batch,time,vocab")
    assert len(list(open_pair(cube, cube, given).steps())) == 6


@pytest.mark.parametrize("text", ["nonsense", "4,four", "4x", "missing.npy::lengths"])
def test_draft_lengths_that_are_none_say_how_they_are_written(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, "t.npy", npy(PAIR))
    with pytest.raises(SettingsError) as raised:
        open_pair(path, path, ReadingSettings(kind=Kind.LOGITS, draft_lengths=text))
    assert "4x12 (twelve steps of four)" in raised.value.expected
