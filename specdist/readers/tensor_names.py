"""Which tensor of an archive is the target's, the draft's, or a sidecar beside them."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from specdist.errors import CaptureError, NotACaptureError
from specdist.readers.archive_contents import (
    could_be_rows,
    no_rows,
    raw_and_processed,
    why_no_rows,
)
from specdist.readers.naming import listing, nearest, shorten
from specdist.readers.tensor import Archive, Tensor

_WORDS = ("", "_logits", "_probs", "_probabilities", "_logprobs", "_log_probs", "_scores", "_rows")
_SIDES = {"target": ("target", "p"), "draft": ("draft", "q")}

VERIFIED_PAIRS = (("new_logits", "candidate_logits"),)
"""What transformers 5.24 (generation/utils.py, _speculative_sampling) calls target and draft."""

CONTEXT_NAMES = ("context", "input_ids", "token_ids", "tokens", "sequences")
LENGTH_NAMES = ("draft_lengths", "draft_len", "draft_lens", "num_draft_tokens")
DRAFTED_NAMES = ("draft_tokens", "draft_token_ids", "draft_ids", "drafted")
POSITION_NAMES = ("positions", "position_ids")
HASH_NAMES = ("context_hash", "context_sha256")


def known_pairs() -> tuple[tuple[str, str], ...]:
    """Pairs of names under which an archive holds both sides."""
    pairs = [
        (f"{target}{word}", f"{draft}{word}")
        for target, draft in zip(_SIDES["target"], _SIDES["draft"], strict=True)
        for word in _WORDS
    ]
    return tuple(pairs)


def both_sides(archive: Archive) -> tuple[Tensor, Tensor]:
    """Target and draft of an archive that is a capture by itself.

    Raises NotACaptureError when it holds no known pair, CaptureError when it holds several.
    """
    by_name = _plain_names(archive)
    found = [pair for pair in known_pairs() if pair[0] in by_name and pair[1] in by_name]
    if not found:
        _check_refused(archive)
        _check_rows(archive)
        raise NotACaptureError(
            "this file holds one side, or sides under unknown names: "
            f"{listing(list(archive.tensors))}",
            place=archive.source,
            expected="tensors named target and draft (or target_logits and draft_logits)",
            advice=_pair_advice(archive),
        )
    if len(found) > 1:
        raise CaptureError(
            f"this file holds several pairs: {listing([t for t, _ in found])}",
            place=archive.source,
            expected="one target and one draft",
            advice=_command(*(f"{archive.source}::{by_name[name].name}" for name in found[0])),
        )
    return by_name[found[0][0]], by_name[found[0][1]]


def _check_refused(archive: Archive) -> None:
    """Names the side that is there and cannot be read. Raises CaptureError."""
    known = {name for pair in known_pairs() for name in pair}
    for name, reason in archive.refused.items():
        if name.replace(".", "_") in known:
            raise CaptureError(
                f"the tensor {shorten(name)} cannot be read: {reason}",
                place=f"{archive.source}, {shorten(name)}",
                expected="float16, bfloat16, float32 or float64 numbers",
            )


def _check_rows(archive: Archive) -> None:
    """Raises NotACaptureError for an archive that holds something else than rows."""
    error = no_rows(archive)
    if error is not None:
        raise error


def is_one_side(archive: Archive) -> bool:
    """Whether the archive can only be one side: it holds no known pair, and one row tensor."""
    by_name = _plain_names(archive)
    pairs = any(target in by_name and draft in by_name for target, draft in known_pairs())
    return not pairs and len(_row_tensors(archive)) == 1


def _pair_advice(archive: Archive) -> str:
    """The command that names the two sides of this file, as far as the file shows them."""
    rows = _row_tensors(archive)
    names = [f"{archive.source}::{name}" for name in rows]
    only = next(iter(rows.values()), None)
    if only is not None and len(rows) == 1 and only.stacked and only.shape[0] == 2:
        sides = [f"{names[0]}.{index}" for index in range(2)]
        return f"if it is (target, draft): {_command(*sides)}"
    for raw, done in raw_and_processed(archive):
        if {raw.name, done.name} == set(rows):
            return (
                f"{raw.name} and {done.name} are one side, raw and processed; with the other "
                f"side in a file of its own: {_command(f'{archive.source}::{raw.name}', 'FILE')}"
            )
    if len(rows) == 1:
        return f"with the other side in a file of its own: {_command(archive.source, 'FILE')}"
    if not rows:
        return "save floating point rows of both sides"
    for target, draft in VERIFIED_PAIRS:
        if {target, draft} <= set(rows):
            return _command(f"{archive.source}::{target}", f"{archive.source}::{draft}")
    which = "if these are the sides" if len(rows) == 2 else "name the two sides"
    return f"{which}: {_command(names[0], names[1])}"


def _command(target: str, draft: str) -> str:
    return f"specdist check --target {quote(target)} --draft {quote(draft)}"


def pick(archive: Archive, name: str | None, side: str) -> Tensor:
    """The tensor of ``FILE::NAME``, or the only one that can be meant; ``NAME.1`` is an item of a
    list or tuple that is stored as one tensor. Raises CaptureError."""
    if name is not None:
        return named_tensor(archive, name)
    rows = _row_tensors(archive)
    if len(rows) == 1:
        return next(iter(rows.values()))
    plain = {key: tensor for key, tensor in _plain_names(archive).items() if tensor.name in rows}
    known = {f"{start}{word}" for start in _SIDES[side] for word in _WORDS}
    fitting = [tensor for key, tensor in plain.items() if key in known]
    if len(fitting) == 1:
        return fitting[0]
    _check_rows(archive)
    raise CaptureError(
        f"this file holds {len(rows)} tensors that could be rows: {listing(list(rows))}"
        if rows
        else "this file holds no floating point tensor",
        place=archive.source,
        expected=f"one tensor for the {side} rows",
        advice=f"name it: --{side} {archive.source}::{next(iter(rows), 'NAME')}",
    )


def _row_tensors(archive: Archive) -> dict[str, Tensor]:
    """The tensors that could be rows; a file's only tensor is, unless it is something else."""
    if len(archive.tensors) == 1:
        return {n: t for n, t in archive.tensors.items() if not why_no_rows(t)}
    return {name: tensor for name, tensor in archive.tensors.items() if could_be_rows(tensor)}


def sidecar(archive: Archive, names: tuple[str, ...], side: str = "") -> Tensor | None:
    """An integer tensor under one of the names, with the side's prefix first."""
    by_name = _plain_names(archive)
    prefixed = [f"{side}_{name}" for name in names] if side else []
    for name in (*prefixed, *names):
        tensor = by_name.get(name)
        if tensor is not None and tensor.element.numbers is None:
            return tensor
    return None


def named_tensor(archive: Archive, name: str) -> Tensor:
    """The tensor of that name; ``NAME.1`` is an item of a stacked one. Raises CaptureError."""
    if name in archive.tensors:
        return archive.tensors[name]
    stem, _, index = name.rpartition(".")
    whole = archive.tensors.get(stem)
    if whole is not None and whole.stacked and index in map(str, range(whole.shape[0])):
        return Tensor(name, whole.element, whole.shape[1:], (whole.pieces[int(index)],))
    if name in archive.refused:
        raise CaptureError(archive.refused[name], place=f"{archive.source}, {shorten(name)}")
    names = [*archive.tensors, *archive.refused]
    raise CaptureError(
        f"there is no tensor {shorten(name)!r}; the file holds {listing(names)}",
        place=archive.source,
        advice=nearest(name, names) if len(names) > 12 else _close(name, names),
    )


def _close(name: str, names: list[str]) -> str:
    advice = nearest(name, names)
    return advice if advice.startswith("did you mean") else ""


def _plain_names(archive: Archive) -> Mapping[str, Tensor]:
    """Tensors by name, with the dots of nested containers read as underscores."""
    return {name.replace(".", "_"): tensor for name, tensor in archive.tensors.items()}
