"""The examples of pages: commands with some of the lines that they print, and their exit code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli import scrubbed

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


def in_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A script in ``folder`` with a ``specdist`` on its path."""
    command = folder / "bin" / "specdist"
    if not command.exists():
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdist "$@"\n', "utf-8")
        command.chmod(0o755)
    env = scrubbed()
    env["PATH"] = f"{command.parent}{os.pathsep}{env['PATH']}"
    return subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )


def does_what_it_shows(example: Example, folder: Path) -> None:
    """Runs an example and compares lines and exit code."""
    done = in_shell(example.script, folder)
    printed = done.stdout + done.stderr
    assert example.shown, "an example shows something"
    assert example.misses(printed) == [], printed
    assert done.returncode == example.code, printed


def sections_of(page: str) -> dict[str, str]:
    """The texts of a page by the headings over them, none of them empty, in lines of a page."""
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    assert all(sections.values()), "a section is empty"
    assert [line for line in page.splitlines() if len(line) > 80] == []
    return sections
