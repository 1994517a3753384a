"""Vocabulary map: a draft row over its own vocabulary, put onto the target's."""

from __future__ import annotations

import re
from functools import lru_cache

from specdist.errors import SettingsError
from specdist.model.recipe import Argument, RecipeStep
from specdist.model.value_texts import shortened
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.working_row import WorkingRow

PAGE = """\
vocab-map MAP gives every token of the row its id in the target vocabulary.

formula     p'(MAP[i]) = p(i), 0 on every other target token; renormalised
            over the tokens that have a target id (on logits the others are
            -inf). MAP[i] = -1: token i has none.
value       target ids joined with '+', one for each token of the row, such as
            0+2+5 or 0+-1+5; or given: the map of the capture (draft_map) or of
            --draft-map. A map of another length, an id outside the target
            vocabulary and a target id that occurs twice are errors.
tie rule    none: nothing is compared.
empty row   an error when no possible token has a target id.

Exact on every kind of row. The target vocabulary is that of the target row;
where none is known, it ends at the largest id of the map. Probability on tokens
without a target id is dropped, with the note row-not-normalised that names it.
A forgotten or shifted map (draft ids read as target ids, offsets read as ids)
is a common fault of pruned draft heads: write the map that the engine uses into
the role it uses it for.

example
  $ specdist what-if --target 3/10,1/20,1/4,1/20,1/10,1/4 \\
      --draft 1/2,1/4,1/4 --draft-recipe vocab-map:0+2+5
  token  reference   drafted
  0           3/10       1/2
  2            1/4       1/4
  5            1/4       1/4
  4           1/10         0

engines
  EAGLE-3 checkpoints hold d2t as offsets (target id = draft id + d2t), which
  vLLM 0.33.0 and SGLang 0.5.23 add before the draft law is used; a d2t of zeros
  is the identity. Some files hold target ids instead.
"""

GIVEN = "given"
_ENTRY = re.compile(r"-1|\d{1,12}", flags=re.ASCII)


def _read(label: str, text: str) -> Argument:
    written = text.strip()
    if written == GIVEN:
        return GIVEN
    entries = [part.strip() for part in written.split("+")]
    for number, entry in enumerate(entries):
        if not _ENTRY.fullmatch(entry):
            raise SettingsError(
                f"{label}={shortened(text)}: entry {number}, {shortened(entry)!r}, is no target id",
                expected="target ids or -1 joined with '+', such as 0+-1+5, or given",
            )
    return tuple(map(int, entries))


def targets_of(step: RecipeStep, context: RowContext) -> tuple[int, ...]:
    """The target id of each token of the row. Raises SettingsError where no map is known."""
    if step.argument("value") != GIVEN:
        return step.ids()
    if context.draft_map is None:
        raise SettingsError(
            "vocab-map:given needs the map of the draft vocabulary, and none is known",
            expected="a capture with draft_map, or --draft-map FILE",
            advice="or write it into the step, as in vocab-map:0+2+5",
        )
    return context.draft_map


@lru_cache(maxsize=8)
def _checked_size(targets: tuple[int, ...], size: int | None) -> int:
    """The size of the target vocabulary; SettingsError for a map that does not fit into it."""
    size = max(max(targets, default=0), 0) + 1 if size is None else size
    place: dict[int, int] = {}
    for entry, target in enumerate(targets):
        if not -1 <= target < size:
            raise SettingsError(
                f"vocab-map: entry {entry} is {target}, outside the target vocabulary",
                expected=f"target ids from 0 to {size - 1}, or -1",
                advice="a map of offsets is read with --draft-map-form offsets",
            )
        if target >= 0 and place.setdefault(target, entry) != entry:
            raise SettingsError(
                f"vocab-map: entries {place[target]} and {entry} are both {target}",
                expected="each target id at most once",
                advice="a map of offsets is read with --draft-map-form offsets",
            )
    return size


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    targets = targets_of(step, context)
    if len(targets) != row.size:
        raise SettingsError(
            f"vocab-map: the map has {len(targets)} entries, the row {row.size} tokens",
            expected="one entry for each token of the row",
            advice="the row is as long as the target's: where the engine has put it there already, "
            "it needs no map"
            if row.size == context.target_size
            else "",
        )
    return row.mapped(targets, _checked_size(targets, context.target_size))


VOCAB_MAP = Processor(
    name="vocab-map",
    metavar="MAP",
    summary="token i of the row is target token MAP[i]: 0+2+5, -1 for none, or given",
    value=_read,
    apply=_apply,
    page=PAGE,
    any_stage=True,
)
