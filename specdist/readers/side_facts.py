"""What `inspect` says of one side of a pair of dumps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specdist.readers.evidence import Evidence
    from specdist.readers.sides import Side

Facts = list[tuple[str, str]]

_DEFAULT_TOP_K = 50
"""What generate of transformers 5.24 applies where do_sample is the only argument."""


def side_facts(side: Side) -> Facts:
    """The rows, their kind and format, and what their numbers show of earlier processing."""
    label, table = side.label, side.table
    facts = [
        (label, f"{table.place}: {table.tensor.describe()}"),
        (f"{label} rows", _rows(side)),
        (f"{label} kind", f"{side.kind.value} ({side.evidence.reason})"),
        (f"{label} numbers", _numbers(side)),
    ]
    facts += [(f"{label} {name}", text) for name, text in _mask(side.evidence, table.size)]
    if side.evidence.padding is not None:
        facts.append((f"{label} end", side.evidence.padding.text()))
    if side.evidence.sentinel is not None:
        facts.append(
            (
                f"{label} lowest",
                f"{side.evidence.sentinel:.6g}, which some tools write for "
                "-inf; it is read as the finite number it is",
            )
        )
    if side.shown:
        facts.append((f"{label} stage", f"{side.stage.value}: {side.shown}"))
    if table.tensor.name.endswith("scores") and side.assumed:
        facts.append((f"{label} name", "scores: transformers' output_scores are already processed"))
    return facts


def _rows(side: Side) -> str:
    table = side.table
    if table.used is None:
        return f"{table.count} of {table.size} tokens"
    used = ",".join(map(str, table.used))
    each = " in each sequence" if len(table.used) > 1 else ""
    return f"{table.count} of {table.size} tokens: --rows {used} of {table.grid[-1]}{each}"


def _numbers(side: Side) -> str:
    stored = side.table.element
    text = side.numbers.value
    if stored.numbers is not side.numbers:
        text += f" (stored as {stored.name})"
    if stored.big_endian:
        text += ", big endian"
    if side.evidence.grid:
        text += f"; the rows looked at lie on the {side.evidence.grid} grid"
    return text


def _mask(evidence: Evidence, size: int) -> Facts:
    """The -inf entries, and which kind of processing keeps such tokens."""
    mask = evidence.mask
    if mask is None or not mask.any():
        return []
    change = "varies between rows" if evidence.masks_vary else "is the same"
    text = f"-inf at {int(mask.sum())} of {size} tokens in the first row; the pattern {change} in "
    facts = [("mask", f"{text}the rows looked at")]
    if len(evidence.kept) < 2:
        return facts
    least, most = min(evidence.kept), max(evidence.kept)
    if not evidence.masks_vary:
        end = bool(mask[int(mask.argmax()) :].all())
        said = f"the last {size - least} tokens" if end else "the same tokens"
        text = f"{said} in every row: a padded vocabulary or a ban, and no cut by probability"
    elif least == most:
        text = f"{most} tokens are kept in every row, as a top-k of {most} keeps them"
        text += " (generate of transformers does so by itself)" if most == _DEFAULT_TOP_K else ""
    else:
        text = f"{least} to {most} tokens are kept, as top-p, min-p and their like keep them"
    return [*facts, ("cut", text)]
