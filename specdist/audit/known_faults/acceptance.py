"""Wrong acceptance tests. p is the target row of a position, q its draft row, x the drafted token;
the residual is max(p - q, 0) unless the name says otherwise."""

from __future__ import annotations

import math
from fractions import Fraction

from specdist.audit.known_faults.rows import Fault, Rows, stateless
from specdist.audit.known_faults.token_chain import (
    ONE,
    ZERO,
    Recovery,
    Test,
    TokenChain,
    argmax,
    point,
    positive,
    quotient,
    ratio,
    residual,
)
from specdist.audit.tables import Law


def always(rows: Rows, i: int) -> Fraction:
    """1."""
    return ONE


def never(rows: Rows, i: int) -> Fraction:
    """0."""
    return ZERO


def inverted(rows: Rows, i: int) -> Fraction:
    """min(1, q(x)/p(x))."""
    return quotient(rows.draft(i)[rows.token(i)], rows.target(i)[rows.token(i)])


def of_target(rows: Rows, i: int) -> Fraction:
    """p(x)."""
    return rows.target(i)[rows.token(i)]


def allowed(rows: Rows, i: int) -> Fraction:
    """1 where p(x) > 0: the uniform is always 0."""
    return ONE if rows.target(i)[rows.token(i)] else ZERO


def not_below(rows: Rows, i: int) -> Fraction:
    """1 where p(x) >= q(x)."""
    token = rows.token(i)
    return ONE if rows.target(i)[token] >= rows.draft(i)[token] else ZERO


def top_of_target(rows: Rows, i: int) -> Fraction:
    """1 where x is the most probable token of the target."""
    return ONE if rows.token(i) == argmax(rows.target(i)) else ZERO


def typical(rows: Rows, i: int) -> Fraction:
    """1 where p(x) > min(9/100, 3/10 exp(-H(p))), the defaults of vLLM 0.5 (typical acceptance)."""
    row = rows.target(i)
    entropy = -sum(float(mass) * math.log(mass) for mass in row if mass)
    threshold = min(0.09, 0.3 * math.exp(-entropy))
    return ONE if float(row[rows.token(i)]) > threshold else ZERO


def unchecked_at(first: bool) -> Test:
    """The right test, with one position left out: the first or the last."""

    def accept(rows: Rows, i: int) -> Fraction:
        skipped = i == 0 if first else i == rows.gamma - 1
        return ONE if skipped else ratio(rows, i)

    return accept


def lenient(factor: Fraction) -> Test:
    """min(1, p(x) / (factor q(x)))."""

    def accept(rows: Rows, i: int) -> Fraction:
        token = rows.token(i)
        return quotient(rows.target(i)[token], factor * rows.draft(i)[token])

    return accept


def from_target(rows: Rows, i: int) -> Law:
    """p."""
    return rows.target(i)


def from_draft(rows: Rows, i: int) -> Law:
    """q."""
    return rows.draft(i)


def target_top(rows: Rows, i: int) -> Law:
    """All mass on the most probable token of the target."""
    row = rows.target(i)
    return point(argmax(row), len(row))


def reversed_residual(rows: Rows, i: int) -> Law:
    """max(q - p, 0)."""
    return positive(rows.draft(i), rows.target(i))


def _chain(name: str, accept: Test, recover: Recovery = residual) -> Fault:
    return stateless(name, TokenChain(accept, recover))


ACCEPTANCE = (
    _chain("accepts every draft token", always),
    stateless(
        "accepts every draft token and draws the bonus from the draft: the law is the draft's",
        TokenChain(always, bonus=from_draft),
    ),
    _chain("accepts every draft token that the target allows (its uniform is 0)", allowed),
    _chain("accepts no draft token, and resamples from the residual", never),
    _chain("ratio inverted (draft / target)", inverted),
    _chain("ratio and residual inverted (target and draft swapped)", inverted, reversed_residual),
    _chain("ratio inverted (draft / target), and resamples from the target", inverted, from_target),
    _chain("accepts where the target is at least the draft (no random number)", not_below),
    _chain(
        "one-hot test (accepts with the target's probability) with the dense residual", of_target
    ),
    _chain("draws again from the target after a mismatch", of_target, from_target),
    _chain(
        "greedy verification: the target's argmax is what is emitted", top_of_target, target_top
    ),
    _chain("accepts the target's argmax only, else resamples from the residual", top_of_target),
    _chain(
        "accepts the target's argmax only, else resamples from the target",
        top_of_target,
        from_target,
    ),
    _chain("typical acceptance, else the target's argmax", typical, target_top),
    _chain("typical acceptance, else resamples from the target", typical, from_target),
    _chain("typical acceptance, else resamples from the residual", typical),
    _chain("the first draft token is not tested", unchecked_at(first=True)),
    _chain("the last draft token is not tested", unchecked_at(first=False)),
)
"""Tests that are wrong by themselves."""

LENIENCES = tuple(
    _chain(f"lenient test: target / ({factor} draft)", lenient(Fraction(factor)))
    for factor in ("1/10", "1/5", "3/10", "1/2", "7/10", "3/4", "4/5", "9/10")
)
