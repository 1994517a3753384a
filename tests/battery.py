"""A fixed set of checks, compared with the oracle: what differs, as names of cases.

On the real package there are none. `tests/planted_bugs.py` plants bugs that must each give one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tests import oracle
from tests.cli import run

Row = list[Fraction]
TIES = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
SKEWED = [Fraction(1, 16), Fraction(1, 2), Fraction(1, 4), Fraction(3, 16), Fraction(0)]


@dataclass(frozen=True)
class Case:
    """Rows as written, options, and the rows by role as they ought to be after processing."""

    name: str
    target: Row
    draft: Row
    roles: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    process: Any = None


def cases() -> Iterator[Case]:
    """Rational rows: free ones with every role moved, cuts on their boundaries, near-equal ones."""
    chance = random.Random(5)
    for i in range(8):
        target, draft, other = (_row(chance, 4 + i % 3) for _ in range(3))
        yield Case(f"plain {i}", target, draft)
        for role in ("reference", "accept_target", "residual_target"):
            yield Case(f"{role} {i}", target, draft, {role: other})
        for roles in (("accept_draft", "residual_draft"), ("residual_draft",), ("accept_draft",)):
            yield Case(f"one-hot {roles} {i}", target, draft, dict.fromkeys(roles, "one-hot"))
        full = oracle.normalise([value + 1 for value in draft])
        yield Case(f"tested {i}", target, draft, {"accept_draft": full, "drafted_from": other})
    for a, b in ((TIES, SKEWED), (SKEWED, TIES)):
        for option, value, process in (
            ("--top-p", "1/2", lambda row: oracle.top_p(row, Fraction(1, 2))),
            ("--top-p", "3/4", lambda row: oracle.top_p(row, Fraction(3, 4))),
            ("--top-k", "2", lambda row: oracle.top_k(row, 2)),
            ("--min-p", "1/2", lambda row: oracle.min_p(row, Fraction(1, 2))),
            ("-T", "1/2", lambda row: oracle.temperature(row, Fraction(1, 2))),
            ("-T", "0", lambda row: oracle.temperature(row, Fraction(0))),
        ):
            yield Case(f"{option} {value}", a, b, {}, (option, value), process)
    near = [TIES[0] - Fraction(1, 10**30), *TIES[1:4], TIES[4] + Fraction(1, 10**30)]
    yield Case("a sliver", TIES, TIES, {"accept_target": near, "residual_target": near})


def _row(chance: random.Random, size: int) -> Row:
    weights = [chance.choice([0, 1, 1, 2, 3, 7]) for _ in range(size)]
    weights[chance.randrange(size)] += 1
    return oracle.normalise([Fraction(weight) for weight in weights])


def differences(folder: Path, floats_first: bool = False) -> Iterator[str]:
    """Names of the cases whose report is not the oracle's, one by one."""
    rational = (case.name for case in cases() if not _rational(case, folder))
    floats = (name for name in FLOAT_CASES if not _float(name, folder))
    large = (name for name in LARGE_CASES if not large_agrees(name, folder))
    parts = (floats, large, rational) if floats_first else (rational, floats, large)
    yield from chain.from_iterable(parts)


def _rational(case: Case, folder: Path) -> bool:
    rows = [case.process(row) if case.process else row for row in (case.target, case.draft)]
    try:
        expected = oracle.token_rule(*rows, **case.roles)
    except ZeroDivisionError:
        return True  # a division by zero or an empty residual: tests of their own
    position: dict[str, Any] = {
        "target": list(map(str, case.target)),
        "draft": list(map(str, case.draft)),
        "roles": {
            role: row if isinstance(row, str) else list(map(str, row))
            for role, row in case.roles.items()
        },
    }
    path = folder / "case.json"
    path.write_text(json.dumps({"steps": [{"positions": [position]}]}), encoding="utf-8")
    return _agrees(["check", path, *case.options], [expected])


FLOAT_CASES = {
    "float plain": "",
    "float top-p": "temperature:4/5,top-p:0.9",
    "float top-k": "top-k:4",
    "float min-p": "min-p:1/4",
    "bfloat16 plain": "",
    "bfloat16 top-p": "top-p:0.9",
}


def _float_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows whose differences are a few units in the last place, with ties and masked tokens."""
    chance = np.random.default_rng(3)
    target = np.round(chance.normal(0, 2, (4, 24)) * 2) / 2
    draft = target.copy()
    draft[0] += chance.choice([0.0, 2.0**-20, -(2.0**-20)], 24)
    draft[0, 0] -= 2
    draft[1, ::3] += 1.5
    draft[2] = chance.permutation(target[2])
    draft[2, 4] = target[1, 7] = -np.inf
    # Normalisers that differ by a part in 1e17: float64 cannot tell which law is above the other.
    target[3, 5], draft[3, 5] = target[3].max() - 40, target[3].max() - 39
    return target, draft


def _float(name: str, folder: Path) -> bool:
    """The weights are computed here, by numpy; everything else in fractions by the oracle."""
    recipe = FLOAT_CASES[name]
    sides = _float_rows()
    stored = [side.astype(np.float32) for side in sides]
    if name.startswith("bfloat16"):
        stored = [side.view(np.uint32) >> 16 for side in stored]
        sides = tuple((side << 16).astype(np.uint32).view(np.float32) for side in stored)
        stored = [side.astype(np.uint16) for side in stored]
    for side, array in zip(("target", "draft"), stored, strict=True):
        np.save(folder / f"{side}.npy", array)
    expected = [
        oracle.token_rule(*(_processed(row, recipe) for row in rows))
        for rows in zip(*(side.astype(np.float64) for side in sides), strict=True)
    ]
    numbers = name.split()[0] if name.startswith("bfloat16") else "float32"
    options = ["--kind", "logits", "--numbers", numbers, "--recipe", recipe or "raw", "--exact"]
    return _agrees(
        ["check", "--target", folder / "target.npy", "--draft", folder / "draft.npy", *options],
        expected,
    )


def _processed(row: np.ndarray, recipe: str) -> Row:
    scale = 0.8 if "temperature:4/5" in recipe else 1.0
    weights = np.exp((row.astype(np.float64) - row.max()) / scale)
    law = oracle.normalise([Fraction(float(weight)) for weight in weights])
    if "top-p" in recipe:
        law = oracle.top_p(law, Fraction(9, 10))
    if "top-k" in recipe:
        law = oracle.top_k(law, 4)
    return oracle.min_p(law, Fraction(1, 4)) if "min-p" in recipe else law


LARGE_CASES = {
    "large float32": np.float32,
    "large float16": np.float16,
    "large float64": np.float64,
}
LARGE = 10_000


def _large_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows over more tokens than a block holds. The draft is the target with most tokens shuffled,
    so that the normalisers agree but for the last token: tokens left in place hang on 1e-17."""
    chance = np.random.default_rng(8)
    target = np.round(chance.normal(0, 3, (2, LARGE)) * 16) / 16
    draft = target.copy()
    draft[:, 40:-1] = chance.permutation(draft[:, 40:-1], axis=1)
    top = target.max()
    target[:, -1], draft[:, -1] = (top - 40, top - 39), (top - 39, top - 40)
    return target, draft


def large_agrees(name: str, folder: Path) -> bool:
    """The acceptance rate of rows too large for the oracle's double loop, by integers."""
    sides = [side.astype(LARGE_CASES[name]) for side in _large_rows()]
    for side, array in zip(("target", "draft"), sides, strict=True):
        np.save(folder / f"{side}.npy", array)
    result = run(
        "check", "--target", folder / "target.npy", "--draft", folder / "draft.npy",
        "--kind", "logits", "--format", "json", "--workers", "1", "--exact", "--show", "0",
    )  # fmt: skip
    if result.code != 0:
        return False
    expected = [
        overlap(*(np.exp(row.astype(np.float64) - row.max()) for row in rows))
        for rows in zip(*sides, strict=True)
    ]
    positions = [step["positions"][0] for step in result.json()["steps"]]
    return [Fraction(p["acceptance_rate"]["exact"]) for p in positions] == expected and all(
        Fraction(p["rejected_mass"]["exact"]) == 1 - rate
        for p, rate in zip(positions, expected, strict=True)
    )


def overlap(target: np.ndarray, draft: np.ndarray) -> Fraction:
    """sum over x of min(target(x), draft(x)) of two laws given as float64 weights, exactly."""
    left, right = ([int(Fraction(w) * 2**1074) for w in row.tolist()] for row in (target, draft))
    above, below = sum(left), sum(right)
    total = sum(min(p * below, q * above) for p, q in zip(left, right, strict=True))
    return Fraction(total, above * below)


def _agrees(arguments: list[Any], expected: list[oracle.Position]) -> bool:
    result = run(*arguments, "--format", "json", "--workers", "1", "--show", "64")
    slips = ("AttributeError", "TypeError", "NameError")
    assert not any(slip in result.stderr for slip in slips), result.stderr
    if result.code not in (0, 1):
        return False
    positions = [step["positions"][0] for step in result.json()["steps"]]
    return len(positions) == len(expected) and all(map(_same, positions, expected))


def _same(position: dict[str, Any], expected: oracle.Position) -> bool:
    tokens = sorted(position["tokens"], key=lambda token: token["id"])
    found = {
        name: [token[name] and Fraction(token[name]["exact"]) for token in tokens]
        for name in ("accepted", "recovered", "output", "residual")
    }
    return (
        found["accepted"] == expected.accepted
        and found["recovered"] == expected.recovered
        and found["output"] == expected.output
        and found["residual"] == (expected.residual or [None] * len(tokens))
        and Fraction(position["acceptance_rate"]["exact"]) == expected.acceptance
        and Fraction(position["rejected_mass"]["exact"]) == expected.rejected
        and Fraction(position["total_variation"]["exact"]) == expected.total_variation
        and position["verdict"] == ("different" if expected.total_variation else "equal")
    )
