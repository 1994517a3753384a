"""Which rows of two engine files belong together: equal places, or one run of equal tokens.

The row at index i of a sequence is conditioned on the tokens before i. Two files whose tokens
differ at some index can share the row there, and no row after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from specdist.errors import CaptureError, ContextMismatchError
from specdist.readers.engine_files.engine_file import EngineFile, EngineRow, Label

EAGER_ROWS = 1 << 20
"""Files whose rows stand at different places are matched by their tokens up to this many rows."""


class Pair(NamedTuple):
    """Two rows for one place. ``compared``: both files name the token that stands there.
    ``begins_unknown``: the first pair of a sequence, before which not both files know the text."""

    target: EngineRow
    draft: EngineRow
    compared: bool
    begins_unknown: bool = False


def aligned(target: EngineFile, draft: EngineFile) -> Iterator[Pair]:
    """The pairs of two files in order.

    Raises CaptureError where rows are left over, ContextMismatchError where the files follow
    different tokens.
    """
    ours, theirs = target.rows(), draft.rows()
    first, second = next(ours, None), next(theirs, None)
    if first is None or second is None:
        empty = target if first is None else draft
        raise CaptureError("there are no rows", place=empty.source, expected="a row a position")
    same_count = target.count is None or draft.count is None or target.count == draft.count
    place = _key if target.placed and draft.placed else _sequence
    if same_count and place(first) == place(second):
        pairs = zip_longest(chain([first], ours), chain([second], theirs))
        yield from _checked(_same_places(pairs, place, target, draft), target, draft)
        return
    yield from _checked(_matched(target, draft), target, draft)


def token_of(row: EngineRow) -> int | Label | None:
    """What stands at the place of a row: an id, or the label of the token."""
    if row.token is None or row.labels is None:
        return row.token
    return row.labels[row.token]


def _key(row: EngineRow) -> tuple[int, int]:
    return row.sequence, row.index


def _sequence(row: EngineRow) -> tuple[int, ...]:
    """All that two rows must share where one file only has an order: row by row, as two dumps."""
    return (row.sequence,)


def _same_places(
    pairs: Iterator[tuple[EngineRow | None, EngineRow | None]],
    key: Callable[[EngineRow], tuple[int, ...]],
    target: EngineFile,
    draft: EngineFile,
) -> Iterator[tuple[EngineRow, EngineRow]]:
    for ours, theirs in pairs:
        if ours is None or theirs is None:
            left = ours or theirs
            raise CaptureError(
                f"only one side has a row at {'' if left is None else left.place}",
                place=f"{target.source} and {draft.source}",
                expected="as many rows of either model",
            )
        if key(ours) != key(theirs):
            raise ContextMismatchError(
                f"rows of different places meet: {ours.place} and {theirs.place}",
                place=f"{target.source} and {draft.source}",
                expected="rows of both models for the same tokens",
            )
        yield ours, theirs


def _matched(target: EngineFile, draft: EngineFile) -> Iterator[tuple[EngineRow, EngineRow]]:
    """Files of different places or lengths: one run of tokens inside the other, sequence by
    sequence."""
    ours, theirs = _by_sequence(target), _by_sequence(draft)
    if set(ours) != set(theirs):
        raise CaptureError(
            f"{len(ours)} target sequences and {len(theirs)} draft sequences",
            place=f"{target.source} and {draft.source}",
            expected="the same sequences of either model",
        )
    for sequence, rows in ours.items():
        others = theirs[sequence]
        if len(rows) <= len(others):
            start = _only_run(rows, others, target, draft)
            yield from zip(rows, others[start : start + len(rows)], strict=True)
        else:
            start = _only_run(others, rows, target, draft)
            yield from zip(rows[start : start + len(others)], others, strict=True)


def _by_sequence(file: EngineFile) -> dict[int, list[EngineRow]]:
    found: dict[int, list[EngineRow]] = {}
    for number, row in enumerate(file.rows()):
        if number >= EAGER_ROWS:
            raise CaptureError(
                f"more than {EAGER_ROWS} rows at other places than those of the other side",
                place=file.source,
                expected="rows of both models at the same places",
            )
        found.setdefault(row.sequence, []).append(row)
    return found


def _only_run(
    short: Sequence[EngineRow], long: Sequence[EngineRow], target: EngineFile, draft: EngineFile
) -> int:
    """Where the tokens of ``short`` stand in ``long``. Raises where that is nowhere, or open."""
    place = f"{target.source} and {draft.source}"
    wanted, there = [token_of(row) for row in short], [token_of(row) for row in long]
    # A forward pass ends with the law of a token that nothing names.
    named = wanted[:-1] if wanted[-1] is None else wanted
    if not named or any(token is None for token in (*named, *there[1:-1])):
        raise CaptureError(
            f"{len(short)} rows meet {len(long)}, and nothing says which belong together",
            place=place,
            expected="as many rows of either model, or files that name the token of each row",
        )
    last = len(long) - len(short)
    starts = [i for i in range(last + 1) if there[i : i + len(named)] == named]
    if not starts and len(wanted) > 1 and there[last:] == [*wanted[:-1], None]:
        starts = [last]
    if len(starts) == 1:
        return starts[0]
    raise ContextMismatchError(
        f"the {len(short)} tokens of one file stand "
        + (f"at {len(starts)} places" if starts else "nowhere")
        + f" among the {len(long)} of the other",
        place=place,
        expected="rows of both models for the same tokens",
        advice="run the text that the target wrote through the draft model, and dump that",
    )


def _checked(
    pairs: Iterator[tuple[EngineRow, EngineRow]], target: EngineFile, draft: EngineFile
) -> Iterator[Pair]:
    """The pairs, as long as the tokens before them agree."""
    parted: dict[int, tuple[EngineRow, EngineRow]] = {}
    differences: dict[int, int | None] = {}
    for ours, theirs in pairs:
        begins = ours.sequence not in differences
        if begins:
            differences[ours.sequence] = _first_difference(target, draft, ours.sequence)
        unknown = begins and not _same_beginning(ours, theirs, target, draft)
        before = differences[ours.sequence]
        if before is not None and before < ours.index == theirs.index:
            tokens = [str(f.tokens[ours.sequence][before]) for f in (target, draft)]
            raise _parted(f"token {before} of sequence {ours.sequence}", tokens, target, draft)
        if ours.sequence in parted:
            first, second = parted[ours.sequence]
            raise _parted(first.place, [_shown(first), _shown(second)], target, draft)
        mine, other = token_of(ours), token_of(theirs)
        compared = mine is not None and type(mine) is type(other)
        if compared and mine != other:
            parted[ours.sequence] = (ours, theirs)
        yield Pair(ours, theirs, compared, unknown)


def _same_beginning(
    ours: EngineRow, theirs: EngineRow, target: EngineFile, draft: EngineFile
) -> bool:
    """Whether both files know the whole text before two rows. Raises ContextMismatchError where
    they do, and it is not the same: a token in front moves everything behind it."""
    texts = [target.tokens.get(ours.sequence), draft.tokens.get(theirs.sequence)]
    found = [
        text[: row.index]
        for text, row in zip(texts, (ours, theirs), strict=True)
        if text is not None and len(text) >= row.index
    ]
    if len(found) < len(texts):
        return False
    if found[0] != found[1]:
        lengths = [f"{len(text)} token{'' if len(text) == 1 else 's'}" for text in found]
        if lengths[0] == lengths[1]:
            return False  # the place of the first difference is said by the caller
        raise ContextMismatchError(
            f"{ours.place} follows {lengths[0]}, {theirs.place} {lengths[1]}",
            place=f"{target.source} and {draft.source}",
            expected="rows of both models after the same text, from its first token on",
            advice="give both models the same ids, with or without a first token for beginnings",
        )
    return True


def _first_difference(target: EngineFile, draft: EngineFile, sequence: int) -> int | None:
    """Where the texts of a sequence part, as far as both files know them."""
    ours, theirs = target.tokens.get(sequence, ()), draft.tokens.get(sequence, ())
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((at for at, (mine, other) in pairs if mine != other), None)


def _parted(
    place: str, tokens: Sequence[str], target: EngineFile, draft: EngineFile
) -> ContextMismatchError:
    return ContextMismatchError(
        f"the texts part at {place}: token {tokens[0]} there, {tokens[1]} in the other file",
        place=f"{target.source} and {draft.source}",
        expected="rows of both models for the same tokens",
        advice="run the text that the target wrote through the draft model, and dump that",
    )


def _shown(row: EngineRow) -> str:
    return repr(token_of(row))
