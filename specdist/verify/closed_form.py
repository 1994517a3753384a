"""Closed forms for positions of hand-written logits: `--symbolic`, and what rounding left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from specdist.errors import SettingsError
from specdist.exact.law import Law, RationalLaw
from specdist.model.figure import Figure
from specdist.model.report import PositionResult, TokenLine
from specdist.model.role import Role
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.position import Checked, drafts_outside_test
from specdist.verify.position_laws import PositionLaws
from specdist.verify.setup import Setup

if TYPE_CHECKING:
    from specdist.exact.symbolic import RoleFilling, SymbolicCheck, SymbolicToken, SymbolicValue

_ROLES = tuple(role for role in Role if role is not Role.BONUS_FROM)
_DECIDED_UP_TO = 16


def with_closed_forms(checked: Checked, found: PositionLaws, settings: CheckSettings) -> Checked:
    """The position with closed forms where asked for, and with an undecided verdict decided.

    The rule must be token verification. Raises SettingsError when `--symbolic` is asked for rows
    that have no closed form.
    """
    size = checked.result.vocab_size
    undecided = checked.result.verdict is Verdict.UNDECIDED and size <= _DECIDED_UP_TO
    if checked.comparison.unassigned or not (settings.symbolic or undecided):
        return checked
    if not _plain(checked.setup):
        if settings.symbolic:
            raise SettingsError(
                "symbolic knows the token rule in real arithmetic only",
                expected="--rule token without options of the numeric model, cast and --keep",
            )
        return checked
    if drafts_outside_test(checked.laws):  # closed forms know no reading of target/0
        return checked
    roles = _fillings(found)
    if roles is None:
        if settings.symbolic:
            raise SettingsError(
                "symbolic needs hand-written logits or probabilities on both sides",
                expected="rows such as --target-logits 1,0,-1/2 with rational numbers",
                advice="leave --symbolic out: the figures are exact or carry their bound",
            )
        return checked
    from specdist.exact.symbolic import SymbolicBudgetError, symbolic_check

    try:
        decided = symbolic_check(roles)
    except SymbolicBudgetError:
        if settings.symbolic:
            raise
        return checked
    result = _with_verdict(checked.result, decided)
    return replace(checked, result=_with_texts(result, decided) if settings.symbolic else result)


def _plain(setup: Setup) -> bool:
    sums = all(law.mass == 1 for law in setup.laws.values())
    ideal = setup.numerics.ideal and setup.proposal is None
    return setup.use.text == "token" and ideal and sums


def _fillings(found: PositionLaws) -> dict[str, RoleFilling] | None:
    fillings: dict[str, RoleFilling] = {}
    for role in _ROLES:
        if role in found.one_hot:
            fillings[role.value] = "one-hot"
            continue
        filling = _filling(found.laws, role)
        if filling is None:
            return None
        fillings[role.value] = filling
    return fillings


def _filling(laws: Mapping[Role, Law], role: Role) -> RoleFilling | None:
    from specdist.exact.symbolic import SymbolicRow, rational_law

    law = laws[role]
    if not isinstance(law, RationalLaw):
        return None
    if law.exponents is not None:
        return SymbolicRow(law.exponents, Fraction(1), None)
    return None if law.bound else rational_law(law.values)


def _with_verdict(result: PositionResult, decided: SymbolicCheck) -> PositionResult:
    if result.verdict is not Verdict.UNDECIDED:
        return result
    verdict = Verdict.EQUAL if decided.verdict == "equal" else Verdict.DIFFERENT
    if verdict is Verdict.EQUAL:
        return replace(result, verdict=verdict, total_variation=Figure.of(0))
    low, high = decided.total_variation.enclosure
    variation = Figure(decided.total_variation.approx, (low + high) / 2, high - low)
    return replace(result, verdict=verdict, total_variation=variation)


def _with_texts(result: PositionResult, decided: SymbolicCheck) -> PositionResult:
    lines = {token.id: token for token in decided.tokens}
    return replace(
        result,
        acceptance_rate=_closed(result.acceptance_rate, decided.acceptance),
        rejected_mass=_closed(result.rejected_mass, decided.rejected),
        recovered_mass=_closed(result.recovered_mass, decided.recovered),
        total_variation=_closed(result.total_variation, decided.total_variation),
        tokens=tuple(_closed_line(line, lines[line.id]) for line in result.tokens),
    )


def _closed_line(line: TokenLine, token: SymbolicToken) -> TokenLine:
    return replace(
        line,
        reference=_closed(line.reference, token.reference),
        drafted=_closed(line.drafted, token.drafted),
        tested=_closed(line.tested, token.tested),
        accepted=_closed(line.accepted, token.accepted),
        recovered=_closed(line.recovered, token.recovered),
        residual=_closed_residual(line.residual, token.residual),
        output=_closed(line.output, token.output),
    )


def _closed_residual(figure: Figure | None, value: SymbolicValue | None) -> Figure | None:
    return figure if figure is None or value is None else _closed(figure, value)


def _closed(figure: Figure, value: SymbolicValue) -> Figure:
    """The figure with its closed form; where that is rational, it is the exact value."""
    rational = value.exact
    if rational is not None:
        return Figure(float(rational), rational, None, value.text)
    return Figure(value.approx, figure.exact, figure.bound, value.text)
