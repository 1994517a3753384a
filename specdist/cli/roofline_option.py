"""``--roofline KEY=NUMBER,...``: a device, and what a pass of the model moves and computes."""

from __future__ import annotations

import re
from fractions import Fraction

from specdist.cli.option_values import nearest, whole
from specdist.errors import SettingsError
from specdist.model.cost import Roofline
from specdist.model.value_texts import read_number, shortened

_UNITS = {
    "weights": "bytes of weights that a target pass reads",
    "kv": "bytes of cache that it reads for each sequence",
    "bandwidth": "bytes a second",
    "flops": "operations for one token",
    "peak": "operations a second",
    "overhead": "seconds a pass",
    "draft-weights": "bytes of weights that a draft pass reads",
    "draft-kv": "bytes of cache that it reads for each sequence",
    "draft-flops": "operations for one draft token",
    "draft-overhead": "seconds a draft pass",
}
_REQUIRED = ("weights", "bandwidth", "flops", "peak")
_MAY_BE_ZERO = ("kv", "overhead", "draft-kv", "draft-overhead")
_LONGEST, _LARGEST = 40, Fraction(10) ** 30
_MOST_BATCHES, _LARGEST_BATCH = 20, 10**9


def read_roofline(name: str, text: str) -> Roofline:
    """A roofline from ``weights=16e9,kv=2e8,bandwidth=3.35e12,flops=16e9,peak=989e12,batch=1+64``.

    Raises SettingsError for an unknown, repeated, missing or impossible key.
    """
    texts: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise SettingsError(
                f"{name}: {shortened(part)!r} is not KEY=NUMBER",
                expected=f"keys of {', '.join((*_UNITS, 'batch'))}",
                advice="several batch sizes are batch=1+64" if key.isdigit() else "",
            )
        if key not in (*_UNITS, "batch"):
            raise SettingsError(
                f"{name}: unknown key {shortened(key)!r}",
                expected=f"keys of {', '.join((*_UNITS, 'batch'))}",
                advice=nearest(key, (*_UNITS, "batch")),
            )
        if key in texts:
            raise SettingsError(f"{name}: {key} is given twice", expected="each key once")
        texts[key] = value
    _check_complete(name, texts)
    batches = _batches(name, texts.pop("batch", "1"))
    numbers = {key.replace("-", "_"): _number(name, key, value) for key, value in texts.items()}
    return Roofline(batches=batches, **numbers)


def _check_complete(name: str, texts: dict[str, str]) -> None:
    missing = [key for key in _REQUIRED if key not in texts]
    if missing:
        raise SettingsError(
            f"{name}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            expected="; ".join(f"{key}: {_UNITS[key]}" for key in missing),
        )
    of_draft = [key for key in texts if key.startswith("draft-")]
    needed = [key for key in ("draft-weights", "draft-flops") if key not in texts]
    if of_draft and needed:
        raise SettingsError(
            f"{name}: {of_draft[0]} is given without {' and '.join(needed)}",
            expected="; ".join(f"{key}: {_UNITS[key]}" for key in needed),
        )


def _number(name: str, key: str, text: str) -> Fraction:
    zero = key in _MAY_BE_ZERO
    expected = f"{_UNITS[key]}: {'0, or ' if zero else ''}a number from 1e-30 to 1e30"
    try:
        value = read_number(f"{name}: {key}", text)
    except SettingsError as error:
        error.expected = expected
        raise
    small = value and not 1 / _LARGEST <= value <= _LARGEST
    if small or (not value and not zero) or len(text) > _LONGEST:
        raise SettingsError(
            f"{name}: {key}={shortened(text)} is out of range",
            expected=f"{expected}, of at most {_LONGEST} characters",
        )
    return value


def _batches(name: str, text: str) -> tuple[int, ...]:
    """``1+64``, or ``1``: how many sequences decode together."""
    expected = (
        f"up to {_MOST_BATCHES} whole numbers from 1 to {_LARGEST_BATCH} joined with '+', as 1+64"
    )
    parts = text.split("+")
    if len(parts) > _MOST_BATCHES or not all(re.fullmatch(r"\s*\d{1,10}\s*", p) for p in parts):
        raise SettingsError(f"{name}: batch={shortened(text)} is no batch", expected=expected)
    batches = tuple(dict.fromkeys(whole(f"{name}: batch", part, 1) for part in parts))
    if max(batches) > _LARGEST_BATCH:
        raise SettingsError(f"{name}: batch={shortened(text)} is too large", expected=expected)
    return batches
