"""Runs the code of a user's file: what it prints goes to stderr, what it raises says file and line.

Standard output belongs to the report, and an exit code of specdist is never one of the user's.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TypeVar

from specdist.errors import SettingsError, SpecdistError
from specdist.model.user_rule import UserRule

_Result = TypeVar("_Result")


class ToStderr(io.TextIOBase):
    """Standard output as the user's code sees it; closing it closes nothing else."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return sys.stderr.write(text)


def run_users(user: UserRule, where: str, call: Callable[[], _Result]) -> _Result:
    """What ``call`` gives. Raises SettingsError for whatever it raises, exits included, and passes
    an interruption on; ``where`` ends the sentence that names the exception."""
    try:
        with redirect_stdout(ToStderr()):
            return call()
    except SpecdistError as error:
        raise error.at(place_of(user, error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        text = said_by(error)
        raise SettingsError(
            f"rule {user.text} raised {type(error).__name__}{where}{f': {text}' if text else ''}",
            place=place_of(user, error),
            advice="-v shows the traceback",
        ) from error


def place_of(user: UserRule, error: BaseException) -> str:
    """The file, and the innermost line of it that the error came through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == user.file]
    return f"{user.file}, line {frames[-1].lineno}" if frames else user.file


def said_by(error: BaseException) -> str:
    """What the exception says, as one printable line."""
    try:
        text = " ".join(str(error).split())[:200]
    except Exception:
        return "its text cannot be made"
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
