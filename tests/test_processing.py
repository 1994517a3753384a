"""Processors on exact rows, against the naive definitions, with ``==``."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdist.errors import RowError
from specdist.processing import RowContext, apply_recipe, parse_recipe
from tests import oracle_processing as oracle
from tests.processing_rows import F, context, law, logits_row, probability_row, remarks
from tests.strategies import rows

ROOTS = (Fraction(1, 1), Fraction(1, 2), Fraction(1, 3))


@st.composite
def fractions_near(draw: st.DrawFn, row: list[Fraction]) -> Fraction:
    """A threshold in (0, 1): free, or one that the row hits exactly."""
    sums = [sum(sorted(row, reverse=True)[:n], Fraction(0)) for n in range(1, len(row))]
    ratios = [value / max(row) for value in row]
    exact = [value for value in (*sums, *ratios, *row) if 0 < value < 1]
    free = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)
    return draw(st.sampled_from(exact) | free if exact else free)


@st.composite
def filters(draw: st.DrawFn, row: list[Fraction]) -> tuple[str, list[Fraction] | None]:
    """A filter step and what the definition makes of ``row`` (None: it would be empty)."""
    share = draw(fractions_near(row))
    ids = draw(st.sets(st.integers(0, len(row) - 1), min_size=1))
    joined = "+".join(str(x) for x in ids)
    name = draw(st.sampled_from(["top-k", "top-p", "min-p", "epsilon", "allowed", "banned", "T"]))
    if name == "top-k":
        count, ties = draw(st.integers(1, 9)), draw(st.sampled_from(["all", "lowest-id"]))
        return f"top-k:{count}:ties={ties}", oracle.top_k(row, count, ties)
    if name == "top-p":
        boundary = draw(st.sampled_from(["reach", "exceed"]))
        ties = draw(st.sampled_from(["lowest-id", "highest-id", "all"]))
        text = f"top-p:{share}:boundary={boundary}:ties={ties}"
        return text, oracle.top_p(row, share, boundary, ties)
    if name == "min-p":
        equal = draw(st.sampled_from(["keep", "drop"]))
        return f"min-p:{share}:equal={equal}", oracle.min_p(row, share, equal)
    if name == "epsilon":
        return f"epsilon:{share}", oracle.epsilon(row, share)
    if name == "T":
        root = draw(st.sampled_from([*ROOTS, Fraction(0)]))
        made = oracle.power(row, root.denominator) if root else oracle.argmax(row)
        return f"temperature:{root}", made
    left = ids if name == "allowed" else set(range(len(row))) - ids
    if not any(row[x] for x in left):
        return f"{name}:{joined}", None
    return f"{name}:{joined}", oracle.kept(row, lambda x: x in left)


@given(st.data())
def test_any_chain_of_filters_equals_the_definitions(data: st.DataObject) -> None:
    start = row = data.draw(rows())
    steps: list[str] = []
    for _ in range(data.draw(st.integers(1, 4))):
        step, made = data.draw(filters(row))
        steps.append(step)
        if made is None:
            with pytest.raises(RowError, match="no token is left"):
                law(",".join(steps), probability_row(start))
            return
        row = made
    made_law = law(",".join(steps), probability_row(start))
    assert list(made_law.values) == row
    assert made_law.bound == 0


@given(st.data())
def test_typical_and_eta_equal_the_definitions(data: st.DataObject) -> None:
    row = data.draw(rows())
    share = data.draw(fractions_near(row))
    boundary = data.draw(st.sampled_from(["reach", "exceed"]))
    step = f"typical-p:{share}:boundary={boundary}"
    assert list(law(step, probability_row(row)).values) == oracle.typical(row, share, boundary)
    assert list(law(f"eta:{share}", probability_row(row)).values) == oracle.eta(row, share)


_logit = (
    st.none() | st.sampled_from([F(0), F(1), F("-1/2")]) | st.fractions(-9, 9, max_denominator=8)
)


@st.composite
def logit_chains(draw: st.DrawFn) -> tuple[list[Fraction | None], str, list[Fraction | None]]:
    """Logits, steps that act on them, and the logits that the definitions leave."""
    start = draw(st.lists(_logit, min_size=3, max_size=7))
    start[draw(st.integers(0, len(start) - 1))] = draw(st.fractions(-3, 3, max_denominator=4))
    row, steps = start, []
    for _ in range(draw(st.integers(1, 4))):
        seen = draw(st.lists(st.integers(0, len(row) - 1), max_size=5))
        amount = draw(st.fractions(-2, 2, max_denominator=8))
        factor = draw(st.fractions(Fraction(1, 4), 3, max_denominator=8).filter(lambda f: f > 0))
        history = "+".join(str(x) for x in seen)
        step, row = draw(
            st.sampled_from(
                [
                    (f"temperature:{factor}", oracle.tempered(row, factor)),
                    (f"top-n-sigma:{factor}", oracle.top_n_sigma(row, factor)),
                    (f"logit-bias:1={amount}", oracle.bias(row, {1: amount})),
                    (
                        f"repetition-penalty:{factor}:history={history}",
                        oracle.repetition(row, seen, factor),
                    ),
                    (
                        f"presence-penalty:{amount}:history={history}",
                        oracle.presence(row, seen, amount),
                    ),
                    (
                        f"frequency-penalty:{amount}:history={history}",
                        oracle.frequency(row, seen, amount),
                    ),
                ]
            )
        )
        steps.append(step)
    return start, ",".join(steps), row


@given(logit_chains(), st.data())
def test_steps_on_logits_equal_the_definitions(
    chain: tuple[list[Fraction | None], str, list[Fraction | None]], data: st.DataObject
) -> None:
    start, steps, left = chain
    made = law(steps, logits_row(start))
    probabilities = oracle.softmax(left)
    assert list(made.values) == probabilities
    # From here on filters behave as on probabilities, but for cuts that hit a rounded mass:
    # those are decided for the real-valued softmax.
    step, filtered = data.draw(filters(probabilities))
    if filtered is not None and not step.startswith("temperature"):
        found = remarks(f"{steps},{step}", logits_row(start))
        assume(all(remark.ident != "near-cut" for remark in found))
        assert [bool(value) for value in law(f"{steps},{step}", logits_row(start)).values] == [
            bool(value) for value in filtered
        ]


@given(logit_chains())
def test_the_bound_covers_the_real_softmax(
    chain: tuple[list[Fraction | None], str, list[Fraction | None]],
) -> None:
    start, steps, left = chain
    made = law(steps, logits_row(start))
    real = oracle.real_weights(left)
    with localcontext() as precise:
        precise.prec = 90
        largest = max(made.values)
        for value, weight in zip(made.values, real, strict=True):
            ratio = Decimal((value / largest).numerator) / Decimal((value / largest).denominator)
            bound = Decimal(made.bound.numerator) / Decimal(made.bound.denominator)
            assert abs(ratio - weight) <= bound * weight
    assert made.bound < F("1e-12")


@given(rows(), st.fractions(Fraction(1, 20), 4, max_denominator=20).filter(lambda t: t > 0))
def test_any_temperature_on_probabilities_is_a_power_within_the_bound(
    row: list[Fraction], temperature: Fraction
) -> None:
    made = law(f"temperature:{temperature}", probability_row(row))
    exact = (1 / temperature).denominator == 1
    assert made.bound == 0 if exact else made.bound < F("1e-12")
    with localcontext() as precise:
        precise.prec = 90
        exponent = Decimal(temperature.denominator) / Decimal(temperature.numerator)
        largest = max(made.values)
        for value, before in zip(made.values, row, strict=True):
            scaled = before / max(row)
            ratio = Decimal((value / largest).numerator) / Decimal((value / largest).denominator)
            real = (Decimal(scaled.numerator) / Decimal(scaled.denominator)) ** exponent
            bound = Decimal(made.bound.numerator) / Decimal(made.bound.denominator)
            assert abs(ratio - real) <= (bound + Decimal("1e-80")) * real


@given(rows(), st.permutations(range(7)))
def test_renaming_tokens_renames_the_answer(row: list[Fraction], order: list[int]) -> None:
    order = [x for x in order if x < len(row)]
    shuffled = [row[x] for x in order]
    recipe = "temperature:1/2,top-k:4,top-p:4/5:ties=all,min-p:1/9,typical-p:9/10,eta:1/9"
    made = law(recipe, probability_row(row)).values
    assert list(law(recipe, probability_row(shuffled)).values) == [made[x] for x in order]


# Every option, with what it changes. The row has its ties at both cuts.
TIES = ["1/4", "1/8", "1/8", "1/4", "1/4"]
OPTIONS = [
    ("top-k:2", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("top-k:2:ties=all", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("top-k:2:ties=lowest-id", TIES, ["1/2", 0, 0, "1/2", 0]),
    ("top-p:1/2", TIES, ["1/2", 0, 0, "1/2", 0]),
    ("top-p:1/2:ties=highest-id", TIES, [0, 0, 0, "1/2", "1/2"]),
    ("top-p:1/2:ties=all", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("top-p:1/2:boundary=exceed", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("top-p:3/4", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("top-p:3/4:boundary=exceed", TIES, ["2/7", "1/7", 0, "2/7", "2/7"]),
    ("top-p:3/4:boundary=exceed:ties=highest-id", TIES, ["2/7", 0, "1/7", "2/7", "2/7"]),
    ("top-p:3/4:boundary=exceed:ties=all", TIES, TIES),
    ("min-p:1/2", TIES, TIES),
    ("min-p:1/2:equal=drop", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("min-p:1", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    # H = 7/4 ln 2, so the shifts are 3/4, 1/4, 5/4 and 5/4 of ln 2.
    ("typical-p:1/4", ["1/2", "1/4", "1/8", "1/8"], [0, 1, 0, 0]),
    ("typical-p:1/4:boundary=exceed", ["1/2", "1/4", "1/8", "1/8"], ["2/3", "1/3", 0, 0]),
    ("typical-p:4/5", ["1/2", "1/4", "1/8", "1/8"], ["1/2", "1/4", "1/8", "1/8"]),
    # H = 2 ln 2: every shift is ln 2, a tie of different probabilities.
    ("typical-p:1/9", ["1/2", "1/8", "1/8", "1/8", "1/8"], ["1/2", *["1/8"] * 4]),
    ("eta:1/4", ["1/2", "1/8", "1/8", "1/8", "1/8"], ["1/2", *["1/8"] * 4]),
    ("eta:0.250001", ["1/2", "1/8", "1/8", "1/8", "1/8"], [1, 0, 0, 0, 0]),
    ("eta:1/100", ["97/100", "2/100", "1/100"], ["97/100", "2/100", "1/100"]),
    ("eta:1/49", ["97/100", "2/100", "1/100"], [1, 0, 0]),
    ("epsilon:1/8", TIES, TIES),
    ("epsilon:1/7", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("epsilon:1/2", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
    ("temperature:0", TIES, [1, 0, 0, 0, 0]),
    ("temperature:1/2", ["1/2", "1/3", "1/6"], ["9/14", "2/7", "1/14"]),
    ("allowed:1+2", TIES, [0, "1/2", "1/2", 0, 0]),
    ("banned:1+2", TIES, ["1/3", 0, 0, "1/3", "1/3"]),
]


@pytest.mark.parametrize(("recipe", "row", "expected"), OPTIONS)
def test_options_by_hand(recipe: str, row: list[str], expected: list[str | int]) -> None:
    assert list(law(recipe, probability_row(row)).values) == [F(value) for value in expected]


def test_order_matters() -> None:
    row = probability_row(["1/2", "1/4", "1/4"])
    assert law("temperature:1/2,top-p:3/5", row).values == (1, 0, 0)
    assert law("top-p:3/5,temperature:1/2", row).values == (F("4/5"), F("1/5"), 0)


def test_top_p_counts_on_the_row_renormalised_after_earlier_steps() -> None:
    row = probability_row(["2/5", "3/10", "1/5", "1/10"])
    assert law("top-p:2/3", row).values == (F("4/7"), F("3/7"), 0, 0)
    assert law("top-k:3,top-p:1/2", row).values == (F("4/7"), F("3/7"), 0, 0)
    assert law("top-k:3,top-p:4/9", row).values == (1, 0, 0, 0)
    assert law("epsilon:1/4", row).values == (F("4/7"), F("3/7"), 0, 0)
    assert law("banned:3,epsilon:2/9", row).values == (F("4/9"), F("1/3"), F("2/9"), 0)


def test_the_same_step_may_stand_twice() -> None:
    row = probability_row(["1/2", "1/3", "1/6"])
    assert law("temperature:1/2,temperature:1/2", row) == law("temperature:1/4", row)
    assert law("temperature:2,temperature:1/2", row).values == (F("1/2"), F("1/3"), F("1/6"))


@pytest.mark.parametrize(
    "recipe", ["temperature:1", "top-p:1", "min-p:0", "repetition-penalty:1", "presence-penalty:0",
               "frequency-penalty:0", "typical-p:1", "epsilon:0", "eta:0", "min-tokens:0:eos=1",
               "top-p:1:boundary=exceed", "min-p:0:equal=drop", "raw"]
)  # fmt: skip
def test_neutral_values_change_nothing_and_say_nothing(recipe: str) -> None:
    row = probability_row(["1/2", "1/3", 0, "1/6"])
    made = apply_recipe(parse_recipe(recipe), row, RowContext())
    assert made.law == law("raw", row)
    assert made.remarks == ()


def test_a_point_mass_stays_what_it_is() -> None:
    from specdist.model.row import Kind, NumberFormat, PointMass, Row, Stage

    row = Row(
        PointMass(2, 4), Kind.PROBABILITIES, Stage.PROCESSED, NumberFormat.DECIMAL, "cap.json"
    )
    recipe = "temperature:7/10,min-p:1/2,top-k:1,top-p:9/10,typical-p:1/2,epsilon:1/2,eta:1/2"
    assert law(recipe, row).values == (0, 0, 1, 0)
    assert law("top-n-sigma:1,logit-bias:2=5", row).values == (0, 0, 1, 0)
    with pytest.raises(RowError, match="no token is left"):
        law("banned:2", row)


def test_one_hot_is_the_drafted_token() -> None:
    row = probability_row(["1/2", "1/3", "1/6"])
    drafted = RowContext(drafted_token=1)
    assert law("one-hot", row, drafted).values == (0, 1, 0)
    with pytest.raises(Exception, match="needs the drafted token"):
        law("one-hot", row)


# Temperature.


def test_a_tie_at_temperature_zero_is_named() -> None:
    row = probability_row(["1/5", "2/5", 0, "2/5"])
    assert law("temperature:0", row).values == (0, 1, 0, 0)
    (remark,) = remarks("temperature:0", row)
    assert remark.ident == "near-cut"
    assert "tokens 1, 3 tie" in remark.message
    assert remarks("temperature:0", probability_row(["1/5", "3/5", "1/5"])) == ()


def test_a_tie_of_logits_is_exact_not_of_rounded_weights() -> None:
    row = logits_row([0, F("1e-30"), 0])
    assert law("temperature:0", row).values == (0, 1, 0)
    assert remarks("temperature:0", row) == ()
    assert law("top-k:1", row).values == (0, 1, 0)
    assert law("top-p:1/3", row).values == (0, 1, 0)


@pytest.mark.parametrize("temperature", ["1e-6", "1e-100", "1/1000000"])
def test_a_tiny_temperature_never_makes_a_finite_logit_impossible(temperature: str) -> None:
    smallest = Fraction(1, 2**1074)
    made = law(f"temperature:{temperature}", logits_row([2, "8/5", None, 2, -1]))
    total = 2 + 2 * smallest
    one, least = 1 / total, smallest / total
    assert made.values == (one, least, 0, one, least)
    assert 0 < made.bound < F("1e-300")


def test_a_tiny_temperature_on_probabilities_does_not_overflow() -> None:
    made = law("temperature:1e-6", probability_row(["1/2", "1/3", "1/6", 0]))
    assert [value > 0 for value in made.values] == [True, True, True, False]
    assert sum(made.values) == 1
    assert made.values[1] < F("1e-300")
    exact = law("temperature:1/1000", probability_row(["1/2", "1/3", "1/6"]))
    assert exact.bound == 0
    assert exact.values[1] / exact.values[0] == F("2/3") ** 1000


def test_a_huge_temperature_flattens() -> None:
    made = law("temperature:1e100", logits_row([900, -900, 0]))
    assert made.values == (F("1/3"), F("1/3"), F("1/3"))
    assert made.bound > 0


def test_huge_logits_do_not_overflow() -> None:
    made = law("raw", logits_row([F("1e400"), F("1e400"), F("-1e400")]))
    assert made.values[0] == made.values[1] > F("0.4999")
    assert made.values[2] > 0


def test_equal_logits_are_exact() -> None:
    assert law("temperature:7/10", logits_row([3, 3, None, 3])).bound == 0
    assert law("temperature:7/10", logits_row([3, 3, None, 3])).values[0] == F("1/3")


def test_a_difference_below_every_float_still_has_a_bound() -> None:
    made = law("raw", logits_row([0, F("-1e-500"), 0]))
    assert made.values == (F("1/3"), F("1/3"), F("1/3"))
    assert made.bound > 0


def test_log_probabilities_are_read_as_logits() -> None:
    row = logits_row(["-0.6931471805599453", "-1.0986122886681098", "-1.791759469228055"])
    made = law("temperature:1/2", row)
    assert abs(made.values[0] - F("9/14")) < F("1e-15")


# The closed form that comparisons of real laws rest on.


def test_laws_from_logits_carry_their_exponents() -> None:
    made = law("temperature:1/2,top-k:2", logits_row([1, F("1/3"), -4]))
    assert made.exponents == (2, F("2/3"), None)


def test_laws_of_equal_origin_are_equal_and_others_are_not() -> None:
    shifted = law("temperature:4/5", logits_row([1, 2, 3]))
    assert shifted.origin == law("temperature:4/5", logits_row([5, 6, 7])).origin is not None
    nearly = law("temperature:4/5", logits_row([1, F(2) + F("1e-40"), 3]))
    assert nearly.values == shifted.values
    assert nearly.origin != shifted.origin


# Bias and penalties on probabilities: z = ln p.


def test_bias_and_penalties_on_probabilities() -> None:
    row = probability_row(["1/2", "1/4", "1/4", 0])
    made = law("logit-bias:1=-1/2+3=9", row)
    ratio = made.values[1] / made.values[2]
    assert abs(ratio - F("0.606530659712633423603799534991180453")) < made.bound
    assert 0 < made.bound < F("1e-15")
    assert made.values[3] == 0
    penalised = law("repetition-penalty:2:history=1", row)
    assert penalised.values == (F("8/13"), F("1/13"), F("4/13"), 0)
    undone = law("logit-bias:1=-1/2,logit-bias:1=1/2", row)
    assert undone.values == law("raw", row).values
    assert undone.bound == 0


def test_ties_of_penalised_probabilities_are_proven() -> None:
    row = probability_row(["1/2", "1/4", "3/16", "1/16"])
    # ln 1/4 * 2 = ln 1/16: tokens 1 and 3 tie exactly.
    assert law("repetition-penalty:2:history=1,top-k:3:ties=all", row).support == 4
    assert law("repetition-penalty:2:history=1,top-k:3:ties=lowest-id", row).support == 3
    (remark,) = remarks("repetition-penalty:4:history=0,banned:1+2,temperature:0", row)
    assert "tokens 0, 3 tie" in remark.message


def test_order_beside_a_penalty_is_exact() -> None:
    sliver = F("1e-400")
    row = probability_row([F("1/4"), F("3/8") - sliver, F("3/8") + sliver])
    assert law("repetition-penalty:2:history=0,top-k:1", row).values == (0, 0, 1)


def test_a_certain_token_is_not_changed_by_the_penalty() -> None:
    assert law("repetition-penalty:2:history=0", probability_row([1, 0, 0])).values == (1, 0, 0)


def test_sigma_on_probabilities() -> None:
    # z = -ln 2 * (1, 2, 3, 3): mean 9/4, variance 11/16, so s = 0.829 ln 2.
    row = probability_row(["1/2", "1/4", "1/8", "1/8"])
    assert law("top-n-sigma:1.2", row).values == (1, 0, 0, 0)
    assert law("top-n-sigma:1.21", row).values == (F("2/3"), F("1/3"), 0, 0)
    assert law("temperature:1/2,top-n-sigma:1.21", row).support == 2
    # Two tokens: the gap is exactly 2 s, undecidable by digits: it stays, and is said.
    two = probability_row(["2/3", "1/3", 0])
    assert law("top-n-sigma:2", two).support == 2
    assert [remark.ident for remark in remarks("top-n-sigma:2", two)] == ["near-cut"]
    assert law("top-n-sigma:1.999", two).support == 1


def test_context_reaches_the_penalties() -> None:
    row = logits_row([1, 1, 1, 1])
    made = law("presence-penalty:1", row, context((0, 1), prompt_length=1))
    assert made.exponents == (0, 0, 1, 1)
