"""What the tensors of an archive are by their names, and archives that hold no rows at all."""

from __future__ import annotations

import re

from specdist.errors import NotACaptureError
from specdist.readers.naming import listing, shorten
from specdist.readers.refusals import HIDDEN_ADVICE
from specdist.readers.tensor import Archive, Tensor

_ENDINGS = (("logits", "scores"), ("raw", "processed"), ("raw_logits", "processed_logits"))
"""How the names of raw and of processed rows of one capture end."""

_HIDDEN = re.compile(r"(.*_)?(hidden_states?|inputs_embeds|embeddings?)")
_WEIGHTS = re.compile(r"weight|bias|(.*_)?lm_head")
_LISTED = re.compile(
    r"top_?k_(probs|logprobs|values|scores|logits)|top_(logprobs|probs|values)|"
    r"token_(probs|logprobs)|(target_)?topk_\w+"
)
MAP_NAMES = ("d2t", "draft_to_target", "draft_map", "draft_id_to_target_id")
"""Names under which checkpoints and caches hold a map of draft ids."""
MARK_NAMES = ("t2d",)
"""Names of the mark of the target ids that a reduced draft vocabulary has."""


HIDDEN = "hidden states are no distribution"
WEIGHTS = "weights of a model are no distribution"
LISTED = "values of listed tokens are no rows: their columns are no tokens"
_REASONS = (HIDDEN, WEIGHTS, LISTED)


def why_no_rows(tensor: Tensor) -> str:
    """Why a tensor holds no rows over the vocabulary, as far as its name says; else empty."""
    parts = tensor.name.split(".")
    if any(_HIDDEN.fullmatch(part) for part in parts):
        return HIDDEN
    if _WEIGHTS.fullmatch(parts[-1]):
        return WEIGHTS
    if _LISTED.fullmatch(parts[-1]):
        return LISTED
    return ""


def is_exllama(archive: Archive) -> bool:
    """Whether an archive holds a result of exllamav2: lists of its sampler beside their ids."""
    names = archive.tensors.keys()
    return {"top_k_tokens", "top_k_probs"} <= names or {"token_ids", "token_probs"} <= names


def could_be_rows(tensor: Tensor) -> bool:
    """Whether a tensor of numbers could be rows, by its type and name."""
    return bool(tensor.shape) and tensor.element.numbers is not None and not why_no_rows(tensor)


_LISTED_ADVICE = (
    "save the logits of every token, or the ids beside the values in a layout that "
    "specdist inspect knows"
)
_MAP_ADVICE = "pass it beside the two sides: --draft-map FILE"
_WHOLE_ADVICE = (
    "token ids and lengths stand beside rows; a map of draft ids is passed as --draft-map FILE"
)


def no_rows(archive: Archive) -> NotACaptureError | None:
    """The error for an archive that holds something else than rows; None where it may hold rows.

    Bare 16-bit integers may be the bits of bfloat16 numbers, so a file of them may hold rows.
    """
    tensors = list(archive.tensors.values())
    if not tensors or any(could_be_rows(tensor) for tensor in tensors):
        return None
    named = {reason: [t for t in tensors if why_no_rows(t) == reason] for reason in _REASONS}
    if named[HIDDEN]:
        return _error(archive, HIDDEN, named[HIDDEN], HIDDEN_ADVICE)
    if named[LISTED]:
        return _error(archive, LISTED, named[LISTED], _LISTED_ADVICE)
    if any(name.rpartition(".")[2] in (*MAP_NAMES, *MARK_NAMES) for name in archive.tensors):
        return _error(archive, "a map of draft ids is no side of a capture", tensors, _MAP_ADVICE)
    if named[WEIGHTS]:
        return _error(archive, WEIGHTS, named[WEIGHTS], "run the model and save its logits")
    floats = any(tensor.element.numbers is not None for tensor in tensors)
    if floats or archive.refused or any(tensor.element.size == 2 for tensor in tensors):
        return None
    return _error(archive, "whole numbers are no distribution", tensors, _WHOLE_ADVICE)


def _error(archive: Archive, what: str, tensors: list[Tensor], advice: str) -> NotACaptureError:
    shown = listing([f"{shorten(t.name, 40)} {t.describe()}" for t in tensors], 4)
    return NotACaptureError(
        f"{what}: {shown}",
        place=archive.source,
        expected="rows over the vocabulary",
        advice=advice,
    )


def raw_sibling(archive: Archive, tensor: Tensor) -> Tensor | None:
    """The tensor of raw rows that belongs to one of processed rows, by its name and shape."""
    for raw, done in _ENDINGS:
        if not tensor.name.endswith(done):
            continue
        found = archive.tensors.get(tensor.name.removesuffix(done) + raw)
        if found is not None and found.shape == tensor.shape and found.element == tensor.element:
            return found
    return None


def raw_and_processed(archive: Archive) -> list[tuple[Tensor, Tensor]]:
    """Every such pair of an archive, the raw tensor first."""
    tensors = archive.tensors.values()
    return [(raw, t) for t in tensors if (raw := raw_sibling(archive, t)) is not None]
