"""What is reported of a step over conditional models: laws of whole outputs, lengths, optima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specdist.model.conditional import Prefix
from specdist.model.cost import Basis
from specdist.model.figure import Figure
from specdist.model.report import RoleUse
from specdist.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SequenceLine:
    """One output of ``horizon`` tokens (one such output for each request of a batch, joined)."""

    tokens: Prefix
    texts: tuple[str | None, ...]
    reference: Figure
    output: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class MarginalToken:
    """One token at one place of the output."""

    id: int
    text: str | None
    reference: Figure
    output: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class Marginal:
    """The law of the token at one place of the output, whatever stands before it."""

    index: int
    total_variation: Figure
    tokens: tuple[MarginalToken, ...]


@dataclass(frozen=True, slots=True)
class JointBonus:
    """The token after full acceptance, given the accepted tokens: how often it is drawn, and the
    mean total variation of its conditional law from the reference at that prefix."""

    probability: Figure
    total_variation: Figure


@dataclass(frozen=True, slots=True)
class Optimum:
    """The most that any lossless verifier of these proposals can do.

    ``name`` says which optimum: "one draft", "n drafts", "block", "multi-path bound"; ``bound``
    tells an upper bound from a value that is attained. ``expected_accepted`` counts draft tokens a
    step; ``left`` is what this rule leaves on the table against it.
    """

    name: str
    expected_accepted: Figure
    left: Figure
    attained: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class AdmissionLine:
    """``Pr(length >= k | x_1 .. x_k)`` for one drafted prefix; k is its length. ``request`` is its
    place in a batch."""

    prefix: Prefix
    texts: tuple[str | None, ...]
    probability: Figure
    request: int | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """How a length rule depends on what was drafted.

    ``witness`` is the first prefix whose admission depends on its last token, and ``against`` a
    sibling that is admitted otherwise (None where the profile is constant). In a batch ``revealed``
    holds the verified tokens of each request on which the witness is conditioned; it is empty where
    the request alone shows the dependence.
    """

    lines: tuple[AdmissionLine, ...]
    constant: bool
    witness: AdmissionLine | None = None
    against: AdmissionLine | None = None
    revealed: tuple[Prefix, ...] = ()


@dataclass(frozen=True, slots=True)
class JointCorrection:
    """The same proposal made lossless, verified by enumeration."""

    expected_accepted: Figure
    total_variation: Figure
    options: str


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request of a batch by itself: its own output law against its own reference."""

    index: int
    verdict: Verdict
    total_variation: Figure
    expected_accepted: Figure


@dataclass(frozen=True, slots=True)
class CostLine:
    """A figure of a cost model; ``assumes`` is printed with it."""

    name: str
    value: Figure | None
    text: str
    assumes: str
    basis: Basis = Basis.CALCULATED

    @property
    def measured(self) -> bool:
        """Whether it follows from measured times that say under which conditions they hold."""
        return self.basis is Basis.MEASURED


@dataclass(frozen=True, slots=True)
class JointResult:
    """A step over conditional models.

    ``horizon`` is the length K of the outputs that are compared: shorter outputs are completed
    with target draws. ``survival[i]`` = Pr(at least i + 1 draft tokens are accepted),
    ``accepted_length[i]`` = Pr(exactly i are accepted). ``route`` tells how the law was found:
    "proposals" (enumerated) or "prefixes" (recursion), and ``outcomes`` how many outcomes that
    listed. ``sequences`` are the outputs of largest difference (or of largest mass, where none
    differs).
    """

    shape: str
    vocab_size: int
    nodes: int
    depth: int
    horizon: int
    route: Literal["proposals", "prefixes"]
    outcomes: int
    total_variation: Figure
    expected_accepted: Figure
    expected_tokens: Figure
    survival: tuple[Figure, ...]
    accepted_length: tuple[Figure, ...]
    marginals: tuple[Marginal, ...]
    sequences: tuple[SequenceLine, ...]
    roles: tuple[RoleUse, ...]
    bonus: JointBonus | None = None
    optima: tuple[Optimum, ...] = ()
    admission: Admission | None = None
    correction: JointCorrection | None = None
    requests: tuple[RequestLine, ...] = ()
    unused_rows: int = 0
    forbidden_mass: Figure | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PathPosition:
    """One drafted position of a captured block under block verification.

    ``ratio`` is r_i after this token, ``threshold`` the coin h_i, ``token_acceptance`` what token
    verification accepts this drafted token with; None where a row or a token is missing.
    """

    index: int
    token: int
    ratio: Figure
    threshold: Figure
    token_acceptance: Figure


@dataclass(frozen=True, slots=True)
class PathResult:
    """What one drafted path determines: thresholds, and the accepted length given the path."""

    positions: tuple[PathPosition, ...]
    expected_accepted_token: Figure
    expected_accepted_block: Figure
    left_open: tuple[str, ...]
