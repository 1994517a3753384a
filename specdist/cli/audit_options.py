"""What ``specdist audit`` can be asked for, and the values of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specdist.cli import option_values as read
from specdist.cli.layers import placed
from specdist.cli.option import Option
from specdist.errors import SettingsError

_TABLES, _RUN = "Tables", "Run"
DTYPES = ("float16", "bfloat16", "float32", "float64")
FRAMEWORKS = ("torch", "numpy")
MODES = ("traced", "probe")
REPLAYS, CONFIDENCE = "2000", "0.999999"
_SERVES = "Arrays that hold the rows, by default those that the adapter imports."
_REFERENCE = "Plain decoding of the same engine: its law is then what is right."
_REPLAYS = "Random runs that a probe must have foretold; they make its bound."
_CONFIDENCE = "How sure the bound of a probe is."

AUDIT: tuple[Option, ...] = (
    Option("vocab", _TABLES, "Tokens in the vocabulary.", "N", default="3", in_config=False),
    Option("gamma", _TABLES, "Draft tokens a step.", "N", default="2", in_config=False),
    Option("tables", _TABLES, "How many tables.", "N", default="4", in_config=False),
    Option("steps", _TABLES, "Steps in a row.", "N", default="2", in_config=False),
    Option(
        "dtype", _TABLES, "Format of the rows.", "DTYPE", choices=DTYPES, default="float32",
        in_config=False,
    ),
    Option("framework", _TABLES, _SERVES, "NAME", choices=FRAMEWORKS, in_config=False),
    Option(
        "mode", _RUN, "How the law is found.", "MODE", choices=MODES, default="traced",
        in_config=False,
    ),
    Option("reference", _RUN, _REFERENCE, "NAME|FILE.py:NAME", in_config=False),
    Option(
        "budget", _RUN, "Most leaves of a table.", "N", default="1000000", in_config=False
    ),
    Option("replays", _RUN, _REPLAYS, "N", default=REPLAYS, in_config=False),
    Option("confidence", _RUN, _CONFIDENCE, "R", default=CONFIDENCE, in_config=False),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """What an audit is asked for. ``replays`` and ``confidence`` are those of a probe, None in
    traced mode; ``shown`` is everything under the names of the options."""

    vocab: int = 3
    gamma: int = 2
    tables: int = 4
    steps: int = 2
    dtype: str = "float32"
    framework: str = ""
    mode: str = "traced"
    reference: str | None = None
    budget: int = 1_000_000
    replays: int | None = None
    confidence: str | None = None

    @property
    def shown(self) -> dict[str, object]:
        """The values as the report states them."""
        found: dict[str, object] = {
            name: getattr(self, name)
            for name in ("vocab", "gamma", "tables", "steps", "dtype", "framework", "mode")
        }
        found |= {"budget": self.budget, "reference": self.reference}
        found |= {"replays": self.replays, "confidence": self.confidence}
        return {name: value for name, value in found.items() if value not in (None, "")}


def read_asked(values: Mapping[str, Any]) -> Asked:
    """The values of a command line. Raises SettingsError with option, value and range."""
    with placed("command line"):
        given = {o.name: values.get(o.parameter) for o in AUDIT}
        found = {name: text for name, text in given.items() if text is not None}
        numbers: dict[str, Any] = {
            name: _within(name, found.pop(name), *_RANGES[name])
            for name in _RANGES
            if name in found
        }
        words: dict[str, Any] = {
            name: read.choice(name, found.pop(name), choices)
            for name, choices in _CHOICES.items()
            if name in found
        }
        words |= _of_a_probe(found) if words.get("mode") == "probe" else _of_none(found)
        return Asked(**numbers, **words, reference=found.get("reference"))


def _of_a_probe(found: Mapping[str, str]) -> dict[str, Any]:
    """The values that a probe has besides."""
    return {
        "replays": _within("replays", found.get("replays", REPLAYS), 1, 10**9),
        "confidence": _confidence("confidence", found.get("confidence", CONFIDENCE)),
    }


def _of_none(found: Mapping[str, str]) -> dict[str, Any]:
    for name in ("replays", "confidence"):
        if name in found:
            raise SettingsError(
                f"--{name} says nothing in traced mode",
                expected="--mode probe with it: traced laws have no bound",
            )
    return {}


def _within(name: str, text: str, least: int, most: int) -> int:
    expected = f"a whole number, {least} to {most}"
    digits = text.strip().removeprefix("+").removeprefix("-")
    if len(digits) > 18 and digits.isdecimal():
        raise SettingsError(f"{name}={text[:40]} is out of range", expected=expected)
    try:
        value = read.whole(name, text, least)
    except SettingsError as error:
        error.expected = expected
        raise
    if value > most:
        raise SettingsError(f"{name}={text} is out of range", expected=expected)
    return value


def _confidence(name: str, text: str) -> str:
    """The text itself, of a number that is neither 0 nor 1."""
    value = read.share(name, text)
    if not 0 < float(1 - value) < 1:  # nor what a float cannot tell from them
        raise SettingsError(
            f"{name}={text[:40]} is out of range", expected="a number between 0 and 1, as 0.99"
        )
    return text.strip()


_RANGES = {
    "vocab": (2, 32),
    "gamma": (1, 99),
    "tables": (1, 1000),
    "steps": (1, 99),
    "budget": (1, 10**12),
}
_CHOICES = {"dtype": DTYPES, "framework": FRAMEWORKS, "mode": MODES}
