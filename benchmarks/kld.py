"""Decoding of a llama.cpp KLD base file: speed against reading the same bytes, and peak memory.

python -m benchmarks.kld [--gigabytes 1] [--tokens 151936]

The file is synthetic and temporary. Every row is decoded and checked; the ratio is that of the time
for decoding to the time for a plain numpy read of the same bytes, in the same process; processor
time, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import resource
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from specdist.model.settings import ReadingSettings
from specdist.readers.engine_files.kld import open_kld
from specdist.readers.sources import local_file

CONTEXT = 512
ROWS_A_CHUNK = CONTEXT - 1 - CONTEXT // 2
KINDS = 8


def encoded(logits: np.ndarray) -> bytes:  # type: ignore[type-arg]
    """The bytes of one row of float32 logits."""
    top = logits.max()
    low = max(logits.min(), np.float32(top - np.float32(16)))
    log_sum = np.float32(np.log(np.exp(logits - top).sum(dtype=np.float64)))
    scale = np.float32((top - low) / np.float32(65535))
    codes = np.where(logits > low, np.rint((np.float32(1) / scale) * (logits - low)), 0)
    pad = b"\0\0" if len(logits) % 2 else b""
    frame = struct.pack("<2f", scale, np.float32(np.float32(low - top) - log_sum))
    return frame + codes.astype("<u2").tobytes() + pad


def write_file(path: Path, size: float, vocabulary: int) -> None:
    """A file of about ``size`` bytes, whole chunks of a few different rows."""
    rng = np.random.default_rng(1)
    spreads = np.linspace(1.5, 5, KINDS)
    rows = [encoded((rng.normal(size=vocabulary) * s).astype(np.float32)) for s in spreads]
    chunks = max(1, round(size / (ROWS_A_CHUNK * len(rows[0]))))
    with path.open("wb") as file:
        file.write(b"_logits_" + struct.pack("<3i", CONTEXT, vocabulary, chunks))
        file.write(np.zeros(chunks * CONTEXT, "<i4").tobytes())
        for index in range(chunks * ROWS_A_CHUNK):
            file.write(rows[index % KINDS])


def read_plainly(path: Path) -> float:
    """Processor seconds for all bytes of the file, in blocks of 2 MB."""
    start = process_time()
    with path.open("rb", buffering=0) as file:
        while data := file.read(1 << 21):
            np.frombuffer(data, np.uint8).max()
    return process_time() - start


def measure(path: Path) -> None:
    """Prints rows, processor seconds of both ways, and resident sizes before and after, as JSON."""
    read_plainly(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    plain = read_plainly(path)
    start = process_time()
    rows = sum(1 for _ in open_kld(local_file(str(path)), ReadingSettings()).rows())
    decoding = process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([rows, plain, decoding, before, peak]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--tokens", type=int, default=151_936)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure is not None:
        measure(chosen.measure)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "base.kld"
        write_file(path, chosen.gigabytes * 1e9, chosen.tokens)
        size = path.stat().st_size / 1e6
        command = [sys.executable, "-m", "benchmarks.kld", "--measure", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows, plain, decoding, before, peak = json.loads(done.stdout)
    print(
        f"{rows} rows of {chosen.tokens} tokens, {size:.0f} MB: decoding {size / decoding:.0f} "
        f"MB/s, plain read {size / plain:.0f} MB/s, ratio {decoding / plain:.1f}; peak resident "
        f"size {peak:.0f} MB, {peak - before:.0f} MB above that of plain reading"
    )


if __name__ == "__main__":
    main()
