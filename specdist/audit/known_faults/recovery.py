"""Wrong recovered tokens after a right test. p is the target row, q the draft row of the position
that rejects its draft token x."""

from __future__ import annotations

import math
from fractions import Fraction

from specdist.audit.known_faults.acceptance import (
    from_draft,
    from_target,
    reversed_residual,
    target_top,
)
from specdist.audit.known_faults.rows import Fault, Rows, stateless
from specdist.audit.known_faults.token_chain import (
    ZERO,
    Recovery,
    TokenChain,
    argmax,
    point,
    residual,
    without,
)
from specdist.audit.tables import Law


def absolute(rows: Rows, i: int) -> Law:
    """|p - q|."""
    return tuple(abs(a - b) for a, b in zip(rows.target(i), rows.draft(i), strict=True))


def one_hot_residual(rows: Rows, i: int) -> Law:
    """p without x: the residual of a one-hot draft."""
    return without(rows.target(i), rows.token(i))


def draft_without(rows: Rows, i: int) -> Law:
    """q without x."""
    return without(rows.draft(i), rows.token(i))


def residual_top(rows: Rows, i: int) -> Law:
    """All mass on the most probable token of the residual."""
    weights = residual(rows, i)
    return point(argmax(weights), len(weights))


def softmax_of_residual(rows: Rows, i: int) -> Law:
    """Probabilities taken for logits: exp(max(p - q, 0))."""
    return tuple(Fraction(math.exp(weight)) for weight in residual(rows, i))


def uniform(rows: Rows, i: int) -> Law:
    """The same for every token."""
    return tuple(Fraction(1, len(row)) for row in [rows.target(i)] for _ in row)


def floored(least: float) -> Recovery:
    """max(p - q, least)."""

    def recover(rows: Rows, i: int) -> Law:
        pairs = zip(rows.target(i), rows.draft(i), strict=True)
        return tuple(max(a - b, Fraction(least)) for a, b in pairs)

    return recover


def added(least: float) -> Recovery:
    """max(p - q, 0) + least."""

    def recover(rows: Rows, i: int) -> Law:
        return tuple(weight + Fraction(least) for weight in residual(rows, i))

    return recover


def rest_to(token: int) -> Recovery:
    """max(p - q, 0) as it is, read as a law: the mass that is missing goes to one token, as an
    inverse distribution function gives it (the first or the last)."""

    def recover(rows: Rows, i: int) -> Law:
        weights = list(residual(rows, i))
        weights[token] += 1 - sum(weights, ZERO)
        return tuple(weights)

    return recover


def _from(name: str, recover: Recovery) -> Fault:
    return stateless(name, TokenChain(recover=recover))


RECOVERY = (
    _from("resamples from the target", from_target),
    _from("resamples from the draft", from_draft),
    _from("resamples from the draft without the rejected token", draft_without),
    _from("residual is the absolute difference", absolute),
    _from("residual reversed (draft - target)", reversed_residual),
    _from(
        "residual subtracts the draft only at the drafted token (a one-hot residual)",
        one_hot_residual,
    ),
    _from("takes the residual's argmax", residual_top),
    _from("takes the target's argmax after a rejection", target_top),
    _from("takes the residual's probabilities for logits (softmax of the residual)",
          softmax_of_residual),
    _from("resamples from the uniform law", uniform),
    _from("residual is not normalised: the missing mass goes to the last token", rest_to(-1)),
    _from("residual is not normalised: the missing mass goes to token 0", rest_to(0)),
)  # fmt: skip
FLOORS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FLOORED = tuple(
    _from(f"residual has a floor of {least:g}", recover(least))
    for least in FLOORS
    for recover in (floored, added)
)
