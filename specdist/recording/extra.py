"""Optional libraries, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from specdist.errors import MissingExtraError


def library(name: str) -> Any:
    """The module of an optional library. Raises MissingExtraError that names the extra."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"{name.partition('.')[0]} is not installed",
            expected="the optional libraries of the extra 'capture'",
            advice="pip install 'specdist-verifier[capture]'",
        ) from None
