"""What a processor may know beside the row: the tokens so far and the run's row settings."""

from __future__ import annotations

from dataclasses import dataclass

from specdist.exact.law import Law
from specdist.processing.working_row import Remark


@dataclass(frozen=True, slots=True)
class TokenHistory:
    """Token ids before a position.

    ``tokens`` are prompt and output before the step, ``prompt_length`` how many of them are the
    prompt (None: not known), ``drafted`` the draft tokens at earlier positions of the same block
    (None: there are some, and they are not known).
    """

    tokens: tuple[int, ...]
    prompt_length: int | None = None
    drafted: tuple[int, ...] | None = ()


@dataclass(frozen=True, slots=True)
class RowContext:
    """The circumstances of one row.

    ``normalise`` rescales a probability row whose sum is not one; ``unnormalised`` takes it with
    its own sum, which the law carries as its mass. ``drafted_token`` is what a ``one-hot`` recipe
    points at. ``target_size`` is the target's vocabulary size, ``draft_map[i]`` the target id of
    draft token i (-1: none). ``texts`` and ``draft_texts`` are the token texts of the target and
    of a draft with a vocabulary of its own. None: not known.
    """

    history: TokenHistory | None = None
    normalise: bool = False
    drafted_token: int | None = None
    target_size: int | None = None
    draft_map: tuple[int, ...] | None = None
    texts: tuple[str, ...] | None = None
    draft_texts: tuple[str, ...] | None = None
    unnormalised: bool = False


@dataclass(frozen=True, slots=True)
class Processed:
    """A processed row: its distribution, and what the steps had to say on the way."""

    law: Law
    remarks: tuple[Remark, ...] = ()
