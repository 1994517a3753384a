"""Steps that make a row anew: dumped rows against exact rows of the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import RowError, SettingsError
from specdist.exact.law import FloatLaw, RationalLaw
from specdist.exact.vectors import same_law
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import Processed, RowContext, apply_recipe, parse_recipe
from specdist.processing.float_row import FloatRow
from specdist.processing.row_sum import Sums
from tests import oracle_processing as oracle
from tests.processing_rows import PLACE, F, made_row
from tests.test_processing_twins import PARTS, assert_close, float_probabilities, said

STORED = {"float16": np.float16, "float32": np.float32, "float64": np.float64}
Values = Sequence[Fraction | None]


def dumped(values: Values, kind: str, numbers: str) -> Row:
    array = np.array([-np.inf if value is None else float(value) for value in values])
    if numbers == "bfloat16":
        stored = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        stored = array.astype(STORED[numbers])
    return Row(FloatValues(stored), Kind(kind), Stage.RAW, NumberFormat(numbers), PLACE)


def both(
    recipe: str, values: Values, kind: str, numbers: str, context: RowContext
) -> list[Processed]:
    rows = (made_row(values, kind, numbers=numbers), dumped(values, kind, numbers))
    return [apply_recipe(parse_recipe(recipe), row, context) for row in rows]


@st.composite
def steps(draw: st.DrawFn, size: int) -> tuple[str, RowContext]:
    share = Fraction(draw(st.integers(1, PARTS - 1)), PARTS)
    ties = draw(st.sampled_from(["lowest-id", "highest-id", "all"]))
    targets = [t if draw(st.integers(0, 4)) else -1 for t in draw(st.permutations(range(size + 2)))]
    targets = [size + 1, *(t for t in targets if t != size + 1)][:size]
    ids = {0, *draw(st.lists(st.integers(0, size - 1), max_size=3))}
    texts = ("a", "b", "ab", "ba", "aab", "c", "bb", "ca", "ac", "cc")[:size]
    dtype = draw(st.sampled_from(["float16", "bfloat16", "float32"]))
    step = draw(
        st.sampled_from(
            [
                f"top-p:{share}:boundary=partial:ties={ties}",
                f"top-p:{share}:boundary=partial:ties={ties},temperature:1/2",
                f"top-p:{share}:threshold=float32:ties={ties}",
                f"top-k:{draw(st.integers(1, 9))}:ties=any",
                "temperature:0:greedy=all",
                "vocab-map:given",
                "vocab-map:given,top-p:1/2",
                f"vocab-size:{draw(st.integers(1, size + 3))}",
                f"cast:{dtype}",
                f"cast:{dtype}:of=logits",
                f"inverse-cdf:{draw(st.integers(1, 99))}",
                f"gumbel-race:{draw(st.integers(1, 9))}",
                f"top-k:2,lazy-allowed:{'+'.join(map(str, sorted(ids)))}",
                "retokenise:3",
            ]
        )
    )
    return step, RowContext(target_size=size + 2, draft_map=tuple(targets), texts=texts)


def compare(recipe: str, values: Values, kind: str, numbers: str, context: RowContext) -> None:
    try:
        rational, floating = both(recipe, values, kind, numbers, context)
    except RowError:
        with pytest.raises(RowError):
            apply_recipe(parse_recipe(recipe), made_row(values, kind, numbers=numbers), context)
        with pytest.raises(RowError):
            apply_recipe(parse_recipe(recipe), dumped(values, kind, numbers), context)
        return
    assert isinstance(rational.law, RationalLaw)
    if any(r.ident == "undecided-precision" for r in rational.remarks + floating.remarks):
        return
    bound = rational.law.bound + floating.law.bound
    assert bound < F("1e-9")
    made = floating.law
    found = list(made.values) if isinstance(made, RationalLaw) else float_probabilities(made)
    assert_close(found, list(rational.law.values), bound)
    assert floating.law.mass == rational.law.mass
    assert floating.law.size == rational.law.size
    assert floating.law.support == rational.law.support
    assert said(floating.remarks) == said(rational.remarks)
    if isinstance(made, FloatLaw) and made.ids is not None:
        assert (np.diff(made.ids) > 0).all()


@given(st.lists(st.integers(0, 9), min_size=3, max_size=9), st.data())
def test_probabilities(parts: list[int], data: st.DataObject) -> None:
    parts = [min(part, PARTS // len(parts)) for part in parts]
    parts[0] += PARTS - sum(parts)
    recipe, context = data.draw(steps(len(parts)))
    numbers = data.draw(st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
    values = [Fraction(part, PARTS) for part in parts]
    compare(recipe, values, "probabilities", numbers, context)


@given(st.lists(st.none() | st.integers(-64, 64), min_size=2, max_size=9), st.data())
def test_logits(eighths: list[int | None], data: st.DataObject) -> None:
    values = [Fraction(1), *(None if n is None else Fraction(n, 8) for n in eighths)]
    recipe, context = data.draw(steps(len(values)))
    temperature = data.draw(st.sampled_from(["1", "1/2", "4/5", "7/10"]))
    numbers = data.draw(st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
    compare(f"temperature:{temperature},{recipe}", values, "logits", numbers, context)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=9), st.data())
def test_rows_with_their_own_sum(parts: list[int], data: st.DataObject) -> None:
    parts[0] += 1
    values = [Fraction(part, PARTS) for part in parts]
    recipe, context = data.draw(steps(len(parts)))
    own = RowContext(
        target_size=context.target_size,
        draft_map=context.draft_map,
        texts=context.texts,
        unnormalised=True,
    )
    for tried in ("raw", recipe):
        compare(tried, values, "probabilities", "float64", own)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["float16", "bfloat16", "float32"]))
def test_casts_of_many_numbers_round_once(seed: int, dtype: str) -> None:
    random = np.random.default_rng(seed)
    # Quotients by 7/10 of these lie on midpoints of every format, or one float64 step beside.
    bits = oracle.FORMATS[dtype][0]
    halves = (2 * random.integers(2 ** (bits - 1), 2**bits, 40) + 1) * 0.5
    values = np.concatenate([halves * 0.7 * 2.0**-4, np.nextafter(halves, 0) * 0.7, halves[:5]])
    row = Row(FloatValues(values), Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT64, PLACE)
    made = FloatRow.of(row, Sums.STRICT).divide(F("7/10")).rounded_logits(NumberFormat(dtype))
    wanted = [oracle.nearest(Fraction(value) / F("7/10"), dtype) for value in values.tolist()]
    assert [Fraction(score) for score in made.scores().tolist()] == wanted


def test_probabilities_of_a_dump_are_rounded_once() -> None:
    random = np.random.default_rng(5)
    whole = random.integers(1, 2**20, 64)
    values = whole / whole.sum()
    row = Row(FloatValues(values), Kind.PROBABILITIES, Stage.RAW, NumberFormat.FLOAT64, PLACE)
    total = sum(map(Fraction, values.tolist()), Fraction(0))
    for dtype in oracle.FORMATS:
        made = apply_recipe(parse_recipe(f"cast:{dtype}"), row, RowContext()).law
        assert isinstance(made, FloatLaw)
        wanted = [oracle.nearest(Fraction(value) / total, dtype) for value in values.tolist()]
        assert [Fraction(weight) for weight in made.weights.tolist()] == wanted
        assert made.mass == sum(wanted, Fraction(0))  # type: ignore[arg-type]


def test_laws_of_different_maps_are_different() -> None:
    row = dumped([F(2), F(1), F(0)], "logits", "float32")
    laws = [
        apply_recipe(parse_recipe(recipe), row, RowContext(target_size=3)).law
        for recipe in ("vocab-map:0+1+2", "vocab-map:1+0+2", "vocab-map:1+0+2,temperature:1")
    ]
    assert not same_law(laws[0], laws[1])
    assert same_law(laws[1], laws[2])


@pytest.mark.parametrize(
    "recipe",
    ["top-p:9/10:boundary=partial", "inverse-cdf:16", "cast:float16", "cast:float16:of=logits",
     "top-k:2,lazy-allowed:1+2", "retokenise:2", "vocab-map:2+1+0", "vocab-size:2"],
)  # fmt: skip
def test_one_recipe_on_one_row_is_one_law_by_construction(recipe: str) -> None:
    context = RowContext(texts=("a", "b", "ab"))
    for row in (
        dumped([F(2), F("1/3"), F(0)], "logits", "float32"),
        made_row([2, "1/3", 0], "logits"),
    ):
        first, second = (apply_recipe(parse_recipe(recipe), row, context).law for _ in range(2))
        assert same_law(first, second)
        other = apply_recipe(parse_recipe("temperature:2"), row, context).law
        assert not same_law(first, other)


def test_a_cumulative_probability_inside_the_bound_is_undecided() -> None:
    values = [F("0.6931471805599453"), F(0)]  # 2/3 and 1/3 up to a rounding unit
    row = dumped(values, "logits", "float64")
    (remark,) = apply_recipe(parse_recipe("inverse-cdf:3"), row, RowContext()).remarks
    assert (remark.ident, remark.leeway) == ("undecided-precision", None)
    assert apply_recipe(parse_recipe("inverse-cdf:4"), row, RowContext()).remarks == ()
    fine = apply_recipe(parse_recipe("inverse-cdf:2^53"), row, RowContext())
    assert [remark.ident for remark in fine.remarks] == ["undecided-precision"]


def test_the_order_of_rounded_masses_is_undecided_where_it_is() -> None:
    values = [F("0.6931471805599453"), F(0), F("0.6931471805599454"), F(-9)]
    for row in (dumped(values, "logits", "float64"), made_row(values, "logits")):
        made = apply_recipe(parse_recipe("top-p:0.9:boundary=partial,top-k:1"), row, RowContext())
        assert [r.ident for r in made.remarks] == ["undecided-precision"]
        clear = parse_recipe("banned:2,top-p:0.9:boundary=partial,top-k:1")
        assert apply_recipe(clear, row, RowContext()).remarks == ()


def test_penalties_read_probabilities_over_their_sum() -> None:
    values = [F("1/4"), F("1/8"), F("1/8")]
    recipe = parse_recipe("repetition-penalty:2:history=0")
    context = RowContext(normalise=True)
    rational = apply_recipe(recipe, made_row(values, "probabilities"), context)
    floating = apply_recipe(recipe, dumped(values, "probabilities", "float64"), context)
    bound = floating.law.bound
    assert_close(float_probabilities(floating.law), list(rational.law.values), bound)  # type: ignore[union-attr]
    drawn = parse_recipe("inverse-cdf:8,repetition-penalty:2:history=0")
    made = [
        apply_recipe(drawn, row, context).law
        for row in (made_row(values, "probabilities"), dumped(values, "probabilities", "float64"))
    ]
    assert_close(float_probabilities(made[1]), list(made[0].values), made[1].bound)  # type: ignore[union-attr]


def test_a_large_vocabulary() -> None:
    random = np.random.default_rng(3)
    size = 151_936
    logits = random.normal(0, 3, 32_000).astype(np.float32)
    targets = tuple(int(x) for x in random.permutation(size)[:32_000])
    context = RowContext(target_size=size, draft_map=targets)
    row = Row(FloatValues(logits), Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT32, PLACE)
    made = apply_recipe(parse_recipe("vocab-map:given,temperature:4/5"), row, context).law
    assert isinstance(made, FloatLaw)
    assert (made.size, made.support) == (size, 32_000)
    plain = apply_recipe(parse_recipe("temperature:4/5"), row, context).law
    assert isinstance(plain, FloatLaw)
    weights = np.zeros(size)
    assert made.ids is not None
    weights[made.ids] = made.weights
    assert (weights[list(targets)] == plain.weights).all()
    cut = apply_recipe(parse_recipe("vocab-map:given,vocab-size:1000"), row, context)
    assert cut.law.size == 1000
    assert [remark.ident for remark in cut.remarks] == ["row-not-normalised"]
    with pytest.raises(SettingsError, match="too long to enumerate"):
        apply_recipe(parse_recipe("gumbel-race:2"), row, context)
    texts = RowContext(texts=tuple(f"t{x}" for x in range(32_000)))
    with pytest.raises(SettingsError, match="more than 200000 draft texts"):
        apply_recipe(parse_recipe("retokenise:9"), row, texts)


def test_a_large_exact_row_is_mapped() -> None:
    size = 151_936
    values = [Fraction(1, size)] * size
    targets = tuple(reversed(range(size)))
    context = RowContext(target_size=size, draft_map=(-1, *targets[1:]))
    made = apply_recipe(parse_recipe("vocab-map:given"), made_row(values, "probabilities"), context)
    assert isinstance(made.law, RationalLaw)
    assert made.law.values[-2:] == (Fraction(1, size - 1), 0)
    assert len(made.remarks) == 1
