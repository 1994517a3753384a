"""Cost models: formulas against the longest way, handed vectors through the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdist.cli.commands.config import schema
from specdist.cost import budget, draft_length, factors, roofline, target_calls
from specdist.cost.acceptance import (
    Acceptances,
    Context,
    expected_tokens,
    expected_tokens_iid,
    tokens_law,
)
from specdist.model.cost import Roofline
from tests import oracle_cost as oracle
from tests.cli import Result, exact, run, spell
from tests.vectors import load

F = Fraction
SPEED = ("walltime factor", "tokens a second", "time a token", "improvement possible")

shares = st.integers(1, 12).flatmap(lambda d: st.integers(0, d).map(lambda n: F(n, d)))
inner = shares.filter(lambda value: 0 < value < 1)
prices = st.builds(F, st.integers(0, 9), st.integers(1, 12))
ids = lambda vector: str(vector["id"])  # noqa: E731


def costs(*arguments: object) -> dict[str, dict[str, Any]]:
    """The cost lines of a what-if of stated acceptances, by name; the report fits its schema."""
    result = run("what-if", *arguments, "--format", "json")
    assert (result.code, result.stderr) == (0, "")
    report = result.json()
    jsonschema.validate(report, json.loads(schema("cost")))
    return by_name(report["cost"])


def by_name(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found = {line["name"]: line for line in lines}
    assert len(found) == len(lines), "every name once"
    return found


def value(lines: dict[str, dict[str, Any]], name: str) -> Fraction | None:
    return exact(lines[name]["value"])


def constant(acceptance: Fraction) -> Acceptances:
    return Acceptances((Context(F(1), (acceptance,)),))


# ---- handed vectors --------------------------------------------------------------------------


def rows(ident: str) -> list[dict[str, Any]]:
    (vector,) = [entry for entry in load("COST") if entry["id"] == ident]
    return vector["expected"]["rows"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("row", rows("COST-1"), ids=str)
def test_expected_tokens_and_operations(row: dict[str, Any]) -> None:
    made = costs(
        "--acceptance", row["alpha"], "--draft-length", row["gamma"],
        "--draft-cost", 0, "--draft-operations", 0,
    )  # fmt: skip
    assert value(made, "expected tokens a step") == row["speed"]
    assert value(made, "walltime factor") == row["speed"]
    assert value(made, "operations factor") == row["ops"]
    assert f"{float(row['speed']):.2f}" == f"{float(row['speed_2dp']):.2f}"


@pytest.mark.parametrize("row", rows("COST-2"), ids=str)
def test_walltime_factor(row: dict[str, Any]) -> None:
    made = costs(
        "--acceptance", row["alpha"], "--draft-length", row["gamma"], "--draft-cost", row["c"]
    )
    assert value(made, "walltime factor") == row["factor"]
    assert value(made, "break-even tokens a step") == 1 + row["gamma"] * row["c"]


@pytest.mark.parametrize("row", rows("COST-3"), ids=str)
def test_best_draft_length(row: dict[str, Any]) -> None:
    made = costs("--acceptance", row["alpha"], "--best-draft-length", "--draft-cost", row["c"])
    best = row["best_gamma"]
    assert value(made, "best draft length") == best
    laws = {g: oracle_iid(row["alpha"], g) for g in range(1, 30)}
    found = oracle.best_length({g: g * row["c"] + 1 for g in laws}, laws)
    assert found[0] == best
    assert f"{float(found[1]):.3f}" == f"{float(row['factor_3dp']):.3f}"
    if best:
        assert value(made, "its walltime factor") == value(made, "walltime factor") == found[1]
        assert made["expected tokens a step"]["text"].startswith(f"draft length {best}, ")
    else:
        assert "walltime factor" not in made
        assert "decode without a draft" in made["best draft length"]["text"]


def oracle_iid(acceptance: Fraction, length: int) -> dict[int, Fraction]:
    """As `oracle.law_of_tokens`, for lengths whose coins are too many to throw."""
    law = {k: acceptance ** (k - 1) * (1 - acceptance) for k in range(1, length + 1)}
    return {**law, length + 1: acceptance**length}


def test_acceptance_by_position() -> None:
    (vector,) = [v for v in load("COST") if v["id"] == "COST-4"]
    alphas = vector["inputs"]["alphas"]
    made = costs("--acceptance", spell(alphas))
    assert value(made, "expected tokens a step") == vector["expected"]["E_tokens"]
    assert oracle.mean(oracle.law_of_tokens(alphas)) == vector["expected"]["E_tokens"]


def test_a_mean_acceptance_is_named_as_the_mistake_it_is() -> None:
    (vector,) = [v for v in load("COST") if v["id"] == "COST-5"]
    kinds = vector["inputs"]["alpha_of_half_the_contexts"]
    made = costs(
        *(part for kind in kinds for part in ("--acceptance", f"1/2:{kind}")),
        "--draft-length", vector["inputs"]["gamma"],
    )  # fmt: skip
    assert value(made, "expected tokens a step") == vector["expected"]["true_E_tokens"]
    line = made["by one mean acceptance"]
    assert exact(line["value"]) == vector["expected"]["iid_formula_at_mean_alpha"]
    assert line["text"].startswith("too low")


def test_one_mean_can_be_too_high_as_well() -> None:
    made = costs("--acceptance", "1/5,1")
    assert value(made, "expected tokens a step") == F(7, 5)
    assert value(made, "by one mean acceptance") == F(49, 25)
    assert made["by one mean acceptance"]["text"].startswith("too high")


def test_a_free_drafter() -> None:
    (vector,) = [v for v in load("COST") if v["id"] == "COST-6"]
    inputs = vector["inputs"]
    made = costs(
        "--acceptance", inputs["alpha"], "--draft-length", inputs["gamma"],
        "--draft-cost", inputs["c"],
    )  # fmt: skip
    assert value(made, "walltime factor") == vector["expected"]["factor"]


@pytest.mark.parametrize("vector", load("COST-ROUNDS"), ids=ids)
def test_target_calls_of_an_output(vector: dict[str, Any]) -> None:
    inputs, tokens = vector["inputs"], vector["inputs"]["N"]
    made = costs(
        "--acceptance", inputs["alpha"], "--draft-length", inputs["gamma"],
        "--output-tokens", tokens,
    )  # fmt: skip
    expected = vector["expected"]
    assert value(made, f"target calls for {tokens} tokens") == expected["expected_rounds"]
    assert value(made, f"{tokens} tokens over expected tokens") == expected["N_over_E_tokens"]
    law = oracle.law_of_tokens([inputs["alpha"]] * inputs["gamma"])
    assert oracle.calls_by_tree(law, tokens) == expected["expected_rounds"]


@pytest.mark.parametrize("vector", load("SEQ"), ids=ids)
def test_best_tree(vector: dict[str, Any]) -> None:
    nodes = vector["inputs"]["nodes_including_root"]
    chances = vector["inputs"]["child_accept"]
    made = costs("--child-acceptance", spell(chances), "--tree-nodes", nodes)
    assert value(made, "expected tokens a step") == vector["expected"]["expected_tokens"]
    parents = json.loads(made["best tree"]["text"].partition(": ")[2])["parents"]
    assert len(parents) == nodes - 1
    reach: list[Fraction] = []
    for node, parent in enumerate(parents):
        rank = parents[:node].count(parent)
        reach.append(chances[rank] * (1 if parent < 0 else reach[parent]))
    assert 1 + sum(reach) == vector["expected"]["expected_tokens"]


# ---- formulas against the longest way --------------------------------------------------------


@given(st.lists(shares, min_size=1, max_size=6))
def test_law_of_tokens(acceptances: list[Fraction]) -> None:
    survivals = Acceptances((Context(F(1), tuple(acceptances)),)).survivals(len(acceptances))
    law = oracle.law_of_tokens(acceptances)
    assert {k: mass for k, mass in tokens_law(survivals).items() if mass} == law
    assert expected_tokens(survivals) == oracle.mean(law)


@given(shares, st.integers(1, 7))
def test_the_closed_form(acceptance: Fraction, length: int) -> None:
    law = oracle.law_of_tokens([acceptance] * length)
    assert expected_tokens_iid(acceptance, length) == oracle.mean(law)
    assert oracle_iid(acceptance, length).items() >= law.items()


@given(st.lists(st.tuples(st.integers(1, 5), st.lists(shares, min_size=3, max_size=3)), min_size=1))
def test_kinds_of_contexts(kinds: list[tuple[int, list[Fraction]]]) -> None:
    total = sum(weight for weight, _ in kinds)
    of_kind = [(F(weight, total), numbers) for weight, numbers in kinds]
    made = Acceptances(tuple(Context(share, tuple(numbers)) for share, numbers in of_kind))
    law = oracle.mixed([(share, oracle.law_of_tokens(numbers)) for share, numbers in of_kind])
    assert expected_tokens(made.survivals(3)) == oracle.mean(law)
    assert made.mean(3) == sum(share * sum(numbers) / 3 for share, numbers in of_kind)


@given(st.lists(shares, min_size=1, max_size=8), prices, inner)
def test_first_differences_find_the_best_length(
    acceptances: list[Fraction], draft_cost: Fraction, verify_cost: Fraction
) -> None:
    """Also for acceptances that rise and fall with the position, and for other verify costs."""
    survivals = Acceptances((Context(F(1), tuple(acceptances)),)).survivals(len(acceptances))
    lengths = range(1, len(acceptances) + 1)
    laws = {g: oracle.law_of_tokens(acceptances[:g]) for g in lengths}
    for verified in (F(1), verify_cost, 1 + verify_cost):
        listed = {g: factors.step_cost(g, draft_cost, verified) for g in lengths}
        best = draft_length.best_length(survivals, listed.__getitem__, listed=True)
        assert (best.length, best.factor) == oracle.best_length(listed, laws)


@given(st.lists(shares, min_size=1, max_size=6), st.data())
def test_any_list_of_costs_is_tried_in_full(acceptances: list[Fraction], data: Any) -> None:
    listed = data.draw(
        st.lists(prices.filter(bool), min_size=len(acceptances), max_size=len(acceptances))
    )
    survivals = Acceptances((Context(F(1), tuple(acceptances)),)).survivals(len(acceptances))
    by_length = dict(enumerate(listed, 1))
    best = draft_length.best_length(survivals, by_length.__getitem__, convex=False, listed=True)
    laws = {g: oracle.law_of_tokens(acceptances[:g]) for g in by_length}
    assert (best.length, best.factor) == oracle.best_length(by_length, laws)


@given(st.lists(shares, min_size=1, max_size=5), prices)
def test_improvement_is_possible_iff_the_first_acceptance_is_above_the_cost(
    acceptances: list[Fraction], draft_cost: Fraction
) -> None:
    laws = {g: oracle.law_of_tokens(acceptances[:g]) for g in range(1, len(acceptances) + 1)}
    _, factor = oracle.best_length({g: g * draft_cost + 1 for g in laws}, laws)
    assert factors.can_improve(acceptances[0], draft_cost) is (factor > 1)


@given(st.lists(shares, min_size=1, max_size=4), st.integers(1, 9))
def test_renewal_recursion(acceptances: list[Fraction], tokens: int) -> None:
    law = oracle.law_of_tokens(acceptances)
    calls = target_calls.expected_calls(law, tokens)
    assert calls == oracle.calls_forwards(law, tokens)
    assert calls == oracle.calls_by_tree(law, min(tokens, 5)) or tokens > 5
    low, high = target_calls.calls_bounds(oracle.mean(law), max(law), tokens)
    assert low <= calls <= high


@given(st.lists(inner, min_size=2, max_size=4), st.integers(2, 9))
def test_short_outputs_take_more_calls_than_the_ratio(
    acceptances: list[Fraction], tokens: int
) -> None:
    """Strictly, as the last step may always emit more than is needed."""
    law = oracle.law_of_tokens(acceptances)
    assert target_calls.expected_calls(law, tokens) > tokens / oracle.mean(law)


def test_laws_of_unlike_denominators() -> None:
    law = {1: F(1, 3), 2: F(1, 2), 5: F(1, 6)}
    assert target_calls.expected_calls(law, 11) == oracle.calls_forwards(law, 11)
    assert target_calls.expected_calls({1: F(1)}, 7) == 7


@st.composite
def devices(draw: st.DrawFn) -> dict[str, Fraction]:
    sizes = st.integers(1, 30).map(F)
    made = {key: draw(sizes) for key in ("weights", "bandwidth", "flops", "peak")}
    return {**made, "kv": draw(prices), "overhead": draw(prices)}


@given(devices(), st.integers(1, 6), st.integers(1, 40), prices)
def test_roofline(device: dict[str, Fraction], length: int, batch: int, cost: Fraction) -> None:
    made = Roofline(**device)
    spent = roofline.pass_time(made, batch * (length + 1), batch)
    assert spent == oracle.pass_seconds(device, batch * (length + 1), batch)
    spent += roofline.drafting_time(made, length, batch, cost)
    assert spent == oracle.step_seconds(device, length, batch, cost)
    crossover = roofline.crossover_batch(made, length + 1)
    last = oracle.last_memory_bound_batch(device, length + 1, 60)
    if crossover is None:
        assert last == 60
    else:
        assert last == min(60, crossover.numerator // crossover.denominator)
    for other in (batch, batch + 7):
        bound = roofline.memory_bound(made, other * (length + 1), other)
        assert bound is (crossover is None or other <= crossover)


def test_crossover_batches_of_theory() -> None:
    short = Roofline(F(10), F(1), F(1, 100), F(1), kv=F(1, 100))
    assert roofline.crossover_batch(short, 4) == F(1000, 3)
    long = Roofline(F(10), F(1), F(1, 100), F(1), kv=F(1, 20))
    assert roofline.crossover_batch(long, 4) is None


@given(devices(), inner, st.integers(1, 5), prices)
def test_best_length_at_a_batch(
    device: dict[str, Fraction], acceptance: Fraction, batch: int, cost: Fraction
) -> None:
    """The cost of a step is convex in the draft length, so first differences decide there too."""
    lengths = range(1, 25)
    plain = oracle.pass_seconds(device, batch, batch)
    listed = {g: oracle.step_seconds(device, g, batch, cost) / plain for g in lengths}
    best = draft_length.best_length(constant(acceptance).survivals(24), listed.__getitem__)
    found = oracle.best_length(listed, {g: oracle_iid(acceptance, g) for g in lengths})
    assert (best.length, best.factor) == found
    assert best.settled or found[0] == 24


@given(st.lists(shares, max_size=12), st.integers(1, 5), prices, st.lists(prices, max_size=12))
def test_budget(
    survivals: list[Fraction], requests: int, drafting: Fraction, rises: list[Fraction]
) -> None:
    """Convex costs: each further token costs at least as much more as the one before."""
    falling = sorted(survivals, reverse=True)
    steps = sorted(rises + [F(0)] * (len(falling) - len(rises)))
    listed = [F(1)]
    for step in steps[: len(falling)]:
        listed.append(listed[-1] + step)
    whole = [drafting + cost for cost in listed]
    found = budget.best_budget(requests, falling, drafting, listed.__getitem__)
    assert found == oracle.best_budget(requests, falling, whole)


def test_a_budget_of_five() -> None:
    survivals = [F(n, 10) for n in (9, 9, 8, 7, 6, 3, 2)]
    listed = [F(1), F(1), F(1), F(1), F(11, 10), F(12, 10), F(14, 10), F(17, 10)]
    assert budget.best_budget(2, survivals, F(1, 5), listed.__getitem__) == 5


@given(inner, st.integers(1, 6), prices, prices.filter(bool))
def test_ratios(acceptance: Fraction, length: int, cost: Fraction, verified: Fraction) -> None:
    tokens = oracle.mean(oracle.law_of_tokens([acceptance] * length))
    factor = factors.walltime_factor(tokens, length, cost, verified)
    assume(factor)
    assert factors.time_ratio(tokens, length, cost, verified) == 1 / factor
    assert (factor > 1) is (tokens > factors.step_cost(length, cost, verified))
    assert factors.goodput([tokens] * 3, verified) == 3 * tokens / verified


# ---- the command line ------------------------------------------------------------------------

DEVICE = {"weights": F(16), "kv": F(1, 20), "bandwidth": F(3), "flops": F(1, 50), "peak": F(1)}
TYPED = ",".join(f"{key}={number}" for key, number in DEVICE.items())


def test_every_figure_of_a_roofline() -> None:
    made = costs(
        "--acceptance", "4/5", "--draft-length", 3, "--draft-cost", "1/20", "--best-draft-length",
        "--roofline", f"{TYPED},batch=1+40+120",
    )  # fmt: skip
    tokens = oracle.mean(oracle.law_of_tokens([F(4, 5)] * 3))
    for batch in (1, 40, 120):
        plain = oracle.pass_seconds(DEVICE, batch, batch)
        spent = oracle.step_seconds(DEVICE, 3, batch, F(1, 20))
        assert value(made, f"batch {batch}: walltime factor") == tokens * plain / spent
        assert value(made, f"batch {batch}: tokens a second") == batch * tokens / spent
        listed = {g: oracle.step_seconds(DEVICE, g, batch, F(1, 20)) / plain for g in range(1, 40)}
        best, factor = oracle.best_length(listed, {g: oracle_iid(F(4, 5), g) for g in listed})
        assert value(made, f"batch {batch}: best draft length") == best
        assert value(made, f"batch {batch}: its walltime factor") == factor
        survivals = sorted([F(4, 5) ** (j + 1) for j in range(3)] * batch, reverse=True)
        drafting = 3 * F(1, 20) * plain
        passes = [
            drafting + oracle.pass_seconds(DEVICE, batch + more, batch)
            for more in range(3 * batch + 1)
        ]
        found = oracle.best_budget(batch, survivals, passes)
        assert value(made, f"batch {batch}: draft tokens to verify") == found
    last = oracle.last_memory_bound_batch(DEVICE, 4, 2000)
    crossover = value(made, "crossover batch")
    assert crossover is not None
    assert last == crossover.numerator // crossover.denominator


def test_a_draft_model_on_the_same_roofline() -> None:
    made = costs(
        "--acceptance", "4/5", "--draft-length", 3, "--roofline",
        f"{TYPED},draft-weights=1,draft-flops=1/1000,draft-overhead=1/10,batch=7",
    )  # fmt: skip
    draft = {**DEVICE, "weights": F(1), "kv": F(0), "flops": F(1, 1000), "overhead": F(1, 10)}
    spent = 3 * oracle.pass_seconds(draft, 7, 7) + oracle.pass_seconds(DEVICE, 28, 7)
    tokens = oracle.mean(oracle.law_of_tokens([F(4, 5)] * 3))
    assert value(made, "batch 7: tokens a second") == 7 * tokens / spent
    assert "walltime factor" not in made


def test_verification_with_a_cost_of_its_own() -> None:
    made = costs(
        "--acceptance", "4/5", "--draft-length", 2, "--draft-cost", "1/20", "--verify-cost", "3/2"
    )
    tokens = F(61, 25)
    assert value(made, "walltime factor") == tokens / (F(1, 10) + F(3, 2))
    assert value(made, "time a token") == (F(1, 10) + F(3, 2)) / tokens
    assert "improvement possible" not in made


def test_verify_costs_by_draft_tokens_are_tried_one_by_one() -> None:
    listed = ["11/10", "3", "6/5", "4"]
    made = costs(
        "--acceptance", "4/5", "--best-draft-length", "--draft-cost", "1/20",
        "--verify-cost", ",".join(listed),
    )  # fmt: skip
    by_length = {g: g * F(1, 20) + F(text) for g, text in enumerate(listed, 1)}
    laws = {g: oracle.law_of_tokens([F(4, 5)] * g) for g in by_length}
    assert (3, value(made, "its walltime factor")) == oracle.best_length(by_length, laws)
    assert value(made, "best draft length") == 3
    assert "up to 4" in made["best draft length"]["assumes"]


def test_a_factor_that_stays_at_one_pays_nothing() -> None:
    made = costs("--acceptance", 1, "--best-draft-length", "--draft-cost", 1)
    assert value(made, "best draft length") == 0


def test_no_best_length_where_drafting_is_free() -> None:
    made = costs("--acceptance", "1/2", "--best-draft-length", "--draft-cost", 0)
    line = made["best draft length"]
    assert line["value"] is None
    assert line["text"].startswith("none up to 1000")
    assert list(made) == ["best draft length"]


def test_long_outputs_get_bounds() -> None:
    made = costs("--acceptance", "123/1000", "--draft-length", 40, "--output-tokens", 10**9)
    low = value(made, "target calls for 1000000000 tokens, at least")
    high = value(made, "target calls for 1000000000 tokens, at most")
    assert low is not None
    assert high is not None
    tokens = oracle.mean(oracle_iid(F(123, 1000), 40))
    assert (low, high) == (10**9 / tokens, (10**9 + 40) / tokens)


def test_a_tree_with_costs() -> None:
    made = costs(
        "--child-acceptance", "1/2,1/4", "--tree-nodes", 4, "--draft-cost", "1/10",
        "--draft-operations", "1/20", "--output-tokens", 5,
    )  # fmt: skip
    tokens = 1 + F(1, 2) + F(1, 4) + F(1, 4)
    assert value(made, "expected tokens a step") == tokens
    depth = 2
    assert value(made, "walltime factor") == tokens / (depth * F(1, 10) + 1)
    assert value(made, "operations factor") == (3 * F(1, 20) + 4) / tokens
    law = {1: F(1, 4), 2: F(3, 4) - F(1, 4), 3: F(1, 4)}
    assert value(made, "target calls for 5 tokens") == oracle.calls_by_tree(law, 5)


# ---- steps that are checked ------------------------------------------------------------------

TARGET, DRAFT = "1/2,3/10,1/5", "1/5,1/2,3/10"
ALPHA = F(7, 10)
COSTS = ("--draft-cost", "1/20", "--draft-operations", "1/10", "--output-tokens", "6",
         "--roofline", f"{TYPED},batch=40")  # fmt: skip


def step_costs(*arguments: object) -> dict[str, dict[str, Any]]:
    result = run(*arguments, "--format", "json")
    assert result.code == 0, result.stderr
    report = result.json()
    jsonschema.validate(report, json.loads(schema("report")))
    (step,) = report["steps"]
    return by_name(step["cost"])


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_checked_step_has_the_costs_of_its_exact_law(length: int) -> None:
    """The token rule on constant rows throws independent coins; 0 is the one-position form."""
    shape = ("--draft-length", length) if length else ()
    made = step_costs("what-if", "--target", TARGET, "--draft", DRAFT, *shape, *COSTS)
    drafted = length or 1
    law = oracle.law_of_tokens([ALPHA] * drafted)
    tokens = oracle.mean(law)
    assert value(made, "walltime factor") == tokens / (drafted * F(1, 20) + 1)
    operations = (drafted * F(1, 10) + drafted + 1) / tokens
    assert value(made, "operations factor") == operations
    assert value(made, "target calls for 6 tokens") == oracle.calls_forwards(law, 6)
    plain = oracle.pass_seconds(DEVICE, 40, 40)
    spent = oracle.step_seconds(DEVICE, drafted, 40, F(1, 20))
    assert value(made, "batch 40: walltime factor") == tokens * plain / spent
    assert not any(line["measured"] for line in made.values())


def test_a_tree_drafts_a_level_in_a_step_and_verifies_every_node() -> None:
    arguments = ("--target", TARGET, "--draft", DRAFT, "--tree", "2,1", "--rule", "rrs")
    report = run("what-if", *arguments, *COSTS, "--format", "json").json()
    (step,) = report["steps"]
    tokens = exact(step["joint"]["expected_tokens"])
    assert tokens is not None
    made = by_name(step["cost"])
    assert value(made, "walltime factor") == tokens / (2 * F(1, 20) + 1)
    assert value(made, "operations factor") == (4 * F(1, 10) + 5) / tokens


def test_rounding_of_logits_bounds_the_factor() -> None:
    arguments = ("--target-logits", "1,0,-1/2", "--draft-logits", "0,1,1/3")
    made = step_costs("what-if", *arguments, *COSTS)
    report = run("what-if", *arguments, "--format", "json").json()
    rate = report["steps"][0]["mean_acceptance_length"]
    tokens, bound = F(rate["exact"]), F(rate["bound"])
    factor = made["walltime factor"]["value"]
    assert F(factor["exact"]) == tokens / F(21, 20)
    assert bound <= F(factor["bound"]) * F(21, 20) <= bound * (1 + F(1, 10**9))
    operations = made["operations factor"]["value"]
    work = F(1, 10) + 2
    assert F(operations["exact"]) == work / tokens
    widest = work / (tokens - bound) - work / tokens
    assert widest * (1 - F(1, 10**9)) <= operations["bound"] <= widest * (1 + F(1, 10**9))
    calls = made["target calls for 6 tokens"]["value"]
    accepted = tokens - 1
    nearby = [oracle.law_of_tokens([accepted + error]) for error in (-bound, F(0), bound)]
    low, middle, high = sorted(oracle.calls_forwards(law, 6) for law in nearby)
    assert F(calls["exact"]) == middle
    assert max(high - middle, middle - low) <= F(calls["bound"]) < F(1, 10**9)
    ratio = made["6 tokens over expected tokens"]["value"]
    assert F(ratio["exact"]) == 6 / tokens
    assert 6 / (tokens - bound) - 6 / tokens <= F(ratio["bound"]) < F(1, 10**9)


def test_rows_along_a_path_have_no_factor(tmp_path: Path) -> None:
    position = {"target": TARGET.split(","), "draft": DRAFT.split(",")}
    capture = {"positions": [position, position], "times": times()}
    made = step_costs("check", written(tmp_path, capture), "--draft-cost", "1/20")
    assert made["walltime factor"]["value"] is None
    assert "do not determine" in made["walltime factor"]["text"]
    assert value(made, "measured break-even") == F(5, 4)
    assert "measured walltime factor" not in made


CONDITIONS = {
    "target_model": "70B, bfloat16",
    "draft_model": "1B, bfloat16",
    "sampling": "temperature 0.8, draft length 1",
    "load": "16 requests at once",
    "hardware": "one H100",
}


def times(**members: Any) -> dict[str, Any]:
    """Measured times with all their conditions."""
    numbers = {"target": "0.020", "draft": 0.001, "verify": "0.024", "unit": "s"}
    return {**numbers, **CONDITIONS, **members}


def written(folder: Path, capture: dict[str, Any]) -> Path:
    path = folder / "capture.json"
    path.write_text(json.dumps(capture), encoding="utf-8")
    return path


ONE = {"target": TARGET.split(","), "draft": DRAFT.split(",")}
MODELS = {"models": ONE, "draft_length": 2}


@pytest.mark.parametrize(("capture", "drafted"), [(ONE, 1), (MODELS, 2)], ids=["rows", "models"])
def test_times_of_a_capture_are_said_to_be_measured(
    capture: dict[str, Any], drafted: int, tmp_path: Path
) -> None:
    path = written(tmp_path, {**capture, "times": times()})
    made = step_costs("check", path, "--draft-cost", "1/20")
    tokens = oracle.mean(oracle.law_of_tokens([ALPHA] * drafted))
    assert value(made, "measured break-even") == F(25, 20)
    assert value(made, "measured walltime factor") == tokens / F(25, 20)
    assert [name for name, line in made.items() if line["measured"]] == [
        "measured break-even",
        "measured walltime factor",
    ]
    text = run("check", path).stdout
    assert "not measured" not in text
    assert "assumes: times of the capture: a target step 0.02 s, drafting 0.001 s" in text
    assert all(words in " ".join(text.split()) for words in CONDITIONS.values())
    assert "times are those that the capture carries" in text
    assert "speed was not measured" not in text


@pytest.mark.parametrize("missing", [*CONDITIONS, "all"])
def test_times_without_a_condition_are_unmeasured(missing: str, tmp_path: Path) -> None:
    names = {
        "target_model": "target model",
        "draft_model": "draft model",
        "sampling": "sampling configuration",
        "load": "load shape",
        "hardware": "hardware",
    }
    absent = [*CONDITIONS] if missing == "all" else [missing]
    members = {key: value for key, value in times().items() if key not in absent}
    path = written(tmp_path, {**ONE, "times": members})
    made = step_costs("check", path)
    assert [line["basis"] for line in made.values()] == ["unmeasured", "unmeasured"]
    assert not any(line["measured"] for line in made.values())
    assert value(made, "break-even by the times") == F(25, 20)
    said = "unmeasured: the times do not name " + ", ".join(names[key] for key in absent)
    assert made["walltime factor by the times"]["text"] == said
    text = " ".join(run("check", path).stdout.split())
    assert "resource benefit, unmeasured" in text
    assert "resource benefit, measured" not in text
    assert "speed is unmeasured (times without all of models, sampling, load" in text
    scope = run("check", path, "--format", "json").json()["scope"]
    assert any("it is unmeasured" in sentence for sentence in scope)


def test_correctness_and_benefit_stand_in_sections_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, {**ONE, "times": times()})
    lines = run("check", path, "--draft-cost", "1/20").stdout.splitlines()
    verdict = next(i for i, line in enumerate(lines) if line.startswith("ok: output equals"))
    measured = lines.index("resource benefit, measured")
    calculated = lines.index("resource benefit, calculated")
    scope = next(i for i, line in enumerate(lines) if line.startswith("scope: "))
    assert verdict < measured < calculated < scope
    assert "" in lines[verdict:measured]
    assert not any("walltime" in line for line in lines[:measured])
    assert "measured walltime factor" in " ".join(lines[measured:calculated])
    assert "not measured" in " ".join(lines[calculated:scope])
    assert any(line.startswith("      assumes: a draft step costs 1/20") for line in lines)
    report = run("check", path, "--draft-cost", "1/20", "--format", "json").json()
    bases = {line["name"]: line["basis"] for line in report["steps"][0]["cost"]}
    assert bases["measured walltime factor"] == "measured"
    assert bases["walltime factor"] == "calculated"
    assert all(line["assumes"] for line in report["steps"][0]["cost"])


@pytest.mark.parametrize("words", ["", " ", 3, True, ["one"], "x" * 201])
def test_a_condition_is_a_text(words: Any, tmp_path: Path) -> None:
    path = written(tmp_path, {**ONE, "times": times(hardware=words)})
    result = run("check", path)
    assert (result.code, result.stdout) == (2, "")
    assert f"{path}, times.hardware" in joined(result)
    known = jsonschema.Draft202012Validator(json.loads(schema("capture")))
    assert not known.is_valid(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("members", "place", "words"),
    [
        (times(target=0), "times.target", "out of range"),
        (times(draft=-1), "times.draft", "out of range"),
        (times(verify="1e40"), "times.verify", "1e30"),
        (times(verify="-inf"), "times.verify", "out of range"),
        (times(verify=None), "times.verify", "null"),
        (times(verify=True), "times.verify", "out of range"),
        (times(verify="fast"), "times.verify", "not a number"),
        (times(unit="sec"), "times.unit", "s or ms or us or ns"),
        (times(unit=3), "times.unit", "a number"),
        (times(verfy=1), "times", "did you mean 'verify'?"),
        ({"target": 1}, "times", "draft and verify and unit"),
        ([1], "times", "an array"),
    ],
    ids=str,
)
def test_bad_times(members: Any, place: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, {**ONE, "times": members})
    result = run("check", path)
    assert (result.code, result.stdout) == (2, "")
    assert words in joined(result)
    assert f"{path}, {place}" in joined(result)


def joined(result: Result) -> str:
    return " ".join(line.strip() for line in result.stderr.splitlines())


@pytest.mark.parametrize("capture", [ONE, {"positions": [ONE]}, MODELS, {"steps": [MODELS]}])
def test_schema_and_reader_agree_on_times(capture: dict[str, Any], tmp_path: Path) -> None:
    known = jsonschema.Draft202012Validator(json.loads(schema("capture")))

    def timed(members: Any) -> dict[str, Any]:
        if "steps" in capture:
            return {"steps": [{**step, "times": members} for step in capture["steps"]]}
        return {**capture, "times": members}

    for members in (times(), times(draft=0), times(target="1/50"), times(load=None), None):
        known.validate(timed(members))
        assert run("check", written(tmp_path, timed(members))).code == 0
    for members in (times(unit="sec"), times(verfy=1), {"target": 1}, [1], times(verify=True)):
        assert not known.is_valid(timed(members))
        assert run("check", written(tmp_path, timed(members))).code == 2


def test_the_schema_of_costs_is_printed_and_strict() -> None:
    document = json.loads(run("config", "--schema", "cost").stdout)
    jsonschema.Draft202012Validator.check_schema(document)
    report = run("what-if", "--acceptance", "1/2,1/3", "--format", "json").json()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**report, "speed": 1}, document)
    report["cost"][0]["measured"] = True
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, document)


def test_drafting_may_take_no_time(tmp_path: Path) -> None:
    made = step_costs("check", written(tmp_path, {**ONE, "times": times(draft=0)}))
    assert value(made, "measured break-even") == F(6, 5)


def test_costs_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "specdist.toml").write_text('draft-cost = "1/20"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    made = step_costs("check", written(tmp_path, ONE))
    assert value(made, "walltime factor") == F(17, 10) / F(21, 20)
    (tmp_path / "specdist.toml").write_text('verify-cost = "1"\n', encoding="utf-8")
    result = run("check", "capture.json")
    assert result.code == 2
    assert "--> specdist.toml" in result.stderr


def test_without_costs_nothing_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, ONE)
    assert step_costs("check", path) == {}
    assert "walltime" not in run("check", path).stdout


def test_costs_change_no_verdict(tmp_path: Path) -> None:
    wrong = {**ONE, "roles": {"residual_draft": {"one_hot": 0}}}
    path = written(tmp_path, wrong)
    plain, priced = (run("check", path, *more) for more in ((), ("--draft-cost", "1/20")))
    assert plain.code == priced.code == 1
    assert "walltime factor" in priced.stdout
    assert "walltime factor" not in plain.stdout


def test_many_steps_show_the_costs_of_a_few(tmp_path: Path) -> None:
    path = written(tmp_path, {"steps": [ONE] * 5})
    text = run("check", path, "--draft-cost", "1/20").stdout
    assert [line for line in text.splitlines() if line.startswith("resource benefit")] == [
        f"resource benefit of step {i}, calculated" for i in range(3)
    ]
    assert "... benefit of 2 more steps (all with -v or --format json)" in text
    assert run("check", path, "--draft-cost", "1/20", "-v").stdout.count("walltime factor") == 5


# ---- text ------------------------------------------------------------------------------------

SHOWN = [
    ("--acceptance", "4/5", "--draft-length", "5", "--draft-cost", "1/50"),
    ("--acceptance", "9/10,4/5,7/10", "--draft-cost", "0.123456789", "--output-tokens", "999"),
    ("--acceptance", "1/3:1", "--acceptance", "2/3:0.1234567", "--draft-length", "30",
     "--draft-operations", "1/20", "--exact"),
    ("--acceptance", "4/5", "--draft-length", "9", "--draft-cost", "1/20", "--best-draft-length",
     "--roofline", f"{TYPED},batch=1+1000000"),
    ("--child-acceptance", "1/2,1/4,1/8", "--tree-nodes", "60", "--draft-cost", "1/20"),
    ("--acceptance", "0", "--draft-length", "1", "--draft-cost", "1000000"),
    ("--acceptance", "1e-900", "--draft-length", "3", "--draft-cost", "1e-99"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", SHOWN, ids=" ".join)
def test_the_text_fits_and_says_what_it_assumes(arguments: tuple[str, ...]) -> None:
    result = run("what-if", *arguments)
    assert (result.code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line for line in lines if len(line) > 80 and "--exact" not in arguments] == []
    assert "nothing was verified or measured" in result.stdout
    assumed = False
    for line in reversed(lines[: lines.index("")]):
        assumed = assumed or line.startswith("    assumes: ")
        assert assumed or line.startswith(" "), line
    quiet = run("what-if", *arguments, "--quiet").stdout.splitlines()
    for line in quiet:
        assert "; assumes " in line
        name = line.partition("; ")[0]
        if any(word in name for word in SPEED):
            assert "not measured" in line
    assert len(quiet) == len(costs(*arguments))


def test_near_one_is_not_written_as_one() -> None:
    made = costs("--acceptance", "0.99999999999", "--draft-length", 2)
    assert "with probability 1 - 1e-11 at" in made["expected tokens a step"]["assumes"]


def test_json_lines_are_one_line() -> None:
    result = run("what-if", "--acceptance", "4/5", "--draft-length", 2, "--format", "jsonl")
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["settings"] == {"acceptance": ["4/5"], "draft-length": "2"}


# ---- bad input -------------------------------------------------------------------------------

LENGTH = ("--draft-length", "2")
A = ("--acceptance", "4/5")
BAD: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("--acceptance", "5/4", *LENGTH), ("acceptance=5/4 is out of range", "from 0 to 1")),
    (("--acceptance", "-1/4", *LENGTH), ("acceptance=-1/4", "from 0 to 1")),
    (("--acceptance", "x", *LENGTH), ("acceptance=x is not a number",)),
    (("--acceptance", "", *LENGTH), ("acceptance= is not a number",)),
    (("--acceptance", "nan", *LENGTH), ("is not a number",)),
    (("--acceptance", "0." + "7" * 2000, *LENGTH), ("2002 characters", "at most 1000")),
    (A, ("no draft length is given", "--best-draft-length")),
    ((*A, "--draft-length", "0"), ("draft-length=0", "1 or more")),
    ((*A, "--draft-length", "1001"), ("draft-length=1001", "from 1 to 1000")),
    (("--acceptance", "0." + "7" * 60, "--draft-length", "900"), ("from 1 to", "many digits")),
    (("--acceptance", "1/2,1/3", "--draft-length", "3"), ("from 1 to 2", "each position")),
    (("--acceptance", ",".join(["1/2"] * 1001)), ("1001 positions", "at most 1000")),
    (("--acceptance", ",".join(["0." + "7" * 99] * 99)), ("too many digits",)),
    (("--acceptance", "1/2:1", "--acceptance", "1/3:1", *LENGTH), ("sum to 5/6", "sum to 1")),
    (("--acceptance", "1/2", "--acceptance", "1/2", *LENGTH), ("no share", "SHARE:ACCEPTANCE")),
    (("--acceptance", "1/2:1", "--acceptance", "1/2:1,1"), ("1 and 2 positions",)),
    (("--acceptance", "2:1", *LENGTH), ("share of acceptance=2",)),
    ((*A, *LENGTH, "--draft-cost", "-1"), ("draft-cost=-1 is negative", "0 or more")),
    ((*A, *LENGTH, "--draft-cost", "1e200"), ("out of range",)),
    ((*A, *LENGTH, "--draft-operations", "-1/2"), ("draft-operations=-1/2 is negative",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--verify-cost", "0"), ("verify-cost=0 has a 0",)),
    ((*A, *LENGTH, "--verify-cost", "1"), ("without draft-cost", "--draft-cost C")),
    ((*A, *LENGTH, "--draft-cost", "0", "--verify-cost", "1,"), ("verify-cost needs a number",)),
    ((*A, "--draft-length", "3", "--draft-cost", "0", "--verify-cost", "1,2"),
     ("verify-cost has 2 numbers", "3 draft tokens")),
    ((*A, *LENGTH, "--output-tokens", "0"), ("output-tokens=0", "from 1 to")),
    ((*A, *LENGTH, "--output-tokens", "1/2"), ("output-tokens=1/2", "whole number")),
    ((*A, *LENGTH, "--output-tokens", "1e13"), ("from 1 to 1000000000000",)),
    ((*A, *LENGTH, "--roofline", "wieghts=1"), ("unknown key 'wieghts'", "did you mean weights?")),
    ((*A, *LENGTH, "--roofline", "weights"), ("is not KEY=NUMBER", "bandwidth")),
    ((*A, *LENGTH, "--roofline", ""), ("is not KEY=NUMBER",)),
    ((*A, *LENGTH, "--roofline", f"{TYPED},batch=1,64"), ("several batch sizes are batch=1+64",)),
    ((*A, *LENGTH, "--roofline", "weights=1,weights=2"), ("weights is given twice",)),
    ((*A, *LENGTH, "--roofline", "weights=1,flops=1"), ("bandwidth and peak are missing",)),
    ((*A, *LENGTH, "--roofline", TYPED), ("does not say what drafting costs", "draft-weights")),
    ((*A, *LENGTH, "--roofline", f"{TYPED},draft-kv=1"), ("without draft-weights and",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", TYPED.replace("peak=1", "peak=0")),
     ("peak=0 is out of range", "operations a second")),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", f"{TYPED},overhead=-1"), ("overhead=-1",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", f"{TYPED},overhead=1e31"), ("1e30",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", f"{TYPED},overhead=0.{'1' * 50}"),
     ("at most 40 characters",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", f"{TYPED},batch=0"), ("batch=0",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", f"{TYPED},batch=1/2"), ("is no batch",)),
    ((*A, *LENGTH, "--draft-cost", "0", "--roofline", f"{TYPED},batch=9999999999"), ("too large",)),
    ((*A, *LENGTH, "--rule", "block"), ("--rule needs rows",)),
    ((*A, *LENGTH, "--max-tv", "1/2"), ("--max-tv needs rows",)),
    ((*A, *LENGTH, "--tree", "2,1"), ("--tree needs rows",)),
    ((*A, *LENGTH, "--target", "1/2,1/2"), ("together with --target",)),
    ((*A, *LENGTH, "capture.json"), ("together with capture.json",)),
    ((*A, "--best-draft-length"), ("no cost is given", "--draft-cost C")),
    (("--best-draft-length", "--draft-cost", "0"), ("without --acceptance",)),
    (("--draft-cost", "1/2"), ("nothing that has that cost", "specdist explain cost")),
    (("--tree-nodes", "4"), ("without --child-acceptance",)),
    (("--child-acceptance", "1/2"), ("without --tree-nodes", "the root included")),
    (("--child-acceptance", "1/2", "--tree-nodes", "0"), ("tree-nodes=0", "1 or more")),
    (("--child-acceptance", "1/2", "--tree-nodes", "1001"), ("tree-nodes=1001", "1000")),
    (("--child-acceptance", "1/4,1/2", "--tree-nodes", "3"), ("do not rise",)),
    (("--child-acceptance", "3/4,1/2", "--tree-nodes", "3"), ("sum is 5/4", "at most 1")),
    (("--child-acceptance", "3/2", "--tree-nodes", "3"), ("child-acceptance=3/2",)),
    (("--child-acceptance", "1/2", "--tree-nodes", "3", *A), ("are given together",)),
    (("--child-acceptance", "1/2", "--tree-nodes", "3", *LENGTH), ("draft-length", "--tree-nodes")),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda item: " ".join(item)[:70])
def test_bad_input(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    result = run("what-if", *arguments)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[invalid-settings]: ")
    assert "  --> " in result.stderr
    assert "= expected: " in result.stderr
    assert [word for word in words if word not in joined(result)] == []
    assert [line for line in result.stderr.splitlines() if len(line) > 80] == []


def test_costs_that_do_not_cover_a_step_stop_the_run(tmp_path: Path) -> None:
    path = written(tmp_path, {**MODELS, "draft_length": 3})
    result = run("check", path, "--draft-cost", "0", "--verify-cost", "1,2")
    assert (result.code, result.stdout) == (2, "")
    assert "verify-cost has 2 numbers, and 3 draft tokens are verified" in joined(result)
