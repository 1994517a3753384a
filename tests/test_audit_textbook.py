"""The textbook adapters that are shipped: one lossless, one that draws again from the target."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from specdist.audit.context import Setup
from specdist.audit.measure import measure
from specdist.audit.program import Program
from specdist.audit.tables import Table
from tests.cli import ROOT, run
from tests.oracle_packages import DRAFT, ONE, TARGET, first_token, step, token_rule, variation

FILES = {name: ROOT / "sample_inputs/audit" / f"textbook_{name}.py" for name in ("numpy", "faulty")}


def adapter(name: str) -> Callable[[], Any]:
    spec = importlib.util.spec_from_file_location(f"textbook_{name}", FILES[name])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[], Any] = module.step
    return found


def law(name: str, gamma: int) -> dict[tuple[int, ...], Fraction]:
    """Of one step over the same rows after every prefix; their quotients are exact in float32."""
    table = Table("one pair of rows", 3, lambda _: TARGET, lambda _: DRAFT)
    setup = Setup(gamma=gamma, steps=1, framework="numpy")
    return measure(Program(adapter(name), setup, table), 10_000).emitted


@pytest.mark.parametrize("gamma", [1, 2])
def test_the_textbook_has_the_law_of_its_rule(gamma: int) -> None:
    assert law("numpy", gamma) == token_rule(TARGET, DRAFT, gamma)


@pytest.mark.parametrize("gamma", [1, 2])
def test_the_fault_has_the_law_of_a_second_draw_from_the_target(gamma: int) -> None:
    """By hand, first token: min(p, q) + (1/4) p = (3/8, 5/16, 5/16), total variation 1/8.

    A single uniform is a Python float, which numpy 2 compares with float32 in float32: from half
    a spacing below a ratio of 1/2 or 1 on it is that ratio, and rejects.
    """
    found = law("faulty", gamma)
    ratios = [p / q for p, q in zip(TARGET, DRAFT, strict=True)]
    kept = [ONE if ratio > 1 else ratio * (1 - Fraction(1, 2**25)) for ratio in ratios]
    assert found == step(TARGET, DRAFT, gamma, kept.__getitem__, lambda _: TARGET, TARGET)
    first = (Fraction(3, 8), Fraction(5, 16), Fraction(5, 16))
    for one, other in zip(first_token(found, 3), first, strict=True):
        assert abs(one - other) < Fraction(1, 2**20)
    assert abs(variation(found, TARGET) - Fraction(1, 8)) < Fraction(1, 2**20)


def test_the_command_passes_the_textbook() -> None:
    done = run(
        "audit", f"{FILES['numpy']}:step", "--steps", 1, "--framework", "numpy", "--format", "json"
    )
    assert done.code == 0, done.stderr
    assert done.json()["verdict"] == "within-tolerance"


def test_the_command_finds_the_fault_in_its_smallest_case() -> None:
    done = run(
        "audit", f"{FILES['faulty']}:step", "--steps", 1, "--framework", "numpy", "--format", "json"
    )
    assert done.code == 1, done.stderr
    report = done.json()
    assert report["verdict"] == "different"
    assert [finding["ident"] for finding in report["findings"]] == ["output-mismatch"]
