"""Token verification in closed form, against mpmath at 60 digits and a naive evaluation."""

from __future__ import annotations

import re
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdist.exact.symbolic import (
    SymbolicCheck,
    SymbolicRow,
    symbolic_check,
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
