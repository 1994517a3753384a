"""Notes about cuts: near the threshold, exactly on it, inside the bound of the weights."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from specdist.processing import Remark
from specdist.processing.cut_remarks import NEAR_CUT, written
from tests.processing_rows import F, law, logits_row, probability_row, remarks

#: A share of 1/2 off by a relative 2^-24 times 7 (near), and times 9 (not near).
NEAR, FAR = F(7, 2**25), F(9, 2**25)
SLIVER = F("1e-30")


def idents(found: tuple[Remark, ...]) -> list[str]:
    return [remark.ident for remark in found]


def test_the_window_is_eight_units_of_float32() -> None:
    assert Fraction(8, 2**24) == NEAR_CUT


@pytest.mark.parametrize(
    ("recipe", "first", "near"),
    [
        ("top-p:1/2", F("1/2"), True),
        ("top-p:1/2", F("1/2") + NEAR, True),
        ("top-p:1/2", F("1/2") - NEAR, True),
        ("top-p:1/2", F("1/2") + FAR, False),
        ("top-p:1/2", F("1/2") - FAR, False),
        ("top-p:1/2:boundary=exceed", F("1/2"), True),
        ("top-p:1/2:boundary=exceed", F("1/2") + NEAR, True),
        ("top-p:1/2:boundary=exceed", F("1/2") + FAR, False),
        ("epsilon:1/2", F("1/2") + NEAR, False),
    ],
)
def test_top_p_near_its_threshold(recipe: str, first: Fraction, near: bool) -> None:
    row = probability_row([first, F("3/10"), F("7/10") - first])
    assert idents(remarks(recipe, row)) == (["near-cut"] if near else [])


def test_a_cut_on_the_threshold_says_exactly() -> None:
    (remark,) = remarks("top-p:4/5", probability_row(["1/2", "3/10", "1/5"]))
    assert "exactly on the threshold 4/5" in remark.message
    assert remark.message.startswith("top-p: ")


def test_top_p_that_keeps_all_is_near_only_through_the_mass_before() -> None:
    almost = 1 - F("1e-12")
    assert remarks(f"top-p:{almost}", probability_row(["1/2", "1/4", "1/4"])) == ()
    tail = probability_row([F("1/2"), F("1/2") - F("1e-9"), F("1e-9")])
    assert idents(remarks("top-p:0.999999999999", tail)) == ["near-cut"]


def test_ties_all_looks_at_whole_groups() -> None:
    # Inside the tied group of 3/8 the mass 1/4 + 3/8 = 5/8 is on the threshold; it decides nothing.
    row = probability_row(["2/8", "3/8", "3/8"])
    assert idents(remarks("top-p:3/8:ties=lowest-id", row)) == ["near-cut"]
    assert remarks("top-p:3/8:ties=all", row) == ()


@pytest.mark.parametrize(
    ("recipe", "second", "found"),
    [
        ("min-p:1/2", F("1/4"), ["near-cut"]),
        ("min-p:1/2:equal=drop", F("1/4"), ["near-cut"]),
        ("min-p:1/2", F("1/4") + NEAR / 3, ["near-cut"]),
        ("min-p:1/2", F("1/4") + FAR, []),
        ("min-p:1", F("1/4"), []),
        ("epsilon:1/4", F("1/4"), ["near-cut"]),
        ("epsilon:1/4", F("1/4") - NEAR / 3, ["near-cut"]),
        ("epsilon:1/4", F("1/4") - FAR, []),
    ],
)
def test_min_p_and_epsilon_near_their_threshold(
    recipe: str, second: Fraction, found: list[str]
) -> None:
    row = probability_row([F("1/2"), second, F("1/2") - second - F("1/8"), F("1/8")])
    assert idents(remarks(recipe, row)) == found


def test_eta_and_typical_on_their_thresholds() -> None:
    row = probability_row(["1/2", "1/8", "1/8", "1/8", "1/8"])
    assert idents(remarks("eta:1/4", row)) == ["near-cut"]
    assert "exactly on" in remarks("eta:1/4", row)[0].message
    assert remarks("eta:0.26", row) == ()
    assert idents(remarks("typical-p:1/9", row)) == ["near-cut"]
    assert "equal shifts" in remarks("typical-p:1/9", row)[0].message
    row = probability_row(["1/2", "1/4", "1/8", "1/8"])
    assert idents(remarks("typical-p:1/4", row)) == ["near-cut"]
    assert remarks("typical-p:2/5", row) == ()
    shifted = probability_row(["1/2", F("1/8") + SLIVER, F("1/8") - SLIVER, "1/8", "1/8"])
    assert any("first dropped shift" in r.message for r in remarks("typical-p:1/9", shifted))


@pytest.mark.parametrize("sliver", ["1e-9", "1e-50", "1e-100"])
def test_shifts_that_differ_are_told_apart(sliver: str) -> None:
    moved = F(sliver)
    row = probability_row(["1/2", F("1/8") + moved, F("1/8") - moved, "1/8", "1/8"])
    assert law("typical-p:1/9", row).values == (0, 1, 0, 0, 0)


def test_a_shift_inside_the_bound_of_the_weights_is_undecided() -> None:
    # ln 4 to 30 digits and to 16: probabilities 1/2 and four times 1/8, so all shifts are ln 2,
    # first as the weights are rounded, then up to a rounding unit.
    for text, support in (("1.386294361119890618834464242916", 5), ("1.3862943611198908", 1)):
        row = logits_row([text, 0, 0, 0, 0])
        assert law("typical-p:1/9", row).support == support
        found = remarks("typical-p:1/9", row)
        assert [remark.ident for remark in found if "shift" in remark.message] == [
            "near-cut",
            "undecided-precision",
        ]
    aside = logits_row(["1.3863", 0, 0, 0, 0])
    assert [remark.ident for remark in remarks("typical-p:1/9", aside)] == []


def test_a_cut_inside_the_bound_of_the_weights_is_decided_exactly() -> None:
    # Three logits; each threshold is the value that rounded weights give, so only the real-valued
    # softmax tells the side, here by 60 digits.
    row = logits_row([1, 0, -1])
    with localcontext() as digits:
        digits.prec = 60
        e = Decimal(1).exp()
        total = e + 1 + 1 / e
        first, second, ratio = (F(str(value)) for value in (e / total, 1 / total, 1 / e))
    rounded = law("raw", row).values
    for recipe, threshold, real, kept, dropped in (
        ("top-p", rounded[0], first, 1, 2),
        ("min-p", rounded[1] / rounded[0], ratio, 2, 1),
        ("epsilon", rounded[1], second, 2, 1),
    ):
        assert abs(threshold - real) > F("1e-50")
        assert law(f"{recipe}:{threshold}", row).support == (kept if real > threshold else dropped)
        assert idents(remarks(f"{recipe}:{threshold}", row)) == ["near-cut"]
        for aside in (F("1e-30"), -F("1e-30")):
            moved = law(f"{recipe}:{real + aside}", row).support
            assert moved == (dropped if aside > 0 else kept)
    assert idents(remarks(f"typical-p:{rounded[0]}", logits_row([1, 0, -9]))) == []


def test_exact_weights_are_never_undecided() -> None:
    row = logits_row([2, 2, 2, None])
    assert idents(remarks("top-p:1/3", row)) == ["near-cut"]
    assert idents(remarks("epsilon:1/3", row)) == []


def test_sigma_on_its_threshold() -> None:
    # Mean 0, population variance 4: the deviation is 2, and 2 - 1 * 2 = 0 is a logit.
    row = logits_row([2, -2, 2, -2])
    assert law("top-n-sigma:2", row).support == 4
    assert idents(remarks("top-n-sigma:2", row)) == ["near-cut"]
    assert law("top-n-sigma:1.99", row).support == 2
    assert remarks("top-n-sigma:1.99", row) == ()
    assert remarks("top-n-sigma:1/2", logits_row([3, 3, 3])) == ()


def test_remarks_come_in_the_order_of_the_steps() -> None:
    found = remarks("top-p:4/5,min-p:1/2", probability_row(["2/5", "2/5", "1/5"]))
    assert [remark.message.split(":")[0] for remark in found] == ["top-p"]
    found = remarks("min-p:1/2,top-p:4/5", probability_row(["2/5", "2/5", "1/5"]))
    assert [remark.message.split(":")[0] for remark in found] == ["min-p", "top-p"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (F("1/3"), "1/3"),
        (F("1/9999"), "1/9999"),
        (F("1/12345"), "8.10045e-05"),
        (F("1e-40"), "1e-40"),
        (F(3), "3"),
        (F("1e400") / 3, "about 10^400"),
    ],
)
def test_written(value: Fraction, text: str) -> None:
    assert written(value) == text
