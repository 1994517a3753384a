"""Errors of code that met a stand-in where it expected a number: they are no faults of the code."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any

from specdist.audit.emitted import said_by, text_of
from specdist.audit.refusals import RefusalError
from specdist.audit.traced import is_traced
from specdist.audit.whereabouts import passed_on

_NAMED = re.compile(
    r"Traced(Uniform|Noise|Array)|numpy\.object_|dtype\('O'\)|no callable \w+ method"
)
_MISUSED = (TypeError, AttributeError)


def confusion(error: BaseException) -> RefusalError | None:
    """The refusal, for an error that a stand-in caused: its text names one, or it is a TypeError
    or AttributeError of a line with one among its names. None for errors of the code itself."""
    named = _NAMED.search(text_of(error)) is not None
    held = isinstance(error, _MISUSED) and _holds_traced(error.__traceback__)
    if not named and not held:
        return None
    return RefusalError(
        said_by(error)[:160] + ", where a random number is used",
        place=_line(error.__traceback__),
        expected="comparisons of one uniform, or of a monotone function of it, with numbers",
        advice="compare it where it is drawn, or draw through specdist.audit.draw",
    )


def _last(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _line(trace: TracebackType | None) -> str:
    """The innermost line outside of the audit and of libraries that pass draws on."""
    found = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not passed_on(file):
            found = f"{file}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return found


def _holds_traced(trace: TracebackType | None) -> bool:
    found = _last(trace)
    return found is not None and any(map(_traced, found.tb_frame.f_locals.values()))


def _traced(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(is_traced, value))
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return is_traced(value) or kind == "O"
