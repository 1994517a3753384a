"""Dumped rows: the fast exact arithmetic on float64 weights against Fractions, with ``==``.

The weights are taken from the package once; that they are what they stand for, within the stated
bound, is checked with 40 digits. Everything after them is the oracle's own enumeration.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import RowContext, apply_recipe, parse_recipe
from tests import oracle
from tests.battery import overlap
from tests.cli import SAMPLES, run

SIZE = 48
STORED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "float64": lambda row: row.astype(np.float64),
    "float32": lambda row: row.astype(np.float32),
    "float16": lambda row: row.astype(np.float16),
    "bfloat16": lambda row: (row.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16),
}


def values_of(name: str, stored: np.ndarray) -> np.ndarray:
    """What the stored numbers are, as float64."""
    if name == "bfloat16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)


def generated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows with ties, masked tokens, a wide range and, in places, draft = target exactly."""
    random = np.random.default_rng(seed)
    target = random.normal(0, 3, (6, SIZE))
    draft = target + random.normal(0, 1, (6, SIZE))
    draft[1] = target[1]
    draft[2, ::2] = target[2, ::2]
    target[3], draft[3] = np.round(target[3]), np.round(draft[3])
    target[4, 5:20] = draft[4, 15:30] = -np.inf
    target[5] *= 40
    draft[5] *= 40
    return target, draft


def cut_from_captures(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Slices of real rows: target row 5s + i belongs to draft row 4s + i."""
    target = np.load(SAMPLES / "captures" / "target.npy")
    draft = np.load(SAMPLES / "captures" / "draft.npy")
    columns = np.random.default_rng(seed).choice(4096, SIZE, replace=False)
    return target[[0, 1, 2, 3, 5, 6]][:, columns], draft[:6][:, columns]


ROWS = {"generated": generated, "captured": cut_from_captures}
RECIPES = [
    "raw",
    "temperature:4/5",
    "temperature:4/5,top-p:0.95",
    "temperature:7/10,top-k:5",
    "temperature:4/5,min-p:1/20",
    "top-k:20,temperature:2,top-p:1/2",
    "temperature:0",
]


def law(name: str, stored: np.ndarray, recipe: str) -> list[Fraction]:
    """The package's law of one row as fractions, token by token."""
    row = Row(FloatValues(stored), Kind.LOGITS, Stage.RAW, NumberFormat(name), "row")
    found = apply_recipe(parse_recipe(recipe), row, RowContext()).law
    if hasattr(found, "values"):
        return list(found.values)
    weights = [Fraction(0)] * found.size
    ids = range(found.size) if found.ids is None else found.ids
    for token, weight in zip(ids, found.weights.tolist(), strict=True):
        weights[int(token)] = Fraction(weight)
    return oracle.normalise(weights)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_figure_is_the_enumeration(recipe: str, name: str, rows: str, tmp_path: Path) -> None:
    sides = [STORED[name](side) for side in ROWS[rows](1)]
    for side, stored in zip(("target", "draft"), sides, strict=True):
        np.save(tmp_path / f"{side}.npy", stored)
    result = run(
        "check", "--target", tmp_path / "target.npy", "--draft", tmp_path / "draft.npy",
        "--kind", "logits", "--numbers", name, "--recipe", recipe,
        "--format", "json", "--exact", "--workers", "1",
    )  # fmt: skip
    assert result.code == 0, result.stderr
    steps = result.json()["steps"]
    assert len(steps) == 6
    for step, target_row, draft_row in zip(steps, *sides, strict=True):
        target, draft = law(name, target_row, recipe), law(name, draft_row, recipe)
        compare(step["positions"][0], oracle.token_rule(target, draft), target)


def compare(position: dict[str, Any], expected: oracle.Position, reference: list[Fraction]) -> None:
    tokens = sorted(position["tokens"], key=lambda token: token["id"])
    assert len(tokens) == SIZE
    for name, row in {
        "reference": reference,
        "accepted": expected.accepted,
        "recovered": expected.recovered,
        "output": expected.output,
    }.items():
        assert [Fraction(token[name]["exact"]) for token in tokens] == row, name
    residual = [token["residual"] for token in tokens]
    if expected.residual is None:
        assert residual == [None] * SIZE
    else:
        assert [Fraction(value["exact"]) for value in residual] == expected.residual
    assert Fraction(position["acceptance_rate"]["exact"]) == expected.acceptance
    assert Fraction(position["rejected_mass"]["exact"]) == expected.rejected
    assert Fraction(position["total_variation"]["exact"]) == 0


def precise(values: np.ndarray, temperature: Fraction) -> list[mpmath.mpf]:
    finite = [mpmath.mpf(float(z)) for z in values if z > -np.inf]
    scale = mpmath.mpf(temperature.denominator) / temperature.numerator
    weights = [
        mpmath.exp((mpmath.mpf(float(z)) - max(finite)) * scale) if z > -np.inf else mpmath.mpf(0)
        for z in values
    ]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("temperature", ["1", "4/5", "7/10", "3"])
def test_the_weights_are_the_softmax_within_their_bound(name: str, temperature: str) -> None:
    target, _ = generated(2)
    with mpmath.workdps(60):
        for stored in STORED[name](target):
            row = Row(FloatValues(stored), Kind.LOGITS, Stage.RAW, NumberFormat(name), "row")
            recipe = parse_recipe(f"temperature:{temperature}")
            bound = apply_recipe(recipe, row, RowContext()).law.bound
            assert 0 < bound < Fraction(1, 10**11)
            true = precise(values_of(name, stored), Fraction(temperature))
            for found, wanted in zip(
                law(name, stored, recipe=f"temperature:{temperature}"), true, strict=True
            ):
                value = mpmath.mpf(found.numerator) / found.denominator
                # Weight and sum may each be off by the bound; below 2**-1074 a weight is not 0.
                allowed = (
                    3 * mpmath.mpf(bound.numerator) / bound.denominator * wanted
                    + mpmath.mpf(2) ** -1073
                )
                assert abs(value - wanted) <= allowed


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("ties", ["generated", "captured"])
def test_cuts_of_float_rows(name: str, ties: str) -> None:
    """top-p, top-k and min-p cut the exact law of the weights where the oracle cuts it."""
    cut = {
        "top-p:0.95": lambda row: oracle.top_p(row, Fraction(95, 100)),
        "top-p:1/2": lambda row: oracle.top_p(row, Fraction(1, 2)),
        "top-k:7": lambda row: oracle.top_k(row, 7),
        "min-p:1/20": lambda row: oracle.min_p(row, Fraction(1, 20)),
    }
    for side in ROWS[ties](3):
        for stored in STORED[name](side):
            whole = law(name, stored, "temperature:4/5")
            for step, expected in cut.items():
                assert law(name, stored, f"temperature:4/5,{step}") == expected(whole), step


def test_roles_on_float_rows(tmp_path: Path) -> None:
    """Drafted with top-k, tested without: the exact total variation of the enumeration."""
    sides = [STORED["float32"](side) for side in generated(4)]
    for side, stored in zip(("target", "draft"), sides, strict=True):
        np.save(tmp_path / f"{side}.npy", stored)
    result = run(
        "check", "--target", tmp_path / "target.npy", "--draft", tmp_path / "draft.npy",
        "--kind", "logits", "-T", "4/5", "--role", "drafted_from=temperature:4/5,top-k:3",
        "--format", "json", "--exact", "--workers", "1",
    )  # fmt: skip
    assert result.code == 1, result.stderr
    different = 0
    for step, target_row, draft_row in zip(result.json()["steps"], *sides, strict=True):
        target = law("float32", target_row, "temperature:4/5")
        draft = law("float32", draft_row, "temperature:4/5")
        drafted = law("float32", draft_row, "temperature:4/5,top-k:3")
        expected = oracle.token_rule(target, draft, drafted_from=drafted)
        position = step["positions"][0]
        assert Fraction(position["total_variation"]["exact"]) == expected.total_variation
        assert Fraction(position["acceptance_rate"]["exact"]) == expected.acceptance
        different += position["verdict"] == "different"
    assert different >= 5


def whole_weights(name: str, stored: np.ndarray, recipe: str) -> np.ndarray:
    """The package's weights of a row over the whole vocabulary."""
    row = Row(FloatValues(stored), Kind.LOGITS, Stage.RAW, NumberFormat(name), "row")
    found = apply_recipe(parse_recipe(recipe), row, RowContext()).law
    weights = np.zeros(found.size)
    weights[slice(None) if found.ids is None else found.ids] = found.weights
    return weights


@pytest.mark.parametrize("recipe", ["temperature:4/5", "temperature:4/5,top-p:0.95", "top-k:50"])
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_whole_rows_of_real_captures(name: str, recipe: str, tmp_path: Path) -> None:
    """4,096 tokens, drafted with top-p and tested without: acceptance and distance exactly."""
    target = STORED[name](np.load(SAMPLES / "captures" / "target.npy")[[0, 1, 5, 6]])
    draft = STORED[name](np.load(SAMPLES / "captures" / "draft.npy")[[0, 1, 4, 5]])
    np.save(tmp_path / "target.npy", target)
    np.save(tmp_path / "draft.npy", draft)
    narrow = f"{recipe},top-p:4/5"
    sides = ("--target", tmp_path / "target.npy", "--draft", tmp_path / "draft.npy")
    options = ("--kind", "logits", "--numbers", name, "--recipe", recipe, "--exact", "--workers=1")
    honest, broken = (
        run("check", *sides, *options, "--format", "json", *more).json()["steps"]
        for more in ((), ("--role", f"drafted_from={narrow}"))
    )
    for i in range(4):
        goal, tested = (whole_weights(name, side[i], recipe) for side in (target, draft))
        position = honest[i]["positions"][0]
        assert position["verdict"] == "equal"
        assert Fraction(position["acceptance_rate"]["exact"]) == overlap(goal, tested)
        position = broken[i]["positions"][0]
        drafted = whole_weights(name, draft[i], narrow)
        acceptance, distance = drafted_elsewhere(goal, tested, drafted)
        assert Fraction(position["acceptance_rate"]["exact"]) == acceptance
        assert Fraction(position["total_variation"]["exact"]) == distance
        assert position["verdict"] == "different"


def drafted_elsewhere(
    target: np.ndarray, tested: np.ndarray, drafted: np.ndarray
) -> tuple[Fraction, Fraction]:
    """Acceptance rate and total variation where ``drafted`` is ``tested`` on fewer tokens.

    There a(x) = min(1, target/tested) and drafted(x) = tested(x) / K on the kept tokens, so the
    accepted mass is min(target, tested) / K there; the residual is that of target and tested.
    """
    goal, test, draft = map(fractions_of, (target, tested, drafted))
    kept = [y for y, value in enumerate(draft) if value]
    share = sum(test[y] for y in kept)
    assert all(draft[y] == test[y] / share for y in kept)
    accepted = {y: min(goal[y], test[y]) / share for y in kept}
    acceptance = exact_sum(list(accepted.values()))
    above = [max(p - q, Fraction(0)) for p, q in zip(goal, test, strict=True)]
    scale = (1 - acceptance) / exact_sum(above)
    output = [accepted.get(y, Fraction(0)) + scale * rest for y, rest in enumerate(above)]
    excess = [max(out - p, Fraction(0)) for out, p in zip(output, goal, strict=True)]
    return acceptance, exact_sum(excess)


def fractions_of(weights: np.ndarray) -> list[Fraction]:
    values = [Fraction(weight) for weight in weights.tolist()]
    total = exact_sum(values)
    return [value / total for value in values]


def exact_sum(values: list[Fraction]) -> Fraction:
    """Pairwise, so that the denominators grow late."""
    while len(values) > 1:
        values = [sum(values[i : i + 2], Fraction(0)) for i in range(0, len(values), 2)]
    return values[0]
