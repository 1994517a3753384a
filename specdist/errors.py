"""Errors that are the user's to mend: each says where, what, what was expected and what to do."""

from __future__ import annotations


class SpecdistError(Exception):
    """Base of every error that ends a run with exit code 2.

    ``message`` states the fact; ``place`` names the file and the place inside it; ``expected``
    says what would have been right; ``advice`` says what to do next. All but the message may be
    empty. ``ident`` is the catalogue ident printed as ``error[IDENT]``.
    """

    ident = "invalid-input"

    def __init__(
        self, message: str, *, place: str = "", expected: str = "", advice: str = ""
    ) -> None:
        super().__init__(message, place, expected, advice)
        self.message = message
        self.place = place
        self.expected = expected
        self.advice = advice

    def __str__(self) -> str:
        """Everything in one line: ``PLACE: MESSAGE; expected EXPECTED; ADVICE``."""
        return "; ".join(
            [
                f"{self.place}: {self.message}" if self.place else self.message,
                *([f"expected {self.expected}"] if self.expected else []),
                *([self.advice] if self.advice else []),
            ]
        )

    def at(self, place: str) -> SpecdistError:
        """The same error with its place filled in, if it had none yet."""
        if not self.place:
            self.place = place
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.place, self.expected, self.advice))


def _rebuild(
    kind: type[SpecdistError], message: str, place: str, expected: str, advice: str
) -> SpecdistError:
    return kind(message, place=place, expected=expected, advice=advice)


class SettingsError(SpecdistError):
    """An option, a recipe or a configuration key that cannot be used."""

    ident = "invalid-settings"


class CaptureError(SpecdistError):
    """A file that is recognised but broken, or that no reader recognises."""

    ident = "unreadable-capture"


class NotACaptureError(CaptureError):
    """Content that no reader recognises; inside a folder it is listed, not counted."""


class RowError(SpecdistError):
    """A row that holds no distribution: NaN, +inf, negative mass, everything masked."""

    ident = "invalid-row"


class NotNormalisedError(RowError):
    """A probability row whose sum is not one; the message carries the exact difference."""

    ident = "row-not-normalised"


class ContextMismatchError(SpecdistError):
    """Target and draft rows that were captured in different contexts."""

    ident = "context-mismatch"


class MissingExtraError(SpecdistError):
    """An optional dependency that is not installed; the advice names the extra."""

    ident = "missing-extra"
