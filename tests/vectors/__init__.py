"""Vectors with exact expected values, from papers and from two independent derivations.

`theory.json` holds the standard rule and its mutants, `rules.json` the other rules of one
position, keep rules, vocabularies, couplings and finite precision.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def load(prefix: str) -> list[dict[str, Any]]:
    """The vectors whose id starts with ``prefix`` and a hyphen, numbers as Fraction."""
    entries = [entry for path in sorted(HERE.glob("*.json")) for entry in _entries(path)]
    chosen = [entry for entry in entries if entry["id"].startswith(prefix + "-")]
    assert chosen, f"no vector starts with {prefix}-"
    return [{**entry, **{key: _exact(entry[key]) for key in ("inputs", "expected")}}
            for entry in chosen]  # fmt: skip


def _entries(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["vectors"]  # type: ignore[no-any-return]


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    try:
        return Fraction(value) if isinstance(value, str) else value
    except ValueError:
        return value
