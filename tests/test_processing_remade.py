"""Steps that make an exact row anew, against their naive definitions, with ``==``."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdist.errors import RowError, SettingsError
from specdist.model.row import NumberFormat
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.processing.grid_race import MOST_EVENTS, MOST_TOKENS
from specdist.processing.number_rounding import rounded_to
from tests import oracle_processing as oracle
from tests.cli import run
from tests.processing_rows import F, law, logits_row, probability_row, remarks
from tests.strategies import rows
from tests.vectors import load

SHARES = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
DTYPES = st.sampled_from(["float16", "bfloat16", "float32"])
NUMBERS = st.one_of(
    st.fractions(-70000, 70000, max_denominator=10**6),
    st.integers(-(2**14), 2**14).map(lambda n: Fraction(n, 2**11)),
    st.floats(-1e5, 1e5).map(Fraction),
    st.integers(1, 99).map(lambda n: Fraction(n, 2**153)),
    st.floats(-3.4e38, 3.4e38).map(lambda x: Fraction(x) * (1 + Fraction(1, 2**20))),
)


@given(NUMBERS, DTYPES)
def test_one_rounding_to_nearest_even(value: Fraction, dtype: str) -> None:
    assert rounded_to(value, NumberFormat(dtype)) == oracle.nearest(value, dtype)


# Temperature, top-k and top-p.


@given(
    st.sampled_from(["0", "1/100000", "1/1000", "1/2", "1"]).map(F),
    st.sampled_from(["0", "1/1000", "1"]).map(F),
    st.sampled_from(["0", "1/100", "1/2"]).map(F),
    st.sampled_from(["0", "1/4", "1/2"]).map(F),
    st.lists(st.integers(-3, 3).map(Fraction), min_size=3, max_size=6),
)
def test_small_temperatures(
    value: Fraction, below: Fraction, least: Fraction, plus: Fraction, logits: list[Fraction]
) -> None:
    recipe = f"temperature:{value}:greedy-below={below}:at-least={least}:plus={plus}:greedy=all"
    read = oracle.effective(value, below, least, plus)
    made = law(recipe, logits_row(logits))
    if read:
        assert made == law(f"temperature:{read}", logits_row(logits))
    else:
        assert list(made.values) == oracle.all_argmax(oracle.softmax(list(logits)))
        assert made.bound == 0


def test_options_of_temperature_in_words() -> None:
    row = logits_row([2, 1, 2])
    assert law("temperature:0", row).values == (1, 0, 0)
    assert law("temperature:0:greedy=all", row).values == (F("1/2"), 0, F("1/2"))
    assert remarks("temperature:0:greedy=all", row) == ()
    assert law("temperature:0:plus=1/2", row) == law("temperature:1/2", row)
    assert law("temperature:1/1000:at-least=1/100", row) == law("temperature:1/100", row)
    assert law("temperature:0:at-least=1/100", row).values == (1, 0, 0)
    assert law("temperature:1:plus=1", row) == law("temperature:2", row)
    vllm = "temperature:1:greedy-below=1/100000:at-least=1/100"
    assert law(vllm, row) == law("raw", row)
    assert str(parse_recipe(f"{vllm}:greedy=lowest-id")) == vllm


@given(rows(), st.integers(1, 8))
def test_any_tie_of_top_k_is_the_lowest_id_and_is_named(row: list[Fraction], count: int) -> None:
    made = law(f"top-k:{count}:ties=any", probability_row(row))
    assert list(made.values) == oracle.top_k(row, count, "lowest-id")
    found = remarks(f"top-k:{count}:ties=any", probability_row(row))
    tie = made.support < law(f"top-k:{count}", probability_row(row)).support
    assert [remark.ident for remark in found] == ["near-cut"] * tie
    if tie:
        assert "which is unspecified" in found[0].message


@given(rows(), SHARES, st.sampled_from(["lowest-id", "highest-id", "all"]))
def test_a_partial_last_token(row: list[Fraction], mass: Fraction, ties: str) -> None:
    made = law(f"top-p:{mass}:boundary=partial:ties={ties}", probability_row(row))
    assert list(made.values) == oracle.top_p_partial(row, mass, ties)
    assert made.bound == 0


def test_the_float32_threshold_is_one_minus_the_rounded_tail() -> None:
    edge = 1 - oracle.nearest(F("1/10"), "float32")  # type: ignore[operator]
    assert edge < F("9/10")
    row = probability_row([edge, 1 - edge - F("1/20"), F("1/20")])
    assert law("top-p:9/10", row).support == 2
    assert law("top-p:9/10:threshold=float32", row).support == 1
    assert law("top-p:9/10:threshold=float32:boundary=exceed", row).support == 2
    assert law("top-p:1:threshold=float32", row).support == 3
    with pytest.raises(SettingsError, match="rounds to 1 in float32"):
        law("top-p:1e-9:threshold=float32", row)


# Vocabularies.


@given(rows(), st.data())
def test_maps_and_sizes(row: list[Fraction], data: st.DataObject) -> None:
    size = data.draw(st.integers(len(row), len(row) + 3))
    ids = data.draw(st.permutations(range(size)))[: len(row)]
    targets = [target if data.draw(st.integers(0, 3)) else -1 for target in ids]
    assume(any(p and target >= 0 for p, target in zip(row, targets, strict=True)))
    written = "+".join(map(str, targets))
    given_map = RowContext(target_size=size, draft_map=tuple(targets))
    found = law("vocab-map:given", probability_row(row), given_map)
    assert list(found.values) == oracle.mapped(row, targets, size)
    assert found == law(f"vocab-map:{written}", probability_row(row), RowContext(target_size=size))
    lost = sum((p for p, target in zip(row, targets, strict=True) if target < 0), Fraction(0))
    said = remarks("vocab-map:given", probability_row(row), given_map)
    assert [remark.ident for remark in said] == ["row-not-normalised"] * bool(lost)
    cut = data.draw(st.integers(1, size))
    assume(any(found.values[:cut]))
    assert list(law(f"vocab-size:{cut}", probability_row(list(found.values))).values) == (
        oracle.resized(list(found.values), cut)
    )


def test_a_map_of_logits_leaves_the_rest_impossible() -> None:
    made = law("vocab-map:3+-1+0", logits_row([1, 9, None]), RowContext(target_size=5))
    assert made.exponents == (None, None, None, 1, None)
    assert law("vocab-map:2+-1", probability_row([1, 0])).values == (0, 0, 1)


@pytest.mark.parametrize(
    ("recipe", "given_context", "message"),
    [
        ("vocab-map:0+1", RowContext(), "the map has 2 entries, the row 3 tokens"),
        ("vocab-map:0+1+1", RowContext(), "entries 1 and 2 are both 1"),
        ("vocab-map:0+-1+7", RowContext(target_size=7), "entry 2 is 7, outside the target"),
        ("vocab-map:given", RowContext(), "needs the map of the draft vocabulary"),
        ("vocab-map:given", RowContext(draft_map=(0, 0, 1)), "entries 0 and 1 are both 0"),
        ("retokenise:2", RowContext(), "needs the texts of the tokens"),
        ("retokenise:2", RowContext(texts=("a", "b")), "has 2 texts, the row 3 tokens"),
        ("retokenise:2", RowContext(texts=("a", "b", "a")), "tokens 0 and 2 have one text"),
        ("retokenise:2", RowContext(texts=("a", "", "b")), "token 1 is possible and has no text"),
        (
            "retokenise:2",
            RowContext(texts=("a", "b"), draft_texts=("a", "b", "c")),
            "no target token begins the draft text 'c",
        ),
    ],
)
def test_what_does_not_fit_is_refused(recipe: str, given_context: RowContext, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        law(recipe, probability_row(["1/2", "1/4", "1/4"]), given_context)


@pytest.mark.parametrize("text", ["0+-2", "0+x", "", "given+1", "0,1", "--1"])
def test_maps_that_cannot_be_read(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_recipe(f"vocab-map:{text}")


def test_a_row_that_loses_everything_is_refused() -> None:
    with pytest.raises(RowError, match="no token is left"):
        law("vocab-map:-1+0", probability_row([1, 0]))
    with pytest.raises(RowError, match="no token is left"):
        law("vocab-size:1", probability_row([0, 1]))


@given(rows(), st.integers(1, 3))
def test_string_laws(row: list[Fraction], characters: int) -> None:
    draft_texts = ("a", "b", "ab", "ba", "aab", "c", "bb")[: len(row)]
    texts = ("a", "ab", "b", "aab", "c", "abc")
    known = RowContext(texts=texts, draft_texts=draft_texts)
    made = law(f"retokenise:{characters}", probability_row(row), known)
    assert list(made.values) == oracle.string_law(row, draft_texts, texts, characters)


def test_vectors_of_string_laws() -> None:
    found = [vector for vector in load("STR") if "draft_until_chars" in vector["inputs"]]
    assert {"STR-1", "STR-2"} <= {vector["id"] for vector in found}
    for vector in found:
        draft, texts = vector["inputs"]["draft_tokens"], vector["inputs"]["target_vocab"]
        known = RowContext(texts=tuple(texts), draft_texts=tuple(draft))
        recipe = f"retokenise:{vector['inputs']['draft_until_chars']}"
        made = law(recipe, probability_row(list(draft.values())), known)
        if "psi" in vector["expected"]:
            assert dict(zip(texts, made.values, strict=True)) == vector["expected"]["psi"]


# Draws on a grid.


@given(rows(), st.integers(1, 40))
def test_inverse_cdf(row: list[Fraction], points: int) -> None:
    made = law(f"inverse-cdf:{points}", probability_row(row))
    assert list(made.values) == oracle.inverse_cdf(row, points)
    distance = sum(abs(p - q) for p, q in zip(made.values, row, strict=True)) / 2
    assert distance <= Fraction(len(row), 2 * points)


@given(rows(max_size=4), st.integers(1, 7))
def test_gumbel_race(row: list[Fraction], points: int) -> None:
    row = [Fraction(round(p * 12), 12) for p in row]
    assume(any(row))
    row = oracle.renormalised(row)
    made = law(f"gumbel-race:{points}", probability_row(row))
    assert list(made.values) == oracle.gumbel_race(row, points)


@pytest.mark.parametrize(("prefix", "step"), [("ICDF", "inverse-cdf"), ("GUM", "gumbel-race")])
def test_vectors_of_grids(prefix: str, step: str) -> None:
    for vector in load(prefix):
        made = law(f"{step}:{vector['inputs']['N']}", probability_row(vector["inputs"]["p"]))
        assert list(made.values) == vector["expected"]["law"]


def test_grids_of_logits_are_decided_exactly() -> None:
    # ln 2 to 60 digits: C(0) = 2/3 up to 1e-61, on either side of the grid point 2/3.
    ln_2 = "0.693147180559945309417232121458176568075500134360255254120680"
    for shift, first in (("1e-58", 3), ("-1e-58", 2)):
        row = logits_row([F(ln_2) + F(shift), 0])
        made = law("inverse-cdf:3", row)
        assert made.values == (Fraction(first, 3), 1 - Fraction(first, 3))
        assert (made.bound, remarks("inverse-cdf:3", row)) == (0, ())
    # In the race the noises ln 4 and 2 ln 2 differ from a tie by as little.
    above = law("gumbel-race:4", logits_row([F(ln_2) + F("1e-58"), 0])).values
    below = law("gumbel-race:4", logits_row([F(ln_2) - F("1e-58"), 0])).values
    tied = law("gumbel-race:4", probability_row(["2/3", "1/3"])).values
    assert above == tied
    assert below[0] == tied[0] - Fraction(1, 16)


def test_ties_of_penalised_probabilities_race_exactly() -> None:
    row = probability_row(["1/2", "1/4", "1/4"])
    made = law("repetition-penalty:2:history=0,gumbel-race:4", row)
    assert made == law("gumbel-race:4", probability_row(["1/3", "1/3", "1/3"]))


@pytest.mark.parametrize(
    ("recipe", "size"),
    [(f"gumbel-race:{MOST_EVENTS // 2}", 3), ("gumbel-race:1", MOST_TOKENS + 1)],
)
def test_long_races_are_refused(recipe: str, size: int) -> None:
    with pytest.raises(SettingsError, match="too long to enumerate"):
        law(recipe, probability_row([Fraction(1, size)] * size))


@pytest.mark.parametrize("text", ["0", "2^54", "-1", "1/2", "2^", "x", "9007199254740993", "1e3"])
def test_grids_that_cannot_be_read(text: str) -> None:
    for step in ("inverse-cdf", "gumbel-race"):
        with pytest.raises(SettingsError, match="no number of grid points"):
            parse_recipe(f"{step}:{text}")


def test_grid_points_are_written_as_a_number() -> None:
    assert str(parse_recipe("icdf:2^24")) == "inverse-cdf:16777216"


# Casts.


@given(rows(), DTYPES)
def test_cast_probabilities(row: list[Fraction], dtype: str) -> None:
    rounded = [oracle.nearest(p, dtype) for p in row]
    assert None not in rounded
    made = law(f"cast:{dtype}", probability_row(row))
    total = sum(rounded, Fraction(0))  # type: ignore[arg-type]
    assert [value * made.mass for value in made.values] == rounded
    assert made.mass == total
    said = [remark.ident for remark in remarks(f"cast:{dtype}", probability_row(row))]
    assert said == ["row-not-normalised"] * (total != 1)


@given(st.lists(NUMBERS, min_size=3, max_size=6), DTYPES, st.sampled_from(["1", "7/10", "3"]))
def test_cast_logits(logits: list[Fraction], dtype: str, temperature: str) -> None:
    rounded = [oracle.nearest(z / F(temperature), dtype) for z in logits]
    beyond = [z > 0 for z, value in zip(logits, rounded, strict=True) if value is None]
    recipe = f"temperature:{temperature},cast:{dtype}:of=logits"
    if any(beyond):
        with pytest.raises(RowError, match="overflows"):
            law(recipe, logits_row(logits))
    elif len(beyond) < len(logits):
        made = law(recipe, logits_row(logits))
        assert made.exponents == tuple(rounded)
        assert made == law("raw", logits_row(rounded))


def test_the_rounding_of_a_softmax_is_decided_exactly() -> None:
    # 1/(1 + e^-d) lies within 1e-40 of the midpoint 1 - 3/512 of two bfloat16 numbers.
    from decimal import Decimal, localcontext

    with localcontext() as digits:
        digits.prec = 80
        middle = 1 - Decimal(3) / 512
        gap = (middle / (1 - middle)).ln()
    for aside, first in (("1e-40", 1 - Fraction(2, 512)), ("-1e-40", 1 - Fraction(4, 512))):
        row = logits_row([F(str(gap)) + F(aside), 0])
        made = law("cast:bfloat16", row)
        assert made.values[0] * made.mass == first
        assert [r.ident for r in remarks("cast:bfloat16", row)] == ["row-not-normalised"]


def test_logits_over_seven_tenths_in_bfloat16() -> None:
    made = law("temperature:7/10,cast:bfloat16:of=logits", logits_row([3, "191/64"]))
    assert made.exponents == (F("137/32"), F("17/4"))
    assert abs(made.values[0] - F("126952966069801/250000000000000")) < F("1e-14")


def test_probabilities_have_no_logits_to_round() -> None:
    with pytest.raises(RowError, match="no logits to round"):
        law("cast:float16:of=logits", probability_row(["1/2", "1/4", "1/4"]))
    small = probability_row([Fraction(1, 2**26)] * 8)
    with pytest.raises(RowError, match="every probability rounds to 0"):
        law("cast:float16", small, RowContext(unnormalised=True))


# A lazy grammar.


@given(rows(), st.data())
def test_a_lazy_grammar(row: list[Fraction], data: st.DataObject) -> None:
    ids = sorted(data.draw(st.sets(st.integers(0, len(row) - 1), min_size=1)))
    assume(any(row[x] for x in ids))
    count, mass = data.draw(st.integers(1, 5)), data.draw(SHARES)
    allowed = oracle.kept(row, lambda x: x in ids)

    def chain(start: list[Fraction]) -> list[Fraction]:
        return oracle.top_p(oracle.top_k(start, count), mass)

    recipe = f"top-k:{count},top-p:{mass},lazy-allowed:{'+'.join(map(str, ids))}"
    made = law(recipe, probability_row(row))
    assert list(made.values) == oracle.lazy(chain(row), chain(allowed), ids)
    assert made.bound == 0


def test_a_lazy_grammar_is_the_last_step_over_one_vocabulary() -> None:
    row = probability_row(["1/2", "1/4", "1/4"])
    assert law("lazy-allowed:0+1", row) == law("allowed:0+1", row)
    for recipe, message in (
        ("lazy-allowed:1,top-k:1", "followed by another step"),
        ("vocab-size:2,lazy-allowed:1", "changes the vocabulary"),
        ("lazy-allowed:3", "outside the vocabulary"),
    ):
        with pytest.raises(SettingsError, match=message):
            law(recipe, row)
    with pytest.raises(RowError, match="no token is left"):
        law("lazy-allowed:1", probability_row([1, 0]))


def test_what_the_engine_of_a_lazy_grammar_printed() -> None:
    row = logits_row(["2", "1.6", "0.6", "0.6", "0", "-1"])
    made = law("top-k:3:ties=any,lazy-allowed:2+4+5", row)
    assert [f"{float(p):.4f}" for p in made.values] == [
        "0.0000", "0.0000", "0.6264", "0.0000", "0.2732", "0.1005"
    ]  # fmt: skip


def test_remarks_of_both_draws_are_said_once() -> None:
    row = logits_row(["2", "1.6", "0.6", "0.6", "0", "-1"])
    said = remarks("top-k:3:ties=any,lazy-allowed:2+3+4+5", row)
    assert len(said) == len(set(said)) == 1


# Sums of their own.

OWN = RowContext(unnormalised=True)


def test_a_row_with_its_own_sum() -> None:
    row = probability_row(["1/2", "3/10", "1/10", 0])
    made = law("raw", row, OWN)
    assert made.values == (F("5/9"), F("1/3"), F("1/9"), 0)
    assert made.mass == F("9/10")
    (remark,) = remarks("raw", row, OWN)
    assert remark.ident == "row-not-normalised"
    assert remark.message.endswith("as --unnormalised asks; this sum enters the test")
    assert law("raw", probability_row(["1/2", "1/2"]), OWN).mass == 1
    for values in ([0, 0, 0], ["1/2", "-1/4", "1/4"]):
        with pytest.raises(RowError):
            law("raw", probability_row(values), OWN)


@pytest.mark.parametrize(
    ("recipe", "mass"),
    [("temperature:1", "3/4"), ("top-k:3", "3/4"), ("allowed:0+1+2", "3/4"), ("top-p:1", "3/4"),
     ("vocab-map:2+0+1", "3/4"), ("vocab-size:8", "3/4"), ("temperature:1/2", 1), ("top-k:1", 1),
     ("logit-bias:0=1", 1), ("inverse-cdf:8", 1), ("vocab-size:1", 1), ("cast:float16", "3/4")]
)  # fmt: skip
def test_the_sum_stays_as_long_as_the_weights_do(recipe: str, mass: str) -> None:
    assert law(recipe, probability_row(["1/2", "1/8", "1/8"]), OWN).mass == F(mass)


def test_closed_forms_do_not_know_such_sums() -> None:
    rows = ("--target-logits", "1,0,0", "--draft", "1/3,1/3,1/3")
    result = run("what-if", *rows, "--draft-recipe", "cast:bfloat16", "--symbolic")
    assert result.code == 2
    assert "real arithmetic only" in result.stderr
    assert run("what-if", *rows, "--draft-recipe", "cast:bfloat16").code == 1


def test_two_repairs_of_a_sum_are_one_too_many() -> None:
    both = RowContext(normalise=True, unnormalised=True)
    with pytest.raises(SettingsError, match="given together"):
        apply_recipe(parse_recipe("raw"), probability_row([1, 0]), both)
