"""A page of documentation as a story: the files that it shows and the commands it runs, in order.

A fenced block of Python, TOML, JSON or INI whose first line is a comment with a file name
(``# test_kernel.py``) is that file; it replaces an earlier one of the name. A ``console`` block
holds commands and what they print (`tests.console`); the commands of a story are ``specdist``,
``pytest`` and ``python``, and they run in a folder that holds the files shown so far.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cli import Result, scrubbed
from tests.console import Session, sessions_in

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w.-]+\.\w+)\n")
_PROGRAMS = {"specdist": ["-m", "specdist"], "pytest": ["-m", "pytest"], "python": []}

WITHOUT_OTHERS = "-p no:cacheprovider -p no:hypothesispytest -p no:anyio"
"""Options of pytest for runs that need no plugin but ours: the others take a second to load."""


@dataclass(frozen=True)
class File:
    """A file that a page shows."""

    name: str
    text: str


def story(text: str) -> Iterator[File | Session]:
    """Files and commands of a Markdown text, in order."""
    for language, block in _FENCE.findall(text):
        if language == "console":
            yield from sessions_in(block)
        elif name := _FILE.match(block):
            yield File(name.group(1), block)


def run_command(session: Session, folder: Path) -> Result:
    """A command in a folder, 80 columns, no colour, no user settings."""
    program, *words = shlex.split(session.command)
    done = subprocess.run(
        [sys.executable, *_PROGRAMS[program], *words],
        capture_output=True,
        cwd=folder,
        env={**scrubbed(), "PYTEST_ADDOPTS": WITHOUT_OTHERS},
        timeout=300,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def told(text: str, folder: Path) -> Iterator[tuple[Session, Result]]:
    """Writes the files and runs the commands of a page, one after the other."""
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    for part in story(text):
        if isinstance(part, File):
            (folder / part.name).write_text(part.text, "utf-8")
        else:
            yield part, run_command(part, folder)


def refreshed_story(text: str, folder: Path) -> str:
    """The Markdown text with every output as it is now. What has a line ``...`` before its end
    stays as it is."""
    runs = told(text, folder)

    def block(match: re.Match[str]) -> str:
        language, inside = match.groups()
        if language != "console":
            return match.group()
        shown = ""
        for chunk in re.split(r"^\$ ", inside, flags=re.MULTILINE)[1:]:
            if chunk.startswith("echo $?"):
                shown += f"$ {chunk}"
                continue
            session, result = next(runs)
            output = session.output or ""
            kept = re.search(r"^\.\.\.\n(?!\Z)", output, flags=re.MULTILINE)
            shown += f"$ {session.command}\n" + (output if kept else _untimed(result.stdout))
        return f"```console\n{shown}```"

    return _FENCE.sub(block, text)


def _untimed(printed: str) -> str:
    """The output without the last line of pytest, which says how long it took."""
    return re.sub(
        r"^.*\b(?:passed|failed).* in [\d.]+s.*\n\Z", "...\n", printed, flags=re.MULTILINE
    )
