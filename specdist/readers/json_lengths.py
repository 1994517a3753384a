"""Length rules of a JSON capture, and the tables that they read.

``"length": "stop-after:1/4"``, or an object:

    rule        the rule as written; may be left out beside profile or blocks
    confidence  {"": "4/5", "0": "9/10", "default": "1/2"}: c_k by the tokens before x_k
    throughput  {"1": "1", "2": "1/2"}: steps per unit of time by the tokens in the batch
    previous    [["4/5", "2/5"], ...]: the survival scores of each request in the step before
    profile     {"0": "1/2", "0,1": 0}: Pr(length >= k | x_1..x_k) by x_1..x_k
    blocks      {"0,1": 2, "1": {"0": "1/2", "1": "1/2"}}: the length, or its law, by what was
                drafted; in a batch {"0,1|1": [2, 0], "1|0": {"0,0": "1/2", "1,1": "1/2"}}
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from specdist.errors import CaptureError
from specdist.model.conditional import Prefix
from specdist.model.length import Blocks, Length, Lengths
from specdist.readers.json_numbers import NumberError, number, type_name
from specdist.readers.json_rows import RowReading
from specdist.readers.json_settings import object_at, unknown_key
from specdist.readers.json_tables import Tables, prefix_of_key
from specdist.readers.naming import shorten
from specdist.readers.strict_json import join

LENGTH_KEY, SCHEDULE_KEY, CONFIDENCE_KEY = "length", "schedule", "confidence"
_TABLE_RULES = ("profile", "blocks")
_KEYS = ("rule", CONFIDENCE_KEY, "throughput", "previous", *_TABLE_RULES)
_DEFAULT = "default"
_LARGEST = 10**6


@dataclass(frozen=True, slots=True)
class Places:
    """Where the drafted tokens of a length rule come from: the vocabulary size of each request."""

    sizes: tuple[int, ...]
    rows: RowReading


def read_length(step: dict[str, Any], path: str, size: int, rows: RowReading) -> Length | None:
    """The length rule of a step over models; None where there is none. Raises CaptureError."""
    return read_length_rule(step, LENGTH_KEY, path, Places((size,), rows))


def read_length_rule(members: dict[str, Any], key: str, path: str, places: Places) -> Length | None:
    """The rule and the tables under ``key``. Raises CaptureError with file and JSON path."""
    value, where = members.get(key), join(path, key)
    if value is None:
        return None
    place = places.rows.place(where)
    if isinstance(value, str):
        return Length(rule=value, place=place)
    given = object_at(value, where, places.rows.file)
    for name in given:
        if name not in _KEYS:
            raise unknown_key(name, where, places.rows.file, _KEYS)
    blocks = _blocks(given.get("blocks", {}), join(where, "blocks"), places)
    profile, _ = read_shares(given.get("profile", {}), join(where, "profile"), places)
    confidence, otherwise = read_confidence(given, where, places)
    return Length(
        rule=_rule(given, where, places.rows),
        confidence=confidence,
        otherwise=otherwise,
        throughput=_throughput(given.get("throughput", {}), join(where, "throughput"), places),
        previous=_previous(given.get("previous", []), join(where, "previous"), places),
        profile=profile,
        blocks=blocks,
        place=place,
    )


def read_confidence(
    members: dict[str, Any], path: str, places: Places
) -> tuple[dict[Prefix, Fraction], Fraction | None]:
    """The captured confidences by prefix, and the one of every other prefix."""
    value = members.get(CONFIDENCE_KEY, {})
    return read_shares(value, join(path, CONFIDENCE_KEY), places, default=True)


def read_shares(
    value: Any, path: str, places: Places, default: bool = False
) -> tuple[dict[Prefix, Fraction], Fraction | None]:
    """Probabilities by prefix, and that under "default" where it may be given."""
    found: dict[Prefix, Fraction] = {}
    otherwise = None
    tables = Tables(path, places.sizes[0], places.rows)
    for key, item in object_at(value, path, places.rows.file).items():
        where = _member(path, key)
        share = _share(item, where, places.rows)
        if default and key == _DEFAULT:
            otherwise = share
        else:
            found[prefix_of_key(key, where, tables)] = share
    return found, otherwise


def _rule(given: dict[str, Any], path: str, rows: RowReading) -> str | None:
    rule = given.get("rule")
    if rule is None:
        tables = [name for name in _TABLE_RULES if given.get(name)]
        if len(tables) > 1:
            message = "profile and blocks are given, and no rule says which of them decides"
            raise CaptureError(message, place=rows.place(path), expected='one of them, or "rule"')
        return tables[0] if tables else None
    if not isinstance(rule, str):
        raise CaptureError(
            f"a length rule cannot be {type_name(rule)}",
            place=rows.place(join(path, "rule")),
            expected='a text such as "stop-after:1/4" or "scheduler:early-stop"',
        )
    return rule


def _throughput(value: Any, path: str, places: Places) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for key, item in object_at(value, path, places.rows.file).items():
        where = _member(path, key)
        speed = _number(item, where, places.rows)
        if speed <= 0:
            raise CaptureError(
                f"a throughput of {shorten(str(speed), 24)}",
                place=places.rows.place(where),
                expected="a number above 0",
            )
        found[_count(key, where, places.rows, 1, "a number of tokens")] = speed
    return found


def _previous(value: Any, path: str, places: Places) -> tuple[tuple[Fraction, ...], ...]:
    rows = places.rows
    if not isinstance(value, list) or not all(isinstance(item, list) for item in value):
        raise CaptureError(
            "the scores of the step before are no lists",
            place=rows.place(path),
            expected="a list of survival scores for each request, such as [[0.8, 0.4], [0.9]]",
        )
    found = [
        tuple(_share(item, f"{path}[{r}][{j}]", rows) for j, item in enumerate(scores))
        for r, scores in enumerate(value)
    ]
    for r, scores in enumerate(found):
        if any(later > earlier for earlier, later in pairwise(scores)):
            raise CaptureError(
                "survival scores rise",
                place=rows.place(f"{path}[{r}]"),
                expected="scores that never rise: each is the one before times a confidence",
            )
    return tuple(found)


def _blocks(value: Any, path: str, places: Places) -> dict[Blocks, dict[Lengths, Fraction]]:
    found: dict[Blocks, dict[Lengths, Fraction]] = {}
    for key, item in object_at(value, path, places.rows.file).items():
        where = _member(path, key)
        drafted = _drafted(key, where, places)
        found[drafted] = _length_law(item, where, places)
    return found


def _drafted(key: str, where: str, places: Places) -> Blocks:
    parts = key.split("|")
    if len(parts) != len(places.sizes):
        raise CaptureError(
            f"{shorten(key, 24)!r} holds the drafted tokens of {len(parts)} requests",
            place=places.rows.place(where),
            expected=f"those of {len(places.sizes)}, such as "
            + repr("|".join(["0,1"] * len(places.sizes))),
        )
    return tuple(
        prefix_of_key(part, where, Tables(where, size, places.rows))
        for part, size in zip(parts, places.sizes, strict=True)
    )


def _length_law(value: Any, where: str, places: Places) -> dict[Lengths, Fraction]:
    rows, requests = places.rows, len(places.sizes)
    if type(value) is int:
        return {_counts([value], where, rows, requests): Fraction(1)}
    if isinstance(value, list):
        return {_counts(value, where, rows, requests): Fraction(1)}
    law: dict[Lengths, Fraction] = {}
    for key, item in object_at(value, where, rows.file).items():
        place = _member(where, key)
        law[_counts(key.split(","), place, rows, requests)] = _share(item, place, rows)
    if (total := sum(law.values(), Fraction(0))) != 1:
        raise CaptureError(
            f"the probabilities of the lengths sum to {shorten(str(total), 24)}",
            place=rows.place(where),
            expected="1",
        )
    return law


def _counts(values: list[Any], where: str, rows: RowReading, requests: int) -> Lengths:
    if len(values) != requests:
        raise CaptureError(
            f"{len(values)} length{'' if len(values) == 1 else 's'}",
            place=rows.place(where),
            expected=f"{requests}, one for each request",
        )
    return tuple(_count(value, where, rows, 0, "a length") for value in values)


def _count(value: Any, where: str, rows: RowReading, lowest: int, what: str) -> int:
    text = str(value)
    if type(value) in (int, str) and text.isascii() and text.isdigit() and len(text) < 8:
        count = int(text)
        if lowest <= count <= _LARGEST and text == str(count):  # one spelling: no key twice
            return count
    shown = type_name(value) if not isinstance(value, int | str) else shorten(text, 24)
    raise CaptureError(
        f"{what} cannot be {shown}",
        place=rows.place(where),
        expected=f"a whole number from {lowest} to {_LARGEST}",
    )


def _share(value: Any, where: str, rows: RowReading) -> Fraction:
    share = _number(value, where, rows)
    if not 0 <= share <= 1:
        raise CaptureError(
            f"a probability of {shorten(str(share), 24)}",
            place=rows.place(where),
            expected="a number from 0 to 1",
        )
    return share


def _number(value: Any, where: str, rows: RowReading) -> Fraction:
    try:
        found = number(value)
    except NumberError as error:
        raise CaptureError(str(error), place=rows.place(where), expected="a number") from None
    if found is None:
        raise CaptureError(
            "minus infinity is no probability", place=rows.place(where), expected="a number"
        )
    return found


def _member(path: str, key: str) -> str:
    return f'{path}["{shorten(key, 24)}"]'
