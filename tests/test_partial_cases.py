"""Rows that are known in part: cases by hand, and refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specdist.errors import NotNormalisedError, RowError, SettingsError
from specdist.exact.law import RationalLaw
from specdist.exact.partial_law import PartialLaw
from specdist.exact.vectors import same_law
from specdist.model.row import (
    FloatValues,
    Kind,
    ListedValues,
    NumberFormat,
    RationalValues,
    Row,
    Stage,
)
from specdist.processing import RowContext, TokenHistory, apply_recipe, parse_recipe
from specdist.processing.partial_row import PartialProcessed, apply_partial
from tests.truncated_rows import PLACE

F = Fraction
Values = dict[int, Fraction | int | str | None]
NOTHING = RowContext()


def row(values: Values, size: int, kind: str = "probabilities", **known: Any) -> Row:
    numbers = [None if v is None else F(v) for _, v in sorted(values.items())]
    stage = known.pop("stage", "raw")
    floats = known.pop("floats", False)
    if known.get("cap") is not None:
        known["cap"] = F(known["cap"])
    stored: FloatValues | RationalValues = RationalValues(tuple(numbers))
    if floats:
        stored = FloatValues(np.array([-np.inf if v is None else float(v) for v in numbers]))
    listed = ListedValues(tuple(sorted(values)), stored, size, **known)
    return Row(listed, Kind(kind), Stage(stage), NumberFormat.DECIMAL, PLACE)


def made(recipe: str, given: Row, context: RowContext = NOTHING) -> PartialProcessed:
    return apply_partial(parse_recipe(recipe), given, context)


def law(recipe: str, given: Row, context: RowContext = NOTHING) -> list[Fraction]:
    found = made(recipe, given, context).law
    assert isinstance(found, RationalLaw)
    return list(found.values)


def part(recipe: str, given: Row, context: RowContext = NOTHING) -> PartialLaw:
    found = made(recipe, given, context).law
    assert isinstance(found, PartialLaw)
    return found


HALVES: Values = {3: "1/2", 5: "1/4"}


def test_the_listed_part_is_never_renormalised() -> None:
    found = part("raw", row(HALVES, 8, cap="1/4"))
    assert (found.ids, found.low, found.high) == ((3, 5), (F(1, 2), F(1, 4)), (F(1, 2), F(1, 4)))
    assert (found.others, found.cap) == (6, F(1, 4))
    assert found.scale.least == found.scale.most == 1


def test_a_cap_is_no_larger_than_what_is_left() -> None:
    assert part("raw", row({0: "3/5", 1: "3/10"}, 8, cap="3/10")).cap == F(1, 10)
    assert part("raw", row({0: "3/5", 1: "3/10"}, 8)).cap == F(1, 10)


def test_a_top_k_within_the_list_is_exact() -> None:
    assert law("top-k:1", row(HALVES, 8, cap="1/4")) == [0, 0, 0, 1, 0, 0, 0, 0]
    listed = row({0: "1/2", 3: "1/4", 4: "1/8"}, 6, cap="1/8")
    assert law("top-k:2", listed) == [F(2, 3), 0, 0, F(1, 3), 0, 0]
    assert law("temperature:1/2,top-k:2", listed) == [F(4, 5), 0, 0, F(1, 5), 0, 0]
    assert law("top-k:2,temperature:1/2,top-p:4/5", listed) == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("floats", [False, True])
def test_an_unlisted_token_may_tie_the_smallest_listed_one(floats: bool) -> None:
    listed = row(HALVES, 8, cap="1/4", floats=floats)
    found = made("top-k:2", listed)
    assert isinstance(found.law, PartialLaw)
    assert (found.law.others, found.law.cap) == (1, F(1, 4))
    assert [remark.ident for remark in found.remarks] == ["truncated-row"]
    assert "1 token that is not listed may belong to the 2 largest" in found.remarks[0].message
    # among ties the lowest id wins: here all unlisted ids are higher, there one is lower
    assert isinstance(made("top-k:2:ties=lowest-id", listed).law, PartialLaw)
    first = row({0: "1/2", 1: "1/4"}, 8, cap="1/4", floats=floats)
    assert not isinstance(made("top-k:2:ties=lowest-id", first).law, PartialLaw)
    assert isinstance(made("top-k:2:ties=all", first).law, PartialLaw)
    below = row(HALVES, 8, cap="6/25", floats=floats)
    assert not isinstance(made("top-k:2", below).law, PartialLaw)


def test_temperature_zero_needs_the_largest_token() -> None:
    assert law("temperature:0", row(HALVES, 8, cap="1/4"))[3] == 1
    tied = row({3: "1/4", 5: "1/4"}, 8, cap="6/25")
    found = made("temperature:0", tied)
    assert "tokens 3, 5 tie" in found.remarks[0].message
    assert law("temperature:0:greedy=all", tied) == [0, 0, 0, F(1, 2), 0, F(1, 2), 0, 0]
    unsure = part("temperature:0", row({3: "1/4", 5: "1/4"}, 8, cap="1/4"))
    assert (unsure.low, unsure.high, unsure.cap) == ((0, 0), (1, 0), 1)  # 3 comes before 5
    assert unsure.scale.least == unsure.scale.most == 1
    assert unsure.others == 1


@pytest.mark.parametrize(
    ("recipe", "kept"),
    [
        ("top-p:1/2", [3]),
        ("top-p:1/2:boundary=exceed", None),  # an unlisted token may tie the second
        ("top-p:1/2:boundary=exceed:ties=highest-id", None),
        ("top-p:3/4", None),
        ("top-p:49/100", [3]),
        ("min-p:1/2", None),
        ("min-p:1/2:equal=drop", [3]),
        ("min-p:51/100", [3]),
        ("epsilon:1/4", None),
        ("epsilon:26/100", [3]),
    ],
)
def test_a_kept_set_is_exact_where_it_is_proven(recipe: str, kept: list[int] | None) -> None:
    found = made(recipe, row(HALVES, 8, cap="1/4")).law
    if kept is None:
        assert isinstance(found, PartialLaw)
        return
    assert isinstance(found, RationalLaw)
    assert [x for x, value in enumerate(found.values) if value] == kept


def test_a_mass_on_its_threshold_is_said() -> None:
    found = made("top-p:1/2", row(HALVES, 8, cap="1/4"))
    assert [remark.ident for remark in found.remarks] == ["near-cut"]


def test_slack_leaves_a_mass_open() -> None:
    sharp = row({0: "1/2", 1: "1/4"}, 6, cap="1/8")
    assert law("top-p:1/2", sharp)[0] == 1
    loose = row({0: "1/2", 1: "1/4"}, 6, cap="1/8", slack=F(1, 1000))
    four = row({0: "1/2", 1: "1/4"}, 4, cap="1/8", slack=F(1, 1000))
    assert law("top-p:1/2", four)[0] == 1  # two more of at most 1/8: the sum is at most 1
    found = made("top-p:9/10", loose)
    assert isinstance(made("top-p:1/2", loose).law, PartialLaw)
    assert "the mass 9/10: the listed ones have at least 0.74925" in found.remarks[0].message
    assert made("top-p:49/100", loose).law.support == 1  # type: ignore[union-attr]
    scale = part("raw", loose).scale
    assert F(999, 1000) < scale.least < 1 < scale.most < F(1002, 1000)


def test_masks_on_unlisted_tokens() -> None:
    listed = row(HALVES, 6, cap="1/4")
    banned = part("banned:0+5", listed)
    assert (banned.ids, banned.high) == ((0, 3, 5), (0, F(1, 2), 0))
    assert (banned.others, banned.scale.least, banned.scale.most) == (3, F(4, 3), 2)
    allowed = part("allowed:0+3", listed)
    assert (allowed.ids, allowed.low, allowed.high) == ((0, 3), (0, F(1, 2)), (F(1, 4), F(1, 2)))
    assert allowed.others == 0
    assert law("allowed:3+5", listed) == [0, 0, 0, F(2, 3), 0, F(1, 3)]
    with pytest.raises(RowError, match="no token is left"):
        made("allowed:3,banned:3", listed)


def test_a_bias_moves_the_cap_of_the_token_it_names() -> None:
    listed = row({0: 2, 1: 0}, 4, "logits", cap=-1)
    assert isinstance(made("logit-bias:2=5,top-k:2", listed).law, PartialLaw)
    assert law("logit-bias:2=1/2,top-k:2", listed)[2] == 0
    found = part("logit-bias:2=5", listed)
    assert found.ids == (0, 1, 2)
    assert found.low[2] == 0
    assert 1 <= found.high[2] < 1 + F(1, 2**40)  # exp(4) is the largest weight there can be
    assert found.others == 1


@pytest.mark.parametrize("floats", [False, True])
def test_values_far_apart(floats: bool) -> None:
    listed = row({0: 0, 1: -1}, 5, "logits", cap=-2, floats=floats)
    forced = part("logit-bias:0=2000", listed)
    assert float(forced.scale.most) == pytest.approx(1)
    assert forced.high[1] < 1e-300
    unsure = part("logit-bias:3=2000", listed)  # token 3 may be impossible: nothing is known
    assert [float(end) for end in (*unsure.low, *unsure.high)] == [0, 0, 0, 1, 1, 1]
    below = row({0: -2000}, 5, "logprobs", cap=0, floats=floats)
    assert part("temperature:1/2", below).others == 4
    assert law("logit-bias:0=3000,top-k:1", row({0: 0, 1: -1}, 5, "logits", cap=-2))[0] == 1


def test_penalties_on_unlisted_tokens() -> None:
    context = RowContext(history=TokenHistory((2, 0), 0))
    listed = row({0: 2, 1: "1/2"}, 4, "logits", cap="-1/4")
    assert law("repetition-penalty:2,top-k:2", listed, context)[2:] == [0, 0]
    raising = row({0: 2, 1: "1/2"}, 4, "logits", cap="1/4")
    assert isinstance(made("repetition-penalty:1/4,top-k:2", raising, context).law, PartialLaw)
    assert isinstance(made("presence-penalty:-1,top-k:2", raising, context).law, PartialLaw)


def test_logits_without_a_normaliser_have_exact_quotients() -> None:
    found = part("raw", row({0: 0, 1: 0, 2: 0}, 5, "logits", cap=0))
    assert found.low == found.high == (1, 1, 1)
    assert (found.scale.least, found.scale.most) == (F(1, 5), F(1, 3))
    assert part("raw", row({0: 0, 1: -1}, 5, "logits")).cap is None
    open_above = made("raw", row({0: 0, 1: -1}, 5, "logits"))
    assert "no cap bounds their logits" in open_above.remarks[0].message
    assert open_above.law.scale.least == 0  # type: ignore[union-attr]
    assert isinstance(made("top-k:1", row({0: 0, 1: -1}, 5, "logits")).law, PartialLaw)


def test_a_known_support_names_the_tokens() -> None:
    known = row({1: "1/2", 4: "1/4"}, 9, support=(1, 4, 6, 7), cap="1/4")
    found = part("raw", known)
    assert (found.ids, found.others) == ((1, 4, 6, 7), 0)
    assert found.high == (F(1, 2), F(1, 4), F(1, 4), F(1, 4))
    one_missing = row({1: "1/2", 4: "1/4"}, 9, support=(1, 4, 6))
    assert law("raw", one_missing)[6] == F(1, 4)


@pytest.mark.parametrize(
    "recipe", ["raw", "temperature:7/10,top-p:9/10", "typical-p:1/2", "eta:1/9"]
)
@pytest.mark.parametrize("kind", ["probabilities", "logits"])
def test_a_row_with_all_its_tokens_is_an_ordinary_one(recipe: str, kind: str) -> None:
    missing = 0 if kind == "probabilities" else None
    values: Values = {1: "1/2", 4: "3/10", 6: "1/5"}
    known = row(values, 8, kind, support=(1, 4, 6))
    numbers = tuple(F(values[x]) if x in values else missing for x in range(8))  # type: ignore[arg-type]
    complete = Row(RationalValues(numbers), known.kind, known.stage, known.numbers, PLACE)
    found, expected = made(recipe, known).law, apply_recipe(parse_recipe(recipe), complete, NOTHING)
    assert found == expected.law
    assert same_law(found, expected.law)  # type: ignore[arg-type]


def test_values_that_fill_the_whole_leave_nothing_to_others() -> None:
    assert law("raw", row({0: "1/2", 1: "1/2"}, 4)) == [F(1, 2), F(1, 2), 0, 0]
    assert law("raw", row({0: "1/2", 1: "1/4"}, 4, cap=0, slack=F(1, 2))) == [
        F(2, 3), F(1, 3), 0, 0
    ]  # fmt: skip


def test_one_recipe_on_one_row_is_one_distribution() -> None:
    listed, other = row(HALVES, 8, cap="1/4"), row(HALVES, 8, cap="1/4")
    assert made("temperature:2", listed).origin == made("temperature:2,top-p:1", other).origin
    assert made("temperature:2", listed).origin != made("temperature:3", listed).origin
    elsewhere = Row(listed.values, listed.kind, listed.stage, listed.numbers, "other.json, x")
    assert made("raw", elsewhere).origin != made("raw", listed).origin
    logits = row({0: 1, 1: 0, 2: -1}, 5, "logits", cap=-2)
    first, second = made("temperature:2,top-k:2", logits).law, made("top-k:2,temperature:2", logits)
    assert same_law(first, second.law)  # type: ignore[arg-type]


def test_other_vocabularies() -> None:
    listed = row({0: "1/2", 2: "1/4"}, 4, cap="1/4")
    mapped = part("vocab-map:5+1+-1+0", listed)
    assert (mapped.ids, mapped.low, mapped.others) == ((5,), (F(1, 2),), 2)
    assert (mapped.scale.least, mapped.scale.most) == (F(4, 3), F(4, 3))  # 1/4 is lost for sure
    smaller = made("vocab-size:3", listed)
    assert isinstance(smaller.law, PartialLaw)
    assert (smaller.law.ids, smaller.law.others, smaller.size) == ((0, 2), 1, 3)
    assert "up to mass 1/4 on ids from 3 on is dropped" in smaller.remarks[0].message
    padded = part("vocab-size:6", listed)
    assert (padded.ids, padded.others) == ((0, 2, 4, 5), 2)


def test_open_ended_vocabularies() -> None:
    listed = row({0: "1/2", 2: "1/4"}, 3, cap="1/4", open_ended=True)
    found = made("banned:7", listed)
    assert (found.size, found.open_ended) == (8, True)
    assert found.law.others is None  # type: ignore[union-attr]
    hot = made("temperature:2", listed)
    assert "--vocab-size N says it" in hot.remarks[0].message
    mapped = made("vocab-map:5+1+-1+0", listed)  # the map tells the size
    assert (mapped.size, mapped.open_ended) == (6, False)
    assert mapped.law.others == 2  # type: ignore[union-attr]


def test_one_hot_and_stages() -> None:
    listed = row(HALVES, 8, cap="1/4", stage="temperature")
    assert law("one-hot", listed, RowContext(drafted_token=2))[2] == 1
    assert law("top-k:1", listed)[3] == 1
    with pytest.raises(SettingsError, match="would apply it again"):
        made("temperature:1/2", listed)
    with pytest.raises(SettingsError, match="would apply it again"):
        made("top-k:1", row(HALVES, 8, cap="1/4", stage="processed"))
    with pytest.raises(SettingsError, match="not all of its tokens are listed"):
        made("raw", listed, RowContext(unnormalised=True))


@pytest.mark.parametrize(
    "step",
    ["typical-p:1/2", "eta:1/9", "top-n-sigma:1", "cast:float16", "inverse-cdf:64",
     "gumbel-race:16", "retokenise:2", "lazy-allowed:3"],
)  # fmt: skip
def test_a_step_that_needs_every_token_says_so(step: str) -> None:
    context = RowContext(texts=tuple("abcdefgh"))
    with pytest.raises(SettingsError) as refused:
        made(step, row(HALVES, 8, cap="1/4"), context)
    assert step.partition(":")[0] in refused.value.message
    assert "2 tokens are listed" in refused.value.message
    assert "capture all tokens" in refused.value.advice
    # behind a top-k that is proven the row is an ordinary one
    assert made(f"top-k:1,{step}" if step != "retokenise:2" else "top-k:1",
                row(HALVES, 8, cap="1/4"), context).law.support == 1  # type: ignore[union-attr]  # fmt: skip


def test_a_lazy_grammar_redraws_from_exact_chains() -> None:
    listed = row({0: "1/2", 1: "1/4", 2: "1/8"}, 6, cap="1/16")
    assert law("top-k:2,lazy-allowed:1+2", listed) == [0, F(1, 3) + F(2, 3) * F(2, 3),
                                                       F(2, 3) * F(1, 3), 0, 0, 0]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (row({0: "3/4", 1: "1/2"}, 4), NotNormalisedError, "sum to 1 \\+ 1/4"),
        (row({0: "1/2", 1: "1/4"}, 4, cap="1/16"), RowError, "allow no sum of 1"),
        (row({0: "1/2", 1: "1/4"}, 4, support=(0, 1), slack=F(1, 99)), RowError, "allow no sum"),
        (row({0: "-1/2", 1: "1/4"}, 4), RowError, "probability of token 0 is -1/2"),
        (row({0: 0, 1: 0}, 4), RowError, "no listed token is possible"),
        (row({0: "1/9", 1: 2}, 4, "logprobs"), NotNormalisedError, "sum to 1 \\+"),
        (row({0: -1, 1: "1/4"}, 4, floats=True), RowError, "is negative"),
    ],
)
def test_values_of_no_distribution_are_refused(
    given: Row, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        made("raw", given)


def test_not_a_number_is_refused() -> None:
    values = ListedValues((0, 1), FloatValues(np.array([np.nan, 0.5])), 4)
    with pytest.raises(RowError, match="NaN"):
        made("raw", Row(values, Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT32, PLACE))
