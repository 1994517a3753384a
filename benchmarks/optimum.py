"""Time of the optimum of n drafts as a ratio to the float32 token check of the same rows.

    python -m benchmarks.optimum [--pairs 16] [--rounds 5]

The check is the exact job of `benchmarks.speed`: one step of one pair of rows of logits at T = 0.8,
verified and reported. The optimum is `drafts_optimum` on the processed laws of the pair, n drafts
drawn i.i.d., its exact value included; "with weights" counts the processing of the rows too. Both
take turns over the pairs; printed are medians over rounds of the ratio of the two times. One
thread, processor time. It fails where the float32 rows take more than five times the check.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
from statistics import median
from time import process_time

from benchmarks.rows import VOCABULARY, pairs, step_of
from benchmarks.speed import TEMPERATURE, exact_job, settings
from specdist.model.capture import Step
from specdist.model.figure import Figure
from specdist.model.row import NumberFormat
from specdist.processing import RowContext, apply_recipe, parse_recipe
from specdist.verify.joint.optimum import drafts_optimum
from specdist.verify.plan import Plans

DRAFTS = (2, 4, 8)
ALLOWED = 5


def optimum_job(step: Step, count: int) -> tuple[Figure, float]:
    """The optimum, and the seconds it took without the weights of the rows."""
    recipe = parse_recipe(f"temperature:{TEMPERATURE}")
    (position,) = step.positions
    target, draft = (
        apply_recipe(recipe, row, RowContext()).law for row in (position.target, position.draft)
    )
    start = process_time()
    found = drafts_optimum(target, draft, count)
    if found is None:
        raise SystemExit(f"{step.id}: no optimum for {count} drafts")
    return found, process_time() - start


def compare(numbers: NumberFormat, count: int, rounds: int, spread: float) -> None:
    """Prints one line for each number of drafts."""
    rows = pairs(numbers, count, spread)
    steps = [step_of(i, target, draft, numbers) for i, (target, draft) in enumerate(rows)]
    chosen = settings(False)
    known = Plans(chosen)
    exact_job(steps[0], chosen, known)
    name = f"{numbers.value}, N(0, {spread:g}^2)"
    for drafts in DRAFTS:
        whole, alone, checks = [], [], []
        for _ in range(rounds):
            start = process_time()
            for step in steps:
                exact_job(step, chosen, known)
            check = process_time() - start
            start = process_time()
            found = [optimum_job(step, drafts) for step in steps]
            whole.append((process_time() - start) / check)
            alone.append(sum(seconds for _, seconds in found) / check)
            checks.append(check / count)
        gaps = max(float(figure.bound or 0) for figure, _ in found)
        print(
            f"{name:<22} n = {drafts}: optimum / check {median(alone):4.2f}, with weights "
            f"{median(whole):4.2f} (check {1e3 * median(checks):.1f} ms a pair, bound {gaps:.0e})",
            flush=True,
        )
        if numbers is NumberFormat.FLOAT32 and median(whole) > ALLOWED:
            raise SystemExit(f"more than {ALLOWED} times the token check")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    print(f"V = {VOCABULARY:,}, {chosen.pairs} pairs, T = {TEMPERATURE}, one thread")
    for spread in (3.0, 6.0):
        compare(NumberFormat.FLOAT32, chosen.pairs, chosen.rounds, spread)
    compare(NumberFormat.BFLOAT16, chosen.pairs, chosen.rounds, 3.0)


if __name__ == "__main__":
    main()
