"""Closed forms for hand-written rows of rational logits: the door to the ``symbolic_*`` modules.

Every law is a quotient of finite sums of ``c exp(r)`` with rational c and r, so equality is
decided exactly (Lindemann-Weierstrass, see `symbolic_sum`) and order by certified enclosures.
sympy is imported only when a text is asked for, and only to cancel common factors.

>>> check = symbolic_token_check([1, 0, Fraction(-1, 2)], [0, 1, Fraction(-1, 2)],
...                              Fraction(1, 2), Fraction(1, 2))
>>> check.verdict, check.acceptance.text, check.acceptance.decimal(6)
('equal', '(1 + 2e)/(1 + e + e^3)', '0.270400')
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from specdist.errors import SettingsError
from specdist.exact.symbolic_budget import SymbolicBudgetError, work_limit
from specdist.exact.symbolic_digits import (
    certified_fraction_interval,
    decimal_text,
    nearest_float,
)
from specdist.exact.symbolic_enclosure import Interval
from specdist.exact.symbolic_law import (
    Logits,
    SymbolicLaw,
    SymbolicRow,
    compare_mass,
    compare_relative,
    point_mass,
    rational_law,
    shortest_prefix,
    symbolic_law,
)
from specdist.exact.symbolic_ratio import ExponentialRatio, minimum, positive_part, total
from specdist.exact.symbolic_rule import (
    ONE_HOT,
    RoleLaws,
    TokenMasses,
    acceptance_of,
    laws_equal,
    token_masses,
    total_variation,
)
from specdist.exact.symbolic_sum import ExponentialSum
from specdist.exact.symbolic_text import closed_form

__all__ = [
    "ONE_HOT",
    "ExponentialRatio",
    "ExponentialSum",
    "RoleLaws",
    "SymbolicBudgetError",
    "SymbolicCheck",
    "SymbolicRow",
    "SymbolicToken",
    "SymbolicValue",
    "TokenMasses",
    "acceptance_of",
    "certified_fraction_interval",
    "closed_form",
    "compare_mass",
    "compare_relative",
    "decimal_text",
    "laws_equal",
    "minimum",
    "nearest_float",
    "point_mass",
    "positive_part",
    "rational_law",
    "shortest_prefix",
    "symbolic_check",
    "symbolic_law",
    "symbolic_token_check",
    "token_masses",
    "total",
    "total_variation",
]

ENCLOSURE_DIGITS = 30
TEXT_WORK = 500_000
_TARGET_ROLES = ("reference", "accept_target", "residual_target")
_DRAFT_ROLES = ("drafted_from", "accept_draft", "residual_draft")
_ONE_HOT_ROLES = ("accept_draft", "residual_draft")

RoleFilling = SymbolicRow | Sequence[ExponentialRatio] | Literal["one-hot"]


@dataclass(frozen=True, slots=True)
class SymbolicValue:
    """One exact number; every property is computed when it is asked for."""

    ratio: ExponentialRatio

    @property
    def text(self) -> str | None:
        """Closed form, a fraction where the value is rational; None when it would be too long."""
        try:
            with work_limit(TEXT_WORK):
                return closed_form(self.ratio)
        except SymbolicBudgetError:
            return None

    @property
    def exact(self) -> Fraction | None:
        """The value where it is rational, else None."""
        return self.ratio.as_rational()

    @property
    def approx(self) -> float:
        """Nearest float64."""
        return nearest_float(self.ratio)

    @property
    def enclosure(self) -> Interval:
        """(low, high) around the value, at most 10^-30 apart."""
        return certified_fraction_interval(self.ratio, ENCLOSURE_DIGITS)

    def decimal(self, digits: int) -> str:
        """Rounded to that many significant digits, all correct."""
        return decimal_text(self.ratio, digits)


@dataclass(frozen=True, slots=True)
class SymbolicToken:
    """The masses of one token; ``residual`` is None when a rejection emits nothing or has
    probability 0. ``tested`` is accept_draft, the drafted mass itself where that is one-hot."""

    id: int
    reference: SymbolicValue
    drafted: SymbolicValue
    tested: SymbolicValue
    accepted: SymbolicValue
    residual: SymbolicValue | None
    recovered: SymbolicValue
    output: SymbolicValue


@dataclass(frozen=True, slots=True)
class SymbolicCheck:
    """One position under token verification. ``missing`` is above 0 only where a rejection meets
    an empty residual."""

    verdict: Literal["equal", "different"]
    acceptance: SymbolicValue
    rejected: SymbolicValue
    recovered: SymbolicValue
    missing: SymbolicValue
    total_variation: SymbolicValue
    tokens: tuple[SymbolicToken, ...]


def symbolic_token_check(
    target_logits: Logits,
    draft_logits: Logits,
    target_temperature: Fraction,
    draft_temperature: Fraction,
    kept_target: Collection[int] | None = None,
    kept_draft: Collection[int] | None = None,
    roles: Mapping[str, RoleFilling] | None = None,
) -> SymbolicCheck:
    """Token verification of one position, in closed form.

    Target roles take the target row with its temperature and kept ids, draft roles the draft's;
    ``roles`` replaces single roles by name. Raises RowError, SettingsError, SymbolicBudgetError.
    """
    target = SymbolicRow(tuple(target_logits), target_temperature, _frozen(kept_target))
    draft = SymbolicRow(tuple(draft_logits), draft_temperature, _frozen(kept_draft))
    filled: dict[str, RoleFilling] = dict.fromkeys(_TARGET_ROLES, target)
    filled.update(dict.fromkeys(_DRAFT_ROLES, draft))
    return symbolic_check(filled | dict(roles or {}))


def symbolic_check(roles: Mapping[str, RoleFilling]) -> SymbolicCheck:
    """The same with all six roles given: a row, probabilities, or "one-hot" for a draft test."""
    known = set(_TARGET_ROLES + _DRAFT_ROLES)
    if set(roles) != known:
        wrong = sorted(set(roles) ^ known)
        raise SettingsError(f"roles {', '.join(wrong)}", expected=", ".join(sorted(known)))
    with work_limit():
        return _checked({role: _law(role, filling) for role, filling in roles.items()})


def _checked(laws: Mapping[str, SymbolicLaw | Literal["one-hot"]]) -> SymbolicCheck:
    sizes = {len(law) for law in laws.values() if not isinstance(law, str)}
    if len(sizes) != 1:
        raise SettingsError(
            f"rows of {' and '.join(str(size) for size in sorted(sizes))} tokens",
            expected="the same vocabulary in every role",
        )
    by_role = RoleLaws(**cast("dict[str, SymbolicLaw]", laws))
    return _present(by_role, token_masses(by_role))


def _law(role: str, filling: RoleFilling) -> SymbolicLaw | Literal["one-hot"]:
    if isinstance(filling, SymbolicRow):
        return filling.law()
    if not isinstance(filling, str):
        return tuple(filling)
    if filling != ONE_HOT or role not in _ONE_HOT_ROLES:
        raise SettingsError(
            f"role {role} cannot be {filling!r}",
            expected=f"a row, or one-hot for {' and '.join(_ONE_HOT_ROLES)}",
        )
    return ONE_HOT


def _present(laws: RoleLaws, masses: TokenMasses) -> SymbolicCheck:
    tested = laws.drafted_from if isinstance(laws.accept_draft, str) else laws.accept_draft
    tokens = tuple(
        SymbolicToken(
            id=x,
            reference=SymbolicValue(laws.reference[x]),
            drafted=SymbolicValue(laws.drafted_from[x]),
            tested=SymbolicValue(tested[x]),
            accepted=SymbolicValue(masses.accepted[x]),
            residual=None if masses.residual is None else SymbolicValue(masses.residual[x]),
            recovered=SymbolicValue(masses.recovered[x]),
            output=SymbolicValue(masses.output[x]),
        )
        for x in range(len(laws.reference))
    )
    return SymbolicCheck(
        verdict="equal" if masses.equal else "different",
        acceptance=SymbolicValue(masses.acceptance),
        rejected=SymbolicValue(masses.rejected),
        recovered=SymbolicValue(total(masses.recovered)),
        missing=SymbolicValue(masses.missing),
        total_variation=SymbolicValue(masses.total_variation),
        tokens=tokens,
    )


def _frozen(kept: Collection[int] | None) -> frozenset[int] | None:
    return None if kept is None else frozenset(kept)
