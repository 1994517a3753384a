"""Time of every acceptance rule as a ratio to token verification, in one run.

    python -m benchmarks.rules [--pairs 4] [--rounds 3] [--rule TEXT ...]

The job per pair of rows of logits, at T = 0.8: their weights, the outcomes of the rule, and the
comparison of the output law with the reference; for a lossy rule that includes the exact total
variation. Both rules take turns over the pairs; printed are the ratio of the whole jobs, that of
the outcomes alone, both as medians over rounds, the time a pair, and the bound of the variation.
One thread, processor time.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
from collections.abc import Sequence
from statistics import median
from time import process_time

from benchmarks.rows import VOCABULARY, pairs, step_of
from specdist.exact.law import Law
from specdist.model.capture import Step
from specdist.model.role import DRAFT_ROLES, TARGET_ROLES
from specdist.model.row import NumberFormat
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.rules.registry import read_rule
from specdist.verify.comparison import Comparison, compare
from specdist.verify.setup import Setup

TEMPERATURE = "0.8"
RULES = (
    "token",
    "token:recovery=target",
    "token:recovery=argmax",
    "exact-match",
    "one-hot",
    "classical",
    "lenience:1/2",
    "lenience:1/2:recovery=scaled",
    "cascade:1/10:recovery=target",
    "cascade:1/10:recovery=set",
    "relaxed:10:delta=3/5",
    "top-beta:10:factor=1/10",
    "mixture:1/2",
    "divergence-gate:1/2",
    "judge:0+1+2:recovery=residual",
    "synthetic:7/10",
    "always",
    "optimal-loss:1/10",
    "shared-noise:minhash-dart",
    "shared-noise:minhash",
    "shared-noise:gumbel",
    "shared-noise:inverse-cdf",
    "typical:9/100:delta=3/10:recovery=argmax",
    "thresholds",
    "thresholds:single=1/2:acc=4/5",
    "thresholds:children=2+1+0",
    "cactus:1/10",
)


def verified(step: Step, rule: str) -> tuple[Comparison, float]:
    """The comparison, and the seconds that went into the outcomes."""
    recipe = parse_recipe(f"temperature:{TEMPERATURE}")
    (position,) = step.positions
    target, draft = (
        apply_recipe(recipe, row, RowContext()).law for row in (position.target, position.draft)
    )
    laws: dict[str, Law] = dict.fromkeys(TARGET_ROLES, target) | dict.fromkeys(DRAFT_ROLES, draft)
    setup = Setup(laws, frozenset(), *read_rule(rule))  # type: ignore[arg-type]
    vectors = setup.role_laws()
    start = process_time()
    outcomes = setup.outcomes(vectors)
    spent = process_time() - start
    return compare(outcomes, vectors[TARGET_ROLES[0]], setup.lossless_by_roles), spent


def seconds(steps: Sequence[Step], rule: str) -> tuple[float, float]:
    """Time a pair: the whole job, the outcomes alone."""
    start = process_time()
    spent = sum(verified(step, rule)[1] for step in steps)
    return (process_time() - start) / len(steps), spent / len(steps)


def measure(numbers: NumberFormat, rules: Sequence[str], count: int, rounds: int) -> None:
    """Prints one line a rule."""
    rows = pairs(numbers, count)
    steps = [step_of(i, target, draft, numbers) for i, (target, draft) in enumerate(rows)]
    seconds(steps, "token")
    print(f"{numbers.value}, V = {VOCABULARY:,}, T = {TEMPERATURE}, {count} pairs, one thread")
    print(f"  {'rule':<42}    job  outcomes        job  verdict")
    for rule in rules:
        plain, found = [], []
        for _ in range(rounds):
            plain.append(seconds(steps, "token"))
            found.append(seconds(steps, rule))
        whole, alone = (
            median(mine[i] / other[i] for mine, other in zip(found, plain, strict=True))
            for i in (0, 1)
        )
        compared, _ = verified(steps[0], rule)
        bound = compared.bound
        told = f"bound {float(bound):.0e}" if bound else "exact"
        print(
            f"  {rule:<42} {whole:6.2f}    {alone:6.2f} {1e3 * median(t for t, _ in found):7.2f} ms"
            f"  {compared.verdict.value:<9} {told}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rule", action="append", help="only these rules")
    chosen = parser.parse_args()
    for numbers in (NumberFormat.BFLOAT16, NumberFormat.FLOAT32):
        measure(numbers, chosen.rule or RULES, chosen.pairs, chosen.rounds)


if __name__ == "__main__":
    main()
