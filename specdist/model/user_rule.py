"""A rule over proposals that a user wrote, as it was loaded from its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class UserRule:
    """``text`` is the rule as it was written, ``my_rule.py:MyRule``; ``file`` its path; ``made``
    the object of the user's class; ``lossless`` what it claims."""

    text: str
    file: str
    made: Any
    name: str
    title: str
    lossless: bool = True
