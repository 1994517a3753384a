"""Token texts against the rows that they are to name."""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.capture import Position, Step, Vocab
from specdist.model.row import ListedValues


def check_vocab(vocab: Vocab | None, step: Step) -> None:
    """Fewer texts than tokens is usual (padding); more means the texts of another model."""
    parts = step.requests or (step,)
    if any(_is_open_ended(position) for part in parts for position in part.positions):
        return
    size = max(p.positions[0].target.size if p.models is None else p.models.size for p in parts)
    if vocab is not None and len(vocab.texts) > size:
        raise SettingsError(
            f"the vocabulary has {len(vocab.texts)} texts, the rows have {size} tokens",
            place=step.source,
            expected="at most one text a token",
            advice="take the texts that belong to these rows",
        )


def _is_open_ended(position: Position) -> bool:
    """Whether the size of the target's vocabulary is only the smallest that it can be."""
    values = position.target.values
    return isinstance(values, ListedValues) and values.open_ended
