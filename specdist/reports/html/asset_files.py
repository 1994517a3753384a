"""Style, scripts and licence texts of the pages, as they lie in the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """The text of one file of ``assets/``."""
    return files("specdist.reports.html").joinpath("assets", name).read_text(encoding="utf-8")
