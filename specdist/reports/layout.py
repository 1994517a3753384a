"""Plain text layout: display width, wrapping at the width of the page, aligned tables, quoted token
texts."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Sequence

from specdist.reports import page

_TOKEN_WIDTH = 24


def width_of(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def token(text: str | None, ident: int, with_id: bool) -> str:
    """A token as plain text: quoted, control characters and lone surrogates escaped."""
    if text is None:
        return str(ident)
    shown = repr(text)
    if width_of(shown) > _TOKEN_WIDTH:
        text = text[:_TOKEN_WIDTH]
        while width_of(repr(text)) > _TOKEN_WIDTH - 3:
            text = text[:-1]
        shown = f"{repr(text)[:-1]}...{shown[-1]}"
    return f"{ident} {shown}" if with_id else shown


def wrap(
    text: str, first: str = "", rest: str | None = None, width: int | None = None
) -> list[str]:
    """Lines of at most ``width`` columns (default: the page); ``first`` and ``rest`` are the
    indents."""
    indent = " " * len(first) if rest is None else rest
    return textwrap.wrap(
        text,
        page.columns() if width is None else width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def command(text: str, first: str, width: int | None = None) -> list[str]:
    """A command line to paste, broken before options with a backslash, and inside single quotes
    at a blank, where a line break means the same to what reads it."""
    width = page.columns() if width is None else width
    parts = _shell_words(text)
    lines, line = [], first
    indent = " " * (4 if page.is_narrow() else len(first) + 2)
    quoted = False
    for part in parts:
        joined = line + part if line in (first, indent) else f"{line} {part}"
        if len(joined) > width - 2 and line.strip() and line not in (first, indent):
            lines.append(line if quoted else f"{line} \\")
            line = indent + part
        else:
            line = joined
        quoted ^= part.count("'") % 2 == 1
    return [*lines, line]


def _shell_words(text: str) -> list[str]:
    """The words of a command, an option kept together with its value."""
    parts: list[str] = []
    for word in text.split(" "):
        previous = parts[-1] if parts else ""
        lone = previous.startswith("-") and " " not in previous and "=" not in previous
        if lone and not word.startswith("-"):
            parts[-1] = f"{previous} {word}"
        else:
            parts.append(word)
    return parts


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: int = 1,
    gap: int = 2,
    least: int = 0,
) -> list[str]:
    """Aligned columns: the first ``left`` flush left, the others flush right behind a ``gap``. On a
    narrow page some columns are left out (`page.kept_columns`)."""
    widths = [max(width_of(row[i]) for row in (header, *rows)) for i in range(len(header))]
    widths[left:] = [max(width, least) for width in widths[left:]]
    kept = page.kept_columns(header, widths, left, gap)
    if len(kept) < len(header):
        header, widths = [header[i] for i in kept], [widths[i] for i in kept]
        rows = [[row[i] for i in kept] for row in rows]
    most = page.name_room(widths, left, gap)
    if most < widths[0]:
        rows = [[page.shortened(row[0], most), *row[1:]] for row in rows]
        widths[0] = most

    def line(cells: Sequence[str]) -> str:
        text = ""
        for i, cell in enumerate(cells):
            blank = " " * (widths[i] - width_of(cell))
            space = " " * (0 if i == 0 else 2 if i <= left else gap)
            text += space + (cell + blank if i < left else blank + cell)
        return text.rstrip()

    return [line(header), *(line(row) for row in rows)]


def fitted(build: Callable[[int, int], list[str]], width: int) -> list[str]:
    """The lines of ``build(digits, gap)`` with as many digits, then blanks, as fit the width; on a
    narrow page without some columns where that is still too wide."""
    lines: list[str] = []
    with page.table_room(None):
        for digits, gap in ((6, 3), (6, 2), (5, 2), (4, 2), (3, 2)):
            lines = build(digits, gap)
            if all(width_of(line) <= width for line in lines):
                return lines
    if not page.is_narrow():
        return lines
    with page.table_room(width):
        return build(4, 2)
