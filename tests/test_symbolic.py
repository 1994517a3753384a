"""Token verification in closed form, against mpmath at 60 digits and a naive evaluation."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.errors import RowError, SettingsError
from specdist.exact.symbolic import (
    SymbolicBudgetError,
    SymbolicCheck,
    SymbolicRow,
    laws_equal,
    point_mass,
    rational_law,
    symbolic_check,
    symbolic_law,
    symbolic_token_check,
    total,
)

DIGITS = 100  # a residual of nearly equal rows loses some
CLOSE = mpmath.mpf(10) ** -50
FIELDS = ("reference", "drafted", "accepted", "recovered", "output")


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def softmax(row: SymbolicRow) -> list[mpmath.mpf]:
    weights = [
        mpmath.mpf(0)
        if z is None or (row.kept is not None and x not in row.kept)
        else mpmath.exp(real(z) / real(row.temperature))
        for x, z in enumerate(row.logits)
    ]
    return [w / sum(weights) for w in weights]


def naive(laws: dict[str, list[mpmath.mpf] | str]) -> dict[str, list[mpmath.mpf]]:
    """Every drafted token on its own, in inexact 60 digits; nothing shared with the module."""
    size = len(laws["reference"])
    accepted, recovered = [mpmath.mpf(0)] * size, [mpmath.mpf(0)] * size
    for x in range(size):
        one_hot = [mpmath.mpf(int(y == x)) for y in range(size)]
        tested, subtracted = (
            one_hot if laws[role] == "one-hot" else laws[role]
            for role in ("accept_draft", "residual_draft")
        )
        mass = laws["drafted_from"][x]
        if not mass:
            continue
        a = min(mpmath.mpf(1), laws["accept_target"][x] / tested[x])
        accepted[x] += mass * a
        parts = [
            max(mpmath.mpf(0), t - d)
            for t, d in zip(laws["residual_target"], subtracted, strict=True)
        ]
        if 1 - a > CLOSE and sum(parts) > CLOSE:  # else the rejected mass is missing
            for y in range(size):
                recovered[y] += mass * (1 - a) * parts[y] / sum(parts)
    output = [a + r for a, r in zip(accepted, recovered, strict=True)]
    return {
        "reference": laws["reference"],
        "drafted": laws["drafted_from"],
        "accepted": accepted,
        "recovered": recovered,
        "output": output,
    }


def read_form(text: str) -> mpmath.mpf:
    """Evaluates a printed closed form with a reader of its own."""
    text = re.sub(r"(\d+)", r"mpf(\1)", text.replace("^", "**"))
    text = re.sub(r"\)e", r")*e", text)
    return eval(text, {"mpf": mpmath.mpf, "e": mpmath.e, "__builtins__": {}})


numbers = st.builds(Fraction, st.integers(-6, 6), st.sampled_from([1, 1, 2, 3]))
temperatures = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(4, 5), Fraction(3)])


@st.composite
def role_rows(draw: st.DrawFn) -> dict[str, SymbolicRow | str]:
    size = draw(st.integers(3, 4))
    logits = st.lists(numbers, min_size=size, max_size=size).map(tuple)
    target = SymbolicRow(draw(logits), draw(temperatures))
    near = tuple(z + Fraction(int(x == 0), 10**12) for x, z in enumerate(target.logits))
    draft = SymbolicRow(
        draw(st.one_of(logits, st.sampled_from([target.logits, near]))), Fraction(1)
    )
    cut = draw(st.sets(st.integers(0, size - 1), min_size=1))
    roles: dict[str, SymbolicRow | str] = dict.fromkeys(
        ("reference", "accept_target", "residual_target"), target
    )
    roles |= dict.fromkeys(("drafted_from", "accept_draft", "residual_draft"), draft)
    bent = draw(st.sampled_from(["", *roles]))
    if bent in ("accept_draft", "residual_draft"):
        roles[bent] = "one-hot"
    elif bent:
        side = roles[bent]
        assert isinstance(side, SymbolicRow)
        roles[bent] = SymbolicRow(side.logits, side.temperature, frozenset(cut))
    return roles


@given(role_rows())
@settings(max_examples=60, deadline=None)
def test_every_mass_agrees_with_sixty_digits(roles: dict[str, SymbolicRow | str]) -> None:
    check = symbolic_check(roles)
    with mpmath.workdps(DIGITS):
        laws = {k: v if isinstance(v, str) else softmax(v) for k, v in roles.items()}
        expected = naive(laws)
        far = mpmath.mpf(0)
        for token in check.tokens:
            for field in FIELDS:
                low, high = getattr(token, field).enclosure
                want = expected[field][token.id]
                assert high - low <= Fraction(1, 10**30)
                assert real(low) - CLOSE <= want <= real(high) + CLOSE
            far += abs(expected["output"][token.id] - expected["reference"][token.id]) / 2
        assert (check.verdict == "different") == (far > CLOSE)
        far += (
            sum(expected["reference"]) / 2 - sum(expected["output"]) / 2
        )  # 0 unless mass is missing
        assert abs(far - mpmath.mpf(check.total_variation.decimal(40))) < mpmath.mpf(10) ** -35
        text = check.acceptance.text
        if text is not None:
            assert abs(read_form(text) - sum(expected["accepted"])) < CLOSE


@given(role_rows())
@settings(max_examples=40, deadline=None)
def test_sound_roles_are_equal_and_accept_the_overlap(roles: dict[str, SymbolicRow | str]) -> None:
    target, draft = roles["reference"], roles["drafted_from"]
    assert isinstance(target, SymbolicRow)
    assert isinstance(draft, SymbolicRow)
    sides = (target.logits, draft.logits, target.temperature, draft.temperature)
    check = symbolic_token_check(*sides, kept_draft=draft.kept, kept_target=target.kept)
    hot = symbolic_token_check(
        *sides,
        kept_draft=draft.kept,
        kept_target=target.kept,
        roles={"accept_draft": "one-hot", "residual_draft": "one-hot"},
    )
    for found in (check, hot):
        assert found.verdict == "equal"
        assert found.total_variation.exact == 0
        assert total(t.output.ratio for t in found.tokens).as_rational() == 1
        assert (found.acceptance.ratio + found.rejected.ratio).as_rational() == 1
    assert check.acceptance.ratio.compare(hot.acceptance.ratio) >= 0  # no rule accepts more


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


@pytest.mark.parametrize(
    "temperature", [Fraction(1, 10**6), Fraction(10**6), Fraction(10**6 + 3, 10**6 + 7)]
)
def test_extreme_temperatures_neither_hang_nor_lose_digits(temperature: Fraction) -> None:
    start = time.process_time()
    rows = (
        [Fraction(1000), Fraction(999), Fraction(-1, 2), Fraction(3)],
        [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(0)],
    )
    check: SymbolicCheck = symbolic_token_check(*rows, temperature, Fraction(1))
    with mpmath.workdps(DIGITS):
        pair = [
            softmax(SymbolicRow(tuple(r), t))
            for r, t in zip(rows, (temperature, Fraction(1)), strict=True)
        ]
        want = sum(min(a, b) for a, b in zip(*pair, strict=True))
        assert abs(mpmath.mpf(check.acceptance.decimal(40)) / want - 1) < mpmath.mpf(10) ** -38
    assert check.verdict == "equal"
    assert time.process_time() - start < 20  # it would be days without range reduction


def test_digits_far_below_the_range_of_floats() -> None:
    check = symbolic_token_check(
        [Fraction(1000), Fraction(0), Fraction(0)],
        [Fraction(0), Fraction(1000), Fraction(0)],
        Fraction(1, 10**6),
        Fraction(1, 10**6),
    )
    assert check.acceptance.approx == 0.0
    with mpmath.workdps(DIGITS):
        want = 3 * mpmath.exp(-(10**9))
        assert abs(mpmath.mpf(check.acceptance.decimal(40)) / want - 1) < mpmath.mpf(10) ** -38


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
