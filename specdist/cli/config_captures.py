"""``captures = [...]`` of the config file: files, folders and patterns of the working directory."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic

from specdist.errors import SettingsError


def expanded(names: Iterable[str]) -> list[str]:
    """The files that the names and patterns stand for, each once. Raises SettingsError for a
    pattern that matches nothing: a gate would pass without it."""
    found: dict[str, None] = {}
    for name in names:
        matches = sorted(glob(name, recursive=True)) if has_magic(name) else [name]
        if not matches:
            raise SettingsError(
                f"captures: no file matches {name[:80]!r}",
                place="config file",
                expected="files, folders or patterns, as captures/**/*.json",
            )
        found.update(dict.fromkeys(matches))
    return list(found)
