"""The examples of pages: commands with some of the lines that they print, and their exit code."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli import Result, run_here, scrubbed

_FENCED = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\[exit (\d+)\]")


@dataclass(frozen=True)
class Example:
    """Shell commands that run together, the lines shown of what they print, the last exit code
    (None: not shown)."""

    commands: tuple[str, ...]
    shown: tuple[str, ...]
    code: int | None

    @property
    def script(self) -> str:
        return "\n".join(self.commands)

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
    return Example(tuple(commands), tuple(shown), code)


def results(commands: Sequence[str], folder: Path) -> Result:
    """What commands in ``folder`` print together, and the code of the last one.

    A ``specdist`` that is a command of its own, or the last one of a pipe, runs in this process;
    the shell runs what is before it. Anything else is for the shell alone, see `in_shell`.
    """
    parts = [_last_specdist(command) for command in commands]
    if any(before is None for before, _ in parts):
        return in_shell("\n".join(commands), folder)
    found = Result(0, "", "")
    for before, words in parts:
        given = in_shell(before, folder) if before else Result(0, "", "")
        one = given
        if words:
            one = run_here(*words, cwd=folder, stdin=given.stdout)
            one.stderr = given.stderr + one.stderr
        found = Result(one.code, found.stdout + one.stdout, found.stderr + one.stderr)
    return found


def _last_specdist(command: str) -> tuple[str | None, list[str]]:
    """What runs in a shell, and the words of the ``specdist`` that it is piped into; None and no
    words where the shell does more with ``specdist`` than that."""
    before, called, last = command.rpartition("specdist ")
    if not called or "specdist " in before:
        return (None if called else command), []
    lexer = shlex.shlex(last.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words = list(lexer)
    piped = before.rstrip()
    plain = not any(set(word) <= set("();<>|&") for word in words) and not set(last) & set("$`*?[")
    if not plain or (piped and not piped.endswith("|")):
        return None, []
    return piped.removesuffix("|"), words


def in_shell(script: str, folder: Path) -> Result:
    """A script in ``folder`` with a ``specdist`` on its path."""
    command = folder / "bin" / "specdist"
    if not command.exists():
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdist "$@"\n', "utf-8")
        command.chmod(0o755)
    env = scrubbed()
    env["PATH"] = f"{command.parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def does_what_it_shows(example: Example, folder: Path) -> None:
    """Runs an example and compares lines and exit code."""
    done = results(example.commands, folder)
    printed = done.stdout + done.stderr
    assert example.shown, "an example shows something"
    assert example.misses(printed) == [], printed
    assert done.code == example.code, printed


def sections_of(page: str) -> dict[str, str]:
    """The texts of a page by the headings over them, none of them empty, in lines of a page."""
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
    assert all(sections.values()), "a section is empty"
    assert [line for line in page.splitlines() if len(line) > 80] == []
    return sections
