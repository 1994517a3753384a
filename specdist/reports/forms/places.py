"""Where a finding is, as the path or URI and the line that CI systems link to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

from specdist.reports.forms.clean_text import one_line
from specdist.reports.outline import file_of

_LINE = re.compile(r"(?P<file>.*?), line (?P<line>[1-9]\d*)(?=,|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Where:
    """``path``: relative to the root where the file lies below it, with forward slashes; empty
    where there is no file (rows that were typed, stdin). ``line`` counts from 1; None: unknown."""

    path: str
    line: int | None = None


def where_of(source: str, place: str, root: str) -> Where:
    """The file and line of a place that begins with its file, such as ``FILE, line 3, step 0``."""
    file = file_of(source)
    if place.startswith(f"{source}, "):
        found = _LINE.match(place, len(source))
        return Where(path_of(file, root), int(found["line"]) if found else None)
    found = _LINE.match(place)
    if found and file:
        return Where(path_of(found["file"], root), int(found["line"]))
    return Where(path_of(file, root))


def path_of(file: str, root: str) -> str:
    """The path of a file relative to the root; as it is named where it does not lie below it."""
    if not file:
        return ""
    if root:
        whole, above = os.path.abspath(file), os.path.abspath(root)
        inside = whole.startswith(above.rstrip(os.sep) + os.sep)
        return PurePath(os.path.relpath(whole, above) if inside else whole).as_posix()
    return PurePath(os.path.normpath(file)).as_posix()


def uri_of(path: str) -> str:
    """The path as a URI reference (RFC 3986): every other character percent-encoded."""
    try:
        encoded = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        encoded = one_line(path).encode()
    prefix = "file://" if path.startswith("/") else ""
    return prefix + quote(encoded, safe="/-._~")
