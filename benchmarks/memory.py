"""Peak resident size while checking a pair of dumps of 2 GB, the largest of any one process.

python -m benchmarks.memory [--gigabytes 2] [--format npy|safetensors] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.rows import VOCABULARY, pairs
from specdist.model.row import NumberFormat


def write_dump(path: Path, rows: list[np.ndarray], count: int) -> None:  # type: ignore[type-arg]
    """A float32 .npy of ``count`` rows, the given ones repeated."""
    header = np.lib.format.header_data_from_array_1_0(np.empty((1, VOCABULARY), np.float32))
    header["shape"] = (count, VOCABULARY)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for index in range(count):
            file.write(rows[index % len(rows)].tobytes())


def write_safetensors(path: Path, rows: list[np.ndarray], count: int) -> None:  # type: ignore[type-arg]
    """The same rows as a tensor of a safetensors file."""
    size = 4 * count * VOCABULARY
    entry = {"dtype": "F32", "shape": [count, VOCABULARY], "data_offsets": [0, size]}
    header = json.dumps({"logits": entry}).encode()
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for index in range(count):
            file.write(rows[index % len(rows)].tobytes())


WRITERS = {"npy": write_dump, "safetensors": write_safetensors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--format", choices=WRITERS, default="npy")
    parser.add_argument("--workers", default="")
    parser.add_argument("--report", default="text")
    chosen = parser.parse_args()
    count = int(chosen.gigabytes * 1e9 / (2 * 4 * VOCABULARY))
    made = pairs(NumberFormat.FLOAT32, 8)
    with TemporaryDirectory() as folder:
        for side, name in enumerate(("target", "draft")):
            path = Path(folder) / f"{name}.{chosen.format}"
            WRITERS[chosen.format](path, [pair[side] for pair in made], count)
        command = [str(Path(sys.executable).with_name("specdist")), "check"]
        command += ["--target", f"{folder}/target.{chosen.format}"]
        command += ["--draft", f"{folder}/draft.{chosen.format}"]
        command += ["--kind", "logits", "-T", "0.8", "--format", chosen.report]
        command += ["--workers", chosen.workers] if chosen.workers else []
        start = perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"{count} pairs, {chosen.gigabytes:g} GB: exit {done.returncode}, {seconds:.0f} s, "
        f"peak resident size of the largest process {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()
