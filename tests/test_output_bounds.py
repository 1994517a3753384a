"""What token verification emits, in intervals: every completion of the rows lies inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from specdist.exact import output_bounds, spans
from specdist.exact.interval import Interval
from specdist.exact.output_bounds import (
    Emission,
    PartialRoles,
    output_distance,
    token_bounds,
)
from specdist.exact.partial_law import PartialLaw
from tests import oracle, oracle_bounds
from tests.oracle_joint import ONE, ZERO, total
from tests.partial_rows import Cut, as_floats, random_cut, random_row

NAMES = (
    "reference",
    "accept_target",
    "residual_target",
    "drafted_from",
    "accept_draft",
    "residual_draft",
)
Row = list[Fraction]


@dataclass
class Roles:
    """Two rows a side, and which of them each role takes: equal numbers are one law."""

    cuts: tuple[list[Cut], list[Cut]]
    taken: tuple[int, ...]

    def laws(self, convert: Callable[[PartialLaw], PartialLaw] = lambda law: law) -> Any:
        made = [[convert(cut.law) for cut in side] for side in self.cuts]
        return [made[place >= 3][number] for place, number in enumerate(self.taken)]

    def completions(self, random: Random, count: int) -> list[list[Row]]:
        """Complete rows, one a role, that agree with what is known."""
        corners = [[sorted(oracle_bounds.corners(cut.side)) for cut in side] for side in self.cuts]
        found = []
        for _ in range(count):
            rows = [[mixture(random, options) for options in side] for side in corners]
            found.append([rows[place >= 3][number] for place, number in enumerate(self.taken)])
        return found

    @property
    def correct(self) -> bool:
        return len(set(self.taken[:3])) == 1 == len(set(self.taken[3:]))


def mixture(random: Random, options: list[tuple[Fraction, ...]]) -> Row:
    chosen = [random.choice(options) for _ in range(random.choice([1, 1, 2, 3]))]
    weights = [random.randint(1, 4) for _ in chosen]
    return [
        sum(
            (Fraction(w, sum(weights)) * row[x] for w, row in zip(weights, chosen, strict=True)),
            ZERO,
        )
        for x in range(len(options[0]))
    ]


def random_roles(random: Random) -> Roles:
    size = random.choice([3, 4, 5])
    rows = [random_row(random, size) for _ in range(2)]
    target = [random_cut(random, rows[0]) for _ in range(2)]
    draft = [
        random_cut(random, random.choice([rows[1], random_row(random, size)])) for _ in range(2)
    ]
    return Roles((target, draft), tuple(random.choice([0, 0, 1]) for _ in range(6)))


def check_inside(laws: Any, found: Interval, completions: list[list[Row]]) -> None:
    """Every completion, whatever happens to mass that the rows leave without a rule."""
    emission = Emission(PartialRoles(*laws))
    size = len(completions[0][0])
    tokens = token_bounds(range(size), *laws)
    for rows in completions:
        for zero_chance, spare in ((ZERO, None), (ONE, 0), (Fraction(1, 2), size - 1)):
            accepted, output, distance = oracle_bounds.emission(rows, zero_chance, spare)
            assert distance in found, rows
            assert total(accepted) in emission.acceptance, rows
            for x, token in enumerate(tokens):
                assert token.id == x
                assert rows[0][x] in token.reference
                assert rows[3][x] in token.drafted
                assert accepted[x] in token.accepted
                assert output[x] in token.output


def test_the_two_oracles_agree() -> None:
    random = Random(21)
    for _ in range(100):
        rows = [random_row(random, 4) for _ in range(6)]
        by_name = dict(zip(NAMES, rows, strict=True))
        try:
            found = oracle.token_rule(rows[0], rows[3], zero_draft="reject", **by_name)
        except ZeroDivisionError:  # nothing to recover from
            continue
        accepted, output, distance = oracle_bounds.emission(rows, ZERO, None)
        assert (accepted, output) == (found.accepted, found.output)
        assert distance == found.total_variation


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_completion_lies_inside(
    seed: int, floats: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if floats:
        monkeypatch.setattr(spans, "SMALL", -1)
    random, proven, correct = Random(seed), 0, 0
    for _ in range(45):
        roles = random_roles(random)
        laws = roles.laws(as_floats) if floats else roles.laws()
        found = output_distance(*laws)
        check_inside(laws, found, roles.completions(random, 4))
        proven += found.least > 0
        if roles.correct:
            correct += 1
            assert found == Interval.of(0)
    assert proven
    assert correct


# ---- what must be proven -------------------------------------------------------------------------


def law(values: dict[int, Fraction], others: int = 0) -> PartialLaw:
    listed = tuple(values.values())
    return PartialLaw(tuple(values), listed, listed, others)


def parts(*numbers: int) -> dict[int, Fraction]:
    return {x: Fraction(n, 20) for x, n in enumerate(numbers)}


def test_a_correct_engine_needs_no_complete_row() -> None:
    target, draft = law(parts(8, 4), 1_000), law(parts(6, 8), 1_000)
    assert output_distance(target, target, target, draft, draft, draft) == Interval.of(0)
    (token,) = token_bounds([1], target, target, target, draft, draft, draft)
    assert token.output == token.reference == Interval.of(Fraction(1, 5))
    assert token.accepted == Interval.of(Fraction(1, 5))


def test_drafted_raw_and_tested_after_top_p() -> None:
    """Kept mass 14/20; where the target is below the tested draft, only 14/20 of it comes out."""
    target, raw = law(parts(5, 5, 5), 1), law(parts(8, 6, 3), 1)
    kept = law({0: Fraction(8, 14), 1: Fraction(6, 14)})
    found = output_distance(target, target, target, raw, kept, kept)
    assert found.least >= 2 * Fraction(5, 20) * Fraction(6, 20)
    tested = [Fraction(8, 14), Fraction(6, 14), ZERO, ZERO]
    rows = [[Fraction(5, 20)] * 4] * 3 + [[Fraction(n, 20) for n in (8, 6, 3, 3)], tested, tested]
    check_inside([target, target, target, raw, kept, kept], found, [rows])
    turned = output_distance(target, target, target, kept, raw, raw)
    assert turned.least > 0


def test_other_targets_are_told_apart() -> None:
    raw, cut = law(parts(10, 6), 5), law({0: Fraction(10, 16), 1: Fraction(6, 16)})
    draft = law(parts(4, 9), 5)
    whole = output_distance(raw, cut, cut, draft, draft, draft)
    assert whole == Interval.of(Fraction(1, 5))  # the output law is the cut target
    only_residual = output_distance(raw, raw, cut, draft, draft, draft)
    assert ZERO < only_residual.most <= ONE
    only_test = output_distance(raw, cut, raw, draft, draft, draft)
    assert only_test.most <= ONE


def test_a_channel_brings_nothing_apart() -> None:
    """The output is no further from the reference than what is drafted from what is tested."""
    target = law(parts(5, 5, 5), 1)
    tested = law(parts(8, 6, 3, 3))
    drafted = law(parts(8, 6, 4, 2))
    found = output_distance(target, target, target, drafted, tested, tested)
    assert found.most <= Fraction(1, 20)


def test_a_list_of_a_real_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The likeliest 20 of 151,936 tokens are enough to refute a draft that is tested after top-p,
    in fractions and in float64."""
    random = np.random.default_rng(2)
    size = 151_936
    base = 3 * random.standard_normal(size)
    rows = [np.exp(base + random.normal(0, 0.4, size)) for _ in range(2)]
    p, q = (row / row.sum() for row in rows)
    listed = [np.sort(np.argsort(-row)[:20]) for row in (p, q)]
    target, draft = (
        PartialLaw(ids, row[ids], row[ids], size - 20, Fraction(float(row[ids].min())))
        for ids, row in zip(listed, (p, q), strict=True)
    )
    weights = [Fraction(float(x)) for x in q[listed[1]]]
    ids = tuple(listed[1].tolist())
    kept = law({x: w / sum(weights) for x, w in zip(ids, weights, strict=True)})
    found = output_distance(target, target, target, draft, kept, kept)
    assert found.least > Fraction(1, 50)
    monkeypatch.setattr(spans, "SMALL", -1)
    rounded = output_distance(target, target, target, draft, kept, kept)
    assert rounded.least <= found.least < rounded.least + Fraction(1, 10**9)


def test_two_complete_rows_of_a_real_vocabulary() -> None:
    """A target that was tempered for the test alone: by the formula, in plain float64."""
    random = np.random.default_rng(3)
    logits = 3 * random.standard_normal(151_936)
    p, other, q = (
        np.exp(x) for x in (logits, logits / 0.8, logits + random.normal(0, 0.5, len(logits)))
    )
    laws = [complete(row / row.sum()) for row in (p, other, q)]
    found = output_distance(laws[0], laws[1], laws[0], laws[2], laws[2], laws[2])
    p, other, q = (row / row.sum() for row in (p, other, q))
    accepted = np.minimum(q, other)
    excess = np.maximum(p - q, 0)
    output = accepted + (1 - accepted.sum()) * excess / excess.sum()
    distance = float(np.maximum(p - output, 0).sum())
    assert found.least - Fraction(1, 10**8) <= distance <= found.most
    assert float(found.least) > 0.9 * distance


def complete(values: np.ndarray) -> PartialLaw:
    wide = 1 + 1e-12
    return PartialLaw(np.arange(len(values)), values / wide, values * wide, 0)


# ---- planted bugs --------------------------------------------------------------------------------


def _forgets_identity(original: Any) -> Any:
    def made(self: Emission, roles: PartialRoles) -> None:
        original(self, roles)
        self.same_draft = self.same_residual = True

    return made


def _never_zero(mine: Any, other: Any) -> Any:
    """A quotient that takes a tested draft for positive."""
    least, most = (
        tuple(min(a / b, ONE) if b else ONE for a, b in zip(one, two, strict=True))
        for one, two in ((mine.least, other.most), (mine.most, other.least))
    )
    return spans.RationalSpans(least, most)


PLANTS: dict[str, tuple[object, str, Any]] = {
    "all drafts taken for one": (Emission, "__init__", _forgets_identity(Emission.__init__)),
    "a tested draft is never 0": (spans.RationalSpans, "capped_quotient", _never_zero),
    "laws taken for equal": (output_bounds, "_distance", lambda first, second: Interval.of(0)),
}


@pytest.mark.parametrize("bug", PLANTS)
def test_planted_bugs_are_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*PLANTS[bug])
    random, wrong = Random(4), 0
    for _ in range(40):
        roles = random_roles(random)
        laws = roles.laws()
        try:
            check_inside(laws, output_distance(*laws), roles.completions(random, 4))
        except (AssertionError, ValueError):
            wrong += 1
    assert wrong
