"""Log-probabilities of JSON answers: numbers, and the values that stand for something else.

A probability of 0 has many spellings. vLLM 0.33 lifts every log-probability of its JSON answers to
at least -9999.0 (`entrypoints/openai/*/serving.py`); OpenAI's API uses the same number for a
sampled token outside the list that it returns, whose probability is then unknown. The smallest
float32 is what SGLang and llama.cpp write for minus infinity, -1000.0 is a floor of smaller tools.
-100.0 may be a floor or a value; it is kept and counted.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Any

from specdist.readers.engine_files.json_node import Node
from specdist.readers.json_numbers import MINUS_INFINITY, type_name
from specdist.readers.naming import shorten
from specdist.readers.strict_json import Literal

FLOOR = -9999.0
SMALLEST_FLOAT32 = -(2.0**128 - 2.0**104)
PADDING = -99999.0
"""Fireworks' training client fills its matrices with token 0 and this number."""
_CLAMPS = {SMALLEST_FLOAT32: "-3.4028234663852886e+38", -1000.0: "-1000.0"}
_PERHAPS_A_CLAMP = -100.0
_MASKED = float("-inf")
_BEYOND = 1e300


class Absent(StrEnum):
    """Why a value is not known."""

    OUTSIDE = "outside the list"
    NULL = "null"


class LogprobNumbers:
    """Reads the numbers of one file and counts what stood for something else.

    ``floor_is_zero``: whether -9999.0 is a probability of 0, or says nothing of the token.
    ``texts``: whether numbers may stand in quotes.
    """

    __slots__ = ("floor_is_zero", "floors", "hundreds", "nulls", "quoted", "texts", "zeros")

    def __init__(self, *, floor_is_zero: bool, texts: bool = False) -> None:
        self.floor_is_zero = floor_is_zero
        self.texts = texts
        self.zeros: Counter[str] = Counter()
        self.floors = 0
        self.hundreds = 0
        self.nulls = 0
        self.quoted = 0

    def read(self, node: Node) -> float | Absent:
        """The number, -inf for a probability of 0. Raises CaptureError for what is no number."""
        value = node.value
        if value is None:
            self.nulls += 1
            return Absent.NULL
        number = self._number(node)
        if number == _MASKED:
            self.zeros["-inf"] += 1
            return _MASKED
        if number in _CLAMPS:
            self.zeros[_CLAMPS[number]] += 1
            return _MASKED
        if number == FLOOR:
            self.floors += 1
            return _MASKED if self.floor_is_zero else Absent.OUTSIDE
        self.hundreds += number == _PERHAPS_A_CLAMP
        return number

    def read_member(self, holder: Node, key: str, value: Any) -> float | Absent:
        """`read` of ``holder.member(key)``, whose value is given. Lists of a whole vocabulary are
        read without a node for every number."""
        if type(value) is Literal:
            number = float(value)
            if _PERHAPS_A_CLAMP < number < _BEYOND:
                return number
        return self.read(holder.member(key))

    def _number(self, node: Node) -> float:
        value = node.value
        if isinstance(value, str) and not isinstance(value, Literal):
            if value in MINUS_INFINITY:
                return _MASKED
            value = self._quoted(node, value)
        elif type(value) is not int and not isinstance(value, Literal):
            raise node.error(
                f"a log-probability cannot be {type_name(value)}", expected="a number, or null"
            )
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if number == float("inf") or number != number:
            raise node.error(f"{shorten(str(value), 24)} is no finite log-probability")
        # An exponent beyond float64 is not the word for a masked token.
        if number == _MASKED and value not in MINUS_INFINITY:
            raise node.error(f"{shorten(str(value), 24)} is below every float64")
        return number

    def _quoted(self, node: Node, text: str) -> str:
        try:
            float(text)
        except ValueError:
            known = False
        else:
            known = self.texts and text.strip("+-.0123456789eE") == ""
        if not known:
            raise node.error(
                f"a log-probability cannot be the text {shorten(text, 24)!r}",
                expected="a number without quotes",
            )
        self.quoted += 1
        return text

    def facts(self) -> tuple[tuple[str, str], ...]:
        """How often which number stood for something else."""
        floor = "probability 0" if self.floor_is_zero else "outside the list, value unknown"
        told = [(text, "probability 0", count) for text, count in self.zeros.items()]
        told += [("-9999.0", floor, self.floors), ("null", "no value", self.nulls)]
        told += [("in quotes", "numbers", self.quoted)]
        return tuple((text, f"{what}, {_times(count)}") for text, what, count in told if count)

    def warnings(self) -> tuple[str, ...]:
        """What a user must know of these readings."""
        found: list[str] = []
        if self.zeros["-1000.0"]:
            found.append("-1000.0 is taken for a clamp of minus infinity: probability 0")
        if self.hundreds:
            found.append(
                f"-100.0 stands {_times(self.hundreds)}: kept as exp(-100), though some tools "
                "write it for minus infinity"
            )
        if self.quoted:
            found.append(f"{self.quoted} numbers stand in quotes; they are read as numbers")
        return tuple(found)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
