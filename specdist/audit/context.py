"""The run that is going on: its table, its step, its decisions. `case` and `draw` look here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from specdist.audit.grid import Grid
from specdist.audit.refusals import AdapterError
from specdist.audit.tables import Law, Table, Tokens
from specdist.audit.tree import Session
from specdist.audit.whereabouts import whereabouts


@dataclass(frozen=True, slots=True)
class Setup:
    """What an audit was asked for. ``dtype`` is the float format that rows are served in,
    ``framework`` what serves them: "torch", "numpy" or "" (torch where the adapter imported it)."""

    vocab: int = 3
    gamma: int = 2
    steps: int = 2
    dtype: str = "float32"
    framework: str = ""


@dataclass(slots=True)
class Proposal:
    """The draft tokens of one step, and whether draft rows were handed out for a test."""

    context: Tokens
    tokens: list[int] = field(default_factory=list)
    rows_handed: bool = False


@dataclass(slots=True)
class Context:
    """One run. ``emitted`` are the tokens of the steps before; ``proposals`` one for each step."""

    setup: Setup
    table: Table
    session: Session
    emitted: Tokens = ()
    proposals: list[Proposal] = field(default_factory=list)
    draws: int = 0
    grids: set[str] = field(default_factory=set)
    """Grids of the uniforms that were drawn, in words."""
    notes: set[str] = field(default_factory=set)
    """What the report has to say of this run, for example noise that is idealised."""
    streams: dict[Any, Any] = field(default_factory=dict)
    """What draws of this run have to remember: draws by the place of a seeded generator, say."""
    served: dict[int, tuple[object, str]] = field(default_factory=dict)
    """Rows that were served, by identity: the row itself (kept alive) and the side it is of."""

    def begin_step(self) -> None:
        """A new step, in which nothing is drafted yet."""
        self.proposals.append(Proposal(self.emitted))

    @property
    def proposal(self) -> Proposal:
        """That of the step that is going on."""
        return self.proposals[-1]

    def choose(self, asked: str, masses: Sequence[object]) -> int:
        """A decision of the run, counted as a draw."""
        self.draws += 1
        return self.session.choose(asked, masses)  # type: ignore[arg-type]

    @property
    def probing(self) -> bool:
        """Whether draws are concrete numbers (probe mode), not objects that decide comparisons."""
        return self.session.probing

    def point(self, grid: Grid, what: str = "") -> int:
        """Probe mode: which point of the grid the next uniform is, 0 .. grid.size - 1."""
        self.draws += 1
        self.grids.add(str(grid))
        said = f": {what}" if what else ""
        return self.session.point(grid, f"uniform {self.draws} ({grid}){said}")

    def noise(self, count: int, what: str) -> tuple[float, ...]:
        """Probe mode: the next ``count`` standard exponentials, one row of noise."""
        self.draws += 1
        return self.session.noise(count, f"row {self.draws} of {count} exponentials: {what}")

    def law(self, side: str, prefix: Tokens) -> Law:
        """The exact row of a side after a prefix."""
        return self.table.target(prefix) if side == "target" else self.table.draft(prefix)


_ACTIVE: ContextVar[Context | None] = ContextVar("specdist_audit", default=None)


def active() -> Context:
    """The run that is going on. Raises AdapterError outside of an audit."""
    found = _ACTIVE.get()
    if found is None:
        raise AdapterError(
            "case and draw are used outside of an audit",
            place=whereabouts(),
            expected="inside the function that is audited: at the top of a file no table is there",
            advice="specdist audit FILE.py:FUNCTION",
        )
    return found


def drawing(library: str) -> Context:
    """The run that draws from ``library``. Raises AdapterError where the thread of the draw has no
    run."""
    found = _ACTIVE.get()
    if found is None:
        raise AdapterError(
            f"{library} is drawn from in another thread than the run's",
            expected="draws in the thread that the audited function is called in",
            advice="draws from threads are not followed: draw before they begin, or run without "
            "them",
        )
    return found


@contextmanager
def running(context: Context) -> Iterator[Context]:
    """Makes a run the active one."""
    token = _ACTIVE.set(context)
    try:
        yield context
    finally:
        _ACTIVE.reset(token)
