"""The oracle of rules, keep rules and numerics against published and derived numbers."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import oracle, oracle_rules, strategies
from tests.oracle_rules import Numerics, Roles, correct, law, point, pruned, total_variation
from tests.vectors import load

Vector = dict[str, Any]
F = Fraction
P3 = [F(1, 2), F(3, 10), F(1, 5)]
Q3 = [F(1, 5), F(3, 10), F(1, 2)]


def vectors(prefix: str) -> Any:
    return pytest.mark.parametrize("vector", load(prefix), ids=lambda vector: vector["id"])


def rows(vector: Vector) -> Roles:
    return correct(vector["inputs"]["p"], vector["inputs"]["q"])


#: Mutants of theory section 1: drawn rows and used rows are in the vector.
BROKEN = {
    "MUT-1": lambda p, used: oracle_rules.token(correct(p, used), "target"),
    "MUT-2": lambda p, used: oracle_rules.token(Roles(p, p, used, used, None)),
    "MUT-5": lambda p, used: oracle_rules.swapped(correct(p, used)),
}


@vectors("MUT")
def test_mutants(vector: Vector) -> None:
    inputs, expected = vector["inputs"], vector["expected"]
    if vector["id"] == "MUT-3-fixed":
        found = law(inputs["q"], oracle_rules.token(rows(vector)))
        assert (found.output, found.acceptance) == (inputs["p"], expected["alpha"])
        return
    target, drawn = inputs["p"], inputs["q_drawn"]
    used = inputs.get("q_used", drawn)
    roles = Roles(target, target, drawn, used, used)
    made = BROKEN.get(vector["id"])
    found = law(drawn, made(target, used) if made else oracle_rules.token(roles))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, target) == expected["tv"]


def test_mutants_of_the_text() -> None:
    """Numbers stated without a vector: MUT-6 classical 2/5, MUT-7 floor 1/100 gives 3/160, SIBQ-3
    a single threshold of 3/10 gives 1/10, and a fixed synthetic rate."""
    roles = correct(P3, Q3)
    found = law(Q3, oracle_rules.classical(roles))
    assert (found.output, found.acceptance) == (P3, F(2, 5))
    floored = correct(P3, Q3, Numerics(floor=F(1, 100)))
    assert total_variation(law(Q3, oracle_rules.token(floored)).output, P3) == F(3, 160)
    found = law(Q3, oracle_rules.synthetic(roles, F(1, 2)))
    assert found.output == [F(1, 10) + F(1, 2), F(3, 20), F(1, 4)]


@vectors("EXM")
def test_exact_match(vector: Vector) -> None:
    roles, expected = rows(vector), vector["expected"]
    found = law(roles.D, oracle_rules.exact_match(roles))
    assert found.output == expected["law"] == roles.P
    assert found.acceptance == expected["accept_rate"]
    assert law(roles.D, oracle_rules.token(roles)).acceptance == expected["optimal_accept"]
    assert law(roles.D, oracle_rules.one_hot(roles)).acceptance == expected["accept_rate"]


@vectors("GRD")
def test_one_hot_draft(vector: Vector) -> None:
    target, drafted = vector["inputs"]["p"], point(vector["inputs"]["draft_token"], 3)
    found = law(drafted, oracle_rules.token(correct(target, drafted)))
    assert found.output == vector["expected"]["law"]
    assert found.acceptance == vector["expected"]["accept_rate"]


@vectors("LEN")
def test_lenience(vector: Vector) -> None:
    roles, factor, expected = rows(vector), vector["inputs"]["l"], vector["expected"]
    for kind, name in (("residual", "p_minus_q"), ("scaled", "p_minus_lq"), ("target", "p")):
        found = law(roles.D, oracle_rules.lenience(roles, factor, kind))
        assert found.output == expected[f"law_{name}"]
        assert total_variation(found.output, roles.P) == expected[f"tv_{name}"]
        assert found.acceptance == expected["accept_rate"]


RECOVERIES = (("target", "resample_p"), ("argmax", "argmax"), ("set", "resample_set"))


@vectors("TYP")
def test_typical(vector: Vector) -> None:
    roles, inputs, expected = rows(vector), vector["inputs"], vector["expected"]
    edge = inputs["epsilon"], inputs["delta"]
    assert sorted(oracle_rules.typical_set(roles.P, *edge)) == expected["set"]
    for kind, name in RECOVERIES:
        found = law(roles.D, oracle_rules.typical(roles, *edge, kind))
        assert found.output == expected[f"law_{name}"]
        assert total_variation(found.output, roles.P) == expected[f"tv_{name}"]
        assert found.acceptance == expected["accept_rate"]


@vectors("CAS")
def test_cascade(vector: Vector) -> None:
    roles, base, expected = rows(vector), vector["inputs"]["p_base"], vector["expected"]
    for kind, name in (RECOVERIES[0], RECOVERIES[2]):
        found = law(roles.D, oracle_rules.cascade(roles, base, kind))
        assert found.output == expected[f"law_{name}"]
        assert total_variation(found.output, roles.P) == expected[f"tv_{name}"]
        assert found.acceptance == expected["accept_rate_threshold"]
    truncated = oracle_rules.only(roles.P, expected["set"])
    assert truncated == expected["true_truncated_target"]
    distance = expected["tv_resample_set_vs_truncated_target"]
    assert total_variation(found.output, truncated) == distance


@vectors("RLX")
def test_relaxed(vector: Vector) -> None:
    roles, inputs, expected = rows(vector), vector["inputs"], vector["expected"]
    found = law(roles.D, oracle_rules.relaxed(roles, inputs["top_n"], inputs["delta"]))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, roles.P) == expected["tv_vs_p"]
    greedy = point(oracle_rules.argmax(roles.P), 3)
    assert total_variation(found.output, greedy) == expected["tv_vs_greedy_target"]


@vectors("XIA")
def test_top_beta(vector: Vector) -> None:
    roles, inputs, expected = rows(vector), vector["inputs"], vector["expected"]
    found = law(roles.D, oracle_rules.top_beta(roles, inputs["beta"], inputs["exp_minus_tau"]))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, roles.P) == expected["tv_vs_p"]


@vectors("SIB")
def test_siblings(vector: Vector) -> None:
    inputs, expected = vector["inputs"], vector["expected"]
    found = oracle_rules.siblings(
        inputs["p"], inputs["children"], inputs["threshold_single"], inputs["threshold_acc"]
    )
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, inputs["p"]) == expected["tv"]


@vectors("SIBQ")
def test_one_random_draft_under_thresholds(vector: Vector) -> None:
    roles, inputs, expected = rows(vector), vector["inputs"], vector["expected"]
    edges = inputs["threshold_single"], inputs["threshold_acc"]
    found = law(roles.D, oracle_rules.thresholds(roles, *edges))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, roles.P) == expected["tv"]


@vectors("COS")
def test_mixture(vector: Vector) -> None:
    roles, expected = rows(vector), vector["expected"]
    found = law(roles.D, oracle_rules.mixture(roles, vector["inputs"]["lambda"]))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, roles.P) == expected["tv"]


@vectors("CAC")
def test_cactus(vector: Vector) -> None:
    roles, expected = rows(vector), vector["expected"]
    found = law(roles.D, oracle_rules.cactus(roles, vector["inputs"]["delta"]))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, roles.P) == expected["tv"]


@vectors("FSD")
def test_divergence_gate(vector: Vector) -> None:
    roles, expected = rows(vector), vector["expected"]
    found = law(roles.D, oracle_rules.divergence_gate(roles, vector["inputs"]["threshold"]))
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(roles.P, roles.D) == expected["divergence"]


@vectors("PAR")
def test_optimal_loss(vector: Vector) -> None:
    roles, budget, expected = rows(vector), vector["inputs"]["reject"], vector["expected"]
    verifier = oracle_rules.optimal_loss(roles, budget)
    found = law(roles.D, verifier)
    assert [a for a, _ in verifier] == expected["accept"]
    assert found.residual == expected["recovery"]
    assert found.output == expected["law"]
    assert total_variation(found.output, roles.P) == expected["least_tv"]
    assert found.acceptance == 1 - budget


#: dropped, proposal, law, total variation, acceptance, effective draft, residual.
DROPS = [
    ("target", "declared", "drop_then_target", "accept_rate", None),
    ("residual", "effective", "corrected", "accept_rate_corrected", "effective_q"),
    ("redraw", "declared", "redraw_original_ratio", "accept_rate_redraw_wrong", None),
    ("redraw", "effective", None, "accept_rate_redraw_corrected", "redraw_q"),
    ("redraw-1", "declared", "retry_once", None, None),
    ("redraw-1", "effective", None, "accept_rate_retry_once_corrected", "retry_once_effective_q"),
]


@vectors("PRN")
@pytest.mark.parametrize(("dropped", "proposal", "name", "rate", "effective"), DROPS)
def test_keep_rules(
    vector: Vector, dropped: str, proposal: str, name: str | None, rate: str | None,
    effective: str | None,
) -> None:  # fmt: skip
    roles, keep, expected = rows(vector), vector["inputs"]["keep"], vector["expected"]
    found = pruned(roles, oracle_rules.token, keep, dropped=dropped, proposal=proposal)
    if vector["id"] == "PRN-SUPPORT":
        if (dropped, proposal) == ("target", "declared"):
            assert found.output == expected["law"] == roles.P
        return
    if proposal == "effective":
        assert found.output == roles.P
    elif f"law_{name}" in expected:
        assert found.output == expected[f"law_{name}"]
        assert total_variation(found.output, roles.P) == expected[f"tv_{name}"]
    if rate in expected:
        assert found.acceptance == expected[rate]
    if effective in expected and dropped != "residual":
        times = 1 if dropped == "redraw-1" else None
        assert oracle_rules.redrawn(roles.D, keep, times) == expected[effective]
    if name == "corrected" and "residual_corrected" in expected:
        assert found.residual == expected["residual_corrected"]


@vectors("SCH")
def test_thresholds_on_the_drafted_token(vector: Vector) -> None:
    """One position of the two-position vectors: the laws of the first token."""
    inputs, expected = vector["inputs"], vector["expected"]
    roles = rows(vector)
    if vector["id"] == "SCH-1":
        found = pruned(roles, oracle_rules.token, [F(1), F(0)])
        assert found.output == expected["global_search"]["first_token_law"]
        return
    own = oracle_rules.by_own_probability(roles.D, inputs["threshold"])
    found = pruned(roles, oracle_rules.token, own)
    assert (
        total_variation(found.output, roles.P)
        == expected["stop_and_drop_token"]["tv_first_3_tokens"]
    )
    top = oracle_rules.by_top_probability(roles.D, inputs["threshold"])
    assert pruned(roles, oracle_rules.token, top).output == roles.P


def test_cut_after_acceptance() -> None:
    """An accepted token that is dropped is drawn anew from the target: not lossless even for a
    constant share; dropped before the test it would be."""
    target, draft = [F(3, 5), F(2, 5)], [F(2, 5), F(3, 5)]
    roles = correct(target, draft)
    for keep, expected in (
        ([F(0), F(0)], [F(17, 25), F(8, 25)]),
        ([F(1), F(0)], [F(21, 25), F(4, 25)]),
    ):
        assert pruned(roles, oracle_rules.token, keep, when="after").output == expected
    assert pruned(roles, oracle_rules.token, [F(1, 3)] * 2).output == target


@vectors("VOC")
def test_vocabularies(vector: Vector) -> None:
    inputs, expected = vector["inputs"], vector["expected"]
    if "subset" in inputs:
        target, full, kept = inputs["p"], inputs["q_full"], inputs["subset"]
        names = list(range(len(target)))
    else:
        names = sorted({*inputs["p"], *inputs["q"]})
        target, full = ([inputs[side].get(name, F(0)) for name in names] for side in "pq")
        kept = [names.index(name) for name in inputs["intersection"]]
        union = [q if x in kept else F(0) for x, q in enumerate(full)]
        assert oracle_rules.overlap(target, union) == expected["accept_rate_union"]
    draft = oracle_rules.only(full, kept)
    found = law(draft, oracle_rules.token(correct(target, draft)))
    assert found.output == target
    assert found.acceptance == expected["accept_rate"]
    if "residual" in expected:
        assert found.residual == [expected["residual"][name] for name in names]
        assert [expected["q_on_intersection"].get(name, 0) for name in names] == draft
    else:
        assert draft == expected["q_restricted"]


def test_a_map_of_draft_ids() -> None:
    assert oracle_rules.mapped([F(1, 2), F(1, 4), F(1, 4)], [0, 2, 5], 6) == [
        F(1, 2), 0, F(1, 4), 0, 0, F(1, 4),
    ]  # fmt: skip


@vectors("STR")
def test_other_tokenisers(vector: Vector) -> None:
    inputs, expected = vector["inputs"], vector["expected"]
    names = inputs["target_vocab"]
    psi = oracle_rules.retokenised(inputs["draft_tokens"], names, inputs["draft_until_chars"])
    assert psi == expected["psi"]
    target, draft = ([row[name] for name in names] for row in (inputs["p"], psi))
    roles = correct(target, draft)
    found = law(draft, oracle_rules.token(roles))
    assert (found.output, found.acceptance) == (target, expected["slrs_accept"])
    assert law(draft, oracle_rules.exact_match(roles)).acceptance == expected["slem_accept"]


SCHEMES = {
    "gumbel": "gumbel",
    "minhash": "minhash_value",
    "minhash-dart": "minhash_same_dart",
    "inverse-cdf": "shared_uniform_inverse_cdf",
}


@vectors("CPL")
def test_couplings(vector: Vector) -> None:
    roles, expected = rows(vector), vector["expected"]
    for scheme, name in SCHEMES.items():
        found = oracle_rules.shared_noise(roles, scheme)
        assert found.acceptance == expected[name]
        assert found.output == roles.P
    assert oracle_rules.overlap(roles.P, roles.D) == expected["maximal"]
    assert law(roles.D, oracle_rules.exact_match(roles)).acceptance == expected["independent"]
    greedy = point(oracle_rules.argmax(roles.D), roles.size)
    assert law(greedy, oracle_rules.one_hot(roles)).acceptance == expected["greedy_draft"]


def numerics(inputs: Vector) -> Numerics:
    ends = "one" if "1..N" in inputs["grid"] and "N-1" not in inputs["grid"] else "zero"
    return Numerics(grid=inputs["N"], ends=ends, inclusive=inputs["compare"] == "<=")


@vectors("GRID")
def test_uniform_grids(vector: Vector) -> None:
    inputs, expected = vector["inputs"], vector["expected"]
    roles = correct(inputs["p"], inputs["q"], numerics(inputs))
    verifier = oracle_rules.token(roles)
    found = law(roles.D, verifier)
    assert [a for a, _ in verifier] == expected["accept"]
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    assert total_variation(found.output, roles.P) == expected["tv"] <= expected["bound"]


@pytest.mark.parametrize("ends", ["zero", "one", "both", "neither"])
@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("capped", [False, True])
def test_coins_by_counting(ends: str, inclusive: bool, capped: bool) -> None:
    points = range(1 if ends in ("one", "neither") else 0, 9 if ends in ("one", "both") else 8)
    for share in (*(F(k, 24) for k in range(31)), None):
        a = F(9) if share is None else share
        a = min(a, F(1)) if capped else a
        heads = [k for k in points if (F(k, 8) <= a if inclusive else F(k, 8) < a)]
        coin = Numerics(grid=8, ends=ends, inclusive=inclusive, capped=capped).coin(share)
        assert coin == F(len(heads), len(points))


def test_zero_is_on_the_grid() -> None:
    """u <= 0 is true for u = 0: a masked draft is accepted with probability 1/N."""
    target, draft, fine = [F(3, 4), F(1, 4), F(0)], point(2, 3), 2**24
    for inclusive, expected in ((True, F(1, fine)), (False, F(0))):
        exact = Numerics(grid=fine, inclusive=inclusive)
        found = law(draft, oracle_rules.one_hot(correct(target, draft, exact)))
        assert found.output[2] == expected
        assert total_variation(found.output, target) == expected


@vectors("ICDF")
def test_inverse_cdf(vector: Vector) -> None:
    row, expected = vector["inputs"]["p"], vector["expected"]
    found = oracle_rules.inverse_cdf(row, vector["inputs"]["N"])
    assert found == expected["law"]
    assert total_variation(found, row) == expected["tv"] <= expected["bound"]


@vectors("GUM")
def test_gumbel_race(vector: Vector) -> None:
    row, expected = vector["inputs"]["p"], vector["expected"]
    found = oracle_rules.gumbel_race(row, vector["inputs"]["N"])
    assert found == expected["law"]
    assert total_variation(found, row) == expected["tv"]


def test_ties_of_a_race_go_to_the_first() -> None:
    assert oracle_rules.gumbel_race([F(1, 2), F(1, 2)], 4) == [F(5, 8), F(3, 8)]


@vectors("DRIFT")
def test_sums_of_their_own(vector: Vector) -> None:
    target, draft = vector["inputs"]["p_hat"], vector["inputs"]["q_hat"]
    expected = vector["expected"]
    found = oracle_rules.unnormalised(target, draft)
    assert found.output == expected["law"]
    assert found.acceptance == expected["accept_rate"]
    wanted = oracle_rules.normalise(target)
    assert total_variation(found.output, wanted) == expected["tv_vs_normalised_target"]


def test_an_empty_residual() -> None:
    """p <= q everywhere and sums 1 and 11/10: probability 1/11 of a rejection with nothing left."""
    target, draft = [F(1, 2), F(3, 10), F(1, 5)], [F(1, 2), F(3, 10), F(3, 10)]
    with pytest.raises(oracle_rules.NoAnswerError):
        oracle_rules.unnormalised(target, draft)
    for empty, token in (("last", 2), ("token:0", 0)):
        found = oracle_rules.unnormalised(target, draft, Numerics(empty=empty))
        assert found.residual == point(token, 3)
        assert found.acceptance == F(10, 11)
    none = oracle_rules.unnormalised(target, draft, Numerics(empty="none"))
    assert (none.unassigned, none.residual) == (F(1, 11), None)


def test_epsilon_and_zero_draft() -> None:
    """1/(1/4 + 1/4); a drafted token that is tested with 0: four readings of target/0."""
    roles = correct(P3, [F(1, 4), F(1, 4), F(1, 2)], Numerics(epsilon=F(1, 4)))
    assert [a for a, _ in oracle_rules.token(roles)] == [1, F(3, 5), F(4, 15)]
    target, drawn, used = (
        [F(1, 2), F(1, 2), F(0)],
        [F(1, 4), F(1, 4), F(1, 2)],
        [F(1, 2), F(0), F(1, 2)],
    )
    found = law(
        drawn,
        oracle_rules.token(Roles(target, target, drawn, used, used, Numerics(zero_draft="accept"))),
    )
    assert found.output == [F(1, 4), F(3, 4), 0]
    assert found.acceptance == F(1, 2)
    with pytest.raises(oracle_rules.NoAnswerError):
        oracle_rules.token(Roles(target, target, drawn, used, used))


def test_reused_noise() -> None:
    """Field report: the recovery race reuses the noise of the draft race."""
    target, draft = [F(1, 5), F(2, 5), F(2, 5)], [F(3, 5), F(3, 10), F(1, 10)]
    found = law(draft, oracle_rules.reused_noise(correct(target, draft)))
    assert found.residual == [0, F(5, 36), F(31, 36)]
    assert found.output == [F(1, 5), F(16, 45), F(4, 9)]
    assert total_variation(found.output, target) == F(2, 45)


def test_reused_noise_closed_form() -> None:
    """Two candidates: with d = d_b/r_b - d_c/r_c > 0 the later one wins with r_b/(1 + r_c d)."""
    drafted, r = [F(1, 2), F(1, 3), F(1, 6)], [F(0), F(1, 4), F(3, 4)]
    d = drafted[1] / r[1] - drafted[2] / r[2]
    late = r[1] / (1 + r[2] * d)
    assert oracle_rules.race_after(drafted, r, 0) == [0, late, 1 - late]


@given(strategies.rows(max_size=5), strategies.rows(size=5), st.integers(0, 4))
def test_a_race_has_a_winner(drafted: list[F], weights: list[F], winner: int) -> None:
    assume(len(drafted) == 5 and drafted[winner])
    found = oracle_rules.race_after(drafted, weights, winner)
    assert min(found) >= 0
    assert sum(found) == 1


@given(strategies.rows(size=4))
def test_one_race_twice_is_one_race(row: list[F]) -> None:
    """Racing again with the same noise and the same weights names the same winner."""
    for x, mass in enumerate(row):
        if mass:
            assert oracle_rules.race_after(row, row, x) == point(x, 4)


@given(strategies.pairs())
def test_the_token_rule_is_the_other_oracle(pair: strategies.Pair) -> None:
    found, other = law(pair[1], oracle_rules.token(correct(*pair))), oracle.token_rule(*pair)
    assert (found.accepted, found.recovered) == (other.accepted, other.recovered)


LOSSLESS = {
    "token": oracle_rules.token,
    "exact-match": oracle_rules.exact_match,
    "one-hot": oracle_rules.one_hot,
    "thresholds": oracle_rules.thresholds,
    "lenience 1": lambda roles: oracle_rules.lenience(roles, F(1)),
    "mixture 1": lambda roles: oracle_rules.mixture(roles, F(1)),
    "cactus 0": lambda roles: oracle_rules.cactus(roles, F(0)),
    "divergence 0": lambda roles: oracle_rules.divergence_gate(roles, F(0)),
}


@pytest.mark.parametrize("name", LOSSLESS)
@given(pair=strategies.pairs(), share=st.fractions(0, 1, max_denominator=9))
def test_lossless_rules(name: str, pair: strategies.Pair, share: F) -> None:
    """Their law is the target; a share of the drafts left out before the test changes nothing."""
    target, draft = pair
    roles = correct(target, draft)
    assert law(draft, LOSSLESS[name](roles)).output == target
    keep = [share] * len(draft)
    assert pruned(roles, LOSSLESS[name], keep).output == target


@given(pair=strategies.pairs())
def test_classical_accepts_one_over_the_envelope(pair: strategies.Pair) -> None:
    target, draft = pair
    assume(all(q or not p for p, q in zip(target, draft, strict=True)))
    found = law(draft, oracle_rules.classical(correct(target, draft)))
    assert found.output == target
    assert found.acceptance == 1 / max(p / q for p, q in zip(target, draft, strict=True) if q)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(pair=strategies.pairs())
def test_couplings_have_the_target_law(scheme: str, pair: strategies.Pair) -> None:
    target, draft = pair
    found = oracle_rules.shared_noise(correct(target, draft), scheme)
    assert found.output == target
    assert min(found.recovered) >= 0
    assert found.acceptance <= oracle_rules.overlap(target, draft)


@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_corrected_keep_rules_are_lossless(pair: strategies.Pair, data: st.DataObject) -> None:
    target, draft = pair
    keep = data.draw(
        st.lists(st.fractions(0, 1, max_denominator=4), min_size=len(draft), max_size=len(draft))
    )
    dropped = data.draw(st.sampled_from(["residual", "redraw", "redraw-1", "redraw-3"]))
    assume(any(q * k for q, k in zip(draft, keep, strict=True)))
    roles = correct(target, draft)
    found = pruned(roles, oracle_rules.token, keep, dropped=dropped, proposal="effective")
    assert found.output == target


@given(pair=strategies.pairs(max_size=5), data=st.data())
def test_one_redraw_is_dropping(pair: strategies.Pair, data: st.DataObject) -> None:
    """Drop, then redraw once with the full test, or drop and sample the target: one law."""
    target, draft = pair
    keep = data.draw(
        st.lists(st.fractions(0, 1, max_denominator=4), min_size=len(draft), max_size=len(draft))
    )
    roles = correct(target, draft)
    once, target_drawn = (
        pruned(roles, oracle_rules.token, keep, dropped=dropped)
        for dropped in ("redraw-1", "target")
    )
    assert once.output == target_drawn.output
    kept = sum(q * k for q, k in zip(draft, keep, strict=True))
    assert total_variation(once.output, target) <= kept * (1 - kept) or any(k % 1 for k in keep)


@given(pair=strategies.pairs(), share=st.fractions(0, 1, max_denominator=9))
def test_the_optimal_front(pair: strategies.Pair, share: F) -> None:
    target, draft = pair
    assume(target != draft)
    distance = total_variation(target, draft)
    roles = correct(target, draft)
    found = law(draft, oracle_rules.optimal_loss(roles, share * distance))
    assert found.acceptance == 1 - share * distance
    assert total_variation(found.output, target) == (1 - share) * distance


@given(pair=strategies.pairs(), points=st.integers(1, 40))
def test_grids_move_at_most_one_over_n(pair: strategies.Pair, points: int) -> None:
    target, draft = pair
    found = law(
        draft, oracle_rules.token(correct(target, draft, Numerics(grid=points, empty="target")))
    )
    assert total_variation(found.output, target) <= F(1, points)


def test_it_imports_nothing_of_specdist() -> None:
    tree = ast.parse(Path(oracle_rules.__file__).read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert modules
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert {name.split(".")[0] for name in modules} <= {
        "__future__", "collections", "dataclasses", "decimal", "fractions", "itertools", "math",
    }  # fmt: skip
