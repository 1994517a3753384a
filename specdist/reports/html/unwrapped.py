"""Lines that were wrapped for a terminal, as paragraphs again."""

from __future__ import annotations

from collections.abc import Iterable


def paragraphs(lines: Iterable[str]) -> list[str]:
    """A line that is indented deeper than the first of its paragraph goes on with it."""
    found: list[str] = []
    indent = 0
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            indent = 1 << 16
        elif found and depth > indent:
            found[-1] += f" {line.strip()}"
        else:
            found.append(line.strip())
            indent = depth
    return found
