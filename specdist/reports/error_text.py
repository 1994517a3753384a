"""An error that ends a run, as text for stderr and as the last line of JSON lines."""

from __future__ import annotations

import re

from specdist.errors import SpecdistError
from specdist.reports import layout
from specdist.reports.style import Paint


def render_error(error: SpecdistError, paint: Paint) -> str:
    """``error[IDENT]: ...`` with the place, what was expected and what to do."""
    start = f"error[{error.ident}]:"
    first, *rest = layout.wrap(f"{start} {_printable(error.message)}", "", "    ")
    lines = [paint("bad", start) + first[len(start) :], *rest]
    if error.place:
        lines += layout.wrap(_printable(error.place), "  --> ", "      ")
    if error.expected:
        lines += layout.wrap(error.expected, "   = expected: ")
    if error.advice:
        lines += layout.wrap(error.advice, "   = help: ")
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    """Without control characters that a terminal would obey; blanks are left to the wrapping, and
    what is longer than a line, but for paths, has some."""
    plain = "".join(
        c if c.isprintable() or c in " \t\n\r\x0b\x0c" else ascii(c)[1:-1] for c in text
    )
    return re.sub(r"[^\s/]{72}(?=[^\s/])", r"\g<0> ", plain)


def error_to_json(error: SpecdistError) -> dict[str, object]:
    """``{"error": {...}}``; empty texts are null."""
    fields = ("message", "place", "expected", "advice")
    return {"error": {"ident": error.ident, **{f: getattr(error, f) or None for f in fields}}}
