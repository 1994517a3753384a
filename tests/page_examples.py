"""The examples of pages: commands with some of the lines that they print, and their exit code."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCED = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\[exit (\d+)\]")


@dataclass(frozen=True)
class Example:
    """Shell commands that run together, the lines shown of what they print, the last exit code
    (None: not shown)."""

    script: str
    shown: tuple[str, ...]
    code: int | None

    def misses(self, printed: str) -> list[str]:
        """The lines shown that are not printed, in their order. Blanks count as one blank, and
        the words at the end of a printed line may be left out, with the comma or semicolon before
        them."""
        lines = iter(" ".join(line.split()) + " " for line in printed.splitlines())
        wanted = ((line, " ".join(line.split())) for line in self.shown)
        return [
            line
            for line, start in wanted
            if not any(one.startswith((f"{start} ", f"{start}, ", f"{start}; ")) for one in lines)
        ]


def fenced(page: str) -> list[Example]:
    """The examples in the console blocks of a Markdown page; ``[exit N]`` ends each."""
    found: list[Example] = []
    for block in _FENCED.findall(page):
        lines: list[str] = []
        for line in block.splitlines():
            end = _EXIT.fullmatch(line)
            if end is None:
                lines.append(line)
                continue
            found.append(_example(lines, int(end[1])))
            lines = []
        assert not lines, f"a console block ends with [exit N], not with {lines[-1]!r}"
    return found


def plain(page: str) -> list[Example]:
    """The examples of a page without Markdown: indented commands, each with what follows it up to
    a blank line or the next command."""
    found: list[Example] = []
    lines: list[str] = []
    for line in [*page.splitlines(), ""]:
        text = line.strip()
        starts = text.startswith("$ specdist ")
        if lines and (starts or not text):
            code = _EXIT.fullmatch(lines[-1])
            found.append(_example(lines[:-1] if code else lines, int(code[1]) if code else None))
            lines = []
        if starts or (lines and text):
            lines.append(text)
    return found


def _example(lines: list[str], code: int | None) -> Example:
    commands: list[str] = []
    shown: list[str] = []
    unfinished = False
    for line in lines:
        if line.startswith("$ "):
            commands.append(line[2:])
        elif unfinished:
            commands[-1] += f"\n{line}"
        else:
            shown.append(line)
            continue
        text = commands[-1]
        unfinished = text.endswith(("\\", "|")) or text.count("'") % 2 == 1
    assert commands, f"an example starts with a command, not with {lines[:1]}"
    return Example("\n".join(commands), tuple(shown), code)
