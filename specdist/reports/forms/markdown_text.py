"""Text of captures inside GitHub Flavored Markdown (github.github.com/gfm) that stays plain text.

Everything that a capture or a user named stands in a code span or a fenced block: there no
character means anything, nobody is mentioned (``@name``) and no issue is linked (``#1``). Both are
fenced by more backticks than the text holds in a row. In a cell of a table ``|`` is escaped even in
a code span.
"""

from __future__ import annotations

import re

from specdist.reports.forms.clean_text import one_line, printable

_PLAIN = re.compile(
    r"(?!\d+[.)] )(?!.*(?:://|www\.|:[a-z0-9+-]+:))[A-Za-z0-9(][A-Za-z0-9 ,.;:()/=+%'-]*"
)
"""No list, link or emoji, and no other markup."""
_TICKS = re.compile("`+")


def code(text: str) -> str:
    """A code span of one line; nothing for an empty text."""
    text = one_line(text)
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    spaced = text[0] in "` " or text[-1] in "` "
    return f"{ticks} {text} {ticks}" if spaced else f"{ticks}{text}{ticks}"


def words(text: str) -> str:
    """Prose as it is where no character of it could mean anything, else a code span."""
    return text if _PLAIN.fullmatch(text) else code(text)


def block(text: str) -> str:
    """A fenced block."""
    text = printable(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def row(cells: list[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table(header: list[str], right: int = 0) -> str:
    """The head of a table; the last ``right`` columns are flush right."""
    left = len(header) - right
    return row(header) + "|" + " --- |" * left + " ---: |" * right + "\n"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
