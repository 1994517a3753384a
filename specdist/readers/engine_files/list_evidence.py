"""What listed values say of their kind and their stage, and which positions hold nothing.

Fields called ``logprob`` hold logits where vLLM or LMDeploy run with a ``raw_logits`` mode, and the
answer does not say so: a value above 0, or exponentials that sum to more than 1, tell. The stage of
a list cannot be proven; listed tokens of probability 0, or lists that hold all mass, show that a
filter was applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, fsum, inf
from typing import NamedTuple

from specdist.errors import CaptureError, RowError, SettingsError
from specdist.model.row import Kind, Stage
from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.logprob_lists import (
    TokenList,
    is_lossy,
    number_of,
    values_of,
)
from specdist.readers.engine_files.logprob_numbers import Absent

ABOVE_ZERO = 1e-6
"""Rounding lifts no log-probability of a float32 softmax above this."""
_ABOVE_ONE = 1e-3
_ALL_MASS = 2.0**-15


def mass(found: TokenList) -> float:
    """The sum of the exponentials of the known values."""
    return fsum(exp(min(value, 700.0)) for value in values_of(found.entries))


def refusal(found: TokenList, keyed_by_text: bool) -> str:
    """Why a position must not be used; empty where nothing speaks against it."""
    if any(item.value is Absent.NULL for item in found.entries):
        return "a log-probability is null, which is what a NaN becomes in JSON"
    values = values_of(found.entries)
    own = number_of(found.own())
    if not values or (values == [-inf] and found.drawn):
        return "the engine had no data: no list, or nothing but -9999.0"
    if found.drawn and own == -inf:
        return "the token that was drawn here has probability 0 in its own row"
    if values == [0.0] and not found.support:
        return (
            "log-probability 0 and no alternatives: engines write this where they have no row, "
            "as for tokens that came out of a draft"
        )
    if max(values) == -inf:
        return "every listed token has probability 0"
    return _collision(found) if keyed_by_text else _shared_label(found)


def _collision(found: TokenList) -> str:
    """Texts as keys: a key that two tokens share stands at the place of the first with the value of
    the last, so its value is out of order. -9999.0 of an unknown token is passed over."""
    values = values_of(found.others())
    if all(before >= after for before, after in pairwise(values)):
        return ""
    total = mass(found)
    return (
        f"a text stands for several tokens: its value is out of order. The {len(found.entries)} "
        f"keys hold a mass of {total:.6g}; {1 - total:.6g} is not listed or was overwritten"
    )


def _shared_label(found: TokenList) -> str:
    seen: set[object] = set()
    for item in found.entries:
        # Labels that are not sure are set aside; only the sampled one must be found again.
        if item.token in seen and (not is_lossy(item.token) or item.token == found.sampled):
            return f"two listed tokens have the same text, {item.token!r}"
        seen.add(item.token)
    return ""


def kind_of(
    lists: Sequence[TokenList], may_be_logits: bool, reading: ReadingSettings, place: str
) -> tuple[Kind, str]:
    """Kind and evidence. Raises CaptureError, RowError or SettingsError."""
    told = reading.kind
    if told is Kind.PROBABILITIES or (told is Kind.LOGITS and not may_be_logits):
        raise SettingsError(
            f"--kind {told.value} with a file of log-probabilities",
            place=place,
            expected="--kind logprobs" + (", or logits" if may_be_logits else ""),
        )
    if told is not None:
        return told, "as --kind says"
    logits = [found for found in lists if _only_logits(found)]
    if not logits:
        largest = max((mass(found) for found in lists), default=0.0)
        return Kind.LOGPROBS, f"all <= 0, listed mass up to {largest:.6g}"
    if not may_be_logits:
        raise RowError(
            f"log-probabilities up to {max(values_of(logits[0].entries)):.6g}, with a mass of "
            f"{mass(logits[0]):.6g}",
            place=logits[0].place,
            expected="values up to 0 and a mass of at most 1",
        )
    if len(logits) < len(lists):
        raise CaptureError(
            f"{len(logits)} of {len(lists)} positions cannot be log-probabilities",
            place=logits[0].place,
            expected="log-probabilities everywhere, or logits everywhere",
            advice="pass --kind logits where the engine ran in a logits mode",
        )
    largest = max(max(values_of(found.entries)) for found in lists)
    return Kind.LOGITS, f"values up to {largest:.6g} are no log-probabilities"


def _only_logits(found: TokenList) -> bool:
    return max(values_of(found.entries)) > ABOVE_ZERO or mass(found) > 1 + _ABOVE_ONE


class StageClaim(NamedTuple):
    """A stage, why, and whether that is a guess."""

    stage: Stage
    evidence: str
    assumed: bool


def stage_of(
    lists: Sequence[TokenList],
    claim: StageClaim,
    kind: Kind,
    complete: bool,
) -> StageClaim:
    """The stage of rows that were drawn from. ``claim`` is what the format says; where it only
    assumes raw rows, the values may say that the engine had processed them."""
    if not claim.assumed or claim.stage is not Stage.RAW or not lists:
        return claim
    masked = sum(-inf in values_of(found.entries) for found in lists)
    if masked and not (complete and _same_mask(lists)):
        where = f"{masked} of {len(lists)} positions list tokens of probability 0"
        return StageClaim(Stage.PROCESSED, f"{where}: a filter was applied", True)
    full = [abs(mass(found) - 1) <= _ALL_MASS for found in lists]
    if kind is Kind.LOGPROBS and not complete and all(full):
        return StageClaim(
            Stage.PROCESSED, "the listed tokens hold all mass at every position: filtered", True
        )
    return claim


def _same_mask(lists: Sequence[TokenList]) -> bool:
    """Whether every row bans the same tokens: padding of the vocabulary, or a static ban."""
    masks = {
        frozenset(item.token for item in found.entries if item.value == -inf) for found in lists
    }
    return len(masks) == 1 and len(lists) > 1
