"""Recipes on rows that are known in part, against complete rows: what is said holds, always.

Complete rows are drawn by the hundred, truncated in every way that formats know, and processed
both ways: the law of the complete row satisfies what is said of the part, and where a plain law
is said it is that law.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest

from specdist.exact.law import FloatLaw, RationalLaw
from specdist.exact.partial_law import PartialLaw
from specdist.model.recipe import Recipe
from specdist.model.row import Kind
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.processing.partial_row import PartialProcessed, apply_partial
from tests import oracle_partial as oracle
from tests.truncated_rows import Known, complete_row, long_row, processed, steps, truncated

F = Fraction
ROUNDS = 120


def disagreement(
    made: PartialProcessed, truth: list[Fraction], same: Fraction = oracle.SAME
) -> str:
    """What speaks against a result when this is the law, to a relative ``same``; empty if nothing
    does."""
    law = made.law
    if isinstance(law, PartialLaw):
        low, high = (
            [F(float(v)) if not isinstance(v, F) else v for v in law.low],
            [F(float(v)) if not isinstance(v, F) else v for v in law.high],
        )
        ids = [int(x) for x in law.ids]
        scale = (law.scale.least, law.scale.most)
        return oracle.contains(truth, ids, low, high, law.others, law.cap, scale, same)
    values = probabilities(law)
    padded = [*truth, *[F(0)] * (len(values) - len(truth))]
    padded = padded[: len(values)] if not any(padded[len(values) :]) else padded
    if [bool(v) for v in values] != [bool(v) for v in padded]:
        return f"possible tokens {values} against {padded}"
    bound = 3 * law.bound + same
    if any(abs(v - p) > bound * p for v, p in zip(values, padded, strict=True)):
        return f"{[float(v) for v in values]} against {[float(p) for p in padded]}"
    return ""


def probabilities(law: RationalLaw | FloatLaw) -> list[Fraction]:
    if isinstance(law, RationalLaw):
        return list(law.values)
    values = [F(0)] * law.size
    ids = range(law.size) if law.ids is None else law.ids.tolist()
    for x, weight in zip(ids, law.weights.tolist(), strict=True):
        values[x] = F(weight)
    total = sum(values, F(0))
    return [value / total for value in values]


@dataclass(frozen=True)
class Case:
    """A row that is known in part, a recipe, and the law that the complete row has."""

    known: Known
    recipe: Recipe
    truth: list[Fraction]


def drawn(seed: int) -> Case | None:
    """A case of few tokens; None where the recipe empties the row, or is none."""
    random = Random(seed)
    return _case(complete_row(random), random)


def drawn_long(seed: int) -> Case | None:
    """The same with so many tokens that arrays are looked at as a whole."""
    random = Random(seed)
    return _case(long_row(random), random)


def _case(row: list[Fraction], random: Random) -> Case | None:
    known = truncated(row, random)
    made = steps(len(row), random, known.penalised)
    truth = processed(known.truth, made)
    if truth is None or not made:
        return None
    return Case(known, parse_recipe(",".join(step.text for step in made)), truth)


def run(seed: int, draw: Callable[[int], Case | None] = drawn) -> tuple[str, str]:
    """What a seed leads to ("exact", "bounds", ...), and what speaks against it."""
    case = draw(seed)
    if case is None:
        return "none", ""
    made = apply_partial(case.recipe, case.known.row, RowContext())
    if isinstance(made.law, PartialLaw):
        kind, said = "bounds", disagreement(made, case.truth)
    elif any(remark.ident == "undecided-precision" for remark in made.remarks):
        return "close", ""
    else:
        kind = "exact"
        said = disagreement(made, case.truth) or _another_law(made.law, case)
    return kind, said and f"seed {seed}, {case.recipe}: {said}\n{case.known}"


def _another_law(law: RationalLaw | FloatLaw, case: Case) -> str:
    """How a law differs from that of the complete row."""
    if case.known.row.values.half_width:  # only one token is left
        return "" if law.support == 1 else "more than one token from rounded values"
    other = apply_recipe(case.recipe, case.known.complete, RowContext(normalise=True)).law
    values, expected = probabilities(law), probabilities(other)
    if law.bound or other.bound:
        return ""
    expected += [F(0)] * (len(values) - len(expected))
    return "" if values == expected[: len(values)] else f"not the law {expected}"


@pytest.mark.parametrize("block", range(25))
def test_what_is_said_of_a_part_holds_of_the_whole(block: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(block * ROUNDS, (block + 1) * ROUNDS):
        kind, against = run(seed)
        assert not against, against
        kinds[kind] += 1
    assert kinds["exact"] > ROUNDS // 10
    assert kinds["bounds"] > ROUNDS // 10


@pytest.mark.parametrize("block", range(6))
def test_long_rows_too(block: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(block * 20, (block + 1) * 20):
        kind, against = run(seed, drawn_long)
        assert not against, against
        kinds[kind] += 1
    assert kinds["exact"] > 2
    assert kinds["bounds"] > 2


PENALTIES = ["repetition-penalty:{r}:history={ids}", "presence-penalty:{r}:history={ids}",
             "frequency-penalty:{r}:history={ids}+{ids}", "logit-bias:{first}=-{r}"]  # fmt: skip
CHAINS = ["{step}", "{step},top-k:2", "temperature:3/2,{step},top-p:3/5", "{step},min-p:1/9",
          "{step},temperature:0", "top-p:9/10,{step}", "{step},temperature:7/10"]  # fmt: skip


@pytest.mark.parametrize("chain", CHAINS)
def test_penalties_on_logits_of_both_signs(chain: str) -> None:
    """Here the complete row is processed by the ordinary path, which rounds its weights."""
    for seed in range(150):
        random = Random(f"{chain} {seed}")
        known = truncated(complete_row(random), random)
        if known.row.kind is not Kind.LOGITS:
            continue
        size = len(known.truth)
        ids = random.sample(range(size), random.randint(1, 3))
        step = random.choice(PENALTIES).format(
            r=random.choice(["2", "1/2", "6/5"]), ids="+".join(map(str, ids)), first=ids[0]
        )
        recipe = parse_recipe(chain.format(step=step))
        whole = apply_recipe(recipe, known.complete, RowContext())
        if any(remark.ident == "undecided-precision" for remark in whole.remarks):
            continue
        truth = probabilities(whole.law)
        made = apply_partial(recipe, known.row, RowContext())
        said = disagreement(made, truth, F(1, 10**12))
        assert not said, f"{seed} {recipe} {said} {known}"
