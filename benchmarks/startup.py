"""Start-up of the rational path against importing numpy, alternating runs, as a ratio.

python -m benchmarks.startup [--rounds 15]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

SAMPLE = Path(__file__).parent.parent / "sample_inputs" / "three_tokens.json"


def seconds(*command: str) -> float:
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    specdist = str(Path(sys.executable).with_name("specdist"))
    ratios = []
    for _ in range(rounds):
        numpy = seconds(sys.executable, "-c", "import numpy")
        ratios.append(seconds(specdist, "check", str(SAMPLE)) / numpy)
    print(
        f"specdist check three_tokens.json / import numpy: {median(ratios):.2f} "
        f"(rounds {min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    main()
