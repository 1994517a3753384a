"""Where rows come from: typed on the command line, a pair of dumps, or captures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from specdist.errors import SettingsError
from specdist.model.capture import Capture, Unreadable

if TYPE_CHECKING:
    from specdist.model.settings import CheckSettings, ReadingSettings

SIDES = ("target", "draft")
_NUMBER = re.compile(r"\s*[-+]?[.\d][-+.\d/eE]*\s*")


def names_dump(text: str) -> bool:
    """Whether the value of ``--target`` or ``--draft`` is a file, and not a row that is typed."""
    if os.path.exists(text.partition("::")[0]):
        return True
    return "," not in text and bool(text.strip()) and not _NUMBER.fullmatch(text)


def split_rows(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Rows that are typed, and sides that are files; both by option name."""
    files = {name: text for name, text in given.items() if name in SIDES and names_dump(text)}
    return {name: text for name, text in given.items() if name not in files}, files


def opened(
    sources: Sequence[str],
    given: Mapping[str, str],
    reading: ReadingSettings,
    checkings: Iterable[CheckSettings],
) -> Iterator[Capture | Unreadable]:
    """The captures of files, of a pair of dumps or of typed rows. ``checkings`` are all settings
    that they are going to be checked under. Raises SettingsError where two kinds are mixed."""
    from specdist.cli.commands.check import open_sources
    from specdist.cli.typed_models import asks_for_models, typed_models
    from specdist.cli.typed_rows import typed_capture

    rows, files = split_rows(given)
    if not rows and (sources or files):
        return open_sources(list(sources), files.get("target"), files.get("draft"), reading)
    if sources or files:
        raise SettingsError(
            "typed rows and files are given together",
            expected=f"either files or {', '.join(f'--{name}' for name in rows)}",
        )
    asked = [asks_for_models(one) for one in checkings]  # each complains for itself
    over_models = any(asked)
    return iter([typed_models(rows) if over_models else typed_capture(rows)])
