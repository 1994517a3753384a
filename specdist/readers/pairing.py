"""Two dumps, or the two sides of one archive, as a capture: row by row, or in blocks.

Blocks are the layout of engines' rejection samplers: N draft rows, N + B target rows for B steps
of given draft lengths; the last target row of a step is the one its bonus token is drawn from.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from specdist.errors import CaptureError
from specdist.model.capture import Capture, Position, Step, Vocab
from specdist.model.finding import Finding
from specdist.model.row import Row
from specdist.readers.contexts import PairContext, pair_context
from specdist.readers.integers import read_integers
from specdist.readers.lengths import DraftLengths, check_fit, lengths_of
from specdist.readers.naming import shape_text, shorten
from specdist.readers.notes import NOT_VERIFIED, clamp_notes, processed_finding, sequence_notes
from specdist.readers.sides import Side
from specdist.readers.storage import Handles
from specdist.readers.tensor_names import LENGTH_NAMES, sidecar


def pair_capture(
    source: str,
    target: Side,
    draft: Side,
    lengths: DraftLengths | None,
    vocab: Vocab | None,
) -> Capture:
    """The capture of two sides. Raises CaptureError when their rows do not fit together."""
    facts: list[tuple[str, str]] = [("reader", _reader(target, draft))]
    if lengths is None:
        lengths = _stored_lengths(target, draft, facts)
    if lengths is None:
        _check_counts(target, draft)
    else:
        place = f"{target.table.place} and {draft.table.place}"
        check_fit(lengths, target.table.count, draft.table.count, place)
    context = pair_context(target, draft)
    steps = lengths.steps if lengths is not None else target.table.count
    facts += [*target.facts(), *draft.facts(), ("stage", target.stage_text)]
    facts += [("steps", str(steps)), *context.facts, *_metadata(target, draft)]

    def iterate() -> Iterator[Step]:
        if lengths is None:
            return _row_steps(source, target, draft, context, vocab)
        return _block_steps(source, target, draft, lengths, context, vocab)

    return Capture(source, _reader(target, draft), iterate, tuple(facts), steps, vocab)


def _row_steps(
    source: str, target: Side, draft: Side, context: PairContext, vocab: Vocab | None
) -> Iterator[Step]:
    with Handles() as handles:
        pairs = zip(target.rows(handles), draft.rows(handles), strict=True)
        for row, ((ours, ours_cut), (theirs, theirs_cut)) in enumerate(pairs):
            known = context.contexts
            position = Position(0, ours, theirs, _drafted(context, row))
            yield Step(
                id=f"row:{row}",
                source=f"{source}, row {row}",
                positions=(position,),
                context=None if known is None else known.of(row),
                prompt_length=None if known is None else known.prompt_length,
                draft_tokens=_known((position,)),
                vocab=vocab,
                findings=(
                    *_findings(context, ours_cut, theirs_cut, [ours, theirs]),
                    *(() if row else sequence_notes(max(target.sequences, draft.sequences))),
                ),
            )


def _block_steps(
    source: str,
    target: Side,
    draft: Side,
    lengths: DraftLengths,
    context: PairContext,
    vocab: Vocab | None,
) -> Iterator[Step]:
    with Handles() as handles:
        ours, theirs = target.rows(handles), draft.rows(handles)
        row = 0
        for length in lengths:
            targets, drafts = list(islice(ours, length + 1)), list(islice(theirs, length))
            positions = tuple(
                Position(i, targets[i][0], drafts[i][0], _drafted(context, row + i))
                for i in range(length)
            )
            last = row + length - 1
            yield Step(
                id=f"row:{row}",
                source=f"{source}, " + (f"rows {row} to {last}" if length > 1 else f"row {row}"),
                positions=positions,
                bonus=targets[length][0],
                draft_tokens=_known(positions),
                vocab=vocab,
                findings=_findings(
                    context, _any(targets), _any(drafts), [row for row, _ in targets + drafts]
                ),
            )
            row += length


def _any(rows: list[tuple[Row, bool]]) -> bool:
    return any(cut for _, cut in rows)


def _findings(
    context: PairContext, target_cut: bool, draft_cut: bool, rows: list[Row]
) -> tuple[Finding, ...]:
    found = (*(() if context.verified else (NOT_VERIFIED,)), *clamp_notes(rows))
    sides = {label for label, cut in (("target", target_cut), ("draft", draft_cut)) if cut}
    return (*found, processed_finding(sides)) if sides else found


def _drafted(context: PairContext, row: int) -> int | None:
    if context.drafted is None or row >= len(context.drafted) or context.drafted[row] < 0:
        return None
    return context.drafted[row]


def _known(positions: tuple[Position, ...]) -> tuple[int, ...] | None:
    tokens = tuple(p.draft_token for p in positions if p.draft_token is not None)
    return tokens if len(tokens) == len(positions) else None


def _check_counts(target: Side, draft: Side) -> None:
    ours, theirs = target.table, draft.table
    if ours.count == theirs.count and _long(ours.grid) == _long(theirs.grid):
        return
    raise CaptureError(
        f"{ours.count} target rows and {theirs.count} draft rows",
        place=f"{ours.place} and {theirs.place}",
        expected="one draft row for each target row: shapes "
        f"{shape_text(ours.tensor.shape)} and {shape_text(theirs.tensor.shape)}",
        advice=_block_advice(ours.count, theirs.count)
        if ours.count > theirs.count
        else "capture one target row for each draft row",
    )


def _block_advice(target_rows: int, draft_rows: int) -> str:
    """What to pass for blocks: each has one target row more than draft rows."""
    steps = target_rows - draft_rows
    length, rest = divmod(draft_rows, steps)
    if rest or not length:
        return "for blocks of n draft rows and n + 1 target rows pass --draft-lengths 4,4,3"
    return (
        "for blocks of n draft rows and n + 1 target rows say how long each is: "
        f"--draft-lengths {length}x{steps} if all are equally long, else as 4,4,3"
    )


def _long(grid: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in grid if size != 1)


def _stored_lengths(target: Side, draft: Side, facts: list[tuple[str, str]]) -> DraftLengths | None:
    for side in (draft, target):
        tensor = sidecar(side.archive, LENGTH_NAMES)
        if tensor is None:
            continue
        place = f"{side.archive.source}, {tensor.name}"
        values = read_integers(tensor, place)
        if target.table.count == draft.table.count == sum(values):
            facts.append(("draft lengths", f"{tensor.name} is not used: there are no bonus rows"))
            return None
        facts.append(("draft lengths", f"{tensor.name}, {len(values)} steps"))
        return lengths_of([(value, 1) for value in values], place)
    return None


def _reader(target: Side, draft: Side) -> str:
    readers = [target.archive.reader, draft.archive.reader]
    return readers[0] if readers[0] == readers[1] else " + ".join(readers)


def _metadata(target: Side, draft: Side) -> list[tuple[str, str]]:
    """What the files say about themselves; shown, never applied."""
    archives = {id(side.archive): side.archive for side in (target, draft)}
    return [
        (f"metadata {shorten(key, 40)}", f"{shorten(value, 100)} (not applied)")
        for archive in archives.values()
        for key, value in archive.metadata.items()
    ]
