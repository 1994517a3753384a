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

    ``generated_count`` is the number of output tokens before the step, drafted ones not included
    (None: taken from the history). ``drafted_token`` is what a ``one-hot`` recipe points at.
    """

    history: TokenHistory | None = None
    normalise: bool = False
    generated_count: int | None = None
    drafted_token: int | None = None


@dataclass(frozen=True, slots=True)
class Processed:
    """A processed row: its distribution, and what the steps had to say on the way."""

    law: Law
    remarks: tuple[Remark, ...] = ()
