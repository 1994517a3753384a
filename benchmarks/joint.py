"""Time of steps over conditional models: blocks, trees by enumeration and by recursion.

    python -m benchmarks.joint [--rounds 3]

Every prefix has rows of its own, small fractions from a fixed seed. A job is a whole step: laws,
outcomes, joint law over draft tokens + 1, comparison with the target. Printed are the median
processor time of one thread, the ratio to token verification of the same chain in the same run,
how many outcomes were listed, and the peak memory of the process so far.
"""

from __future__ import annotations

import argparse
import random
import resource
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from statistics import median
from time import process_time

from specdist.model.capture import Step
from specdist.model.conditional import ConditionalRows, Models, Prefix
from specdist.model.draft_tree import DraftTree
from specdist.model.options import ProcessingOptions
from specdist.model.row import Kind, NumberFormat, RationalValues, Row, Stage
from specdist.model.settings import CheckSettings
from specdist.verify.joint.joint_setup import JointSetup
from specdist.verify.joint.step import joint_setup
from specdist.verify.joint.verdict import checked_setup
from specdist.verify.plan import Plans

_PARTS = 60


@dataclass(frozen=True)
class Job:
    """One line of the benchmark; ``listed`` enumerates proposals where a recursion would do."""

    title: str
    size: int
    tree: DraftTree
    rule: str
    listed: bool = False


JOBS = (
    Job("chain of 4, token", 8, DraftTree.chain(4), "token"),
    Job("chain of 4, block", 8, DraftTree.chain(4), "block"),
    Job("chain of 4, block, by proposals", 8, DraftTree.chain(4), "block", True),
    Job("6 nodes, rrs, by proposals", 4, DraftTree.levels([2, 2]), "rrs", True),
    Job("6 nodes, rrs", 4, DraftTree.levels([2, 2]), "rrs"),
    Job("6 nodes, traversal, by proposals", 4, DraftTree.levels([2, 2]), "traversal", True),
    Job("14 nodes, rrs", 4, DraftTree.levels([2, 2, 2]), "rrs"),
    Job("14 nodes, traversal", 4, DraftTree.levels([2, 2, 2]), "traversal"),
)


def table(size: int, depth: int, random_rows: random.Random) -> ConditionalRows:
    """A row of positive fractions for every prefix of up to ``depth`` tokens."""
    rows: dict[Prefix, Row] = {}
    for length in range(depth + 1):
        for prefix in product(range(size), repeat=length):
            cuts = sorted(random_rows.sample(range(1, _PARTS), size - 1))
            parts = [b - a for a, b in zip([0, *cuts], [*cuts, _PARTS], strict=True)]
            values = RationalValues(tuple(Fraction(part, _PARTS) for part in parts))
            rows[prefix] = Row(
                values, Kind.PROBABILITIES, Stage.RAW, NumberFormat.DECIMAL, "benchmark"
            )
    return ConditionalRows("benchmark", rows)


def prepared(job: Job) -> tuple[JointSetup, CheckSettings]:
    """The step of a job, not enumerated yet."""
    source = random.Random(7)
    models = Models(
        table(job.size, job.tree.depth, source), (table(job.size, job.tree.depth - 1, source),)
    )
    settings = CheckSettings(overrides=ProcessingOptions(rule=job.rule))
    step = Step("0", "benchmark", (), models=models, tree=job.tree)
    setup = joint_setup(step, Plans(settings).of(step), settings)
    if job.listed and setup.joint is not None:
        setup = replace(setup, joint=replace(setup.joint, walk=None))
    return setup, settings


def measured(job: Job) -> tuple[float, int, str]:
    """Processor seconds of the whole step, outcomes listed, and its verdict."""
    setup, settings = prepared(job)
    start = process_time()
    checked = checked_setup(setup, job.tree.depth + 1, settings)
    return process_time() - start, checked.gathered.listed, checked.verdict.value


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{'step':40}{'seconds':>8}{'ratio':>8}{'listed':>10}{'peak MB':>9}  verdict")
    base = 0.0
    for job in JOBS:
        runs = [measured(job) for _ in range(rounds)]
        seconds = median(run[0] for run in runs)
        base = base or seconds
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        title = f"V = {job.size}, {job.title}"
        print(
            f"{title:34}{seconds:9.2f}{seconds / base:8.1f}{runs[0][1]:10,}{peak:9}  {runs[0][2]}"
        )


if __name__ == "__main__":
    main()
