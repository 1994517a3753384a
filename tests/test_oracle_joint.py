"""The joint oracle against published and hand-checked numbers, every one with ``==``.

Each number is a fraction string, as it was handed over; the names are those of the vectors.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.oracle_joint import (
    ONE,
    Models,
    NoAnswerError,
    Prefix,
    Row,
    admission,
    anticipating,
    batch_law,
    best_budget,
    block,
    block_ratios,
    block_thresholds,
    constant,
    early_stop,
    fixed_drafts,
    independent,
    joint_overlap,
    marginal,
    markov,
    output_law,
    over_drafts,
    pair,
    plain,
    row,
    step,
    surely,
    threshold,
    token_chain,
    token_survival,
    top_slots,
    total_variation,
    verified,
    verify_tokens,
    window,
    window_length,
)
from tests.oracle_optima import (
    any_verifier,
    best_acceptance,
    best_acceptance_by_programme,
    best_length,
    block_optimum,
    expected_tokens,
    expected_tokens_of,
    geometric_tokens,
    multi_path_bound,
    multi_path_optimum,
    operations_factor,
    rounds,
    sequoia,
    walltime_factor,
)
from tests.oracle_trees import (
    acceptance,
    chain,
    greedy_drafts,
    k_seq,
    levels,
    paths,
    rrs,
    rrs_stages,
    sample_and_compare,
    spechub,
    target_only,
    top_down,
    traversal,
)


def fractions(*texts: str) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def same_rows(p: Row, q: Row, depth: int) -> Models:
    return pair(constant(p, depth), constant(q, depth))


TOY = row("1/3", "2/3"), row("2/3", "1/3")
THREE = row("1/2", "1/3", "1/6"), row("1/6", "1/3", "1/2")
BLK9 = row("9/20", "9/20", "1/10"), row("1/20", "3/20", "4/5")
BLK4 = pair(
    markov(row("1/2", "1/2"), [row("3/4", "1/4"), row("1/4", "3/4")], 2),
    markov(row("3/4", "1/4"), [row("1/2", "1/2"), row("1/2", "1/2")], 2),
)
CHAINS = {
    "BLK-1": (same_rows(*TOY, 2), 2, ["2/3", "4/9"], ["2/3", "5/9"], "4/3"),
    "BLK-2": (same_rows(*TOY, 1), 1, ["2/3"], ["2/3"], "2/3"),
    "BLK-3": (same_rows(*TOY, 3), 3, ["2/3", "4/9", "8/27"], ["2/3", "5/9", "4/9"], "50/27"),
    "BLK-4": (BLK4, 2, ["3/4", "9/16"], ["3/4", "11/16"], "3/2"),
    "BLK-5": (same_rows(*THREE, 2), 2, ["2/3", "4/9"], ["2/3", "1/2"], "11/9"),
    "BLK-9": (same_rows(*BLK9, 2), 2, ["3/10", "9/100"], ["3/10", "31/200"], "13/25"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_token_and_block_verification(name: str) -> None:
    models, length, token, blocks, overlap = CHAINS[name]
    plain_chain = step(token_chain(models, length), models.target, length)
    whole = step(block(models, length), models.target, length)
    assert plain_chain.survival == token_survival(models, length) == fractions(*token)
    assert whole.survival == fractions(*blocks)
    for found in (plain_chain, whole):
        assert found.law == found.reference
        assert found.expected_accepted == sum(found.survival)
        assert found.expected_tokens == 1 + found.expected_accepted
    assert whole.expected_accepted == block_optimum(models, length) == any_verifier(models, length)
    assert joint_overlap(models, length) == Fraction(overlap)


@pytest.mark.parametrize(
    ("name", "draft", "r", "h"),
    [
        ("BLK-6", (0, 1), ["1", "1/2", "1"], ["0", "1"]),
        ("BLK-7", (0, 0), ["1", "1/2", "1/4"], ["0", "1/4"]),
        ("BLK-8", (1, 0), ["1", "1", "1/2"], ["1", "1/2"]),
    ],
)
def test_block_thresholds(name: str, draft: Prefix, r: list[str], h: list[str]) -> None:
    models = same_rows(*TOY, 2)
    assert block_ratios(models, draft) == fractions(*r)
    assert block_thresholds(models, draft) == fractions(*h)


CONTIGUOUS: dict[str, str] = {"coins": "contiguous"}
MISTAKES: list[tuple[str, tuple[Row, Row], dict[str, str], str]] = [
    ("BLK-MUT-1", TOY, CONTIGUOUS, "1/3"),
    ("BLK-MUT-2", TOY, {"coins": "shared"}, "0"),
    ("BLK-MUT-3", TOY, {"residual": "token"}, "0"),
    ("three tokens, contiguous", BLK9, CONTIGUOUS, "133/1410"),
    ("three tokens, one coin", BLK9, {"coins": "shared"}, "1/200"),
    ("three tokens, token residual", BLK9, {"residual": "token"}, "3/1400"),
]


@pytest.mark.parametrize(("name", "rows", "options", "distance"), MISTAKES)
def test_mistakes_of_block_verification(
    name: str, rows: tuple[Row, Row], options: dict[str, str], distance: str
) -> None:
    models = same_rows(*rows, 2)
    found = step(block(models, 2, **options), models.target, 2)
    assert found.total_variation == Fraction(distance)
    if name == "BLK-MUT-1":
        assert found.survival == fractions("1/3", "2/9")
        assert found.expected_accepted == Fraction(5, 9)
    elif rows is TOY:
        assert found.survival == fractions("2/3", "5/9")


def test_one_hot_drafts_leave_nothing_to_gain() -> None:
    target = {z: row("1/2", "3/10", "1/5") for z in constant(row(1, 0, 0), 2)}
    draft = markov(row(1, 0, 0), [row(0, 1, 0), row(1, 0, 0), row(1, 0, 0)], 2)
    models = pair(target, draft)
    both = [step(rule(models, 2), target, 2) for rule in (token_chain, block)]
    assert both[0].survival == both[1].survival == fractions("1/2", "3/20")


DRAFTS: dict[str, dict[str, Any]] = {
    "MD-A": {
        "p": row("1/3", "2/3"), "q": row("2/3", "1/3"), "single": "2/3", "nss": "2/3",
        "rrs": "7/9", "betas": ["2/3", "1/3"], "rrs_wor": "1", "iid": "8/9", "wor": "1",
        "greedy": "1", "hub": "1", "top2": "1",
    },
    "MD-B": {
        "p": row("1/2", "1/3", "1/6"), "q": row("1/6", "1/3", "1/2"), "single": "2/3",
        "nss": "25/54", "rrs": "13/18", "betas": ["2/3", "1/6"], "rrs_wor": "7/9",
        "iid": "29/36", "wor": "11/12", "greedy": "5/6", "hub": "5/6", "top2": "1/2",
    },
    "MD-C": {
        "p": row("3/5", "3/10", "1/10"), "q": row("1/5", "1/5", "3/5"), "single": "1/2",
        "nss": "51/125", "rrs": "7/10", "betas": ["1/2", "2/5"], "rrs_wor": "17/20",
        "iid": "37/50", "wor": "19/20", "greedy": "9/10", "hub": "9/10", "top2": "7/10",
    },
    "MD-D": {
        "p": row("5/16", "11/16"), "q": row("1/2", "1/2"), "single": "13/16", "nss": "3/4",
        "rrs": "29/32", "betas": ["13/16", "1/2"], "rrs_wor": "1", "iid": "1", "wor": "1",
        "greedy": "1", "hub": "1", "top2": "1",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DRAFTS)
def test_two_drafts_at_one_position(name: str) -> None:
    case = DRAFTS[name]
    p, q = case["p"], case["q"]
    models = same_rows(p, q, 1)
    wor = "without-replacement"
    rules = {
        "nss": (sample_and_compare(), "iid"),
        "rrs": (rrs(), "iid"),
        "rrs_wor": (rrs(), wor),
        "top2": (target_only(), "top"),
        "greedy": (greedy_drafts, "top-then-sampled"),
        "hub": (spechub, "hub"),
    }
    assert acceptance(models, rrs(), 1) == Fraction(case["single"])
    for key, (rule, mode) in rules.items():
        assert acceptance(models, rule, 2, mode) == Fraction(case[key]), key
        found = step(top_down(models, levels(2), rule, mode), models.target, 1)
        assert found.law == found.reference, key
    assert rrs_stages(p, q, 2) == fractions(*case["betas"])
    optima = {"iid": "iid", "wor": wor, "greedy": "top-then-sampled", "hub": "hub"}
    for key, mode in optima.items():
        best = best_acceptance(p, mode, [q, q])
        assert best == best_acceptance_by_programme(p, mode, [q, q]) == Fraction(case[key]), key


def test_three_drafts_at_one_position() -> None:
    p, q = row("3/5", "3/10", "1/10"), row("1/5", "1/5", "3/5")
    models = same_rows(p, q, 1)
    assert acceptance(models, rrs(), 3) == Fraction("19/25")
    assert rrs_stages(p, q, 3) == fractions("1/2", "2/5", "1/5")
    assert acceptance(models, rrs(), 3, "without-replacement") == 1
    assert best_acceptance(p, "iid", [q] * 3) == Fraction("221/250")
    assert best_acceptance_by_programme(p, "iid", [q] * 3) == Fraction("221/250")


def test_two_drafters() -> None:
    p, laws = THREE[0], [row("1/6", "1/3", "1/2"), row("1/3", "1/6", "1/2")]
    assert best_acceptance(p, "iid", laws) == Fraction("11/12")
    assert best_acceptance_by_programme(p, "iid", laws) == Fraction("11/12")
    models = pair(constant(p, 1), *(constant(law, 1) for law in laws))
    found = step(top_down(models, levels(2), rrs()), models.target, 1)
    assert found.law == found.reference
    assert found.expected_accepted <= Fraction("11/12")


@pytest.mark.parametrize(
    ("name", "p", "q", "rho", "rate", "residual"),
    [
        ("KSEQ-1", row("5/16", "11/16"), row("1/2", "1/2"), "5/4", "15/16", ["0", "1"]),
        ("KSEQ-2", *TOY, "3/2", "65/81", ["1/16", "15/16"]),
        ("KSEQ-3", *TOY, "2", "3/4", ["1/3", "2/3"]),
    ],
)
def test_k_seq(name: str, p: Row, q: Row, rho: str, rate: str, residual: list[str]) -> None:
    models = same_rows(p, q, 1)
    outcomes = top_down(models, levels(2), k_seq(Fraction(rho)))
    found = step(outcomes, models.target, 1, 1)
    assert found.law == found.reference
    assert found.expected_accepted == Fraction(rate)
    assert {o.then for o in outcomes if not o.accepted} == {tuple(fractions(*residual))}


def test_k_seq_is_refused_where_the_residual_is_negative() -> None:
    with pytest.raises(NoAnswerError, match="rho"):
        top_down(same_rows(*TOY, 1), levels(2), k_seq(Fraction(1)))


WOR = "without-replacement"
TREES: dict[str, tuple[tuple[Row, Row], tuple[int, ...], str, list[str], list[str]]] = {
    "TREE-1": (TOY, (2, 1), "iid", ["7/9", "14/27"], ["7/9", "17/27"]),
    "TREE-2": (TOY, (2, 2), "iid", ["7/9", "49/81"], ["7/9", "55/81"]),
    "TREE-3": (THREE, (2, 1), WOR, ["7/9", "14/27"], ["7/9", "31/54"]),
    "TREE-4": (THREE, (2, 1), "iid", ["13/18", "13/27"], ["13/18", "29/54"]),
    "TREE-6": (
        (row("1/5", "2/5", "2/5"), row("1/2", "3/8", "1/8")), (2, 1), WOR,
        ["4/5", "14/25"], ["4/5", "61/100"],
    ),
}  # fmt: skip
EXPECTED = {
    "TREE-1": ("35/27", "38/27"), "TREE-2": ("112/81", "118/81"), "TREE-3": ("35/27", "73/54"),
    "TREE-4": ("65/54", "34/27"), "TREE-6": ("34/25", "141/100"),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_trees(name: str) -> None:
    rows, shape, mode, down, up = TREES[name]
    models, tree = same_rows(*rows, 2), levels(*shape)
    for outcomes, survival, expected in zip(
        (top_down(models, tree, rrs(), mode), traversal(models, tree, mode)),
        (down, up),
        EXPECTED[name],
        strict=True,
    ):
        found = step(outcomes, models.target, 2)
        assert found.law == found.reference
        assert found.survival == fractions(*survival)
        assert found.expected_accepted == Fraction(expected)


def test_siblings_that_are_not_renormalised() -> None:
    models = same_rows(*TREES["TREE-6"][0], 2)
    found = step(traversal(models, levels(2, 1), WOR, renormalise=False), models.target, 2)
    assert found.total_variation == Fraction("1/40")
    models = same_rows(*TREES["TREE-3"][0], 2)
    found = step(traversal(models, levels(2, 1), WOR, renormalise=False), models.target, 2)
    assert found.total_variation == 0


def test_on_a_chain_traversal_is_block_verification() -> None:
    for models, length, _, survival, _ in CHAINS.values():
        found = step(traversal(models, chain(length)), models.target, length)
        assert found.survival == fractions(*survival)
        assert found.law == found.reference


def test_several_paths() -> None:
    models = same_rows(*TOY, 2)
    assert multi_path_optimum(models, 2, 2) == Fraction("131/81")
    assert multi_path_bound(models, 2, 2) == Fraction("131/81")
    assert multi_path_optimum(models, 3, 2) == Fraction("1351/729")
    assert multi_path_optimum(models, 1, 2) == Fraction("11/9")
    found = step(traversal(models, paths(2, 2)), models.target, 2)
    assert found.expected_accepted == Fraction("38/27")


@pytest.mark.parametrize(
    ("name", "accept", "nodes", "tokens"),
    [
        ("SEQ-1", ["1/2", "1/4", "1/8"], 4, "2"),
        ("SEQ-2", ["1/2", "1/4", "1/8"], 5, "17/8"),
        ("SEQ-3", ["7/10", "1/10"], 5, "27731/10000"),
    ],
)
def test_trees_of_a_node_budget(name: str, accept: list[str], nodes: int, tokens: str) -> None:
    assert sequoia(fractions(*accept), nodes) == Fraction(tokens)


@pytest.mark.parametrize(
    ("name", "match", "gate", "length"),
    [
        ("WIN-1", "101111", "111111", 6),
        ("WIN-2", "101011", "111111", 1),
        ("WIN-3", "101111", "101111", 1),
        ("WIN-5", "0110111", "1111111", 0),
    ],
)
def test_windows(name: str, match: str, gate: str, length: int) -> None:
    bits = [[c == "1" for c in text] for text in (match, gate)]
    assert window_length(*bits, 3) == length


def test_a_window_over_models() -> None:
    """Two drafts: one mismatch is kept where the other position agrees."""
    models = same_rows(row("1/2", "3/10", "1/5"), row("1/5", "3/10", "1/2"), 2)
    found = step(window(models, 2, size=1), constant(row(1, 0, 0), 3), 2)
    # x1 = A keeps x2 of any token (nothing follows x2); else x1 is kept where x2 = A.
    assert found.lengths == fractions("16/25", "0", "9/25")
    assert found.law[(1, 0, 0)] == Fraction("3/50") * Fraction("1/2")
    closed = step(window(models, 2, size=1, incomplete=False), constant(row(1, 0, 0), 3), 2)
    assert closed.lengths == fractions("16/25", "4/25", "1/5")


# ---- lengths ---------------------------------------------------------------------------------

KEEPS: dict[str, tuple[Row, Row, tuple[str, ...], list[str], str, str]] = {
    "PRN-a": (row("1/2", "3/10", "1/5"), row("1/5", "3/10", "1/2"), ("0", "1", "1"),
              ["2/5", "9/25", "6/25"], "1/10", "1/2"),
    "PRN-b": (row("1/2", "3/10", "1/5"), row("1/5", "3/10", "1/2"), ("1", "1", "0"),
              ["9/20", "9/20", "1/10"], "3/20", "1/2"),
    "PRN-c": (row("2/5", "2/5", "1/5"), row("1/2", "3/10", "1/5"), ("1", "1", "0"),
              ["12/25", "12/25", "1/25"], "4/25", "7/10"),
    "PRN-d": (row("2/5", "2/5", "1/5"), row("1/2", "3/10", "1/5"), ("1", "1/2", "1/4"),
              ["13/25", "37/100", "11/100"], "3/25", "3/5"),
    "PRN-DCUT": (row("1/2", "1/2"), row("9/10", "1/10"), ("1", "0"),
                 ["11/20", "9/20"], "1/20", "1/2"),
    "PRN-DSPARK": (row("7/10", "3/10"), row("1/2", "1/2"), ("1", "0"),
                   ["17/20", "3/20"], "3/20", "1/2"),
    "PRN-SUPPORT": (row("1/2", "1/2", "0"), row("1/4", "1/4", "1/2"), ("1", "1", "0"),
                    ["1/2", "1/2", "0"], "0", "1/2"),
    "PRN-SUPPORT, another draft": (
        row("1/2", "1/2", "0"), row("1/4", "1/2", "1/4"), ("1", "1", "0"),
        ["3/8", "5/8", "0"], "1/8", "3/4"),
}  # fmt: skip


@pytest.mark.parametrize("name", KEEPS)
def test_drafts_kept_by_chance_and_then_the_target(name: str) -> None:
    p, q, keep, law, distance, rate = KEEPS[name]
    models = same_rows(p, q, 1)
    shares = fractions(*keep)
    outcomes = verified(models, 1, lambda x: {1: shares[x[0]], 0: 1 - shares[x[0]]})
    found = step(outcomes, models.target, 1, 1)
    assert marginal(found.law, 0, len(p)) == tuple(fractions(*law))
    assert found.total_variation == Fraction(distance)
    assert found.expected_accepted == Fraction(rate)


DSPARK = row("7/10", "3/10"), row("1/2", "1/2")
SPEED = {1: ONE, 2: Fraction(1, 2), 3: Fraction(9, 20)}


def survival_scores(x: Prefix, certain: Fraction = Fraction(9, 10)) -> list[Fraction]:
    """a1 = 4/5 and a1 c2, where c2 looks at the token drafted before."""
    first = Fraction(4, 5)
    return [first, first * (certain if x[0] == 0 else 0)]


def test_sch_1() -> None:
    models = same_rows(*DSPARK, 2)
    theta = {
        x: [(1 + sum(survival_scores((x,))[:n])) * SPEED[1 + n] for n in range(3)] for x in (0, 1)
    }
    assert theta == {0: fractions("1", "9/10", "567/500"), 1: fractions("1", "9/10", "81/100")}
    rules = {
        "global": (lambda x: surely(best_budget([survival_scores(x)], SPEED)), "3/20", "9/10"),
        "early": (lambda x: surely(early_stop([survival_scores(x)], SPEED)), "0", "0"),
        "fixed": (lambda x: surely(2), "0", "36/25"),
    }
    for name, (lengths, distance, accepted) in rules.items():
        found = step(verified(models, 2, lengths), models.target, 2)
        assert found.total_variation == Fraction(distance), name
        assert found.expected_accepted == Fraction(accepted), name
        assert anticipating(admission(models, 2, lengths)) == (name == "global")
        first = marginal(found.law, 0, 2)
        assert first == (row("17/20", "3/20") if name == "global" else DSPARK[0])


@pytest.mark.parametrize(
    ("when", "distance", "expected", "leaks"),
    [("keep", "0", "21/20", False), ("drop", "1/10", "3/4", True), ("top", "0", "119/100", False)],
)
def test_sch_2(when: str, distance: str, expected: str, leaks: bool) -> None:
    models = same_rows(row("1/2", "3/10", "1/5"), row("1/5", "3/10", "1/2"), 2)
    lengths = threshold(models, Fraction(1, 4), when)
    found = step(verified(models, 2, lengths), models.target, 2)
    assert found.total_variation == Fraction(distance)
    assert found.expected_accepted == Fraction(expected)
    assert anticipating(admission(models, 2, lengths)) == leaks


DIP = {2: "1", 3: "3/5", 4: "11/20", 5: "27/50", 6: "53/100"}
SMOOTH = {2: "1", 3: "4/5", 4: "3/4", 5: "16/25", 6: "3/5"}


def two_requests(policy: Any, horizon: int) -> Fraction:
    models = same_rows(*DSPARK, 2)
    law, _ = batch_law([models, models], 2, lambda xs: {policy(xs): ONE}, horizon)
    alone = plain(models.target, horizon) if horizon <= 3 else {}
    return total_variation(law, independent([alone, alone]))


def scores(xs: tuple[Prefix, ...], certain: Fraction = Fraction(9, 10)) -> list[list[Fraction]]:
    return [survival_scores(x, certain) for x in xs]


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_sch_3_a_fixed_budget_is_lossless(budget: int) -> None:
    for horizon in (1, 3):
        assert two_requests(lambda xs: top_slots(scores(xs), budget), horizon) == 0


def test_sch_3_budgets_from_current_scores() -> None:
    dip, smooth = ({n: Fraction(v) for n, v in curve.items()} for curve in (DIP, SMOOTH))
    current = {
        name: lambda xs, curve=curve, stop=stop: top_slots(
            scores(xs), (early_stop if stop else best_budget)(scores(xs), curve)
        )
        for name, curve, stop in (
            ("dip", dip, False), ("dip early", dip, True),
            ("smooth", smooth, False), ("smooth early", smooth, True),
        )
    }  # fmt: skip
    assert two_requests(current["dip"], 1) == Fraction("33/400")
    assert two_requests(current["dip early"], 1) == 0
    assert two_requests(current["smooth"], 3) == 0
    assert two_requests(current["smooth early"], 3) == 0


@pytest.mark.parametrize(
    ("order", "budget", "distance"),
    [("position", 1, "0"), ("reverse", 1, "21/200"), ("position", 2, "0"), ("reverse", 2, "3/40")],
)
def test_sch_3_ties(order: str, budget: int, distance: str) -> None:
    found = two_requests(lambda xs: top_slots(scores(xs, ONE), budget, order), 1)
    assert found == Fraction(distance)


def test_sch_own_1() -> None:
    p, q = row("1/2", "1/2"), row("9/10", "1/10")
    models = same_rows(p, q, 1)

    def own(xs: tuple[Prefix, ...]) -> dict[tuple[int, ...], Fraction]:
        return {top_slots([[q[x[0]]] for x in xs], 1): ONE}

    law, _ = batch_law([models, models], 1, own, 1)
    right = independent([plain(models.target, 1)] * 2)
    assert total_variation(law, right) == Fraction("9/200")
    assert marginal(law, 0, 2) == row("109/200", "91/200")
    assert marginal(law, 1, 2) == row("101/200", "99/200")
    both, _ = batch_law([models, models], 1, lambda xs: {(1, 1): ONE}, 1)
    assert both == right


def test_a_request_verified_by_the_other_draft_is_exact_by_itself_only() -> None:
    models = same_rows(*DSPARK, 1)

    def other(xs: tuple[Prefix, ...]) -> dict[tuple[int, ...], Fraction]:
        return {(int(xs[1][0] == 0), int(xs[0][0] == 0)): ONE}

    law, _ = batch_law([models, models], 1, other, 1)
    assert total_variation(law, independent([plain(models.target, 1)] * 2)) == Fraction("9/200")
    assert marginal(law, 0, 2) == marginal(law, 1, 2) == DSPARK[0]


# ---- field reports ---------------------------------------------------------------------------


def test_b07_a_beam_tested_with_the_model() -> None:
    target = markov(row("1/2", "1/2"), [row("1/2", "1/2"), row("3/5", "2/5")], 2)
    draft = markov(row("3/5", "2/5"), [row("1/2", "1/2"), row("9/10", "1/10")], 2)
    found = step(fixed_drafts(pair(target, draft), (1, 0)), target, 2, 2)
    assert found.law == {(1, 1): Fraction("1/3"), (1, 0): Fraction("2/3")}
    assert found.reference == {
        (0, 0): Fraction("1/4"), (0, 1): Fraction("1/4"),
        (1, 0): Fraction("3/10"), (1, 1): Fraction("1/5"),
    }  # fmt: skip
    assert found.total_variation == Fraction("1/2")
    assert found.expected_accepted == Fraction("5/3")
    exact = pair(target, draft, accept_draft="one-hot", residual_draft="one-hot")
    right = step(fixed_drafts(exact, (1, 0)), target, 2, 2)
    assert right.law == right.reference
    assert right.expected_accepted == Fraction("4/5")


B23 = pair(
    markov(row("1/4", "3/4"), [row("3/4", "1/4"), row("1/2", "1/2")], 2),
    markov(row("1/2", "1/2"), [row("3/8", "5/8"), row("3/4", "1/4")], 2),
)


def test_b23_joint_ratios() -> None:
    coins = block(B23, 2, coins="product", thresholds="ratio", residual="token")
    found = step(coins, B23.target, 2, 2)
    published = {
        (0, 0): "44796365851573/200000000000000", (0, 1): "163089869527131/1000000000000000",
        (1, 0): "407830427634543/1000000000000000", (1, 1): "205097873580461/1000000000000000",
    }  # fmt: skip
    close = Fraction(1, 10**12)
    for tokens, text in published.items():
        assert abs(found.law[tokens] - Fraction(text)) < close
    assert abs(found.total_variation - Fraction("169902126419539/1000000000000000")) < close
    assert abs(found.expected_accepted - Fraction("1714027845339169/1000000000000000")) < close
    mixed = step(block(B23, 2, thresholds="ratio", residual="token"), B23.target, 2, 2)
    assert mixed.law == {
        (0, 0): Fraction("5/16"), (1, 0): Fraction("5/16"),
        (1, 1): Fraction("5/16"), (0, 1): Fraction("1/16"),
    }  # fmt: skip
    assert mixed.total_variation == Fraction("1/8")
    assert mixed.expected_accepted == Fraction("3/2")
    right = step(block(B23, 2), B23.target, 2)
    assert right.law == right.reference
    assert right.expected_accepted == Fraction("11/8")


def test_b25_a_sample_for_every_candidate() -> None:
    models = same_rows(row("1/2", "1/2"), row("1/2", "1/2"), 1)
    for samples, law, distance in (("own", ["7/8", "1/8"], "3/8"), ("shared", ["1/2"] * 2, "0")):
        rule = sample_and_compare(samples)
        outcomes = top_down(models, levels(4), rule, "given", given=(0, 0, 0, 1))
        found = step(outcomes, models.target, 1, 1)
        assert marginal(found.law, 0, 2) == tuple(fractions(*law))
        assert found.total_variation == Fraction(distance)


def test_b26_distinct_siblings_without_a_draft_model() -> None:
    p = row("2/5", "3/10", "1/5", "1/10")
    models = same_rows(p, p, 1)
    outcomes = top_down(models, levels(2), target_only(), "given", given=(0, 2))
    found = step(outcomes, models.target, 1, 1)
    assert found.law == found.reference
    assert found.expected_accepted == Fraction("3/5")
    (left,) = (o.then for o in outcomes if not o.accepted)
    assert left == row("0", "3/4", "0", "1/4")
    first = top_down(models, levels(1), target_only(), "given", given=(0,))
    assert [o.then for o in first if not o.accepted] == [row("0", "1/2", "1/3", "1/6")]
    two = row("3/5", "2/5")
    wrong = step(fixed_drafts(same_rows(two, two, 1), (0,)), constant(two, 1), 1, 1)
    assert marginal(wrong.law, 0, 2) == row(1, 0)
    assert wrong.total_variation == Fraction("2/5")
    assert wrong.expected_accepted == 1


B29 = pair(
    markov(
        row("1/2", "3/10", "1/5"),
        [row("1/4", "1/4", "1/2"), row("3/5", "1/5", "1/5"), row("1/3", "1/3", "1/3")],
        2,
    ),
    markov(
        row("2/5", "2/5", "1/5"),
        [row("1/2", "1/4", "1/4"), row("2/5", "2/5", "1/5"), row("1/2", "1/4", "1/4")],
        2,
    ),
)


@pytest.mark.parametrize(
    ("when", "distance", "accepted"),
    [("keep", "0", "36/25"), ("drop", "221/1000", "49/50"), ("never", "0", "241/150")],
)
def test_b29(when: str, distance: str, accepted: str) -> None:
    edge = Fraction(3, 10) if when != "never" else Fraction(0)
    lengths = threshold(B29, edge, when)
    found = step(verified(B29, 2, lengths), B29.target, 2, 2)
    assert found.total_variation == Fraction(distance)
    assert found.expected_accepted == Fraction(accepted)
    if when == "keep":
        assert found.lengths == fractions("1/10", "9/25", "27/50")


# ---- costs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "length", "speed", "operations"),
    [
        ("3/5", 2, "49/25", "75/49"),
        ("7/10", 3, "2533/1000", "4000/2533"),
        ("4/5", 2, "61/25", "75/61"),
        ("4/5", 5, "11529/3125", "6250/3843"),
        ("9/10", 2, "271/100", "300/271"),
        ("9/10", 10, "68618940391/10000000000", "110000000000/68618940391"),
    ],
)
def test_cost_1(alpha: str, length: int, speed: str, operations: str) -> None:
    assert walltime_factor(Fraction(alpha), length, Fraction(0)) == Fraction(speed)
    assert operations_factor(Fraction(alpha), length, Fraction(0)) == Fraction(operations)


@pytest.mark.parametrize(
    ("alpha", "length", "cost", "factor"),
    [
        ("3/4", 8, "3/200", "6061525/1835008"),
        ("4/5", 8, "3/200", "1690981/437500"),
        ("87/100", 8, "3/200", "54958141981305421/11200000000000000"),
        ("1/5", 3, "0", "156/125"),
    ],
)
def test_cost_2_and_6(alpha: str, length: int, cost: str, factor: str) -> None:
    assert walltime_factor(Fraction(alpha), length, Fraction(cost)) == Fraction(factor)


@pytest.mark.parametrize(
    ("alpha", "cost", "length", "factor"),
    [
        ("4/5", "1/50", 11, "3.817"),
        ("4/5", "1/10", 6, "2.470"),
        ("9/10", "1/50", 19, "6.365"),
        ("1/2", "1/10", 2, "1.458"),
        ("1/20", "1/10", 0, "1.000"),
        ("3/4", "1/50", 9, "3.199"),
    ],
)
def test_cost_3(alpha: str, cost: str, length: int, factor: str) -> None:
    assert best_length(Fraction(alpha), Fraction(cost)) == length
    found = walltime_factor(Fraction(alpha), length, Fraction(cost))
    assert f"{float(found):.3f}" == factor


def test_cost_4_and_5() -> None:
    assert expected_tokens_of(fractions("9/10", "4/5", "7/10")) == Fraction("781/250")
    mixture = (expected_tokens(ONE, 2) + expected_tokens(Fraction(0), 2)) / 2
    assert mixture == 2
    assert expected_tokens(Fraction(1, 2), 2) == Fraction("7/4")


@pytest.mark.parametrize(
    ("alpha", "length", "tokens", "calls", "ratio"),
    [("2/3", 2, 4, "62/27", "36/19"), ("1/2", 3, 6, "115/32", "16/5")],
)
def test_cost_rounds(alpha: str, length: int, tokens: int, calls: str, ratio: str) -> None:
    law = geometric_tokens(Fraction(alpha), length)
    assert rounds(law, tokens) == Fraction(calls)
    assert tokens / expected_tokens(Fraction(alpha), length) == Fraction(ratio)


# ---- the oracle by itself --------------------------------------------------------------------


def test_outputs_are_cut_and_completed() -> None:
    """A short output goes on with target draws, a long one is cut."""
    models = same_rows(row("1/2", "1/4", "1/4"), row("1/4", "1/4", "1/2"), 3)
    outcomes = over_drafts(models, 1, verify_tokens)
    three = output_law(outcomes, constant(models.target[()], 4), 3)
    assert three == plain(constant(models.target[()], 4), 3)
    one = output_law(outcomes, models.target, 1)
    assert one == {(y,): share for y, share in enumerate(models.target[()])}
