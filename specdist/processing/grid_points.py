"""How the size of a grid of uniforms is written: ``4096`` or ``2^12``."""

from __future__ import annotations

import re

from specdist.errors import SettingsError
from specdist.model.value_texts import shortened

MOST_POINTS = 1 << 53
"""The finest grid: the uniforms of a float64 generator."""
_POINTS = re.compile(r"2\^(\d{1,3})|(\d{1,20})", flags=re.ASCII)


def read_points(label: str, text: str) -> int:
    """A number of grid points; raises `SettingsError` outside 1 to 2^53."""
    found = _POINTS.fullmatch(text.strip())
    points = 0 if found is None else 2 ** int(found[1]) if found[1] else int(found[2])
    if not 1 <= points <= MOST_POINTS:
        raise SettingsError(
            f"{label}={shortened(text)} is no number of grid points",
            expected="a whole number from 1 to 2^53, also as 2^24",
        )
    return points
