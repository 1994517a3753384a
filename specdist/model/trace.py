"""Recorded steps of a speculative decoder: what was drafted, decided and emitted, and from what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from specdist.model.counters import Counters
from specdist.model.options import NO_OPTIONS, ProcessingOptions
from specdist.model.row import FloatValues, NumberFormat, Row


class FinalKind(StrEnum):
    """How the last token of a step came about."""

    RECOVERED = "recovered"
    BONUS = "bonus"


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One recorded verification step; None stands for what the trace does not record.

    ``accepted`` holds the decisions up to and including the first rejection; ``mask`` those of all
    positions, where the trace holds decisions after it, which decide nothing. ``n_accepted`` is
    counted from the decisions where they are recorded; ``reported_accepted`` is what the trace
    says. ``proposed`` are the sampled ids, where a pruning engine drops some before verification.
    ``target_rows`` are the rows of the positions in order, the bonus row last, ``draft_rows`` those
    of the drafted (or proposed) tokens; both are empty where no arrays are at hand.
    ``tested_target`` and ``tested_draft`` are the recorded probabilities of the tested tokens, in
    ``Conventions.arithmetic``, of all drafted tokens or of the tested ones only. Uniforms are the
    numbers as recorded; ``final_noise`` holds the exponential numbers of a final race by token.
    ``returned`` is what the verifying function returned, where ``emitted`` was cut after it.
    """

    id: str
    source: str
    sequence: int
    index: int
    drafted: tuple[int, ...]
    emitted: tuple[int, ...]
    n_accepted: int
    accepted: tuple[bool, ...] | None = None
    mask: tuple[bool, ...] | None = None
    reported_accepted: int | None = None
    context: tuple[int, ...] | None = None
    context_length: int | None = None
    prompt_length: int | None = None
    next_context: tuple[int, ...] | None = None
    proposed: tuple[int, ...] | None = None
    u_draft: tuple[Fraction, ...] | None = None
    u_accept: tuple[Fraction, ...] | None = None
    u_final: Fraction | None = None
    final_noise: FloatValues | None = None
    final_kind: FinalKind | None = None
    final_token: int | None = None
    returned: tuple[int, ...] | None = None
    tested_target: tuple[Fraction, ...] | None = None
    tested_draft: tuple[Fraction, ...] | None = None
    final_support: int | None = None
    target_rows: tuple[Row, ...] = ()
    draft_rows: tuple[Row, ...] = ()

    @property
    def tests(self) -> int:
        """How many drafted tokens were tested: up to and including the first rejection."""
        return min(self.n_accepted + 1, len(self.drafted))

    @property
    def rejected(self) -> bool:
        """Whether a drafted token was rejected, so that the final token is a recovered one."""
        return self.n_accepted < len(self.drafted)


@dataclass(frozen=True, slots=True)
class Conventions:
    """How the recording engine turns uniforms into decisions.

    ``strict``: accept iff ``u q(x) < p(x)``, else iff ``u <= p(x) / q(x)``; ``quotient`` is the
    format the quotient is rounded to (None: exact). ``uniforms`` is the format of the generator's
    uniforms (float32: multiples of 2^-24; float64: of 2^-53), which ``generator_stated`` says is
    that of a known engine and no presumption. ``inverse_cdf``: draws are the
    smallest x with ``u * total < p(0) + ... + p(x)``; else they are not replayed from uniforms.
    ``arithmetic`` is the format of the engine's softmax and sums: decisions that its rounding may
    turn are undecided. ``stated`` says where all this is from.
    """

    strict: bool = True
    quotient: NumberFormat | None = None
    uniforms: NumberFormat | None = None
    inverse_cdf: bool = False
    generator_stated: bool = False
    arithmetic: NumberFormat = NumberFormat.FLOAT32
    stated: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """A readable trace. ``steps`` makes a fresh iterator and reads rows in bounded blocks;
    ``options`` is the processing that the trace says was in force, for rows of stage raw.
    ``end_tokens`` stop a sequence. ``reported`` are counters that the recording run printed.
    ``lossy``: the rows are rounded copies of those that the run used."""

    source: str
    reader: str
    steps: Callable[[], Iterator[TraceStep]]
    conventions: Conventions
    options: ProcessingOptions = NO_OPTIONS
    end_tokens: tuple[int, ...] = ()
    step_count: int | None = None
    reported: tuple[Counters, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    vocab_size: int | None = None
    lossy: bool = False
