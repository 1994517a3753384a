"""Bounds against the truth: complete rows, truncated in many ways, through the command line.

Whatever a truncated capture proves must hold for the complete one behind it: acceptance rate and
total variation lie in the intervals, and neither `equal` nor `different` is said where the complete
rows say otherwise. Planted verifiers that renormalise, or that call what is bounded equal, are
caught by the same comparison.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import ValidationError

from specdist.exact.law import RationalLaw
from specdist.model.row import ListedValues, RationalValues
from specdist.model.verdict import Verdict
from specdist.processing.partial_row import PartialProcessed
from tests.cli import exact
from tests.partial_captures import check, ends

F = Fraction
RECIPES = (
    [],
    [],
    ["-T", "1/2"],
    ["-T", "2"],
    ["--top-k", "2"],
    ["--top-p", "4/5"],
    ["--min-p", "1/4"],
)
ROLES = (
    [], [], [],
    ["--role", "drafted_from=top-k:2"],
    ["--role", "accept_draft=temperature:1/2"],
    ["--role", "residual_draft=temperature:1/2"],
    ["--role", "accept_target=temperature:1/2"],
    ["--role", "accept_target=temperature:2", "--role", "residual_target=temperature:2"],
    ["--role", "accept_draft=one-hot", "--role", "residual_draft=one-hot"],
    ["--role", "residual_draft=one-hot"],
)  # fmt: skip
RULES = ([], [], ["--rule", "exact-match"], ["--rule", "one-hot"], ["--uniform", "16"])
ZERO = ["--zero-draft", "accept", "--empty-residual", "target"]


def law(random: Random, size: int) -> list[Fraction]:
    """Many zeros, many ties, sometimes one token that has nearly everything."""
    weights = [random.choice([0, 0, 1, 1, 2, 3, 5, 8, 40]) for _ in range(size)]
    weights[random.randrange(size)] += 1
    return [F(weight, sum(weights)) for weight in weights]


def truncated(random: Random, row: list[Fraction]) -> Any:
    """A row known in part that is true of the complete one: a few of its tokens, the likeliest or
    any, with a cap, a support, or a half width within which the stored numbers are off."""
    size = len(row)
    order = sorted(range(size), key=lambda x: (-row[x], x))
    count = random.randint(1, size)
    chosen = order[:count] if random.random() < 0.6 else random.sample(order, count)
    off = random.choice([F(0), F(0), F(1, 100)])
    stored = {x: max(row[x] + off * random.choice([-1, 0, 1]), F(0)) for x in chosen}
    found: dict[str, Any] = {"listed": {str(x): str(value) for x, value in stored.items()}}
    if off:
        found["half_width"] = str(off)
    others = [row[x] for x in range(size) if x not in chosen]
    if random.random() < 0.5:
        found["cap"] = str(max(others, default=F(0)))
    if random.random() < 0.2:
        found["support"] = sorted({x for x in range(size) if row[x]} | set(chosen))
    return found


def capture(random: Random) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """A complete capture, the same truncated, and the options of both."""
    size = random.randint(3, 6)
    target, draft = law(random, size), law(random, size)
    open_ended = random.random() < 0.15
    known = {
        "target": truncated(random, target) if random.random() < 0.85 else list(map(str, target)),
        "draft": truncated(random, draft) if random.random() < 0.85 else list(map(str, draft)),
    }
    if not open_ended:
        known["vocab_size"] = size
    whole = {"target": list(map(str, target)), "draft": list(map(str, draft))}
    options = [*random.choice(RECIPES), *random.choice(ROLES), *random.choice(RULES), *ZERO]
    return whole, known, options


def holds(whole: Any, known: Any) -> str:
    """Compares two reports of one step: what the truncated rows say, and the truth. Gives what was
    compared; an AssertionError is a false claim."""
    (truth,), (said,) = whole["steps"][0]["positions"], known["steps"]
    claims = {"equal": {"equal"}, "different": {"different"}}
    if said["verdict"] in claims and truth["verdict"] in ("equal", "different"):
        assert truth["verdict"] in claims[said["verdict"]], said["findings"]
    for part in said["bounded"]:
        for name in ("acceptance_rate", "reference_acceptance_rate", "total_variation"):
            least, most = ends(part[name])
            value, bound = exact(truth[name]), F(truth[name].get("bound", 0))
            assert least - bound <= value <= most + bound, (name, least, value, most)
        return "bounded"
    (position,) = said["positions"]
    off = F(truth["acceptance_rate"].get("bound", 0)) + F(
        position["acceptance_rate"].get("bound", 0)
    )
    gap = exact(position["acceptance_rate"]) - exact(truth["acceptance_rate"])
    assert abs(gap) <= off, "an exact rate of rows that leave nothing open"
    return "exact"


def compared(folder: Path, seed: int) -> str:
    """What one random capture comes to; "" where its options fit the rows not at all."""
    whole, known, options = capture(Random(seed))
    _, truth = check(folder, whole, *options)
    if truth is None:
        return ""
    _, said = check(folder, known, *options)
    return "refused" if said is None else holds(truth, said)


BATCHES = range(12)
EACH = 30


@pytest.mark.parametrize("batch", BATCHES)
def test_the_truth_lies_inside(batch: int, tmp_path: Path) -> None:
    found = [compared(tmp_path, seed) for seed in range(batch * EACH, (batch + 1) * EACH)]
    assert found.count("bounded") > EACH // 3
    assert found.count("exact") > 0
    assert found.count("refused") + found.count("") < EACH // 3


def renormalising(recipe: Any, row: Any, context: Any) -> PartialProcessed:
    """The planted bug: the listed part divided by its sum."""
    values = row.values
    assert isinstance(values, ListedValues)
    assert isinstance(values.values, RationalValues)
    by_token = dict(zip(values.ids, values.values.values, strict=True))
    total = sum(by_token.values(), F(0)) or F(1)
    whole = tuple(by_token.get(x, F(0)) / total for x in range(values.size))
    if not any(whole):
        whole = (F(1), *whole[1:])
    return PartialProcessed(RationalLaw(whole), (), (id(row), recipe), values.size)


def caught(folder: Path) -> int:
    """How many of some captures show a false claim."""
    count = 0
    for seed in range(60):
        try:
            compared(folder, seed)
        except (AssertionError, ValidationError):
            count += 1
    return count


def test_a_verifier_that_renormalises_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specdist.verify.position_laws.apply_partial", renormalising)
    assert caught(tmp_path) > 10


def test_a_verifier_that_calls_bounds_equal_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "specdist.verify.partial.position.judged", lambda variation, settings: Verdict.EQUAL
    )
    assert caught(tmp_path) > 5
