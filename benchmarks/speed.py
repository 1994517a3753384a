"""Speed of exact verification as a ratio to the same job in plain inexact numpy, in one run.

    python -m benchmarks.speed [--pairs 64] [--rounds 5]

The numpy job per pair: convert to float64, divide by T, softmax, softmax, minimum, sum; with
``top-p`` each softmax is cut after `np.argsort`. One thread. Both jobs take turns over blocks of
pairs, and the ratio printed is the median over rounds of the ratio of the two times, so that a
noisy machine disturbs both alike. The enumeration with `Fraction` runs once over one pair, with the
exact job timed before and after it.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
from collections.abc import Callable
from fractions import Fraction
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.rows import PAIRS, VOCABULARY, pairs, step_of
from specdist.model.capture import Step
from specdist.model.options import ProcessingOptions
from specdist.model.row import NumberFormat
from specdist.model.settings import CheckSettings
from specdist.model.verdict import Verdict
from specdist.verify.plan import Plans
from specdist.verify.step import verify_step

TEMPERATURE = 0.8
TOP_P = 0.95


def softmax(logits: Any) -> Any:
    scaled = logits / TEMPERATURE
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


def top_p(law: Any) -> Any:
    order = np.argsort(-law)
    kept = order[: int(np.searchsorted(np.cumsum(law[order]), TOP_P)) + 1]
    cut = np.zeros_like(law)
    cut[kept] = law[kept]
    return cut / cut.sum()


def as_float64(array: Any) -> Any:
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def numpy_job(target: Any, draft: Any, cut: bool) -> float:
    laws = [softmax(as_float64(row)) for row in (target, draft)]
    laws = [top_p(law) for law in laws] if cut else laws
    return float(np.minimum(*laws).sum())


def settings(cut: bool) -> CheckSettings:
    values = {"temperature": "0.8"} | ({"top-p": "0.95"} if cut else {})
    return CheckSettings(overrides=ProcessingOptions(target=values), workers=1)


def exact_job(step: Step, chosen: CheckSettings, known: Plans | None = None) -> float:
    result = verify_step(step, chosen, known)
    if result.verdict is not Verdict.EQUAL:
        raise SystemExit(f"{step.id}: verdict {result.verdict}, expected equal")
    return result.positions[0].acceptance_rate.approx


def fraction_job(target: Any, draft: Any) -> Fraction:
    """The plain enumeration with `Fraction`."""
    laws = []
    for row in (target, draft):
        logits = as_float64(row)
        weights = [Fraction(w) for w in np.exp((logits - logits.max()) / TEMPERATURE).tolist()]
        total = sum(weights, Fraction(0))
        laws.append([weight / total for weight in weights])
    accepted = [min(goal, drafted) for goal, drafted in zip(*laws, strict=True)]
    residual = [max(goal - drafted, Fraction(0)) for goal, drafted in zip(*laws, strict=True)]
    rate = sum(accepted, Fraction(0))
    mass = sum(residual, Fraction(0))
    output = [a + (1 - rate) * r / mass for a, r in zip(accepted, residual, strict=True)]
    if output != laws[0]:
        raise SystemExit("the enumeration with Fraction disagrees with the law it must give")
    return rate


def timed(job: Callable[[], object]) -> float:
    start = perf_counter()
    job()
    return perf_counter() - start


def compare(numbers: NumberFormat, cut: bool, count: int, rounds: int, spread: float) -> None:
    """Prints one line."""
    rows = pairs(numbers, count, spread)
    steps = [step_of(i, target, draft, numbers) for i, (target, draft) in enumerate(rows)]
    chosen = settings(cut)
    for (target, draft), step in zip(rows[:2], steps[:2], strict=True):
        difference = abs(numpy_job(target, draft, cut) - exact_job(step, chosen))
        if difference > (1e-3 if cut else 1e-9):  # ties at the cut
            raise SystemExit(f"{numbers}: acceptance differs from numpy's by {difference}")
    known = Plans(chosen)
    ratios, exact_times, numpy_times = [], [], []
    for _ in range(rounds):
        plain = timed(lambda: [numpy_job(target, draft, cut) for target, draft in rows])
        exact = timed(lambda: [exact_job(step, chosen, known) for step in steps])
        ratios.append(exact / plain)
        exact_times.append(exact / count)
        numpy_times.append(plain / count)
    job = numbers.value + (", top-p 0.95" if cut else "")
    job += f", N(0, {spread:g}^2)" if spread != 3 else ""
    print(
        f"{job:<26} exact / numpy {median(ratios):5.2f}  (rounds {min(ratios):.2f} to "
        f"{max(ratios):.2f}; numpy {1e3 * median(numpy_times):.2f} ms, exact "
        f"{1e3 * median(exact_times):.2f} ms a pair)",
        flush=True,
    )


def against_fractions(numbers: NumberFormat) -> None:
    """Prints how many times faster than the plain enumeration a pair is: exact, Fraction, exact."""
    target, draft = pairs(numbers, 1)[0]
    step, chosen = step_of(0, target, draft, numbers), settings(False)
    known = Plans(chosen)

    def exact() -> float:
        return median(timed(lambda: exact_job(step, chosen, known)) for _ in range(50))

    before = exact()
    plain = timed(lambda: fraction_job(target, draft))
    seconds = (before + exact()) / 2
    print(
        f"{numbers.value:<26} {plain / seconds:,.0f} times faster than Fraction "
        f"({plain:.2f} s and {1e3 * seconds:.2f} ms a pair)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    print(f"V = {VOCABULARY:,}, {chosen.pairs} pairs, T = {TEMPERATURE}, one thread")
    for numbers in (NumberFormat.BFLOAT16, NumberFormat.FLOAT16, NumberFormat.FLOAT32):
        compare(numbers, False, chosen.pairs, chosen.rounds, 3.0)
    for numbers in (NumberFormat.BFLOAT16, NumberFormat.FLOAT16, NumberFormat.FLOAT32):
        compare(numbers, True, chosen.pairs, chosen.rounds, 3.0)
    compare(NumberFormat.FLOAT32, False, chosen.pairs, chosen.rounds, 6.0)
    for numbers in (NumberFormat.BFLOAT16, NumberFormat.FLOAT32):
        against_fractions(numbers)


if __name__ == "__main__":
    main()
