"""What an audit cannot follow or must not believe: each says where, why and what to change."""

from __future__ import annotations

from decimal import Decimal

from specdist.errors import SpecdistError

MET: list[AuditError] = []
"""Errors since the list was last cleared. `Program` asks after every run: an error counts even
where the audited code catches it, or where it is raised in another thread."""


class AuditError(SpecdistError):
    """Base of everything that ends an audit without a verdict."""

    ident = "invalid-input"

    def __init__(self, message: str, **said: str) -> None:
        super().__init__(message, **said)
        MET.append(self)


class RefusalError(AuditError):
    """A use of randomness that cannot be followed exactly."""


class AdapterError(AuditError):
    """The adapter itself: not found, no tokens, tokens outside the vocabulary, draws nothing."""


class LateLibraryError(AdapterError):
    """A library of draws was loaded in the middle of a run, so that run was not followed."""

    @classmethod
    def of(cls, library: str) -> LateLibraryError:
        """``library`` is its name."""
        return cls(
            f"{library} is imported while the audited code runs",
            expected="the library loaded before: import it at the top of the adapter's file",
        )


class NotAFunctionError(AuditError):
    """The same answers led to another question: there is state that runs share."""

    @classmethod
    def of(cls, before: str, now: str, depth: int) -> NotAFunctionError:
        """``before`` and ``now`` are what two runs asked after the same ``depth`` answers."""
        return cls(
            f"not a function of its draws: after the same {depth} answers one run asks for "
            f"{before}, another for {now}",
            expected="every run begins in the same state and draws through what is intercepted",
            advice="make the state inside the adapter (a class is made anew for every run), or "
            "draw with specdist.audit.draw",
        )

    @classmethod
    def of_state(cls, name: str) -> NotAFunctionError:
        """``name``: what an earlier run drew."""
        return cls(
            f"not a function of its draws: {name} was drawn in an earlier run",
            expected="every run begins in the same state",
            advice="make the state inside the adapter (a class is made anew for every run)",
        )


class BudgetError(AuditError):
    """More leaves than allowed."""

    ident = "undecided-budget"

    @classmethod
    def before(cls, count: int, allowed: int) -> BudgetError:
        """``count``: leaves that the formula says."""
        found = cls.after(allowed)
        said = f"about {Decimal(count):.2e} leaves are to be expected"
        found.message = f"{said}, and {allowed} are allowed"
        return found

    @classmethod
    def of_run(cls, count: int) -> BudgetError:
        """``count``: decisions of one run that does not end."""
        return cls(
            f"one run asks for more than {count} decisions",
            expected="code that draws a bounded number of times",
            advice="a loop that draws until it accepts has no last leaf: draw what it ends with, "
            "with draw.categorical",
        )

    @classmethod
    def after(cls, count: int) -> BudgetError:
        """``count``: leaves that were met."""
        return cls(
            f"more than {count} leaves",
            expected="V^(g+1) (1 + g/4) leaves a step, at most, for V tokens and g draft tokens",
            advice="take fewer tokens, draft tokens or steps (--vocab, --gamma, --steps), or "
            "raise --budget",
        )
