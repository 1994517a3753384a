"""An adapter as a program of its draws: steps in a row, with what they emit, draft and raise."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from specdist.audit.confusion import confusion
from specdist.audit.context import Context, Proposal, Setup, running
from specdist.audit.emitted import said_by, tokens_of
from specdist.audit.interception import begin_run, intercepted, moved_since, unfollowed, unowned
from specdist.audit.refusals import MET, AuditError, LateLibraryError
from specdist.audit.tables import Table, Tokens
from specdist.audit.tree import Session
from specdist.audit.whereabouts import passed_on


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did. ``error`` and ``place`` are those of an exception that ended it;
    ``draws`` how often it drew, ``grids`` and ``notes`` what a report has to say of that;
    ``asked`` whether rows of the table were asked for."""

    tokens: Tokens
    proposals: tuple[tuple[Tokens, Tokens, bool], ...]
    error: str = ""
    place: str = ""
    draws: int = field(default=0, compare=False)
    grids: frozenset[str] = field(default=frozenset(), compare=False)
    notes: frozenset[str] = field(default=frozenset(), compare=False)
    asked: bool = field(default=True, compare=False)


@dataclass(frozen=True)
class Program:
    """The adapter over one table. Called with a session it runs once; who runs it often enters
    `intercepted` around all runs, which spares each of them the entering.

    An adapter is a function without arguments that does one step and returns its tokens. A class
    is made anew for every run and its instance called for every step, so that state between the
    steps of one run, and no other, is kept.
    """

    adapter: Callable[[], Any]
    setup: Setup
    table: Table

    def __call__(self, session: Session) -> Outcome:
        """One run. Exceptions of the audited code are outcomes; those of the audit pass."""
        run = Context(self.setup, self.table, session)
        MET.clear()
        with intercepted(), running(run):
            begin_run()
            try:
                step: Any = self.adapter() if inspect.isclass(self.adapter) else self.adapter
                for _ in range(self.setup.steps):
                    run.begin_step()
                    run.emitted += tokens_of(step(), self.setup.vocab)
            except AuditError:
                _seen_whole()
                raise
            except (Exception, SystemExit) as error:
                _seen_whole()
                refusal = confusion(error)
                if refusal is not None:
                    raise refusal from error
                return _outcome(run, said_by(error), _raised_at(error))
            _seen_whole()
        return _outcome(run)


def _seen_whole() -> None:
    """Raises what the audited code caught, and LateLibraryError where a run may have drawn past
    the audit."""
    late = unfollowed()
    if late:
        raise LateLibraryError.of(late[0])
    if MET:
        raise MET[0]
    moved = moved_since()
    if moved:
        raise unowned(moved)


def _outcome(run: Context, error: str = "", place: str = "") -> Outcome:
    return Outcome(
        run.emitted, tuple(map(_proposal, run.proposals)), error, place, run.draws,
        frozenset(run.grids), frozenset(run.notes), bool(run.served),
    )  # fmt: skip


def _proposal(proposal: Proposal) -> tuple[Tokens, Tokens, bool]:
    return proposal.context, tuple(proposal.tokens), proposal.rows_handed


def _raised_at(error: BaseException) -> str:
    """The innermost line of the code that is audited, if it is in a file."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not passed_on(frame.filename)]
    last = (theirs or frames)[-1:]
    return "".join(f"{frame.filename}, line {frame.lineno}" for frame in last)
