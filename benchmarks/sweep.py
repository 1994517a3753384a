"""A sweep of N settings against N checks of the same rows, in one run.

    python -m benchmarks.sweep [--settings 20] [--rows 64] [--workers N]

The rows are two float32 dumps of 151,936 tokens; the settings are temperatures, with ``--top-p`` a
grid of two axes. Each check opens the dumps anew and starts workers of its own, as a command line
does; what else a command line needs to start (Python itself) is not counted. Both grow in
proportion to the number of settings: 1,000 settings take 1,000 / N times what is printed. Processor
seconds count this process and its workers.
"""

from __future__ import annotations

import argparse
import os
import resource
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from specdist.model.options import ProcessingOptions
from specdist.model.row import Kind
from specdist.model.settings import CheckSettings, ReadingSettings, Settings
from specdist.model.sweep import Axis
from specdist.readers import open_pair
from specdist.verify.run import check
from specdist.verify.sweep.kept import kept
from specdist.verify.sweep.run import Sweep, run_sweep

VOCABULARY = 151_936
READING = ReadingSettings(kind=Kind.LOGITS)


def write(folder: Path, rows: int) -> tuple[str, str]:
    """A pair of dumps whose sides differ by a little noise."""
    rng = np.random.default_rng(1)
    target = (rng.normal(size=(rows, VOCABULARY)) * 3).astype(np.float32)
    draft = target + (rng.normal(size=target.shape) / 2).astype(np.float32)
    names = str(folder / "target.npy"), str(folder / "draft.npy")
    for name, array in zip(names, (target, draft), strict=True):
        np.save(name, array)
    return names


def axes_of(settings: int, cut: bool) -> tuple[Axis, ...]:
    """Temperatures from 1/2 on; with ``cut`` half as many, under two values of top-p."""
    count = max(1, settings // 2) if cut else settings
    numbers = tuple(Fraction(1, 2) + Fraction(i, count) for i in range(count))
    axes = [Axis("temperature", tuple(map(str, numbers)), numbers)]
    return (*axes, Axis("top-p", ("0.9", "0.95"))) if cut else tuple(axes)


def spent() -> tuple[float, float]:
    """Seconds of the clock, and of the processors for this process and its finished workers."""
    own, others = (resource.getrusage(who) for who in (0, resource.RUSAGE_CHILDREN))
    return perf_counter(), own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def since(start: tuple[float, float]) -> tuple[float, float]:
    now = spent()
    return now[0] - start[0], now[1] - start[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--top-p", action="store_true")
    asked = parser.parse_args()
    axes = axes_of(asked.settings, asked.top_p)

    def settings_of(values: tuple[str, ...]) -> Settings:
        options = {axis.name: value for axis, value in zip(axes, values, strict=True)}
        overrides = ProcessingOptions(target=options)
        return Settings(READING, CheckSettings(overrides=overrides, workers=asked.workers))

    sweep = Sweep(axes, settings_of)
    with TemporaryDirectory() as folder:
        target, draft = write(Path(folder), asked.rows)
        start = spent()
        report = run_sweep(sweep, kept([open_pair(target, draft, READING)], READING), shown={})
        swept = since(start)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = spent()
        alone = []
        for values in sweep.settings():
            running = check([open_pair(target, draft, READING)], settings_of(values), retain=False)
            for _ in running.results():
                pass
            alone.append(running.report().summary)
        checked = since(start)
    assert [point.summary for point in report.points] == alone
    count = len(report.points)
    print(f"{count} settings, {asked.rows} rows of {VOCABULARY:,} tokens, {asked.workers} workers")
    for name, (clock, processor) in (("sweep", swept), (f"{count} checks", checked)):
        print(f"  {name:<12}{clock:8.2f} s   {processor:8.2f} s of processors")
    ratio, work = (a / b for a, b in zip(swept, checked, strict=True))
    print(f"  ratio       {ratio:8.2f}     {work:8.2f}")
    print(f"  peak memory of the sweep {before:.0f} MB, without its workers")


if __name__ == "__main__":
    main()
