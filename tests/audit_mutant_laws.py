"""What each mutant of `tests.audit_mutants` emits, by the oracle, and what it is to be called."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

from specdist.audit import case
from tests import audit_mutants as code
from tests import oracle_audit as oracle
from tests.oracle_audit import Law, Pair, Row, Tokens

Made = Callable[[Pair, int], Law]


@dataclass(frozen=True)
class Mutant:
    """``law`` is the oracle's for a number of steps; ``named`` what the library calls it;
    ``gamma`` and ``steps`` the size that is audited, ``hidden`` sizes at which the law is the
    target's. ``exact``: equal to the oracle to the last digit."""

    name: str
    adapter: code.Adapter
    law: Made
    named: str
    gamma: int = 2
    steps: int = 1
    hidden: tuple[tuple[int, int], ...] = ()
    exact: bool = False


def chain(
    accept: oracle.Part = oracle.ratio,
    recover: oracle.Weights = oracle.residual,
    bonus: oracle.Weights = oracle.p,
    drafted: Callable[[Row], Row] | None = None,
) -> Made:
    rule = oracle.token_rule(accept, recover, bonus)

    def made(pair: Pair, steps: int) -> Law:
        change = drafted
        drawn = None if change is None else lambda z: change(pair.draft(z))
        return oracle.walked(pair, rule, steps, drawn)

    return made


def ruled(rule: oracle.Rule) -> Made:
    return lambda pair, steps: oracle.walked(pair, rule, steps)


def shared(name: oracle.Name) -> Made:
    return lambda pair, steps: oracle.on_intervals(pair, steps, name)


def stale(kept: oracle.Kept, both: bool) -> Made:
    return lambda pair, steps: oracle.cached(pair, steps, kept, both)


def own(kind: str, step: int, position: int) -> Hashable:
    """Every draw has a number of its own."""
    return kind, step, position


def inverted(pair: Pair, c: Tokens, z: Tokens, i: int) -> Fraction:
    above, below = oracle.p(pair, c, z, i)[z[i]], oracle.q(pair, c, z, i)[z[i]]
    return min(Fraction(1), below / above) if above else Fraction(1)


def target_share(pair: Pair, c: Tokens, z: Tokens, i: int) -> Fraction:
    return oracle.p(pair, c, z, i)[z[i]]


def typical(pair: Pair, c: Tokens, z: Tokens, i: int) -> Fraction:
    row = [float(mass) for mass in oracle.p(pair, c, z, i)]
    entropy = -sum(mass * math.log(mass) for mass in row if mass)
    return Fraction(int(row[z[i]] > min(0.09, 0.3 * math.exp(-entropy))))


def from_rows(change: Callable[[Row, Row, int], Row]) -> oracle.Weights:
    """Weights from the target row, the draft row and the drafted token."""
    return lambda pair, c, z, i: change(
        oracle.p(pair, c, z, i), oracle.q(pair, c, z, i), z[i] if i < len(z) else -1
    )


def at(place: Callable[[int], int]) -> oracle.Weights:
    return lambda pair, c, z, i: oracle.residual(pair, c, z, place(i))


def largest_two(row: Row) -> Row:
    least = sorted(row)[-2]
    return oracle.normalise([mass if mass >= least else Fraction(0) for mass in row])


def half_of_largest(row: Row) -> Row:
    return [mass if 2 * mass >= max(row) else Fraction(0) for mass in row]


def shifted(pair: Pair, steps: int) -> Law:
    """The target row of the next position, the last one twice."""

    def late(z: Tokens, i: int) -> int:
        return min(i + 1, len(z))

    def accept(pair: Pair, c: Tokens, z: Tokens, i: int) -> Fraction:
        below = oracle.q(pair, c, z, i)[z[i]]
        return min(Fraction(1), oracle.p(pair, c, z, late(z, i))[z[i]] / below)

    def recover(pair: Pair, c: Tokens, z: Tokens, i: int) -> Row:
        return oracle.over(oracle.p(pair, c, z, late(z, i)), oracle.q(pair, c, z, i))

    return chain(accept, recover)(pair, steps)


def turned(row: Row) -> Row:
    return [row[-1], *row[:-1]]


def off_by_one(pair: Pair, c: Tokens, z: Tokens, i: int) -> Row:
    return turned(oracle.q(pair, c, z, i))


def off_test(pair: Pair, c: Tokens, z: Tokens, i: int) -> Fraction:
    above, below = oracle.p(pair, c, z, i)[z[i]], off_by_one(pair, c, z, i)[z[i]]
    return min(Fraction(1), above / below) if below else Fraction(int(above > 0))


def off_residual(pair: Pair, c: Tokens, z: Tokens, i: int) -> Row:
    return oracle.over(oracle.p(pair, c, z, i), off_by_one(pair, c, z, i))


def exponentials(p: Row, q: Row, x: int) -> Row:
    return [Fraction(math.exp(mass)) for mass in oracle.over(p, q)]


def squares(p: Row, q: Row, x: int) -> Row:
    return [mass * mass for mass in p]


ZERO, ONE = Fraction(0), Fraction(1)
FLOOR = Fraction(1e-5)
UNTESTED: oracle.Part = lambda pair, c, z, i: ONE  # noqa: E731
POSITIVE: oracle.Part = lambda pair, c, z, i: Fraction(int(target_share(pair, c, z, i) > 0))  # noqa: E731
TARGET = from_rows(lambda p, q, x: p)
DRAFT = from_rows(lambda p, q, x: q)
ABSOLUTE = from_rows(lambda p, q, x: [abs(a - b) for a, b in zip(p, q, strict=True)])
REVERSED = from_rows(lambda p, q, x: oracle.over(q, p))
WITHOUT = from_rows(lambda p, q, x: [ZERO if y == x else mass for y, mass in enumerate(p)])
FLOORED = from_rows(lambda p, q, x: [max(mass, FLOOR) for mass in oracle.over(p, q)])
TOP = from_rows(lambda p, q, x: oracle.top(p))
TOP_RESIDUAL = from_rows(lambda p, q, x: oracle.top(oracle.over(p, q)))

ACCEPTANCE = [
    Mutant("accepts everything", code.accepts_everything, chain(UNTESTED),
           "accepts every draft token"),
    Mutant("uniform at 0", code.fixed_at_zero, chain(POSITIVE),
           "accepts every draft token that the target allows (its uniform is 0)"),
    Mutant("ratio inverted", code.inverted, chain(inverted), "ratio inverted (draft / target)"),
    Mutant("ratio and residual inverted", code.both_inverted, chain(inverted, REVERSED),
           "ratio and residual inverted (target and draft swapped)"),
    Mutant("one-hot test", code.one_hot_test_dense_residual, chain(target_share),
           "one-hot test (accepts with the target's probability) with the dense residual"),
    Mutant("draws again", code.draws_again, chain(target_share, TARGET),
           "draws again from the target after a mismatch"),
    Mutant("typical", code.typical, chain(typical, TOP),
           "typical acceptance, else the target's argmax"),
    Mutant("first unchecked", code.FirstUnchecked,
           chain(lambda pair, c, z, i: oracle.ratio(pair, c, z, i) if i else ONE),
           "the first draft token is not tested"),
]  # fmt: skip
RECOVERY = [
    Mutant("from the target", code.again_from(lambda p, q, x: p), chain(recover=TARGET),
           "resamples from the target"),
    Mutant("from the draft", code.again_from(lambda p, q, x: q), chain(recover=DRAFT),
           "resamples from the draft"),
    Mutant("absolute", code.again_from(lambda p, q, x: abs(p - q)), chain(recover=ABSOLUTE),
           "residual is the absolute difference"),
    Mutant("reversed", code.again_from(lambda p, q, x: code.clipped(q, p)),
           chain(recover=REVERSED), "residual reversed (draft - target)"),
    Mutant("one-hot residual", code.again_from(code.without_drafted), chain(recover=WITHOUT),
           "residual subtracts the draft only at the drafted token (a one-hot residual)"),
    Mutant("floor", code.again_from(lambda p, q, x: (p - q).clip(1e-5)), chain(recover=FLOORED),
           "residual has a floor of 1e-05"),
    Mutant("argmax of the residual", code.again_from(code.largest_of_residual),
           chain(recover=TOP_RESIDUAL), "takes the residual's argmax"),
    Mutant("softmax of the residual", code.again_from(code.exp_of_residual),
           chain(recover=from_rows(exponentials)),
           "takes the residual's probabilities for logits (softmax of the residual)"),
    Mutant("row 0", code.from_another_row(lambda i: 0), chain(recover=at(lambda i: 0)),
           "recovered token from row 0", hidden=((1, 1), (1, 2))),
    Mutant("the row before", code.from_another_row(lambda i: i - (i > 0)),
           chain(recover=at(lambda i: max(i - 1, 0))), "recovered token from the row before",
           hidden=((1, 1), (1, 2))),
]  # fmt: skip
DRAFTS = [
    Mutant("argmax draft", code.drafted_by(lambda row: int(row.argmax()), lambda row: row),
           chain(drafted=oracle.top), "argmax draft tested with the softmax row"),
    Mutant("top-k draft",
           code.drafted_by(lambda row: code.sample(code.largest_two(row)), lambda row: row),
           chain(drafted=largest_two),
           "draft tokens are drawn with a cut row (top-k, top-p, min-p), tested without"),
    Mutant("draft at temperature 1/2",
           code.drafted_by(lambda row: code.sample(row**2), lambda row: row),
           chain(drafted=lambda row: oracle.normalise([x * x for x in row])),
           "draft tokens are drawn at another temperature, tested without"),
    Mutant("draft ids off by one", code.drafted_by(code.sample, lambda row: code.np.roll(row, 1)),
           chain(off_test, off_residual),
           "draft row read at another token's id"),
    Mutant("target rows one late", code.shifted_targets, shifted,
           "target rows shifted: each token is tested with the next row"),
]  # fmt: skip
BONUS = [
    Mutant("bonus from the draft", code.bonus_of(lambda tokens, rows: case.draft(tokens)),
           chain(bonus=DRAFT), "bonus drawn from the draft"),
    Mutant("bonus without temperature", code.bonus_of(code.untempered),
           chain(bonus=from_rows(squares)),
           "bonus row without temperature (the target to the power 2)"),
    Mutant("bonus one early", code.bonus_of(lambda tokens, rows: rows[-2]),
           chain(bonus=lambda pair, c, z, i: oracle.p(pair, c, z, i - 1)),
           "bonus from the last draft token's row"),
    Mutant("bonus with min-p",
           code.bonus_of(lambda tokens, rows: code.above_half_of_largest(rows[-1])),
           chain(bonus=from_rows(lambda p, q, x: half_of_largest(p))),
           "the bonus is drawn with a cut row (top-k, top-p, min-p), the tests go without"),
]  # fmt: skip
BLOCK = [
    Mutant("contiguous block", code.block(coins="first tails"),
           ruled(oracle.block_rule(coins="first tails")),
           "block rule that stops at the first failure", hidden=((1, 1),)),
    Mutant("uncapped block", code.block(capped=False), ruled(oracle.block_rule(capped=False)),
           "block rule whose running ratio is not capped at 1", hidden=((1, 1),)),
    Mutant("block with token residual", code.block(scaled=False),
           ruled(oracle.block_rule(scaled=False)),
           "block rule with the token rule's residual (target - draft)", hidden=((1, 1),)),
    Mutant("block with one number", code.block(coins="one number"),
           ruled(oracle.block_rule(coins="one number")),
           "block rule with one uniform for all positions", hidden=((1, 1),)),
    Mutant("joint ratios", code.block(weighed=False, scaled=False),
           ruled(oracle.block_rule(weighed=False, scaled=False)),
           "block rule that keeps a prefix with its joint ratio, with the token rule's residual",
           hidden=((1, 1),)),
]  # fmt: skip
NUMBERS = [
    Mutant("one number a step", code.one_number_a_step,
           shared(lambda kind, s, i: (kind, s) if kind == "test" else (kind, s, i)),
           "reuses its uniform across positions", hidden=((1, 1), (1, 2))),
    Mutant("numbers drawn once", code.NumbersDrawnOnce,
           shared(lambda kind, s, i: (kind, i) if kind == "test" else (kind, s, i)),
           "reuses its uniforms across steps", 1, 2, hidden=((1, 1), (2, 1))),
    Mutant("one number", code.OneNumber,
           shared(lambda kind, s, i: kind if kind == "test" else (kind, s, i)),
           "uses one uniform for all tests of all steps", 1, 2, hidden=((1, 1),)),
    Mutant("the test's number recovers", code.number_of_test_recovers,
           shared(lambda kind, s, i: ("test" if kind == "recovered" else kind, s, i)),
           "draws the recovered token with the uniform of the test"),
    Mutant("drafts reseeded", code.DraftsReseeded,
           shared(lambda kind, s, i: (kind, i) if kind == "draft" else (kind, s, i)),
           "reseeds its drafts in every step", 1, 2, hidden=((1, 1), (2, 1))),
]  # fmt: skip
CACHES = [
    Mutant("never rolled back", code.stale(code.never_rolled_back, False),
           stale(lambda x, n, y: (*x, *y), False),
           "cache not rolled back: rejected draft tokens stay in the context (target)", 1, 2,
           hidden=((1, 1), (2, 1))),
    Mutant("never rolled back, both", code.stale(code.never_rolled_back, True),
           stale(lambda x, n, y: (*x, *y), True),
           "cache not rolled back: rejected draft tokens stay in the context (target and draft)",
           1, 2, hidden=((1, 1), (2, 1))),
    Mutant("rejected stays", code.stale(code.rejected_stays, False),
           stale(lambda x, n, y: x[: n + 1] if n < len(x) else (*x, *y), False),
           "cache keeps the rejected draft token in place of the recovered one (target)", 1, 2,
           hidden=((1, 1), (2, 1))),
]  # fmt: skip
LENGTHS = [
    Mutant("drops unlikely drafts", code.drops_unlikely_drafts,
           ruled(oracle.dropping(Fraction(3, 10))),
           "drops a draft token because of its own probability, and draws from the target"),
    Mutant("cut to one", code.cut_to_one, ruled(oracle.cutting(1)),
           "cuts the accepted tokens and draws again from the target"),
    Mutant("goes on after a rejection", code.goes_on_after_rejection, ruled(oracle.continuing),
           "continues after a rejection"),
    Mutant("sums the mask", code.sums_the_mask, ruled(oracle.counting),
           "counts acceptances after the first rejection", hidden=((1, 1),)),
]  # fmt: skip
EXACT = [
    Mutant("exact, from the target",
           code.exact_chain(lambda p, q: p, lambda: case.target()), chain(recover=TARGET),
           "resamples from the target", exact=True),
    Mutant("exact, reversed",
           code.exact_chain(lambda p, q: code.exact_residual(q, p), lambda: case.target()),
           chain(recover=REVERSED), "residual reversed (draft - target)", 1, 2, exact=True),
    Mutant("exact, bonus from the draft",
           code.exact_chain(code.exact_residual, lambda: code.exact(case.draft())),
           chain(bonus=DRAFT), "bonus drawn from the draft", 1, 2, exact=True),
]  # fmt: skip
MUTANTS = [
    *ACCEPTANCE, *RECOVERY, *DRAFTS, *BONUS, *BLOCK, *NUMBERS, *CACHES, *LENGTHS, *EXACT,
]  # fmt: skip
