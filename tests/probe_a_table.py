"""Probes adapters of Triton kernels in a process of its own, on tables of which the laws are known:

python -m tests.probe_a_table FOLDER MODULE:NAME GAMMA TABLE...

Prints a line of JSON for each table. Triton has to be imported with TRITON_INTERPRET=1.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from importlib import import_module

from specdist.audit.context import Setup
from specdist.audit.judge import judged
from specdist.audit.probe import Probed, probed
from specdist.audit.program import Program
from specdist.audit.tables import Law, Table, tables

TARGET = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
DRAFT = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
SWAPPED = Table("swapped", 3, lambda _: TARGET, lambda _: DRAFT)
REPLAYS = 20


def first_law(found: Probed) -> Law:
    """The law of the first token."""
    masses = [Fraction(0)] * 3
    for tokens, mass in found.emitted.items():
        masses[tokens[0]] += mass
    return tuple(masses)


def probe(adapter: object, gamma: int, table: Table) -> dict[str, object]:
    setup = Setup(vocab=3, gamma=gamma, steps=1, framework="torch")
    found = probed(Program(adapter, setup, table), 100_000, replays=REPLAYS)  # type: ignore[arg-type]
    result = judged(found, table, 0)
    return {
        "table": table.name,
        "first": [float(mass) for mass in first_law(found)],
        "total_variation": result.total_variation.approx,
        "outside": str(result.outside.exact),
        "runs": found.runs,
        "grids": sorted(found.grids),
    }


def main(folder: str, named: str, gamma: str, *names: str) -> None:
    sys.path.append(folder)
    import torch

    torch.set_num_threads(1)
    module, _, name = named.partition(":")
    adapter = getattr(import_module(module), name)
    known = {table.name: table for table in (SWAPPED, *tables(3, 6))}
    for table in names:
        print(json.dumps(probe(adapter, int(gamma), known[table])))


if __name__ == "__main__":
    main(*sys.argv[1:])
