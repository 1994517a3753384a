"""Two engine files as one capture: alignment by place or tokens, joining by id, bytes or text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.errors import CaptureError, ContextMismatchError, SettingsError, SpecdistError
from specdist.model.capture import Step, Vocab
from specdist.model.row import FloatValues, Kind, ListedValues, NumberFormat, RationalValues, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow, Label
from specdist.readers.engine_files.facts import file_facts
from specdist.readers.engine_files.pairing import engine_capture

READING = ReadingSettings()


def listed(
    entries: dict[int, str], size: int = 8, open_ended: bool = False, **more: Any
) -> ListedValues:
    ids = tuple(sorted(entries))
    return ListedValues(
        ids, RationalValues(tuple(Fraction(entries[i]) for i in ids)), size, open_ended, **more
    )


def row(
    index: int,
    values: Any,
    token: int | None = None,
    labels: Sequence[Label] | None = None,
    sequence: int = 0,
    refused: str = "",
) -> EngineRow:
    return EngineRow(
        sequence,
        index,
        values,
        Kind.PROBABILITIES,
        Stage.RAW,
        NumberFormat.DECIMAL,
        f"f.json, row {index}",
        None if labels is None else tuple(labels),
        token,
        refused,
    )


def engine_file(rows: Sequence[EngineRow], name: str = "f.json", **more: Any) -> EngineFile:
    given = {"count": len(rows), "vocab_size": 8, "stage": Stage.RAW, "stage_evidence": "fixed"}
    given["tokens"] = {0: (), 1: ()}  # nothing stands before the rows of index 0
    return EngineFile(name, "made-up", "a made-up answer", lambda: iter(rows), **{**given, **more})


def steps_of(target: EngineFile, draft: EngineFile, vocab: Vocab | None = None) -> list[Step]:
    return list(engine_capture(target, draft, READING, vocab).steps())


HALF = {0: "1/2", 3: "1/4"}


def by_tokens(tokens: Sequence[int], first: int = 0) -> list[EngineRow]:
    return [row(first + i, listed(HALF), token) for i, token in enumerate(tokens)]


def test_rows_at_the_same_places_are_steps() -> None:
    found = steps_of(engine_file(by_tokens([4, 5, 6])), engine_file(by_tokens([4, 5, 6]), "d.json"))
    assert [step.id for step in found] == ["row:0", "row:1", "row:2"]
    assert all(not step.findings for step in found)
    assert found[2].positions[0].target.place == "f.json, row 2"


def test_without_tokens_the_context_is_not_verified() -> None:
    rows = [row(i, listed(HALF)) for i in range(2)]
    found = steps_of(engine_file(rows), engine_file(rows, "d.json"))
    assert [[f.ident for f in step.findings] for step in found] == [[], ["context-not-verified"]]


def test_a_run_of_tokens_is_found_inside_a_longer_text() -> None:
    target = engine_file(by_tokens([7, 4, 5]))
    draft = engine_file(by_tokens([1, 2, 7, 4, 5]), "d.json")
    found = steps_of(target, draft)
    assert [step.positions[0].draft.place for step in found] == [
        "f.json, row 2",
        "f.json, row 3",
        "f.json, row 4",
    ]
    assert [step.positions[0].target.place for step in steps_of(draft, target)] == [
        "f.json, row 2",
        "f.json, row 3",
        "f.json, row 4",
    ]


@pytest.mark.parametrize("other", [[1, 4, 4, 5, 6], [4, 4, 4, 4]])
def test_a_run_that_is_nowhere_or_open_is_refused(other: list[int]) -> None:
    with pytest.raises(ContextMismatchError):
        steps_of(engine_file(by_tokens([4, 4, 4])), engine_file(by_tokens(other), "d.json"))


def test_other_text_is_refused_from_the_row_after_it() -> None:
    same = steps_of(engine_file(by_tokens([4, 5])), engine_file(by_tokens([4, 6]), "d.json"))
    assert len(same) == 2  # the last tokens may differ: both rows follow the same text
    with pytest.raises(ContextMismatchError, match="part at"):
        steps_of(engine_file(by_tokens([4, 5, 1])), engine_file(by_tokens([4, 6, 1]), "d.json"))


def test_sequences_do_not_mix() -> None:
    rows = [row(0, listed(HALF), 4), row(0, listed(HALF), 5, sequence=1)]
    other = [row(0, listed(HALF), 4), row(1, listed(HALF), 5)]
    with pytest.raises(SpecdistError):
        steps_of(engine_file(rows), engine_file(other, "d.json"))


def test_refused_positions_are_left_out_and_said() -> None:
    target = [row(0, None, 4, refused="logprob 0 alone"), row(1, listed(HALF), 5)]
    found = steps_of(engine_file(target), engine_file(by_tokens([4, 5]), "d.json"))
    assert len(found) == 1
    finding = found[0].findings[0]
    assert finding.ident == "invalid-row"
    assert "1 position before this one is not used: logprob 0 alone" in finding.message
    at_the_end = [row(0, listed(HALF), 4), row(1, None, 5, refused="logprob 0 alone")]
    (last,) = steps_of(engine_file(at_the_end), engine_file(by_tokens([4, 5]), "d.json"))
    assert "1 position after this one is not used" in last.findings[-1].message
    with pytest.raises(CaptureError, match="no position can be used: logprob 0 alone"):
        steps_of(engine_file(target[:1]), engine_file(by_tokens([4]), "d.json"))


def labelled(index: int, labels: Sequence[Label], values: Sequence[str]) -> EngineRow:
    entries = dict(enumerate(values))
    return row(index, listed(entries, len(labels), True), 0, labels)


def test_labels_are_joined_by_bytes_without_a_warning() -> None:
    target = engine_file([labelled(0, [b"A", b"B"], ["1/2", "1/4"])], vocab_size=None)
    draft = engine_file([labelled(0, [b"C", b"A"], ["2/5", "2/5"])], "d.json", vocab_size=None)
    (step,) = steps_of(target, draft)
    assert step.vocab == Vocab(("A", "B", "C"))
    ours, theirs = step.positions[0].target.values, step.positions[0].draft.values
    assert isinstance(ours, ListedValues)
    assert isinstance(theirs, ListedValues)
    assert (ours.ids, ours.values) == ((0, 1), RationalValues((Fraction(1, 2), Fraction(1, 4))))
    assert (theirs.ids, theirs.values) == ((0, 2), RationalValues((Fraction(2, 5),) * 2))
    assert ours.open_ended
    assert ours.size == theirs.size == 3
    assert not step.findings


def test_labels_are_joined_by_text_with_a_warning() -> None:
    target = engine_file([labelled(0, ["A", "B"], ["1/2", "1/4"])], vocab_size=None)
    draft = engine_file([labelled(0, [b"B", b"A"], ["2/5", "2/5"])], "d.json", vocab_size=None)
    (step,) = steps_of(target, draft)
    assert [finding.ident for finding in step.findings] == ["configuration-needed"]
    theirs = step.positions[0].draft.values
    assert isinstance(theirs, ListedValues)
    assert theirs.ids == (0, 1)


def test_labels_meet_ids_only_through_a_vocabulary() -> None:
    target = engine_file([labelled(0, ["A", "B"], ["1/2", "1/4"])], vocab_size=None)
    draft = engine_file([row(0, listed({1: "1/2", 2: "1/4"}), 2)], "d.json")
    with pytest.raises(CaptureError, match="one side names tokens by id"):
        steps_of(target, draft)
    (step,) = steps_of(target, draft, Vocab(("x", "B", "A")))
    ours = step.positions[0].target.values
    assert isinstance(ours, ListedValues)
    assert ours.ids == (1, 2)
    assert (ours.size, ours.open_ended) == (8, False)


def test_two_labels_of_one_token_are_refused() -> None:
    target = engine_file([labelled(0, [b"A", "A"], ["1/2", "1/4"])], vocab_size=None)
    draft = engine_file([labelled(0, ["A"], ["1/2"])], "d.json", vocab_size=None)
    with pytest.raises(CaptureError, match="two labels"):
        steps_of(target, draft)


def test_the_known_vocabulary_closes_an_open_list() -> None:
    target = engine_file([row(0, listed(HALF, 4, True))], vocab_size=None)
    draft = engine_file([row(0, listed(HALF))], "d.json")
    (step,) = steps_of(target, draft)
    assert step.positions[0].target.size == 8
    wide = engine_file([row(0, listed({9: "1/2"}, 10, True))], vocab_size=None)
    with pytest.raises(CaptureError, match="token 9 is listed"):
        steps_of(wide, draft)


def test_other_temperatures_are_no_pair() -> None:
    more: dict[str, Any] = {"stage": Stage.TEMPERATURE}
    target = engine_file(by_tokens([4]), settings={"temperature": "0.7"}, **more)
    draft = engine_file(by_tokens([4]), "d.json", settings={"temperature": "1"}, **more)
    with pytest.raises(ContextMismatchError, match="temperature"):
        steps_of(target, draft)


def test_blocks_of_written_tokens_are_refused() -> None:
    with pytest.raises(SettingsError, match="draft-lengths"):
        engine_capture(
            engine_file(by_tokens([4])),
            engine_file(by_tokens([4])),
            ReadingSettings(draft_lengths="1x1"),
            None,
        )


def test_facts_say_what_is_there_and_what_was_assumed() -> None:
    rows = [
        row(0, listed(HALF, cap=Fraction(1, 8)), 4),
        row(1, FloatValues(np.full(8, 0.125)), 5),
        row(2, None, 6, refused="logprob 0 alone"),
    ]
    file = engine_file(
        rows, assumed=True, settings={"temperature": "0.7"}, concludes="bounds", warnings=("old",)
    )
    facts = dict(file_facts(file))
    assert facts["listed"] == "2 tokens a row, 1 complete; 1 with a cap on unlisted tokens"
    assert facts["stage"] == "raw (assumed: fixed; --stage says otherwise)"
    assert facts["temperature"] == "0.7 (told by the file, not applied)"
    assert facts["not used"] == "1 of the 3 positions looked at: logprob 0 alone"
    assert facts["concludes"] == "bounds"
    assert facts["rows"] == "3"


def test_warnings_of_a_file_are_notes_of_its_first_step() -> None:
    target = engine_file(by_tokens([4, 5]), warnings=("shift assumed",))
    draft = engine_file(by_tokens([4, 5]), "d.json", warnings=("shift assumed", "slack"))
    first, second = steps_of(target, draft)
    assert [(f.severity.value, f.message) for f in first.findings] == [
        ("note", "shift assumed"),
        ("note", "slack"),
    ]
    assert not second.findings


def test_an_assumed_stage_is_printed_with_the_report() -> None:
    from specdist.verify.scope import guesses

    assumed = engine_file(by_tokens([4]), assumed=True, kind_evidence="logits (as told)")
    told = engine_file(by_tokens([4]), "d.json", kind_evidence="logits (as told)")
    assert guesses(engine_capture(told, told, READING, None)) is None
    said = guesses(engine_capture(assumed, told, READING, None))
    assert said is not None
    assert "target stage raw (assumed: fixed; --stage says otherwise)" in said
    assert "draft" not in said.partition(": ")[2]


def named(tokens: Sequence[int | None], first: int) -> list[EngineRow]:
    return [row(first + i, listed(HALF), token) for i, token in enumerate(tokens)]


@pytest.mark.parametrize("last", [(None, None), (None, 6), (6, None)])
def test_the_last_row_of_either_forward_pass_may_have_no_token(
    last: tuple[int | None, int | None],
) -> None:
    target = engine_file(named([4, 5, last[0]], 1))
    draft = engine_file(named([4, 5, last[1]], 0), "d.json")
    for ours, theirs in ((target, draft), (draft, target)):
        assert len(steps_of(ours, theirs)) == 3
    shorter = engine_file(named([5, last[0]], 7))
    assert len(steps_of(shorter, engine_file(named([4, 5, last[1]], 0), "d.json"))) == 2


@pytest.mark.parametrize("other", [[4, 6, None], [6, 5, None], [None, 5, 6]])
def test_other_text_before_a_last_row_without_token_is_refused(other: list[int | None]) -> None:
    with pytest.raises(SpecdistError):
        steps_of(engine_file(named([4, 5, None], 1)), engine_file(named(other, 0), "d.json"))


def test_one_row_that_nothing_names_has_no_place() -> None:
    with pytest.raises(CaptureError, match="nothing says"):
        steps_of(engine_file(named([None], 3)), engine_file(named([4, 5], 0), "d.json"))


@pytest.mark.parametrize("swapped", [False, True])
def test_rows_that_only_have_an_order_are_paired_in_it(swapped: bool) -> None:
    table = engine_file(named([4, 5, 6], 4))
    dump = engine_file(named([None] * 3, 0), "d.npy", placed=False)
    found = steps_of(dump, table) if swapped else steps_of(table, dump)
    assert [[f.ident for f in step.findings] for step in found] == [["context-not-verified"]] * 3


@pytest.mark.parametrize("count", [None, 2, 4])
def test_more_rows_than_a_dump_in_order_are_refused(count: int | None) -> None:
    dump = engine_file(named([None] * (count or 2), 0), "d.npy", placed=False, count=count)
    with pytest.raises(CaptureError):
        steps_of(engine_file(named([4, 5, 6], 4)), dump)


def test_files_that_say_their_places_are_not_paired_in_order() -> None:
    with pytest.raises(CaptureError):
        steps_of(engine_file(named([4, 5, 6], 4)), engine_file(named([None] * 3, 0), "d.json"))


def test_texts_that_are_known_must_begin_alike() -> None:
    target = engine_file(by_tokens([4, 5], 2), tokens={0: (1, 2, 4, 5)})
    moved = engine_file(by_tokens([4, 5], 3), "d.json", tokens={0: (7, 1, 2, 4, 5)})
    with pytest.raises(ContextMismatchError, match="follows 2 tokens"):
        steps_of(target, moved)
    other = engine_file(by_tokens([4, 5], 2), "d.json", tokens={0: (1, 3, 4, 5)})
    with pytest.raises(ContextMismatchError, match="part at token 1"):
        steps_of(target, other)
    same = engine_file(by_tokens([2, 4, 5], 1), "d.json", tokens={0: (1, 2, 4, 5)})
    assert all(not step.findings for step in steps_of(target, same))


def test_a_beginning_that_one_file_does_not_know_is_noted_once() -> None:
    target = engine_file(by_tokens([4, 5], 2), tokens={0: (1, 2, 4, 5)})
    draft = engine_file(by_tokens([4, 5]), "d.json", tokens={})
    found = steps_of(target, draft)
    assert [[f.ident for f in step.findings] for step in found] == [["context-not-verified"], []]
