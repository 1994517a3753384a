"""What token verification emits, in intervals, when the rows of its roles are partly unknown.

With D = ``drafted_from``, P = ``accept_target``, Q = ``accept_draft``, S = ``residual_target``,
U = ``residual_draft``, as in `rules/token_rule.py`:

    accepted(x) = D(x) min(1, P(x) / Q(x)),
    output(y)   = accepted(y) + (1 - sum_x accepted(x)) [S(y) - U(y)]_+ / sum [S - U]_+.

Roles that are one and the same object are one unknown distribution; different objects vary
independently. Where Q(x) may be 0 the chance of acceptance is taken to be anything from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdist.exact.interval import Interval
from specdist.exact.partial_law import PartialLaw


@dataclass(frozen=True, slots=True)
class TokenBounds:
    """One token in intervals: its reference and drafted probability, accepted and output mass."""

    id: int
    reference: Interval
    drafted: Interval
    accepted: Interval
    output: Interval


def output_distance(
    reference: PartialLaw,
    accept_target: PartialLaw,
    residual_target: PartialLaw,
    drafted_from: PartialLaw,
    accept_draft: PartialLaw,
    residual_draft: PartialLaw,
) -> Interval:
    """A proven interval of the total variation between output law and reference (module
    docstring); [0, 0] where the target roles are one object and the draft roles are one."""
    raise NotImplementedError


def token_bounds(
    tokens: Sequence[int],
    reference: PartialLaw,
    accept_target: PartialLaw,
    residual_target: PartialLaw,
    drafted_from: PartialLaw,
    accept_draft: PartialLaw,
    residual_draft: PartialLaw,
) -> list[TokenBounds]:
    """Proven intervals for some tokens, given by their ids; see `output_distance`."""
    raise NotImplementedError
