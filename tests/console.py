"""The ```console blocks of a Markdown file: commands with the output they promise."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Session:
    """One command. ``output`` is None where the block shows only the command; a line ``...`` in
    it stands for any lines. ``$ echo $?`` with its number gives the exit code (0 without it)."""

    command: str
    output: str | None
    code: int

    @property
    def arguments(self) -> list[str]:
        """What follows ``specdist``."""
        words = shlex.split(self.command)
        assert words[0] == "specdist", self.command
        return words[1:]


def matches(shown: str, printed: str) -> bool:
    """Whether the output is what is shown, a line ``...`` standing for any lines."""
    parts = re.split(r"^\.\.\.$\n?", shown.rstrip() + "\n", flags=re.MULTILINE)
    pattern = r"(?:.*\n)*".join(map(re.escape, parts))
    return re.fullmatch(pattern, printed.rstrip() + "\n") is not None


def sessions(path: Path) -> list[Session]:
    """Every command of every console block, in order."""
    blocks = _BLOCK.findall(path.read_text(encoding="utf-8"))
    found = [session for block in blocks for session in sessions_in(block)]
    assert found, f"{path} shows no command"
    return found


def sessions_in(block: str) -> list[Session]:
    """The commands of one console block, in order."""
    found: list[Session] = []
    chunks = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not chunks[0].strip(), f"a console block starts with a command: {chunks[0]!r}"
    for chunk in chunks[1:]:
        command, output = _split(chunk)
        if command == "echo $?":
            last = found.pop()
            found.append(Session(last.command, last.output, int(output)))
        else:
            found.append(Session(command, output if output.strip() else None, 0))
    return found


def refreshed(text: str, run: Callable[[list[str]], tuple[str, int]]) -> str:
    """The Markdown text with every shown output as it is now."""

    def block(match: re.Match[str]) -> str:
        chunks = re.split(r"^\$ ", match.group(1), flags=re.MULTILINE)
        written, code = "", 0
        for chunk in chunks[1:]:
            command, output = _split(chunk)
            shown = chunk[: len(chunk) - len(output)]
            if command == "echo $?":
                written += f"$ {shown}{code}\n"
                continue
            printed, code = run(shlex.split(command)[1:])
            written += f"$ {shown}{_cut(output, printed) if output.strip() else ''}"
        return f"```console\n{written}```\n"

    return _BLOCK.sub(block, text).replace("```\n\n\n", "```\n\n")


def _cut(shown: str, printed: str) -> str:
    """What is printed, the scope left out where what was shown left something out."""
    if not re.search(r"^\.\.\.$", shown, flags=re.MULTILINE):
        return printed
    return re.sub(r"^scope: .*\n(?:  .*\n)*", "...\n", printed, flags=re.MULTILINE)


def _split(chunk: str) -> tuple[str, str]:
    """The command, its continuation lines joined, and what is printed below it."""
    lines = chunk.split("\n")
    end = 0
    while lines[end].endswith("\\"):
        end += 1
    command = " ".join(line.removesuffix("\\").strip() for line in lines[: end + 1])
    return command, "\n".join(lines[end + 1 :])


def too_wide(path: Path) -> list[str]:
    """Lines of more than 130 characters, and lines of output of more than 80; those of ``--quiet``
    may have any length, for they are for tools."""
    text = path.read_text(encoding="utf-8")
    outside = _BLOCK.sub("", text).splitlines()
    inside = [
        line
        for session in (sessions(path) if _BLOCK.search(text) else [])
        if not {"--quiet", "-q"} & set(session.command.split())
        for line in (session.output or "").splitlines()
    ]
    return [line for line in outside if len(line) > 130] + [
        line for line in inside if len(line) > 80
    ]
