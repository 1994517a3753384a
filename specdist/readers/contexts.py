"""Token ids, positions and hashes beside the rows: what the rows were conditioned on.

A forward pass over ``input_ids`` gives row i for token i + 1, so with one id a row the context
of row i is the first i + 1 ids. ``sequences`` of generate holds the prompt and one new token a
row, so the context of row i is everything before that token.
"""

from __future__ import annotations

from dataclasses import dataclass

from specdist.errors import CaptureError, ContextMismatchError
from specdist.readers.archive_contents import is_exllama
from specdist.readers.integers import read_integers
from specdist.readers.sides import Side
from specdist.readers.tensor import Archive, Tensor
from specdist.readers.tensor_names import (
    CONTEXT_NAMES,
    DRAFTED_NAMES,
    HASH_NAMES,
    POSITION_NAMES,
    sidecar,
)


@dataclass(frozen=True, slots=True)
class RowContexts:
    """``ids[: first + row]`` is the context of a row; ``prompt_length`` where it is known."""

    ids: tuple[int, ...]
    first: int
    prompt_length: int | None

    def of(self, row: int) -> tuple[int, ...]:
        return self.ids[: self.first + row]


@dataclass(frozen=True, slots=True)
class PairContext:
    """What is known about the context of a pair. ``verified``: both sides carry it and agree."""

    verified: bool
    contexts: RowContexts | None
    drafted: tuple[int, ...] | None
    facts: tuple[tuple[str, str], ...]


def pair_context(target: Side, draft: Side) -> PairContext:
    """Compares what the two sides carry. Raises ContextMismatchError where they disagree."""
    facts: list[tuple[str, str]] = []
    verified = False
    for what, names in (("token ids", CONTEXT_NAMES), ("positions", POSITION_NAMES)):
        ours = sidecar(target.archive, names, "target")
        theirs = sidecar(draft.archive, names, "draft")
        if ours is None or theirs is None:
            continue
        verified = True
        if ours is theirs:
            facts.append(("context", f"{what} shared by both sides: {ours.name}"))
            continue
        _same(_values(target.archive, ours), _values(draft.archive, theirs), what, target, draft)
        facts.append(("context", f"the {what} of both sides agree"))
    verified = _same_hashes(target, draft) or verified
    contexts = _contexts(target, facts) or _contexts(draft, facts)
    drafted = _drafted(draft, facts) or _drafted(target, facts)
    if not verified:
        facts.append(("context", "not verified: the two sides carry nothing to compare"))
    return PairContext(verified, contexts, drafted, tuple(facts))


def side_contexts(side: Side) -> RowContexts | None:
    """The contexts that one side carries by itself."""
    return _contexts(side, [])


def _same(
    ours: tuple[int, ...], theirs: tuple[int, ...], what: str, target: Side, draft: Side
) -> None:
    if ours == theirs:
        return
    place = f"{target.archive.source} and {draft.archive.source}"
    if len(ours) != len(theirs):
        message = f"the target carries {len(ours)} {what}, the draft {len(theirs)}"
    else:
        at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        message = f"the {what} differ at index {at}: {ours[at]} and {theirs[at]}"
    raise ContextMismatchError(
        message,
        place=place,
        expected="rows of both models for the same tokens",
        advice="capture both sides on the same input",
    )


def _same_hashes(target: Side, draft: Side) -> bool:
    if target.archive.source == draft.archive.source:
        return False
    for name in HASH_NAMES:
        ours, theirs = target.archive.metadata.get(name), draft.archive.metadata.get(name)
        if ours is not None and theirs is not None:
            if ours != theirs:
                raise ContextMismatchError(
                    f"the {name} of target and draft differ",
                    place=f"{target.archive.source} and {draft.archive.source}",
                    expected="rows of both models for the same tokens",
                )
            return True
    return False


def _contexts(side: Side, facts: list[tuple[str, str]]) -> RowContexts | None:
    for name in CONTEXT_NAMES:
        tensor = sidecar(side.archive, (name,), side.label)
        if tensor is None or not tensor.shape:
            continue
        if tensor.name == "token_ids" and is_exllama(side.archive):
            facts.append(("context", "token_ids is not used: these were drawn from the rows"))
            continue
        ids = _flat(side.archive, tensor)
        count = side.table.count
        if ids is None:
            continue
        if any(token < 0 for token in ids):
            facts.append(("context", f"{tensor.name} is not used: it holds ids below 0"))
        elif name == "sequences" and len(ids) > count:
            prompt = len(ids) - count
            return RowContexts(ids, prompt, prompt)
        elif name != "sequences" and len(ids) == count:
            return RowContexts(ids, 1, None)
        else:
            facts.append(("context", f"{tensor.name} is not used: {len(ids)} ids for {count} rows"))
    return None


def _flat(archive: Archive, tensor: Tensor) -> tuple[int, ...] | None:
    """The ids of a single sequence; None for a batch of several."""
    long = [size for size in tensor.shape if size != 1]
    return _values(archive, tensor) if len(long) <= 1 else None


def _drafted(side: Side, facts: list[tuple[str, str]]) -> tuple[int, ...] | None:
    tensor = sidecar(side.archive, DRAFTED_NAMES)
    if tensor is None:
        return None
    ids = _values(side.archive, tensor)
    facts.append(("draft tokens", f"{tensor.name}, {len(ids)} ids (-1: unknown)"))
    for index, token in enumerate(ids):
        if not -1 <= token < side.table.size:
            raise CaptureError(
                f"draft token {token} is outside the vocabulary of {side.table.size} tokens",
                place=f"{side.archive.source}, {tensor.name}[{index}]",
            )
    return ids


def _values(archive: Archive, tensor: Tensor) -> tuple[int, ...]:
    return read_integers(tensor, f"{archive.source}, {tensor.name}")
