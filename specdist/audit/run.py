"""A whole audit: every table walked, the smallest case that shows a difference, the findings."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from specdist import __version__
from specdist.audit.context import Setup
from specdist.audit.cost import predicted
from specdist.audit.findings import findings_of
from specdist.audit.judge import judged
from specdist.audit.known_faults import Observed, names_of
from specdist.audit.measure import Told, measure
from specdist.audit.program import Program
from specdist.audit.refusals import AuditError, BudgetError
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import AuditReport, Mode, Smallest, TableResult
from specdist.model.figure import Figure
from specdist.model.verdict import Verdict

SCOPE = (
    "the law of this code on these tables, with the draws that it makes through followed "
    "libraries; not of other shapes, devices or builds",
    "uniforms lie on the grid of their generator; exponential and Gumbel noise is idealised: "
    "ties of a low-precision format are another law",
    "equal laws do not promise the same text under a fixed seed, or similar task scores",
)
_ORDER = (Verdict.DIFFERENT, Verdict.UNDECIDED, Verdict.WITHIN_TOLERANCE, Verdict.EQUAL)


@dataclass(frozen=True)
class Audit:
    """What is audited: the adapter under its name, and how far to go. ``budget`` is the most
    leaves a table may have, ``show`` how many sequences a table of the report lists."""

    adapter: Callable[[], Any]
    source: str
    setup: Setup
    count: int = 4
    budget: int = 1_000_000
    show: int = 10
    shown: Mapping[str, object] | None = None

    @property
    def tables(self) -> list[Table]:
        """The tables that are walked."""
        return tables(self.setup.vocab, self.count)

    @property
    def predicted(self) -> int:
        """How many leaves the formula says. Raises BudgetError above the budget."""
        found = predicted(self.setup, self.tables)
        if found > self.budget * self.count:
            raise BudgetError.before(found, self.budget * self.count)
        return found

    def report(self, told: Told | None = None) -> AuditReport:
        """Walks every table. Raises AuditError for what cannot be followed."""
        expected = self.predicted
        results: list[TableResult] = []
        observed: list[Observed] = []
        replays = 0
        for table in self.tables:
            found = measure(Program(self.adapter, self.setup, table), self.budget, told)
            replays += found.replays
            observed.append(Observed.of(table, found))
            results.append(judged(found, table, self.show))
        verdict = next(v for v in _ORDER if any(result.verdict is v for result in results))
        smallest = self._smallest() if verdict is Verdict.DIFFERENT else None
        if verdict is Verdict.DIFFERENT:
            results = _named(results, names_of(observed, self.setup))
        return AuditReport(
            version=__version__,
            source=self.source,
            mode=Mode.TRACED,
            verdict=verdict,
            settings=self.shown or {},
            tables=tuple(results),
            findings=findings_of(results, smallest, self.setup),
            predicted=expected,
            runs=sum(result.leaves for result in results) + replays,
            replays=replays,
            smallest=smallest,
            versions=_versions(),
            scope=SCOPE,
        )

    def _smallest(self) -> Smallest | None:
        """The first of the smaller cases that shows a difference."""
        for setup, table in self._smaller():
            try:
                found = measure(Program(self.adapter, setup, table), self.budget)
            except AuditError:  # another size may not suit the adapter
                continue
            result = judged(found, table, 0)
            if result.verdict is Verdict.DIFFERENT:
                rows = (table.target(()), table.draft(()))
                figures = [tuple(map(Figure.of, row)) for row in rows]
                return Smallest(
                    setup.vocab, setup.gamma, setup.steps, table.name, figures[0], figures[1],
                    result.total_variation,
                )  # fmt: skip
        return None

    def _smaller(self) -> Iterator[tuple[Setup, Table]]:
        """Every smaller case: fewer steps first, then fewer draft tokens, then fewer tokens."""
        for steps in range(1, self.setup.steps + 1):
            for gamma in range(1, self.setup.gamma + 1):
                for vocab in range(2, self.setup.vocab + 1):
                    setup = replace(self.setup, vocab=vocab, gamma=gamma, steps=steps)
                    for table in tables(vocab, self.count):
                        yield setup, table


def _named(results: list[TableResult], names: tuple[str, ...]) -> list[TableResult]:
    """The results, those that differ with the names of the known faults that explain them."""
    return [
        replace(result, resembles=names) if result.verdict is Verdict.DIFFERENT else result
        for result in results
    ]


def _versions() -> dict[str, str]:
    """Of Python and of the libraries whose draws are followed, as far as they are loaded."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "torch", "transformers", "triton", "jax", "vllm"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[name] = str(version)
    return found
