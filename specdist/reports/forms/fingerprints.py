"""Names of findings that stay the same from run to run, so that a system can tell old from new."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from specdist.reports.forms.entries import Entry


class Fingerprints:
    """Made of ident, file, case and position, not of numbers or words, which change; the second
    finding with the same ones gets its count as well, so that no two are equal."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def of(self, entry: Entry, path: str) -> str:
        """64 hexadecimal digits."""
        about = "" if entry.position is None else str(entry.position)
        parts = (entry.ident, path or entry.source, entry.case, about)
        count = self._seen[parts]
        self._seen[parts] += 1
        words = "\0".join((*parts, *([str(count)] if count else [])))
        return sha256(words.encode("utf-8", "backslashreplace")).hexdigest()
