"""Worked cases of token verification in closed form: printed forms, edges, errors, bounds."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from specdist.errors import RowError, SettingsError
from specdist.exact.symbolic import (
    SymbolicBudgetError,
    SymbolicRow,
    laws_equal,
    point_mass,
    rational_law,
    symbolic_check,
    symbolic_law,
    symbolic_token_check,
)


def test_the_example() -> None:
    check = symbolic_token_check(
        [Fraction(1), Fraction(0), Fraction(-1, 2)],
        [Fraction(0), Fraction(1), Fraction(-1, 2)],
        Fraction(1, 2),
        Fraction(1, 2),
    )
    assert check.verdict == "equal"
    assert check.acceptance.text == "(1 + 2e)/(1 + e + e^3)"
    assert check.acceptance.decimal(6) == "0.270400"
    assert check.acceptance.approx == pytest.approx(0.2704004649032551, abs=1e-16)
    assert check.rejected.text == "(e^3 - e)/(1 + e + e^3)"
    assert [t.residual and t.residual.text for t in check.tokens] == ["1", "0", "0"]
    assert check.tokens[2].output.text == "1/(1 + e + e^3)"


def test_equal_rows_never_reach_the_residual() -> None:
    logits = [Fraction(1, 3), Fraction(0), Fraction(0), None]
    shifted = [None if z is None else z + Fraction(17, 5) for z in logits]
    check = symbolic_token_check(logits, shifted, Fraction(2), Fraction(2))
    assert check.verdict == "equal"
    assert check.acceptance.text == "1"
    assert all(token.residual is None for token in check.tokens)


def test_shifted_and_rescaled_logits_are_the_same_law() -> None:
    logits = [Fraction(2), Fraction(-1, 7), Fraction(0), Fraction(0), None]
    law = symbolic_law(logits, Fraction(4, 5))
    moved = symbolic_law(
        [None if z is None else z - Fraction(10**9, 7) for z in logits], Fraction(4, 5)
    )
    scaled = symbolic_law(
        [None if z is None else z * Fraction(11, 3) for z in logits],
        Fraction(4, 5) * Fraction(11, 3),
    )
    off = symbolic_law([None if z is None else z * Fraction(11, 3) for z in logits], Fraction(4, 5))
    assert laws_equal(law, moved)
    assert laws_equal(law, scaled)
    assert not laws_equal(law, off)


def test_drafted_with_a_cut_and_tested_without() -> None:
    logits = (Fraction(2), Fraction(1), Fraction(0), Fraction(-1))
    cut = SymbolicRow(logits, Fraction(1), frozenset({0, 1, 2}))
    check = symbolic_token_check(
        [Fraction(0), Fraction(1), Fraction(0), Fraction(0)],
        logits,
        Fraction(1),
        Fraction(1),
        roles={"drafted_from": cut},
    )
    assert check.verdict == "different"
    assert check.tokens[3].drafted.text == "0"
    assert 0 < check.total_variation.approx < 1


def test_a_rejection_without_residual_is_reported_as_missing_mass() -> None:
    target, lower = (
        rational_law([Fraction(1, 2), Fraction(1, 2), Fraction(0)]),
        rational_law([Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]),
    )
    roles = dict.fromkeys(("reference", "residual_target", "drafted_from", "accept_draft"), target)
    check = symbolic_check({**roles, "accept_target": lower, "residual_draft": target})
    assert check.missing.exact == Fraction(1, 2)
    assert check.total_variation.exact == Fraction(1, 2)
    assert check.verdict == "different"
    assert check.tokens[0].residual is None


def test_a_one_hot_residual_that_is_empty_loses_the_rejected_mass() -> None:
    rows = rational_law([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)])
    roles = dict.fromkeys(("reference", "accept_target", "drafted_from"), rows)
    hot = {"accept_draft": "one-hot", "residual_draft": "one-hot"}
    check = symbolic_check({**roles, **hot, "residual_target": point_mass(0, 3)})
    assert check.missing.exact == Fraction(1, 4)  # token 0 is drafted and refused: 1/2 * 1/2
    assert [t.recovered.exact for t in check.tokens] == [Fraction(3, 8), 0, 0]
    assert check.rejected.exact == Fraction(5, 8)
    assert check.recovered.exact == Fraction(3, 8)


def test_a_test_against_a_draft_that_forbids_the_token_accepts() -> None:
    rows = rational_law([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)])
    roles = dict.fromkeys(("reference", "accept_target", "residual_target", "drafted_from"), rows)
    cut = rational_law([Fraction(2, 3), Fraction(1, 3), Fraction(0)])
    check = symbolic_check({**roles, "accept_draft": cut, "residual_draft": cut})
    assert [t.accepted.exact for t in check.tokens] == [
        Fraction(3, 8),
        Fraction(3, 16),
        Fraction(1, 4),
    ]
    assert [t.output.exact for t in check.tokens] == [
        Fraction(3, 8),
        Fraction(3, 16),
        Fraction(7, 16),
    ]


def test_a_point_mass_draft_and_rational_rows() -> None:
    target = rational_law([Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)])
    roles = dict.fromkeys(("reference", "accept_target", "residual_target"), target)
    drafts = dict.fromkeys(("drafted_from", "accept_draft", "residual_draft"), point_mass(1, 3))
    check = symbolic_check(roles | drafts)
    assert check.verdict == "equal"
    assert check.acceptance.text == "3/10"
    assert [t.residual and t.residual.exact for t in check.tokens] == [
        Fraction(5, 7),
        0,
        Fraction(2, 7),
    ]


def test_temperature_zero_is_the_lowest_tied_id() -> None:
    law = symbolic_law([Fraction(0), Fraction(3), Fraction(3), None], Fraction(0))
    assert [p.as_rational() for p in law] == [0, 1, 0, 0]
    law = symbolic_law([Fraction(0), Fraction(3), Fraction(3), None], Fraction(0), kept={0, 2})
    assert [p.as_rational() for p in law] == [0, 0, 1, 0]


def test_work_is_bounded() -> None:
    wide = [Fraction(x * x, 7) for x in range(600)]
    with pytest.raises(SymbolicBudgetError, match="too many"):
        symbolic_law(wide, Fraction(1))
    rows = [[Fraction((x * step) % 101, 9) for x in range(48)] for step in (17, 29)]
    with pytest.raises(SymbolicBudgetError, match="too long"):
        symbolic_token_check(
            *rows, Fraction(1), Fraction(6, 7), roles={"residual_draft": "one-hot"}
        )


def test_rows_that_hold_no_law_are_named() -> None:
    with pytest.raises(RowError, match="masked"):
        symbolic_law([None, Fraction(1), Fraction(2)], Fraction(1), kept={0})
    with pytest.raises(SettingsError, match="token 7"):
        symbolic_law([Fraction(0), Fraction(1), Fraction(2)], Fraction(1), kept={0, 7})
    with pytest.raises(SettingsError, match="temperature"):
        symbolic_law([Fraction(0), Fraction(1), Fraction(2)], Fraction(-1))
    three, four = [Fraction(0)] * 3, [Fraction(0)] * 4
    with pytest.raises(SettingsError, match="3 and 4"):
        symbolic_token_check(three, four, Fraction(1), Fraction(1))
    with pytest.raises(SettingsError, match="one-hot"):
        symbolic_token_check(three, three, Fraction(1), Fraction(1), roles={"reference": "one-hot"})
    with pytest.raises(SettingsError, match="bonus"):
        symbolic_token_check(
            three, three, Fraction(1), Fraction(1), roles={"bonus_from": "one-hot"}
        )
    with pytest.raises(SettingsError, match="probability 0"):
        symbolic_token_check(
            three,
            three,
            Fraction(1),
            Fraction(1),
            kept_target={0},
            roles={"accept_draft": point_mass(0, 3)},
        )


def test_importing_loads_no_heavy_module() -> None:
    heavy = "sympy", "mpmath", "numpy"
    code = f"import sys, specdist.exact.symbolic; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
