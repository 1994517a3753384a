"""A whole audit: every table walked, the smallest case that shows a difference, the findings."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specdist import __version__
from specdist.audit.context import Setup
from specdist.audit.cost import predicted
from specdist.audit.findings import REUSED, Wording, findings_of
from specdist.audit.interception import intercepted
from specdist.audit.judge import judged
from specdist.audit.known_faults import Observed, names_of
from specdist.audit.measure import Measured, Told, measure
from specdist.audit.program import Program
from specdist.audit.refusals import AdapterError, AuditError, BudgetError
from specdist.audit.smallest import first_known, smaller, smallest
from specdist.audit.tables import Table, tables
from specdist.model.audit_report import AuditReport, Mode, Smallest, TableResult
from specdist.model.verdict import Verdict

SCOPE = (
    "the law of this code on these tables, with the draws that it makes through followed "
    "libraries; not of other shapes, devices or builds",
    "uniforms lie on the grid of their generator; exponential and Gumbel noise is idealised: "
    "ties of a low-precision format are another law",
    "equal laws do not promise the same text under a fixed seed, or similar task scores",
)
_ORDER = (Verdict.DIFFERENT, Verdict.UNDECIDED, Verdict.WITHIN_TOLERANCE, Verdict.EQUAL)
_OWN_ROWS = "rows of its own"
_NO_ROWS = "the adapter asks for no rows of the tables, so it was walked once"
_LENGTHS = (
    "outputs and those of the reference have other lengths, which count as differences: a "
    "reference that returns one token is called for as many as there are"
)
Walked = tuple[Table, Measured, TableResult]


@dataclass(frozen=True)
class Audit:
    """What is audited: the adapter under its name, and how far to go. ``budget`` is the most
    leaves a table may have, ``show`` how many sequences a table of the report lists. The law is
    held against the tables' target, or against that of a second adapter, ``reference``, which is
    called token by token where it returns one. A probe (``mode``) has to predict ``replays`` runs,
    for a bound that holds with 1 - ``delta``."""

    adapter: Callable[[], Any]
    source: str
    setup: Setup
    count: int = 4
    budget: int = 1_000_000
    show: int = 10
    shown: Mapping[str, object] | None = None
    reference: Callable[[], Any] | None = None
    mode: str = Mode.TRACED
    replays: int | None = None
    delta: float | None = None

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
        with intercepted():
            walked = self._walked(told)
            results = [result for _, _, result in walked]
            verdict = next(v for v in _ORDER if any(result.verdict is v for result in results))
            least = self._smallest(walked) if verdict is Verdict.DIFFERENT else None
        if verdict is Verdict.DIFFERENT and self.reference is None:
            results = _named(results, names_of(_observed(walked), self.setup))
        measured = [found for _, found, _ in walked]
        notes = _united([found.notes for found in measured])
        right = "the target" if self.reference is None else "the reference"
        words = Wording(right, self.mode != Mode.TRACED, self.setup.dtype)
        return AuditReport(
            version=__version__,
            source=self.source,
            mode=Mode(self.mode),
            verdict=verdict,
            settings=self.shown or {},
            tables=tuple(results),
            findings=findings_of(results, least, words, notes),
            predicted=expected,
            runs=sum(_runs(found) for found in measured),
            replays=sum(found.replays for found in measured),
            grids=_united([found.grids for found in measured]),
            smallest=least,
            notes=tuple(note for note in notes if not note.startswith(REUSED)),
            versions=_versions(),
            scope=SCOPE,
        )

    def _walked(self, told: Told | None) -> list[Walked]:
        """Every table; only the first, where the adapter asks for no rows."""
        walked: list[Walked] = []
        for table in self.tables:
            found, result = self._judged(self.setup, table, told)
            if not found.asked:
                if self.reference is None:
                    raise _nothing_to_compare().at(self.source)
                found.notes.add(_NO_ROWS)
                return [(table, found, replace(result, name=_OWN_ROWS))]
            walked.append((table, found, result))
        return walked

    def _judged(
        self, setup: Setup, table: Table, told: Told | None = None
    ) -> tuple[Measured, TableResult]:
        found = self._measured(self.adapter, setup, table, told)
        if self.reference is None:
            return found, judged(found, table, self.show)
        right = self._measured(self.reference, setup, table, told)
        stepwise = right.lengths == {setup.steps} and found.longest > setup.steps
        if stepwise:
            longer = replace(setup, steps=found.longest)
            right = self._measured(self.reference, longer, table, told)
        elif found.lengths != right.lengths:
            found.notes.add(_LENGTHS)
        if right.raised or right.unexplored:
            why = "raises" if right.raised else "has more leaves than the budget"
            raise AdapterError(
                f"the reference {why}",
                expected="plain decoding that returns its tokens whatever is drawn",
                advice="audit the reference by itself to see where",
            )
        found.asked |= right.asked
        found.notes |= right.notes
        return found, judged(found, table, self.show, right, stepwise)

    def _measured(
        self, adapter: Callable[[], Any], setup: Setup, table: Table, told: Told | None
    ) -> Measured:
        program = Program(adapter, setup, table)
        try:
            if self.mode == Mode.TRACED:
                return measure(program, self.budget, told)
            from specdist.audit.probe import DELTA, REPLAYS, probed

            return probed(program, self.budget, told, self.replays or REPLAYS, self.delta or DELTA)
        except AuditError as error:
            if adapter is self.adapter:
                error.at(self.source)
            raise

    def _smallest(self, walked: Sequence[Walked]) -> Smallest | None:
        """The smallest case that differs; None for an adapter that asks for no rows. A probe, which
        runs much more, looks among its own tables."""
        if not walked[0][1].asked:
            return None
        known = first_known(self.setup, walked)
        if self.mode != Mode.TRACED:
            return known
        cases = smaller(self.setup, self.count)
        return smallest(cases, lambda setup, table: self._judged(setup, table)[1], known)


def _nothing_to_compare() -> AdapterError:
    """The error for code that is held against rows which it never saw."""
    return AdapterError(
        "the adapter asks for no rows of the tables, and no reference is named",
        expected="rows of case (case.target_rows(), case.model ...) handed to the audited code",
        advice="code with models of its own needs plain decoding beside it: --reference NAME",
    )


def _observed(walked: Sequence[Walked]) -> list[Observed]:
    return [
        Observed.of(table, found, found.bound) for table, found, _ in walked if not found.unexplored
    ]


def _runs(found: Measured) -> int:
    """How often the code was run for a table."""
    return int(getattr(found, "runs", 0)) or found.leaves + found.replays


def _united(sets: Sequence[set[str]]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*sets)))


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
