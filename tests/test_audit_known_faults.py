"""The library of known wrong rules: its laws are the oracle's, its names mean what they say."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from specdist.audit import case
from specdist.audit.context import Setup
from specdist.audit.known_faults import Observed, names_of
from specdist.audit.known_faults.fault_law import Shape, emissions, fault_law
from specdist.audit.known_faults.randomness import raced_again
from specdist.audit.known_faults.registry import SINGLE, faults
from specdist.audit.known_faults.rows import Fault
from specdist.audit.prefix_law import continued
from specdist.audit.tables import Table, tables
from specdist.model.verdict import Verdict
from tests import audit_mutants as code
from tests import oracle_audit as oracle
from tests.audit_mutant_audits import audited, by_name
from tests.audit_mutant_laws import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", by_name(MUTANTS))
def test_a_fault_of_the_library_has_the_law_of_the_oracle(mutant: Mutant) -> None:
    """To the last digit, on every table; one member where the fault has a parameter."""
    setup = Setup(3, mutant.gamma, mutant.steps)
    right, emitted = [], []
    for table in tables(3, 3):
        pair = oracle.Pair(table.target, table.draft, 3, mutant.gamma)
        law = mutant.law(pair, mutant.steps)
        right.append({tokens: mass for tokens, mass in law.items() if mass})
        length = max(map(len, law))
        emitted.append(oracle.extended(law, table.target, 3, length))
    first = {tokens: mass for tokens, mass in emitted[0].items() if mass}
    shape = Shape(mutant.steps, mutant.gamma)
    named = [f for f in faults(first, tables(3, 3)[0], setup) if f.name == mutant.named]
    assert any(
        all(emissions(f, t, shape, 9) == law for t, law in zip(tables(3, 3), right, strict=True))
        for f in named
    )


def test_names_are_told_apart_by_the_tables() -> None:
    """By four tokens of two steps with two draft tokens, which are too few for these alone: two
    positions have one row before the last; a target's stale row is emitted whatever is drafted."""
    groups = [set(SINGLE)]
    for table in tables(3, 3):
        groups = [part for group in groups for part in parted(group, table)]
    assert sorted(sorted(fault.name for fault in group) for group in groups) == ALIKE


def parted(group: set[Fault], table: Table) -> list[set[Fault]]:
    """By their laws; alone, or without a law on this table, they are done with."""
    same: dict[object, set[Fault]] = defaultdict(set)
    for fault in group:
        law = fault_law(fault, table, Shape(2, 2), 4)
        same[fault if law is None else frozenset(law.items())].add(fault)
    return [part for part in same.values() if len(part) > 1]


ALIKE = [
    [
        "accepts every draft token that the target allows (its uniform is 0)",
        "typical acceptance, else resamples from the residual",
    ],
    [
        "cache holds the last step only (target and draft)",
        "cache holds the last step only (target)",
    ],
    ["cache lacks the bonus token (target and draft)", "cache lacks the bonus token (target)"],
    [
        "draft rows shifted: each token is tested with the next row",
        "every token is tested with the draft's last row",
    ],
    [
        "draft rows shifted: each token is tested with the row before",
        "every token is tested with the draft's row 0",
    ],
    ["recovered token from row 0", "recovered token from the row before"],
    ["residual takes the draft's last row", "residual takes the draft's next row"],
    ["residual takes the draft's row 0", "residual takes the draft's row before"],
    ["residual takes the target's row 0", "residual takes the target's row before"],
]


def test_names_are_sentences_of_their_own() -> None:
    names = [fault.name for fault in SINGLE]
    assert len(names) == len(set(names)) > 100
    assert all(name[0].islower() and len(name) <= 90 for name in names)


def test_noise_that_is_raced_twice() -> None:
    """q = (3/5, 3/10, 1/10), residual (0, 1/4, 3/4): after a rejection of token 0 the same noise
    gives (0, 5/36, 31/36)."""
    draft = (Fraction(3, 5), Fraction(3, 10), Fraction(1, 10))
    residual = (Fraction(0), Fraction(1, 4), Fraction(3, 4))
    assert raced_again(draft, residual, 0) == (0, Fraction(5, 36), Fraction(31, 36))


def observed(name: str, shape: Shape, length: int, count: int = 2) -> list[Observed]:
    fault = next(fault for fault in SINGLE if fault.name == name)
    found = []
    for table in tables(3, count):
        emitted = emissions(fault, table, shape, length)
        law = continued(emitted.items(), table.target, length)
        found.append(Observed(table, law, length, bool(shape.loop)))
    return found


def test_a_law_that_differs_on_another_table_is_not_named() -> None:
    """The fault on one table, the right law on the other: nothing known does that."""
    wrong = observed("resamples from the target", Shape(1, 2), 3)
    right = observed("reuses its uniforms across steps", Shape(1, 2), 3)
    assert names_of([wrong[0], wrong[1]], Setup(3, 2, 1)) == ("resamples from the target",)
    assert names_of([wrong[0], right[1]], Setup(3, 2, 1)) == ()
    assert names_of(right, Setup(3, 2, 1)) == ()


def test_laws_within_rounding_of_a_fault_are_named_and_others_not() -> None:
    item = observed("resamples from the target", Shape(1, 1), 2, 1)[0]
    first, second = sorted(item.law)[:2]

    def moved(mass: Fraction) -> list[Observed]:
        law = {**item.law, first: item.law[first] - mass, second: item.law[second] + mass}
        return [Observed(item.table, law, item.length)]

    assert "resamples from the target" in names_of(moved(Fraction(1, 2**21)), Setup(3, 1, 1))
    assert names_of(moved(Fraction(1, 2**16)), Setup(3, 1, 1)) == ()
    bounded = [Observed(item.table, moved(Fraction(1, 2**16))[0].law, 2, bound=Fraction(1, 2**15))]
    assert "resamples from the target" in names_of(bounded, Setup(3, 1, 1))


def loop(count: int, clipped: bool, recover: Callable[[Any, Any], Any]) -> Callable[[], Any]:
    """A whole generation of ``count`` tokens by steps of the token rule."""

    def generate() -> list[int]:
        target, draft = case.model("target"), case.model("draft")
        out: list[int] = []
        while len(out) < count:
            size = min(case.gamma, count - len(out) - 1) if clipped else case.gamma
            context = [*case.context, *out]
            tokens: list[int] = []
            for _ in range(size):
                tokens.append(code.sample(code.np.exp(draft.row([*context, *tokens]))))
            out += verified(target, draft, context, tokens, recover)
        return out[:count]

    return generate


def verified(
    target: Any, draft: Any, context: list[int], tokens: list[int], recover: Callable[..., Any]
) -> list[int]:
    for i, token in enumerate(tokens):
        p = code.np.exp(target.row([*context, *tokens[:i]]))
        q = code.np.exp(draft.row([*context, *tokens[:i]]))
        if random.random() >= p[token] / q[token]:
            return [*tokens[:i], code.sample(recover(p, q))]
    return [*tokens, code.sample(code.np.exp(target.row([*context, *tokens])))]


@pytest.mark.parametrize("clipped", [True, False])
def test_a_fault_inside_of_a_whole_loop_is_named(clipped: bool) -> None:
    report = audited(loop(3, clipped, lambda p, q: p), 1, 1)
    assert report.verdict is Verdict.DIFFERENT
    assert all("resamples from the target" in result.resembles for result in report.tables)
    right = audited(loop(3, clipped, code.clipped), 1, 1)
    assert right.verdict is not Verdict.DIFFERENT


def test_faults_without_a_bonus_and_of_one_hot_drafts_are_named() -> None:
    def without_bonus() -> list[int]:
        tokens = code.propose()
        for i, token in enumerate(tokens):
            target, draft = case.target(i), case.draft(i)
            if random.random() >= target[token] / draft[token]:
                return [*tokens[:i], code.sample(abs(target - draft))]
        return tokens

    def one_hot() -> list[int]:
        token = int(code.np.argmax(case.draft([])))
        target = case.target([])
        if random.random() < target[token]:
            return [token, code.sample(case.target([token]))]
        return [code.sample(target)]

    report = audited(without_bonus, 2, 1)
    assert report.tables[0].resembles == ("residual is the absolute difference",)
    report = audited(one_hot, 1, 1)
    assert report.verdict is Verdict.DIFFERENT
    assert "resamples from the target" in report.tables[0].resembles
